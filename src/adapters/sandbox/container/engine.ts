import { randomBytes } from 'node:crypto';
import { execa } from 'execa';
import { type CommandEnd, HOST_PATH } from '../host-programs.ts';
import { startedAt } from '../processes.ts';

export const ENGINES = ['podman', 'docker'] as const;
export type EngineName = (typeof ENGINES)[number];

/** Where an engine finds its user's images and its server; nothing else of our environment reaches it. */
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
/** Milliseconds for a command about images or containers, our default; the first after a start of the machine is slow. */
const ENGINE_TIMEOUT_MS = 60_000;

/** An engine that answers. */
export interface ContainerEngine {
  readonly name: EngineName;
  readonly version: string;
  /** It runs as the same ordinary user as Runoff. */
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

/** Its value names the scratch folder, so that one Runoff leaves the containers of another alone. */
export const CONTAINER_LABEL = 'runoff.sandbox';

/** `app` is this process: its id and when it started. */
export const containerName = (app: string): string => `runoff-${app}-${randomBytes(6).toString('hex')}`;

/** Removes the containers whose Runoff is gone: their watcher was killed with it, or the machine stopped. */
export async function removeLeftovers(engine: ContainerEngine, place: string): Promise<void> {
  const list = ['ps', '--all', '--filter', `label=${CONTAINER_LABEL}=${place}`, '--format', '{{.Names}}'];
  const { stdout } = await engine.run(list);
  const left = stdout.split('\n').filter((name) => {
    const [, pid, start] = /^runoff-(\d+)-(\d+)-[0-9a-f]+$/.exec(name.trim()) ?? [];
    return pid !== undefined && startedAt(Number(pid)) !== start;
  });
  if (left.length > 0) await engine.run(['rm', '--force', ...left]);
}
