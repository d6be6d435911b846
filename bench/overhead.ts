// Runoff's own time and memory beside the goals for them. Time: from the label to the last coder's start, and from the last
// coder's end to the open pull request, on a warm repository, with gates, base tests, tests of other candidates and
// probes; and as ratios to the same work by hand (bench/by-hand.ts). Memory: the App with its embedded database, idle, and
// while runs are examined.
//
//   FILES=30000,100000 CANDIDATES=4,8 RUNS=3 EXAMINED=4 node bench/overhead.ts
//
// The first of FILES with the first of CANDIDATES is the measured case; each further value is compared with it. A run
// before the measured ones warms everything up; with RUNS=0 it is the measured one. ONLY=time or ONLY=memory leaves out the
// other part, IDLE_MS is how long the App idles before its memory is read, EXAMINED how many runs are then examined at a
// time (0: none). APART=30 measures the first case once more with coders that end 30 s apart, so that all but the last are
// examined while others work, as is usual with models. TRACE=FOLDER keeps a trace of each run there.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { openArtifacts } from '../src/adapters/artifacts/index.ts';
import { isOver } from '../src/core/model/index.ts';
import { REPOSITORY } from '../src/demo/environment.ts';
import type { RunRecord, Store } from '../src/ports/index.ts';
import { COLLECTING } from '../src/runs/index.ts';
import { examiningAppMemory, idleAppMemory } from './app-memory.ts';
import { type DemoApp, type DemoAppOptions, withDemoApp, withStore } from './demo-app.ts';
import { eventually, resultOf, startDemoRun } from './demo-run.ts';
import { numbersIn, quantile } from './numbers.ts';
import { contestantsOf } from './overhead-contestants.ts';

const { env } = process;
const FILES = numbersIn(env.FILES ?? '30000,100000');
const CANDIDATES = numbersIn(env.CANDIDATES ?? '4,8');
const RUNS = Number(env.RUNS ?? 3);
const IDLE_MS = Number(env.IDLE_MS ?? 15_000);
const EXAMINED = Number(env.EXAMINED ?? 4);
const APART = Number(env.APART ?? 0);

const BUILD = 'node scripts/build.mjs';
const TEST = 'node --test';

const settingsOf = (coders: ReturnType<typeof contestantsOf>['coders']) =>
  stringify({
    candidates: coders.length,
    coders,
    checks: { build: BUILD, test: TEST },
    budget: { run: 4, candidate: 0.5 },
  });

/** Different texts among the files: the local GitHub reads each of them by a request of its own. */
const TEXTS = 300;

async function addFiles(folder: string, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    const directory = join(folder, 'data', String(i % 300).padStart(3, '0'));
    if (i < 300) await mkdir(directory, { recursive: true });
    await writeFile(join(directory, `${i}.txt`), `record ${i % TEXTS}\n`.repeat(20));
  }
}

/** Milliseconds. */
interface Lap {
  readonly start: number;
  /** From the last coder's end to the open pull request. */
  readonly finish: number;
  readonly slowestCoder: number;
}

/** Milliseconds between two looks at the coders. */
const LOOK_MS = 25;

interface Measured {
  readonly demo: DemoApp;
  readonly store: Store;
  /** When the pull request of a branch was opened, by `performance.now()`. */
  readonly opened: ReadonlyMap<string, number>;
}

/** Rejects if the run ends in any other way than with a pull request, or not at all. */
async function lap(
  { demo: { github }, store, opened }: Measured,
  count: number,
): Promise<{ readonly lap: Lap; readonly run: RunRecord }> {
  const { id, labelledAt } = await startDemoRun({ github, store });
  const started = await eventually(LOOK_MS, async () => {
    const candidates = await store.candidates(id);
    const run = await store.run(id);
    if (run && isOver(run.state))
      throw new Error(`The run ended with ${candidates.length} of ${count} coders: ${endOf(run)}`);
    const isWaiting = candidates.some(({ state }) => state === 'queued');
    return candidates.length === count && !isWaiting ? performance.now() : null;
  });
  const ended = await eventually(LOOK_MS, async () => {
    const candidates = await store.candidates(id);
    const isCoding = candidates.some(({ state, note }) => state === 'coding' && note !== COLLECTING);
    return isCoding ? null : performance.now();
  });
  const run = await resultOf({ github, store }, id);
  const at = opened.get(run.outcome?.kind === 'pull' ? run.outcome.branch : '');
  if (at === undefined) throw new Error(`The run ended without a pull request: ${endOf(run)}`);
  const slowestCoder = Math.max(...(await store.candidates(id)).map(({ ms }) => ms));
  return { lap: { start: started - labelledAt, finish: at - ended, slowestCoder }, run };
}

const endOf = ({ state, trouble, decision }: RunRecord): string =>
  [state, trouble?.message, decision?.because].filter(Boolean).join(', ');

interface ByHand {
  readonly start: number;
  readonly check: number;
  readonly suite: number;
}

