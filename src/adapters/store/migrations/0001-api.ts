import { sql } from 'kysely';

/** Tokens of the API, of whose texts only hashes are kept, and keys under which a request has its effect once. */
export const apiTables = [
  sql`
    create table runoff.api_token (
      id           text primary key,
      hash         text not null,
      user_id      bigint not null,
      token        jsonb not null,
      created_at   bigint not null,
      expires_at   bigint not null,
      last_used_at bigint,
      revoked_at   bigint
    )`,
  sql`create index api_token_newest on runoff.api_token (created_at desc, id)`,
  sql`
    create table runoff.idempotency_key (
      owner   text not null,
      key     text not null,
      request text not null,
      work    text not null,
      holder  text,
      answer  jsonb,
      at      bigint not null,
      primary key (owner, key)
    )`,
  sql`create index idempotency_key_at on runoff.idempotency_key (at)`,
];
