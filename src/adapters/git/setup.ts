import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault, type Patience, SETUP_PATIENCE, showsKill, signsOfWork } from '../../core/model/index.ts';
import { elapsed, howEnded } from '../../core/reports/index.ts';
import { shownSetup, withNodeHeaders } from '../../core/settings/index.ts';
import {
  type BaseCheckout,
  type ExecResult,
  NO_REGISTRIES,
  type Sandbox,
  type WorkArea,
  type Workspaces,
} from '../../ports/index.ts';
import { type Areas, SETUP_AREA } from './areas.ts';
import { type Bases, damagedCheckout } from './bases.ts';
import type { Collector } from './collect.ts';
import { isWhole } from './damage.ts';
import type { SetupTraces } from './diff-trees.ts';
import { abortError } from './faults.ts';
import { keyOf, type Layout } from './layout.ts';
import { openLending } from './lent-packages.ts';
import { type Locks, openKeyedQueue, openSharedWork } from './locks.ts';
import type { Mirrors } from './mirrors.ts';
import {
  cleanHome,
  fingerprintLayer,
  keepLayer,
  layeredBase,
  openSetupCache,
  type Place,
} from './setup-cache.ts';
import { rootsOf } from './setup-inputs.ts';
import { type FileOwner, isFull } from './trees.ts';

type Install = Workspaces['install'];
type Setup = Parameters<Install>[1];
type Installed = Awaited<ReturnType<Install>>;
/**
 * `signal`: a signal that Runoff did not send ended the command. `shown`: its output says that a program inside was
 * killed.
 */
type InstallAttempt = Installed & { readonly killed?: 'signal' | 'shown' };

/**
 * Milliseconds before a setup is repeated in a new area because the machine may have killed it. Our defaults. A command
 * can print that something was killed, so that is repeated once.
 */
const KILL_WAITS_MS = { signal: [500, 2_000], shown: [2_000] } as const;

/** Characters that are kept of the end of a failed setup's output: how npm is called takes 5,000 alone. Our default. */
const TAIL = 32_000;

interface SetupLayers {
  install: Install;
  lend: Workspaces['lend'];
  /** Whether the layers of a base are as setup left them. */
  areWhole(base: BaseCheckout): Promise<boolean>;
  /** Changes that setup made in a base with a layer; null if it has none. */
  traces(base: BaseCheckout): Promise<SetupTraces | null>;
}

interface SetupParts {
  readonly layout: Layout;
  readonly locks: Locks;
  readonly mirrors: Mirrors;
  readonly areas: Areas;
  readonly bases: Bases;
  readonly collector: Collector;
  readonly sandbox: Sandbox;
  readonly owner: FileOwner;
  readonly onDamage: (path: string, why: string) => void;
  /** Default: `SETUP_PATIENCE`. */
  readonly patience?: Patience;
}

/** One call of `install` that found no existing layer. */
interface InstallJob {
  readonly base: BaseCheckout;
  readonly setup: Setup;
  readonly area: WorkArea;
  readonly signal: AbortSignal | undefined;
}

