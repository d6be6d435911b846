import {
  type BaseFacts,
  type ExcludedTests,
  INDEPENDENT_TEST_ORIGINS,
  type Need,
  type Silence,
} from '../evidence/index.ts';
import type { IndependentTestReport } from '../independent-tests/index.ts';
import { type Alias, formatList } from '../model/index.ts';
import { commandFailure, failureHint, howEnded, limitHelp, quotedCode } from './commands.ts';
import { cutNotes, inputNotes, kindNotes } from './evidence-notes.ts';
import { lockNotes } from './findings.ts';
import { counted, shortSha } from './format.ts';
import { code, prose } from './markdown.ts';
import { MARKDOWN, type Markup } from './markup.ts';
import type { RunView, SandboxView } from './view.ts';
import { visibleLine } from './visible.ts';

/** Maximum code points of one example. */
const MAX_EXAMPLE_CHARACTERS = 80;
/** Maximum tests named; the rest is counted. */
const MAX_TESTS_NAMED = 3;

/**
 * Tests that most survivors break, as a question to a person: plain text, not yet escaped for Markdown or a terminal.
 * Null if there are none.
 */
export function contestedQuestion({ evidence }: RunView): string | null {
  const breaking = new Map<string, Alias[]>();
  for (const { alias, baseTests } of evidence)
    for (const id of baseTests?.contested ?? []) breaking.set(id, [...(breaking.get(id) ?? []), alias]);
  if (breaking.size === 0) return null;
  const who = [...new Set([...breaking.values()].flat())].sort();
  const tests = [...breaking.keys()].sort();
  const [one, them, should] =
    tests.length === 1
      ? ['this existing test', 'it', 'Should it']
      : ['these existing tests', 'them', 'Should they'];
  return `${formatList(who)} break ${one}: ${firstNames(tests)}. Because most candidates that passed every gate break ${them}, Runoff ignored ${them} in the ranking. ${should} change with this task?`;
}

/** Parts that several survivors change, most frequent first, as one sentence of plain text; null for none. */
export function agreementNote({ evidence }: RunView): string | null {
  const shared = new Map<string, number>();
  for (const { changes = [] } of evidence)
    for (const { name, others } of changes) if (others > 0) shared.set(name, others + 1);
  const places = [...shared].sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1));
  if (places.length === 0) return null;
  const survivors = evidence.filter(({ survivor }) => survivor).length;
  const named = places.map(([name, by]) => `${name} (${by} of ${survivors})`);
  return `Candidates that passed every gate change the same places: ${firstNames(named)}.`;
}

/** Results of excluded tests and of tests written by models, one sentence each: plain text. */
export function testNotes(
  view: Pick<RunView, 'checks' | 'evidence' | 'independentTests'>,
): readonly string[] {
  const { evidence, independentTests } = view;
  const excluded = excludedTestsNote(view);
  const unmet = [...new Set(evidence.flatMap((one) => one.unmetExamples ?? []))].sort();
  const flaky = [...new Set(evidence.flatMap(({ baseTests }) => baseTests?.flaky ?? []))].sort();
  const reported = evidence.flatMap(({ baseTests }) => (baseTests?.source === 'report' ? [baseTests] : []));
  const isFixedAgain = reported.some(({ fixedAgain }) => fixedAgain);
  const once = reported.length > 0 && reported.every(({ baseRuns }) => baseRuns === undefined);
  const notes = [...new Set(evidence.flatMap(({ baseTests }) => baseTests?.notes ?? []))];
  const superseded = [...new Set(evidence.flatMap(({ baseTests }) => baseTests?.superseded ?? []))].sort();
  return [
    ...(excluded === null ? [] : [excluded]),
    ...notes,
    ...kindNotes(evidence),
    ...cutNotes(view),
    ...inputNotes(view),
    ...lockNotes(view),
    ...(unmet.length > 0
      ? [
          `No candidate satisfies ${counted(unmet.length, 'example')} from the issue, as Runoff reads it: ${firstNames(unmet.map((one) => visibleLine(one, MAX_EXAMPLE_CHARACTERS)))}.`,
        ]
      : []),
    ...(superseded.length > 0
      ? [
          `${counted(superseded.length, 'existing test')} broken as the brief says ${superseded.length === 1 ? 'is' : 'are'} no regression: ${firstNames(superseded)}.`,
        ]
      : []),
    ...(flaky.length > 0
      ? [`${counted(flaky.length, 'test')} gave different results in repeated runs: ${firstNames(flaky)}.`]
      : []),
    ...(once
      ? [
          `The existing tests ran only once on the base because they take long, so flaky ones could not be detected${isFixedAgain ? ', except among those that a candidate makes pass, which failed there again' : ''}.`,
        ]
      : []),
    ...(independentTests ? independentTestNotes(independentTests) : []),
  ];
}

