import { counted, type Surroundings, USUAL_SURROUNDINGS } from '../model/index.ts';
import type { GateReport, TestRun } from './evidence.ts';
import type { Observation, ProbeRun } from './observations.ts';
import { EXIT_CODE, outcomeIn, succeeded } from './test-runs.ts';

/** Results of the same work in the usual surroundings and in different ones. */
export interface HereAndThere<T> {
  readonly here: T;
  readonly there: T;
}

/** A result that differs between the two surroundings for a candidate, but not for the base. */
export interface Unsteady {
  /** Id of the test, or of the probe. */
  readonly id: string;
  /** For people: what was run, and its result in each place. */
  readonly what: string;
}

/** Tests whose result depends on the surroundings for this candidate, but not for the base. */
export function unsteadyTests(base: HereAndThere<TestRun>, own: HereAndThere<TestRun>): readonly Unsteady[] {
  const outcome = (run: TestRun, id: string) =>
    id === EXIT_CODE ? (succeeded(run) ? 'passed' : 'failed') : outcomeIn(run, id);
  const isByCode = own.here.source !== 'report';
  const ids = isByCode ? [EXIT_CODE] : Object.keys(own.here.tests);
  const unclear = new Set([base.here, base.there, own.here, own.there].flatMap(({ flaky = [] }) => flaky));
  return ids.flatMap((id) => {
    const [here, there] = [outcome(own.here, id), outcome(own.there, id)];
    const isSettled = (one: string | undefined) => one === 'passed' || one === 'failed';
    if (here === there || !isSettled(here) || !isSettled(there) || unclear.has(id)) return [];
    if (outcome(base.here, id) !== outcome(base.there, id)) return [];
    const name = id === EXIT_CODE ? 'the test command' : id;
    return [{ id, what: `${name} ${here} in one place and ${there} in the other` }];
  });
}

/** The same for probes; several runs of one tree must agree. */
export function unsteadyProbes(
  base: HereAndThere<readonly ProbeRun[]>,
  own: HereAndThere<ProbeRun>,
): readonly Unsteady[] {
  const onBase = [...base.here, ...base.there];
  const text = (found: Observation | undefined) => (found ? `${found.kind} ${found.text}` : '');
  const probes = [...own.here.observations].flatMap(([id, here]): Unsteady[] => {
    const there = own.there.observations.get(id);
    // Whether something hangs depends on timing.
    if (!there || here.kind === 'stuck' || there.kind === 'stuck' || text(here) === text(there)) return [];
    if (!agree(onBase.map(({ observations }) => text(observations.get(id))))) return [];
    const what = `${here.input || 'a case'} gives ${shown(here)} in one place and ${shown(there)} in the other`;
    return [{ id, what }];
  });
  const cases = [...own.here.cases].flatMap(([id, here]): Unsteady[] => {
    const there = own.there.cases.get(id);
    if (!there || here === there || !agree(onBase.map((run) => run.cases.get(id)))) return [];
    return [{ id: `case ${id}`, what: `a derived case ${here} in one place and ${there} in the other` }];
  });
  return [...probes, ...cases];
}

const agree = (all: readonly (string | undefined)[]): boolean => new Set(all).size === 1;
const MAX_SHOWN = 120;
const shown = ({ text }: Observation): string => text.slice(0, MAX_SHOWN);

/** Differences that were found twice, by id. */
export const foundAgain = (first: readonly Unsteady[], again: readonly Unsteady[]): readonly Unsteady[] => {
  const ids = new Set(again.map(({ id }) => id));
  return first.filter(({ id }) => ids.has(id));
};

const MAX_NAMED = 3;

/**
 * The gate of a candidate whose behaviour depends on its surroundings. `untampered` may already name the lines that
 * cause it.
 */
export function steadyGate(
  found: readonly Unsteady[],
  there: Surroundings,
  untampered: GateReport | undefined,
): GateReport {
  const named = found.slice(0, MAX_NAMED).map(({ what }) => what);
  const more = found.length > named.length ? `; and ${found.length - named.length} more` : '';
  const { repo, user } = USUAL_SURROUNDINGS;
  const places = `run in ${repo} for ${user} and in ${there.repo} for ${there.user}`;
  const lines = /A person should look at these lines: .*$/s.exec(untampered?.because ?? '')?.[0];
  return {
    gate: 'steady',
    passed: false,
    because: `Its behaviour depends on where it runs, and that of the base commit does not (${counted(found.length, 'difference')}, ${places}, twice each): ${named.join('; ')}${more}.${lines ? ` ${lines}` : ''}`,
    ...(lines && untampered?.hunk !== undefined ? { hunk: untampered.hunk } : {}),
  };
}

export const steadyPass = (because: string): GateReport => ({ gate: 'steady', passed: true, because });
