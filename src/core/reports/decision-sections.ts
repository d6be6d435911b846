import type { Evidence } from '../evidence/index.ts';
import { type Alias, formatList } from '../model/index.ts';
import { notableGroups } from '../patches/index.ts';
import { chosenOf, failedGate, pickable } from '../ranking/index.ts';
import { blindNote } from './blind.ts';
import { checkCommands } from './commands.ts';
import { lookAtNotes, lookAtText } from './findings.ts';
import { branchOf, byText, counted, elapsed } from './format.ts';
import { chosenText, evidenceText, onlyCandidate } from './headline.ts';
import { code, details, fill, inertSentence, link, tableRows } from './markdown.ts';
import { MARKDOWN, type Markup, personIn } from './markup.ts';
import { baseTestsText, standings } from './ranking-table.ts';
import { sequenceResult } from './sequence.ts';
import { couldKeepCommands } from './settings-pull.ts';
import {
  agreementNote,
  changedSinceLines,
  contestedQuestion,
  sandboxWarnings,
  silenceLines,
  testedText,
  testNotes,
  whereFacts,
} from './test-facts.ts';
import type { CandidateView, Diffs, RunView } from './view.ts';

/** The first section: the pick, how sure it is, and what was executed. */
export const decisionSection = (view: RunView): string =>
  joinBlocks([
    `### ${chosenText(view) || noSurvivorTitle(view)}`,
    ...silenceLines(view),
    evidenceText(view),
    votesLine(view),
  ]);

/** What has changed, is weaker, or needs a person's eyes or answer; nothing in an ordinary run. */
export function warningBlocks(view: RunView): readonly string[] {
  const question = contestedQuestion(view);
  return [
    blindNote(view),
    ...changedSinceLines(view),
    ...sandboxWarnings(view),
    question === null ? '' : `**A question for you.** ${inertSentence(question, 1_500)}`,
    ...lookAtNotes(view).map((note) => `**Please look at** ${inertSentence(lookAtText(note), 1_500)}`),
  ];
}

/** A link to the page of the run; empty without one. The page checks who may read it. */
export const pageLine = ({ pageUrl }: RunView): string =>
  pageUrl === undefined ? '' : `${link('See this run in the browser', pageUrl)}.`;

export const joinBlocks = (blocks: readonly string[]): string =>
  blocks.filter((block) => block !== '').join('\n\n');

function noSurvivorTitle(view: RunView): string {
  return view.candidates.length === 1 ? 'The candidate did not pass' : 'No candidate passed';
}

/** Maximum voters named for each candidate; the rest is counted. */
const VOTERS_NAMED = 20;

/** The votes, best first; empty if there are none. The store ensures one vote per person. */
export function votesLine({ votes = [] }: RunView, to: Markup = MARKDOWN): string {
  const tally = new Map<Alias, string[]>();
  for (const { by, alias } of votes) tally.set(alias, [...(tally.get(alias) ?? []), personIn(by, to)]);
  const lines = [...tally]
    .toSorted(([a, one], [b, other]) => other.length - one.length || (a < b ? -1 : 1))
    .map(([alias, voters]) => {
      const more = voters.length - VOTERS_NAMED;
      const named = voters.slice(0, VOTERS_NAMED).join(', ');
      return `${to.own(`**${alias}**`)} ${voters.length} (${named}${more > 0 ? ` and ${more} more` : ''})`;
    });
  return lines.length === 0 ? '' : `${counted(votes.length, 'vote')}: ${lines.join('; ')}.`;
}

/** How to restart the run, after "then" or "To start anew,": plain words with code in backticks. */
export const restartText = (view: RunView): string =>
  view.origin.kind === 'github'
    ? view.origin.work
      ? `comment \`/auto-dev ${view.origin.work}\` or \`/auto-dev retry\``
      : `add the label \`${view.label.replaceAll('`', '')}\` again or comment \`/auto-dev retry\``
    : 'start the run again';

/** In the note of a candidate whose coder was not stopped and found nothing to change. */
export const ENDED_UNCHANGED = 'ended without changing a file';

