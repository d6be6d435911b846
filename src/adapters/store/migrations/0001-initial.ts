import { sql } from 'kysely';
import { runs } from './0001-runs.ts';

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
const executors = [
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

/** Tokens of the API, of whose texts only hashes are kept, and keys under which a request has its effect once. */
const apiTables = [
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

/** Who is signed in to the pages. Only the hash of a session's id is stored: rows give nobody a session. */
const sessions = [
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

/**
 * Calls of models and their answers. None refers to a run, because the costs are kept even if the run is deleted or
 * never existed.
 */
const modelCalls = [
  sql`
    create table runoff.gateway_call (
      id               bigint generated always as identity primary key,
      run_id           text not null,
      spender          text not null,
      repository       text not null default '',
      model            text not null,
      tokens_in        bigint not null,
      tokens_out       bigint not null,
      tokens_cached    bigint not null,
      tokens_reasoning bigint not null default 0,
      usd              double precision not null,
      exact            boolean not null,
      status           integer not null,
      ms               double precision not null,
      at               bigint not null
    )`,
  sql`create index gateway_call_of_run on runoff.gateway_call (run_id, spender)`,
  // The sums of a day are read before every call, from the index alone.
  sql`create index gateway_call_of_day on runoff.gateway_call (at) include (usd)`,
  sql`create index gateway_call_of_repository on runoff.gateway_call (repository, at) include (usd)`,
  // For expiry.
  sql`create index gateway_call_at on runoff.gateway_call (at)`,
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
  // Answers to work that is not a run, such as a debate of a file.
  sql`
    create table runoff.answer (
      scope    text not null,
      key      text not null,
      artifact jsonb not null,
      primary key (scope, key)
    )`,
];

/** Accepted webhooks, and writes to GitHub. */
const exchange = [
  // Checked at commit: the delivery is written first, because it decides whether there is a run at all.
  sql`
    create table runoff.delivery (
      id           text primary key,
      event        text not null,
      semantic_key text not null unique,
      run_id       text not null references runoff.run (id) on delete cascade deferrable initially deferred,
      at           bigint not null
    )`,
  // For keys with the same prefix, whatever the collation of this database.
  sql`create index delivery_by_key on runoff.delivery (semantic_key text_pattern_ops)`,
  // `scope` is a run, or a command: the answer to a command that concerns no run is also written exactly once.
  sql`
    create table runoff.intent (
      scope  text not null,
      key    text not null,
      state  text not null check (state in ('planned', 'done')),
      result jsonb,
      primary key (scope, key)
    )`,
];

/** Commands, replies, votes and picks of people, and the audit log. */
const people = [
  // No reference to a run: requests and their outcomes are kept even if the run is deleted.
  sql`
    create table runoff.command (
      id            text primary key,
      repository_id bigint not null,
      comment       bigint not null,
      at            bigint not null,
      payload       jsonb not null,
      outcome       jsonb,
      run_id        text,
      settled_at    bigint
    )`,
  sql`create index command_open on runoff.command (at, comment) where outcome is null`,
  sql`create index command_of_repository on runoff.command (repository_id, at desc, comment desc)`,
  sql`
    create table runoff.reply (
      run_id text not null references runoff.run (id) on delete cascade,
      number integer not null,
      key    text not null,
      reply  jsonb not null,
      primary key (run_id, number),
      unique (run_id, key)
    )`,
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
  // No references: an audit row outlives its subject.
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
];

/** How repositories are set up, built and tested. A run has a copy of what it used. */
const recipes = [
  sql`
    create table runoff.recipe (
      repository text not null,
      key        text not null,
      recipe     jsonb not null,
      used_at    bigint not null,
      primary key (repository, key)
    )`,
];

/** What became of candidates. No reference to a run: the outcomes outlive it. */
const outcomes = [
  sql`
    create table runoff.candidate_outcome (
      run_id     text not null,
      alias      text not null,
      repository text not null,
      at         bigint not null,
      outcome    jsonb not null,
      merge      jsonb,
      kept_at    bigint not null,
      primary key (run_id, alias)
    )`,
  sql`create index candidate_outcome_of_repository on runoff.candidate_outcome (repository, at desc, run_id)`,
];

/** Times are milliseconds since 1970 UTC. Money is US dollars. */
export const initial = {
  version: 1,
  name: 'initial',
  up: [
    ...runs,
    ...modelCalls,
    ...exchange,
    ...people,
    ...recipes,
    ...outcomes,
    ...apiTables,
    ...sessions,
    ...executors,
  ],
};
