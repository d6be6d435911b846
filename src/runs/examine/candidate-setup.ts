import { HOW_STOPPED, type SetUpObstacle } from '../../core/evidence/index.ts';
import { Fault, SETUP_PATIENCE, signsOfWork } from '../../core/model/index.ts';
import { changedPackageFiles, type PatchFile } from '../../core/patches/index.ts';
import { failureLines, quotedCode, registryOutage, tailOf } from '../../core/reports/index.ts';
import {
  type FailedTry,
  languagesOf,
  nextRecipe,
  shownSetup,
  withNodeHeaders,
} from '../../core/settings/index.ts';
import { type ExecResult, NO_REGISTRIES, type RegistryAccess } from '../../ports/index.ts';
import { checkLimits, setupLimits } from '../context.ts';
import type { CheckArea, CheckRunner } from './areas.ts';
import { runCommand, runOnce } from './execute.ts';
import { silentRegistries } from './registry-control.ts';

/** Whether a candidate is set up with its own packages: docs/decisions/0105. */
export function isSetUpAnew({ task }: CheckRunner, production: readonly PatchFile[]): boolean {
  const { candidateSetup, setup = '' } = task.settings.checks;
  if (!candidateSetup || setup === '') return false;
  const words = new Set(setup.split(/[\s;&|'"()]+/).map((word) => word.replace(/^\.\//, '')));
  return changedPackageFiles(production).length > 0 || production.some(({ path }) => words.has(path));
}

/** Why a candidate was not set up anew; only meaningful if it changes package files. */
export function setUpObstacle({ task }: CheckRunner, eliminated: boolean): SetUpObstacle {
  const { candidateSetup, setup = '' } = task.settings.checks;
  if (!candidateSetup) return 'not-allowed';
  if (setup === '') return 'no-command';
  return eliminated ? 'eliminated' : 'only-tests';
}

/**
 * Maximum number of times that a command is repeated whose registry failed it but answers Runoff itself: it may have
 * come back in between.
 */
const MAX_REPEATS = 1;

/**
 * Installs a candidate's packages in the area of its tree, which holds the base commit without packages, and its patch.
 * It reaches package registries only, without the operator's logins. All tries share `timeout.check`. Null on success.
 * Rejects with REGISTRY_UNAVAILABLE if a registry does not answer, also not to Runoff itself.
 */
export async function setUpCandidate(
  runner: CheckRunner,
  area: CheckArea,
): Promise<{ readonly because: string; readonly tail: string } | null> {
  const { setup = '' } = runner.task.settings.checks;
  const { clock, registries } = runner.world;
  const until = clock.elapsed() + checkLimits(runner.task).wallMs;
  const tries: FailedTry[] = [];
  let repeats = MAX_REPEATS;
  for (let command = setup; ; ) {
    const access = (await registries?.of(command, languagesOf(runner.baseFiles, [command]))) ?? NO_REGISTRIES;
    const result = await setUpOnce(runner, area, { command, access, wallMs: until - clock.elapsed() });
    await removeClientFiles(runner, area, access);
    if (result.exitCode === 0 && result.stopped === null) return null;
    const inTime = () => until > clock.elapsed();
    if ((await isRegistryBack(runner, area, { command, access, result })) && repeats > 0 && inTime()) {
      repeats -= 1;
      continue;
    }
    const one: FailedTry = {
      recipe: { commands: { setup: command }, from: {} },
      step: 'set-up',
      output: `${result.stdout}\n${result.stderr}`,
      stopped: result.stopped,
      refusedHosts: result.refusedHosts ?? [],
    };
    tries.push(one);
    const next = nextRecipe({ others: [], named: ['build', 'test'], removable: [] }, tries)?.commands.setup;
    // The failure that counts is that of the repository's own command.
    if (next === undefined || !inTime()) return failureOf(tries[0] ?? one);
    command = next;
  }
}

function setUpOnce(
  runner: CheckRunner,
  area: CheckArea,
  { command, access, wallMs }: { command: string; access: RegistryAccess; wallMs: number },
): Promise<ExecResult> {
  const { limits, ...signs } = signsOfWork({ ...setupLimits(runner.task), wallMs }, SETUP_PATIENCE);
  return runOnce(runner, area, {
    argv: ['sh', '-c', withNodeHeaders(command)],
    registries: access,
    limits,
    signsOfWork: signs,
  });
}

/** Settings of package clients are for set-up alone: tests do not see them. */
async function removeClientFiles(
  runner: CheckRunner,
  area: CheckArea,
  { files }: RegistryAccess,
): Promise<void> {
  const paths = Object.keys(files);
  if (paths.length === 0) return;
  const script = 'cd; for f; do rm -rf -- "$f"; rmdir -- "$(dirname -- "$f")" 2> /dev/null; done; :';
  await runCommand(runner, area, { argv: ['sh', '-c', script, 'sh', ...paths] });
}

interface SetUpResult {
  readonly command: string;
  readonly access: RegistryAccess;
  readonly result: ExecResult;
}

/**
 * Whether a registry failed the set-up, but answers Runoff itself; false if none failed. Rejects with
 * REGISTRY_UNAVAILABLE if it does not answer Runoff either. Only what the proxy itself has seen counts: a candidate's
 * scripts can print any message, and a run must not wait for one.
 */
async function isRegistryBack(
  runner: CheckRunner,
  area: CheckArea,
  { command, access, result }: SetUpResult,
): Promise<boolean> {
  const { failedHosts = [], refusedHosts = [] } = result;
  const seen = { tail: '', refusedHosts, hasNetwork: access.hosts.length > 0 };
  if (registryOutage({ ...seen, failedHosts }) === null) return false;
  const silent = await silentRegistries(runner, area, { access, failed: failedHosts });
  const outage = registryOutage({ ...seen, failedHosts: silent });
  if (outage === null) return true;
  throw new Fault(
    'REGISTRY_UNAVAILABLE',
    `The set-up command ${quotedCode(shownSetup(command))} could not get the packages of a candidate: ${outage}.`,
  );
}

function failureOf({ recipe, output, stopped, refusedHosts = [] }: FailedTry) {
  const command = quotedCode(shownSetup(recipe.commands.setup ?? ''));
  const lines = failureLines(output, 3).map(quotedCode).join(', ');
  const hosts = refusedHosts.map((host) => host.replace(/:443$/, '')).slice(0, 5);
  const because = `with its own packages, the set-up ${command} ${stopped ? `is ${HOW_STOPPED[stopped]}` : 'fails'}${lines === '' ? '' : `: ${lines}`}`;
  const refused = hosts.length === 0 ? '' : ` (it may not reach ${hosts.join(', ')})`;
  return { because: `${because}${refused}`, tail: tailOf(output, 20) };
}
