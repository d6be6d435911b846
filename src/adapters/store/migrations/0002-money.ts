import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** What the caps of a day need, and where a run's candidates were executed. */
export const money: Migration = {
  version: 2,
  name: 'money',
  up: [
    sql`alter table runoff.gateway_call add column repository text not null default ''`,
    sql`alter table runoff.gateway_call add column tokens_reasoning bigint not null default 0`,
    // Named as core names the repository of a grant. Calls whose run is gone stay without one.
    sql`
      update runoff.gateway_call call
         set repository = case
               when run.repository_id is not null then 'github-' || run.repository_id
               else 'local-' || (run.origin ->> 'path')
             end
        from runoff.run run
       where run.id = call.run_id`,
    // The sums of a day are read before every call: from the index alone.
    sql`create index gateway_call_of_day on runoff.gateway_call (at) include (usd)`,
    sql`create index gateway_call_of_repository on runoff.gateway_call (repository, at) include (usd)`,
    sql`alter table runoff.run add column sandbox jsonb`,
  ],
};
