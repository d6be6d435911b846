import { Fault, type LocalOrigin, SETTINGS_FILE, type Sha, type Task } from '../../core/model/index.ts';
import type { CommandFiles } from '../../core/reports/index.ts';
import {
  type CiService,
  COMMAND_NAMES,
  type CommandName,
  capSettings,
  parseSettings,
  readSettingsText,
  type Settings,
} from '../../core/settings/index.ts';
import type { RepositorySource, RunRecord, SandboxBackend } from '../../ports/index.ts';
import { leavesFieldOpen, requireCoders, requireNames, requirePersonas } from '../contestants.ts';
import type { World } from '../context.ts';
import { commandsOf, detect, namedIn, originsOf } from './detected.ts';
import { applyOverrides, withFullNames } from './overrides.ts';
import type { GatheredTask, RefusedRun, RunRequest } from './request.ts';

/** Dependencies of reading and resolving a repository's settings. */
export type SettingsPorts = Pick<
  World,
  'ceilings' | 'coders' | 'defaults' | 'gateway' | 'prompts' | 'workspaces'
>;

/** What the checks of a repository would get beyond the full sandbox without a network. */
export interface Exposure {
  readonly setup?: string;
  readonly build?: string;
  readonly types?: string;
  readonly test?: string;
  /** Hosts that some of them may reach, as `host` or `host:port`. */
  readonly hosts: readonly string[];
  readonly backend: SandboxBackend;
  /**
   * Which other commands may be tried if these fail: none if the settings name them all; also ones suggested by a
   * model.
   */
  readonly others: 'none' | 'tried' | 'suggested';
  /** What the sandbox on this machine does not protect against, one sentence each. */
  readonly weaker: readonly string[];
  /** SHA-256 of all of the above, so that it changes with any command, host or sandbox. */
  readonly digest: string;
}

/** Without a sandbox, only the repository's own commands are run (docs/decisions/0083). */
export const mayBeSuggested = (backend: SandboxBackend): boolean => backend !== 'none';

/**
 * Null if the full sandbox contains the checks, without a network: then they can do no more than candidates, which run
 * unread.
 */
export async function exposureOf(
  world: Pick<World, 'artifacts' | 'sandbox'>,
  { checks, network }: Settings,
  named: readonly CommandName[] = [],
): Promise<Exposure | null> {
  const probe = await world.sandbox.probe();
  if (probe.kind === 'missing') return null;
  const { backend, weaker } = probe;
  const { setup, build, types, test } = checks;
  // Other set-up commands may be tried unless the settings disable set-up.
  const sets = setup !== undefined || !named.includes('setup');
  const hosts = sets || network.checks ? network.allow : [];
  if (weaker.length === 0 && hosts.length === 0) return null;
  const facts = {
    ...(setup === undefined ? {} : { setup }),
    ...(build === undefined ? {} : { build }),
    ...(types ? { types } : {}),
    ...(test === undefined ? {} : { test }),
    hosts,
    backend,
    others: named.length === COMMAND_NAMES.length ? 'none' : mayBeSuggested(backend) ? 'suggested' : 'tried',
    weaker,
  } as const;
  const { sha256 } = await world.artifacts.put(JSON.stringify({ ...facts, everywhere: network.checks }));
  return { ...facts, digest: sha256 };
}

/** Requires consent for a local run whose checks get more than the full sandbox allows. Fault: CHECKS_UNTRUSTED. */
export async function requireTrust(
  world: Pick<World, 'artifacts' | 'sandbox'>,
  { path }: LocalOrigin,
  { trustedChecks }: RunRequest,
  { settings, checks }: Pick<ResolvedSettings, 'checks' | 'settings'>,
): Promise<void> {
  const exposure = await exposureOf(world, settings, checks.named);
  if (exposure === null || exposure.digest === trustedChecks) return;
  throw new Fault('CHECKS_UNTRUSTED', `No one has allowed the checks of ${path} to run on this machine.`);
}

/**
 * The exposure of a local run, for the person who starts it; null if there is none or admission will refuse the run.
 * Resolved exactly as in admission, which compares the digest.
 */
