import type { PackageRun, TestRun } from './evidence.ts';
import { joinedRules } from './lint-comparison.ts';
import { belowCoverageOf, joinedRewrites, packageOfTest } from './test-runs.ts';

/** Folders of the packages whose tests were run. */
export const packagesIn = (run: TestRun): readonly string[] =>
  (run.packages ?? []).flatMap(({ folder }) => folder ?? []);

/** Packages with usable test results: they exceed no limit, and pass or leave a report. */
export const soundPackages = (run: TestRun): readonly string[] =>
  (run.packages ?? []).filter(isSound).flatMap(({ folder }) => folder ?? []);

/** Packages without usable test results. */
export const silentPackages = (run: TestRun): readonly PackageRun[] =>
  (run.packages ?? []).filter((one) => one.folder !== null && !isSound(one));

const isSound = ({ stopped, source, exitCode }: PackageRun): boolean =>
  stopped === null && (source !== 'exit-code' || exitCode === 0);

/** Milliseconds for the tests of these packages, and for steps that belong to no package. */
export const packagesMs = (run: TestRun, folders: ReadonlySet<string>): number =>
  (run.packages ?? [])
    .filter(({ folder }) => folder === null || folders.has(folder))
    .reduce((sum, { ms }) => sum + ms, 0);

/** The run restricted to these packages and to the steps that belong to no package. */
export function ofPackages(run: TestRun, folders: ReadonlySet<string>): TestRun {
  const kept = (run.packages ?? []).filter(({ folder }) => folder === null || folders.has(folder));
  return only(run, kept, kept);
}

/** The base run without the packages that have no usable test results. Unchanged if no other package is left. */
export function withoutSilentPackages(run: TestRun): TestRun {
  const silent = new Set(silentPackages(run));
  if (silent.size === 0 || soundPackages(run).length === 0) return run;
  const { packages = [] } = run;
  return only(
    run,
    packages.filter((one) => !silent.has(one)),
    packages,
  );
}

/** The results of these packages, with `packages` listing them. */
function only(run: TestRun, kept: readonly PackageRun[], packages: readonly PackageRun[]): TestRun {
  const gone = (run.packages ?? []).filter((one) => !kept.includes(one));
  if (gone.length === 0) return run;
  const steps = new Set(gone.flatMap((one) => one.steps));
  const folders = new Set(gone.map(({ folder }) => folder));
  const stays = (id: string) => !steps.has(id) && !folders.has(packageOfTest(id));
  return { ...withIds(run, stays), ...joined(kept), packages };
}

/** The packages of a run, and those that only the other one has. */
export function packagesOfAll({ packages = [] }: TestRun, other: TestRun): readonly PackageRun[] {
  const known = new Set(packages.map(({ folder }) => folder));
  return [...packages, ...(other.packages ?? []).filter(({ folder }) => !known.has(folder))];
}

/** Merges a run with one of further packages on the same tree. */
export function joinPackages(run: TestRun, more: TestRun): TestRun {
  const packages = packagesOfAll(run, more);
  const messages = { ...run.messages, ...more.messages };
  const steps = [...(run.steps ?? []), ...(more.steps ?? [])];
  const { belowCoverage: _ofSome, ...rest } = run;
  return {
    ...rest,
    ...belowCoverageOf([run, more]),
    ...joinedRewrites([run, more]),
    ...joinedRules([run, more]),
    tests: { ...run.tests, ...more.tests },
    ...joined(packages),
    packages,
    ...(Object.keys(messages).length > 0 ? { messages } : {}),
    ...(steps.length > 0 ? { steps } : {}),
  };
}

function joined(packages: readonly PackageRun[]): Pick<TestRun, 'exitCode' | 'stopped' | 'source' | 'ms'> {
  const sound = packages.filter((one) => one.folder === null || isSound(one));
  const counted = sound.length > 0 ? sound : packages;
  const tested = counted.filter(({ source }) => source !== 'none');
  const sources = new Set(tested.map(({ source }) => source));
  const failed = tested.find(({ exitCode }) => exitCode !== 0);
  return {
    exitCode: failed ? failed.exitCode : tested.length > 0 ? 0 : null,
    stopped: tested.find(({ stopped }) => stopped !== null)?.stopped ?? null,
    source: sources.has('report') ? 'report' : sources.has('exit-code') ? 'exit-code' : 'none',
    ms: counted.reduce((sum, { ms }) => sum + ms, 0),
  };
}

function withIds(run: TestRun, stays: (id: string) => boolean): TestRun {
  const some = <T>(byId: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
    Object.fromEntries(Object.entries(byId).filter(([id]) => stays(id)));
  const { messages, steps, flaky, ...rest } = run;
  const left = { steps: steps?.filter(stays) ?? [], flaky: flaky?.filter(stays) ?? [] };
  return {
    ...rest,
    tests: some(run.tests),
    ...(messages ? { messages: some(messages) } : {}),
    ...(left.steps.length > 0 ? { steps: left.steps } : {}),
    ...(left.flaky.length > 0 ? { flaky: left.flaky } : {}),
  };
}

/** Test runs of each candidate that must fit into the time: with the base's files, and with its own. */
const RUNS = 2;

/** Whether all candidates can be tested with the whole suite in this time. */
export const suiteFits = (
  onBase: TestRun,
  { budgetMs, rounds }: { readonly budgetMs: number; readonly rounds: number },
): boolean => RUNS * Math.max(1, rounds) * onBase.ms <= budgetMs;

/**
 * The base run restricted to some modules of a build, `some` being a run of these alone on the same tree. Null if that
 * has other results: then these modules cannot be tested without the others.
 */
export function ofModules(onBase: TestRun, some: TestRun, folders: readonly string[]): TestRun | null {
  const wanted = new Set(folders);
  const own = withIds(onBase, (id) => wanted.has(packageOfTest(id)));
  const flaky = new Set(onBase.flaky ?? []);
  const differs = Object.keys({ ...own.tests, ...some.tests }).some(
    (id) => !flaky.has(id) && own.tests[id] !== some.tests[id],
  );
  if (differs || some.source !== 'report' || some.stopped !== null) return null;
  return { ...own, exitCode: some.exitCode, ms: some.ms, modules: folders };
}

/**
 * The packages to skip. Packages that candidates can affect are always tested; of the others, as many as fit into the
 * time, fastest first. Packages without usable results on the base are always skipped, because there is nothing to
 * compare with.
 */
export function packagesLeftOut(of: {
  readonly packages: readonly string[];
  readonly affected: ReadonlySet<string>;
  readonly onBase: TestRun;
  readonly budgetMs: number;
  /** Number of candidates that are tested one after the other. */
  readonly rounds: number;
}): readonly string[] {
  const sound = new Set(soundPackages(of.onBase));
  const took = new Map(
    (of.onBase.packages ?? []).flatMap(({ folder, ms }) => (sound.has(folder ?? '') ? [[folder, ms]] : [])),
  );
  const cost = (ms: number) => RUNS * Math.max(1, of.rounds) * ms;
  let spent = cost(packagesMs(of.onBase, of.affected));
  const rest = of.packages
    .filter((folder) => !of.affected.has(folder) || !took.has(folder))
    .map((folder) => ({ folder, ms: took.get(folder) ?? Number.POSITIVE_INFINITY }))
    .toSorted((a, b) => a.ms - b.ms || (a.folder < b.folder ? -1 : 1));
  return rest
    .filter(({ ms }) => {
      if (spent + cost(ms) > of.budgetMs) return true;
      spent += cost(ms);
      return false;
    })
    .map(({ folder }) => folder)
    .sort();
}