/** The name of each kind of generated test. */
const TEST_ORIGIN_LABELS = {
  issue: 'Examples from the issue',
  writer: 'Tests written from the brief',
  distinguishing: 'Tests written to distinguish candidates',
  reviewer: 'Tests by a reviewer',
} as const;

function independentTestNotes({ models, tests, notes }: IndependentTestReport): readonly string[] {
  const heads = INDEPENDENT_TEST_ORIGINS.flatMap((origin) => {
    const own = tests.filter((one) => one.origin === origin);
    const counts = (['admitted', 'suspect', 'refused'] as const).flatMap((status) => {
      const count = own.filter((one) => one.status === status).length;
      return count === 0 ? [] : [`${count} ${status}`];
    });
    const by = origin === 'writer' && models.length > 0 ? ` by ${formatList(models)}` : '';
    return own.length === 0 ? [] : [`${TEST_ORIGIN_LABELS[origin]}${by}: ${counts.join(', ')}.`];
  });
  const notesByTest = tests.flatMap(({ title, status, failedBy, passedBy, because }) => {
    if (status === 'suspect') return [`“${title}” is suspect: ${because}`];
    if (status !== 'admitted' || failedBy.length === 0) return [];
    const passes = `${formatList(passedBy, 'nobody')} ${passedBy.length > 1 ? 'pass' : 'passes'}`;
    return [
      `“${title}”: ${passes}, ${formatList(failedBy, 'nobody')} ${failedBy.length > 1 ? 'fail' : 'fails'}.`,
    ];
  });
  return [...heads, ...firstNotes([...notesByTest, ...notes])];
}

/** Maximum lines about generated tests; the rest is counted. */
const MAX_NOTES = 10;
const firstNotes = (lines: readonly string[]): readonly string[] =>
  lines.length <= MAX_NOTES
    ? lines
    : [...lines.slice(0, MAX_NOTES), `And ${lines.length - MAX_NOTES} more notes on independent tests.`];

function firstNames(ids: readonly string[]): string {
  const shown = ids.slice(0, MAX_TESTS_NAMED).join('; ');
  return ids.length > MAX_TESTS_NAMED ? `${shown}; and ${ids.length - MAX_TESTS_NAMED} more` : shown;
}

/** For the note of a candidate whose coder was stopped. */
export const PARTIAL_WORK_JUDGED = 'its work so far is judged';
/** Maximum code points. */
const SENTENCE = 300;

const isUnsandboxed = (sandbox: SandboxView | undefined): boolean => sandbox?.backend === 'none';

/** Whether the test command was run on candidates. */
const wereTested = ({ checks }: RunView): boolean => {
  const silence = checks?.base?.silence;
  return silence !== 'no-command' && silence !== 'not-started' && silence !== 'stopped';
};

/** How the candidates of a run were built and tested, in a few words. */
export const testedText = (view: RunView): string => {
  const where = isUnsandboxed(view.sandbox) ? 'without a sandbox' : 'in sandboxes';
  return wereTested(view) ? `built and tested ${where}` : `built ${where} and not tested,`;
};

/** How a patch was tested, for a commit message. */
export const testedWhere = (view: RunView): string => {
  if (!wereTested(view)) return 'not tested';
  return isUnsandboxed(view.sandbox) ? 'tested without a sandbox' : 'tested in a sandbox';
};

/** Maximum code points: quotes a command and its output. */
const SILENCE = 1_500;

/** The most important warning for a run whose tests give no usable results; empty for other runs. */
export function silenceLines(view: RunView, to: Markup = MARKDOWN): readonly string[] {
  const note = silenceNote(view);
  return note === null ? [] : [to.sentence(note, SILENCE)];
}

/** Protections that are weaker than in the default sandbox; empty for the default. */
export function sandboxWarnings({ sandbox }: RunView, to: Markup = MARKDOWN): readonly string[] {
  if (!sandbox || sandbox.weaker.length === 0) return [];
  const title = to.own(isUnsandboxed(sandbox) ? '**No sandbox.**' : '**Weaker sandbox.**');
  return sandbox.weaker.map((text) => `${title} ${to.sentence(text, SENTENCE)}`);
}

/** What has changed since the run began: the issue, the base branch; empty if nothing has, or if unknown. */
export function changedSinceLines(
  { base, baseMovedTo, editedSince = false }: RunView,
  to: Markup = MARKDOWN,
): readonly string[] {
  const edited = editedSince
    ? [to.own('**The issue was edited after the run started.** The candidates solve the earlier version.')]
    : [];
  if (!base || baseMovedTo === undefined || baseMovedTo === base.sha) return edited;
  return [
    ...edited,
    `${to.own('**The base branch has moved.**')} ${to.code(base.ref)} is now at ${to.code(shortSha(baseMovedTo))}; the candidates were built and tested on ${to.code(shortSha(base.sha))}.`,
  ];
}

