import { chown, mkdir } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { installCoderPrograms, npmInstall } from '../adapters/coders/index.ts';
import { copyPostgres } from '../adapters/database/index.ts';
import { installAssertionLock, installProbes } from '../adapters/probes/index.ts';
import { openRegistries } from '../adapters/registries/index.ts';
import {
  discardFolder,
  type InstallPackage,
  maxTasks,
  type Owner,
  openBubblewrap,
  openContainer,
  openToolchains,
  openUnsandboxed,
  ownFolder,
  prepareToolchain,
  removeOrphans,
  type ToolchainsOptions,
} from '../adapters/sandbox/index.ts';
import { installSyntaxCheck } from '../adapters/syntax/index.ts';
import { Fault, programKilled, retryLost } from '../core/model/index.ts';
import type { Operator, SandboxChoice } from '../core/settings/index.ts';
import {
  DEFAULT_LIMITS,
  type ExecResult,
  type ExecSpec,
  type Limits,
  type Registries,
  type Sandbox,
  type Toolchains,
  type WorkArea,
} from '../ports/index.ts';
import { agentsFolder, dataPaths } from './data-folder.ts';
import type { OpenLog } from './instrumentation.ts';

/** The dedicated user of all sandboxes if we are root; null if we are an unprivileged user. */
export const ownerOf = (operator: Operator): Owner | null =>
  process.getuid?.() === 0 ? { uid: operator.sandboxUid, gid: operator.sandboxUid } : null;

/** Opens and checks the sandbox before anything else: without one, nothing is executed (I10). */
export async function openSandbox(operator: Operator): Promise<Sandbox> {
  const paths = dataPaths(operator.data);
  const owner = ownerOf(operator);
  for (const folder of foldersOfProcesses(operator)) await removeOrphans(folder);
  await removeOrphans(agentsFolder(operator), KINDS_OF_AGENTS);
  const toolchain = await prepareToolchain({ dir: paths.toolchain, owner });
  const programs = join(toolchain.dir, 'coders');
  for (const folder of [toolchain.dir, programs]) await removeOrphans(folder);
  await installCoderPrograms(programs);
  await installSyntaxCheck(toolchain.dir);
  await installProbes(toolchain.dir);
  await installAssertionLock(toolchain.dir);
  const parts = { toolchain: toolchain.dir, owner, scratch: paths.scratch };
  const limits = machineLimits({ memory: machineMemory(), tasks: maxTasks() });
  const memoryBytes = operator.sandbox.memory ?? limits.memoryBytes;
  const sandbox = withLimitsOf(backend(operator.sandbox, parts), { ...limits, memoryBytes });
  const probe = await sandbox.probe();
  if (probe.kind === 'missing')
    throw new Fault('SANDBOX_UNAVAILABLE', `${probe.why} To fix it: ${probe.remedy}`);
  return sandbox;
}

/** Share of the machine's memory for one sandbox: several commands and coders run at a time. Our default. */
const MEMORY_SHARE = 1 / 4;
/** Maximum of that share, bytes: what a hosted runner of CI has. */
const MAX_DEFAULT_MEMORY = 16 * 2 ** 30;
/** Share of the processes and threads that there may be at the same time: eight sandboxes use them up. Our default. */
const TASKS_SHARE = 1 / 8;
/**
 * Maximum of that share. Suites start a Node process for each of many tests, with about a dozen threads, and Node waits
 * forever for those that it cannot start: the suite of execa has more than 700 at a time. Our default.
 */
const MAX_DEFAULT_PROCESSES = 2_048;

/**
 * The limits of one sandbox on a machine with so many bytes of memory, on which so many processes and threads may exist,
 * if the operator says nothing.
 */
export const machineLimits = (machine: {
  readonly memory: number;
  readonly tasks: number;
}): Pick<Limits, 'memoryBytes' | 'processes'> => ({
  memoryBytes: Math.max(
    DEFAULT_LIMITS.memoryBytes,
    Math.min(Math.floor(machine.memory * MEMORY_SHARE), MAX_DEFAULT_MEMORY),
  ),
  processes: Math.max(
    DEFAULT_LIMITS.processes,
    Math.min(Math.floor(machine.tasks * TASKS_SHARE), MAX_DEFAULT_PROCESSES),
  ),
});

/** Bytes of memory that this process may use with all that it starts: of the machine, or of its control group. */
const machineMemory = (): number => Math.min(totalmem(), process.constrainedMemory() || totalmem());

/** The same sandbox, in which each command has these limits, or higher ones of its own. */
export const withLimitsOf = (
  sandbox: Sandbox,
  { memoryBytes, processes }: Pick<Limits, 'memoryBytes' | 'processes'>,
): Sandbox => ({
  ...sandbox,
  exec: (spec) =>
    sandbox.exec({
      ...spec,
      limits: {
        ...spec.limits,
        memoryBytes: Math.max(spec.limits.memoryBytes, memoryBytes),
        processes: Math.max(spec.limits.processes, processes),
      },
    }),
});

/**
 * The same sandbox. `close` ends the commands that still run in it, and resolves when no process of them is left; it
 * takes at most ten seconds, unless the kernel takes longer to end killed ones. Nothing is started in it afterwards.
 */
export function closableSandbox(sandbox: Sandbox): { readonly sandbox: Sandbox; close(): Promise<void> } {
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  return {
    sandbox: {
      ...sandbox,
      exec(spec) {
        const signals = [closing.signal, ...(spec.signal ? [spec.signal] : [])];
        const result = sandbox.exec({ ...spec, signal: AbortSignal.any(signals) });
        running.add(result);
        // Whoever waits for the result handles its rejection.
        void result.catch(() => undefined).finally(() => running.delete(result));
        return result;
      },
    },
    async close() {
      closing.abort();
      await Promise.allSettled(running);
    },
  };
}

