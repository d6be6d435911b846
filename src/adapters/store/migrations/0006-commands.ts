import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** What people tell Runoff on GitHub: commands, votes and picks; and where runs are found by what they led to. */
export const commands: Migration = {
  version: 6,
  name: 'commands',
  up: [
    // No reference to run: who asked for what, and what became of it, is kept even where the run is gone.
    sql`
      create table runoff.command (
        id            text primary key,
        repository_id bigint not null,
        comment       bigint not null,
        at            bigint not null,
        heard         jsonb not null,
        outcome       jsonb,
        run_id        text,
        settled_at    bigint
      )`,
    sql`create index command_open on runoff.command (at, comment) where outcome is null`,
    sql`create index command_of_repository on runoff.command (repository_id, at desc, comment desc)`,
    sql`
      create table runoff.vote (
        run_id  text not null references runoff.run (id) on delete cascade,
        user_id bigint not null,
        vote    jsonb not null,
        at      bigint not null,
        primary key (run_id, user_id)
      )`,
    sql`
      create table runoff.pick (
        run_id text not null references runoff.run (id) on delete cascade,
        number integer not null,
        key    text not null,
        pick   jsonb not null,
        primary key (run_id, number),
        unique (run_id, key)
      )`,
    // An answer to a command may concern no run, and is written exactly once all the same.
    sql`alter table runoff.intent drop constraint intent_run_id_fkey`,
    sql`alter table runoff.intent rename column run_id to scope`,
    sql`
      create index run_of_pull on runoff.run (repository_id, ((outcome ->> 'number')::integer))
       where outcome ->> 'kind' = 'pull'`,
    // For keys that begin alike, whatever the order of letters is in this database.
    sql`create index delivery_by_key on runoff.delivery (semantic_key text_pattern_ops)`,
  ],
};
