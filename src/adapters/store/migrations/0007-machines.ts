import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** What only a process may write that is not given up. */
const FENCED = [
  'runoff.run',
  'runoff.candidate',
  'runoff.transition',
  'runoff.stage_timing',
  'runoff.delivery',
  'runoff.intent',
  'runoff.answer',
  'runoff.reply',
  'runoff.command',
  'runoff.vote',
  'runoff.pick',
];

/** Which processes share the work, what models have answered already, and what was asked of us and done. */
export const machines: Migration = {
  version: 7,
  name: 'machines',
  up: [
    sql`
      create table runoff.executor (
        id          text primary key,
        incarnation text not null,
        role        text not null,
        facts       jsonb not null,
        started_at  bigint not null,
        seen        timestamptz not null
      )`,
    // A process says in its connections who it is (docs/decisions/0036). One that says nothing is not looked at.
    // A key share: its own signs of life may pass, burying it may not.
    sql`
      create function runoff.fence() returns trigger language plpgsql as $$
      begin
        if coalesce(current_setting('runoff.incarnation', true), '') <> '' then
          perform 1 from runoff.executor
            where id = current_setting('runoff.executor', true)
              and incarnation = current_setting('runoff.incarnation', true)
            for key share;
          if not found then
            raise exception 'executor % was given up', current_setting('runoff.executor', true)
              using errcode = 'RF001';
          end if;
        end if;
        return null;
      end $$`,
    ...FENCED.map(
      (table) => sql`
      create trigger fence before insert or update or delete on ${sql.table(table)}
        for each statement execute function runoff.fence()`,
    ),
    // What was booked is settled by whoever booked it: the money is spent.
    sql`
      create trigger fence before insert on runoff.gateway_call
        for each statement execute function runoff.fence()`,
    // No reference to run: what a model was paid for is kept where a text debate, which is no run, paid for it.
    sql`
      create table runoff.model_answer (
        run_id   text not null,
        spender  text not null,
        question text not null,
        number   integer not null,
        answer   jsonb not null,
        body     jsonb not null,
        at       bigint not null,
        primary key (run_id, spender, question, number)
      )`,
    // No references: an audit outlives what it speaks of.
    sql`
      create table runoff.audit (
        id            bigint generated always as identity primary key,
        at            bigint not null,
        kind          text not null,
        repository_id bigint,
        run_id        text,
        entry         jsonb not null
      )`,
    sql`create index audit_of_run on runoff.audit (run_id, id) where run_id is not null`,
    sql`create index audit_of_repository on runoff.audit (repository_id, id) where repository_id is not null`,
    // Who waits for a place, and since when.
    sql`alter table runoff.run add column line jsonb`,
    // For expiry.
    sql`create index gateway_call_at on runoff.gateway_call (at)`,
  ],
};
