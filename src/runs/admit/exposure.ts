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
import { requireCoders, requirePersonas } from '../contestants.ts';
import type { World } from '../context.ts';
import { commandsOf, detect, namedIn, originsOf } from './detected.ts';
import type { GatheredTask, Overrides, RefusedRun, RunRequest } from './request.ts';

/** What reading and resolving a repository's settings takes. */
export type SettingsPorts = Pick<
  World,
  'ceilings' | 'coders' | 'defaults' | 'gateway' | 'prompts' | 'workspaces'
>;

/** What the checks of a repository would get beyond the full sandbox without a network. */
export interface Exposure {
  readonly setup?: string;
  readonly build?: string;
  readonly test?: string;
  /** `host` or `host:port` that some of them would reach. */
  readonly hosts: readonly string[];
  readonly backend: SandboxBackend;
  /** What may be tried where these commands fail: nothing, where the settings name them all; what a model suggests, too. */
  readonly others: 'none' | 'tried' | 'suggested';
  /** What the sandbox of this machine does not hold back, a sentence each. */
  readonly weaker: readonly string[];
  /** SHA-256 of all of the above: another command, host or sandbox is another one. */
  readonly digest: string;
}

/** Nothing holds back on the machine itself: there only commands of the repository are run (docs/decisions/0083). */
export const mayBeSuggested = (backend: SandboxBackend): boolean => backend !== 'none';

/** Null where the full sandbox holds them, without a network: then they are no more than what candidates run unread. */
export async function exposureOf(
  world: Pick<World, 'artifacts' | 'sandbox'>,
  { checks, network }: Settings,
  named: readonly CommandName[] = [],
): Promise<Exposure | null> {
  const probe = await world.sandbox.probe();
  if (probe.kind === 'missing') return null;
  const { backend, weaker } = probe;
  const { setup, build, test } = checks;
  // Another set-up may be tried where the settings do not switch it off.
  const sets = setup !== undefined || !named.includes('setup');
  const hosts = sets || network.checks ? network.allow : [];
  if (weaker.length === 0 && hosts.length === 0) return null;
  const facts = {
    ...(setup === undefined ? {} : { setup }),
    ...(build === undefined ? {} : { build }),
    ...(test === undefined ? {} : { test }),
    hosts,
    backend,
    others: named.length === COMMAND_NAMES.length ? 'none' : mayBeSuggested(backend) ? 'suggested' : 'tried',
    weaker,
  } as const;
  const { sha256 } = await world.artifacts.put(JSON.stringify({ ...facts, everywhere: network.checks }));
  return { ...facts, digest: sha256 };
}

/** A local run whose checks get more than the full sandbox gives starts only where somebody has agreed to these. Fault: CHECKS_UNTRUSTED. */
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
 * What a local run would expose, for the person who starts it; null: nothing, or its admission refuses it and says why.
 * Settled as the admission settles it, which compares the digest.
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

/** The user's own repository: no permission to check, but a state that candidates can start from. */
export async function fromLocal(
  world: Pick<World, 'workspaces'>,
  origin: LocalOrigin,
  request: Pick<RunRequest, 'base'>,
): Promise<GatheredTask> {
  const found = await world.workspaces.describe(origin.path);
  if (found.empty) throw new Fault('REPOSITORY_EMPTY', `${origin.path} has no commit yet.`);
  if (found.dirty && !request.base) {
    throw new Fault(
      'REPOSITORY_DIRTY',
      `${origin.path} has uncommitted changes, which candidates would not see. Commit or stash them first.`,
    );
  }
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
  return { kind: 'gathered', base: { ref, sha }, rules: sha, comments: [], leftOut: [] };
}

interface ResolvedSettings {
  readonly kind: 'settled';
  /** As they will be used: overrides applied, lowered to the operator's ceilings, checks filled in. */
  readonly settings: Settings;
  readonly checks: NonNullable<RunRecord['checks']>;
  readonly lowered: readonly string[];
  readonly instructions?: NonNullable<Task['instructions']>;
}

/** The commits that a run is made from. */
interface Commits {
  /** What candidates start from. */
  readonly base: Sha;
  /**
   * Where settings and instructions are read. On GitHub the default branch, wherever a run starts: what stands on another
   * branch may be what a candidate wrote.
   */
  readonly rules: Sha;
}

/** Reads the settings that hold for a run, and proves before anything is spent that the run can be done with them. */
export async function resolveSettings(
  world: SettingsPorts,
  source: RepositorySource,
  at: Commits,
  request: Pick<RunRequest, 'overrides'>,
): Promise<ResolvedSettings | RefusedRun> {
  const read = await readSettings(world, source, at.rules);
  if (read.kind === 'invalid') {
    return {
      kind: 'refused',
      refusal: { kind: 'settings-invalid', file: SETTINGS_FILE, problems: read.problems },
    };
  }
  const { settings, lowered } = capSettings(applyOverrides(read.settings, request.overrides), world.ceilings);
  // Nobody would see what it waits for. On GitHub people do.
  if (source.kind === 'local' && request.overrides.ask === false && settings.approval === 'plan') {
    return { kind: 'refused', refusal: { kind: 'nobody-approves', file: SETTINGS_FILE } };
  }
  requirePersonas(world, settings.critics.agents);
  await requireCoders(world, settings);
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

/** The settings of a repository with the commands that a run would use, and what else was found with them. */
export async function checksAt(
  world: Pick<World, 'ceilings' | 'defaults' | 'workspaces'>,
  source: RepositorySource,
  sha: Sha,
): Promise<{
  readonly settings: Settings;
  readonly from: CommandFiles;
  readonly named: readonly CommandName[];
  /** Containers that the repository's CI starts beside the tests. */
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

/** In the order of preference: where both exist, one is mostly a link to the other. */
const INSTRUCTION_FILES = ['AGENTS.md', 'CLAUDE.md'];
/** Characters; Codex reads as many bytes of AGENTS.md (its `project_doc_max_bytes`). */
const MAX_INSTRUCTION_CHARS = 32_768;

/** The repository's own words to agents: what a candidate writes there is not read. */
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

function applyOverrides(settings: Settings, overrides: Overrides): Settings {
  const { candidates, coders, evaluator, timeoutSeconds, budgetUsd, ask } = overrides;
  const count = candidates ?? (coders ? Math.max(coders.length, 1) : settings.candidates);
  return {
    ...settings,
    candidates: count,
    coders: coders ?? settings.coders,
    evaluator: evaluator ?? settings.evaluator,
    answer: { ...settings.answer, ...(ask === undefined ? {} : { ask }) },
    timeout: { ...settings.timeout, ...(timeoutSeconds ? { candidate: timeoutSeconds } : {}) },
    budget: budgetUsd
      ? { ...settings.budget, run: budgetUsd, candidate: Math.min(settings.budget.candidate, budgetUsd) }
      : settings.budget,
  };
}
