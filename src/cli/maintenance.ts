import { resolve } from 'node:path';
import type { Command } from 'commander';
import { counted } from '../core/reports/index.ts';
import type { ExecutorRecord } from '../ports/index.ts';
import { type TidiedBranch, tidyBranches } from '../runs/index.ts';
import { EXIT, type PrunedByHand, type Shell } from '../shell.ts';
import { jsonOption, postgresAddress } from './options.ts';
import { jsonText, shown } from './render/index.ts';

interface MoveFlags {
  readonly to: string;
  readonly dryRun: boolean;
  readonly json?: boolean;
}

/** Rows between two progress lines of one table. */
const PROGRESS_EVERY_ROWS = 10_000;

/** `runoff move-database`: copies everything to another Postgres server and prints what to change next. */
export function addMove(program: Command, shell: Shell, done: (code: number) => void): void {
  program
    .command('move-database')
    .description('copy all runs to a Postgres server, from the embedded database or DATABASE_URL')
    .requiredOption(
      '--to <url>',
      'postgres://user@host:port/database; PGPASSWORD may hold the password',
      postgresAddress,
    )
    .option('--dry-run', 'show what would be copied without copying it', false)
    .addOption(jsonOption())
    .action(async (flags: MoveFlags) => done(await move(shell, flags)));
}

async function move({ moveDatabase, screen }: Shell, { to, dryRun, json }: MoveFlags): Promise<number> {
  const tables = await moveDatabase({
    to,
    dryRun,
    onTable(table, rows, of) {
      if (rows === of || rows % PROGRESS_EVERY_ROWS === 0) screen.err(`${table}: ${rows} of ${of} rows\n`);
    },
  });
  screen.out(json ? `${jsonText({ dryRun, tables })}\n` : movedLine(tables, dryRun));
  return EXIT.done;
}

function movedLine(
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
    `Copied and verified ${rows} rows of ${full.length} tables. The source is unchanged.`,
    '',
    'Next:',
    '  1. Set DATABASE_URL to the new address, including the password, in the settings file (`runoff doctor` names it) or in the environment.',
    '  2. Start Runoff: waiting runs continue from the new database. Never use the old database again: not for Runoff, and not for `runoff prune`, which would delete the artifacts of new runs.',
    '  3. Artifacts stay where they are. To share them between machines, set ARTIFACTS_URL.',
    '',
  ].join('\n');
}

interface PruneFlags {
  readonly dryRun: boolean;
  readonly branches: boolean;
  readonly repo: string;
  readonly json?: boolean;
}

/** `runoff prune`: removes at once what a server removes once a day, and prints what was removed. */
export function addPrune(program: Command, shell: Shell, done: (code: number) => void): void {
  program
    .command('prune')
    .description('remove runs past their retention (KEEP_RUNS, KEEP_LEDGER) and files unused for two weeks')
    .option(
      '--dry-run',
      'count what would be removed, and show the sizes of the data folder, without removing anything',
      false,
    )
    .option('--branches', 'instead, delete branches of ended runs in a local repository', false)
    .option('--repo <folder>', 'the repository of --branches', '.')
    .addOption(jsonOption())
    .action(async ({ dryRun, branches, repo, json }: PruneFlags, command: Command) => {
      // Whoever names a repository does not mean the data folder, and what is removed there does not come back.
      if (!branches && command.getOptionValueSource('repo') === 'cli')
        command.error('error: --repo is the repository of --branches: add --branches, or leave --repo out');
      if (branches) return done(await pruneBranches(shell, resolve(shell.cwd, repo), dryRun, json ?? false));
      const pruned = await shell.prune(dryRun);
      shell.screen.out(json ? `${jsonText({ dryRun, ...pruned })}\n` : `${pruneText(pruned).join('\n')}\n`);
      done(EXIT.done);
    });
}

/** `runoff prune --branches`: the branches that local runs left. Their patches stay in the records of the runs. */
async function pruneBranches(shell: Shell, path: string, dryRun: boolean, json: boolean): Promise<number> {
  const { world, close } = await shell.open({ role: 'reader' });
  try {
    const tidied = await tidyBranches(world, path, dryRun);
    shell.screen.out(json ? `${jsonText({ dryRun, branches: tidied })}\n` : branchesText(tidied, dryRun));
    return EXIT.done;
  } finally {
    await close();
  }
}

