import {
  BASE_RUNS,
  canRun,
  examinationBudget,
  fitsRepeatBudget,
  mergeBaseRuns,
  packagesOfAll,
  silenceOf,
  soundPackages,
  type TestRun,
  withFilesOfAva,
} from '../../core/evidence/index.ts';
import { writersInOrder } from '../../core/independent-tests/index.ts';
import { familyOf, identitiesOf, judgeModels } from '../../core/judging/index.ts';
import { type ArtifactRef, type Candidate, Fault, inParallel, showsKill } from '../../core/model/index.ts';
import { mayWriteTests, rankingOptionsOf } from '../../core/ranking/index.ts';
import { type BaseStep, commandFailure, type ExaminationStep, howEnded } from '../../core/reports/index.ts';
import type { StopReason } from '../../core/settings/index.ts';
import type { WorkArea } from '../../ports/index.ts';
import { recordActivity } from '../activity.ts';
import { rememberAnswers } from '../ask-model.ts';
import { absentContentAt, type OnBaseStep } from '../base/index.ts';
import { type ModelPorts, taskOf, type World } from '../context.ts';
import { type RunContext, unlessDamaged } from '../stage.ts';
import { type CheckRunner, inArea } from './areas.ts';
import { firstBaseRun, optionNotes, planForPackages, withoutFailingSteps } from './base-plan.ts';
import type { CandidateEntry } from './candidate.ts';
import { areaId, build, type CheckRunnerPorts, openCheckRunner, withTopLayer } from './execute.ts';
import { type Gathered, gatherEvidence } from './gather.ts';
import { runWatchedTests } from './run-tests.ts';
import { onUsableServices } from './services.ts';
import { withTypeChecks } from './types.ts';
import type { TestWriting } from './written-tests.ts';

export type { CheckPorts, CheckRunner } from './areas.ts';
export type { CandidateEntry } from './candidate.ts';
export { tamperingIn, testChange, testsDeclaredIn } from './change.ts';
export { type CheckRunnerPorts, checkRunnerOn, egressOf, openCheckRunner } from './execute.ts';
export { gatherEvidence } from './gather.ts';
export { collectText } from './given-patch.ts';
export { tryBaseElsewhere } from './steadiness.ts';
export { stuckSeconds } from './trees.ts';
export { type Reviewer, reviewCandidate } from './winner.ts';
export type { TestWriting } from './written-tests.ts';

export type ExaminePorts = CheckRunnerPorts & ModelPorts & Pick<World, 'announcer' | 'log'>;

/** The base run stored by the stage `base`; repeated if the stored one is damaged. */
export async function readBaseRun(runner: CheckRunner, stored: ArtifactRef): Promise<TestRun> {
  const text = await unlessDamaged(runner.world.artifacts.get(stored));
  // An earlier version may have stored it with the names that AVA gives.
  return text === null ? testBase(runner) : withFilesOfAva(JSON.parse(text) as TestRun, runner.baseFiles);
}

/** Builds and tests every candidate on the pinned base, then every survivor against the other survivors' tests. */
export async function examine(
  world: ExaminePorts,
  context: RunContext,
  baseRun: ArtifactRef,
): Promise<'examined'> {
  const { run } = context;
  const runId = run.id;
  await world.store.markStage(runId, 'examine', 'start', world.clock.now());
  // A further round adds candidates: then all are executed again, new survivors against old ones.
  const known = new Set((run.evidence ?? []).map(({ alias }) => alias));
  const candidates = await world.store.candidates(runId);
  if (!run.evidence || candidates.some(({ alias }) => !known.has(alias))) {
    const { result, checks } = await recordActivity(world, run, (onStep) =>
      gatherForRun(world, context, candidates, { baseRun, onStep }),
    );
    const { results, ...gathered } = result;
    const [table, outputs] = await Promise.all([
      world.artifacts.put(JSON.stringify(results.table)),
      world.artifacts.put(JSON.stringify(results.outputs)),
    ]);
    await world.store.updateRun(
      runId,
      { ...gathered, checks, testResults: { table, outputs } },
      world.clock.now(),
    );
  }
  await world.store.markStage(runId, 'examine', 'end', world.clock.now());
  await world.store.transition(runId, 'examined', 'every candidate was built and tested', world.clock.now());
  world.announcer.soon(runId);
  return 'examined';
}

