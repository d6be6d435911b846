import { mayLackPackages, silenceOf, type TestRun } from '../../core/evidence/index.ts';
import { asFault, Fault, type Task } from '../../core/model/index.ts';
import { failureLines, type LentView } from '../../core/reports/index.ts';
import {
  comparedWith,
  type DetectedRecipe,
  type FailedTry,
  type FoundTool,
  failureOfPip,
  morePackages,
  nextRecipe,
  type Recipe,
  SUGGESTED,
  withRecipe,
} from '../../core/settings/index.ts';
import type { BaseCheckout, Recipes } from '../../ports/index.ts';
import { type BareBase, type BaseTask, type OnBaseStep, openBase, setUpBase } from '../base/index.ts';
import { repositoryKeyOf, type World } from '../context.ts';
import { type CheckPorts, checkRunnerOn, tryBase } from '../examine/index.ts';
import { keepTests, keptTests } from './kept-tests.ts';
import { recipeKeys } from './recipe-keys.ts';
import { brokenText, pipNote } from './tries-text.ts';

/** Dependencies of finding a recipe: no model, no GitHub for a local repository, and no database. */
export interface RecipePorts
  extends Omit<CheckPorts, 'clock'>,
    Pick<World, 'clock' | 'github' | 'registries' | 'toolchains'> {
  readonly recipes: Recipes;
}

interface RecipeSearch {
  readonly task: BaseTask & Pick<Task, 'runId'>;
  readonly detected: DetectedRecipe;
  /** As detected. */
  readonly bare: BareBase;
  readonly signal: AbortSignal;
  readonly onStep?: OnBaseStep;
  /** Called when a recipe failed, with the one that is tried next. */
  readonly onNext?: (failed: FailedTry, next: Recipe) => void;
  /** Whether commands that a model suggested may run in this sandbox (docs/decisions/0083). */
  readonly maySuggested: boolean;
  /** Build and tests are left out if the same tests passed on the same commit within the last hour. */
  readonly usesKeptTests?: boolean;
  /** Called when no other recipe is known; null: it has no suggestion. Absent: no model is asked. */
  readonly suggest?: (tries: readonly FailedTry[]) => Promise<Recipe | null>;
}

export interface FoundRecipe {
  readonly recipe: Recipe;
  /** `known`: from an earlier run or `runoff prepare`. `lent`: with the packages of the working tree, without set-up. */
  readonly how: 'detected' | 'tried' | 'known' | 'lent';
  /** The copy of the working tree's packages; only if `how` is `lent`. */
  readonly lent?: string;
  /** What became of packages that are installed in the working tree; absent: there are none to consider. */
  readonly packages?: LentView;
  /** The base after set-up. */
  readonly base: BaseCheckout;
  readonly tests: TestRun;
  /** The tests were not run again, since they passed a short time ago. Absent: they were run. */
  readonly keptTests?: true;
  /** Milliseconds of the recipe that was found, and of all tries together (`tried`). */
  readonly ms: { readonly setup: number; readonly checks: number; readonly tried: number };
  /** Hosts that were refused to set-up commands that failed before. */
  readonly refusedHosts: readonly string[];
}

type Attempt =
  | { readonly kind: 'done'; readonly found: Found; readonly pip: string | null }
  | { readonly kind: 'failed'; readonly message: string; readonly failed: FailedTry };

/**
 * Sets up, builds and tests the base commit in fresh areas: with the packages that the working tree has, else with the
 * recipe that worked before, else as detected, else with alternatives, until the tests give results. If no recipe makes
 * them do so, that is a valid outcome too (docs/decisions/0064). A working recipe is stored. Faults with BASE_BROKEN,
 * described by the detected commands, if no recipe gets as far as the tests.
 */
