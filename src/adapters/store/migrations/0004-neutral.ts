import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** Tests that models wrote, and what became of them. */
export const neutral: Migration = {
  version: 4,
  name: 'neutral',
  up: [sql`alter table runoff.run add column neutral jsonb`],
};
