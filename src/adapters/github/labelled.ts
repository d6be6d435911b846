import { z } from 'zod';
import { isSameLabel } from '../../core/model/index.ts';
import type { LabelChange, Labelled } from '../../ports/index.ts';
import { Issue, IssueEvent, Touched } from './answers.ts';
import type { Calls } from './calls.ts';
import { newest, PAGE, pagesOf } from './pages.ts';

const MAX_ISSUES = 100;
/** Pull requests are listed among issues, so more may have to be read. */
const MAX_PAGES = 5;
/** Of an issue's events; what was done to a label before them is not told. */
const MAX_EVENTS = 300;

type Event = z.infer<typeof IssueEvent>;

/** Open issues with a label that were touched since, and who set it last. */
export async function labelled(calls: Calls, label: string, since: number): Promise<readonly Labelled[]> {
  const issues = await calls(({ rest }, at) =>
    pagesOf(async (page) => {
      const { data } = await rest.issues.listForRepo({
        ...at,
        labels: label,
        since: new Date(since).toISOString().replace(/\.\d+Z$/, 'Z'),
        state: 'open',
        sort: 'created',
        direction: 'asc',
        per_page: PAGE,
        page,
      });
      const items = z.array(z.unknown()).parse(data);
      return items.map((item) => ({ issue: Issue.parse(item), touchedAt: Touched.parse(item) }));
    }, MAX_PAGES),
  );
  const found: Labelled[] = [];
  for (const one of issues.filter(({ issue }) => !issue.isPull).slice(0, MAX_ISSUES)) {
    found.push({ ...one, set: await lastSet(calls, one.issue.number, label) });
  }
  return found;
}

async function lastSet(calls: Calls, issue: number, label: string): Promise<Labelled['set']> {
  const last = await lastEvent(calls, issue, label, ['labeled']);
  return last && { by: last.by, byBot: last.byBot, at: last.at };
}

/** What was last done to a label of an issue; GitHub keeps the order, however close together two changes were. */
export const labelChange = (calls: Calls, issue: number, label: string): Promise<LabelChange | null> =>
  lastEvent(calls, issue, label, ['labeled', 'unlabeled']);

async function lastEvent(
  calls: Calls,
  issue: number,
  label: string,
  kinds: readonly string[],
): Promise<LabelChange | null> {
  const isMeant = ({ event, label: of }: Event): boolean =>
    kinds.includes(event) && isSameLabel(of?.name ?? '', label);
  const events = await calls(({ rest }, at) =>
    newest(
      (page) => rest.issues.listEvents({ ...at, issue_number: issue, per_page: PAGE, page }),
      (data) => z.array(IssueEvent).parse(data),
      MAX_EVENTS,
      (read) => read.some(isMeant),
    ),
  );
  const last = events.findLast(isMeant);
  if (!last?.actor) return null;
  const { id, login, type } = last.actor;
  return {
    how: last.event === 'labeled' ? 'set' : 'taken-off',
    by: { id, login },
    byBot: type !== 'User',
    throughApp: Boolean(last.performed_via_github_app),
    at: last.created_at,
  };
}