export async function findRecipe(ports: RecipePorts, search: RecipeSearch): Promise<FoundRecipe> {
  const lent = await tryLent(ports, search);
  if (lent?.kind === 'unused') return { ...(await findOwnRecipe(ports, search)), packages: lent };
  if (lent === null) return findOwnRecipe(ports, search);
  if (!mayLackPackages(lent.found.tests)) return lent.found;
  // Tests may fail because of these packages: set-up installs its own, and decides unless it fails.
  const own = await findOwnRecipe(ports, search).catch(unlessUnprepared);
  const why = 'tests fail with them, and set-up installs the packages anew';
  return own !== null && silenceOf(own.tests) === null
    ? { ...own, packages: { kind: 'unused', why } }
    : lent.found;
}

function unlessUnprepared(thrown: unknown): null {
  const { code } = asFault(thrown);
  if (code === 'BASE_BROKEN' || code === 'REGISTRY_UNAVAILABLE') return null;
  throw thrown;
}

type LentTry =
  | { readonly kind: 'used'; readonly found: FoundRecipe }
  | Extract<LentView, { readonly kind: 'unused' }>;

/**
 * Builds and tests the base of a local repository with packages of its working tree instead of set-up. Null if it has
 * none, or if the settings name a set-up command.
 */
async function tryLent(ports: RecipePorts, search: RecipeSearch): Promise<LentTry | null> {
  const { bare, detected, onStep, signal, task } = search;
  if (task.origin.kind !== 'local' || task.lent !== undefined) return null;
  // Candidates that are set up anew need a set-up command.
  if (task.settings.checks.candidateSetup || detected.named.includes('setup')) return null;
  await onStep?.({ name: 'lend' });
  const lent = await ports.workspaces.lend(bare.base, { top: task.origin.path }, signal);
  if (lent.kind === 'none') return lent.why === null ? null : { kind: 'unused', why: lent.why };
  const { setup, ...commands } = detected.recipe.commands;
  const { setup: _file, ...from } = detected.recipe.from;
  const recipe = { commands, from };
  const withLent = { ...search, detected: { ...detected, recipe }, task: { ...task, lent: lent.id } };
  const one = await tryRecipe(ports, withLent, recipe);
  if (one.kind === 'failed' || silenceOf(one.found.tests) !== null) {
    const [line] =
      one.kind === 'failed' ? failureLines(one.failed.output, 1) : failureLines(one.found.tests.tail, 1);
    return {
      kind: 'unused',
      why: `build or tests do not work with them${line === undefined ? '' : ` (${line})`}`,
    };
  }
  const used = {
    kind: 'used',
    folders: lent.folders,
    ...(setup === undefined ? {} : { instead: setup }),
  } as const;
  const found = { ...one.found, how: 'lent', refusedHosts: [], lent: lent.id, packages: used } as const;
  return { kind: 'used', found };
}

async function findOwnRecipe(ports: RecipePorts, search: RecipeSearch): Promise<FoundRecipe> {
  const { clock, recipes } = ports;
  const repository = repositoryKeyOf(search.task.origin);
  const keys = await recipeKeys(ports, search);
  const known =
    (await recipes.recipe(repository, keys.ofCommit, clock.now())) ??
    (await recipes.recipe(repository, keys.ofFiles, clock.now()));
  const usable = known !== null && (search.maySuggested || !isSuggested(known)) ? known : null;
  const again = usable === null ? null : await tryRecipe(ports, search, usable);
  if (again?.kind === 'done' && isEnough(again.found))
    return { ...again.found, how: 'known', refusedHosts: [] };
  const began = clock.elapsed();
  const { found, tries, refusedHosts } = await tryInTurn(ports, search);
  if (tries === 0) return { ...found, how: 'detected', refusedHosts };
  // Without a model, tests that give no results are not final: a run may still ask one.
  if (silenceOf(found.tests) === null || search.suggest) {
    const key = changesSetupOnly(found.recipe, search.detected) ? keys.ofFiles : keys.ofCommit;
    await recipes.keepRecipe(repository, key, found.recipe, clock.now());
  }
  return { ...found, ms: { ...found.ms, tried: clock.elapsed() - began }, how: 'tried', refusedHosts };
}

