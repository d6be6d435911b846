// How Runoff does on ordinary public repositories, from nothing and without any setting: each of bench/repositories/list.json
// is prepared at the parent of a true fix of its history, prepared again, and then given that fix as an issue with four
// programs as coders: the fix, the fix with its tests, the fix with a mistake, and a change that breaks. Writes one JSON line
// for each repository to --out as it goes, and prints the table of docs/repositories.md. Needs the network for what the
// repositories install; --from names a folder with clones (OWNER+NAME/repo) where GitHub is not reached. --write puts the
// results of a file in place of the stored ones (bench/repositories/results.jsonl), and the table of all of them into
// docs/repositories.md.
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { RunDocument } from '../src/core/reports/index.ts';
import { type Scripts, startScriptedModels } from '../src/demo/scripted-models/index.ts';
import {
  type BenchCandidate,
  candidatesFor,
  cloneBase,
  git,
  type Listed,
  readList,
} from './repositories/candidates.ts';
import { type Ended, runoff } from './repositories/command.ts';
import { type Result, readResults, table, writePage } from './repositories/table.ts';

const HELP = `Usage: node bench/repositories.ts [--only NAME,…] [--from FOLDER] [--out FILE] [--jobs N] [--keep FOLDER]
       [--prepare-only] [--table FILE] [--write FILE]`;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    from: { type: 'string' },
    out: { type: 'string', default: 'repositories.jsonl' },
    jobs: { type: 'string', default: '1' },
    keep: { type: 'string' },
    table: { type: 'string' },
    write: { type: 'string' },
    'prepare-only': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const MODEL = 'anthropic/scripted-planner';

interface PreparedJson {
  readonly tests: {
    readonly source: string;
    readonly passed: number;
    readonly failed: number;
    readonly problem: string | null;
  };
  readonly ms: { readonly setup: number };
}

/** Exit codes of a command that has a result: done, or nothing that can be compared. */
const ENDED_WITH_RESULT: readonly (number | null)[] = [0, 3];

const json = <T>({ code, out }: Ended): T | null => {
  if (!ENDED_WITH_RESULT.includes(code)) return null;
  try {
    return JSON.parse(out) as T;
  } catch {
    return null;
  }
};

const ESCAPES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*[A-Za-z]`, 'g');

const lastLines = (text: string, count: number): string =>
  text.replace(ESCAPES, '').trim().split('\n').slice(-count).join('\n');

/** A folder of one candidate's patch, as the operator's program that applies it. */
function commandFor(root: string, { name, patch }: BenchCandidate): [string, object] {
  const folder = join(root, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'candidate.diff'), patch);
  return [
    name,
    { argv: ['git', 'apply', '--whitespace=nowarn', `/opt/agents/${name}/candidate.diff`], folder },
  ];
}

/** The candidates of the decision and of the ranking, by the names of their programs. */
function namesOf(run: RunDocument['run'] | undefined): Pick<Result, 'among' | 'ranking'> {
  if (!run) return { among: [], ranking: [] };
  const { decision, candidates } = run;
  const aliases = decision?.among.length ? decision.among : [decision?.alias ?? null];
  const ranked = candidates
    .filter(({ place }) => place !== null)
    .toSorted((a, b) => Number(a.place) - Number(b.place));
  return {
    among: aliases.flatMap((alias) => candidates.find((one) => one.alias === alias)?.agent ?? []),
    ranking: ranked.flatMap(({ agent }) => agent ?? []),
  };
}

async function tried(entry: Listed, baseEnv: NodeJS.ProcessEnv, root: string): Promise<Result> {
  const from = options.from
    ? join(options.from, entry.name.replace('/', '+'), 'repo')
    : `https://github.com/${entry.name}.git`;
  const repository = join(root, entry.name.replace('/', '+'));
  cloneBase(from, repository, entry.fix);
  chmodSync(repository, 0o755);
  const first = await runoff(baseEnv, ['prepare', '--repo', repository, '--json']);
  const prepared = json<PreparedJson>(first);
  const nothing = {
    name: entry.name,
    measuredOn: new Date().toISOString().slice(0, 10),
    language: entry.language,
    prepared: first.code === 0,
    passed: prepared?.tests.passed ?? 0,
    failed: prepared?.tests.failed ?? 0,
    source: prepared?.tests.source ?? '',
    setupMs: [prepared?.ms.setup ?? null, null],
    decision: null,
    among: [],
    ranking: [],
    runMs: null,
    because: '',
    told: first.code === 0 ? '' : (prepared?.tests.problem ?? lastLines(first.err, 8)),
  };
  if (prepared === null) return nothing;
  const second = json<PreparedJson>(await runoff(baseEnv, ['prepare', '--repo', repository, '--json']));
  const twice = { ...nothing, setupMs: [prepared.ms.setup, second?.ms.setup ?? null] };
  const candidates = options['prepare-only'] ? null : candidatesFor(repository, entry.fix);
  if (candidates === null) return twice;

  const agents = join(root, 'agents', entry.name.replace('/', '+'));
  const env = {
    ...baseEnv,
    AGENT_COMMANDS: JSON.stringify(Object.fromEntries(candidates.map((one) => commandFor(agents, one)))),
  };
  const coders = candidates.map(({ name }) => name).join(',');
  const task = join(agents, 'task.md');
  writeFileSync(task, git(repository, 'show', '-s', '--format=%B', entry.fix));
  const argv = [
    'run',
    '--repo',
    repository,
    '--file',
    task,
    '-n',
    '4',
    '--coders',
    coders,
    '--models',
    MODEL,
  ];
  const ended = await runoff(env, [...argv, '--no-ask', '--json']);
  const run = json<RunDocument>(ended)?.run;
  const shown = namesOf(run);
  return {
    ...twice,
    decision: run?.decision
      ? `${run.decision.kind}${run.decision.confidence ? `: ${run.decision.confidence}` : ''}`
      : null,
    ...shown,
    runMs: ended.ms,
    because: run?.decision?.because ?? lastLines(ended.err, 8),
  };
}