/** No candidate has a patch: adding details to the task would hardly help. */
const noPatchAtAll = ({ candidates }: RunView): boolean =>
  candidates.every(({ patch }) => patch === undefined);

/** What to look at when no coder left a patch, up to the restart. */
function noPatchAdvice({ candidates }: RunView, what: string): string {
  const isIdle = ({ note }: CandidateView): boolean => note.includes(ENDED_UNCHANGED);
  const idle = candidates.filter(isIdle);
  const stopped = candidates.filter((one) => !isIdle(one)).map(({ alias }) => alias);
  if (stopped.length === 0 && idle.length > 0) {
    const [who, they, are] = idle.length === 1 ? ['the coder', 'it', 'is'] : ['the coders', 'they', 'are'];
    return `nothing stopped ${who}: ${they} ended without changing a file. If ${they} ${are} right, there is nothing to do; otherwise describe ${what} more precisely (what should change, a test that shows it)`;
  }
  const whom =
    idle.length > 0 ? formatList(stopped.toSorted()) : stopped.length === 1 ? 'the coder' : 'each coder';
  return `find out what stopped ${whom}, fix it (a key, a provider, the budget, a limit or an agent's set-up)`;
}

/** What to do when no candidate was good enough, after “Next:”: plain text with code in backticks. */
export function noSurvivorAdvice(view: RunView): string {
  const { origin } = view;
  const again = restartText(view);
  const what = origin.kind === 'local' ? 'the task' : origin.work ? 'the request' : 'the issue';
  if (noPatchAtAll(view)) return `${noPatchAdvice(view, what)}, then ${again}.`;
  const describe = `describe ${what} more precisely (the expected behaviour, a test that shows it), then ${again}.`;
  const [best] = pickable(view);
  if (best === undefined || view.picks?.length) return describe;
  const pick =
    origin.kind === 'local' ? `run \`runoff pick ${view.id} ${best}\`` : `comment \`/auto-dev pick ${best}\``;
  return `decide whether the existing tests that ${best} breaks should change. If so, ${pick}; if not, ${describe}`;
}

const OPEN_PULL = 'open a pull request from it';

/** Why the winner has no pull request, and what to do about it; empty if none was to be opened. */
export function unopenedText(view: RunView, compareUrl: string | undefined, to: Markup = MARKDOWN): string {
  const { outcome } = view;
  const alias = chosenOf(view);
  if (outcome?.kind !== 'table' || outcome.refusedBecause === undefined || alias === null) return '';
  const url = compareUrl ?? compareUrlOf(view, alias);
  const branch = branchOf(view, alias);
  const where =
    branch === null
      ? `Its branch could not be pushed either${outcome.comparisonUrl === undefined ? '' : '; the comparison has its diff'}.`
      : `Its branch is ${to.code(branch)}: ${url === null ? OPEN_PULL : to.link(OPEN_PULL, url)} manually.`;
  const none = `${to.own(`**${alias}** has no pull request:`)} ${to.sentence(outcome.refusedBecause, 400)}`;
  if (outcome.isDamaged) return `${none} To have it made again, ${to.sentence(restartText(view))}.`;
  const other = onlyCandidate(view) === null ? ', or with the letter of another candidate' : '';
  const pick = to.own(`comment \`/auto-dev pick ${alias}\`${other}`);
  return `${none} ${where} ${branch === null ? 'Fix' : 'Or fix'} what GitHub reports, then ${pick}: this opens the pull request, and no coder runs again.`;
}

