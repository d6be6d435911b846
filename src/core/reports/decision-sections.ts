import type { Evidence } from '../evidence/index.ts';
import type { Alias } from '../model/index.ts';
import { notableGroups } from '../patches/index.ts';
import { chosenOf, failedGate } from '../ranking/index.ts';
import { blindNote } from './blind.ts';
import { checkCommands } from './commands.ts';
import { lookAtNotes } from './findings.ts';
import { branchOf, counted, decisionLabel, elapsed } from './format.ts';
import { code, details, fencedDiff, fill, inertSentence, link, prose, tableRows } from './markdown.ts';
import { MARKDOWN, type Markup, personFirst, personIn } from './markup.ts';
import { type FailingTests, type InputExample, type RankReason, reasons } from './rank-reasons.ts';
import { baseTestsText, standings } from './ranking-table.ts';
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
import type { Diffs, RunView } from './view.ts';

/** The first section: the winner, the confidence, and what decided. */
export const decisionSection = (view: RunView): string =>
  joinBlocks([
    `### ${chosenText(view) || noSurvivorTitle(view)}`,
    ...silenceLines(view),
    evidenceText(view),
    votesLine(view),
    ...runFacts(view),
  ]);

/** Facts about the whole run: number of candidates, where they were tested, limitations, and questions to people. */
export function runFacts(view: RunView): readonly string[] {
  const question = contestedQuestion(view);
  return [
    `Run ${code(view.id)}: ${counted(view.candidates.length, 'candidate')}, ${testedText(view)} on the same base commit.`,
    blindNote(view),
    pageLine(view),
    ...changedSinceLines(view),
    ...sandboxWarnings(view),
    question === null ? '' : `**A question for you.** ${inertSentence(question, 1_500)}`,
    ...lookAtNotes(view).map((note) => inertSentence(note, 1_500).replace(/^Please look at/, '**$&**')),
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

/** Maximum code points of the reason for a decision. */
const BECAUSE = 600;
/** Maximum voters named for each candidate; the rest is counted. */
const VOTERS_NAMED = 20;

type StoredPick = NonNullable<RunView['picks']>[number];

/** The current pick; undefined if no person picked. */
export const lastPick = ({ picks = [] }: Pick<RunView, 'picks'>): StoredPick | undefined => picks.at(-1);

/** ``picked by `mona` ``, after a candidate's letter; empty if no person picked it. */
export function pickedBy(view: RunView, to: Markup = MARKDOWN): string {
  const pick = lastPick(view);
  return pick && pick.alias !== null ? `picked by ${personIn(pick.by, to)}` : '';
}

/** The chosen candidate and how it was chosen, for a heading; empty without a decision. */
export function chosenText(view: RunView, to: Markup = MARKDOWN): string {
  const pick = lastPick(view);
  if (pick) {
    return pick.alias === null
      ? `${personFirst(pick.by, to)} rejected all candidates`
      : `${to.own(`**${pick.alias}** — picked by `)}${personIn(pick.by, to)}`;
  }
  const { decision } = view;
  return decision && decision.kind !== 'none'
    ? to.own(`**${decision.alias}** — ${decisionLabel(decision)}`)
    : '';
}

/** The evidence in full; next to a person's pick also the candidate in first place. */
export function evidenceText(view: RunView, to: Markup = MARKDOWN): string {
  const { decision } = view;
  if (decision === undefined) return '';
  const because = to.sentence(decision.because, BECAUSE);
  if (!lastPick(view)) return because;
  if (decision.kind === 'none') return `The evidence ranks no candidate first. ${because}`;
  const whom = decision.alias === chosenOf(view) ? 'it first too' : `**${decision.alias}** first`;
  return `${to.own(`The evidence ranks ${whom}: ${decisionLabel(decision)}.`)} ${because}`;
}

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

/** No candidate has a patch: adding details to the task would hardly help. */
export const noPatchAtAll = ({ candidates }: RunView): boolean =>
  candidates.every(({ patch }) => patch === undefined);

/** Why the winner has no pull request, and what to do about it; empty if none was to be opened. */
export function unopenedText(view: RunView, compareUrl: string | undefined, to: Markup = MARKDOWN): string {
  const { outcome } = view;
  const alias = chosenOf(view);
  if (outcome?.kind !== 'table' || outcome.refusedBecause === undefined || alias === null) return '';
  const url = compareUrl ?? compareUrlOf(view, alias);
  const branch = branchOf(view, alias);
  const where =
    branch === null
      ? 'Its branch could not be pushed either; the comparison has its diff.'
      : `Its branch is ${to.code(branch)}${url === null ? '' : ` (${to.link('compare', url)})`}: open a pull request from it manually.`;
  const again = to.sentence(restartText(view));
  const none = `${to.own(`**${alias}** has no pull request:`)} ${to.sentence(outcome.refusedBecause, 400)}`;
  if (outcome.isDamaged) return `${none} To have it made again, ${again}.`;
  return `${none} ${where} Or fix what GitHub reports, then ${again}.`;
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
  'base tests',
  'broke',
  'fixed',
  'exit code',
  'test time',
  'patch SHA-256',
];

const KEEP_COMMANDS =
  '- To keep these commands: `/auto-dev settings` opens a draft pull request that adds `.github/auto-dev.yml`';

/** What was executed, on which commit, with commands and exit codes: enough to reproduce it. */
export function evidenceSection(view: RunView, diffs: Diffs, maxLength: number): string {
  const facts = [
    '#### Evidence',
    '',
    ...(view.base
      ? [
          `- Runoff executed every candidate on base commit ${code(view.base.sha)} (${code(view.base.ref)}); the exit code is that of the test command on the base tests`,
        ]
      : []),
    ...(view.checks ? [`- Commands: ${checkCommands(view.checks)}`] : []),
    ...(couldKeepCommands(view) ? [KEEP_COMMANDS] : []),
    ...whereFacts(view),
    "- Base tests: the base commit's own test files, run on each candidate's production code",
    "- New tests, run on each candidate's production code: independent tests, written by no contestant, and peer tests, added by other survivors",
    '- Behaviour: how often a candidate returns what the others return, over inputs from tests and issue on which they disagree',
    ...[view.learned ?? [], agreementNote(view) ?? [], testNotes(view)]
      .flat()
      .map((note) => `- ${inertSentence(note, MAX_NOTE)}`),
    ...notableFacts(diffs),
  ].join('\n');
  const rows = standings(view).flatMap(({ evidence }) => (evidence ? [row(evidence)] : []));
  if (rows.length === 0) return facts;
  const body = fill(tableRows(HEAD, 'llrrrrrl', rows), maxLength - facts.length - 2, {
    separator: '\n',
    more: (left) => `\n(${left} more, omitted for length)`,
  });
  return body === '' ? facts : `${facts}\n\n${body}`;
}

/** Maximum code points of one note. */
const MAX_NOTE = 300;
/** Maximum files named for each reason; the rest is counted. */
const MAX_FILES_NAMED = 5;

/** Files whose effects tests cannot detect: worth a second look, whichever candidate wins. One line per reason. */
function notableFacts(diffs: Diffs): readonly string[] {
  return Object.entries(diffs)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([alias, { patch }]) =>
      notableGroups(patch.files).map(
        ({ what, paths }) => `- **Review ${alias} closely:** ${namedFiles(paths)} ${what}`,
      ),
    );
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

/** Maximum UTF-16 units of the lines that failed a gate. */
const MAX_HUNK = 1_500;
/** UTF-16 units of the fold around them and the note that they were shortened. */
const HUNK_FRAME_SIZE = 120;
/** Maximum code points of an input, and of its result. */
const MAX_VALUE = 160;

/**
 * Why each other candidate was not chosen: one sentence, failed tests, example inputs, and the lines that failed a
 * gate.
 */
export function reasonsSection(view: RunView, maxLength: number, everyone = false): string {
  const all = reasons(view, everyone);
  if (all.length === 0) return '';
  const title =
    chosenOf(view) === null
      ? '#### Why no candidate won'
      : everyone
        ? '#### Details of each candidate'
        : '#### Why not the others';
  const share = Math.floor((maxLength - title.length) / all.length) - 2;
  const entries = all.map((reason) => reasonText(reason, share)).filter((text) => text !== '');
  return [title, ...entries].join('\n\n');
}

/** The reasons of one candidate. */
export function reasonText(reason: RankReason, maxLength: number): string {
  const lines = [
    `**${reason.alias}**: ${inertSentence(reason.because)}`,
    ...reason.failing.map(failing),
    ...reason.inputs.map(inputLine),
  ];
  const text = fill(lines, maxLength, {
    separator: '\n',
    more: (left) => `- (${counted(left, 'more line')}, omitted for length)`,
  });
  if (reason.hunk === undefined) return text;
  const hunk = fencedDiff(reason.hunk, Math.min(MAX_HUNK, maxLength - text.length - HUNK_FRAME_SIZE));
  if (hunk === null) return text;
  const block = details('The lines in question', `${hunk.block}${hunk.whole ? '' : '\n\n(shortened)'}`);
  return `${text}\n\n${block}`;
}

function failing(tests: FailingTests): string {
  const names = tests.names.map((name) => code(name, 140)).join(', ');
  return `- fails ${tests.of}: ${names}${tests.more > 0 ? ` and ${tests.more} more` : ''}`;
}

/** One executed input with its result. A probe inside a test has no text of its own. */
const inputLine = ({ input, got, wanted, whose }: InputExample): string =>
  `- ${input.trim() === '' ? 'one input' : `input ${code(input, MAX_VALUE)}`} returns ${prose(got, MAX_VALUE)}, ${whose} ${prose(wanted, MAX_VALUE)}`;
