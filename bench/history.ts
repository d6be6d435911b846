// Contests out of the history of public repositories, with all commands of the arena: `mine` makes tasks, `gen` asks four
// contestants, `decide` lets Runoff choose among their answers without the hidden tests, and the table says what competing
// was worth. The contestants are scripted models that replay changes: the true change (without its tests), a part of it, one
// with a mistake in it, and the change of a neighbouring commit. Which contestant replays which changes from task to task, so
// that none is always right. Needs the network for what the repositories install; --from names a folder with clones
// (OWNER+NAME/repo) where GitHub is not reached. --write puts the table into docs/arena.md.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  type Competition,
  DECISION_CLASSES,
  type RepoTask,
  readTasks,
  WAYS,
} from '../src/core/arena/index.ts';
import type { MiningSummary } from '../src/core/mining/index.ts';
import { type Script, startScriptedModels } from '../src/demo/scripted-models/index.ts';
import { git, mistaken, sourcesOf } from './repositories/candidates.ts';
import { type Ended, runoff } from './repositories/command.ts';

const HELP = `Usage: node bench/history.ts [--from FOLDER] [--only NAME,…] [--limit TASKS] [--minutes MINUTES] [--keep FOLDER] [--write]
  --limit    tasks of each repository (default: 2)
  --minutes  for mining one repository (default: 4)`;

