import type pg from 'pg';
import type { Log } from '../../ports/index.ts';

/** Milliseconds between two looks for what a lost claim took, and after which there is none any more. Our defaults. */
const LOOK_EVERY_MS = 1_000;
const LOOK_FOR_MS = 120_000;

/** Puts flows back into their queues that were claimed by a transaction whose answer was lost. */
export interface LostClaims {
  /** The claim that marks its flows with this token failed; whether it was committed, nobody here knows. */
  lost(ownerXid: string): void;
  stop(): void;
}

/**
 * DBOS marks a flow as taken, commits, and then begins it. Where the connection breaks at the commit, the flow is taken by
 * this process and begun by nobody. The token of each claim is its own, so what bears it was never begun. The look is
 * repeated: a server that is reached again may commit what it received before later than we ask.
 */
export function openLostClaims(pool: pg.Pool, log: Log): LostClaims {
  const claims = new Map<string, number>();
  let looking: NodeJS.Timeout | null = null;
  let stopped = false;

  async function look(): Promise<void> {
    try {
      const { rows } = await pool.query<{ id: string }>(
        `update dbos.workflow_status
            set status = 'ENQUEUED', owner_xid = null, started_at_epoch_ms = null,
                updated_at = (extract(epoch from now()) * 1000)::bigint
          where status = 'PENDING' and owner_xid = any($1::text[])
          returning workflow_uuid as id`,
        [[...claims.keys()]],
      );
      if (rows.length > 0) {
        log.warn(
          { flows: rows.map(({ id }) => id) },
          'The connection broke while flows were taken from a queue; they are back in it.',
        );
      }
      for (const [claim, at] of claims) if (performance.now() - at > LOOK_FOR_MS) claims.delete(claim);
    } catch (thrown) {
      log.info({ why: (thrown as Error).message }, 'Flows whose claim was lost cannot be looked for yet.');
    }
    looking = null;
    lookLater();
  }
  function lookLater(): void {
    if (stopped || looking !== null || claims.size === 0) return;
    looking = setTimeout(() => void look(), LOOK_EVERY_MS);
    looking.unref();
  }
  return {
    lost(ownerXid) {
      claims.set(ownerXid, performance.now());
      lookLater();
    },
    stop() {
      stopped = true;
      if (looking !== null) clearTimeout(looking);
    },
  };
}
