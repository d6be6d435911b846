// How well the engine picks, on small repositories of our own: patches of which we know which are right, put before
// `runoff select` as any user would. Prints what was picked, what decided, and the share of the way from a pick at random
// to a perfect one. With `--without tests,behaviour,agreement` those signals do not count; `--ablation` tries each, and says
// what it adds. TASKS: only as many, from the first.
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { csv } from './selection/csv.ts';
import { quota } from './selection/quota.ts';
import { ranges } from './selection/ranges.ts';
import { numerals } from './selection/roman.ts';
import { slugs } from './selection/slug.ts';
import type { SelectionTask } from './selection/task.ts';

const ALL: readonly SelectionTask[] = [ranges, slugs, quota, numerals, csv];
const TASKS = ALL.slice(0, Number(process.env.TASKS ?? ALL.length));

interface Answer {
  readonly id: string;
  readonly pick?: string | null;
  readonly confidence?: number;
  readonly decidedBy?: string;
  readonly error?: string;
}

function git(cwd: string, ...args: readonly string[]): string {
  const config = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.invalid'];
  const done = spawnSync('git', [...config, ...args], { cwd, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`git ${args.join(' ')}: ${done.stderr}`);
  return done.stdout;
}

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** A repository at the base commit, and each candidate as the patch that leads to its files. */
function requestOf(root: string, task: SelectionTask, index: number): string {
  const repoDir = join(root, String(index));
  mkdirSync(repoDir, { recursive: true });
  write(repoDir, task.files);
  git(repoDir, 'init', '-q', '-b', 'main');
  git(repoDir, 'add', '-A');
  git(repoDir, 'commit', '-q', '-m', 'base');
  const candidates = task.candidates.map((candidate) => {
    write(repoDir, candidate.files);
    git(repoDir, 'add', '-A');
    const patch = git(repoDir, 'diff', '--cached', '--binary', '--full-index');
    git(repoDir, 'reset', '-q', '--hard');
    return { id: candidate.name, patch };
  });
  return JSON.stringify({ id: task.name, issue: task.issue, repoDir, testCommand: 'npm test', candidates });
}

function select(lines: readonly string[], args: readonly string[]): Promise<readonly Answer[]> {
  const main = join(import.meta.dirname, '../src/main.ts');
  const child = spawn(process.execPath, [main, 'select', ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stdin.end(`${lines.join('\n')}\n`);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () =>
      resolve(
        out
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Answer),
      ),
    );
  });
}

interface Round {
  readonly lines: readonly string[];
  /** Percent of the way from a pick at random to a perfect one. */
  readonly gap: number;
  readonly seconds: number;
}

async function round(root: string, args: readonly string[]): Promise<Round> {
  const started = performance.now();
  const requests = TASKS.map((task, index) => requestOf(join(root, randomUUID()), task, index));
  const answers = await select(requests, args);
  const sums = { picked: 0, random: 0, oracle: 0 };
  const lines = TASKS.map((task) => {
    const answer = answers.find(({ id }) => id === task.name);
    const right = task.candidates.filter((candidate) => candidate.right);
    const picked = task.candidates.find(({ name }) => name === answer?.pick);
    sums.picked += picked?.right ? 1 : 0;
    sums.random += right.length / task.candidates.length;
    sums.oracle += right.length > 0 ? 1 : 0;
    const verdict = picked ? (picked.right ? 'right' : 'WRONG') : right.length > 0 ? 'none' : 'none, rightly';
    const how = answer?.error ?? `${answer?.decidedBy}, confidence ${answer?.confidence?.toFixed(2)}`;
    return `${task.name.padEnd(28)} ${verdict.padEnd(14)} ${picked?.name ?? '–'} (${how})`;
  });
  const gap = (100 * (sums.picked - sums.random)) / (sums.oracle - sums.random);
  const seconds = (performance.now() - started) / 1000;
  return {
    lines: [
      ...lines,
      `picked ${sums.picked}, at random ${sums.random.toFixed(1)}, at best ${sums.oracle}: gap closed ${gap.toFixed(0)} %; ${seconds.toFixed(1)} s`,
    ],
    gap,
    seconds,
  };
}

const SIGNALS = ['tests', 'behaviour', 'agreement'];
const LEFT_OUT = [
  [],
  ...SIGNALS.map((one) => [one]),
  ...SIGNALS.map((one) => SIGNALS.filter((other) => other !== one)),
  SIGNALS,
];

const root = mkdtempSync(join(tmpdir(), 'runoff-selection-'));
try {
  const args = process.argv.slice(2);
  if (args.includes('--ablation')) {
    console.log('| left out | gap closed, % | seconds |\n|---|--:|--:|');
    for (const signals of LEFT_OUT) {
      const without = signals.length === 0 ? [] : ['--without', signals.join(',')];
      const { gap, seconds } = await round(root, ['--always-pick', ...without]);
      console.log(`| ${signals.join(', ') || 'nothing'} | ${gap.toFixed(0)} | ${seconds.toFixed(1)} |`);
    }
  } else console.log((await round(root, args)).lines.join('\n'));
} finally {
  rmSync(root, { recursive: true, force: true });
}