/** Facts for the evidence: the sandbox, and the versions of the agents that wrote the candidates. */
export function whereFacts(view: RunView): readonly string[] {
  const versions = view.candidates.flatMap(({ alias, coderVersion }) =>
    coderVersion ? [`${alias} ${code(coderVersion, 60)}`] : [],
  );
  return [
    ...(view.sandbox ? [`- Sandbox: ${code(`${view.sandbox.backend}: ${view.sandbox.detail}`, 160)}`] : []),
    ...endedEarly(view),
    ...(versions.length > 0 ? [`- Coders: ${versions.toSorted().join(', ')}`] : []),
  ];
}

/** Coders that were stopped, but whose work is judged. */
function endedEarly({ candidates }: RunView): readonly string[] {
  return candidates
    .filter(({ patch, note }) => patch !== undefined && note.includes(PARTIAL_WORK_JUDGED))
    .map(({ alias, note }) => `- Ended early: ${alias}, ${prose(note, SENTENCE)}`);
}

/** After “needs” or “need”. */
const NEEDED = {
  network: 'the network',
  database: 'a database',
  browser: 'a browser',
  docker: 'Docker',
  display: 'a display',
  'time-zone': 'time zone data',
  clock: 'a clock at another date',
} as const satisfies Record<Need, string>;

const COMPARED =
  'Without tests, Runoff compares candidates by build, syntax, behaviour, agreement and judges, and calls no result clear.';
const OTHER_COMMAND =
  'Make the command pass there, or set `checks.test` to a runner whose report Runoff reads: then only the tests that fail are excluded.';

/**
 * Why the tests cannot evaluate the candidates of a run, with the command, the relevant lines of its output and a
 * remedy: plain text with code in backticks. Null if they can, or have not run yet.
 */
export function silenceNote({ checks }: Pick<RunView, 'checks'>): string | null {
  const { base, test = '' } = checks ?? {};
  if (base?.silence === undefined) return null;
  const { silence } = base;
  const reported = silence === 'none-passes' || silence === 'none-reported';
  const instead = reported ? 'As long as none passes, Runoff calls no result clear.' : COMPARED;
  return [whatHappened(base, silence, test), ...whatHelps(base, silence), instead].join(' ');
}

function whatHappened(base: BaseFacts, silence: Silence, command: string): string {
  switch (silence) {
    case 'no-command':
      return 'Nothing was tested, because Runoff found no test command in this repository: to add tests, set `checks.test` in `.github/auto-dev.yml`, for example `test: npm test`.';
    case 'none-passes':
      return `None of ${counted(base.total, 'existing test')} passes on the base commit (${quotedCode(command)}, ${howEnded(base)})${outputOf(base)}.`;
    case 'none-reported':
      return `The test command ${quotedCode(command)} reports no test on the base commit (${howEnded(base)})${outputOf(base)}.`;
    case 'not-started':
    case 'stopped':
    case 'exit-code':
      return commandFailure({ step: 'tests', command, how: howEnded(base), lines: base.lines });
  }
}

const outputOf = ({ lines }: BaseFacts): string =>
  lines.length === 0 ? '' : `: ${lines.map(quotedCode).join(', ')}`;

function whatHelps({ need, lines, stopped }: BaseFacts, silence: Silence): readonly string[] {
  const needNotes =
    need === undefined || need === 'network'
      ? []
      : [`It needs ${NEEDED[need]}, which is not in the sandbox.`];
  switch (silence) {
    case 'no-command':
      return [];
    case 'not-started':
      return [
        'Make the command start there (`checks.setup` installs packages), or set `checks.test` to another one.',
      ];
    case 'stopped':
      return [...needNotes, ...[limitHelp(stopped ?? 'wall', 'tests') ?? []].flat()];
    case 'exit-code':
      return [...needNotes, OTHER_COMMAND];
    case 'none-passes':
    case 'none-reported':
      return [
        ...needNotes,
        ...[failureHint(lines, 'tests') ?? []].flat(),
        'Make at least one test pass there, or set `checks.test` to another command.',
      ];
  }
}

/** Tests that fail on the base, with the first few names and what they need: plain text. Null if there are none. */
export function excludedTestsNote({ checks }: Pick<RunView, 'checks'>): string | null {
  const { silence, excluded = [], total = 0 } = checks?.base ?? {};
  if (silence !== undefined || excluded.length === 0) return null;
  const count = excluded.reduce((sum, group) => sum + group.count, 0);
  const why = count === 1 ? 'it fails' : 'they fail';
  const groups = excluded.map((group) => groupText(group, excluded.length > 1));
  return `Runoff excluded ${count} of ${counted(total, 'existing test')}, because ${why} on the base commit: ${groups.join(', ')}.`;
}

function groupText({ because, count, names }: ExcludedTests, amongOthers: boolean): string {
  const more = count > names.length ? `; and ${count - names.length} more` : '';
  const named = `${names.join('; ')}${more}`;
  if (because === 'failing') return amongOthers ? `${counted(count, 'other')} (${named})` : named;
  return `${counted(count, 'test')} ${count === 1 ? 'needs' : 'need'} ${NEEDED[because]} (${named})`;
}
