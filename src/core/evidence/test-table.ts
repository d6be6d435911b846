import { type Alias, byAlias, uniqueSorted } from '../model/index.ts';
import { redactor } from '../secrets/index.ts';
import type { TestOutcome, TestOutput, TestRun } from './evidence.ts';
import { type AuthorResults, type PeerTestResult, resolvedResults } from './peers.ts';
import { EXIT_CODE, outcomeIn, succeeded } from './test-runs.ts';

/**
 * A test's result on one tree: `p` passed, `f` failed, `s` skipped, `m` not reported although the base reports it, `n`
 * needs a name that only its author has, `u` flaky on the base and set aside, `-` not run.
 */
export type TestMark = 'p' | 'f' | 's' | 'm' | 'n' | 'u' | '-';

/** Tests of one origin, with one letter for each column of the table. */
interface TestSuite {
  /** `guard`: tests of a candidate that the base passes, too. */
  readonly kind: 'base' | 'peer' | 'guard';
  /** Null: the base. */
  readonly author: Alias | null;
  /** Sorted by id. `marks`: one `TestMark` for each column, in order. */
  readonly tests: readonly { readonly id: string; readonly marks: string }[];
  /** Number of tests that were left out for their number. */
  readonly more: number;
}

/** An input on which candidates differ, with the result on each tree; null: unknown there. */
export interface DifferingInput {
  readonly input: string;
  /** One for each column of the table, in order. */
  readonly results: readonly (string | null)[];
}

/** All test results of a run, for people: evidence keeps only what decides. Plain JSON, bounded. */
export interface TestTable {
  /** The base, then the candidates by alias. */
  readonly columns: readonly ('base' | Alias)[];
  readonly suites: readonly TestSuite[];
  /** Most informative first. */
  readonly inputs: readonly DifferingInput[];
}

/** Outputs by suite (its number in the table) and column. Plain JSON, bounded. */
export type TestOutputs = readonly {
  readonly suite: number;
  readonly column: 'base' | Alias;
  readonly output: TestOutput;
}[];

/** Everything that was executed on one candidate. */
interface CandidateTestRun {
  readonly alias: Alias;
  /** The base suite; absent if it was not run. */
  readonly run?: TestRun;
}

interface TableInput {
  readonly onBase: TestRun;
  readonly candidates: readonly CandidateTestRun[];
  readonly peers: readonly AuthorResults[];
  /** Results by alias, and on the base. */
  readonly inputs: readonly {
    readonly input: string;
    readonly base: string | null;
    readonly byAlias: ReadonlyMap<Alias, string>;
  }[];
}

/** Maximum tests of one suite; far above what people read, and enough for the largest suites. */
const MAX_TESTS = 20_000;
/** Maximum characters of an id. Runners' reports are read with at most twice as many. */
const MAX_KEPT_ID_CHARS = 500;

/** The table and its outputs. The order of candidates has no effect. */
export function testTable({ onBase, candidates, peers, inputs }: TableInput): {
  readonly table: TestTable;
  readonly outputs: TestOutputs;
} {
  const sorted = candidates.toSorted(byAlias);
  const aliases = sorted.map(({ alias }) => alias);
  const authors = peers.toSorted((a, b) => (a.author < b.author ? -1 : 1));
  const made = [
    baseSuite(onBase, sorted),
    ...authors.flatMap((one) => [peerSuite('peer', one, aliases), peerSuite('guard', one, aliases)]),
  ].filter(({ suite }) => suite.tests.length > 0);
  const table = {
    columns: ['base', ...aliases],
    suites: made.map(({ suite }) => suite),
    inputs: inputs.map(({ input, base, byAlias }) => ({
      input,
      results: [base, ...aliases.map((alias) => byAlias.get(alias) ?? null)],
    })),
  };
  const outputs = made.flatMap(({ outputs: own }, suite) =>
    [...own].map(([column, output]) => ({ suite, column, output })),
  );
  return { table, outputs };
}

interface MadeSuite {
  readonly suite: TestSuite;
  readonly outputs: ReadonlyMap<string, TestOutput>;
}

const OUTCOME_MARKS = { passed: 'p', failed: 'f', skipped: 's' } as const satisfies Record<
  TestOutcome,
  TestMark
>;