/** The same work on the same repository and patches, by a script without Runoff. */
async function byHand({ demo: { home }, store }: Measured, { id }: RunRecord): Promise<ByHand> {
  const folder = await mkdtemp(join(tmpdir(), 'runoff-bench-patches-'));
  const artifacts = openArtifacts(join(home, 'data', 'artifacts'));
  try {
    const paths: string[] = [];
    for (const { alias, patch } of await store.candidates(id)) {
      if (!patch) continue;
      paths.push(join(folder, `${alias}.patch`));
      await writeFile(join(folder, `${alias}.patch`), await artifacts.get(patch.text));
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
  /** Seconds between the ends of two coders; absent: they end together. */
  readonly apart?: number;
}

/** The App of a case; as many slots as it has coders. */
function appOf({ files, candidates, apart }: Case, runs: number): DemoAppOptions {
  const { scripts, coders, prices } = contestantsOf(candidates, apart);
  const slots = `${candidates * runs}`;
  return {
    settings: settingsOf(coders),
    scripts,
    variables: {
      MODEL_PRICES: prices,
      CODERS_PER_WORKER: slots,
      CODERS_PER_REPOSITORY: slots,
      MAX_CANDIDATES: `${candidates}`,
    },
    furnish: (folder) => addFiles(folder, files),
  };
}

interface Figures extends Lap {
  readonly hand: ByHand;
}

async function measure(one: Case): Promise<Figures> {
  const opened = new Map<string, number>();
  const onDelivery: DemoAppOptions['onDelivery'] = ({ event, action, payload }) => {
    const { pull_request: pull } = payload as { pull_request?: { head: { ref: string } } };
    if (event === 'pull_request' && action === 'opened' && pull) opened.set(pull.head.ref, performance.now());
  };
  process.stderr.write(`${caseText(one)}: starting …\n`);
  return withDemoApp({ ...appOf(one, 1), onDelivery }, (demo) =>
    withStore(demo, async (store) => {
      process.stderr.write('warming up …\n');
      const on = { demo, store, opened };
      const first = await lap(on, one.candidates);
      const laps: Lap[] = [];
      for (let nth = Math.min(1, RUNS); nth <= RUNS; nth += 1) {
        const { lap: own } = nth === 0 ? first : await lap(on, one.candidates);
        laps.push(own);
        console.log(
          `${caseText(one)}, run ${nth}: label → last coder started ${seconds(own.start)}, ` +
            `last coder done → pull request ${seconds(own.finish)}, own time ${ratio(own.start + own.finish, own.slowestCoder)} the slowest coder (${seconds(own.slowestCoder)})`,
        );
      }
      return { ...medians(laps), hand: await byHand(on, first.run) };
    }),
  );
}

const median = (values: readonly number[]): number => quantile(values, 0.5);

const medians = (laps: readonly Lap[]): Lap => ({
  start: median(laps.map(({ start }) => start)),
  finish: median(laps.map(({ finish }) => finish)),
  slowestCoder: median(laps.map(({ slowestCoder }) => slowestCoder)),
});

const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
const ratio = (ms: number, of: number): string => `${(ms / of).toFixed(2)} ×`;
const caseText = ({ files, candidates, apart }: Case): string =>
  `${files.toLocaleString('en')} files, ${candidates} candidates${apart ? `, ${apart} s apart` : ''}`;

/** One line of the table of results; `within` is whether the goal is reached. */
const row = (what: string, figure: string, goal: string, within: boolean): string =>
  `| ${what} | ${figure} | ${goal} | ${within ? 'yes' : 'no'} |`;

function printTable(base: Case, measured: Figures, further: readonly (readonly [Case, Figures])[]): void {
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
    if (one.apart) {
      const what = `${caseText(one)}: last coder done → pull request`;
      console.log(row(what, seconds(of.finish), `≤ ${seconds(limit)}`, of.finish <= limit));
      continue;
    }
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
  const further: (readonly [Case, Figures])[] = [];
  for (const one of [
    ...moreFiles.map((count) => ({ ...base, files: count })),
    ...moreCandidates.map((count) => ({ ...base, candidates: count })),
    ...(APART > 0 ? [{ ...base, apart: APART }] : []),
  ])
    further.push([one, await measure(one)]);
  printTable(base, measured, further);
}

async function memory(): Promise<void> {
  const goal = (bytes: number, most: number): string => {
    const mebibytes = bytes / 2 ** 20;
    return `${mebibytes.toFixed(0)} MiB (PSS); goal: ≤ ${most} MiB, reached: ${mebibytes <= most ? 'yes' : 'no'}`;
  };
  console.log(`\nidle App with embedded database: ${goal(await idleAppMemory(IDLE_MS), 170)}`);
  if (EXAMINED === 0) return;
  const one = { files: FILES[0], candidates: CANDIDATES[0] };
  const options = appOf(one, EXAMINED);
  const variables = { ...options.variables, EXAMINATIONS_PER_WORKER: `${EXAMINED}` };
  const { bytes, atOnce } = await examiningAppMemory(EXAMINED, { ...options, variables });
  console.log(
    `App that examines ${EXAMINED} ${EXAMINED === 1 ? 'run' : 'runs'} (${atOnce} at the same time; ${caseText(one)}), without sandboxes: ${goal(bytes, 400)}`,
  );
}

if (env.ONLY !== 'memory') await time();
if (env.ONLY !== 'time') await memory();