/** Kinds of folders that an installation of an agent makes. The operator names their parent, so it may hold other files. */
const KINDS_OF_AGENTS = ['agent', 'removed'];

/** Parent folders of per-process folders, which are garbage after their process was killed. */
function foldersOfProcesses(operator: Operator): readonly string[] {
  const { scratch, toolchain } = dataPaths(operator.data);
  const parts = ['tmp', 'egress', 'containers', 'copies', 'etc', 'container-files'].map((name) =>
    join(scratch, name),
  );
  return [scratch, ...parts, toolchain, lentIn(toolchain)];
}

const lentIn = (toolchain: string): string => join(toolchain, 'lent');

function backend(
  choice: SandboxChoice,
  parts: { readonly toolchain: string; readonly owner: Owner | null; readonly scratch: string },
): Sandbox {
  switch (choice.backend) {
    case 'bubblewrap':
      return openBubblewrap({ ...parts, allowWeaker: choice.allowWeaker });
    case 'container': {
      const { engine, image = '' } = choice;
      return openContainer({ ...parts, image, ...(engine ? { engine } : {}) });
    }
    case 'none':
      return openUnsandboxed(parts);
  }
}

/** For a process that executes nothing: reading runs requires neither a sandbox nor its tools. */
export const NO_SANDBOX: Sandbox = {
  probe: async () => ({
    kind: 'missing',
    why: 'This command opened no sandbox.',
    remedy: '`runoff doctor` tries it.',
  }),
  exec: async () => {
    throw new Fault('SANDBOX_UNAVAILABLE', 'This command opened no sandbox: it only reads.');
  },
};

/** Executes a command in an empty area, which is removed afterwards; for `runoff doctor`. */
export async function tryInSandbox(
  operator: Operator,
  sandbox: Sandbox,
  command: Pick<ExecSpec, 'argv' | 'env' | 'binds'> & Pick<WorkArea, 'tools'> & { readonly wallMs: number },
): Promise<ExecResult> {
  const owner = ownerOf(operator);
  const root = ownFolder(dataPaths(operator.data).scratch, 'try');
  const [lower = '', upper = '', work = '', merged = '', home = ''] = await Promise.all(
    ['lower', 'upper', 'work', 'merged', 'home'].map(async (name) => {
      const folder = join(root, name);
      await mkdir(folder, { recursive: true, mode: 0o755 });
      if (owner) await chown(folder, owner.uid, owner.gid);
      return folder;
    }),
  );
  const { wallMs, tools, ...given } = command;
  try {
    const area = { id: 'try', lowers: [lower], upper, work, merged, home, ...(tools ? { tools } : {}) };
    return await sandbox.exec({ ...given, area, limits: { ...DEFAULT_LIMITS, wallMs } });
  } finally {
    await discardFolder(root);
  }
}

/** Time limit in milliseconds for a sandbox program to print its version. Our default. */
const ASK_MS = 20_000;
/** Time limit in milliseconds for npm to install one package. Our default. */
const INSTALL_MS = 5 * 60_000;

/** The toolchains that runs of this process may use. Nothing is searched before the first run requires it. */
export const toolchainsOf = (operator: Operator, sandbox: Sandbox, log: Pick<OpenLog, 'warn'>): Toolchains =>
  openToolchains({
    dir: lentIn(dataPaths(operator.data).toolchain),
    owner: ownerOf(operator),
    host: operator.sandbox.backend !== 'container',
    environment: process.env,
    nodeVersion: process.versions.node,
    install,
    log,
    postgres: postgresIn(join(dataPaths(operator.data).toolchain, 'postgres')),
    async ask(argv, tools) {
      const command = { argv, wallMs: ASK_MS, ...(tools ? { tools } : {}) };
      const end = await retryLost(
        sleep,
        () => tryInSandbox(operator, sandbox, command),
        ({ exitCode, stopped }) => exitCode === null && stopped === null,
      );
      // It is unknown whether the program exists: a run that waits tries again.
      if (end.exitCode === null)
        throw programKilled(`${argv[0]} in a sandbox`, { kind: 'lost', how: endOf(end) });
      if (end.exitCode !== 0) return null;
      // Java prints its version to standard error.
      return `${end.stdout.trim() || end.stderr.trim()}`.split('\n')[0] ?? '';
    },
  });

/** One copy of the embedded Postgres for all tests of this process, made on first use. */
function postgresIn(dir: string): NonNullable<ToolchainsOptions['postgres']> {
  const copies = new Map<string, ReturnType<typeof copyPostgres>>();
  return () => {
    const copy = copies.get(dir) ?? copyPostgres(dir);
    copies.set(dir, copy);
    copy.catch(() => copies.delete(dir));
    return copy;
  };
}

const endOf = ({ stopped }: ExecResult): string =>
  stopped === null ? 'was killed' : `had to be stopped (${stopped}) while it said its version`;

/** The registries of this machine, unless the operator hides them from set-up. */
export const registriesOf = (operator: Operator, log: OpenLog): { readonly registries?: Registries } =>
  operator.registries
    ? {
        registries: openRegistries({
          log,
          onSecrets: log.hide,
          newFolder: () => ownFolder(dataPaths(operator.data).scratch, 'registries'),
        }),
      }
    : {};

const install: InstallPackage = async (folder, spec, signal) => {
  const end = await npmInstall({
    folder,
    spec,
    limitMs: INSTALL_MS,
    environment: process.env,
    onLine: () => undefined,
    signal,
  });
  if (end.kind === 'absent') throw new Fault('AGENT_INSTALL_FAILED', end.why);
};
