import { z } from 'zod';
import type { IssueFacts, Labelled } from '../../ports/index.ts';
import { Issue, IssueEvent } from './answers.ts';
import type { Calls } from './calls.ts';
import { newest, PAGE, pagesOf } from './pages.ts';

const MAX_ISSUES = 100;
/** Pull requests are listed among issues, so more may have to be read. */
const MAX_PAGES = 5;
/** Of an issue's events; a label that was set before them is told without who set it. */
const MAX_EVENTS = 300;

type Event = z.infer<typeof IssueEvent>;

/** Open issues with a label, and who set it last. */
export async function labelled(calls: Calls, label: string): Promise<readonly Labelled[]> {
  const issues = await calls(({ rest }, at) =>
    pagesOf(async (page) => {
      const { data } = await rest.issues.listForRepo({
        ...at,
        labels: label,
        state: 'open',
        sort: 'created',
        direction: 'asc',
        per_page: PAGE,
        page,
      });
      return z.array(Issue).parse(data);
    }, MAX_PAGES),
  );
  const found: Labelled[] = [];
  for (const issue of issues.filter(({ isPull }) => !isPull).slice(0, MAX_ISSUES)) {
    found.push({ issue, set: await lastSet(calls, issue, label) });
  }
  return found;
}

async function lastSet(calls: Calls, issue: IssueFacts, label: string): Promise<Labelled['set']> {
  const setsIt = ({ event, label: of }: Event): boolean =>
    // GitHub takes names of labels that differ in case for the same.
    event === 'labeled' && of?.name?.toLowerCase() === label.toLowerCase();
  const events = await calls(({ rest }, at) =>
    newest(
      (page) => rest.issues.listEvents({ ...at, issue_number: issue.number, per_page: PAGE, page }),
      (data) => z.array(IssueEvent).parse(data),
      MAX_EVENTS,
      (read) => read.some(setsIt),
    ),
  );
  const last = events.findLast(setsIt);
  if (!last?.actor) return null;
  const { id, login, type } = last.actor;
  return { by: { id, login }, byBot: type !== 'User', at: last.created_at };
}
