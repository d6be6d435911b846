import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** Debates of briefs, what runs and their maintainers say to each other, and reviews of winners. */
export const brief: Migration = {
  version: 5,
  name: 'brief',
  up: [
    sql`alter table runoff.run add column debate jsonb, add column dialogue jsonb, add column review jsonb`,
    sql`
      create table runoff.reply (
        run_id text not null references runoff.run (id) on delete cascade,
        number integer not null,
        key    text not null,
        reply  jsonb not null,
        primary key (run_id, number),
        unique (run_id, key)
      )`,
    // Answers of models to work that is no run, such as a debate of a file.
    sql`
      create table runoff.answer (
        scope    text not null,
        key      text not null,
        artifact jsonb not null,
        primary key (scope, key)
      )`,
  ],
};
