import type { Alias } from '../model/index.ts';
import { notable, type PatchFile } from '../patches/index.ts';
import { chosenOf, pickable } from '../ranking/index.ts';
import { subject } from './commit-message.ts';
import { pageLine } from './decision-sections.ts';
import { newTestsOf } from './executed.ts';
import { lookAtNotes } from './findings.ts';
import { branchName, counted, elapsed, escapedMoney, money, plusMinus } from './format.ts';
import { chosenText, evidenceText, lastPick, pickedBy } from './headline.ts';
import { code, details, fill, inertSentence, report } from './markdown.ts';
import { overlapLines } from './overlaps.ts';
import { baseTestsText } from './ranking-table.ts';
import { reviewLine } from './sections.ts';
import { changedSinceLines, sandboxWarnings, silenceLines } from './test-facts.ts';
import type { CandidateView, Diffs, DiffView, RunView } from './view.ts';

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
    whatAndWhy(view, diffs[alias]),
    howSure(view, alias),
    ...silenceLines(view),
    ...changedSinceLines(view),
    ...sandboxWarnings(view),
    lookFirst(view, alias, diffs[alias]),
    alsoChanged(view),
    evidence(view, alias),
    tryIt(view, alias),
    ciLine(view),
    comparisonLine(view),
    changedFiles(diffs[alias]),
    commandsList(view, alias),
  ]);
  return { marker, title: subject(view, MAX_TITLE), body };
}

/** Only a run on an issue closes it; a run on a pull request adds to that one's branch. */
function originLine({ origin }: RunView): string {
  if (origin.kind === 'local') return '';
  if (origin.work === 'review') return `Addresses the review of #${origin.issue}`;
  return origin.work === 'fix' ? `Fixes failing checks on #${origin.issue}` : `Fixes #${origin.issue}`;
}

/** Maximum code points of the goal, and files named in a sentence. */
const MAX_GOAL = 400;
const MAX_FILES_NAMED = 3;

/** The goal is a model's sentence, and says so; the files are counted. */
function whatAndWhy({ brief }: RunView, diff: DiffView | undefined): string {
  const goal = brief ? `${inertSentence(brief.goal, MAX_GOAL)} *(The goal, as a model wrote it.)*` : '';
  const files = diff?.patch.files ?? [];
  const sources = files.filter(({ role }) => role === 'production');
  const tests = files.length - sources.length;
  const [named, more] = [largest(sources).slice(0, MAX_FILES_NAMED), sources.length - MAX_FILES_NAMED];
  const what = [
    ...(named.length > 0
      ? [
          `changes ${named.map(({ path }) => code(path, 200)).join(', ')}${more > 0 ? ` and ${counted(more, 'other file')}` : ''}`,
        ]
      : []),
    ...(tests > 0 ? [`${counted(tests, 'test file')}`] : []),
  ].join(named.length > 0 ? ' and ' : '');
  const sizes = what === '' ? '' : `It ${named.length > 0 ? '' : 'changes '}${what}.`;
  const text = [goal, sizes].filter((part) => part !== '').join(' ');
  return text === '' ? '' : `**What it does:** ${text}`;
}

const largest = (files: readonly PatchFile[]): readonly PatchFile[] =>
  files.toSorted((one, other) => other.additions + other.deletions - one.additions - one.deletions);

function howSure(view: RunView, alias: Alias): string {
  const { decision, candidates } = view;
  const among = `candidate **${alias}** of ${candidates.length}`;
  if (lastPick(view)?.alias === null)
    return `**How sure:** ${chosenText(view)}; this is ${among}. ${evidenceText(view)}`.trim();
  if (chosenOf(view) !== alias) return `**How sure:** ${among}.`;
  const by = pickedBy(view);
  if (by !== '') return `**How sure:** ${among}, ${by}. ${evidenceText(view)}`.trim();
  if (!decision || decision.kind === 'none') return `**How sure:** ${among}.`;
  const sure = decision.kind === 'winner' ? decision.confidence : 'the evidence does not decide';
  return `**How sure:** ${sure}, ${among}. ${evidenceText(view)}`;
}

/** Maximum UTF-16 units of what to look at. */
const MAX_LOOK = 8_000;

/** Files whose effects tests cannot detect, doubts, and otherwise where most of the change is. */
function lookFirst(view: RunView, alias: Alias, diff: DiffView | undefined): string {
  const files = diff?.patch.files ?? [];
  const doubt = view.evidence.find((one) => one.alias === alias)?.doubt;
  const lines = [
    ...files.flatMap((file) => {
      const why = notable(file);
      return why === null ? [] : [`- ${code(file.path, 200)}: it ${why}`];
    }),
    ...lookAtNotes(view, [alias]).map(({ text }) => `- ${inertSentence(text, 1_500)}`),
    ...(doubt ? [`- A reviewer's doubt that execution did not refute: ${inertSentence(doubt, 400)}`] : []),
  ];
  const [most] = largest(files.filter(({ role, binary }) => role === 'production' && !binary));
  if (most && (lines.length === 0 || files.length > 1))
    lines.push(`- ${code(most.path, 200)}: most of the change, ${plusMinus(most)}`);
  const list = fill(lines, MAX_LOOK, { separator: '\n', more: (left) => `- and ${left} more` });
  return list === '' ? '' : `### Look at first\n\n${list}`;
}

/** Other open pull requests in which the same files change: whichever is merged later may conflict. */
function alsoChanged({ overlaps }: RunView): string {
  const lines = overlapLines(overlaps).map((line) => `- ${line}`);
  return lines.length === 0 ? '' : `### Open pull requests that change the same files\n\n${lines.join('\n')}`;
}

