import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { asFault, type Fault, type Patience, type Sha } from '../../core/model/index.ts';
import type { BaseCheckout, Collected, Log, Sandbox, Workspaces } from '../../ports/index.ts';
import { openAreas, openTrash } from './areas.ts';
import { damagedCheckout, openBases } from './bases.ts';
import { openCandidateStore } from './candidate-store.ts';
import { COLLECT_LIMITS, type CollectLimits, type Collector, openCollector } from './collect.ts';
import { openDamageMarks, openDiagnosis } from './damage.ts';
import { abortError, isAbortError } from './faults.ts';
import { openGit } from './git.ts';
import { openHistory } from './history.ts';
import { layoutOf, makeLayout } from './layout.ts';
import { openLocalBranches } from './local-branches.ts';
import { openLocks } from './locks.ts';
import { openMirrors } from './mirrors.ts';
import { openPruning } from './prune.ts';
import { openPublishing } from './publish.ts';
import { openSetup } from './setup.ts';
import { describeLocal } from './sources.ts';
import { openSubmodules } from './submodules.ts';
import { type FileOwner, removeTree } from './trees.ts';
import { openUncommitted } from './uncommitted.ts';

export type { CollectLimits } from './collect.ts';
export { lockFile } from './locks.ts';
export { openTemplates } from './templates.ts';
export { bytesOf } from './trees.ts';

interface WorkspacesOptions {
  /**
   * Folder for everything that is stored; created if it does not exist. The owner must be able to enter it, and its
   * file system must support the upper layer of an overlay (a container's own root does not, a volume does).
   */
  readonly dataDir: string;
  /** Used for setup and collecting. */
  readonly sandbox: Sandbox;
  /** The user that sandboxed processes run as and that owns checkouts and areas; null if that is our own user. */
  readonly owner: FileOwner;
  readonly log: Log;
  /** Called for everything stored that is found damaged; the log has its path and the reason. */
  readonly onDamage?: () => void;
  /** Default: `COLLECT_LIMITS`. */
  readonly limits?: Partial<CollectLimits>;
  /** Maximum bytes of one submodule. Default: 1 GiB. */
  readonly submoduleBytes?: number;
  /** Default: `SETUP_PATIENCE`. */
  readonly patience?: Patience;
}

/**
 * Repositories, checkouts and patches by git. Nothing is touched before the first call. `resolve` returns null for
 * `HEAD` of an empty repository: the caller knows whether that is REPOSITORY_EMPTY or BASE_MISSING. Every method
 * rejects with a `Fault` (DISK_FULL whenever space ran out), or with AbortError if a signal asked for it.
 */
export function openWorkspaces(options: WorkspacesOptions): Workspaces {
  const { sandbox, owner, log, limits } = withLimits(options);
  const layout = layoutOf(options.dataDir);
  const git = openGit(layout.settingsFile);
  const locks = openLocks(layout.locks);
  const marks = openDamageMarks(git);
  const onDamage = damageReporter(options);
  const diagnose = openDiagnosis({ layout, marks, onDamage });
  const mirrors = openMirrors({ git, layout, locks, marks, onDamage });
  const bases = openBases({ git, layout, locks, mirrors, owner, onDamage });
  const areas = openAreas({ layout, locks, owner, log, trash: openTrash(layout, log) });
  const isWhole = async (base: BaseCheckout): Promise<boolean> =>
    (await bases.isWhole(base)) && (await submodules.isWhole(base)) && (await setup.areWhole(base));
  const collector = overWholeBases(openCollector(sandbox, layout, { owner, limits }), isWhole);
  const setup = openSetup({ ...options, layout, locks, mirrors, areas, bases, collector, onDamage });
  const submodules = openSubmodules({ ...options, git, layout, locks, mirrors, onDamage });
  const store = openCandidateStore(git, layout, limits);
  const publishing = openPublishing(git, store);
  /** For a call on a prepared base: nothing of its repository is pruned meanwhile. */
  const using = <A extends readonly unknown[], R>(work: (base: BaseCheckout, ...args: A) => Promise<R>) =>
    prepared((base: BaseCheckout, ...args: A) => locks.using(base.repositoryKey, () => work(base, ...args)));
  const collect: Workspaces['collect'] = async (base, area, signal) => {
    if (signal?.aborted) throw abortError();
    const known = { facts: await bases.facts(base), traces: await setup.traces(base) };
    const gathered = await collector.gather(base, area, known, signal);
    if (gathered.kind === 'refused') return loggedRefusal(log, area.id, gathered);
    const scratch = await emptyFolder(join(layout.area(area.id), 'scratch'));
    try {
      const admitted = await store.admit(base.repositoryKey, gathered, known, { areaId: area.id, scratch });
      if (admitted.kind !== 'refused') return admitted;
      const { why, fault } = admitted;
      const cause = fault && (await diagnose(fault));
      if (cause !== fault) throw cause;
      return loggedRefusal(log, area.id, { kind: 'refused', why }, fault?.message);
    } finally {
      await removeTree(scratch);
    }
  };
  const prepared = afterOnce(() => makeLayout(layout, owner), diagnose);
  return {
    describe: prepared((path) => describeLocal(git, path)),
    keepChanges: prepared(openUncommitted({ git, layout, locks, marks, mirrors })),
    ...openHistory({ git, layout, mirrors, prepared }),
    ...openLocalBranches(git, prepared),
    prepare: prepared(bases.prepare),
    noteOf: using(bases.noteOf),
    note: using(bases.note),
    listSubmodules: prepared(submodules.list),
    fetchSubmodules: prepared(submodules.fetch),
    isWhole: prepared(isWhole),
    install: prepared(setup.install),
    lend: prepared(setup.lend),
    open: prepared(areas.open),
    collect: using(collect),
    holds: using((base, tree: Sha) => store.holds(base.repositoryKey, tree)),
    keep: using((base, areaId: string, tree: Sha) => store.keep(base.repositoryKey, areaId, tree)),
    commit: using(publishing.commit),
    branch: using(publishing.branch),
    push: using(publishing.push),
    remove: prepared((area) => areas.remove(area.id)),
    sweep: prepared(areas.sweep),
    prune: prepared(openPruning({ git, layout, locks, marks, areas, log }).prune),
  };
}

