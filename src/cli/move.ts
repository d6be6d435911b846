import type { Command } from 'commander';
import { jsonOption, postgresAddress } from './options.ts';
import { jsonText } from './render/index.ts';
import { EXIT, type Shell } from './runtime.ts';

interface MoveFlags {
  readonly to: string;
  readonly dryRun: boolean;
  readonly json?: boolean;
}

/** Rows between two signs of life of one table. */
const SIGN_EVERY_ROWS = 10_000;

/** `runoff move-database`: copies everything to another Postgres, and says what to change then. */
export function addMove(program: Command, shell: Shell, done: (code: number) => void): void {
  program
    .command('move-database')
    .description('copies all runs to a Postgres server, from the embedded database or from DATABASE_URL')
    .requiredOption(
      '--to <url>',
      'postgres://user@host:port/database; the password may be in PGPASSWORD',
      postgresAddress,
    )
    .option('--dry-run', 'looks only, and says what would be copied', false)
    .addOption(jsonOption())
    .action(async (flags: MoveFlags) => done(await move(shell, flags)));
}

async function move({ moveDatabase, screen }: Shell, { to, dryRun, json }: MoveFlags): Promise<number> {
  const tables = await moveDatabase({
    to,
    dryRun,
    onTable(table, rows, of) {
      if (rows === of || rows % SIGN_EVERY_ROWS === 0) screen.err(`${table}: ${rows} of ${of} rows\n`);
    },
  });
  screen.out(json ? `${jsonText({ dryRun, tables })}\n` : words(tables, dryRun));
  return EXIT.done;
}

function words(
  tables: readonly { readonly table: string; readonly rows: number }[],
  dryRun: boolean,
): string {
  const full = tables.filter(({ rows }) => rows > 0);
  const rows = full.reduce((sum, table) => sum + table.rows, 0);
  if (dryRun) {
    const lines = full.map((table) => `${String(table.rows).padStart(9)}  ${table.table}`);
    return `${lines.join('\n')}\n\n${rows} rows would be copied. Nothing was changed.\n`;
  }
  return [
    `${rows} rows of ${full.length} tables were copied, counted and compared. The source is as it was.`,
    '',
    'Next:',
    '  1. Set DATABASE_URL to the address that you gave, with its password, in the settings file (`runoff doctor` names it) or wherever Runoff gets it.',
    '  2. Start Runoff: runs that wait go on there. Do not start it on the old database again.',
    '  3. Artifacts stay where they are; ARTIFACTS_URL is for several machines.',
    '',
  ].join('\n');
}
