import { html } from 'hono/html';
import { pageCommandId } from '../../commands/index.ts';
import type { Actor, RunId } from '../../core/model/index.ts';
import type { CommandRecord } from '../../ports/index.ts';
import type { Viewer, WebContext } from '../context.ts';
import { type Html, shownSentence } from '../layout.ts';
import { FormKey } from '../people/index.ts';

/** Milliseconds that a form waits for its outcome before the page is shown without it. Default: a pick takes seconds. */
export const OUTCOME_WAIT_MS = 5_000;

type SentCommand = Pick<CommandRecord, 'outcome' | 'page' | 'runId'>;

export const actorOf = (viewer: Viewer): Actor =>
  viewer.kind === 'github' ? { id: viewer.id, login: viewer.login } : { id: 0, login: 'local' };

/** The command of the form whose key the address has; null unless the viewer sent it. */
export async function sentCommand(c: WebContext): Promise<SentCommand | null> {
  const { viewer, parts } = c.var;
  const key = FormKey.safeParse(c.req.query('outcome'));
  if (!key.success || !viewer) return null;
  return parts.commands.outcome(pageCommandId({ via: 'page', by: actorOf(viewer), key: key.data }), 0);
}

/** What became of a command. `shown`: the run whose page this is. */
export function outcomeNotice({ outcome, runId }: SentCommand, shown: RunId | null = null): Html {
  if (!outcome)
    return notice(
      'waiting',
      'Your command is stored and not applied yet. Other commands of the repository come first, or GitHub does not answer; it is tried for up to an hour. Load the page again to see its outcome.',
    );
  const link = linkToRun(runId, shown);
  if (outcome.kind === 'done') return notice('done', sentence(outcome.note), link);
  if (outcome.kind === 'refused') return notice('refused', outcome.why, link);
  return notice(
    'refused',
    'You have no write access to the repository at the moment, so nothing was changed.',
  );
}

/** Longest outcome that is shown, code points: more than any sentence of a command has. */
const MAX_NOTICE = 4_000;

const notice = (kind: string, text: string, link: Html | '' = ''): Html =>
  html`<p id="outcome" role="status" tabindex="-1" class="notice ${kind}">${shownSentence(text, MAX_NOTICE)}${link}</p>`;

/** To the run that the command has started or is about: another one than that of the page. */
const linkToRun = (about: RunId | undefined, shown: RunId | null): Html | '' =>
  about === undefined || about === shown
    ? ''
    : html` <a href="/runs/${encodeURIComponent(about)}">The page of that run</a>`;

const sentence = (note: string): string =>
  `${note.charAt(0).toUpperCase()}${note.slice(1)}${/[.!?]$/.test(note) ? '' : '.'}`;