/** Rows of candidates written at a time. Our default. */
const MARKED_AT_ONCE = 4;

async function gatherForRun(
  world: CheckRunnerPorts & ModelPorts,
  context: RunContext,
  candidates: readonly Candidate[],
  {
    baseRun,
    onStep,
  }: {
    readonly baseRun: ArtifactRef;
    readonly onStep: (step: BaseStep | ExaminationStep) => void;
  },
): Promise<Gathered> {
  const runner = await openCheckRunner(world, context, onStep);
  const onBase = await readBaseRun(runner, baseRun);
  const byAlias = new Map(candidates.map((candidate) => [candidate.alias, candidate]));
  const marked = async ({ alias }: CandidateEntry, state: 'examining' | 'examined') => {
    const candidate = byAlias.get(alias);
    if (candidate) await setState(world, candidate, state);
  };
  try {
    const entries = candidates.map((one) => ({ ...one, family: familyOf(one.contestant.model) }));
    const writing = testWritingFor(world, context, candidates);
    const begins = (entry: CandidateEntry) => marked(entry, 'examining');
    return await gatherEvidence(runner, entries, onBase, {
      begins,
      onStep,
      ...(writing ? { writing } : {}),
      ...(context.leftMs === undefined ? {} : { leftMs: context.leftMs }),
    });
  } finally {
    await inParallel(MARKED_AT_ONCE, candidates, (candidate) => marked(candidate, 'examined'));
  }
}

/** After a crash a candidate may be in either state; both mean that its patch is still to be examined. */
async function setState(
  world: Pick<World, 'store'>,
  candidate: Candidate,
  state: 'examining' | 'examined',
): Promise<void> {
  if (candidate.state === 'coded' || candidate.state === 'examining') {
    await world.store.putCandidate({ ...candidate, state });
  }
}

/** Models that may write tests or reviews for this run; null if the settings disable them. */
function testWritingFor(
  world: ModelPorts,
  { run, signal }: RunContext,
  candidates: readonly Candidate[],
): TestWriting | null {
  const { brief, independentTests } = run;
  const task = taskOf(run);
  const rankingOptions = rankingOptionsOf(task.settings);
  const may = {
    write: mayWriteTests(rankingOptions),
    review: task.settings.evaluator.includes('reviewer'),
  };
  if (!brief || !(may.write || may.review)) return null;
  const authors = candidates.map(({ contestant }) => contestant);
  const models = judgeModels(task.settings, world.defaults.models);
  const wrote = authors.map(({ model }) => model);
  return {
    writer: {
      gateway: world.gateway,
      model: world.model,
      random: world.random,
      models: writersInOrder(models, wrote, familyOf),
      task,
      brief,
      remember: rememberAnswers(world, run.id),
      signal,
    },
    instructions: world.prompts,
    may,
    triedBefore: independentTests !== undefined,
    rankingOptions,
    identities: identitiesOf(authors),
  };
}

/**
 * Builds and tests the base commit itself: three times if time allows, so that flaky tests are known before they count
 * against a candidate. Any test result is valid: failing tests are set aside, and without a test that is known to pass,
 * the suite gives no results (docs/decisions/0064). `broken`: the build failed.
 */
export async function tryBase(
  runner: CheckRunner,
  onStep?: OnBaseStep,
): Promise<
  | { readonly kind: 'tested'; readonly tests: TestRun }
  | {
      readonly kind: 'broken';
      readonly message: string;
      readonly output: string;
      readonly stopped: StopReason | null;
    }
