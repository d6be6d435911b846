import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** Times are milliseconds since 1970 UTC. Money is US dollars. */
export const tables: Migration = {
  version: 1,
  name: 'tables',
  up: [
    sql`
      create table runoff.run (
        id            text primary key,
        origin        jsonb not null,
        repository_id bigint,
        issue         integer,
        state         text not null,
        title         text not null,
        request       jsonb not null,
        created_at    bigint not null,
        updated_at    bigint not null,
        task          jsonb,
        brief         jsonb,
        evidence      jsonb,
        ranking       jsonb,
        decision      jsonb,
        outcome       jsonb,
        trouble       jsonb,
        checks        jsonb
      )`,
    sql`create index run_newest on runoff.run (created_at desc, id desc)`,
    sql`create index run_of_issue on runoff.run (repository_id, issue) where repository_id is not null`,
    sql`create index run_state on runoff.run (state)`,
    sql`
      create table runoff.candidate (
        run_id        text not null references runoff.run (id) on delete cascade,
        alias         text not null,
        ordinal       integer not null,
        contestant    jsonb not null,
        state         text not null,
        patch         jsonb,
        usage         jsonb not null,
        ms            double precision not null,
        note          text not null,
        coder_version text,
        primary key (run_id, alias)
      )`,
    sql`
      create table runoff.transition (
        id         bigint generated always as identity primary key,
        run_id     text not null references runoff.run (id) on delete cascade,
        from_state text not null,
        to_state   text not null,
        cause      text not null,
        at         bigint not null
      )`,
    sql`create index transition_of_run on runoff.transition (run_id, id)`,
    sql`
      create table runoff.stage_timing (
        run_id     text not null references runoff.run (id) on delete cascade,
        stage      text not null,
        started_at bigint not null,
        ended_at   bigint,
        primary key (run_id, stage)
      )`,
    // No reference to run: what was spent is kept even where the run is gone or never was one.
    sql`
      create table runoff.gateway_call (
        id            bigint generated always as identity primary key,
        run_id        text not null,
        spender       text not null,
        model         text not null,
        tokens_in     bigint not null,
        tokens_out    bigint not null,
        tokens_cached bigint not null,
        usd           double precision not null,
        exact         boolean not null,
        status        integer not null,
        ms            double precision not null,
        at            bigint not null
      )`,
    sql`create index gateway_call_of_run on runoff.gateway_call (run_id, spender)`,
    // Checked at commit: the delivery is written first, because it decides whether there is a run at all.
    sql`
      create table runoff.delivery (
        id           text primary key,
        event        text not null,
        semantic_key text not null unique,
        run_id       text not null references runoff.run (id) on delete cascade deferrable initially deferred,
        at           bigint not null
      )`,
    sql`
      create table runoff.intent (
        run_id text not null references runoff.run (id) on delete cascade,
        key    text not null,
        state  text not null check (state in ('planned', 'done')),
        result jsonb,
        primary key (run_id, key)
      )`,
  ],
};
