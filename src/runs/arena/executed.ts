import { type ExpectedTests, hiddenFile, whyBroken, whyIncomplete } from '../../core/arena/index.ts';
import { succeeded, type TestRun } from '../../core/evidence/index.ts';
import { joinSections, type Patch, type PatchFile } from '../../core/patches/index.ts';
import { failureLines } from '../../core/reports/index.ts';
import { type CheckRunner, collectText, testChange, testsDeclaredIn } from '../examine/index.ts';
import type { TaskBase } from './verify.ts';

/** What the commands of a task showed on one tree. */
export interface TreeRuns {
  /** Null without a build command. */
  readonly built: boolean | null;
  readonly verify: TestRun | null;
  /** Without a patch's own tests, the hidden ones laid over. `unbuilt`: with them, it does not build. */
  readonly hidden: TestRun | 'unbuilt' | null;
  /** The verify commands on the same tree, if the hidden tests have commands of their own. */
  readonly beside: TestRun | null;
  /** The verify commands with the base's version of every test that the patch changes; null if it changes none. */
  readonly original: TestRun | null;
  /** Why not all was executed; null if it was. */
  readonly why: string | null;
}

/** A patch in parts that are applied by themselves. */
interface PatchParts {
  readonly production: readonly PatchFile[];
  readonly tests: readonly PatchFile[];
}

const UNCHANGED_BASE: PatchParts = { production: [], tests: [] };

/** Executes what a task asks for on its base with a patch, each time in a fresh area. */
export async function runsOn(
  base: TaskBase,
  name: string,
  { production, tests }: PatchParts,
): Promise<TreeRuns> {
  const { runner, hidden, settings } = base;
  const built = settings.checks.build ? true : null;
  const none = { built, verify: null, hidden: null, beside: null, original: null };
  const patch = joinSections(production);
  const first = await testChange(runner, `${name}-verify`, { patch: patch + joinSections(tests), files: {} });
  if (first.kind === 'refused') return { ...none, why: `The change does not apply: ${first.why}` };
  if (first.kind === 'unbuilt') {
    const lines = failureLines(first.broken.errors.join('\n')).slice(0, 3);
    return { ...none, built: false, why: `The build fails: ${lines.join(' ')}`.slice(0, 1_000) };
  }
  const verify = first.run;
  if (hidden === null) {
    const added = tests.filter(({ change }) => change === 'added');
    if (added.length === tests.length) return { ...none, verify, why: null };
    const again = await testChange(runner, `${name}-original`, {
      patch: patch + joinSections(added),
      files: {},
    });
    return again.kind === 'ran'
      ? { ...none, verify, original: again.run, why: null }
      : { ...none, verify, why: 'Without its changes to existing tests, it cannot be built.' };
  }
  const second = await testHidden(base, `${name}-hidden`, patch);
  if (second.kind === 'refused')
    return { ...none, verify, hidden: 'unbuilt', why: `The hidden tests could not be run: ${second.why}.` };
  if (second.kind === 'unbuilt')
    return {
      ...{ ...none, verify, hidden: 'unbuilt' },
      why: 'The hidden tests could not be run: the build fails with them.',
    };
  const third = hidden.apart ? await testHidden(base, `${name}-beside`, patch, runner) : null;
  return {
    ...{ ...none, verify, hidden: second.run },
    beside: third?.kind === 'ran' ? third.run : null,
    why: third !== null && third.kind !== 'ran' ? 'The verify commands could not be run.' : null,
  };
}

/** Runs hidden tests over the base with a patch; with another `runner`, its commands on the same tree. */
export async function testHidden(
  base: TaskBase,
  name: string,
  patch: string,
  runner: CheckRunner | null = null,
): ReturnType<typeof testChange> {
  const { hidden } = base;
  if (hidden === null) throw new RangeError('The task has no hidden tests.');
  const rebuild = await needsRebuild(base, name);
  return testChange(runner ?? hidden.runner, name, { patch, files: hidden.files, rebuild });
}

/**
 * Whether hidden tests must be built before they run: on the base, laying them over what is built makes no difference.
 * The base decides, because an answer would choose what helps it.
 */
function needsRebuild({ runner, hidden }: TaskBase, name: string): Promise<boolean> {
  if (hidden === null || !runner.task.settings.checks.build) return Promise.resolve(false);
  return runner.remember('arena: rebuild', async () => {
    const shown = async (part: string, files: Readonly<Record<string, string>>) => {
      const done = await testChange(hidden.runner, `${name}-${part}`, { patch: '', files });
      if (done.kind !== 'ran') return null;
      const { source, exitCode, tests } = done.run;
      return JSON.stringify([source, exitCode, Object.entries(tests).toSorted()]);
    };
    const without = await shown('without', {});
    return without !== null && without === (await shown('with', hidden.files));
  });
}

