import { DBOSExecutor } from '@dbos-inc/dbos-sdk/internal/dbos-executor';
import { globalParams, INTERNAL_QUEUE_NAME } from '@dbos-inc/dbos-sdk/internal/utils';
import type pg from 'pg';
import type { Log } from '../../ports/index.ts';

/**
 * Milliseconds between two searches for flows of an unanswered claim, and after which the search ends. Our defaults.
 */
const UNANSWERED_CLAIM_POLL_MS = 1_000;
const UNANSWERED_CLAIM_SEARCH_MS = 120_000;

/** Puts flows back into their queues if their claim was never answered. */
export interface UnansweredClaims {
  /** The claim that marks its flows with this token failed, and it is unknown whether it was committed. */
  add(ownerXid: string): void;
  stop(): void;
}

/**
 * DBOS marks a flow as claimed, commits, and then starts it. If the connection breaks at the commit, this process owns
 * the flow without starting it. Each claim has its own token, so a flow that still has it was never started. The search
 * is repeated, because a server that recovers may commit what it received earlier only after the first query.
 */
export function openUnansweredClaims(pool: pg.Pool, log: Log): UnansweredClaims {
  const claims = new Map<string, number>();
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;

  async function search(): Promise<void> {
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
          'The connection broke while flows were claimed from a queue. They were put back.',
        );
      }
      for (const [claim, at] of claims)
        if (performance.now() - at > UNANSWERED_CLAIM_SEARCH_MS) claims.delete(claim);
    } catch (thrown) {
      log.info(
        { why: (thrown as Error).message },
        'Flows of an unanswered claim cannot be found yet; trying again.',
      );
    }
    timer = null;
    searchLater();
  }
  function searchLater(): void {
    if (stopped || timer !== null || claims.size === 0) return;
    timer = setTimeout(() => void search(), UNANSWERED_CLAIM_POLL_MS);
    timer.unref();
  }
  return {
    add(ownerXid) {
      claims.set(ownerXid, performance.now());
      searchLater();
    },
    stop() {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/**
 * Milliseconds from the end of a look for lost flows to the next one, and after how many looks in a row a flow is lost.
 * Our defaults.
 */
const LOST_LOOK_MS = 20_000;
const LOST_LOOKS = 3;

interface LostFlowsOptions {
  readonly executorId: string;
  /** False: this process continues no flow at present. */
  mayClaim(): boolean;
  /** Default: 20 s. */
  readonly lostFlowLookMs?: number | undefined;
  readonly log: Log;
}

interface OwnFlow {
  readonly id: string;
  readonly owner: string | null;
}

/**
 * A flow that ended because DBOS could record neither a step nor that end stays marked as executed by this process, and
 * nobody resumes it as long as the process is alive. One that does not run here in three looks in a row goes back into
 * its queue. A look that fails counts for nothing, and no look waits behind one that gets no answer: until the database
 * has been back for a while, DBOS may be about to start what it has claimed.
 */
export function watchLostFlows(pool: pg.Pool, options: LostFlowsOptions): { stop(): void } {
  const { executorId, mayClaim, lostFlowLookMs = LOST_LOOK_MS, log } = options;
  let idle = new Map<string, number>();
  let stopped = false;
  let timer: NodeJS.Timeout | null = null;

  async function look(): Promise<void> {
    const before = idle;
    idle = new Map();
    const database = DBOSExecutor.globalInstance?.systemDatabase;
    if (database === undefined || !mayClaim()) return;
    const { rows } = await pool.query<OwnFlow>(
      `select workflow_uuid as id, owner_xid as owner from dbos.workflow_status
        where status = 'PENDING' and executor_id = $1 and application_version = $2`,
      // Flows of another version are not resumed.
      [executorId, globalParams.appVersion],
    );
    const lost: OwnFlow[] = [];
    for (const flow of rows) {
      if (database.checkForRunningWorkflow(flow.id)) continue;
      const key = `${flow.id} ${flow.owner}`;
      const looks = (before.get(key) ?? 0) + 1;
      idle.set(key, looks);
      if (looks >= LOST_LOOKS) lost.push(flow);
    }
    if (lost.length > 0) await putBack(lost);
  }

  async function putBack(lost: readonly OwnFlow[]): Promise<void> {
    // As DBOS resumes the flows of an executor.
    const { rows } = await pool.query<{ id: string }>(
      `update dbos.workflow_status
          set status = 'ENQUEUED', owner_xid = null, started_at_epoch_ms = null,
              queue_name = coalesce(queue_name, $4), updated_at = (extract(epoch from now()) * 1000)::bigint
         from unnest($2::text[], $3::text[]) as lost (id, owner)
        where workflow_uuid = lost.id and owner_xid is not distinct from lost.owner
          and status = 'PENDING' and executor_id = $1
        returning workflow_uuid as id`,
      [executorId, lost.map(({ id }) => id), lost.map(({ owner }) => owner), INTERNAL_QUEUE_NAME],
    );
    // Others have changed them since the look.
    if (rows.length === 0) return;
    log.warn(
      { flows: rows.map(({ id }) => id) },
      'Flows of this process had ended, and the database did not record it. They are continued.',
    );
  }

  function lookLater(): void {
    if (stopped) return;
    timer = setTimeout(async () => {
      await look().catch((thrown: Error) => {
        log.info({ why: thrown.message }, 'Flows that are lost cannot be found now; trying again.');
      });
      lookLater();
    }, lostFlowLookMs);
    timer.unref();
  }
  lookLater();
  return {
    stop() {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}
