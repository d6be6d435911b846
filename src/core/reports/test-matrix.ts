import {
  type DifferingInput,
  INDEPENDENT_TEST_ORIGINS,
  type IndependentTestOrigin,
  type TestMark,
  type TestTable,
} from '../evidence/index.ts';
import { type Alias, byAlias, uniqueSorted } from '../model/index.ts';
import type { RunView } from './view.ts';

/** Tests × trees, as far as they are known: the base, then the candidates by alias. */
export interface Matrix {
  readonly columns: readonly ('base' | Alias)[];
  readonly groups: readonly MatrixGroup[];
  /** Only tests that decided are known: the full results are missing or cannot be read. */
  readonly isPartial: boolean;
}

export interface MatrixGroup {
  readonly title: string;
  /** The candidate that wrote these tests; absent for those of the base and independent ones. */
  readonly author?: Alias;
  readonly rows: readonly MatrixRow[];
  /** Tests that are not kept, for their number. */
  readonly more: number;
}

export interface MatrixRow {
  /** In addresses: the group's and the row's number in what is stored, e.g. `0-17`, or `i-3`. */
  readonly key: string;
  /** Chosen by whoever wrote the test. */
  readonly name: string;
  /** One `TestMark` for each column. */
  readonly marks: string;
  /** Of an independent test: its id in the evidence. */
  readonly test?: string;
  /** What became of an independent test: a sentence; absent if it was admitted. */
  readonly note?: string;
}

const TITLES = {
  base: () => 'Existing tests',
  peer: (author: Alias | null) => `Tests of ${author ?? '?'}, which fail on the base`,
  guard: (author: Alias | null) => `Tests of ${author ?? '?'} that also pass on the base`,
} as const;

const ORIGIN_TITLES = {
  issue: 'Examples from the issue',
  writer: 'Independent tests, written from the brief',
  distinguishing: 'Independent tests, written to distinguish candidates',
  reviewer: 'Tests by a reviewer',
} as const satisfies Record<IndependentTestOrigin, string>;

/** Of a run; `table` null: it was not kept or cannot be read, and what the evidence says is used. */
export function matrixOf(view: RunView, table: TestTable | null): Matrix {
  const columns = table?.columns ?? ['base', ...view.evidence.map(({ alias }) => alias).toSorted()];
  const [base, ...peers] = table ? storedGroups(table) : [baseGroup(view), ...peerGroups(view)];
  const independent = independentGroups(view, columns);
  const groups = [...(base ? [base] : []), ...independent, ...peers].filter(({ rows }) => rows.length > 0);
  return { columns, groups, isPartial: table === null };
}

function storedGroups({ suites }: TestTable): readonly MatrixGroup[] {
  return suites.map(({ kind, author, tests, more }, suite) => ({
    title: TITLES[kind](author),
    ...(author === null ? {} : { author }),
    rows: tests.map(({ id, marks }, at) => ({ key: `${suite}-${at}`, name: id, marks })),
    more,
  }));
}

/** Exact for tests on which candidates differ: the evidence names all that are broken or fixed. */
function baseGroup({ evidence }: RunView): MatrixGroup {
  const inOrder = evidence.toSorted(byAlias);
  const all = inOrder.flatMap(({ baseTests }) => baseTests ?? []);
  const fixed = new Set(all.flatMap((tests) => tests.fixed));
  const names = uniqueSorted([
    ...fixed,
    ...all.flatMap(({ regressions, contested = [], superseded = [] }) => [
      ...regressions,
      ...contested,
      ...superseded,
    ]),
  ]);
  const rows = names.map((name, at): MatrixRow => {
    const marks = inOrder.map(({ baseTests }): TestMark => {
      if (!baseTests) return '-';
      if (fixed.has(name)) return baseTests.fixed.includes(name) ? 'p' : 'f';
      const { regressions, contested = [], superseded = [] } = baseTests;
      return [...regressions, ...contested, ...superseded].includes(name) ? 'f' : 'p';
    });
    return { key: `0-${at}`, name, marks: [fixed.has(name) ? 'f' : 'p', ...marks].join('') };
  });
  return { title: TITLES.base(), rows, more: 0 };
}

