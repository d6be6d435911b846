import {
  compareTypeChecks,
  type GateReport,
  leftOutTypeCheck,
  type TestRun,
  type TypeCheckResult,
  type TypeCheckRun,
  typeFindings,
} from '../../core/evidence/index.ts';
import { joinSections, type Patch } from '../../core/patches/index.ts';
import { failureLines } from '../../core/reports/index.ts';
import type { TypeCheck } from '../../core/settings/index.ts';
import type { WorkArea } from '../../ports/index.ts';
import { checkLimits } from '../context.ts';
import { type CheckRunner, inArea } from './areas.ts';
import { applyPatch, egressOf, runOnce, withTopLayer } from './execute.ts';
import { fail, pass, type Tree } from './trees.ts';

/** Bytes of output that are read: large repositories have thousands of findings. */
const OUTPUT_BYTES = 16 * 2 ** 20;
/** Lines of output that explain a failure. */
const ERROR_LINES = 2;

async function runTypeCheck(
  runner: CheckRunner,
  area: WorkArea,
  { name, command }: TypeCheck,
): Promise<TypeCheckRun> {
  const result = await runOnce(runner, area, {
    argv: ['sh', '-c', command],
    egress: egressOf(runner),
    limits: { ...checkLimits(runner.task), outputBytes: OUTPUT_BYTES },
  });
  const { exitCode, stopped, ms } = result;
  const output = `${result.stdout}\n${result.stderr}`;
  const findings = exitCode === 0 || result.truncated ? [] : (typeFindings(output) ?? []);
  const isClear = exitCode === 0 || findings.length > 0;
  return {
    ...{ name, exitCode, stopped, ms, findings },
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
export interface CheckedTypes {
  readonly gate: GateReport;
  readonly result?: TypeCheckResult;
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
  const own = await runner.remember(key, () =>
    inArea(withTopLayer(runner, tree.built), id, async (area) => {
      if ((await applyPatch(runner, area, tests)) !== null) return null;
      const runs: TypeCheckRun[] = [];
      for (const check of checks) runs.push(await runTypeCheck(runner, area, check));
      return runs;
    }),
  );
  if (own === null) return { gate: fail('types', 'not checked: its test files do not apply') };
  return compareTypeChecks(types, own, patch.files);
}