const isSuggested = ({ from }: Pick<Recipe, 'from'>): boolean => Object.values(from).includes(SUGGESTED);

/**
 * Set-up depends on manifests and lock files alone, so it can be shared by commits with the same ones. Build and tests
 * depend on the sources: a build that is left out on a broken commit must run again on the next one.
 */
const changesSetupOnly = (recipe: Recipe, { recipe: detected }: DetectedRecipe): boolean =>
  !isSuggested(recipe) &&
  recipe.commands.build === detected.commands.build &&
  recipe.commands.test === detected.commands.test;

type Found = Omit<FoundRecipe, 'how' | 'lent' | 'packages' | 'refusedHosts'>;

interface Tried {
  readonly found: Found;
  /** Recipes that failed before it was found, or besides the one whose tests give no results. */
  readonly tries: number;
  readonly refusedHosts: readonly string[];
}

async function tryInTurn(ports: RecipePorts, search: RecipeSearch): Promise<Tried> {
  const { detected, suggest, onNext } = search;
  const tries: FailedTry[] = [];
  const isOther = ({ name, from }: FoundTool) => name.startsWith('Python ') && from !== 'sandbox';
  const otherPython = search.bare.tools?.found.some(isOther) ?? false;
  let message: string | null = null;
  let silent: Found | null = null;
  let stopped: readonly FailedTry[] = [];
  for (let recipe: Recipe | null = detected.recipe; recipe !== null; ) {
    const one: Attempt = await tryRecipe(ports, search, recipe).catch(unlessOutage(recipe, tries.length > 0));
    const failed = one.kind === 'failed' ? one.failed : failedTests(recipe, one.found.tests, one.pip ?? '');
    if (one.kind === 'failed') message ??= one.message;
    else if (failed === null && silenceOf(one.found.tests) === null)
      return withMorePackages(ports, search, {
        found: one.found,
        tries: tries.length,
        refusedHosts: refusedIn(tries),
      });
    else if (isBuilt(recipe, detected) && !isSuggestedWork(recipe)) silent ??= one.found;
    stopped = stoppedTests(recipe, one);
    if (failed === null) break;
    tries.push({ ...failed, otherPython });
    recipe = nextRecipe(detected, tries) ?? (await suggest?.(tries)) ?? null;
    if (recipe !== null) onNext?.(failed, recipe);
  }
  if (silent === null) throw new Fault('BASE_BROKEN', brokenText(message ?? '', [...tries, ...stopped]));
  return { found: silent, tries: Math.max(0, tries.length - 1), refusedHosts: refusedIn(tries) };
}

/** With packages that some files of tests lack, if more tests pass then. */
async function withMorePackages(ports: RecipePorts, search: RecipeSearch, done: Tried): Promise<Tried> {
  const { found, tries } = done;
  const { recipe, tests } = found;
  const output = [...Object.values(tests.messages ?? {}), ...(tests.errors ?? []), tests.tail].join('\n');
  const fuller = tests.exitCode === 0 ? null : morePackages(search.detected, recipe, output);
  if (fuller === null) return done;
  search.onNext?.({ recipe, step: 'tests', output }, fuller);
  const again = await tryRecipe(ports, search, fuller).catch(unlessOutage(fuller, true));
  const isBetter = again.kind === 'done' && passedIn(again.found.tests) > passedIn(tests);
  return { ...done, tries: tries + 1, found: isBetter ? again.found : found };
}

const passedIn = ({ tests }: TestRun): number =>
  Object.values(tests).filter((outcome) => outcome === 'passed').length;

const refusedIn = (tries: readonly FailedTry[]): readonly string[] => [
  ...new Set(tries.flatMap(({ refusedHosts }) => refusedHosts ?? [])),
];

/** Without the build, tests that give no results do not prove that the build works either. */
const isBuilt = ({ commands }: Recipe, { recipe }: DetectedRecipe): boolean =>
  commands.build !== undefined || recipe.commands.build === undefined;