const { values: options } = parseArgs({
  options: {
    from: { type: 'string' },
    only: { type: 'string' },
    limit: { type: 'string', default: '2' },
    minutes: { type: 'string', default: '4' },
    keep: { type: 'string' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

/** Small repositories whose tests need little set-up, and how far back their changes reach. */
const REPOSITORIES = [
  { name: 'gorilla/mux', since: '8y' },
  { name: 'r1chardj0n3s/parse', since: '8y' },
  { name: 'spf13/pflag', since: '6y' },
] as const;

const KINDS = ['true', 'partial', 'wrong', 'neighbour'] as const;
type Kind = (typeof KINDS)[number];
const CONTESTANTS = ['replay-1', 'replay-2', 'replay-3', 'replay-4'] as const;
const PROVIDER = 'anthropic';

function json<T>(what: string, { code, out, err }: Ended): T {
  if (code !== 0) throw new Error(`${what} ended with ${code}: ${err.slice(-2_000)}`);
  return JSON.parse(out) as T;
}

/** One hunk less, or half of the added lines of the only one. */
function partOf(patch: string): string {
  const lines = patch.split('\n');
  const hunks = lines.flatMap((line, at) => (line.startsWith('@@ ') ? [at] : []));
  const last = hunks.at(-1) ?? 0;
  const end = lines.findIndex((line, at) => at > last && line.startsWith('diff --git '));
  if (hunks.length > 1) return lines.toSpliced(last, (end < 0 ? lines.length : end) - last).join('\n');
  const added = lines.flatMap((line, at) => (at > last && line.startsWith('+') ? [at] : []));
  const dropped = new Set(added.slice(Math.ceil(added.length / 2)));
  return lines.filter((_, at) => !dropped.has(at)).join('\n');
}

/** The first added line in which a mistake fits has one. */
function wrongIn(patch: string): string {
  const lines = patch.split('\n');
  for (const [at, line] of lines.entries()) {
    if (!line.startsWith('+') || line.startsWith('+++')) continue;
    const wrong = mistaken(line.slice(1));
    if (wrong !== null) return lines.with(at, `+${wrong}`).join('\n');
  }
  return partOf(patch);
}

/** The sources of the next change of the history that has any; at its end, the last change taken back. */
function neighbourOf(repository: string, commit: string): string {
  const later = git(repository, 'rev-list', '--first-parent', '--reverse', `${commit}..HEAD`)
    .trim()
    .split('\n');
  for (const next of later.filter(Boolean).slice(0, 20)) {
    const patch = sourcesOf(repository, `${next}^`, next);
    if (patch !== '') return patch;
  }
  return sourcesOf(repository, `${commit}^`, `${commit}^^`);
}

interface Mining {
  readonly dataset: string;
  readonly summary: MiningSummary;
}

interface Result {
  readonly name: string;
  readonly summary: MiningSummary;
  readonly competition: Competition | null;
}

/** What each contestant answers to each task. */
function scriptsFor(repository: string, folder: string, tasks: readonly RepoTask[]): Record<string, Script> {
  const answers = tasks.map((task): Record<Kind, string> => {
    const patch = readFileSync(join(folder, task.reference ?? ''), 'utf8');
    const neighbour = neighbourOf(repository, task.origin?.commit ?? '');
    return { true: patch, partial: partOf(patch), wrong: wrongIn(patch), neighbour };
  });
  return Object.fromEntries(
    CONTESTANTS.map((contestant, number) => [
      contestant,
      {
        turns: [{ kind: 'text', text: 'I do not know this task.' }],
        cases: tasks.map(({ statement }, at) => ({
          // The request is JSON, so that quotes and line breaks in it are escaped.
          holds: JSON.stringify(`# Task\n\n${statement.trim()}\n\n# Answer`).slice(1, -1),
          turns: [
            {
              kind: 'text' as const,
              text: `\`\`\`diff\n${answers[at]?.[KINDS[(number + at) % KINDS.length] ?? 'true']}\n\`\`\`\n`,
            },
          ],
        })),
      } satisfies Script,
    ]),
  );
}

async function tried({ name, since }: (typeof REPOSITORIES)[number], root: string): Promise<Result> {
  const repository = join(root, name.replace('/', '+'));
  const from = options.from
    ? join(options.from, name.replace('/', '+'), 'repo')
    : `https://github.com/${name}.git`;
  git('/', 'clone', '-q', from, repository);
  chmodSync(repository, 0o755);
  const contest = name.replace(/[^\w]/g, '-');
  const baseEnv = { ...process.env, RUNOFF_DATA: join(root, 'data') };
  const { limit, minutes } = options;
  const argv = ['--repo', repository, '--since', since, '--limit', limit, '--minutes', minutes, '--json'];
  const { dataset, summary } = json<Mining>(
    'mine',
    await runoff(baseEnv, ['arena', 'mine', contest, ...argv], { echo: true }),
  );
  const folder = join(dataset, '..');
  const tasks = readTasks(readFileSync(dataset, 'utf8'), 'tasks.jsonl').tasks.filter(
    (task) => task.kind === 'repo',
  );
  const models = await startScriptedModels({ scripts: scriptsFor(repository, folder, tasks) });
  try {
    const names = CONTESTANTS.map((one) => `${PROVIDER}/${one}`);
    const price = { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 };
    const env = {
      ...baseEnv,
      ANTHROPIC_API_KEY: 'scripted',
      ANTHROPIC_BASE_URL: models.url,
      MODEL_PRICES: JSON.stringify(Object.fromEntries(names.map((one) => [one, price]))),
    };
    writeFileSync(
      join(folder, 'contest.yml'),
      `version: 1\nname: ${contest}\nprompts: { plain: Answer with a diff. }\ncontestants: { prompts: [plain], models: [${names.join(', ')}] }\ntasks: tasks.jsonl\n`,
    );
    json('gen', await runoff(env, ['arena', 'gen', contest, '--repo', repository, '--json'], { echo: true }));
    const decided = await runoff(env, ['arena', 'decide', contest, '--repo', repository, '--json'], {
      echo: true,
    });
    const { competition } = json<{ readonly competition: Competition }>('decide', decided);
    return { name, summary, competition };
  } finally {
    await models.close();
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
const shown = (value: number): string => (Number.isInteger(value) ? String(value) : value.toFixed(1));
const counts = (by: Readonly<Partial<Record<string, number>>>): string =>
  Object.entries(by)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ') || '–';

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

const WAY_NAMES = {
  runoff: "Runoff's pick",
  single: 'one contestant alone, at random',
  random: 'a pick at random among the changes',
  smallest: 'the smallest change',
  best: 'the best contestant of each repository alone, known afterwards',
  ceiling: 'a perfect pick',
} as const;

function table(results: readonly Result[]): string {
  const competitions = results.flatMap(({ competition }) => competition ?? []);
  const pools = sum(competitions.map((one) => one.pools));
  const classes = DECISION_CLASSES.map((name) => {
    const rows = competitions.flatMap((one) => one.classes.filter((each) => each.class === name));
    return [
      name,
      sum(rows.map((one) => one.pools)),
      sum(rows.map((one) => one.right)),
      sum(rows.map((one) => one.amongRight)),
    ];
  });
  const ways = WAYS.map((way) => {
    const rows = competitions.flatMap((one) => one.ways.filter((each) => each.way === way));
    const [solved, usd] = [sum(rows.map((one) => one.solved)), sum(rows.map((one) => one.usd))];
    return [
      WAY_NAMES[way],
      `${shown(solved)} of ${pools}`,
      `$${usd.toFixed(3)}`,
      solved === 0 ? '–' : `$${(usd / solved).toFixed(3)}`,
    ];
  });
  return [
    row(['repository', 'commits', 'changes with tests', 'executed', 'kept', 'dropped, by reason']),
    '| --- | --: | --: | --: | --: | --- |',
    ...results.map(({ name, summary }) =>
      row([
        name,
        summary.commits,
        summary.found,
        summary.found - summary.unchecked,
        summary.kept,
        counts(summary.dropped),
      ]),
    ),
    '',
    row(['decision', 'tasks', 'right', 'a right answer among those of a toss-up']),
    '| --- | --: | --: | --: |',
    ...classes.map(([name = '', all = 0, right = 0, among = 0]) =>
      row([name, all, right, name === 'toss-up' ? among : '–']),
    ),
    '',
    row(['way', 'solved', '$ in all', '$ per solved']),
    '| --- | --: | --: | --: |',
    ...ways.map(row),
  ].join('\n');
}

const PAGE = join(import.meta.dirname, '../docs/arena.md');
const BEGIN = '<!-- Written by `node bench/history.ts --write`. -->';
const END = '<!-- End of what it wrote. -->';

function writePage(text: string): void {
  const page = readFileSync(PAGE, 'utf8');
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`${PAGE} has no place for the table.`);
  const date = new Date().toISOString().slice(0, 10);
  const where = `Measured on ${date}, on ${availableParallelism()} cores. The contestants replay changes; no model was asked.`;
  writeFileSync(PAGE, `${page.slice(0, from)}${BEGIN}\n${where}\n\n${text}\n${page.slice(to)}`);
}

async function main(): Promise<void> {
  if (options.help) return console.log(HELP);
  const only = options.only?.split(',');
  const root = options.keep ?? mkdtempSync(join(tmpdir(), 'runoff-arena-'));
  mkdirSync(join(root, 'data'), { recursive: true, mode: 0o755 });
  chmodSync(root, 0o755);
  const results: Result[] = [];
  try {
    for (const entry of REPOSITORIES) {
      if (only && !only.includes(entry.name)) continue;
      results.push(await tried(entry, root));
    }
  } finally {
    if (!options.keep) rmSync(root, { recursive: true, force: true });
  }
  const text = table(results);
  console.log(text);
  if (options.write) writePage(text);
}

await main();
