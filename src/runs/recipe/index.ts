import { baseFacts } from '../../core/evidence/index.ts';
import { type ArtifactRef, Fault, type Task } from '../../core/model/index.ts';
import type { ChecksView } from '../../core/reports/index.ts';
import { COMMAND_NAMES, withRecipe } from '../../core/settings/index.ts';
import type { RunRecord } from '../../ports/index.ts';
import { recordActivity } from '../activity.ts';
import { detectedRecipe, mayBeSuggested } from '../admit/index.ts';
import { type OnBaseStep, openBase } from '../base/index.ts';
import { type ModelPorts, recordSandbox, sourceOf, taskOf, type World } from '../context.ts';
import type { RunContext } from '../stage.ts';
import { type FoundRecipe, findRecipe, type RecipePorts } from './find-recipe.ts';
import { openSuggestions } from './suggest.ts';

export { type FoundRecipe, findRecipe, type RecipePorts } from './find-recipe.ts';
export { openSuggestions } from './suggest.ts';

type CheckBasePorts = RecipePorts & ModelPorts & Pick<World, 'announcer' | 'coders' | 'log' | 'store'>;

/**
 * Sets up, builds and tests the base commit, so that later failures are the candidate's own, and fixes the run's
 * commands: those that worked are stored in its task before any coder starts, so that all parts of the run use the same
 * (I5). Notes the test results for people and returns the stored test run. Faults with BASE_BROKEN before anything is
 * spent on coders.
 */
export async function checkBase(world: CheckBasePorts, { run, signal }: RunContext): Promise<ArtifactRef> {
  await recordSandbox(world, run.id);
  const task = taskOf(run);
  const { result: found } = await recordActivity(world, run, (onStep) =>
    searchRecipe(world, { run, task, signal, onStep }),
  );
  if (found.keptTests)
    world.log.info(
      { run: run.id },
      'The tests of the base commit passed within the last hour and are not repeated.',
    );
  // Of the run as it is now: people may have set its budget meanwhile.
  await world.store.updateRun(
    run.id,
    (stored) => ({
      task: settledTask(stored, found),
      checks: { ...settledChecks(stored, found), base: baseFacts(found.tests) },
    }),
    world.clock.now(),
  );
  world.announcer.soon(run.id);
  return world.artifacts.put(JSON.stringify(found.tests));
}

interface BaseSearch {
  readonly run: RunRecord;
  readonly task: Task;
  readonly signal: AbortSignal;
  readonly onStep: OnBaseStep;
}

async function searchRecipe(
  world: CheckBasePorts,
  { run, task, signal, onStep }: BaseSearch,
): Promise<FoundRecipe> {
  const source = await sourceOf(world, task);
  const bare = await openBase(world, task, { source, signal, onStep });
  const detected = await detectedRecipe(world, source, { task, checks: run.checks ?? {} });
  // Once fixed, as before a crash of this stage, the commands do not change.
  const searched = run.checks?.settled === true;
  const probe = await world.sandbox.probe();
  const maySuggested = probe.kind === 'ready' && mayBeSuggested(probe.backend);
  const suggest = openSuggestions(world, { task, source, named: detected.named, signal });
  return findRecipe(world, {
    task,
    bare,
    signal,
    onStep,
    detected: searched ? { ...detected, others: [], named: COMMAND_NAMES } : detected,
    maySuggested,
    usesKeptTests: true,
    ...(maySuggested && !searched ? { suggest } : {}),
    onNext: ({ step }, { commands }) =>
      world.log.info(
        { run: run.id, step, commands },
        'The commands failed on the base commit; others are tried.',
      ),
  });
}

/** The stored task, which models may not read in full, with the commands that worked and the submodules. */
function settledTask({ task }: RunRecord, { base, recipe, lent }: FoundRecipe): Task {
  if (!task) throw new Fault('INTERNAL', 'A run whose base is checked has a task.');
  return {
    ...task,
    settings: withRecipe(task.settings, recipe),
    ...(base.submodules ? { submodules: base.submodules.id } : {}),
    ...(lent === undefined ? {} : { lent }),
  };
}

/** The commands to be shown from now on. */
function settledChecks({ checks = {} }: RunRecord, { recipe, packages }: FoundRecipe): ChecksView {
  const { setup: _setup, build: _build, test: _test, step: _step, ...others } = checks;
  const instead = recipe.instead ?? checks.instead;
  const { types } = checks.from ?? {};
  const lent = packages ? { lent: packages } : {};
  return {
    ...others,
    ...recipe.commands,
    from: { ...recipe.from, ...(types === undefined ? {} : { types }) },
    ...(instead ? { instead } : {}),
    ...lent,
    settled: true,
  };
}