export function openSetup(parts: SetupParts): SetupLayers {
  const { layout, locks, areas, sandbox } = parts;
  const shared = openSharedWork<Installed>();
  const queued = openKeyedQueue();
  const cache = openSetupCache(parts);

  async function installIn(job: InstallJob): Promise<InstallAttempt> {
    const { base, setup, area, signal } = job;
    const place = await cache.placeFor(base, setup.command, area, signal);
    if (place.shared === null) return run(job, place);
    // Other commits with the same inputs wait for this install and then find its layer.
    const turn = `${base.repositoryKey}/${place.shared}`;
    return queued(
      turn,
      async () => ready(base, await cache.adopt(base, setup.command, place)) ?? run(job, place),
      signal,
    );
  }

  async function run(job: InstallJob, place: Place): Promise<InstallAttempt> {
    const { base, setup, area, signal } = job;
    const { registries = NO_REGISTRIES } = setup;
    const result = await sandbox.exec({
      area,
      argv: ['sh', '-c', withNodeHeaders(setup.command)],
      env: registries.env,
      files: registries.files,
      egress: setup.egress,
      registries: registries.hosts,
      logins: registries.logins,
      binds: registries.folders,
      ...signsOfWork(setup.limits, parts.patience ?? SETUP_PATIENCE),
      ...(signal ? { signal } : {}),
    });
    if (result.stopped === 'cancelled') throw abortError();
    const failed = failure(setup.command, result);
    if (failed !== null) {
      await requireMachine(job);
      return failed;
    }
    const wrote = await parts.collector.traces(base, area, await parts.bases.facts(base), signal);
    await cleanHome(area.home, parts.owner);
    const roots = place.shared === null ? null : rootsOf(wrote, place.tracked, place);
    const id = roots === null || place.shared === null ? place.own : place.shared;
    const excess = await keepLayer(layout.layer(base.repositoryKey, id), area, wrote, roots);
    if (excess !== null) return failedSetup(setup.command, `left too much behind. ${excess.message}`, result);
    if (id !== place.own) await cache.point(base, setup.command, id);
    return { ...withLayer(base, layout.layer(base.repositoryKey, id)), output: tailOf(result) };
  }

  /** Rejects if a set-up may have failed for lack of space, or because the checkout has lost a file meanwhile. */
  async function requireMachine({ base, setup }: InstallJob): Promise<void> {
    if (await isFull(layout.areas)) {
      throw new Fault(
        'DISK_FULL',
        `There was no space left while ${shownSetup(setup.command).slice(0, 120)} ran.`,
      );
    }
    if (!(await parts.bases.isWhole(base))) throw damagedCheckout();
  }

  async function find(base: BaseCheckout, setup: Setup, signal: AbortSignal | undefined): Promise<Installed> {
    const found = ready(base, await cache.find(base, setup.command));
    if (found) return found;
    const waits = { signal: [...KILL_WAITS_MS.signal], shown: [...KILL_WAITS_MS.shown] };
    for (;;) {
      const area = await areas.open(base, `${SETUP_AREA}${randomBytes(8).toString('hex')}`);
      try {
        const installed = await installIn({ base, setup, area, signal });
        const wait = installed.killed && waits[installed.killed].shift();
        if (wait === undefined) return installed;
        await sleep(wait, undefined, signal ? { signal } : {}).catch(() => {
          throw abortError();
        });
      } finally {
        await areas.remove(area.id);
      }
    }
  }

  return {
    install(base, setup, signal) {
      const submodules = base.submodules?.id ?? '';
      const wanted = [base.repositoryKey, base.sha, submodules, keyOf(setup.command)].join('/');
      return shared(wanted, () => locks.using(base.repositoryKey, () => find(base, setup, signal)), signal);
    },

    lend: openLending(parts),

    async areWhole({ repositoryKey, layers }) {
      const ours = layers
        .map((files) => dirname(files))
        .filter((one) => dirname(one) === layout.layers(repositoryKey));
      const whole = await Promise.all(ours.map((layer) => isWhole(layer, () => fingerprintLayer(layer))));
      return whole.every(Boolean);
    },

    async traces(base) {
      const [top] = base.layers;
      if (top === undefined) return null;
      const folder = join(top, '..');
      return { brought: await readFile(join(folder, 'brought')), raw: await readFile(join(folder, 'raw')) };
    },
  };
}

const ready = (base: BaseCheckout, layer: string | null): Installed | null =>
  layer === null ? null : withLayer(base, layer);

const withLayer = (base: BaseCheckout, layer: string): Extract<Installed, { kind: 'ready' }> => ({
  kind: 'ready',
  base: layeredBase(base, layer),
});

function failure(command: string, result: ExecResult): InstallAttempt | null {
  const failed = (how: string) => failedSetup(command, `${how}.`, result);
  if (result.stopped !== null) return failed(`was ${howEnded(result)}, after ${elapsed(result.ms)}`);
  const { exitCode } = result;
  if (exitCode === null) return { ...failed('was ended by a signal'), killed: 'signal' };
  if (exitCode === 0) return null;
  const how = failed(`ended with exit code ${exitCode}`);
  return showsKill({ exitCode, output: `${result.stdout}\n${result.stderr}` })
    ? { ...how, killed: 'shown' }
    : how;
}

const failedSetup = (command: string, how: string, result: ExecResult) =>
  ({
    kind: 'failed',
    why: `\`${shownSetup(command).split('\n')[0]?.slice(0, 120)}\` ${how}`,
    stopped: result.stopped,
    tail: tailOf(result),
    refusedHosts: result.refusedHosts ?? [],
    failedHosts: result.failedHosts ?? [],
  }) as const;

const tailOf = (result: ExecResult): string => `${result.stdout}\n${result.stderr}`.trim().slice(-TAIL);
