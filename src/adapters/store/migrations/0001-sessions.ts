import { sql } from 'kysely';

/** Who is signed in to the pages. Only the hash of a session's id is stored: rows give nobody a session. */
export const sessions = [
  sql`
    create table runoff.session (
      hash       text primary key,
      user_id    bigint not null,
      login      text not null,
      created_at bigint not null,
      expires_at bigint not null
    )`,
  sql`create index session_of_user on runoff.session (user_id)`,
  sql`create index session_end on runoff.session (expires_at)`,
];
