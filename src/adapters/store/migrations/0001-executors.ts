import { sql } from 'kysely';

/** Tables that an expired process must not write to. */
const FENCED_TABLES = [
  'runoff.run',
  'runoff.candidate',
  'runoff.coder_step',
  'runoff.transition',
  'runoff.stage_timing',
  'runoff.delivery',
  'runoff.intent',
  'runoff.answer',
  'runoff.reply',
  'runoff.command',
  'runoff.vote',
  'runoff.pick',
  'runoff.recipe',
  'runoff.candidate_outcome',
  'runoff.idempotency_key',
];

/** The processes that share the work. An expired one can no longer write anything (docs/decisions/0036). */
export const executors = [
  sql`
    create table runoff.executor (
      id          text primary key,
      incarnation text not null,
      role        text not null,
      facts       jsonb not null,
      started_at  bigint not null,
      seen        timestamptz not null
    )`,
  // A process identifies itself in its connections; one that does not is not checked. A key share lock allows its own
  // heartbeats while it writes, but not its expiry.
  sql`
      create function runoff.fence() returns trigger language plpgsql as $$
      begin
        if coalesce(current_setting('runoff.incarnation', true), '') <> '' then
          perform 1 from runoff.executor
            where id = current_setting('runoff.executor', true)
              and incarnation = current_setting('runoff.incarnation', true)
            for key share;
          if not found then
            raise exception 'executor % has expired', current_setting('runoff.executor', true)
              using errcode = 'RF001';
          end if;
        end if;
        return null;
      end $$`,
  ...FENCED_TABLES.map(
    (table) => sql`
    create trigger fence before insert or update or delete on ${sql.table(table)}
      for each statement execute function runoff.fence()`,
  ),
  // A booked call may always be settled by the process that booked it: the money is spent.
  sql`
    create trigger fence before insert on runoff.gateway_call
      for each statement execute function runoff.fence()`,
];
