import { Fault, type LocalOrigin } from '../../core/model/index.ts';
import type { Settings } from '../../core/policy/index.ts';
import type { SandboxBackend } from '../../ports/index.ts';
import type { World } from '../world.ts';
import { fromLocal } from './from-local.ts';
import type { RunRequest } from './request.ts';
import { settle } from './settle.ts';

/** What the checks of a repository would get beyond the full sandbox without a network. */
export interface Exposure {
  readonly setup?: string;
  readonly build?: string;
  readonly test: string;
  /** `host` or `host:port` that some of them would reach. */
  readonly hosts: readonly string[];
  readonly backend: SandboxBackend;
  /** What the sandbox of this machine does not hold back, a sentence each. */
  readonly weaker: readonly string[];
  /** SHA-256 of all of the above: another command, host or sandbox is another one. */
  readonly digest: string;
}

/** Null where the full sandbox holds them, without a network: then they are no more than what candidates run unread. */
async function exposureOf(world: World, { checks, network }: Settings): Promise<Exposure | null> {
  const probe = await world.sandbox.probe();
  if (probe.kind === 'missing') return null;
  const { backend, weaker } = probe;
  const { setup, build, test = '' } = checks;
  const hosts = setup !== undefined || network.checks ? network.allow : [];
  if (weaker.length === 0 && hosts.length === 0) return null;
  const facts = {
    ...(setup === undefined ? {} : { setup }),
    ...(build === undefined ? {} : { build }),
    test,
    hosts,
    backend,
    weaker,
  };
  const { sha256 } = await world.artifacts.put(JSON.stringify({ ...facts, everywhere: network.checks }));
  return { ...facts, digest: sha256 };
}

/** A local run whose checks get more than the full sandbox gives starts only where somebody has agreed to these. Fault: CHECKS_UNTRUSTED. */
export async function requireTrust(
  world: World,
  { path }: LocalOrigin,
  { trustedChecks }: RunRequest,
  settings: Settings,
): Promise<void> {
  const exposure = await exposureOf(world, settings);
  if (exposure === null || exposure.digest === trustedChecks) return;
  throw new Fault('CHECKS_UNTRUSTED', `Nobody has agreed to run the checks of ${path} on this machine.`);
}

/**
 * What a local run would expose, for the person who starts it; null: nothing, or its admission refuses it and says why.
 * Settled as the admission settles it, which compares the digest.
 */
export async function exposureOfLocal(
  world: World,
  origin: LocalOrigin,
  request: Pick<RunRequest, 'runId' | 'base' | 'overrides'>,
): Promise<Exposure | null> {
  const probe = await world.sandbox.probe();
  if (probe.kind === 'missing') return null;
  if (probe.weaker.length === 0 && world.ceilings.networkAllow.length === 0) return null;
  const source = { kind: 'local', path: origin.path } as const;
  try {
    const { base, rules } = await fromLocal(world, origin, request);
    const settled = await settle(world, source, { base: base.sha, rules }, request);
    return settled.kind === 'refused' ? null : await exposureOf(world, settled.settings);
  } catch (thrown) {
    if (thrown instanceof Fault) return null;
    throw thrown;
  }
}