/** Five lines; the comparison has the rest. */
function evidence(view: RunView, alias: Alias): string {
  const candidate = view.candidates.find((one) => one.alias === alias);
  const found = view.evidence.find((one) => one.alias === alias);
  const gates = found?.gates ?? [];
  const lines = [
    ...(view.base
      ? [
          `- Base commit ${code(view.base.sha)} (${code(view.base.ref)})${gates.length > 0 ? `; gates passed: ${gates.filter((gate) => gate.passed).length} of ${gates.length}` : ''}`,
        ]
      : []),
    ...(found?.baseTests ? [`- ${baseTestsLine(found.baseTests, baseTestsText(found))}`] : []),
    `- ${newTestsLine(view, alias)}`,
    ...[reviewLine(view, alias)].filter((line) => line !== ''),
    ...(candidate ? authorLine(view, candidate) : []),
  ];
  return `### Evidence\n\n${lines.join('\n')}`;
}

function baseTestsLine(tests: NonNullable<RunView['evidence'][number]['baseTests']>, passed: string): string {
  if (tests.source === 'exit-code') return `Existing tests: exit code ${tests.exitCode ?? 'none'}`;
  const broken = `${counted(tests.regressions.length, 'test')} broken`;
  return `Existing tests: ${passed} passed, ${broken}, ${tests.fixed.length} fixed, exit code ${tests.exitCode ?? 'none'}`;
}

function newTestsLine(view: RunView, alias: Alias): string {
  const { passed, ran, total } = newTestsOf(view, alias);
  const mutants = view.evidence.find((one) => one.alias === alias)?.mutants;
  const caught = mutants ? `; its own catch ${mutants.caught} of ${counted(mutants.total, 'mutant')}` : '';
  if (total === 0) return `New tests that it did not write: none${caught}`;
  const left = ran < total ? `, ${total - ran} could not run on it` : '';
  return `New tests that it did not write: ${passed} of ${ran} passed${left}${caught}`;
}

const authorLine = (view: RunView, { contestant: who, ms, usage }: CandidateView): readonly string[] =>
  who && usage
    ? [
        `- Written by agent ${code(who.agent, 60)} with model ${code(who.model, 80)}, prompt ${code(who.prompt, 60)}, in ${elapsed(ms)} for ${money(usage.usd)}${view.budget.spent > 0 ? `; the whole run cost ${escapedMoney(view.budget.spent)}` : ''}`,
      ]
    : [];

/** Commands for trying the result by hand. */
function tryIt(view: RunView, alias: Alias): string {
  const { origin, outcome, checks } = view;
  if (origin.kind === 'local') return '';
  const branch = outcome?.kind === 'pull' ? outcome.branch : branchName(origin.issue, view.id, alias);
  const lines = [
    `git fetch origin ${branch}`,
    'git switch --detach FETCH_HEAD',
    ...[checks?.setup, checks?.build, checks?.test].filter((command) => command !== undefined),
  ].map((command, index) => `${index + 1}. ${code(command, 200)}`);
  return `### Try it\n\nThis runs code that nobody has reviewed: run it in a disposable environment.\n\n${lines.join('\n')}`;
}

/** The comparison is a comment on the pull request, so it cannot be linked before the pull request exists. */
const comparisonLine = (view: RunView): string =>
  `A comment below compares this with every other candidate, including their diffs (run ${code(view.id)}). ${pageLine(view)}`.trim();

function changedFiles(diff: DiffView | undefined): string {
  if (diff === undefined || diff.patch.files.length === 0) return '';
  const lines = diff.patch.files.map(
    (file) => `- ${code(file.path, 200)} ${file.change}, ${file.binary ? 'binary' : plusMinus(file)}`,
  );
  const list = fill(lines, MAX_FILE_LIST, { separator: '\n', more: (left) => `- and ${left} more` });
  return details(`All changed files: ${lines.length}`, list);
}

/** Commands that a person can give in a comment here. */
function commandsList(view: RunView, alias: Alias): string {
  if (view.origin.kind === 'local') return '';
  const others = pickable(view).filter((one) => one !== alias);
  const [first] = others;
  const lines = [
    ...(first === undefined
      ? []
      : [
          `- \`/auto-dev pick ${first}\` replaces this with ${others.length === 1 ? `candidate ${first}` : `another candidate: ${others.join(', ')}`}`,
        ]),
    `- \`/auto-dev explain ${first ?? alias}\` shows everything known about one candidate`,
    ...(view.ci === 'hold' ? ["- `/auto-dev ci` starts GitHub's own workflows on it"] : []),
    '- `/auto-dev review` addresses review comments in a draft pull request into this branch',
    '- `/auto-dev help` lists all commands',
  ];
  return details('Commands', `Only people with write access can use commands.\n\n${lines.join('\n')}`);
}

const CI_HELD =
  "**CI is on hold.** Nobody has reviewed this code yet, so its commit tells GitHub's own workflows not to start. Read the diff, then comment `/auto-dev ci` or push any commit to this branch to start them. If you squash-merge, delete the skip line from the proposed message; otherwise CI is skipped on the default branch too.";
const CI_STARTED =
  "**CI was started** with `/auto-dev ci`, by an empty commit. The commit before it still tells GitHub's own workflows not to start: if you squash-merge, delete the skip line from the proposed message; otherwise CI is skipped on the default branch too.";

function ciLine({ ci, outcome }: RunView): string {
  if (ci === 'run') return '';
  return outcome?.kind === 'pull' && outcome.ciStarted ? CI_STARTED : CI_HELD;
}

/** A description that says that CI has started; people may have edited the rest of it. */
export const withCiStarted = (body: string): string => body.replace(CI_HELD, CI_STARTED);
