import { Fault, type Sha, type Task } from '../../core/model/index.ts';
import {
  type BaseStep,
  commandFailure,
  failureLines,
  quotedCode,
  registryOutage,
} from '../../core/reports/index.ts';
import {
  absentContent,
  gitDependencyFiles,
  gitEnvironment,
  languagesOf,
  lfsPaths,
  type StopReason,
  type SubmoduleAccess,
  shownSetup,
  sourceRepositoriesNote,
  toolchainFiles,
  wantedTools,
  withArchiveHosts,
} from '../../core/settings/index.ts';
import {
  type BaseCheckout,
  NO_REGISTRIES,
  type ProvidedTools,
  type RepositorySource,
  type Toolchains,
  type Workspaces,
} from '../../ports/index.ts';
import { allowedHosts, readTextAt, setupLimits, sourceOf, type World } from '../context.ts';

export { applyPatchIn, baseDamaged, type RestorePorts, restoreTree } from './restore.ts';

/** What a base depends on. */
export type BaseTask = Pick<Task, 'base' | 'lent' | 'origin' | 'settings' | 'submodules'>;

/** Called for each step on the base commit; work continues when it resolves. */
export type OnBaseStep = (step: BaseStep) => Promise<void> | void;

type BasePorts = Pick<World, 'github' | 'registries' | 'toolchains' | 'workspaces'>;

interface BaseHow {
  readonly source?: RepositorySource;
  readonly signal: AbortSignal;
  /** Called as each step begins. */
  readonly onStep?: OnBaseStep;
}

/** The checkout of a base commit with its submodules and toolchains, before set-up. */
export interface BareBase {
  readonly base: BaseCheckout;
  readonly source: RepositorySource;
  /** Null if there are only those of the sandbox. */
  readonly tools: ProvidedTools | null;
}

/** A set-up command that failed on the base commit. */
interface FailedSetUp {
  /** For the person who must act. */
  readonly message: string;
  /** The end of its output. */
  readonly output: string;
  readonly stopped: StopReason | null;
  readonly refusedHosts: readonly string[];
}

/** Prepares the checkout of the task's base commit and runs `checks.setup` in it; later calls reuse the result. */
export async function prepareBase(world: BasePorts, task: BaseTask, how: BaseHow): Promise<BaseCheckout> {
  const installed = await setUpBase(world, task, await openBase(world, task, how), how);
  if (installed.kind === 'ready') return installed.base;
  throw new Fault('BASE_BROKEN', installed.failed.message);
}

export async function openBase(
  world: BasePorts,
  task: Omit<BaseTask, 'lent'>,
  how: BaseHow,
): Promise<BareBase> {
  const source = how.source ?? (await sourceOf(world, task));
  const { sha } = task.base;
  const read = (path: string) => readTextAt(world, source, sha, path);
  await how.onStep?.({ name: 'checkout' });
  const { setup } = task.settings.checks;
  const tools = await toolsAt(world, { source, sha, read, setup }, how.signal);
  const checkout = await world.workspaces.prepare(source, sha);
  const known = task.submodules === undefined ? {} : { known: task.submodules };
  const from = { source, access: submoduleAccess(world, task), ...known };
  const base = await world.workspaces.fetchSubmodules(checkout, from, how.signal);
  return { source, tools, base: withTools(base, tools) };
}

/**
 * Hosts that submodules may be fetched from: those of set-up, and the repository's own unless the operator closes the
 * network.
 */
export const submoduleAccess = (
  { registries }: Pick<BasePorts, 'registries'>,
  task: Pick<Task, 'settings'>,
): SubmoduleAccess => ({
  wanted: task.settings.checks.submodules,
  ownHost: registries !== undefined,
  hosts: allowedHosts(task),
});

/** Runs the configured set-up command, or reuses its earlier result. A failing command is a value. */
export async function setUpBase(
  world: BasePorts,
  task: BaseTask,
  bare: BareBase,
  how: BaseHow,
): Promise<
  | { readonly kind: 'ready'; readonly base: BaseCheckout; readonly output?: string }
  | { readonly kind: 'failed'; readonly failed: FailedSetUp }
