// Runoff's own time and memory. Time: from the label to the last coder's start, and from the last coder's end to the
// open pull request, on a warm repository of 30,000 files, with commands for build and tests that take no time; told
// as a ratio to the slowest coder of the same run. Memory: the idle App with its embedded database.
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { stringify } from 'yaml';
import {
  type DemoEnvironment,
  MAINTAINER,
  openDemoEnvironment,
  REPOSITORY,
} from '../src/demo/environment.ts';
import { ISSUE } from '../src/demo/sample/index.ts';
import { COLLECTING, LABEL } from '../src/runs/index.ts';

const FILES = 30_000;
const RUNS = 3;
const IDLE_MS = 15_000;
/** What `npm start` gives Node: a small nursery, as the App waits far more than it works. */
const AS_NPM_START = ['--max-semi-space-size=2'];

const settings = stringify({
  candidates: 4,
  coders: [
    { agent: 'builtin', model: 'anthropic/scripted-heron' },
    { agent: 'builtin', model: 'openai/scripted-otter' },
    { agent: 'builtin', model: 'anthropic/scripted-heron' },
    { agent: 'builtin', model: 'openai/scripted-otter' },
  ],
  checks: { build: 'true', test: 'true' },
  budget: { run: 2, candidate: 0.5 },
});

async function manyFiles(folder: string): Promise<void> {
  for (let i = 0; i < FILES; i += 1) {
    const directory = join(folder, 'data', String(i % 300).padStart(3, '0'));
    if (i < 300) await mkdir(directory, { recursive: true });
    await writeFile(join(directory, `${i}.txt`), `record ${i}\n`.repeat(20));
  }
}

interface Lap {
  /** Milliseconds. */
  readonly labelToLastStart: number;
  readonly lastEndToPull: number;
  readonly slowestCoder: number;
}

async function lap(theatre: DemoEnvironment, opened: Map<string, number>): Promise<Lap> {
  const { github, world } = theatre;
  const person = github.as(MAINTAINER);
  const issue = await person.openIssue(REPOSITORY, ISSUE);
  await person.addLabel(REPOSITORY, issue, LABEL);
  const seen = performance.now();
  let started = 0;
  let ended = 0;
  for (;;) {
    const run = (await world.store.runs(5)).find(
      (r) => r.origin.kind === 'github' && r.origin.issue === issue,
    );
    const candidates = run ? await world.store.candidates(run.id) : [];
    const states = candidates.map((c) => c.state);
    if (!started && states.length === 4 && !states.includes('queued')) started = performance.now();
    const working = candidates.some(
      (c) => c.state === 'queued' || (c.state === 'coding' && c.note !== COLLECTING),
    );
    if (!ended && states.length === 4 && !working) ended = performance.now();
    if (run?.state === 'failed') throw new Error(`The run failed: ${run.trouble?.message}`);
    if (run?.state === 'published') {
      await world.engine.settled(run.id);
      await github.settled();
      const branch = run.outcome?.kind === 'pull' ? run.outcome.branch : '';
      return {
        labelToLastStart: started - seen,
        lastEndToPull: (opened.get(branch) ?? Number.NaN) - ended,
        slowestCoder: Math.max(...candidates.map((c) => c.ms)),
      };
    }
    await wait(25);
  }
}

async function time(): Promise<void> {
  const opened = new Map<string, number>();
  const theatre = await openDemoEnvironment({
    paceMs: 40,
    settings,
    furnish: manyFiles,
    onStep: (text) => process.stderr.write(`starting ${text} …\n`),
    onDelivery: ({ event, action, payload }) => {
      const { pull_request: pull } = payload as { pull_request?: { head: { ref: string } } };
      if (event === 'pull_request' && action === 'opened' && pull)
        opened.set(pull.head.ref, performance.now());
    },
  });
  try {
    process.stderr.write('warming up …\n');
    await lap(theatre, opened);
    for (let i = 1; i <= RUNS; i += 1) {
      const { labelToLastStart, lastEndToPull, slowestCoder } = await lap(theatre, opened);
      const own = labelToLastStart + lastEndToPull;
      console.log(
        `run ${i}: label → last coder started ${seconds(labelToLastStart)}, last coder done → pull request ${seconds(lastEndToPull)}, ` +
          `own time ${seconds(own)} = ${(own / slowestCoder).toFixed(2)} × the slowest coder (${seconds(slowestCoder)})`,
      );
    }
  } finally {
    await theatre.close();
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;

/** Proportional set size of a process and all its children, bytes: shared pages count once. */
function memoryOf(pid: number): number {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const stat = readIf(`/proc/${name}/stat`);
    const parent = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
    if (parent) parents.set(Number(name), Number(parent));
  }
  const within = (child: number): boolean =>
    child === pid || (parents.has(child) && within(parents.get(child) ?? 0));
  return [...parents.keys()].filter(within).reduce((total, child) => {
    const pss = /^Pss:\s+(\d+) kB$/m.exec(readIf(`/proc/${child}/smaps_rollup`) ?? '')?.[1];
    return total + Number(pss ?? 0) * 1024;
  }, 0);
}

function readIf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The process ended between the listing and the reading.
    return null;
  }
}

async function memory(): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'runoff-bench-'));
  await chmod(home, 0o711);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const app = spawn(
    process.execPath,
    [...AS_NPM_START, join(import.meta.dirname, '../src/main.ts'), 'serve'],
    {
      cwd: home,
      env: {
        PATH: process.env.PATH,
        HOME: home,
        RUNOFF_DATA: join(home, 'data'),
        PORT: '0',
        LOG_LEVEL: 'warn',
        APP_ID: '1',
        PRIVATE_KEY: privateKey.export({ type: 'pkcs1', format: 'pem' }) as string,
        WEBHOOK_SECRET: randomBytes(32).toString('hex'),
        ANTHROPIC_API_KEY: 'none',
      },
      stdio: ['ignore', 'inherit', 'pipe'],
    },
  );
  try {
    await listening(app);
    await wait(IDLE_MS);
    console.log(
      `idle App with embedded database: ${(memoryOf(app.pid ?? 0) / 2 ** 20).toFixed(0)} MiB (PSS)`,
    );
  } finally {
    app.kill('SIGTERM');
    await new Promise((resolve) => app.once('exit', resolve));
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

function listening(app: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    app.stderr?.on('data', (data: Buffer) => {
      process.stderr.write(data);
      if (data.toString().includes('listens at')) resolve();
    });
    app.once('exit', (code) => reject(new Error(`The App ended with ${code} before it listened.`)));
  });
}

await memory();
await time();
