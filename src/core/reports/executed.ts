import { type Evidence, type TestMark, tellsApart } from '../evidence/index.ts';
import type { Alias } from '../model/index.ts';
import { failedGate } from '../ranking/index.ts';
import { counted, GATE_FAILURE_LABELS } from './format.ts';
import { differingInputs, matrixOf } from './test-matrix.ts';
import type { RunView } from './view.ts';
import { visibleCode } from './visible.ts';

/** Results of one candidate on the new tests of a run that it did not write. */
interface NewTests {
  readonly passed: number;
  /** Those that ran on it; the others need a name that only their author has, or it failed a gate before. */
  readonly ran: number;
  /** Independent tests and those of all other candidates: the same set for all but their authors. */
  readonly total: number;
}

export function newTestsOf({ evidence }: Pick<RunView, 'evidence'>, alias: Alias): NewTests {
  const own = evidence.find((one) => one.alias === alias);
  const sizes = new Map<Alias, number>();
  for (const { author, results = '', total } of evidence.flatMap((one) =>
    countedPeerTests({ evidence }, one),
  ))
    sizes.set(author, Math.max(sizes.get(author) ?? 0, results.length, total));
  const independent = Math.max(0, ...evidence.map((one) => one.independentTests?.total ?? 0));
  const written = [...sizes].reduce((sum, [author, size]) => sum + (author === alias ? 0 : size), 0);
  const runs = [
    ...(own?.independentTests ? [own.independentTests] : []),
    ...(own ? countedPeerTests({ evidence }, own) : []).filter(({ author }) => author !== alias),
  ];
  return {
    passed: runs.reduce((sum, { passed }) => sum + passed, 0),
    ran: runs.reduce((sum, { total }) => sum + total, 0),
    total: independent + written,
  };
}

/** Tests of candidates that failed a gate do not count in the ranking, so reports do not count them against anyone. */
export const countedPeerTests = (
  { evidence }: Pick<RunView, 'evidence'>,
  { peerTests }: Pick<Evidence, 'peerTests'>,
): Evidence['peerTests'] =>
  peerTests.filter(({ author }) => evidence.find(({ alias }) => alias === author)?.survivor !== false);

/** What a candidate does worse than it should, as a clause after its name; null if execution found nothing. */
export function testFaultOf(view: Pick<RunView, 'evidence'>, alias: Alias): string | null {
  const evidence = view.evidence.find((one) => one.alias === alias);
  if (!evidence) return null;
  const gate = failedGate(evidence);
  if (gate && !gate.ownTestsFail) return GATE_FAILURE_LABELS[gate.gate];
  // A patch's own test files usually contain the existing tests that it breaks.
  const broken = evidence.baseTests?.regressions.length ?? 0;
  if (broken > 0) return `breaks ${counted(broken, 'existing test')}`;
  if (gate) return 'fails its own tests';
  const { passed, ran } = newTestsOf(view, alias);
  return passed < ran ? `fails ${ran - passed} of ${counted(ran, 'new test')}` : null;
}

/** What a candidate does as it should, as a clause after `It`. */
export function strengthOf(view: Pick<RunView, 'evidence'>, alias: Alias): string {
  const evidence = view.evidence.find((one) => one.alias === alias);
  if (!evidence) return 'was not examined';
  const { passed, ran, total } = newTestsOf(view, alias);
  const existing = existingClause(evidence);
  const left = total > ran ? ` (${total - ran} more could not run on it)` : '';
  const all = passed === ran ? allNew(ran) : `${passed} of ${ran} new ones`;
  const fresh = ran === 0 ? '' : `${existing.startsWith('passes') ? '' : 'passes '}${all}${left}`;
  const mutants = evidence.mutants
    ? `its tests catch ${evidence.mutants.caught} of ${counted(evidence.mutants.total, 'mutant')}`
    : '';
  return [existing, fresh, mutants].filter((part) => part !== '').join(' and ');
}

const allNew = (count: number): string =>
  count === 1 ? 'the new one' : count === 2 ? 'both new ones' : `all ${count} new ones`;

function existingClause({ baseTests }: Evidence): string {
  if (!baseTests) return 'passed every gate';
  const { source, passed, total, regressions, fixed, silent, contested = [], superseded = [] } = baseTests;
  const asked = contested.length + superseded.length;
  const fixes = fixed.length > 0 ? `makes ${counted(fixed.length, 'failing existing test')} pass` : '';
  if (silent) return fixes || 'passed every gate, though the existing tests say nothing';
  if (regressions.length > 0) return `breaks ${counted(regressions.length, 'existing test')}`;
  if (source === 'exit-code') return 'breaks no existing test, as far as the exit code tells';
  const all =
    passed === total
      ? `passes ${total === 1 ? 'the existing test' : `all ${total} existing tests`}`
      : `breaks none of the ${total} existing tests${asked > 0 ? ` except ${asked} that you are asked about` : ''}`;
  return fixes === '' ? all : `${all}, ${fixes}`;
}

