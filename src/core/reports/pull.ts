import type { Alias } from '../model/index.ts';
import { notable, type PatchFile } from '../patches/index.ts';
import { chosenOf, pickable } from '../ranking/index.ts';
import {
  decisionSection,
  evidenceText,
  joinBlocks,
  lastPick,
  pageLine,
  pickedBy,
} from './decision-sections.ts';
import { lookAtNotes } from './findings.ts';
import { branchName, counted, decisionLabel, elapsed, money, plusMinus } from './format.ts';
import { code, fill, inertSentence, link, plainLine, report } from './markdown.ts';
import { baseTestsText, newTestsText, rankingSection } from './ranking-table.ts';
import { reviewLine } from './sections.ts';
import { changedSinceLines, sandboxWarnings, silenceLines, testedWhere } from './test-facts.ts';
import type { CandidateView, Diffs, DiffView, OriginView, RunView } from './view.ts';

/** GitHub allows 256 characters, but lists show fewer. */
const MAX_TITLE = 120;
/** Maximum UTF-16 units of the list of changed files. */
const MAX_FILE_LIST = 6_000;

interface PullText {
  readonly marker: string;
  readonly title: string;
  readonly body: string;
}

/** Title and body of the draft pull request. Contains exactly one closing line; untrusted text cannot add another. */
export function pullRequest(view: RunView, alias: Alias, diffs: Diffs): PullText {
  const { marker, body } = report('pull', view.id, [
    originLine(view),
    chosenLine(view, alias),
    ...silenceLines(view),
    ...changedSinceLines(view),
    ...sandboxWarnings(view),
    changes(diffs[alias]),
    ...lookAtNotes(view, [alias]).map((note) => inertSentence(note, 1_500)),
    evidence(view, alias),
    reproduce(view, alias),
    comparisonLine(view),
    commandsList(view, alias),
    ciLine(view),
  ]);
  return { marker, title: subject(view, MAX_TITLE), body };
}

/** Only a run on an issue closes it; a run on a pull request adds to that one's branch. */
function originLine({ origin }: RunView): string {
  if (origin.kind === 'local') return '';
  if (origin.work === 'review') return `Addresses the review of #${origin.issue}`;
  return origin.work === 'fix' ? `Fixes failing checks on #${origin.issue}` : `Fixes #${origin.issue}`;
}

function chosenLine(view: RunView, alias: Alias): string {
  const { decision } = view;
  const among = `Candidate **${alias}** of ${view.candidates.length}`;
  if (chosenOf(view) !== alias) return `${among}.`;
  const by = pickedBy(view);
  if (by !== '') return `${among} — ${by}. ${evidenceText(view)}`.trim();
  if (!decision || decision.kind === 'none') return `${among}.`;
  return `${among} — ${decisionLabel(decision)}. ${inertSentence(decision.because, 600)}`;
}

function changes(diff: DiffView | undefined): string {
  if (diff === undefined || diff.patch.files.length === 0) return '';
  const lines = diff.patch.files.map(
    (file) =>
      `- ${code(file.path, 200)} ${file.change}, ${file.binary ? 'binary' : plusMinus(file)}${reviewNote(file)}`,
  );
  const list = fill(lines, MAX_FILE_LIST, { separator: '\n', more: (left) => `- and ${left} more` });
  return `### What changed\n\n${list}`;
}

function reviewNote(file: PatchFile): string {
  const why = notable(file);
  return why === null ? '' : `. **Review closely:** it ${why}`;
}

/** At most ten lines; the comparison has the rest. */
function evidence(view: RunView, alias: Alias): string {
  const candidate = view.candidates.find((one) => one.alias === alias);
  const found = view.evidence.find((one) => one.alias === alias);
  const others = newTestsText(found);
  const gates = found?.gates ?? [];
  const lines = [
    ...(view.base ? [`- Base commit ${code(view.base.sha)} (${code(view.base.ref)})`] : []),
    ...(gates.length > 0
      ? [`- Gates passed: ${gates.filter((gate) => gate.passed).length} of ${gates.length}`]
      : []),
    ...(found?.baseTests ? [`- ${baseTestsLine(found.baseTests, baseTestsText(found))}`] : []),
    others === '–' ? '- Tests by others: none' : `- Tests by others, passed: ${others}`,
    ...[reviewLine(view, alias)].filter((line) => line !== ''),
    ...(candidate ? authorLines(view, candidate) : []),
  ];
  return `### Evidence\n\n${lines.join('\n')}`;
}

function baseTestsLine(tests: NonNullable<RunView['evidence'][number]['baseTests']>, passed: string): string {
  if (tests.source === 'exit-code') return `Base tests: exit code ${tests.exitCode ?? 'none'}`;
  const broken = `${counted(tests.regressions.length, 'test')} broken`;
  return `Base tests: ${passed} passed, ${broken}, ${tests.fixed.length} fixed, exit code ${tests.exitCode ?? 'none'}`;
}

function authorLines(view: RunView, { contestant: who, ms, usage }: CandidateView): readonly string[] {
  return [
    ...(who && usage
      ? [
          `- Written by agent ${code(who.agent, 60)} with model ${code(who.model, 80)}, prompt ${code(who.prompt, 60)}`,
          `- Cost of this candidate: ${money(usage.usd)} in ${elapsed(ms)}`,
        ]
      : []),
    ...(view.budget.spent > 0 ? [`- Cost of the whole run: ${money(view.budget.spent)}`] : []),
  ];
}

