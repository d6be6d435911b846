import { counted, type Surroundings, USUAL_SURROUNDINGS } from '../model/index.ts';
import { type AssertionChange, changesAgain } from './assertion-records.ts';
import type { Evidence, GateReport, TestRun, Unlocked } from './evidence.ts';
import { codeQuestionsOf, findingText } from './findings.ts';
import type { Observation, ProbeRun } from './observations.ts';
import { EXIT_CODE, joinedRewrites, outcomeIn, succeeded } from './test-runs.ts';

/** Results of the same work in the usual surroundings and in different ones. */
interface HereAndThere<T> {
  readonly here: T;
  readonly there: T;
}

/** A result that differs between the two surroundings for a candidate, but not for the base. */
export interface Unsteady {
  /** Id of the test, or of the probe. */
  readonly id: string;
  /** For people: what was run, and its result in each place. */
  readonly what: string;
  /** The two results: only a difference with the same results again is one of the surroundings. */
  readonly results: readonly [string, string];
}

const MISSING_RESULT = 'was not run';

/** Tests whose result depends on the surroundings for this candidate, but not for the base. */
export function unsteadyTests(base: HereAndThere<TestRun>, own: HereAndThere<TestRun>): readonly Unsteady[] {
  const outcome = (run: TestRun, id: string) =>
    id === EXIT_CODE ? (succeeded(run) ? 'passed' : 'failed') : outcomeIn(run, id);
  const isByCode = own.here.source !== 'report';
  const ids = isByCode ? [EXIT_CODE] : Object.keys(own.here.tests);
  const unclear = new Set([base.here, base.there, own.here, own.there].flatMap(({ flaky = [] }) => flaky));
  return ids.flatMap((id) => {
    const here = outcome(own.here, id);
    // Code that does not load leaves no results of its tests.
    const there = outcome(own.there, id) ?? MISSING_RESULT;
    const isSettled = (one: string | undefined): one is string =>
      one === 'passed' || one === 'failed' || one === MISSING_RESULT;
    if (here === there || !isSettled(here) || !isSettled(there) || unclear.has(id)) return [];
    const onBase = outcome(base.here, id);
    if (onBase === undefined || onBase !== outcome(base.there, id)) return [];
    const name = id === EXIT_CODE ? 'the test command' : id;
    return [
      { id, what: `${name} ${here} in one environment and ${there} in the other`, results: [here, there] },
    ];
  });
}

/** The same for probes; several runs of one tree must agree. */
export function unsteadyProbes(
  base: HereAndThere<readonly ProbeRun[]>,
  own: HereAndThere<ProbeRun>,
): readonly Unsteady[] {
  const onBase = [...base.here, ...base.there];
  const text = (found: Observation | undefined) => found && `${found.kind} ${found.text}`;
  const probes = [...own.here.observations].flatMap(([id, here]): Unsteady[] => {
    const there = own.there.observations.get(id);
    // Whether something hangs depends on timing.
    const [own1, own2] = [text(here), text(there)];
    if (!there || !own1 || !own2 || own1 === own2 || [here, there].some(({ kind }) => kind === 'stuck'))
      return [];
    if (!agree(onBase.map(({ observations }) => text(observations.get(id))))) return [];
    const what = `${here.input || 'a case'} gives ${shown(here)} in one environment and ${shown(there)} in the other`;
    return [{ id, what, results: [own1, own2] }];
  });
  const cases = [...own.here.cases].flatMap(([id, here]): Unsteady[] => {
    const there = own.there.cases.get(id);
    if (!there || here === there || !agree(onBase.map((run) => run.cases.get(id)))) return [];
    const what = `a derived case ${here} in one environment and ${there} in the other`;
    return [{ id: `case ${id}`, what, results: [here, there] }];
  });
  return [...probes, ...cases];
}

/** What the base does not show in every run cannot be compared with it. */
const agree = (all: readonly (string | undefined)[]): boolean =>
  new Set(all).size === 1 && all[0] !== undefined;
const MAX_SHOWN = 120;
const shown = ({ text }: Observation): string => text.slice(0, MAX_SHOWN);

/** Differences that were found twice with the same results; random and flaky ones change. */
export const foundAgain = (first: readonly Unsteady[], again: readonly Unsteady[]): readonly Unsteady[] => {
  const results = new Map(again.map((one) => [one.id, one.results]));
  return first.filter(({ id, results: [here, there] }) => {
    const [hereAgain, thereAgain] = results.get(id) ?? [];
    return here === hereAgain && there === thereAgain;
  });
};

/**
 * Without the differences that all candidates show, if there are at least two: what all of them read from their
 * surroundings is probably what the task asks for, and does not distinguish any of them.
 */
export function withoutShared<Key>(
  found: ReadonlyMap<Key, readonly Unsteady[]>,
): ReadonlyMap<Key, readonly Unsteady[]> {
  const [first = [], ...others] = [...found.values()];
  if (others.length === 0) return found;
  const shared = first.filter(({ id }) => others.every((own) => own.some((one) => one.id === id)));
  const ids = new Set(shared.map(({ id }) => id));
  return new Map([...found].map(([key, own]) => [key, own.filter(({ id }) => !ids.has(id))] as const));
}

