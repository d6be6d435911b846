// How well the engine picks, on small repositories of our own: patches of which we know which are right, put before
// `runoff select` as any user would. Prints what was picked, what decided, and the share of the way from a pick at random
// to a perfect one. With `--without tests,behaviour,agreement` those signals do not count; `--ablation` tries each, and says
// what it adds. TASKS: only as many, from the first.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { csv } from './selection/csv.ts';
import { quota } from './selection/quota.ts';
import { ranges } from './selection/ranges.ts';
import { numerals } from './selection/roman.ts';
import { slugs } from './selection/slug.ts';
import { requestOf, type SelectionTask } from './selection/task.ts';

const ALL: readonly SelectionTask[] = [ranges, slugs, quota, numerals, csv];
const TASKS = ALL.slice(0, Number(process.env.TASKS ?? ALL.length));

interface Answer {
  readonly id: string;
  readonly pick?: string | null;
  readonly confidence?: number;
  readonly decidedBy?: string;
  readonly error?: string;
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
  const requests = TASKS.map((task) => JSON.stringify(requestOf(join(root, randomUUID()), task)));
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
