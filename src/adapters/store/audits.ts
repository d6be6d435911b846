import { sql } from 'kysely';
import { RUN_STATES, type RunState } from '../../core/model/index.ts';
import type { AuditEntry, AuditPlace, AuditRecord, Store } from '../../ports/index.ts';
import { type Db, inStatement, inTransaction, type Tx } from './connection.ts';
import { hasBegun, storableJson, storableText } from './rows.ts';

/**
 * Maximum number of UTF-16 units of a command in the audit log: the command itself, not the rest of the comment. Our
 * default.
 */
const MAX_COMMAND_CHARS = 500;

/** A process without a heartbeat for so long is gone. */
const ACTIVE_SINCE = sql`now() - interval '2 minutes'`;

/** Adds a row in the same transaction as the change that it describes. */
export async function addAudit(
  tx: Tx,
  entry: AuditEntry,
  { at, repositoryId, run }: AuditPlace,
): Promise<void> {
  const kept = entry.kind === 'command' ? { ...entry, text: entry.text.slice(0, MAX_COMMAND_CHARS) } : entry;
  await tx
    .insertInto('runoff.audit')
    .values({
      at,
      kind: entry.kind,
      repository_id: repositoryId ?? null,
      run_id: run === undefined ? null : storableText(run),
      entry: storableJson(kept),
    })
    .execute();
}

/** Who did what, and counts for metrics. */
export function audits(db: Db) {
  return {
    audit: (entry, place) => inTransaction(db, (tx) => addAudit(tx, entry, place)),

    async audited({ run, limit }) {
      const newest = db.selectFrom('runoff.audit').selectAll().orderBy('id', 'desc').limit(limit);
      const rows = await inStatement(
        (run === undefined ? newest : newest.where('run_id', '=', run)).execute(),
      );
      return rows.map(
        (row): AuditRecord => ({
          number: row.id,
          at: row.at,
          ...(row.repository_id === null ? {} : { repositoryId: row.repository_id }),
          ...(row.run_id === null ? {} : { run: row.run_id }),
          entry: row.entry,
        }),
      );
    },

    census: () => inTransaction(db, takeCensus),
  } satisfies Partial<Store>;
}

async function takeCensus(tx: Tx) {
  const states = await tx
    .selectFrom('runoff.run')
    .select(['state', sql<number>`count(*)::integer`.as('number')])
    .groupBy('state')
    .execute();
  const { number: codersWaiting } = await tx
    .selectFrom('runoff.candidate')
    .innerJoin('runoff.run', 'runoff.run.id', 'runoff.candidate.run_id')
    .select(sql<number>`count(*)::integer`.as('number'))
    .where('runoff.candidate.state', '=', 'queued')
    .where('runoff.run.state', '=', 'briefed')
    .executeTakeFirstOrThrow();
  const { number: inLine } = await tx
    .selectFrom('runoff.run as run')
    .select(sql<number>`count(*)::integer`.as('number'))
    .where('run.state', '=', 'queued')
    .where('run.repository_id', 'is not', null)
    .where('run.line', 'is not', null)
    .where(({ not }) => not(hasBegun))
    .executeTakeFirstOrThrow();
  const roles = await tx
    .selectFrom('runoff.executor')
    .select(['role', sql<number>`count(*)::integer`.as('number')])
    .where('seen', '>', sql<Date>`${ACTIVE_SINCE}`)
    .groupBy('role')
    .execute();
  const none = Object.fromEntries(RUN_STATES.map((state) => [state, 0])) as Record<RunState, number>;
  const runs = { ...none, ...Object.fromEntries(states.map(({ state, number }) => [state, number])) };
  return {
    runs,
    inLine,
    codersWaiting,
    executors: Object.fromEntries(roles.map(({ role, number }) => [role, number])),
  };
}
