import { countsOfRun, type RepoTask, type TestCounts } from '../../core/arena/index.ts';
import { silenceOf } from '../../core/evidence/index.ts';
import {
  CHANGE_LIMITS,
  type MinedChange,
  type MinedOutcome,
  PROOF_TIMES,
  taskIdOf,
  taskPaths,
  verdictOn,
  verdictText,
} from '../../core/mining/index.ts';
import { asFault, Fault, type RunId, type Sha } from '../../core/model/index.ts';
import { joinSections, type Patch, parsePatch } from '../../core/patches/index.ts';
import { failureLines } from '../../core/reports/index.ts';
import type { Recipe } from '../../core/settings/index.ts';
import { checksAt, detectedRecipe, exposureOf, mayBeSuggested } from '../admit/index.ts';
import { openBase } from '../base/index.ts';
import { findRecipe, type RecipePorts } from '../recipe/index.ts';
import { testHidden } from './executed.ts';
import type { IssuePorts } from './issue-text.ts';
import { openTaskBase, type TaskBase, type VerifyPorts } from './verify.ts';

/** Dependencies of making tasks: no model and no database. GitHub is there for the texts of issues alone. */
export interface MinePorts extends VerifyPorts, IssuePorts, Pick<RecipePorts, 'recipes'> {
  newRunId(): RunId;
}

interface ProveOptions {
  readonly repository: string;
  /** As the dataset names the repository. */
  readonly trust: boolean;
  /** What the statement is. */
  readonly statedBy: 'issue' | 'message';
  readonly signal: AbortSignal;
}

/** Files of the change that were tests at its commit, by path. */
type HiddenTests = Readonly<Record<string, string>>;

export type Proof =
  | {
      readonly outcome: 'kept';
      readonly task: RepoTask;
      readonly hidden: HiddenTests;
      readonly reference: string;
    }
  | { readonly outcome: Exclude<MinedOutcome, 'kept' | 'removed'>; readonly why: string };

/**
 * Executes a change of the history: its tests on its parent, where they must fail, and on the change itself, where they
 * must pass, three times each, all in the sandbox.
 */
export async function proveChange(
  ports: MinePorts,
  mined: MinedChange,
  options: ProveOptions,
): Promise<Proof> {
  const parts = await partsOf(ports, mined, options.repository);
  if (parts.kind === 'unusable') return { outcome: 'unusable', why: parts.why };
  const { hidden, reference, deletesTests } = parts;
  const recipe = await recipeAt(ports, mined.base, options);
  if (recipe.kind === 'broken') return { outcome: 'base-broken', why: recipe.why };
  const task = taskOfChange(mined, recipe.commands, options);
  const folder = {
    absolute: (path: string) => path,
    repository: async (path: string) => path,
    within: async () => null,
    copy: () => Promise.reject(new Fault('INTERNAL', 'A task from history has no template.')),
    files: async () => Object.entries(hidden).map(([path, text]) => ({ path, text })),
  };
  const { repository: _, statedBy: __, ...how } = options;
  const resolved = { ...task, start: mined.base, hidden: '' };
  try {
    const base = await openTaskBase(ports, folder, resolved, { ...how, runId: ports.newRunId() });
    const dropped = await whyNotProved(base, reference);
    if (dropped === null) return { outcome: 'kept', task, hidden, reference };
    // Tests that it deletes are still there and run beside the others.
    return deletesTests && dropped.outcome === 'fails-after'
      ? { outcome: 'unusable', why: `It deletes or renames tests, which a task cannot do. ${dropped.why}` }
      : dropped;
  } catch (thrown) {
    const { code, message } = asFault(thrown);
    // Tasks are verified without the hosts that the repository's settings allow.
    if (code === 'BASE_BROKEN') return { outcome: 'base-broken', why: message };
    if (code === 'CONTEST_INVALID') return { outcome: 'unusable', why: message };
    throw thrown;
  }
}

function taskOfChange(
  { change, base, statement, title, issue, ...mined }: MinedChange,
  { setup = '', build = '', test = '' }: Recipe['commands'],
  { repository, statedBy }: Pick<ProveOptions, 'repository' | 'statedBy'>,
): RepoTask {
  const id = taskIdOf({ change, title, ...mined });
  return {
    id,
    kind: 'repo',
    base: { repository, commit: base },
    statement,
    setup,
    build,
    verify: [test],
    hiddenTests: `hidden/${id}`,
    reference: `reference/${id}.diff`,
    origin: {
      commit: change.commit,
      title,
      at: new Date(change.at).toISOString(),
      ...(issue === null ? {} : { issue }),
      statement: statedBy,
    },
  };
}

type Parts =
  | {
      readonly kind: 'parts';
      readonly hidden: HiddenTests;
      readonly reference: string;
      readonly deletesTests: boolean;
    }
  | { readonly kind: 'unusable'; readonly why: string };