/** Commands for reproducing the result by hand. */
function reproduce(view: RunView, alias: Alias): string {
  const { origin, outcome, checks } = view;
  if (origin.kind === 'local') return '';
  const branch = outcome?.kind === 'pull' ? outcome.branch : branchName(origin.issue, view.id, alias);
  const lines = [
    `git fetch origin ${branch}`,
    'git switch --detach FETCH_HEAD',
    ...[checks?.setup, checks?.build, checks?.test].filter((command) => command !== undefined),
  ].map((command, index) => `${index + 1}. ${code(command, 200)}`);
  return `### Reproduce\n\nThis runs code that nobody has reviewed: run it in a disposable environment.\n\n${lines.join('\n')}`;
}

/** The comparison is a comment on the pull request, so it cannot be linked before the pull request exists. */
const comparisonLine = (view: RunView): string =>
  `A comment below compares this with every other candidate, including their diffs (run ${code(view.id)}). ${pageLine(view)}`.trim();

/** Commands that a person can give in a comment here. */
function commandsList(view: RunView, alias: Alias): string {
  if (view.origin.kind === 'local') return '';
  const others = pickable(view).filter((one) => one !== alias);
  const [first] = others;
  const lines = [
    ...(first === undefined
      ? []
      : [`- \`/auto-dev pick ${first}\` replaces this with another candidate: ${others.join(', ')}`]),
    `- \`/auto-dev explain ${first ?? alias}\` shows everything known about one candidate`,
    ...(view.ci === 'hold' ? ["- `/auto-dev ci` starts GitHub's own workflows on it"] : []),
    '- `/auto-dev review` addresses review comments in a draft pull request into this branch',
    '- `/auto-dev help` lists all commands',
  ];
  return `### Commands\n\nOnly people with write access can use commands.\n\n${lines.join('\n')}`;
}

function ciLine(view: RunView): string {
  if (view.ci === 'run') return '';
  return "**CI is on hold.** Nobody has reviewed this code yet, so its commit tells GitHub's own workflows not to start. Read the diff, then comment `/auto-dev ci` or push any commit to this branch to start them. If you squash-merge, delete the skip line from the proposed message; otherwise CI is skipped on the default branch too.";
}

/** Maximum code points of a commit's subject: what `git log --oneline` and GitHub show without folding. */
const MAX_SUBJECT = 72;
/**
 * GitHub's rules for a login, so that it cannot break out of a trailer; excludes logins that look like a reference
 * (`gh-7`).
 */
const SAFE_LOGIN = /^(?!.*gh-[0-9])[A-Za-z0-9-]{1,39}$/i;

/**
 * The message of a candidate's commit. Only a winner's says `Fix #7`: otherwise every branch would appear on the
 * issue as if it closed it. On GitHub a toss-up has no winner. Later picks do not change the message, because the
 * commit is already on its branch.
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
function subject(view: RunView, limit: number): string {
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

/** Maximum characters of a title, chosen by what GitHub shows in a list. */
const MAX_CHECK_TITLE = 100;
/** Maximum UTF-16 units of the table; GitHub allows 65,535 characters for a summary. */
const MAX_TABLE = 14_000;
const MAX_SUMMARY = 65_000;

/** The text of Runoff's check run on the pull request. */
interface CheckText {
  /** Plain text of at most 100 code points. */
  readonly title: string;
  /** Markdown of at most 65,000 UTF-16 units. */
  readonly summary: string;
  /** Where GitHub's `Details` leads; absent: to GitHub's own page of the check. */
  readonly detailsUrl?: string;
  /**
   * `success` for a clear or likely winner and for a person's pick, otherwise `neutral`: the check never blocks a
   * merge.
   */
  readonly conclusion: 'success' | 'neutral';
}

/** The check run's text: the first screen of the comparison, with a link to the rest. */
export function checkText(view: RunView): CheckText {
  const blocks = [decisionSection(view), rankingSection(view, MAX_TABLE), comparisonLink(view)];
  const summary = joinBlocks(blocks);
  return {
    title: plainLine(titleOf(view), MAX_CHECK_TITLE),
    summary: summary.length <= MAX_SUMMARY ? summary : joinBlocks(blocks.slice(1)),
    conclusion: isSure(view) ? 'success' : 'neutral',
    ...(view.pageUrl === undefined ? {} : { detailsUrl: view.pageUrl }),
  };
}

function titleOf(view: RunView): string {
  const pick = lastPick(view);
  const alias = chosenOf(view);
  const among = `of ${view.candidates.length}`;
  if (pick)
    return alias === null ? 'A person rejected all candidates' : `${alias} ${among}, picked by a person`;
  const { decision } = view;
  if (!decision) return 'No decision yet';
  if (decision.kind === 'none') return 'No candidate passed';
  return `${decision.alias} ${among}: ${decisionLabel(decision)}`;
}

const isSure = (view: RunView): boolean =>
  lastPick(view) ? chosenOf(view) !== null : view.decision?.kind === 'winner';

function comparisonLink({ outcome }: RunView): string {
  const url = outcome?.kind === 'pull' || outcome?.kind === 'table' ? outcome.comparisonUrl : undefined;
  return url === undefined ? '' : `${link('Compare with the other candidates', url)}.`;
}