> {
  const { checks } = runner.task.settings;
  return inArea(runner, areaId(runner.task.runId, 'base'), async (built) => {
    if (checks.build) await onStep?.({ name: 'build', command: checks.build });
    const began = runner.world.clock.elapsed();
    const broken = await build(runner, built);
    const buildMs = Math.round(runner.world.clock.elapsed() - began);
    if (broken) {
      const how = { step: 'build', command: checks.build ?? '', how: howEnded(broken) } as const;
      const absent = await absentContentAt(runner.world, runner.source, runner.base);
      const message = [
        ...absent,
        commandFailure({ ...how, lines: broken.errors, stopped: broken.stopped }),
      ].join(' ');
      return { kind: 'broken', message, output: broken.tail, stopped: broken.stopped } as const;
    }
    if (checks.test) await onStep?.({ name: 'tests', command: checks.test });
    const on = withTopLayer(runner, built);
    const tested = await onUsableServices(on, runBaseRepeatedly);
    const tests = checks.build ? { ...tested, buildMs } : tested;
    const [types] = runner.types;
    if (!types) return { kind: 'tested', tests } as const;
    await onStep?.({ name: 'types', command: types.name });
    const checked = await inArea(on, areaId(runner.task.runId, 'base', 'types'), (area) =>
      withTypeChecks(runner, area, tests),
    );
    return { kind: 'tested', tests: checked } as const;
  });
}

/** As `tryBase`, but faults with BASE_BROKEN if the build fails. */
export async function testBase(runner: CheckRunner, onStep?: OnBaseStep): Promise<TestRun> {
  const done = await tryBase(runner, onStep);
  if (done.kind === 'broken') throw new Fault('BASE_BROKEN', done.message);
  return done.tests;
}

async function runBaseRepeatedly(runner: CheckRunner): Promise<TestRun> {
  const { run: first, on: whole } = await firstBaseRun(runner, (one) => runBase(one, 1, basePackagesMs(one)));
  const on = first.packages ? { ...whole, plan: planForPackages(whole.plan, soundPackages(first)) } : whole;
  if (!canRun(first) || !fitsRepeatBudget(first, BASE_RUNS)) return withoutFailingSteps(first);
  const runs: TestRun[] = [first];
  const more = Array.from({ length: BASE_RUNS - 1 }, (_, index) => index + 2);
  await inParallel(runner.world.parallelChecks, more, async (time) => {
    runs.push(await runBase(on, time));
  });
  // If nothing passes in one run but does in others, that run was disturbed; it would make every test look flaky.
  const sound = runs.filter((run) => run.source !== 'report' || silenceOf(run) === null);
  const { forms, unsplit } = first;
  const merged = mergeBaseRuns(sound.length > 0 ? sound : runs);
  const inForm = { ...merged, ...(forms ? { forms } : {}) };
  const ofOptions = await optionNotes({ run: inForm, on }, (one) => runBase(one, BASE_RUNS + 1));
  const notes = [...(first.notes ?? []), ...ofOptions];
  return withoutFailingSteps({
    ...inForm,
    ...(unsplit ? { unsplit } : {}),
    ...(notes.length > 0 ? { notes } : {}),
    // Packages without results were run once.
    ...(first.packages ? { packages: packagesOfAll(merged, first) } : {}),
  });
}

/**
 * Milliseconds after which no further package is tested on the base, since it is not yet known which ones candidates
 * will change. The remaining packages are tested when it is known.
 */
function basePackagesMs({ task }: CheckRunner): number {
  const { checks, timeout } = task.settings;
  if (checks.packages) return Number.POSITIVE_INFINITY;
  const settingMs = timeout.examine === undefined ? undefined : timeout.examine * 1000;
  return examinationBudget({ settingMs, suiteMs: 0, candidates: 0, parallel: 1 });
}

/** One whose output shows that a program inside was killed is repeated once: its report may have only the first tests. */
async function runBase(runner: CheckRunner, time: number, packagesMs?: number): Promise<TestRun> {
  const once = (...again: readonly string[]) =>
    inArea(runner, areaId(runner.task.runId, 'base', String(time), ...again), (area: WorkArea) =>
      runWatchedTests(runner, area, { packagesMs }),
    );
  const run = await once();
  const isKilled = run.stopped === null && showsKill({ exitCode: run.exitCode, output: run.tail });
  return isKilled ? once('again') : run;
}