/** Only failing tests have names in the evidence. */
function peerGroups({ evidence }: RunView): readonly MatrixGroup[] {
  const inOrder = evidence.toSorted(byAlias);
  const authors = uniqueSorted(inOrder.flatMap(({ peerTests }) => peerTests.map(({ author }) => author)));
  return authors.map((author, nth) => {
    const own = inOrder.map(({ peerTests }) => peerTests.find((one) => one.author === author));
    const names = uniqueSorted(own.flatMap((one) => one?.failing ?? []));
    const rows = names.map((name, at) => ({
      key: `${nth + 1}-${at}`,
      name,
      marks: [
        'f',
        ...own.map((one, column) =>
          inOrder[column]?.alias === author ? 'p' : one ? (one.failing.includes(name) ? 'f' : 'p') : '-',
        ),
      ].join(''),
    }));
    return { title: TITLES.peer(author), author, rows, more: 0 };
  });
}

function independentGroups(
  { independentTests, evidence }: RunView,
  columns: readonly string[],
): readonly MatrixGroup[] {
  const reported = independentTests?.tests ?? [];
  const known = new Set(reported.map(({ id }) => id));
  // Examples of the issue have no report of their own: those that fail are named by the evidence.
  const examples = uniqueSorted(
    evidence.flatMap((one) =>
      (one.independentTests?.failing ?? []).flatMap(({ id, origin }) => (origin === 'issue' ? [id] : [])),
    ),
  ).filter((id) => !known.has(id));
  const rows = [
    ...reported.map(({ id, origin, title, status, because, passedBy, failedBy }) => ({
      origin,
      test: id,
      name: title,
      marks: columns.map(
        (column): TestMark => (passedBy.includes(column) ? 'p' : failedBy.includes(column) ? 'f' : '-'),
      ),
      ...(status === 'admitted' ? {} : { note: `${status}: ${because}` }),
    })),
    ...examples.map((name) => ({
      origin: 'issue' as const,
      test: name,
      name,
      marks: columns.map((column): TestMark => exampleMark(evidence, column, name)),
    })),
  ].map((row, at) => ({ ...row, key: `i-${at}`, marks: row.marks.join('') }));
  return INDEPENDENT_TEST_ORIGINS.map((of) => ({
    title: ORIGIN_TITLES[of],
    rows: rows.filter(({ origin }) => origin === of),
    more: 0,
  }));
}

function exampleMark(evidence: RunView['evidence'], alias: string, name: string): TestMark {
  const own = evidence.find((one) => one.alias === alias)?.independentTests;
  if (!own) return '-';
  return own.failing.some(({ id }) => id === name) ? 'f' : 'p';
}

/** Inputs on which candidates differ, with the result on each tree. */
export interface Inputs {
  /** The base, then the candidates by alias. */
  readonly columns: readonly string[];
  readonly rows: readonly DifferingInput[];
  /** The full results are missing or cannot be read: only the most informative ones, and not every result. */
  readonly isPartial: boolean;
}

/** Inputs on which candidates differ; without the full results, the most informative ones that the evidence keeps. */
export function differingInputs(view: Pick<RunView, 'evidence'>, table: TestTable | null): Inputs {
  if (table) return { columns: table.columns, rows: table.inputs, isPartial: false };
  const inOrder = view.evidence.toSorted(byAlias);
  const columns = ['base', ...inOrder.map(({ alias }) => alias)];
  const byInput = new Map<string, (string | null)[]>();
  for (const [at, { behaviour }] of inOrder.entries()) {
    for (const { input, got, base } of behaviour?.differences ?? []) {
      const results = byInput.get(input) ?? columns.map(() => null);
      results[0] = base;
      results[at + 1] = got;
      byInput.set(input, results);
    }
  }
  return { columns, rows: [...byInput].map(([input, results]) => ({ input, results })), isPartial: true };
}
