import { basename, dirname, resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { CONTEST_FILE } from '../core/arena/index.ts';
import { STOPS, statementLines, summaryRows } from '../core/mining/index.ts';
import { type Mined, mineHistory } from '../runs/index.ts';
import { EXIT, type Shell } from '../shell.ts';
import { contestPath, dirWords } from './arena.ts';
import { jsonOption, whole } from './options.ts';
import { jsonText, shellWord, shown } from './render/index.ts';

interface MineFlags {
  readonly repo: string;
  /** Milliseconds of the past. */
  readonly since: number;
  readonly limit: number;
  readonly minutes?: number;
  readonly out?: string;
  readonly dir?: string;
  readonly again?: boolean;
  readonly trustChecks?: boolean;
  readonly json?: boolean;
}

/** `runoff arena mine`: tasks out of the history of a repository. */
export function addMine(arena: Command, shell: Shell, done: (code: number) => void): void {
  arena
    .command('mine')
    .description('make tasks of the changes with tests in a repository’s own history')
    .argument('[name]', 'name of the contest whose dataset is written (tasks.jsonl)')
    .option('--repo <folder>', 'the repository', '.')
    .addOption(
      new Option('--since <time>', 'how far back: 90d, 12mo, 2y or a date')
        .argParser(since)
        .default(YEAR_MS, '12mo'),
    )
    .option('--limit <count>', 'tasks at most, with those that are there', whole(1), 50)
    .option('--minutes <count>', 'stop after this time; the same command goes on', whole(1))
    .option('--out <file>', 'dataset to write, instead of a contest’s')
    .option('--dir <folder>', 'folder of the contest (default: below `arena` in the data folder)')
    .option('--again', 'execute changes again that were dropped before')
    .option('--trust-checks', 'agree to run the repository’s commands even if the sandbox is weaker')
    .addOption(jsonOption())
    .addHelpText('after', HELP)
    .action(async (name: string | undefined, flags: MineFlags, command: Command) => {
      if ((name === undefined) === (flags.out === undefined))
        command.error('error: give the name of a contest or --out FILE, and not both');
      done(await mine(shell, name, flags));
    });
}

const HELP = `
Examples:
  runoff arena mine ours --repo . --since 12mo --limit 50
  runoff arena mine --repo ../shop --out evals/tasks.jsonl --minutes 30
Exit codes: 0 tasks are there · 1 failed · 3 no change became a task`;

const MS_PER_DAY = 86_400_000;
const YEAR_MS = 366 * MS_PER_DAY;
const UNIT_DAYS = { d: 1, w: 7, mo: 30.5, y: 366 } as const;

/** Milliseconds from then until now. Commits of git are not older than 1970. */
export function since(text: string): number {
  const now = Date.now();
  const ago = spanOf(text) ?? now - dateOf(text);
  if (!(ago > 0 && ago <= now))
    throw new InvalidArgumentError(
      'Give a time such as 90d, 8w, 12mo or 2y, or a date of the past such as 2026-01-31, not before 1970.',
    );
  return ago;
}

function spanOf(text: string): number | null {
  const [, count, unit] = /^(\d{1,4})(d|w|mo|y)$/.exec(text) ?? [];
  return unit === undefined ? null : Number(count) * UNIT_DAYS[unit as keyof typeof UNIT_DAYS] * MS_PER_DAY;
}

/** NaN if it is none; `Date.parse` takes 31 February for 3 March. */
function dateOf(text: string): number {
  const date = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(date) && new Date(date).toISOString().startsWith(text) ? date : Number.NaN;
}

async function mine(shell: Shell, name: string | undefined, flags: MineFlags): Promise<number> {
  const stop = new AbortController();
  const release = shell.onInterrupt(() => stop.abort());
  try {
    const { tools, contests } = await shell.openMining();
    const { top } = await tools.workspaces.describe(resolve(shell.cwd, flags.repo));
    const out = flags.out === undefined ? null : resolve(shell.cwd, flags.out);
    const dataset = out === null ? 'tasks.jsonl' : basename(out);
    const path = out === null ? contestPath(shell, contests, name ?? '', flags) : dirname(out);
    const folder = await contests.open(path, 'write');
    try {
      const mined = await mineHistory(tools, {
        repository: top,
        folder,
        dataset,
        since: tools.clock.now() - flags.since,
        limit: flags.limit,
        ...(flags.minutes === undefined ? {} : { minutes: flags.minutes }),
        again: flags.again ?? false,
        trust: flags.trustChecks ?? false,
        onProgress: (text) => shell.screen.err(`${shown(text)}\n`),
        signal: stop.signal,
      });
      const isContest = name !== undefined && (await folder.text(CONTEST_FILE)) !== null;
      const next = afterMining(name, isContest, flags, resolve(path, dataset));
      const file = resolve(path, dataset);
      if (flags.json) shell.screen.out(`${jsonText({ dataset: file, ...mined, next })}\n`);
      else shell.screen.out(minedText(mined, file, next));
      if (mined.summary.stop === 'interrupted') return EXIT.stopped;
      return mined.summary.kept + mined.others > 0 ? EXIT.done : EXIT.nothingSurvived;
    } finally {
      await folder.close();
    }
  } finally {
    release();
  }
}

function afterMining(
  name: string | undefined,
  isContest: boolean,
  { dir, repo }: Pick<MineFlags, 'dir' | 'repo'>,
  file: string,
): string {
  const contest = [name, ...dirWords(dir === undefined ? {} : { dir })].join(' ');
  if (name === undefined) return `Name it in a contest: \`tasks: ${file}\`.`;
  return isContest
    ? `Next: runoff arena gen ${contest}${repo === '.' ? '' : ` --repo ${shellWord(repo)}`} (contest.yml must say \`tasks: tasks.jsonl\`)`
    : `Next: runoff arena init ${contest}, then \`tasks: tasks.jsonl\` in its contest.yml`;
}

const SHALLOW =
  'The clone is shallow, so older changes are not in it. `git fetch --unshallow` in the repository gets them.';

/** A table of what was found, kept and dropped. */
function minedText({ summary, others, shallow, dropped, stated }: Mined, file: string, next: string): string {
  const rows = [
    ...summaryRows(summary),
    ...(others > 0 ? [['other tasks of the dataset', others] as const] : []),
  ];
  const says = statementLines(stated);
  const width = Math.max(...rows.map(([what]) => what.length));
  const first = dropped
    .slice(0, MAX_REASONS)
    .map(({ commit, title, why }) => `  ${commit.slice(0, 10)} ${shown(title)}: ${shown(why ?? '')}`);
  return [
    ...rows.map(([what, count]) => `${what.padEnd(width)}  ${String(count).padStart(5)}`),
    ...(first.length > 0 ? ['', 'Dropped now:', ...first] : []),
    ...(dropped.length > MAX_REASONS ? [`  and ${dropped.length - MAX_REASONS} more, in mined.jsonl`] : []),
    ...(says.length > 0 ? ['', 'Kept now:', ...says.map((line) => `  ${line}`)] : []),
    '',
    STOPS[summary.stop],
    ...(shallow ? [SHALLOW] : []),
    ...(summary.found === 0 && !shallow
      ? ['No change since then has both sources and tests. A longer --since may help.']
      : []),
    ...(summary.kept + others > 0 ? [`The tasks are in ${file}.`, next] : []),
    '',
  ].join('\n');
}

const MAX_REASONS = 10;
