import { statfs } from 'node:fs/promises';
import { startEmbeddedPostgres } from '../adapters/database/index.ts';
import { runCommand } from '../adapters/sandbox/index.ts';
import { openStore } from '../adapters/store/index.ts';
import { asFault, Fault } from '../core/model/index.ts';
import { missingForServe, type Operator } from '../core/settings/index.ts';
import type { ExecutorRecord, Sandbox } from '../ports/index.ts';
import type { World } from '../runs/index.ts';
import type { Health, WebOptions } from '../server/index.ts';
import type { DoctorFinding, Runtime } from '../shell.ts';
import { agentFindings, modelFindings } from './agents.ts';
import type { FollowOpening } from './connections.ts';
import { artifactsOf, artifactsText, checkArtifacts, dataPaths, openDataFolder } from './data-folder.ts';
import { ownCommand, ownSetUp } from './installation.ts';
import { openLog } from './instrumentation.ts';
import { repositoryFindings } from './local.ts';
import type { SettingsFile, SettingsSource } from './operator-settings.ts';
import { openSandbox, ownerOf } from './sandbox.ts';

/**
 * Bytes of free space below which a warning is shown: a repository, its checkouts and the database must fit. Our
 * default.
 */
const MIN_FREE_BYTES = 2 * 2 ** 30;

/**
 * Checks everything that a run needs, in the order in which it is needed. Leaves only one small, constant artifact and
 * the toolchains that the local `repository` requires.
 */
export async function diagnose(
  read: SettingsSource['read'],
  repository: string | undefined,
  follow: FollowOpening,
): Promise<readonly DoctorFinding[]> {
  const findings: DoctorFinding[] = [nodeFinding(), await gitFinding()];
  let operator: Operator;
  try {
    const settings = await read();
    operator = { ...settings.operator, logLevel: 'silent' };
    findings.push(...settingsFindings(settings.file));
  } catch (thrown) {
    return [...findings, faultFinding('environment', thrown)];
  }
  const { sandbox, findings: sandboxFindings } = await sandboxOf(operator);
  return [
    ...findings,
    await checked('data folder', () => spaceIn(operator)),
    ...sandboxFindings,
    ...(await repositoryOf(operator, sandbox, repository)),
    await checked('database', () => databaseOf(operator, follow)),
    await checked('artifacts', () => artifactsIn(operator)),
    ...(await agentFindings(operator, sandbox).catch((thrown: unknown) => [faultFinding('coders', thrown)])),
    ...(await modelFindings(operator).catch((thrown: unknown) => [faultFinding('model keys', thrown)])),
    appFinding(operator),
  ];
}

function settingsFindings({ path, writeTo, notices }: SettingsFile): readonly DoctorFinding[] {
  const detail = path ?? `from the environment; there is no file ${writeTo}`;
  return [
    { name: 'settings', state: 'ok', detail },
    ...notices.map(
      (notice): DoctorFinding => ({
        name: 'settings',
        state: 'warning',
        detail: notice,
        remedy: 'docs/configuration.md says which file is read.',
      }),
    ),
  ];
}

function nodeFinding(): DoctorFinding {
  const major = Number(process.versions.node.split('.')[0]);
  return major >= 24
    ? { name: 'Node', state: 'ok', detail: process.version }
    : {
        name: 'Node',
        state: 'fault',
        detail: `${process.version}; Runoff runs on 24`,
        remedy: `${ownSetUp()} It installs Node 24 beside Runoff and changes nothing else.`,
      };
}

async function gitFinding(): Promise<DoctorFinding> {
  try {
    const { code, stdout } = await runCommand(['git', '--version'], null);
    if (code === 0) return { name: 'git', state: 'ok', detail: stdout.trim() };
    return { name: 'git', state: 'fault', detail: 'not found', remedy: 'sudo apt-get install git' };
  } catch (thrown) {
    return faultFinding('git', thrown);
  }
}

function faultFinding(name: string, thrown: unknown): DoctorFinding {
  const fault = asFault(thrown);
  return { name, state: 'fault', detail: fault.message, remedy: fault.advice };
}

async function checked(
  name: string,
  look: () => Promise<Omit<DoctorFinding, 'name'>>,
): Promise<DoctorFinding> {
  try {
    return { name, ...(await look()) };
  } catch (thrown) {
    return faultFinding(name, thrown);
  }
}

async function spaceIn(operator: Operator): Promise<Omit<DoctorFinding, 'name'>> {
  const { data } = operator;
  await openDataFolder(data, ownerOf(operator));
  const { bavail, bsize } = await statfs(data);
  const free = bavail * bsize;
  const detail = `${data}, ${(free / 2 ** 30).toFixed(1)} GiB free`;
  if (free >= MIN_FREE_BYTES) return { state: 'ok', detail };
  return { state: 'warning', detail, remedy: 'Free some space, or point RUNOFF_DATA to a bigger disk.' };
}

