import type { Alias } from '../model/index.ts';
import { lastPick } from './picked.ts';
import { plain } from './safe.ts';
import type { OriginView, RunView } from './view.ts';
import { testedWhere } from './where.ts';
import { verdictWords } from './words.ts';

/** Code points of a commit's subject: what `git log --oneline` and GitHub show without folding. */
const SUBJECT = 72;
/** What GitHub lets a login be, so that it cannot break out of a trailer; not one that reads as a reference (`gh-7`). */
const LOGIN = /^(?!.*gh-[0-9])[A-Za-z0-9-]{1,39}$/i;

/**
 * The message of a candidate's commit. Only a winner's says `Fix #7`: every other branch would else show up on the issue
 * as if it closed it. On GitHub a toss-up has no winner. What people pick later changes nothing of it: the commit stands on
 * its branch by then.
 */
export function commitMessage(view: RunView, alias: Alias): string {
  const winner = isWinner(view, alias);
  const why =
    winner && view.decision && view.decision.kind !== 'none' ? ` (${verdictWords(view.decision)})` : '';
  return written(view, {
    subject: winner ? subject(view, SUBJECT) : candidateSubject(view, `Candidate ${alias}: `),
    body: `Candidate ${alias} of ${view.candidates.length}${why}.\n${unread(view)}; no person has read it yet.`,
    held: true,
  });
}

function isWinner({ decision, origin }: RunView, alias: Alias): boolean {
  if (!decision || decision.kind === 'none' || decision.alias !== alias) return false;
  return decision.kind === 'winner' || origin.kind === 'local';
}

/** Why a commit is put on top of a pull request's branch. */
export type Advance =
  /** A person picked `alias`; its tree takes the place of that of `instead`. */
  | { readonly kind: 'pick'; readonly alias: Alias; readonly instead: Alias }
  /** A person lets GitHub's CI run: the commit changes nothing. */
  | { readonly kind: 'ci' };

/** The message of a commit on top of the branch. That of `ci` holds nothing that could ask CI not to start. */
export function advanceMessage(view: RunView, advance: Advance): string {
  if (advance.kind === 'ci') {
    return written(view, {
      subject: 'Let CI run on this branch',
      body: 'It changes nothing: a person asked for CI, which the commits before it had asked to wait.',
      held: false,
    });
  }
  const { alias, instead } = advance;
  const by = lastPick(view)?.alias === alias ? (lastPick(view)?.by?.login ?? '') : '';
  return written(view, {
    subject: candidateSubject(view, `Candidate ${alias} instead of ${instead}: `),
    body: `Picked by ${LOGIN.test(by) ? by : 'a person'}. The tree is that of candidate ${alias}.\n${unread(view)}.`,
    held: true,
  });
}

const unread = (view: RunView): string => `Written by a coding agent and tested ${testedWhere(view)}`;

/** `held`: asks CI to wait, where the repository does not say otherwise. */
function written(
  view: RunView,
  { subject: first, body, held }: { readonly subject: string; readonly body: string; readonly held: boolean },
): string {
  // A local branch is merged by hand: there it would silence the CI of the branch it lands on.
  const waits = held && view.ci === 'hold' && view.origin.kind === 'github';
  const trailers = [`Runoff-Run: ${view.id}`, ...coAuthor(view)].join('\n');
  return `${[first, body, ...(waits ? ['[skip ci]'] : []), trailers].join('\n\n')}\n`;
}

/** Who asked for the run, by the address that GitHub gives to everybody. */
function coAuthor({ requestedBy }: RunView): readonly string[] {
  if (!requestedBy || !LOGIN.test(requestedBy.login)) return [];
  if (!Number.isSafeInteger(requestedBy.id) || requestedBy.id < 1) return [];
  const { id, login } = requestedBy;
  return [`Co-authored-by: ${login} <${id}+${login}@users.noreply.github.com>`];
}

/** What a pull request or commit of the whole run is called, of at most `limit` code points. */
export function subject(view: RunView, limit: number): string {
  return titled(view, prefixOf(view.origin), limit);
}

function prefixOf(origin: OriginView): string {
  if (origin.kind === 'local') return '';
  if (origin.work === 'review') return `Review of #${origin.issue}: `;
  return origin.work === 'fix' ? `Checks of #${origin.issue}: ` : `Fix #${origin.issue}: `;
}

const candidateSubject = (view: RunView, prefix: string): string => titled(view, prefix, SUBJECT);

const titled = ({ title }: RunView, prefix: string, limit: number): string =>
  `${prefix}${plain(title, limit - prefix.length) || 'the task of this run'}`;