export async function exposureOfLocal(
  world: SettingsPorts & Pick<World, 'artifacts' | 'sandbox'>,
  origin: LocalOrigin,
  request: Pick<RunRequest, 'runId' | 'base' | 'overrides'>,
): Promise<Exposure | null> {
  const probe = await world.sandbox.probe();
  if (probe.kind === 'missing') return null;
  if (probe.weaker.length === 0 && world.ceilings.networkAllow.length === 0) return null;
  const source = { kind: 'local', path: origin.path } as const;
  try {
    const { base, rules } = await fromLocal(world, origin, request);
    const settled = await resolveSettings(world, source, { base: base.sha, rules }, request);
    return settled.kind === 'refused'
      ? null
      : await exposureOf(world, settled.settings, settled.checks.named);
  } catch (thrown) {
    if (thrown instanceof Fault) return null;
    throw thrown;
  }
}

/**
 * Prepares a run on the user's own repository: needs no permission check, but a state that candidates can start from.
 */
export async function fromLocal(
  world: Pick<World, 'workspaces'>,
  origin: LocalOrigin,
  request: Pick<RunRequest, 'base' | 'uncommitted'>,
): Promise<GatheredTask> {
  const found = await world.workspaces.describe(origin.path);
  if (found.empty) throw new Fault('REPOSITORY_EMPTY', `${origin.path} has no commit yet.`);
  if (found.unwritable) {
    throw new Fault(
      'REPOSITORY_READ_ONLY',
      `${origin.path} cannot be written, so Runoff could not create branches in it: this user may not write ${found.unwritable}.`,
    );
  }
  const ref = request.base ?? found.branch ?? 'HEAD';
  const sha = await world.workspaces.resolve({ kind: 'local', path: found.top }, ref);
  if (!sha)
    throw new Fault(
      'BASE_MISSING',
      `${origin.path} has no branch, tag or commit named ${JSON.stringify(ref)}.`,
    );
  const base = request.uncommitted
    ? { ref: found.branch ?? 'HEAD', sha, uncommitted: true as const }
    : { ref, sha };
  return { kind: 'gathered', base, rules: sha, comments: [], leftOut: [] };
}

/**
 * Faults if a base, agent, model or prompt variant that a person named is not there, or candidates cannot start from the
 * repository: neither should leave a failed run.
 */
export async function requireNamed(
  world: Pick<World, 'coders' | 'defaults' | 'gateway' | 'prompts' | 'workspaces'>,
  origin: LocalOrigin,
  { base, overrides }: Pick<RunRequest, 'base' | 'overrides'>,
): Promise<void> {
  await fromLocal(world, origin, base === undefined ? {} : { base });
  const coders = withFullNames(overrides.coders ?? [], world.defaults.providers);
  requireNames(world, { coders, prompts: overrides.prompts ?? [] });
}

interface ResolvedSettings {
  readonly kind: 'settled';
  /** Effective settings: overrides applied, lowered to the operator's ceilings, checks filled in. */
  readonly settings: Settings;
  readonly checks: NonNullable<RunRecord['checks']>;
  readonly lowered: readonly string[];
  readonly instructions?: NonNullable<Task['instructions']>;
}

/** The commits that a run is based on. */
interface Commits {
  /** Commit that candidates start from. */
  readonly base: Sha;
  /**
   * Commit from which settings and instructions are read. On GitHub always on the default branch: other branches may
   * contain what a candidate wrote.
   */
  readonly rules: Sha;
}

/**
 * Reads the run's settings and verifies, before anything is spent, that the run is possible with them. `chooseField`
 * names the contestants that the settings leave open; without it nothing is verified about these.
 */