/** GitHub's page for a candidate's branch, derived from the URL of Runoff's comment; null if unknown. */
function compareUrlOf(view: RunView, alias: string): string | null {
  const { outcome, base } = view;
  const branch = branchOf(view, alias);
  const ours = outcome?.kind === 'table' ? outcome.comparisonUrl : undefined;
  const repository = /^(https?:\/\/[^?#]+)\/(?:issues|pull)\/\d+/.exec(ours ?? '')?.[1];
  return repository && base && branch ? `${repository}/compare/${base.sha}...${branch}` : null;
}

const HEAD = [
  'candidate',
  'gates',
  'existing tests',
  'broke',
  'fixed',
  'exit code',
  'test time',
  'patch SHA-256',
];

const KEEP_COMMANDS =
  '- To keep these commands: `/auto-dev settings` opens a draft pull request that adds `.github/auto-dev.yml`';

const EVIDENCE = 'What was executed: commands, exit codes, commits';
/** Maximum code points of the reason for the decision. */
const MAX_BECAUSE = 600;

/** What was executed, on which commit, with commands and exit codes: enough to reproduce it. */
export function evidenceSection(view: RunView, diffs: Diffs, maxLength: number): string {
  const facts = [
    `- Run ${code(view.id)}: ${counted(view.candidates.length, 'candidate')}, ${noPatchAtAll(view) ? 'without a patch to build and test' : `${testedText(view)} on the same base commit`}`,
    ...(view.base
      ? [
          `- Base commit: ${code(view.base.sha)} (${code(view.base.ref)}); the exit code is that of the test command on the existing tests`,
        ]
      : []),
    ...(view.decision ? [`- How it was decided: ${inertSentence(view.decision.because, MAX_BECAUSE)}`] : []),
    ...(view.checks ? [`- Commands: ${checkCommands(view.checks)}`] : []),
    ...(couldKeepCommands(view) ? [KEEP_COMMANDS] : []),
    ...whereFacts(view),
    "- Existing tests: the base commit's own test files, run on each candidate's production code",
    "- New tests: independent ones, written by no coder, and those of candidates that passed the gates, run on the production code of all of these; nobody's own tests count for them",
    ...[sequenceResult(view) ?? [], view.learned ?? [], agreementNote(view) ?? [], testNotes(view)]
      .flat()
      .map((note) => `- ${inertSentence(note, MAX_NOTE)}`),
    ...notableFacts(diffs),
  ].join('\n');
  const rows = standings(view).flatMap(({ evidence }) => (evidence ? [row(evidence)] : []));
  if (rows.length === 0) return details(EVIDENCE, facts);
  const body = fill(
    tableRows(HEAD, 'llrrrrrl', rows),
    maxLength - facts.length - details(EVIDENCE, '').length - 2,
    { separator: '\n', more: (left) => `\n(${left} more, omitted for length)` },
  );
  return details(EVIDENCE, body === '' ? facts : `${facts}\n\n${body}`);
}

/** Maximum code points of one note. */
const MAX_NOTE = 300;
/** Maximum files named for each reason; the rest is counted. */
const MAX_FILES_NAMED = 5;

/** Files whose effects tests cannot detect: worth a second look, whichever candidate wins. One line per reason. */
function notableFacts(diffs: Diffs): readonly string[] {
  const facts = Object.entries(diffs)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([alias, { patch }]) =>
      notableGroups(patch.files).map(({ what, paths }) => ({ alias, text: `${namedFiles(paths)} ${what}` })),
    );
  return byText(facts).map(({ aliases, text }) => `- **Review ${formatList(aliases)} closely:** ${text}`);
}

function namedFiles(paths: readonly string[]): string {
  const shown = paths.slice(0, MAX_FILES_NAMED).map((path) => code(path, 100));
  const more = paths.length > MAX_FILES_NAMED ? ` and ${paths.length - MAX_FILES_NAMED} more` : '';
  return paths.length === 1 ? (shown[0] as string) : `${shown.join(', ')}${more}: each`;
}

function row(evidence: Evidence): readonly string[] {
  const tests = evidence.baseTests;
  const passed = evidence.gates.filter((gate) => gate.passed).length;
  const stopped = failedGate(evidence);
  return [
    `**${evidence.alias}**`,
    stopped === undefined ? `${passed}/${evidence.gates.length}` : `stopped at \`${stopped.gate}\``,
    baseTestsText(evidence),
    tests ? String(tests.regressions.length) : '–',
    tests ? String(tests.fixed.length) : '–',
    tests ? String(tests.exitCode ?? 'none') : '–',
    tests ? elapsed(tests.ms) : '–',
    evidence.patchSha256 === '' ? '–' : code(evidence.patchSha256.slice(0, 16)),
  ];
}
