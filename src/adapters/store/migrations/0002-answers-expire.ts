import { sql } from 'kysely';

/** When an answer to work that is not a run was stored. The time of earlier ones is unknown: theirs begins now. */
export const answersExpire = {
  version: 2,
  name: 'answers-expire',
  up: [
    sql`
      alter table runoff.answer
        add column at bigint not null default (extract(epoch from now()) * 1000)::bigint`,
  ],
};