/** The runs on the base itself, once for each opened base. `name`: of areas. */
export const baseRuns = (base: TaskBase, name: string): Promise<TreeRuns> =>
  base.runner.remember('arena: base', () => runsOn(base, `${name}-base`, UNCHANGED_BASE));

/** The runs with the task's reference, and why it does not solve the task; null without a reference. */
export function referenceRuns(
  base: TaskBase,
  name: string,
): Promise<{
  readonly runs: TreeRuns | null;
  readonly paths: readonly string[];
  readonly why: string | null;
} | null> {
  const { reference, runner } = base;
  if (reference === null) return Promise.resolve(null);
  return runner.remember('arena: reference', async () => {
    const read = await readDiff(base, `${name}-ref`, reference);
    if (typeof read === 'string') return { runs: null, paths: [], why: read };
    const { patch } = read;
    const paths = patch.files.map(({ path }) => path);
    const runs = await runsOn(base, `${name}-reference`, patch);
    return { runs, paths, why: await whyUnsolved(base, name, runs, null) };
  });
}

export type ReadDiff = {
  readonly patch: Patch;
  readonly additions: number;
  readonly deletions: number;
  readonly files: number;
};

/** A diff that applies to the base, in parts; else why not, as a sentence. */
export async function readDiff(base: TaskBase, name: string, diff: string): Promise<ReadDiff | string> {
  const collected = await collectText(base.runner, name, diff);
  if (!collected.patch) return `The diff ${collected.note}.`;
  const { files, additions, deletions } = collected.patch;
  const read = await base.runner.readPatch(collected.patch);
  if (read.kind === 'refused') return `The diff is refused: ${read.reasons.join(' ')}`;
  return { patch: read.patch, files, additions, deletions };
}

/** Why runs do not solve the task although no test fails and no command does; null if nothing speaks against it. */
export async function whyUnsolved(
  base: TaskBase,
  name: string,
  runs: TreeRuns,
  reference: TreeRuns | null,
): Promise<string | null> {
  if (runs.why !== null) return runs.why;
  const decisive = runs.hidden ?? runs.verify;
  if (decisive === null || decisive === 'unbuilt') return 'Nothing was executed.';
  if (!succeeded(decisive) || Object.values(decisive.tests).includes('failed')) return null;
  const onBase = await baseRuns(base, name);
  return whyShort(runs, decisive, {
    onBase,
    reference,
    hidden: await hiddenFiles(base, name),
  });
}

function whyShort(
  runs: TreeRuns,
  decisive: TestRun,
  {
    onBase,
    reference,
    hidden,
  }: {
    readonly onBase: TreeRuns;
    readonly reference: TreeRuns | null;
    readonly hidden: ExpectedTests['hidden'];
  },
): string | null {
  const pick = ({ hidden: own, verify }: TreeRuns) => (own === 'unbuilt' ? null : (own ?? verify));
  // Hidden tests that do not build on the base leave nothing to compare with but their texts.
  const before = pick(onBase) ?? { ...decisive, tests: {}, source: onBase.verify?.source ?? decisive.source };
  const expected = { base: before, reference: reference && pick(reference), hidden };
  if (runs.original === null) {
    const short = whyIncomplete(decisive, expected);
    if (short !== null || runs.beside === null || onBase.beside === null) return short;
    return whyBroken(onBase.beside, runs.beside, reference?.beside ?? null);
  }
  const { original } = runs;
  const isFailing = original.source === 'report' ? hasFailed(original) : !succeeded(original);
  const short = isFailing ? null : whyIncomplete(original, expected);
  const why = isFailing ? whyBroken(before, original, expected.reference) : short;
  if (!isFailing && why === null) return null;
  return `With the existing tests as they are on the base: ${why ?? 'tests or commands that must pass fail.'}`;
}

const hasFailed = ({ tests }: TestRun): boolean => Object.values(tests).includes('failed');

function hiddenFiles({ runner, hidden }: TaskBase, name: string): Promise<ExpectedTests['hidden']> {
  if (hidden === null) return Promise.resolve([]);
  return runner.remember('arena: hidden files', async () => {
    const declared = await testsDeclaredIn(runner, `${name}-declared`, hidden.files);
    return Object.entries(hidden.files).map(([path, text]) => hiddenFile(path, text, declared[path] ?? 0));
  });
}
