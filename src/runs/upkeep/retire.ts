import type { RunId } from '../../core/model/index.ts';
import { IDEMPOTENCY_KEY_MS } from '../../core/tokens/index.ts';
import type { Expired } from '../../ports/index.ts';
import { isGitHubRun, type World } from '../context.ts';
import { deleteUnusedBranches } from '../publish/index.ts';
import { keepDueOutcomes } from './outcomes.ts';

/** Retention periods in milliseconds. */
export interface RetentionTimes {
  readonly runs: number;
  readonly ledger: number;
}

/** What was deleted, or would be. */
export interface Retired extends Omit<Expired, 'runs'> {
  readonly runs: number;
  /** Branches of losing candidates deleted on GitHub; 0 if none were due. */
  readonly branches: number;
  /** Expired runs that stay for now: their branches could not be deleted, or their outcomes could not be kept. */
  readonly held: number;
  /** Flow records deleted from the engine. */
  readonly flows: number;
  readonly artifacts: { readonly files: number; readonly bytes: number };
}

const DAY_MS = 86_400_000;
/** Retention of flow records: the engine needs an ended run only while its status may be queried. Our default. */
const FLOWS_MS = 7 * DAY_MS;
/**
 * Minimum age of a deletable artifact, since an artifact is written before the row that refers to it. Our default: far
 * longer than any step.
 */
const ARTIFACTS_MS = DAY_MS;
/**
 * How long an expired run is kept if its branches cannot be deleted, or its outcomes cannot be kept: the App may have
 * been uninstalled for good. Our default.
 */
const KEEP_UNFINISHED_MS = 30 * DAY_MS;

type RetirePorts = Pick<World, 'store' | 'artifacts' | 'engine' | 'clock' | 'log' | 'github'>;

/**
 * Deletes expired data: branches of losing candidates on GitHub, then rows, then artifacts that are no longer
 * referenced. An interrupted pass is completed by the next. `dry` only counts runs and rows; branches, flows and
 * artifacts are only known when they are deleted. Faults: DATABASE_UNAVAILABLE, ENVIRONMENT_INVALID if the artifacts belong
 * to another database.
 */
export async function retire(parts: RetirePorts, keep: RetentionTimes, dry = false): Promise<Retired> {
  const { store, artifacts, engine, clock } = parts;
  const now = clock.now();
  const before = { runs: now - keep.runs, ledger: now - keep.ledger, keys: now - IDEMPOTENCY_KEY_MS };
  if (!dry) await artifacts.claim((owner) => store.databaseName(owner));
  const due = await store.expire(before, true);
  const none = { branches: 0, held: 0, flows: 0, artifacts: { files: 0, bytes: 0 } };
  if (dry) return { ...due, ...none, runs: due.runs.length };
  const giveUp = before.runs - KEEP_UNFINISHED_MS;
  const unkept = await keepLastOutcomes(parts, due.runs, giveUp);
  const going = due.runs.filter((id) => !unkept.has(id));
  const { branches, held: undeleted } = await deleteBranches(parts, going, giveUp);
  const held = [...unkept, ...undeleted];
  const expired = await store.expire({ ...before, except: held }, false);
  const flows = await engine.forget(now - Math.min(FLOWS_MS, keep.runs));
  const used = await store.artifactsInUse();
  const swept = await artifacts.sweep({ keep: (name) => used.has(name), before: now - ARTIFACTS_MS });
  const done = { branches, held: held.length, flows, artifacts: swept };
  return { ...expired, ...done, runs: expired.runs.length };
}

/**
 * Keeps the outcomes of these runs, which outlive them. Returns the runs that stay because that failed this time; never
 * those last changed before `giveUp`.
 */
async function keepLastOutcomes(
  parts: RetirePorts,
  due: readonly RunId[],
  giveUp: number,
): Promise<ReadonlySet<RunId>> {
  const held = new Set<RunId>();
  for (const id of await keepDueOutcomes(parts, due)) {
    const run = await parts.store.run(id);
    if (run && run.updatedAt >= giveUp) held.add(id);
  }
  return held;
}

/** `held`: runs whose branches could not be deleted this time. Runs last changed before `giveUp` are never held. */
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
    const { deleted, stopped } = await deleteUnusedBranches(parts, run);
    branches += deleted;
    if (stopped === undefined) continue;
    // Further runs of this repository would fail in the same way today.
    closed.add(repositoryId);
    hold();
    parts.log.warn({ run: id, err: stopped }, 'Branches of a run that has expired could not be deleted.');
  }
  return { branches, held };
}
