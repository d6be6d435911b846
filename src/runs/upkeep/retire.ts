import type { RunId } from '../../core/model/index.ts';
import type { Expired } from '../../ports/index.ts';
import { isGitHubRun, type World } from '../context.ts';
import { deleteLosers } from '../publish/index.ts';

/** How long things are kept, milliseconds. */
export interface RetentionTimes {
  readonly runs: number;
  readonly ledger: number;
}

/** What was let go of, or would be. */
export interface Retired extends Omit<Expired, 'runs'> {
  readonly runs: number;
  /** On GitHub, of candidates that did not win; 0 where nothing was to be removed yet. */
  readonly branches: number;
  /** That have expired and stay for now, because their branches could not be deleted. */
  readonly held: number;
  /** Of the engine's own record. */
  readonly flows: number;
  readonly artifacts: { readonly files: number; readonly bytes: number };
}

const DAY_MS = 86_400_000;
/** The engine needs to know of a run that is over only for as long as somebody may ask whether it is. Our default. */
const FLOWS_MS = 7 * DAY_MS;
/** An artifact is written before the row that speaks of it. Our default: far longer than any step. */
const ARTIFACTS_MS = DAY_MS;
/** For how long after its time a run stays whose branches cannot be deleted: the App may have been taken away for good. Our default. */
const KEEP_UNFINISHED_MS = 30 * DAY_MS;

type RetirePorts = Pick<World, 'store' | 'artifacts' | 'engine' | 'clock' | 'log' | 'github'>;

/**
 * Lets go of what need not be kept any longer: branches of losing candidates on GitHub, then rows, then the artifacts that
 * no row speaks of. Whatever breaks off in between is made up for the next time. `dry` only says what would go: runs and
 * rows; branches, flows and artifacts are known when it is done. Faults: DATABASE_UNAVAILABLE.
 */
export async function retire(parts: RetirePorts, keep: RetentionTimes, dry = false): Promise<Retired> {
  const { store, artifacts, engine, clock } = parts;
  const now = clock.now();
  const before = { runs: now - keep.runs, ledger: now - keep.ledger };
  const due = await store.expire(before, true);
  const none = { branches: 0, held: 0, flows: 0, artifacts: { files: 0, bytes: 0 } };
  if (dry) return { ...due, ...none, runs: due.runs.length };
  const { branches, held } = await deleteBranches(parts, due.runs, before.runs - KEEP_UNFINISHED_MS);
  const expired = await store.expire({ ...before, except: held }, false);
  const flows = await engine.forget(now - Math.min(FLOWS_MS, keep.runs));
  const used = await store.artifactsInUse();
  const swept = await artifacts.sweep({ keep: (name) => used.has(name), before: now - ARTIFACTS_MS });
  const done = { branches, held: held.length, flows, artifacts: swept };
  return { ...expired, ...done, runs: expired.runs.length };
}

/** `held`: runs that wait for another day. One that changed last before `giveUp` does not, whatever stands in the way. */
async function deleteBranches(parts: RetirePorts, due: readonly RunId[], giveUp: number) {
  const held: RunId[] = [];
  const closed = new Set<number>();
  let branches = 0;
  for (const id of due) {
    const run = await parts.store.run(id);
    if (!run || !isGitHubRun(run)) continue;
    const { repositoryId } = run.origin;
    const hold = () => run.updatedAt >= giveUp && held.push(id);
    if (closed.has(repositoryId)) {
      hold();
      continue;
    }
    const { deleted, stopped } = await deleteLosers(parts, run);
    branches += deleted;
    if (stopped === undefined) continue;
    // Another run of the repository would meet the same today.
    closed.add(repositoryId);
    hold();
    parts.log.warn({ run: id, err: stopped }, 'Branches of a run that has expired could not be deleted.');
  }
  return { branches, held };
}
