import {
  checkerQuestions,
  compareTypeChecks,
  type GateReport,
  leftOutTypeCheck,
  type TestRun,
  type TypeCheckResult,
  type TypeCheckRun,
  typeFindings,
} from '../../core/evidence/index.ts';
import { joinSections, type Patch, patchedText } from '../../core/patches/index.ts';
import { failureLines } from '../../core/reports/index.ts';
import { definesCommands, type TypeCheck, venvPath, withBaseScripts } from '../../core/settings/index.ts';
import type { WorkArea } from '../../ports/index.ts';
import { checkLimits, readTextAt } from '../context.ts';
import { type CheckRunner, inArea } from './areas.ts';
import { applyPatch, egressOf, runCommand, runOnce, withTopLayer, writeFiles } from './execute.ts';
import { fail, pass, type Tree } from './trees.ts';

/** Bytes of output that are read: large repositories have thousands of findings. */
const OUTPUT_BYTES = 16 * 2 ** 20;
/** Lines of output that explain a failure. */
const ERROR_LINES = 2;

/**
 * Removes what checkers remember of earlier checks: a committed record that nothing changed would be believed. A record
 * that cannot be removed ends the command without findings.
 */
const FORGET =
  "find . -name node_modules -prune -o \\( -name '*.tsbuildinfo' -o -name .mypy_cache \\) -prune -exec rm -rf {} + || exit 125; ";

async function runTypeCheck(
  runner: CheckRunner,
  area: WorkArea,
  { name, command, folder, unsplit, advisory }: TypeCheck,
): Promise<TypeCheckRun> {
  const result = await runOnce(runner, area, {
    argv: ['sh', '-c', `${FORGET}${venvPath(runner.task.settings.checks, command)}${command}`],
    egress: egressOf(runner),
    limits: { ...checkLimits(runner.task), outputBytes: OUTPUT_BYTES },
  });
  const { exitCode, stopped, ms } = result;
  const output = `${result.stdout}\n${result.stderr}`;
  const isClean = exitCode === 0 && !unsplit;
  const findings = isClean || result.truncated ? [] : (typeFindings(output, folder) ?? []);
  const isClear = exitCode === 0 || findings.length > 0;
  return {
    ...{ name, exitCode, stopped, ms, findings },
    ...(advisory ? { advisory } : {}),
    ...(isClear ? {} : { errors: failureLines(output, ERROR_LINES) }),
  };
}

/**
 * Adds to the base's test run the type checks with which candidates are compared. One that cannot be run there is left
 * out, which a note says.
 */
export async function withTypeChecks(runner: CheckRunner, area: WorkArea, run: TestRun): Promise<TestRun> {
  const types: TypeCheckRun[] = [];
  for (const check of runner.types) types.push(await runTypeCheck(runner, area, check));
  const notes = types.flatMap((one) => leftOutTypeCheck(one) ?? []);
  return {
    ...run,
    ...(types.length > 0 ? { types } : {}),
    ...(notes.length > 0 ? { notes: [...(run.notes ?? []), ...notes] } : {}),
  };
}

/** The gate `types` of one candidate, and what it is based on. */
interface CheckedTypes {
  readonly gate: GateReport;
  readonly result?: TypeCheckResult;
}

/** Why they were not run, or their results. */
type OwnTypeChecks = { readonly why: string } | { readonly runs: readonly TypeCheckRun[] };

/** Neither a limit nor a crash ended it. */
const isCertain = ({ stopped, errors }: TypeCheckRun): boolean => stopped === null && errors === undefined;

/** Restores the commands of the base that a type check may start. Returns null on success, else the reason. */
async function restoreCommands(runner: CheckRunner, area: WorkArea, patch: Patch): Promise<string | null> {
  const { world, source, task } = runner;
  const changed = [...patch.production, ...patch.tests].filter(({ path }) => definesCommands(path));
  if (changed.length === 0) return null;
  const texts: Record<string, string> = {};
  for (const file of changed) {
    const { path } = file;
    const base = await readTextAt(world, source, task.base.sha, path);
    const own = patchedText(base, file);
    const text = withBaseScripts(path, base, own.kind === 'text' ? own.text : null);
    if (text !== null) texts[path] = text;
  }
  const paths = changed.map(({ path }) => path);
  const removed = await runCommand(runner, area, { argv: ['rm', '-rf', '--', ...paths] });
  return removed.exitCode === 0 ? writeFiles(runner, area, texts) : removed.stderr;
}

/** Checks the types of a candidate with its own test files, as it would be committed. */
export async function checkTypes(
  runner: CheckRunner,
  onBase: Pick<TestRun, 'types'>,
  { tree, patch, id }: { readonly tree: Tree; readonly patch: Patch; readonly id: string },
): Promise<CheckedTypes> {
  const types = (onBase.types ?? []).filter((one) => leftOutTypeCheck(one) === null);
  const names = new Set(types.map(({ name }) => name));
  const checks = runner.types.filter(({ name }) => names.has(name));
  if (checks.length === 0)
    return {
      gate: pass(
        'types',
        runner.types.length === 0 ? 'there is no type check' : 'the type check does not run on the base',
      ),
    };
  const tests = joinSections(patch.tests);
  const { base, task } = runner;
  const key = JSON.stringify([
    'types',
    [base.sha, base.layers, runner.binds ?? [], task.settings.checks.build ?? '', task.settings.network],
    [base.tools ?? null, base.toolVersions ?? []],
    [tree.patch, tests, checks, task.settings.timeout.check],
    ...(tree.built.ownPackages ? [['set up anew', task.settings.checks.setup]] : []),
  ]);
  const on = withTopLayer(runner, tree.built);
  const { keeps = () => true } = runner;
  const own = await runner.remember(
    key,
    () =>
      inArea(on, id, async (area): Promise<OwnTypeChecks> => {
        if ((await applyPatch(on, area, tests)) !== null) return { why: 'its test files do not apply' };
        const why = await restoreCommands(on, area, patch);
        if (why !== null) return { why: `the commands of the base commit cannot be restored: ${why}` };
        const runs: TypeCheckRun[] = [];
        for (const check of checks) runs.push(await runTypeCheck(runner, area, check));
        return { runs };
      }),
    (result) => ('runs' in result && result.runs.every(isCertain)) || keeps(null),
  );
  if ('why' in own) return { gate: fail('types', `not checked: ${own.why}`) };
  const { files } = patch;
  return compareTypeChecks(types, own.runs, files, await configurationQuestions(runner, patch));
}

/** The check uses the candidate's versions of production and test files, but the base's of runner configuration. */
async function configurationQuestions(
  { world, source, task, baseFiles }: CheckRunner,
  patch: Patch,
): Promise<ReturnType<typeof checkerQuestions>> {
  const used = [...patch.production, ...patch.tests];
  const texts: Record<string, string> = {};
  for (const { path, change } of used) {
    if (change === 'added' || !/\.(?:toml|cfg|ini|json)$/.test(path)) continue;
    const text = await readTextAt(world, source, task.base.sha, path);
    if (text !== null) texts[path] = text;
  }
  return checkerQuestions(used, texts, baseFiles);
}
