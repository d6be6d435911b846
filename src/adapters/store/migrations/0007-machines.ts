import { sql } from 'kysely';
import type { Migration } from './migration.ts';

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
    // For expiry.
    sql`create index gateway_call_at on runoff.gateway_call (at)`,
  ],
};