function branchesText(tidied: readonly TidiedBranch[], dryRun: boolean): string {
  const kept = tidied.flatMap((one) => (one.kept === null ? [] : [`  ${shown(one.branch)}: ${one.kept}`]));
  const deleted = tidied.length - kept.length;
  const first = dryRun
    ? `${counted(deleted, 'branch', 'branches')} would be deleted. Nothing was changed.`
    : `${counted(deleted, 'branch', 'branches')} deleted; \`runoff show RUN B\` still has the diffs.`;
  return `${[first, ...(kept.length > 0 ? [`${kept.length} kept:`, ...kept] : [])].join('\n')}\n`;
}

const size = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

function pruneText({ retired, unused, sizes = {} }: PrunedByHand): readonly string[] {
  const rows: readonly (readonly [number, string])[] = [
    [retired.runs, 'runs with all their rows'],
    [retired.calls, 'model calls'],
    [retired.audit, 'audit log entries'],
    [retired.answers, 'cached model answers'],
  ];
  if (!unused)
    return [
      ...lines(rows),
      'Files of this data folder:',
      ...Object.entries(sizes).map(([kind, bytes]) => `${size(bytes).padStart(9)}  ${kind}`),
      'Dry run: nothing was removed. Which files and GitHub branches would be removed is examined only when pruning.',
    ];
  const whose = retired.held === 1 ? 'its' : 'their';
  const held = `${counted(retired.held, 'expired run')} kept for another day because ${whose} GitHub branches could not be deleted, or ${whose} candidate outcomes could not be kept; the log says which.`;
  const busy = `${counted(unused.busy, 'repository', 'repositories')} skipped because ${unused.busy === 1 ? 'it was' : 'they were'} in use.`;
  return [
    ...lines([
      ...rows,
      [retired.branches, 'branches of losing candidates on GitHub'],
      [retired.flows, 'engine records of runs'],
      [retired.artifacts.files, `artifacts, ${size(retired.artifacts.bytes)}`],
      [unused.checkouts, 'checkouts'],
      [unused.layers, 'installed layers'],
      [unused.patches, 'collected trees'],
      [unused.repositories, 'mirrors'],
      [unused.tools, 'toolchains'],
    ]),
    `${size(retired.artifacts.bytes + unused.bytes)} of disk space freed.`,
    ...(retired.held > 0 ? [held] : []),
    ...(unused.busy > 0 ? [busy] : []),
  ];
}

const lines = (counts: readonly (readonly [number, string])[]): readonly string[] =>
  counts.filter(([count]) => count > 0).map(([count, what]) => `${String(count).padStart(9)}  ${what}`);

/** `runoff workers`: the processes that share the work, one line each. */
export async function listWorkers(shell: Shell, json: boolean): Promise<number> {
  const { world, close } = await shell.open({ role: 'reader' });
  try {
    const executors = await world.store.executors();
    if (json) shell.screen.out(`${jsonText(executors)}\n`);
    else if (executors.length === 0) shell.screen.out('No process is using this database.\n');
    else shell.screen.out(`${tableOf(executors).join('\n')}\n`);
    return EXIT.done;
  } finally {
    await close();
  }
}

const HEADS = ['NAME', 'ROLE', 'HOST', 'VERSION', 'CODERS', 'EXAMINATIONS', 'LAST HEARTBEAT'];

function tableOf(executors: readonly ExecutorRecord[]): readonly string[] {
  const rows = executors.map(({ id, role, host, version, coders, examinations, silentMs }) => [
    shown(id),
    role,
    shown(host),
    shown(version),
    `${coders}`,
    `${examinations}`,
    silentMs === null ? 'stopped' : `${Math.round(silentMs / 1000)} s ago`,
  ]);
  const widths = HEADS.map((head, i) => Math.max(head.length, ...rows.map((row) => row[i]?.length ?? 0)));
  return [HEADS, ...rows].map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