async function main(): Promise<void> {
  if (options.help) return console.log(HELP);
  if (options.table) return console.log(table(readResults(options.table)));
  if (options.write) return writePage(readResults(options.write));
  const listed = readList();
  const only = options.only?.split(',');
  const done = new Set(readResults(options.out).map(({ name }) => name));
  const unknown = only?.filter((name) => !listed.some((one) => one.name === name)) ?? [];
  if (unknown.length > 0) throw new Error(`${unknown.join(', ')}: not in bench/repositories/list.json`);
  const wanted = only?.flatMap((name) => listed.find((one) => one.name === name) ?? []) ?? listed;
  const queue = wanted.filter(({ name }) => !done.has(name));
  const root = options.keep ?? mkdtempSync(join(tmpdir(), 'runoff-repositories-'));
  mkdirSync(root, { recursive: true });
  chmodSync(root, 0o755);
  const brief = {
    goal: 'Do what the task says.',
    definitionOfDone: ['It is done.'],
    plan: ['Do it.'],
    files: [],
    assumptions: [],
    questions: [],
  };
  const scripts: Scripts = {
    'scripted-planner': {
      turns: [],
      structured: brief,
      answers: [{ holds: 'You write tests for a software task', structured: { tests: [], note: 'none' } }],
    },
  };
  const models = await startScriptedModels({ scripts });
  const price = { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 };
  const env = {
    ...process.env,
    RUNOFF_DATA: join(root, 'data'),
    ANTHROPIC_API_KEY: 'scripted',
    ANTHROPIC_BASE_URL: models.url,
    MODEL_PRICES: JSON.stringify({ [MODEL]: price }),
  };
  mkdirSync(env.RUNOFF_DATA, { recursive: true, mode: 0o755 });
  try {
    await Promise.all(
      Array.from({ length: Number(options.jobs) }, async () => {
        for (let entry = queue.shift(); entry; entry = queue.shift()) {
          console.error(`${new Date().toISOString().slice(11, 19)} ${entry.name}`);
          const result = await tried(entry, env, root).catch((thrown: unknown) => {
            // A stored snapshot can lack files: such a repository is left out, and the others go on.
            console.error(`${entry.name} could not be tried: ${thrown}`);
            return null;
          });
          if (result === null) continue;
          appendFileSync(options.out, `${JSON.stringify(result)}\n`);
          console.error(
            `${new Date().toISOString().slice(11, 19)} ${entry.name}: ${result.prepared ? 'prepared' : 'not prepared'}, ${result.decision ?? 'no decision'} ${result.among.join(' or ')}`,
          );
        }
      }),
    );
  } finally {
    await models.close();
    if (!options.keep) rmSync(root, { recursive: true, force: true });
  }
  console.log(table(readResults(options.out)));
}

await main();
