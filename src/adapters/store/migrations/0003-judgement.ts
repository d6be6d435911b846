import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** What blind judges said of candidates that execution did not tell apart. */
export const judgement: Migration = {
  version: 3,
  name: 'judgement',
  up: [sql`alter table runoff.run add column judgement jsonb`],
};