export async function resolveSettings(
  world: SettingsPorts,
  source: RepositorySource,
  at: Commits,
  request: Pick<RunRequest, 'overrides'>,
  chooseField?: (settings: Settings) => Promise<Settings>,
): Promise<ResolvedSettings | RefusedRun> {
  const read = await readSettings(world, source, at.rules);
  if (read.kind === 'invalid') {
    return {
      kind: 'refused',
      refusal: { kind: 'settings-invalid', file: SETTINGS_FILE, problems: read.problems },
    };
  }
  const asked = applyOverrides(read.settings, request.overrides, world.defaults.providers);
  const capped = capSettings(asked, world.ceilings);
  const { lowered } = capped;
  const isOpen = leavesFieldOpen(capped.settings);
  const settings = isOpen && chooseField ? await chooseField(capped.settings) : capped.settings;
  // Without questions, a local run cannot ask for the approval. On GitHub people see it.
  if (source.kind === 'local' && request.overrides.ask === false && settings.approval === 'plan') {
    return { kind: 'refused', refusal: { kind: 'nobody-approves', file: SETTINGS_FILE } };
  }
  requirePersonas(world, settings.critics.agents);
  if (!isOpen || chooseField) await requireCoders(world, settings);
  const detected = await detect(world, source, at.base);
  const commands = commandsOf(settings, detected);
  const { setup: _setup, build: _build, test: _test, ...others } = settings.checks;
  const checks = { ...others, ...commands };
  const instructions =
    settings.instructions === 'read' ? await readInstructions(world, source, at.rules) : undefined;
  return {
    kind: 'settled',
    settings: { ...settings, checks },
    checks: { ...commands, from: originsOf(settings, detected), named: namedIn(settings) },
    lowered,
    ...(instructions ? { instructions } : {}),
  };
}

/** The settings of a repository with the commands that a run would use, and the other detection results. */
export async function checksAt(
  world: Pick<World, 'ceilings' | 'defaults' | 'workspaces'>,
  source: RepositorySource,
  sha: Sha,
): Promise<{
  readonly settings: Settings;
  readonly from: CommandFiles;
  readonly named: readonly CommandName[];
  /** Containers that the repository's CI starts for the tests. */
  readonly services: readonly CiService[];
}> {
  const read = await readSettings(world, source, sha);
  if (read.kind === 'invalid') throw new Fault('SETTINGS_INVALID', read.problems.join(' '));
  const { settings } = capSettings(read.settings, world.ceilings);
  const { setup: _setup, build: _build, ...others } = settings.checks;
  const detected = await detect(world, source, sha);
  const checks = { ...others, ...commandsOf(settings, detected) };
  return {
    settings: { ...settings, checks },
    from: originsOf(settings, detected),
    named: namedIn(settings),
    services: settings.checks.test === undefined ? detected.services : [],
  };
}

/** In order of preference: where both exist, one is usually a link to the other. */
const INSTRUCTION_FILES = ['AGENTS.md', 'CLAUDE.md'];
/** In characters; Codex reads as many bytes of AGENTS.md (its `project_doc_max_bytes`). */
const MAX_INSTRUCTION_CHARS = 32_768;

/** The repository's instructions to agents, from the base: a candidate's changes to them are not read. */
async function readInstructions(
  world: Pick<World, 'workspaces'>,
  source: RepositorySource,
  sha: Sha,
): Promise<Task['instructions']> {
  for (const path of INSTRUCTION_FILES) {
    const text = await world.workspaces.readFile(source, sha, path);
    if (text?.trim()) return { path, text: text.slice(0, MAX_INSTRUCTION_CHARS) };
  }
  return undefined;
}

type ReadSettings = { kind: 'ok'; settings: Settings } | { kind: 'invalid'; problems: readonly string[] };

async function readSettings(
  world: Pick<World, 'defaults' | 'workspaces'>,
  source: RepositorySource,
  sha: Sha,
): Promise<ReadSettings> {
  const text = await world.workspaces.readFile(source, sha, SETTINGS_FILE);
  const file = text === null ? null : readSettingsText(text, SETTINGS_FILE);
  if (file?.kind === 'invalid') return { kind: 'invalid', problems: file.problems };
  const parsed = parseSettings(file?.value ?? {}, world.defaults);
  if (parsed.kind === 'ok') return { kind: 'ok', settings: parsed.settings };
  const problems = parsed.problems.map((p) => `${file?.locate(p.path) ?? ''}${p.message}`);
  return { kind: 'invalid', problems };
}
