import { randomBytes } from 'node:crypto';
import { execa } from 'execa';
import { type CommandEnd, HOST_PATH } from '../host-programs.ts';
import { startedAt } from '../processes.ts';

export const ENGINES = ['podman', 'docker'] as const;
export type EngineName = (typeof ENGINES)[number];

/** Where an engine finds its user's images and its server; nothing else of our environment is passed on to it. */
const PASSED_ON = [
  'HOME',
  'XDG_RUNTIME_DIR',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'CONTAINERS_CONF',
  'CONTAINERS_STORAGE_CONF',
  'DOCKER_CONFIG',
  'DOCKER_CONTEXT',
  'DOCKER_HOST',
];
/** Milliseconds for a command about images or containers. Our default; the first one after a boot is slow. */
const ENGINE_TIMEOUT_MS = 60_000;

/** An engine that responds. */
export interface ContainerEngine {
  readonly name: EngineName;
  readonly version: string;
  /** Whether it runs as the same unprivileged user as Runoff. */
  readonly rootless: boolean;
  readonly env: Readonly<Record<string, string>>;
  /** Runs a command of the engine to its end. Never rejects. */
  run(args: readonly string[]): Promise<CommandEnd>;
}

type EngineFound = ContainerEngine | { readonly why: string };

export async function findEngine(
  name: EngineName,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<EngineFound> {
  const env = { PATH: HOST_PATH, ...pickEnvironment(environment) };
  const run = (args: readonly string[]): Promise<CommandEnd> => runEngine(name, args, env);
  const asked =
    name === 'podman'
      ? '{{.Version.Version}} rootless={{.Host.Security.Rootless}}'
      : '{{.ServerVersion}} {{.SecurityOptions}}';
  const info = await run(['info', '--format', asked]);
  const version = /^\d+\.\d+\S*/.exec(info.stdout)?.[0];
  if (info.code !== 0 || version === undefined) {
    return { why: `${name} does not work: ${firstErrorLine(info.stderr)}` };
  }
  return { name, version, rootless: /rootless=true|name=rootless/.test(info.stdout), env, run };
}

const firstErrorLine = (text: string): string => text.trim().split('\n')[0] || 'it says nothing';

const pickEnvironment = (environment: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    PASSED_ON.flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

async function runEngine(
  name: EngineName,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<CommandEnd> {
  const end = await execa(name, args, {
    cwd: '/',
    env,
    extendEnv: false,
    stdin: 'ignore',
    reject: false,
    timeout: ENGINE_TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  const why = end instanceof Error ? (end.shortMessage ?? '') : '';
  return { code: end.exitCode ?? null, stdout: end.stdout ?? '', stderr: end.stderr || why };
}

/** Its value is the scratch folder, so that one Runoff does not touch the containers of another. */
export const CONTAINER_LABEL = 'runoff.sandbox';

/** `app` identifies this process: its id and start time. */
export const containerName = (app: string): string => `runoff-${app}-${randomBytes(6).toString('hex')}`;

/** Removes containers whose Runoff has ended: their watcher was killed with it, or the machine stopped. */
export async function removeLeftovers(engine: ContainerEngine, place: string): Promise<void> {
  const list = ['ps', '--all', '--filter', `label=${CONTAINER_LABEL}=${place}`, '--format', '{{.Names}}'];
  const { stdout } = await engine.run(list);
  const left = stdout.split('\n').filter((name) => {
    const [, pid, start] = /^runoff-(\d+)-(\d+)-[0-9a-f]+$/.exec(name.trim()) ?? [];
    return pid !== undefined && startedAt(Number(pid)) !== start;
  });
  if (left.length > 0) await engine.run(['rm', '--force', ...left]);
}
