import { tables } from './0001-tables.ts';
import { money } from './0002-money.ts';
import { judgement } from './0003-judgement.ts';
import { neutral } from './0004-neutral.ts';
import { brief } from './0005-brief.ts';
import { commands } from './0006-commands.ts';
import { machines } from './0007-machines.ts';
import type { Migration } from './migration.ts';

export type { Migration } from './migration.ts';

/** All steps of the schema, in order. A new file is registered here; nothing scans the folder. */
export const MIGRATIONS: readonly Migration[] = [
  tables,
  money,
  judgement,
  neutral,
  brief,
  commands,
  machines,
];
