import { sql } from 'kysely';

/** Runs and everything in them; part of `0001-initial.ts`. */
export const runs = [
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
      queue_entry   jsonb,
      task          jsonb,
      debate        jsonb,
      brief         jsonb,
      dialogue      jsonb,
      independent_tests jsonb,
      evidence      jsonb,
      test_results  jsonb,
      field_end     jsonb,
      ranking       jsonb,
      judgement     jsonb,
      decision      jsonb,
      review        jsonb,
      outcome       jsonb,
      trouble       jsonb,
      checks        jsonb,
      sandbox       jsonb,
      outcomes_at   bigint
    )`,
  sql`create index run_newest on runoff.run (created_at desc, id desc)`,
  sql`create index run_of_issue on runoff.run (repository_id, issue) where repository_id is not null`,
  sql`create index run_changed on runoff.run (updated_at desc, id desc)`,
  sql`create index run_state on runoff.run (state)`,
  sql`
    create index run_of_pull on runoff.run (repository_id, ((outcome ->> 'number')::integer))
     where outcome ->> 'kind' = 'pull'`,
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
  // Numbered by the process that runs the coder, so that a repeated write stores nothing twice.
  sql`
    create table runoff.coder_step (
      run_id    text not null references runoff.run (id) on delete cascade,
      alias     text not null,
      number    integer not null,
      at        bigint not null,
      kind      text not null,
      text      text not null,
      detail    text,
      call      text,
      exit_code integer,
      ok        boolean,
      primary key (run_id, alias, number)
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
];
