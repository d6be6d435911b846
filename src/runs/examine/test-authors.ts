import {
  type AuthorRuns,
  type AuthorTests,
  authorTests,
  EXIT_CODE,
  type IntroducesName,
  introducedBy,
  joinedRewrites,
  outcomeIn,
  type TestRun,
  type TreeTestResult,
  withNamesOf,
  withoutTests,
} from '../../core/evidence/index.ts';
import type { PatchFile } from '../../core/patches/index.ts';
import type { TestCommand } from '../../core/settings/index.ts';
import type { ExaminationTools, ExaminedCandidate } from './candidate.ts';
import { areaId } from './execute.ts';
import { rerunSuspects } from './repeats.ts';
import { runOn, type Tree, type TreeRun } from './trees.ts';

export type BuiltSurvivor = ExaminedCandidate & Required<Pick<ExaminedCandidate, 'tree' | 'patch'>>;

export interface TestAuthor {
  readonly survivor: BuiltSurvivor;
  readonly files: readonly PatchFile[];
  /** Commands that run its tests; absent: the whole suite. */
  readonly commands?: readonly TestCommand[];
  readonly tests: AuthorTests;
  /** The executions that these follow from. */
  readonly runs: AuthorRuns;
  /** Test files that are written while they run on its author's code, or by the base's tests. */
  readonly writes: Pick<TestRun, 'rewrites'>;
  readonly introduces: IntroducesName;
}

/** Null for a survivor without tests of its own. */
export async function testAuthorOf(
  tools: ExaminationTools,
  survivor: BuiltSurvivor,
): Promise<TestAuthor | null> {
  const { own: whole, patch, candidate } = survivor;
  if (!whole) return null;
  const files = patch.tests;
  const how = await runOwnTests(tools, survivor, files, whole);
  const commands = how.commands ? { commands: how.commands } : {};
  const base = await tools.trees.of(`${candidate.alias}-base`, []);
  const id = areaId(candidate.runId, candidate.alias, 'on-base');
  const onBase = await runOnTree(tools, base, { id, tests: files, ...commands });
  const runs = { own: how.own, onBase, before: how.before };
  const tests = authorTests(runs, tools.onBase.flaky);
  const introduced = introducedBy(patch);
  const { asked = '' } = tools.runner;
  // Names that the task mentions may be required of every candidate.
  const introduces: IntroducesName = (name) => !mentionsName(name, asked) && introduced(name);
  const writes = joinedRewrites([how.own, tools.onBase]);
  return { survivor, files, ...commands, tests, runs, writes, introduces };
}

interface OwnTestRun {
  readonly commands?: readonly TestCommand[];
  readonly own: TestRun;
  /** The same tests as on the base. */
  readonly before: TestRun | null;
}

/** Runs its test files alone if the runner supports it, else the whole suite with them. */
async function runOwnTests(
  tools: ExaminationTools,
  survivor: BuiltSurvivor,
  files: readonly PatchFile[],
  whole: TestRun,
): Promise<OwnTestRun> {
  const { runner } = tools;
  const all = { own: whole, before: tools.onBase };
  const paths = files.filter((file) => file.change !== 'deleted').map((file) => file.path);
  const commands = runner.plan.focus(paths);
  if (!commands) return all;
  const names = Object.keys(whole.tests);
  const listedFiles = commands.flatMap(({ args }) => args);
  // Ids contain file names, so ids from a run of single files match those of the whole suite.
  const isOf = (file: string, id: string) => id.startsWith(`${file} > `);
  if (listedFiles.every((file) => names.some((id) => isOf(file, id)))) {
    const others = names.filter((id) => !listedFiles.some((file) => isOf(file, id)));
    return { ...all, own: withoutTests(whole, others), commands };
  }
  const { runId, alias } = survivor.candidate;
  const alone = { id: areaId(runId, alias, 'alone'), tests: files, commands };
  const own = await runOnTree(tools, survivor.tree, alone);
  if (own.kind !== 'ran' || !Object.values(own.run.tests).includes('passed')) return all;
  return { commands, own: own.run, before: await runBaseVersions(tools, survivor, paths) };
}

/** The base versions of these files; null if it has none of them. */
async function runBaseVersions(
  tools: ExaminationTools,
  survivor: BuiltSurvivor,
  paths: readonly string[],
): Promise<TestRun | null> {
  const { runner, trees } = tools;
  const { runId, alias } = survivor.candidate;
  const known = new Set(runner.baseFiles);
  const commands = runner.plan.focus(paths.filter((path) => known.has(path)));
  if (!commands) return null;
  const base = await trees.of(`${alias}-base`, []);
  const before = await runOnTree(tools, base, { id: areaId(runId, alias, 'before'), commands });
  return before.kind === 'ran' ? before.run : null;
}

export const asksSomething = ({ tests }: TestAuthor): boolean =>
  tests.proven.length + tests.guards.length > 0;

/** An author's tests after those that failed on the base ran there once more: one that is flaky there shows nothing. */
export async function confirmedTests(tools: ExaminationTools, author: TestAuthor): Promise<AuthorTests> {
  const { survivor, tests, runs } = author;
  const { runId, alias } = survivor.candidate;
  if (runs.onBase.kind !== 'ran') return tests;
  const onBase = withNamesOf(runs.own, runs.onBase.run);
  const suspects = tests.proven.filter((id) => id === EXIT_CODE || outcomeIn(onBase, id) === 'failed');
  const base = await tools.trees.of(`${alias}-base`, []);
  const options = { ...howOf(author), id: areaId(runId, alias, 'on-base') };
  const run = await rerunSuspects(tools, base, options, { run: onBase, suspects });
  const flaky = [...(tools.onBase.flaky ?? []), ...(run.flaky ?? [])];
  return authorTests({ ...runs, onBase: { kind: 'ran', run } }, flaky);
}

/** How its tests are run on any tree. */
export const howOf = ({ files, commands }: TestAuthor): Pick<TreeRun, 'tests' | 'commands'> => ({
  tests: files,
  ...(commands ? { commands } : {}),
});

export async function runOnTree(
  { runner }: ExaminationTools,
  tree: Tree,
  options: Pick<TreeRun, 'id' | 'tests' | 'commands' | 'attempt'>,
): Promise<TreeTestResult> {
  const result = await runOn(runner, tree, options);
  return result.kind === 'ran' ? result : { kind: 'unfit' };
}

/** Whether a text contains the name as a separate word. */
function mentionsName(name: string, text: string): boolean {
  for (let at = text.indexOf(name); at >= 0 && name !== ''; at = text.indexOf(name, at + 1)) {
    const around = `${text[at - 1] ?? ' '}${text[at + name.length] ?? ' '}`;
    if (!/[\w$]/.test(around)) return true;
  }
  return false;
}