/** The tests of a change and the rest of it. */
async function partsOf(
  { workspaces }: Pick<MinePorts, 'workspaces'>,
  { change, base }: MinedChange,
  repository: string,
): Promise<Parts> {
  const source = { kind: 'local', path: repository } as const;
  const unusable = (why: string): Parts => ({ kind: 'unusable', why });
  const diff = await workspaces.diff(source, base, change.commit, taskPaths(change));
  if (diff === null) return unusable('The change cannot be written as text.');
  const read = parsePatch(diff.raw, diff.text);
  if (read.kind === 'refused') return unusable(read.reasons[0] ?? 'The change cannot be read.');
  const lines = read.patch.files.reduce((sum, { additions, deletions }) => sum + additions + deletions, 0);
  if (lines > CHANGE_LIMITS.lines)
    return unusable(`It changes ${lines} lines; a task has at most ${CHANGE_LIMITS.lines}.`);
  const reference = joinSections(read.patch.production);
  const hidden: Record<string, string> = {};
  for (const path of presentTests(read.patch)) {
    const text = await workspaces.readFile(source, change.commit, path).catch(unlessTooLarge);
    if (text === null || text.includes('\0') || text.includes('\ufffd'))
      return unusable(`${path} is no text file of at most 1 MiB.`);
    hidden[path] = text;
  }
  const deletesTests = read.patch.tests.some(({ change: how }) => how === 'deleted');
  return { kind: 'parts', hidden, reference, deletesTests };
}

const presentTests = ({ tests }: Patch): readonly string[] =>
  tests.flatMap(({ path, change }) => (change === 'deleted' ? [] : [path]));

function unlessTooLarge(thrown: unknown): null {
  if (asFault(thrown).code !== 'SETTINGS_INVALID') throw thrown;
  return null;
}

type RecipeAt =
  | { readonly kind: 'recipe'; readonly commands: Recipe['commands'] }
  | { readonly kind: 'broken'; readonly why: string };

/** The commands that work on a commit, found as a run finds them. */
async function recipeAt(
  ports: MinePorts,
  sha: Sha,
  { repository, trust, signal }: ProveOptions,
): Promise<RecipeAt> {
  const source = { kind: 'local', path: repository } as const;
  try {
    const { settings, from, named } = await checksAt(ports, source, sha);
    const exposure = trust ? null : await exposureOf(ports, settings, named);
    if (exposure !== null)
      throw new Fault(
        'CHECKS_UNTRUSTED',
        `The commands of ${repository} would run with more than the full sandbox allows: ${[...exposure.weaker, ...(exposure.hosts.length > 0 ? [`they can reach ${exposure.hosts.join(', ')}`] : [])].join(' ')}`,
      );
    // Packages of the working tree fit its last commit, not one of the past: set-up installs those of the commit.
    const checks = { ...settings.checks, candidateSetup: true };
    const task = {
      runId: ports.newRunId(),
      origin: { kind: 'local', path: repository } as const,
      base: { ref: sha, sha },
      settings: { ...settings, checks },
    };
    const probe = await ports.sandbox.probe();
    const maySuggested = probe.kind === 'ready' && mayBeSuggested(probe.backend);
    const bare = await openBase(ports, task, { source, signal });
    const detected = await detectedRecipe(ports, source, { task, checks: { from, named } });
    const found = await findRecipe(ports, { task, bare, detected, maySuggested, signal });
    return silenceOf(found.tests) === null
      ? { kind: 'recipe', commands: found.recipe.commands }
      : { kind: 'broken', why: silentText(found.recipe.commands.test, found.tests.tail) };
  } catch (thrown) {
    const { code, message } = asFault(thrown);
    if (code === 'BASE_BROKEN' || code === 'SETTINGS_INVALID') return { kind: 'broken', why: message };
    throw thrown;
  }
}

function silentText(test: string | undefined, tail: string): string {
  if (test === undefined) return 'No test command was found for this commit.';
  const [line] = failureLines(tail, 1);
  return `The tests of the base say nothing${line === undefined ? '' : `: ${line}`}.`;
}

type Dropped = Extract<Proof, { readonly why: string }>;

/** Why execution does not prove the task; null if it does. */
async function whyNotProved(base: TaskBase, reference: string): Promise<Dropped | null> {
  const before: boolean[] = [];
  const after: boolean[] = [];
  let onBase: TestCounts | null = null;
  let failures = '';
  for (let time = 1; time <= PROOF_TIMES; time += 1) {
    const without = await runHidden(base, `base-${time}`, '', null);
    if (without.kind === 'refused') return { outcome: 'unusable', why: without.why };
    onBase = without.counts;
    before.push(without.counts?.ok === true);
    const withChange = await runHidden(base, `change-${time}`, reference, onBase);
    if (withChange.kind === 'refused') return { outcome: 'unusable', why: withChange.why };
    after.push(withChange.counts?.ok === true);
    failures ||= firstFailure(withChange);
    const outcome = verdictOn(before, after);
    if (outcome !== null) return { outcome, why: verdictText(outcome, { before, after, failures }) };
  }
  return null;
}

type HiddenRun =
  | { readonly kind: 'refused'; readonly why: string }
  /** `counts` null: the build failed. */
  | { readonly kind: 'ran'; readonly counts: TestCounts | null; readonly output: string };

/** Runs the hidden tests in a fresh area over the base, with a patch or without. */
async function runHidden(
  base: TaskBase,
  name: string,
  patch: string,
  onBase: TestCounts | null,
): Promise<HiddenRun> {
  const done = await testHidden(base, name, patch);
  if (done.kind === 'refused') return done;
  if (done.kind === 'unbuilt') return { kind: 'ran', counts: null, output: done.broken.errors.join('\n') };
  return { kind: 'ran', counts: countsOfRun(done.run, onBase), output: done.run.tail };
}

function firstFailure(run: HiddenRun): string {
  if (run.kind === 'refused' || run.counts?.ok) return '';
  const [line] = failureLines(run.output, 1);
  const first = run.counts?.failures[0] ?? line;
  return run.counts === null
    ? `The change does not build with its tests${line === undefined ? '' : `: ${line}`}.`
    : `Tests fail with the change${first === undefined ? '' : `, such as ${first}`}.`;
}