async function sandboxOf(
  operator: Operator,
): Promise<{ readonly sandbox: Sandbox | null; readonly findings: readonly DoctorFinding[] }> {
  try {
    const sandbox = await openSandbox(operator);
    const probe = await sandbox.probe();
    if (probe.kind === 'missing')
      throw new Fault('SANDBOX_UNAVAILABLE', `${probe.why} To fix it: ${probe.remedy}`);
    const ok: DoctorFinding = { name: 'sandbox', state: 'ok', detail: `${probe.backend}: ${probe.detail}` };
    const weaker = probe.weaker.map(
      (detail): DoctorFinding => ({
        name: 'sandbox',
        state: 'warning',
        detail,
        remedy: 'docs/sandbox.md tells what the default sandbox needs.',
      }),
    );
    return { sandbox, findings: [ok, ...weaker] };
  } catch (thrown) {
    return { sandbox: null, findings: [faultFinding('sandbox', thrown)] };
  }
}

async function repositoryOf(
  operator: Operator,
  sandbox: Sandbox | null,
  path: string | undefined,
): Promise<readonly DoctorFinding[]> {
  if (path === undefined || sandbox === null) return [];
  return repositoryFindings(operator, sandbox, path).catch((thrown: unknown) => [
    faultFinding('repository', thrown),
  ]);
}

async function databaseOf(operator: Operator, follow: FollowOpening): Promise<Omit<DoctorFinding, 'name'>> {
  if (operator.databaseUrl) {
    const store = await openStore(operator.databaseUrl);
    const others = await store.executors().finally(() => store.close());
    const detail = 'DATABASE_URL answers and its tables are up to date';
    const [lack] = [...apartFromWorkers(others, operator), ...unclaimedWork([...others, taking(operator)])];
    return lack ? { state: 'warning', detail, remedy: lack } : { state: 'ok', detail };
  }
  const starting = startEmbeddedPostgres({
    dir: dataPaths(operator.data).database,
    log: openLog(operator),
  });
  const postgres = await follow(starting.then(({ version, stop }) => ({ version, close: () => stop() })));
  await postgres.close();
  return { state: 'ok', detail: `embedded Postgres ${postgres.version}` };
}

async function artifactsIn(operator: Operator): Promise<Omit<DoctorFinding, 'name'>> {
  await checkArtifacts(artifactsOf(operator));
  return { state: 'ok', detail: `${artifactsText(operator)} keeps what is put there` };
}

/** Work that this machine would take if it were started. */
const taking = ({ codersPerWorker, examinationsPerWorker }: Operator) => ({
  coders: codersPerWorker,
  examinations: examinationsPerWorker,
  silentMs: 0,
});

function appFinding(operator: Operator): DoctorFinding {
  const missing = missingForServe(operator);
  return missing.length === 0
    ? {
        name: 'GitHub App',
        state: 'ok',
        detail: `App ${operator.app?.appId ?? ''} on ${operator.github.apiUrl}`,
      }
    : {
        name: 'GitHub App',
        state: 'warning',
        detail: `not configured (${missing.map((problem) => problem.name).join(', ')}); \`runoff run\` works without`,
        remedy: `Run \`${ownCommand('serve')}\`: it opens a page that makes the App and writes the settings file.`,
      };
}

/** Publicly readable, so it only names the failing part; the log has the reason. */
export async function healthOf({ world }: Runtime): Promise<Health> {
  const reachable = await world.store.runs(1).then(
    () => true,
    (thrown: unknown) => {
      world.log.error({ err: thrown }, 'health: the database does not answer');
      return false;
    },
  );
  const sandbox = await world.sandbox.probe();
  if (sandbox.kind === 'missing') world.log.error({ why: sandbox.why }, 'health: there is no sandbox');
  const ok = reachable && sandbox.kind === 'ready';
  return {
    ok,
    detail: {
      database: reachable ? 'ok' : 'not reachable',
      sandbox: sandbox.kind === 'ready' ? 'ok' : 'missing',
      disk: world.diskSpace?.shortage() ?? 'ok',
    },
  };
}

/** The `/metrics` page for requests with the operator's token. If no token is configured, the page does not exist. */
export function metricsPageOf(
  { metricsToken: token }: Operator,
  { metrics }: Pick<World, 'metrics'>,
): Pick<WebOptions, 'metrics'> {
  return token && metrics ? { metrics: { token, exposition: () => metrics.exposition() } } : {};
}

/** A sentence if workers store what this App cannot read, and the other way round. */
export function apartFromWorkers(
  executors: readonly Pick<ExecutorRecord, 'role' | 'silentMs'>[],
  { artifacts }: Pick<Operator, 'artifacts'>,
): readonly string[] {
  if (artifacts || !executors.some(({ role, silentMs }) => role === 'worker' && silentMs !== null)) return [];
  return [
    'Workers take work, but ARTIFACTS_URL is not set here, so that patches and test results cannot be read by both. Set it to the same value as on the workers.',
  ];
}

/** Work that waits forever because no process executes it: a sentence for each kind, with what to do. */
export function unclaimedWork(
  executors: readonly Pick<ExecutorRecord, 'coders' | 'examinations' | 'silentMs'>[],
): readonly string[] {
  const active = executors.filter(({ silentMs }) => silentMs !== null);
  const nobody = (most: 'coders' | 'examinations') => active.every((one) => one[most] === 0);
  return [
    ...(nobody('coders')
      ? [
          'No process takes coders, so that runs wait: start `runoff worker`, or set CODERS_PER_WORKER above 0.',
        ]
      : []),
    ...(nobody('examinations')
      ? [
          'No process builds and tests candidates, so that runs wait: start `runoff worker`, or set EXAMINATIONS_PER_WORKER above 0.',
        ]
      : []),
  ];
}