const withLimits = (options: WorkspacesOptions) => ({
  ...options,
  limits: { ...COLLECT_LIMITS, ...options.limits },
});

async function emptyFolder(path: string): Promise<string> {
  await removeTree(path);
  await mkdir(path, { mode: 0o700 });
  return path;
}

/** For a method of the port: first the layout is made, and what fails is examined for damage. */
const afterOnce = (prepareLayout: () => Promise<void>, diagnose: (fault: Fault) => Promise<Fault>) => {
  const once = rememberSuccess(prepareLayout);
  return <A extends readonly unknown[], R>(work: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      try {
        await once();
        return await work(...args);
      } catch (error) {
        throw isAbortError(error) ? error : await diagnose(asFault(error));
      }
    };
};

/**
 * The base or a layer of an area may be damaged while work is done on it. That is neither the candidate's fault nor the
 * repository's, and `prepare` creates another checkout. What the collector found on it does not count either: a file
 * that the base has lost would look deleted, and would be missing from a layer for good.
 */
function overWholeBases(
  { gather, traces }: Collector,
  isWhole: (base: BaseCheckout) => Promise<boolean>,
): Collector {
  const checked =
    <A extends readonly unknown[], T>(work: (base: BaseCheckout, ...rest: A) => Promise<T>) =>
    async (base: BaseCheckout, ...rest: A): Promise<T> => {
      try {
        const found = await work(base, ...rest);
        if (await isWhole(base)) return found;
      } catch (error) {
        if (isAbortError(error) || asFault(error).code !== 'INTERNAL' || (await isWhole(base))) throw error;
        throw damagedCheckout(error);
      }
      throw damagedCheckout();
    };
  return { gather: checked(gather), traces: checked(traces) };
}

/** Does it once for all callers. The next call may succeed after a failure, so only success is remembered. */
function rememberSuccess(work: () => Promise<void>): () => Promise<void> {
  let ready: Promise<void> | null = null;
  return async () => {
    ready ??= work();
    const mine = ready;
    try {
      await mine;
    } catch (error) {
      if (ready === mine) ready = null;
      throw error;
    }
  };
}

const damageReporter =
  ({ log, onDamage }: WorkspacesOptions) =>
  (path: string, why: string): void => {
    log.error({ path, why }, 'Stored data is damaged; it is rebuilt.');
    onDamage?.();
  };

function loggedRefusal(
  log: Log,
  area: string,
  refusal: Collected & { kind: 'refused' },
  gitSaid?: string,
): Collected {
  log.warn({ area, why: refusal.why, ...(gitSaid === undefined ? {} : { gitSaid }) }, 'a patch was refused');
  return refusal;
}
