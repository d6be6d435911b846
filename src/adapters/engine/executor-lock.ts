import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { Fault } from '../../core/model/index.ts';
import type { Log } from '../../ports/index.ts';
import { connect, tryLock } from './connection.ts';

/** Milliseconds that the server gets to notice that an earlier holder was killed. Our default. */
const PATIENCE_MS = 3_000;
const LOOK_EVERY_MS = 100;
/** Milliseconds between two looks for a server that went away. Our default. */
const RETAKE_EVERY_MS = 500;

/** Lets the server notice within half a minute that the machine of a holder is gone. Not used on a local socket. */
const NOTICE_SILENCE =
  'set tcp_keepalives_idle = 15; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3';

export interface ExecutorLock {
  release(): Promise<void>;
}

const keyOf = (executorId: string): string =>
  createHash('sha256').update(`runoff executor ${executorId}`).digest().readBigInt64BE().toString();

/** A connection that holds the lock as long as it lives; null when another one still holds it after `patienceMs`. */
async function take(url: string, key: string, patienceMs: number): Promise<pg.Client | null> {
  const client = await connect(url, 'runoff executor');
  try {
    await client.query(NOTICE_SILENCE);
    const until = performance.now() + patienceMs;
    while (!(await tryLock(client, key))) {
      if (performance.now() >= until) {
        await client.end();
        return null;
      }
      await delay(LOOK_EVERY_MS);
    }
    return client;
  } catch (error) {
    await client.end();
    throw error;
  }
}

/**
 * The right to work as `executorId`, which one process at a time has: DBOS takes up what an executor of this name left
 * unfinished without asking whether that executor is alive, and two would do the same work twice. It ends with the
 * process. When the server goes away, it is taken again as soon as the server is back.
 * Faults: ALREADY_RUNNING when another process has it, DATABASE_UNAVAILABLE.
 */
export async function lockExecutor(url: string, executorId: string, log: Log): Promise<ExecutorLock> {
  const key = keyOf(executorId);
  const released = new AbortController();
  const { signal } = released;
  let keeping = Promise.resolve();

  const taken = await take(url, key, PATIENCE_MS);
  if (taken === null) {
    throw new Fault(
      'ALREADY_RUNNING',
      `Another Runoff process works as \`${executorId}\` already: two at once would do the same work twice.`,
    );
  }
  let holder: pg.Client = taken;

  async function retake(): Promise<void> {
    let told = false;
    while (!signal.aborted) {
      await delay(RETAKE_EVERY_MS, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      // Without a server nothing can be taken, and whoever uses the database says so.
      const again = await take(url, key, 0).catch(() => undefined);
      if (again) {
        keep(again);
        return;
      }
      if (again === null && !told) {
        told = true;
        log.error(
          { executorId },
          'Another process works under our name since the database was away; end one.',
        );
      }
    }
  }

  function keep(client: pg.Client): void {
    holder = client;
    client.once('end', () => {
      if (!signal.aborted) keeping = retake();
    });
  }
  keep(taken);

  return {
    async release() {
      released.abort();
      await keeping;
      await holder.end();
    },
  };
}
