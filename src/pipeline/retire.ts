import type { Expired } from '../ports/index.ts';
import type { World } from './world.ts';

/** How long things are kept, milliseconds. */
export interface Keep {
  readonly runs: number;
  readonly ledger: number;
}

/** What was let go of, or would be. */
export interface Retired extends Omit<Expired, 'runs'> {
  readonly runs: number;
  /** Of the engine's own record. */
  readonly flows: number;
  readonly artifacts: { readonly files: number; readonly bytes: number };
}

const DAY_MS = 86_400_000;
/** The engine needs to know of a run that is over only for as long as somebody may ask whether it is. Our default. */
const FLOWS_MS = 7 * DAY_MS;
/** An artifact is written before the row that speaks of it. Our default: far longer than any step. */
const ARTIFACTS_MS = DAY_MS;

type Parts = Pick<World, 'store' | 'artifacts' | 'engine' | 'clock'>;

/**
 * Lets go of what need not be kept any longer: rows first, then the artifacts that no row speaks of. Whatever breaks off
 * in between is made up for the next time. Faults: DATABASE_UNAVAILABLE.
 */
export async function retire({ store, artifacts, engine, clock }: Parts, keep: Keep): Promise<Retired> {
  const now = clock.now();
  const expired = await store.expire({ runs: now - keep.runs, ledger: now - keep.ledger }, false);
  const flows = await engine.forget(now - Math.min(FLOWS_MS, keep.runs));
  const used = await store.artifactsInUse();
  const swept = await artifacts.sweep({ keep: (name) => used.has(name), before: now - ARTIFACTS_MS });
  return { ...expired, runs: expired.runs.length, flows, artifacts: swept };
}
