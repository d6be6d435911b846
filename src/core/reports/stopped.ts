import { restartText } from './decision-sections.ts';
import { MARKDOWN, type Markup } from './markup.ts';
import type { RunView } from './view.ts';

/** Causes after which GitHub accepts no label or command until somebody has reopened what was closed. */
const CLOSED: ReadonlySet<string> = new Set(['the issue was closed', 'the pull request was closed']);

/** Causes that nobody can undo. */
const GONE: ReadonlySet<string> = new Set([
  'the issue was deleted',
  'the issue was moved to another repository',
  'GitHub no longer shows its issue: it was deleted or moved',
]);

/** How to start a stopped run again, after “to start again, ”: words with code in backticks; empty if nobody can. */
export function startAgainText(view: RunView): string {
  const { endedBecause = '' } = view;
  if (GONE.has(endedBecause)) return '';
  if (!CLOSED.has(endedBecause)) return requestText(view);
  // A pull request is an issue for GitHub: the cause may name either.
  const isPull = endedBecause.includes('pull request') || (view.origin.kind === 'github' && view.origin.work);
  return `reopen the ${isPull ? 'pull request' : 'issue'}, then ${requestText(view)}`;
}

/** Of a run that ended while it waited for a pick. */
export function unpickedText({ endedBecause }: RunView, to: Markup = MARKDOWN): string {
  const why = endedBecause === undefined ? '' : `, because ${to.sentence(endedBecause, 300)}`;
  return `${to.own('The run ended before anyone chose')}${why}.`;
}

/** A run that was never admitted cannot be repeated, only requested once more. */
function requestText(view: RunView): string {
  const { origin, base } = view;
  if (origin.kind === 'local' || base !== undefined) return restartText(view);
  return origin.work
    ? `comment \`/auto-dev ${origin.work}\``
    : `add the label \`${view.label.replaceAll('`', '')}\` again or comment \`/auto-dev run\``;
}
