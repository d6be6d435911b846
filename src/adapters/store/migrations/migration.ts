import type { RawBuilder } from 'kysely';

/**
 * One step of the schema. Steps are only ever added, never changed: databases in the field have run them.
 * A column added to an existing table is nullable or has a default, because there are rows
 * (`test/migrations` checks each step on a database that holds data of the one before).
 */
export interface Migration {
  /** 1, 2, 3, … without a gap. */
  readonly version: number;
  readonly name: string;
  readonly up: readonly RawBuilder<unknown>[];
}
