import { conventionalTitle } from '../learning/index.ts';
import type { Alias } from '../model/index.ts';
import { decisionLabel } from './format.ts';
import { lastPick } from './headline.ts';
import { plainLine } from './markdown.ts';
import { testedWhere } from './test-facts.ts';
import type { OriginView, RunView } from './view.ts';

/** Maximum code points of a commit's subject: what `git log --oneline` and GitHub show without folding. */
const MAX_SUBJECT = 72;
/**
 * GitHub's rules for a login, so that it cannot break out of a trailer; excludes logins that look like a reference
 * (`gh-7`).
 */
const SAFE_LOGIN = /^(?!.*gh-[0-9])[A-Za-z0-9-]{1,39}$/i;

/** Author of every commit that Runoff makes. */
export const COMMIT_AUTHOR = { name: 'Runoff', email: 'runoff@users.noreply.github.com' };

/**
 * The message of a candidate's commit. Only a winner's has the title of the run (`Fix #7: …`, or a conventional one):
 * otherwise every branch would appear on the issue as if it closed it. On GitHub a toss-up has no winner. Later picks do
 * not change the message, because the commit is already on its branch.
 */
export function commitMessage(view: RunView, alias: Alias): string {
  const winner = isWinner(view, alias);
  const why =
    winner && view.decision && view.decision.kind !== 'none' ? ` (${decisionLabel(view.decision)})` : '';
  return messageText(view, {
    subject: winner ? subject(view, MAX_SUBJECT) : candidateSubject(view, `Candidate ${alias}: `),
    body: `Candidate ${alias} of ${view.candidates.length}${why}.\n${authorship(view)}; not reviewed by a person yet.`,
    held: true,
  });
}

function isWinner({ decision, origin }: RunView, alias: Alias): boolean {
  if (!decision || decision.kind === 'none' || decision.alias !== alias) return false;
  return decision.kind === 'winner' || origin.kind === 'local';
}

/** The reason for a further commit on a pull request's branch. */
type FollowUpCommit =
  /** A person picked `alias`; its tree replaces that of `instead`. */
  | { readonly kind: 'pick'; readonly alias: Alias; readonly instead: Alias }
  /** A person allows GitHub's CI to run: the commit is empty. */
  | { readonly kind: 'ci' };

/** The message of a further commit on the branch. For `ci` it contains nothing that could skip CI. */
export function followUpMessage(view: RunView, advance: FollowUpCommit): string {
  if (advance.kind === 'ci') {
    return messageText(view, {
      subject: 'Let CI run on this branch',
      body: 'This commit is empty: a person asked for CI, which the earlier commits had put on hold.',
      held: false,
    });
  }
  const { alias, instead } = advance;
  const by = lastPick(view)?.alias === alias ? (lastPick(view)?.by?.login ?? '') : '';
  return messageText(view, {
    subject: candidateSubject(view, `Candidate ${alias} instead of ${instead}: `),
    body: `Picked by ${SAFE_LOGIN.test(by) ? by : 'a person'}. The tree is candidate ${alias}'s.\n${authorship(view)}.`,
    held: true,
  });
}

const authorship = (view: RunView): string => `Written by a coding agent and ${testedWhere(view)}`;

/** `held`: asks CI to skip, unless the repository's settings say otherwise. */
function messageText(
  view: RunView,
  { subject: first, body, held }: { readonly subject: string; readonly body: string; readonly held: boolean },
): string {
  // A local branch is merged by hand, where the keyword would skip CI on the target branch.
  const waits = held && view.ci === 'hold' && view.origin.kind === 'github';
  const trailers = [`Runoff-Run: ${view.id}`, ...coAuthor(view)].join('\n');
  return `${[first, body, ...(waits ? ['[skip ci]'] : []), trailers].join('\n\n')}\n`;
}

/** The person who requested the run, by GitHub's public noreply address. */
function coAuthor({ requestedBy }: RunView): readonly string[] {
  if (!requestedBy || !SAFE_LOGIN.test(requestedBy.login)) return [];
  if (!Number.isSafeInteger(requestedBy.id) || requestedBy.id < 1) return [];
  const { id, login } = requestedBy;
  return [`Co-authored-by: ${login} <${id}+${login}@users.noreply.github.com>`];
}

/** The title of a pull request or commit of the whole run, of at most `limit` code points. */
export function subject(view: RunView, limit: number): string {
  // The body of the pull request names the issue.
  if (view.conventionalTitles && !(view.origin.kind === 'github' && view.origin.work))
    return titled({ ...view, title: conventionalTitle(view.title) }, '', limit);
  return titled(view, prefixOf(view.origin), limit);
}

function prefixOf(origin: OriginView): string {
  if (origin.kind === 'local') return '';
  if (origin.work === 'review') return `Address review of #${origin.issue}: `;
  return origin.work === 'fix' ? `Fix checks on #${origin.issue}: ` : `Fix #${origin.issue}: `;
}

const candidateSubject = (view: RunView, prefix: string): string => titled(view, prefix, MAX_SUBJECT);

const titled = ({ title }: RunView, prefix: string, limit: number): string =>
  `${prefix}${plainLine(title, limit - prefix.length) || 'the task of this run'}`;