/** An input on which candidates differ, with the result of each of them. */
export interface DistinguishingInput {
  readonly input: string;
  readonly results: readonly { readonly alias: Alias; readonly result: string }[];
}

/**
 * Of the inputs with different results for these candidates, known for all of them, the one that is easiest to read;
 * null for none.
 */
export function distinguishingInput(view: RunView, aliases: readonly Alias[]): DistinguishingInput | null {
  const { columns, rows } = differingInputs(view, view.testTable ?? null);
  const fitting = rows.flatMap(({ input, results }): DistinguishingInput[] => {
    const those = aliases.flatMap((alias) => {
      const result = results[columns.indexOf(alias)];
      return result === null || result === undefined ? [] : [{ alias, result }];
    });
    const differ = new Set(those.map(({ result }) => result)).size > 1;
    return differ && those.length === aliases.length && input.trim() !== ''
      ? [{ input, results: those }]
      : [];
  });
  return mostReadable(fitting);
}

/** The first ones are the most informative. */
const MOST_INFORMATIVE = 10;
/** Maximum UTF-16 units of an input and of a result that are read at a glance, and with some patience. */
const READ_LENGTHS = [60, 160] as const;
/** `parseCents("1.237")`, `Money.of(1).times(2)`. */
const ORDINARY_CALL = /^[\p{L}_$][\p{L}\p{N}_$.]*\(.*\)$/su;
/** A backslash and what it escapes: quotes, blanks and backslashes are ordinary, all else stands for a hidden character. */
const ESCAPED_CHARACTER = /\\(.)/gsu;
const ORDINARY_ESCAPES: ReadonlySet<string> = new Set(['\\', '"', "'", '`', '/', 'n', 'r', 't']);

/**
 * The input that people read most easily; null for none. An ordinary character beats control and invisible ones, a
 * call beats other probes, short beats long; then one of the most informative, which come first, and the shortest.
 */
export function mostReadable(inputs: readonly DistinguishingInput[]): DistinguishingInput | null {
  const [best] = inputs
    .map((input, place) => ({ input, effort: effortOf(input, place) }))
    .toSorted((one, other) => {
      const at = one.effort.findIndex((effort, index) => effort !== other.effort[index]);
      return at === -1 ? 0 : (one.effort[at] ?? 0) - (other.effort[at] ?? 0);
    });
  return best?.input ?? null;
}

/** What makes an input hard to read, the worst first; 0: nothing. */
function effortOf({ input, results }: DistinguishingInput, place: number): readonly number[] {
  const texts = [input, ...results.map(({ result }) => result)];
  const longest = Math.max(...texts.map((text) => text.length));
  return [
    texts.some(hasHidden) ? 1 : 0,
    ORDINARY_CALL.test(input) ? 0 : 1,
    READ_LENGTHS.filter((length) => longest > length).length,
    place < MOST_INFORMATIVE ? 0 : 1,
    texts.reduce((sum, { length }) => sum + length, 0),
  ];
}

const hasHidden = (text: string): boolean =>
  visibleCode(text) !== text.replaceAll('\r\n', '\n') ||
  [...text.matchAll(ESCAPED_CHARACTER)].some(([, escaped = '']) => !ORDINARY_ESCAPES.has(escaped));

/** A test on which candidates differ. */
export interface DistinguishingTest {
  readonly name: string;
  readonly author?: Alias;
  /** One for each candidate that was asked for. */
  readonly marks: readonly TestMark[];
}

/** Tests on which these candidates differ, independent and existing ones first. */
export function distinguishingTests(view: RunView, aliases: readonly Alias[]): readonly DistinguishingTest[] {
  const { columns, groups } = matrixOf(view, view.testTable ?? null);
  const places = aliases.map((alias) => columns.indexOf(alias));
  return groups.flatMap(({ author, rows }) =>
    rows.flatMap(({ name, marks, note }): DistinguishingTest[] => {
      const those = places.map((place) => (marks[place] ?? '-') as TestMark);
      const ran = new Set(those.filter((mark) => mark !== '-' && mark !== 'n'));
      if (note !== undefined || ran.size < 2 || !tellsApart(marks)) return [];
      return [{ name, marks: those, ...(author === undefined ? {} : { author }) }];
    }),
  );
}