/** If the detected commands reached their registries, a failure of another recipe to reach its own is not an outage. */
const unlessOutage =
  (recipe: Recipe, isAnother: boolean) =>
  (thrown: unknown): Attempt => {
    const { code, message } = asFault(thrown);
    if (code !== 'REGISTRY_UNAVAILABLE' || !isAnother) throw thrown;
    return { kind: 'failed', message, failed: { recipe, step: 'set-up', output: message } };
  };

/** Sets up, builds and tests once. */
async function tryRecipe(ports: RecipePorts, search: RecipeSearch, recipe: Recipe): Promise<Attempt> {
  const { clock } = ports;
  const { detected, onStep, signal } = search;
  const { submodules } = search.bare.base;
  const task = {
    ...search.task,
    settings: withRecipe(search.task.settings, recipe),
    ...(submodules ? { submodules: submodules.id } : {}),
  };
  const how = { signal, source: search.bare.source, ...(onStep ? { onStep } : {}) };
  const began = clock.elapsed();
  // Tools that set-up itself installs are not missing.
  const isSame = recipe.commands.setup === detected.recipe.commands.setup;
  const bare = isSame ? search.bare : await openBase(ports, task, how);
  const installed = await setUpBase(ports, task, bare, how);
  if (installed.kind === 'failed') {
    const { message, ...failed } = installed.failed;
    return { kind: 'failed', message, failed: { recipe, step: 'set-up', ...failed } };
  }
  const ready = clock.elapsed();
  const runner = await checkRunnerOn(ports, { task, source: bare.source, base: installed.base, signal });
  const kept = search.usesKeptTests ? await keptTests(ports, runner) : null;
  const done = kept === null ? await tryBase(runner, onStep) : ({ kind: 'tested', tests: kept } as const);
  if (done.kind === 'broken') {
    const { output, stopped } = done;
    return { kind: 'failed', message: done.message, failed: { recipe, step: 'build', output, stopped } };
  }
  const pip = failureOfPip(recipe.commands.setup ?? '', installed.output ?? '');
  const tests = pip === null ? done.tests : withNote(done.tests, pipNote(pip));
  if (kept === null) await keepTests(ports, runner, tests);
  const ms = { setup: ready - began, checks: clock.elapsed() - ready, tried: clock.elapsed() - began };
  const compared = comparedWith(recipe, detected.recipe);
  const again = kept === null ? {} : ({ keptTests: true } as const);
  return { kind: 'done', pip, found: { recipe: compared, base: installed.base, tests, ...again, ms } };
}

const withNote = (tests: TestRun, note: string): TestRun => ({
  ...tests,
  notes: [...(tests.notes ?? []), note],
});

/** Null if the tests give results, or if no other command could make them do so. */
function failedTests(recipe: Recipe, tests: TestRun, before = ''): FailedTry | null {
  const silence = silenceOf(tests);
  // An exit code of suggested commands proves nothing: `true` has a good one, too.
  const isProof = silence === null && (tests.source === 'report' || !isSuggestedWork(recipe));
  if (isProof || silence === 'no-command' || silence === 'stopped') return null;
  return { recipe, step: 'tests', output: [before, ...(tests.errors ?? []), tests.tail].join('\n') };
}

/** Tests that a limit stopped: no other command helps, but it is said. */
function stoppedTests(recipe: Recipe, one: Attempt): readonly FailedTry[] {
  if (one.kind === 'failed') return [];
  const { stopped, tail } = one.found.tests;
  return stopped ? [{ recipe, step: 'tests', output: tail, stopped }] : [];
}

/** Suggested commands must prove themselves each time; for others, tests that give no results are valid, too. */
const isEnough = ({ recipe, tests }: Found): boolean =>
  !isSuggestedWork(recipe) || failedTests(recipe, tests) === null;

const isSuggestedWork = ({ from }: Recipe): boolean => from.build === SUGGESTED || from.test === SUGGESTED;