> {
  const { setup } = task.settings.checks;
  if (task.lent !== undefined) return { kind: 'ready', base: await lentBase(world, task, bare, how) };
  if (!setup) return { kind: 'ready', base: bare.base };
  const { sha } = task.base;
  await how.onStep?.({ name: 'set-up', command: shownSetup(setup) });
  const egress = allowedHosts(task);
  const languages = languagesOf(await world.workspaces.listFiles(bare.source, sha), [setup]);
  const registries = (await world.registries?.of(setup, languages)) ?? NO_REGISTRIES;
  const env = { ...(await gitEnvironmentAt(world, bare.source, sha)), ...registries.env };
  const installed = await world.workspaces.install(
    bare.base,
    { command: setup, egress, registries: { ...registries, env }, limits: setupLimits(task) },
    how.signal,
  );
  if (installed.kind === 'ready') return installed;
  const { why, refusedHosts, tail: output } = installed;
  const hasNetwork = egress.length > 0 || registries.hosts.length > 0;
  const outage = registryOutage({ ...installed, hasNetwork });
  if (outage !== null)
    throw new Fault(
      'REGISTRY_UNAVAILABLE',
      `The set-up command ${quotedCode(shownSetup(setup))} could not get its packages: ${outage}.${outputText(output)}`,
    );
  // A missing tool is the likeliest cause, and one that a person can fix.
  const missing = [...(bare.tools?.missing ?? []), ...(await absentContentAt(world, bare.source, bare.base))];
  const failure = commandFailure({
    step: 'set-up',
    command: shownSetup(setup),
    how: why.replace(/^`[^`]*` (?:ended with |was )?|\.$/g, ''),
    stopped: installed.stopped,
    lines: failureLines(output),
    told: missing,
    remedy: refusedText(refusedHosts, output),
  });
  const message = [...missing, failure].join(' ');
  return {
    kind: 'failed',
    failed: { message, output, refusedHosts, stopped: installed.stopped },
  };
}

/** The base with the copy of the working tree's packages that the run's commands were tried with. */
async function lentBase(
  { workspaces }: Pick<BasePorts, 'workspaces'>,
  { lent, origin }: BaseTask,
  { base }: BareBase,
  { signal }: BaseHow,
): Promise<BaseCheckout> {
  if (lent === undefined || origin.kind !== 'local')
    throw new Fault('INTERNAL', 'Only a local repository has installed packages to lend.');
  const again = await workspaces.lend(base, { top: origin.path, known: lent, anyVersion: true }, signal);
  if (again.kind === 'lent') return again.base;
  throw new Fault(
    'BASE_BROKEN',
    `The copy of the packages of ${origin.path} that this run began with is gone, and it cannot be made again: ${again.why ?? 'they are no longer installed'}. Start the run again.`,
  );
}

/** Other possible causes; empty without output. */
function outputText(tail: string): string {
  const lines = failureLines(tail);
  return lines.length === 0 ? '' : ` Its output: ${lines.map(quotedCode).join(', ')}.`;
}

/** Settings that would allow the hosts that a set-up command was denied; null if there are none. */
function refusedText(hosts: readonly string[], output: string): string | null {
  if (hosts.length === 0) return null;
  const names = hosts.slice(0, 5).map((host) => host.replace(/:443$/, ''));
  const sources = sourceRepositoriesNote(output, names);
  const wanted = sources === null ? names : withArchiveHosts(names);
  return `It may not reach ${names.join(', ')}.${sources === null ? '' : ` ${sources}`} To allow that, add \`network: { allow: [${wanted.join(', ')}] }\` to .github/auto-dev.yml, and NETWORK_ALLOW=registries,${wanted.join(',')} to Runoff's own settings.`;
}

type Ports = Pick<World, 'workspaces'>;

async function textsAt(
  world: Ports,
  source: RepositorySource,
  sha: Sha,
  paths: readonly string[],
): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const path of paths) {
    const text = await readTextAt(world, source, sha, path);
    if (text !== null) texts[path] = text;
  }
  return texts;
}

/** Content that a commit only references and that is missing, one sentence for each cause. */
export async function absentContentAt(
  world: Ports,
  source: RepositorySource,
  { sha, submodules }: Pick<BaseCheckout, 'sha' | 'submodules'>,
): Promise<readonly string[]> {
  const paths = await world.workspaces.listFiles(source, sha);
  const texts = await textsAt(
    world,
    source,
    sha,
    ['.gitattributes'].filter((path) => paths.includes(path)),
  );
  const suspects = lfsPaths(texts['.gitattributes'] ?? '', paths);
  return absentContent(
    submodules?.absent ?? [],
    await textsAt(world, source, sha, suspects),
    source.kind === 'local',
  );
}

/** Environment in which git fetches a commit's dependencies over HTTPS. */
async function gitEnvironmentAt(
  world: Ports,
  source: RepositorySource,
  sha: Sha,
): Promise<Readonly<Record<string, string>>> {
  const paths = await world.workspaces.listFiles(source, sha);
  return gitEnvironment(Object.values(await textsAt(world, source, sha, gitDependencyFiles(paths))));
}

/** Dependencies of finding a repository's toolchains. */
interface ToolchainPorts {
  readonly workspaces: Pick<Workspaces, 'listFiles'>;
  /** Absent: only the sandbox's own tools are available. */
  readonly toolchains?: Toolchains;
}

interface Place {
  readonly source: RepositorySource;
  readonly sha: Sha;
  /** Reads a file of the commit; null if it does not exist or is unreadable. */
  readonly read: (path: string) => Promise<string | null>;
  /** The set-up command; absent: none. */
  readonly setup?: string | undefined;
}

/** The toolchains that a commit requires; null if none is available. */
export async function toolsAt(
  { workspaces, toolchains }: ToolchainPorts,
  { source, sha, read, setup }: Place,
  signal?: AbortSignal,
): Promise<ProvidedTools | null> {
  if (!toolchains) return null;
  const paths = await workspaces.listFiles(source, sha);
  const texts = new Map<string, string>();
  for (const file of toolchainFiles(paths)) {
    const text = await read(file);
    if (text !== null) texts.set(file, text);
  }
  return toolchains.provide(wantedTools(paths, texts, setup), signal);
}

/** A base whose areas have these toolchains, with their versions. */
export function withTools(base: BaseCheckout, provided: ProvidedTools | null): BaseCheckout {
  if (provided === null) return base;
  const { tools, found } = provided;
  const toolVersions = found.map(({ name, from }) => `${name} (${from})`);
  return {
    ...base,
    toolVersions,
    ...(tools.path.length === 0 && tools.services === undefined ? {} : { tools }),
  };
}