function baseSuite(onBase: TestRun, candidates: readonly CandidateTestRun[]): MadeSuite {
  const runs = candidates.map(({ run }) => (run && run.source !== 'none' ? run : null));
  const trees = [onBase, ...runs];
  const byExitCode = trees.some((run) => run !== null && run.source === 'exit-code');
  const flaky = new Set(onBase.flaky ?? []);
  const ids = uniqueSorted([
    ...trees.flatMap((run) => (run ? Object.keys(run.tests) : [])),
    ...flaky,
    ...(byExitCode ? [EXIT_CODE] : []),
  ]);
  const markOn = (run: TestRun | null, id: string): TestMark => {
    if (run === null || run.source === 'none') return '-';
    const outcome = outcomeIn(run, id);
    if (outcome !== undefined) return OUTCOME_MARKS[outcome];
    if (id === EXIT_CODE) return succeeded(run) ? 'p' : 'f';
    return outcomeIn(onBase, id) === 'passed' ? 'm' : '-';
  };
  const tests = ids.map((id) => ({
    id: id.slice(0, MAX_KEPT_ID_CHARS),
    marks: [flaky.has(id) ? 'u' : markOn(onBase, id), ...runs.map((run) => markOn(run, id))].join(''),
  }));
  const outputs = new Map(
    [['base', onBase] as const, ...candidates.map(({ alias }, at) => [alias, runs[at] ?? null] as const)]
      .flatMap(([column, run]) => (run && run.source !== 'none' ? [[column, run] as const] : []))
      .map(([column, run]) => [column, outputOf(run)]),
  );
  return { suite: { kind: 'base', author: null, ...firstTests(tests) }, outputs };
}

function peerSuite(
  kind: 'peer' | 'guard',
  { author, tests, onPeers }: AuthorResults,
  aliases: readonly Alias[],
): MadeSuite {
  const key = kind === 'peer' ? 'proven' : 'guards';
  const all = onPeers.map((one) => one[key]);
  const results = new Map<Alias, readonly PeerTestResult[]>(
    onPeers.map((one) => [one.peer, resolvedResults(one[key], all)]),
  );
  const rows = tests[key].map((id, at) => ({
    id: id.slice(0, MAX_KEPT_ID_CHARS),
    // Tests that its author proved fail on the base; those that guard it pass.
    marks: [
      kind === 'peer' ? 'f' : 'p',
      ...aliases.map((alias) => (alias === author ? 'p' : (results.get(alias)?.[at] ?? '-'))),
    ].join(''),
  }));
  const outputs = new Map(onPeers.flatMap(({ peer, output }) => (output ? [[peer, output] as const] : [])));
  return { suite: { kind, author, ...firstTests(rows) }, outputs };
}

/** If there are too many tests, those that tell candidates apart are kept. */
function firstTests(tests: TestSuite['tests']): Pick<TestSuite, 'tests' | 'more'> {
  if (tests.length <= MAX_TESTS) return { tests, more: 0 };
  const distinguishing = tests.filter(({ marks }) => tellsApart(marks)).slice(0, MAX_TESTS);
  const kept = new Set([
    ...distinguishing,
    ...tests.filter(({ marks }) => !tellsApart(marks)).slice(0, MAX_TESTS - distinguishing.length),
  ]);
  return { tests: tests.filter((test) => kept.has(test)), more: tests.length - kept.size };
}

/**
 * Whether a test deserves a look: candidates on which it was run differ, or differ from the base. Passing a test that
 * the base fails is what the task asks for, so this counts, too.
 */
export function tellsApart(marks: string): boolean {
  const ran = new Set([...marks.slice(1)].filter((mark) => mark !== '-' && mark !== 'n'));
  if (ran.size > 1) return true;
  const [only] = ran;
  return only !== undefined && only !== marks[0] && marks[0] !== 'u';
}

/** Maximum messages kept of one execution: of the repository's suite, and of another candidate's tests. */
const MAX_SUITE_MESSAGES = 200;
const MAX_PEER_MESSAGES = 20;
/** Maximum characters of each. */
const MAX_KEPT_MESSAGE_CHARS = 1_000;
const MAX_TAIL_CHARS = 4_000;

/** Candidates never have Runoff's own keys, so there are only patterns to look for. */
const redact = redactor([]);

/**
 * What is kept of an execution, without what looks like a secret; only messages about these tests if they are given.
 */
export function outputOf(
  { exitCode, stopped, ms, tail, messages = {} }: TestRun,
  about?: readonly string[],
): TestOutput {
  const wanted = about === undefined ? null : new Set(about);
  const kept = Object.entries(messages)
    .filter(([id]) => wanted === null || wanted.has(id))
    .slice(0, wanted === null ? MAX_SUITE_MESSAGES : MAX_PEER_MESSAGES)
    .map(
      ([id, text]) =>
        [id.slice(0, MAX_KEPT_ID_CHARS), redact(text).slice(0, MAX_KEPT_MESSAGE_CHARS)] as const,
    );
  return {
    exitCode,
    stopped,
    ms,
    tail: redact(tail).slice(-MAX_TAIL_CHARS),
    messages: Object.fromEntries(kept),
  };
}
