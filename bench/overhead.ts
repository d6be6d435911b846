// Runoff's own time and memory beside the goals for them. Time: from the label to the last coder's start, and from the last
// coder's end to the open pull request, on a warm repository, with gates, base tests, tests of other candidates and
// probes; and as ratios to the same work by hand (bench/by-hand.ts). Memory: the idle App with its embedded database.
//
//   FILES=30000,100000 CANDIDATES=4,8 RUNS=3 node bench/overhead.ts
//
// The first of FILES with the first of CANDIDATES is the measured case; each further value is compared with it. A run
// before the measured ones warms everything up; with RUNS=0 it is the measured one. ONLY=time or ONLY=memory leaves out the
// other part, IDLE_MS is how long the App idles before its memory is read. TRACE=FOLDER keeps a trace of each run there.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { isOver } from '../src/core/model/index.ts';
import { type DemoEnvironment, openDemoEnvironment, REPOSITORY } from '../src/demo/environment.ts';
import type { RunRecord } from '../src/ports/index.ts';
import { COLLECTING } from '../src/runs/index.ts';
import { idleAppMemory } from './app-memory.ts';
import { demoRun } from './demo-run.ts';
import { contestantsOf } from './overhead-contestants.ts';
import { quantile } from './quantile.ts';

const { env } = process;
const numbers = (text: string): readonly [number, ...number[]] => {
  const [first = 0, ...more] = text.split(',').map(Number);
  return [first, ...more];
};
const FILES = numbers(env.FILES ?? '30000,100000');
const CANDIDATES = numbers(env.CANDIDATES ?? '4,8');
const RUNS = Number(env.RUNS ?? 3);
const IDLE_MS = Number(env.IDLE_MS ?? 15_000);

const BUILD = 'node scripts/build.mjs';
const TEST = 'node --test';

const settingsOf = (coders: ReturnType<typeof contestantsOf>['coders']) =>
  stringify({
    candidates: coders.length,
    coders,
    checks: { build: BUILD, test: TEST },
    budget: { run: 4, candidate: 0.5 },
  });

async function addFiles(folder: string, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    const directory = join(folder, 'data', String(i % 300).padStart(3, '0'));
    if (i < 300) await mkdir(directory, { recursive: true });
    await writeFile(join(directory, `${i}.txt`), `record ${i}\n`.repeat(20));
  }
}

/** Milliseconds. */
interface Lap {
  readonly start: number;
  /** From the last coder's end to the open pull request. */
  readonly finish: number;
  readonly slowestCoder: number;
}

/** Rejects if the run ends in any other way than with a pull request, or not at all. */
function lap(
  environment: DemoEnvironment,
  count: number,
  opened: ReadonlyMap<string, number>,
): Promise<{ readonly lap: Lap; readonly run: RunRecord }> {
  const { github, world } = environment;
  let started = 0;
  let ended = 0;
  return demoRun(environment, 25, async (run, labelledAt) => {
    const candidates = run ? await world.store.candidates(run.id) : [];
    const waiting = candidates.some(({ state }) => state === 'queued');
    if (!started && candidates.length === count && !waiting) started = performance.now();
    const coding = candidates.some(({ state, note }) => state === 'coding' && note !== COLLECTING);
    if (!ended && started && !coding) ended = performance.now();
    if (!run || !(isOver(run.state) || run.state === 'awaiting_pick')) return null;
    await github.settled();
    const branch = run.outcome?.kind === 'pull' ? run.outcome.branch : '';
    const at = opened.get(branch);
    if (at === undefined) throw new Error(`The run ended without a pull request: ${endOf(run)}`);
    await world.engine.settled(run.id);
    const slowestCoder = Math.max(...candidates.map(({ ms }) => ms));
    return { lap: { start: started - labelledAt, finish: at - ended, slowestCoder }, run };
  });
}

const endOf = ({ state, trouble, decision }: RunRecord): string =>
  [state, trouble?.message, decision?.because].filter(Boolean).join(', ');

interface ByHand {
  readonly start: number;
  readonly check: number;
  readonly suite: number;
}

/** The same work on the same repository and patches, by a script without Runoff. */
async function byHand({ home, world }: DemoEnvironment, { id }: RunRecord): Promise<ByHand> {
  const folder = await mkdtemp(join(tmpdir(), 'runoff-bench-patches-'));
  try {
    const paths: string[] = [];
    for (const { alias, patch } of await world.store.candidates(id)) {
      if (!patch) continue;
      paths.push(join(folder, `${alias}.patch`));
      await writeFile(join(folder, `${alias}.patch`), await world.artifacts.get(patch.text));
    }
    const script = join(import.meta.dirname, 'by-hand.ts');
    const args = [script, join(home, REPOSITORY.name), BUILD, TEST, ...paths];
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 26 });
    return JSON.parse(stdout) as ByHand;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Case {
  readonly files: number;
  readonly candidates: number;
}

interface Measured extends Lap {
  readonly hand: ByHand;
}