const MAX_NAMED = 3;

/**
 * The gate of a candidate whose behaviour depends on its surroundings. `untampered` may already name the lines that
 * cause it; `locksAssertions`: assertion libraries were locked in the second environment only.
 */
export function steadyGate(
  found: readonly Unsteady[],
  there: Surroundings,
  untampered: GateReport | undefined,
  locksAssertions = false,
): GateReport {
  const named = found.slice(0, MAX_NAMED).map(({ what }) => what);
  const more = found.length > named.length ? `; and ${found.length - named.length} more` : '';
  const { repo, user } = USUAL_SURROUNDINGS;
  const places = `run in ${repo} for ${user} and in ${there.repo} for ${there.user}`;
  const lines = untampered ? codeQuestionsOf({ gates: [untampered] }) : [];
  const hunk = lines[0]?.hunk;
  const look = lines.slice(0, MAX_NAMED).map(findingText).join('; ');
  return {
    gate: 'steady',
    passed: false,
    because: `Its behaviour depends on where it runs, and that of the base commit does not (${counted(found.length, 'difference')}, ${places}, twice each): ${named.join('; ')}${more}.${locksAssertions ? ' In the second environment, code of the repository cannot replace functions of assertion libraries.' : ''}${lines.length > 0 ? ` These lines may be the cause: ${look}.` : ''}`,
    ...(hunk === undefined ? {} : { hunk }),
  };
}

/** The gate of a candidate that was not run in other surroundings. */
export const notRunElsewhere = (): GateReport => ({
  gate: 'steady',
  passed: true,
  because: 'Its tests were run in one environment only.',
});

/** What the sentence of a passed gate says about assertion libraries in the second environment. */
const LOCK_TEXTS = {
  locked:
    'Assertion libraries were locked there, so code of the repository could not replace their functions.',
  nothing:
    'No assertion library was locked there: the tests of the base commit use none that Runoff can lock.',
  base: 'Assertion libraries were not locked there, because more tests of the base commit fail with the lock. Only reading the patch shows whether it replaces an assertion.',
  unrecorded:
    'Nothing shows that assertion libraries were locked there: its tests left no records of the lock, and those of the base commit did. Please look for code that replaces assertions or removes files.',
  differs:
    'With locked assertion libraries its tests gave other results there and left no records of the lock, so the results without the lock count. Please look for code that replaces assertions or removes files.',
} as const satisfies Record<Exclude<Unlocked, 'stopped'> | 'locked' | 'nothing', string>;

/** The gate of a candidate that behaves the same in other surroundings. */
export function steadyPass(
  { repo, user, host }: Surroundings,
  lock: Unlocked | 'locked' | 'nothing',
): GateReport {
  if (lock === 'stopped')
    return {
      gate: 'steady',
      passed: true,
      because: `Its tests were stopped by a limit in ${repo}, for the user ${user} on ${host}, twice, and those of the base commit were not, so the results there could not be compared.`,
      unlocked: lock,
    };
  return {
    gate: 'steady',
    passed: true,
    because: `The tests give the same results in ${repo}, for the user ${user} on ${host}. ${LOCK_TEXTS[lock]}`,
    ...(lock === 'locked' || lock === 'nothing' ? {} : { unlocked: lock }),
  };
}

/** Why assertion libraries were not locked where this candidate ran again; undefined if nothing prevented it. */
export const unlockedOf = ({ gates }: Pick<Evidence, 'gates'>): Unlocked | undefined =>
  gates.find(({ gate }) => gate === 'steady')?.unlocked;

/** What one attempt in both surroundings found. */
export interface FoundElsewhere {
  /** Tests whose result depends on the surroundings. */
  readonly unsteady: readonly Unsteady[];
  /** Replaced functions of assertion libraries, and signs that they were not called or compared. */
  readonly changes: readonly AssertionChange[];
  /** Of its run there. */
  readonly rewrites?: readonly string[] | null;
  /** Absent if its run shows that the lock started, as that of the base does. */
  readonly unlocked?: 'unrecorded' | 'differs' | 'stopped';
}

/** Its tests reached a limit there. */
export const isStopped = ({ unlocked }: FoundElsewhere): boolean => unlocked === 'stopped';
/** They ran to their end, and nothing differs. */
export const isSteady = (found: FoundElsewhere): boolean =>
  !isStopped(found) && found.unsteady.length + found.changes.length === 0;

/** What two attempts found alike. */
export const inBoth = (first: FoundElsewhere, again: FoundElsewhere): FoundElsewhere => ({
  unsteady: foundAgain(first.unsteady, again.unsteady),
  changes: changesAgain(first.changes, again.changes),
  ...joinedRewrites([first, again]),
  ...unlockedIn(first, again),
});

/** What both attempts lack: one of them that shows the lock, and gives the same results, is enough. */
function unlockedIn(
  { unlocked: first }: FoundElsewhere,
  { unlocked: again }: FoundElsewhere,
): Pick<FoundElsewhere, 'unlocked'> {
  if (first === undefined || again === undefined) return {};
  return { unlocked: first === 'differs' && again === 'differs' ? 'differs' : 'unrecorded' };
}