async function measure({ files, candidates }: Case): Promise<Measured> {
  const opened = new Map<string, number>();
  const { scripts, coders, prices } = contestantsOf(candidates);
  const environment = await openDemoEnvironment({
    paceMs: 40,
    settings: settingsOf(coders),
    scripts,
    environment: {
      MODEL_PRICES: prices,
      CODERS_PER_WORKER: `${candidates}`,
      CODERS_PER_REPOSITORY: `${candidates}`,
      ...(env.TRACE ? { TRACE_FOLDER: env.TRACE } : {}),
    },
    furnish: (folder) => addFiles(folder, files),
    onStep: (text) => process.stderr.write(`starting ${text} …\n`),
    onDelivery: ({ event, action, payload }) => {
      const { pull_request: pull } = payload as { pull_request?: { head: { ref: string } } };
      if (event === 'pull_request' && action === 'opened' && pull)
        opened.set(pull.head.ref, performance.now());
    },
  });
  try {
    process.stderr.write('warming up …\n');
    const first = await lap(environment, candidates, opened);
    const laps: Lap[] = [];
    let hand: ByHand | null = null;
    for (let nth = Math.min(1, RUNS); nth <= RUNS; nth += 1) {
      const { lap: one, run } = nth === 0 ? first : await lap(environment, candidates, opened);
      laps.push(one);
      hand ??= await byHand(environment, run);
      console.log(
        `${caseText({ files, candidates })}, run ${nth}: label → last coder started ${seconds(one.start)}, ` +
          `last coder done → pull request ${seconds(one.finish)}, own time ${ratio(one.start + one.finish, one.slowestCoder)} the slowest coder (${seconds(one.slowestCoder)})`,
      );
    }
    return { ...medians(laps), hand: hand ?? { start: Number.NaN, check: Number.NaN, suite: Number.NaN } };
  } finally {
    await environment.close();
  }
}

const median = (values: readonly number[]): number => quantile(values, 0.5);

const medians = (laps: readonly Lap[]): Lap => ({
  start: median(laps.map(({ start }) => start)),
  finish: median(laps.map(({ finish }) => finish)),
  slowestCoder: median(laps.map(({ slowestCoder }) => slowestCoder)),
});

const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
const ratio = (ms: number, of: number): string => `${(ms / of).toFixed(2)} ×`;
const caseText = ({ files, candidates }: Case): string =>
  `${files.toLocaleString('en')} files, ${candidates} candidates`;

/** One line of the table of results; `within` is whether the goal is reached. */
const row = (what: string, figure: string, goal: string, within: boolean): string =>
  `| ${what} | ${figure} | ${goal} | ${within ? 'yes' : 'no'} |`;

function printTable(base: Case, measured: Measured, further: readonly (readonly [Case, Measured])[]): void {
  const { start, finish, hand } = measured;
  console.log(
    `\n| ${caseText(base)}, median of ${Math.max(1, RUNS)} | measured | goal | reached |\n|---|--:|--:|---|`,
  );
  const limit = hand.suite + 2000;
  console.log(row('label → last coder started', seconds(start), '≤ 1.00 s', start <= 1000));
  console.log(
    row(
      `last coder done → pull request (one test suite: ${seconds(hand.suite)})`,
      seconds(finish),
      `≤ ${seconds(limit)}`,
      finish <= limit,
    ),
  );
  for (const [what, own, of] of [
    ['label → last coder started', start, hand.start],
    ['last coder done → pull request', finish, hand.check],
  ] as const)
    console.log(row(`${what}, × by hand (${seconds(of)})`, ratio(own, of), '≤ 1.50 ×', own <= 1.5 * of));
  for (const [one, of] of further) {
    const most = one.files === base.files ? 1.8 : 1.3;
    const own = of.start + of.finish;
    const before = start + finish;
    console.log(
      row(
        `${caseText(one)}: start and finish, × the first case`,
        ratio(own, before),
        `≤ ${most.toFixed(2)} ×`,
        own <= most * before,
      ),
    );
  }
}

async function time(): Promise<void> {
  const [files, ...moreFiles] = FILES;
  const [candidates, ...moreCandidates] = CANDIDATES;
  const base = { files, candidates };
  const measured = await measure(base);
  const further: (readonly [Case, Measured])[] = [];
  for (const one of [
    ...moreFiles.map((count) => ({ ...base, files: count })),
    ...moreCandidates.map((count) => ({ ...base, candidates: count })),
  ])
    further.push([one, await measure(one)]);
  printTable(base, measured, further);
}

if (env.ONLY !== 'memory') await time();
if (env.ONLY !== 'time') {
  const mebibytes = (await idleAppMemory(IDLE_MS)) / 2 ** 20;
  console.log(
    `\nidle App with embedded database: ${mebibytes.toFixed(0)} MiB (PSS); goal: ≤ 170 MiB, reached: ${mebibytes <= 170 ? 'yes' : 'no'}`,
  );
}
