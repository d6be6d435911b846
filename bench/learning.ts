// Simulates `coders: auto` on contestants whose chance of being right is known: how many runs it solves compared with
// fixed fields, how soon it finds the best, whether it notices that one has got worse, and whether it leaves out a good
// one. `node bench/learning.ts [--seeds 40] [--runs 300]` prints a table in Markdown; docs/learning.md quotes it.
import { parseArgs } from 'node:util';
import { familyOf } from '../src/core/judging/index.ts';
import {
  type CandidateOutcome,
  chooseField,
  type Option,
  type WorkKind,
} from '../src/core/learning/index.ts';
import { fnv1a, mulberry32 } from '../src/core/settings/index.ts';

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '40' }, runs: { type: 'string', default: '300' } },
});
const SEEDS = Number(values.seeds);
const RUNS = Number(values.runs);
/** Places of a field. */
const COUNT = 2;
/** How often Runoff picks a right candidate if there is one: as measured in docs/selection.md. */
const PICKS_RIGHT = 0.93;
/** How often two models of one family share their luck on a task. */
const SHARED_LUCK = 0.5;

const CONTESTANTS = [
  'anthropic/claude-sonnet-5',
  'anthropic/claude-haiku-5',
  'openai/gpt-6-sol',
  'openai/gpt-6-luna',
  'google/gemini-3.1-pro-preview',
  'deepseek/deepseek-v4',
] as const;

interface Scenario {
  readonly name: string;
  /** The chance that a contestant (by number) is right. */
  readonly truth: (contestant: number, run: number, kind: WorkKind) => number;
  readonly kinds?: readonly WorkKind[];
}

const half = RUNS / 2;
const SCENARIOS: readonly Scenario[] = [
  { name: 'one is clearly best', truth: (c) => [0.4, 0.3, 0.75, 0.35, 0.3, 0.4][c] ?? 0 },
  { name: 'all are nearly alike', truth: (c) => [0.5, 0.48, 0.52, 0.5, 0.47, 0.53][c] ?? 0 },
  {
    name: 'the best gets worse halfway',
    truth: (c, run) => [0.45, 0.4, run < half ? 0.8 : 0.15, 0.4, 0.55, 0.4][c] ?? 0,
  },
  {
    name: 'a poor one gets best halfway',
    truth: (c, run) => [0.45, 0.4, 0.5, 0.4, 0.4, run < half ? 0.1 : 0.85][c] ?? 0,
  },
  {
    name: 'each kind has its own best',
    truth: (c, _, kind) => ((kind === 'bug' ? c === 0 : c === 4) ? 0.75 : 0.35),
    kinds: ['bug', 'feature'],
  },
];

const OPTIONS: readonly Option[] = CONTESTANTS.map((model) => ({
  agent: 'builtin',
  model,
  prompt: 'plain',
  forecastUsd: 0.5,
}));
const FIELDS = CONTESTANTS.flatMap((_, a) => CONTESTANTS.slice(a + 1).map((_other, b) => [a, a + 1 + b]));

interface Simulated {
  /** Share of runs with a right candidate in the field, by the second half alone, too. */
  readonly solved: number;
  readonly late: number;
  readonly bestFixed: number;
  readonly meanFixed: number;
  readonly worstFixed: number;
  readonly bestLate: number;
  /** Share of the last third of the runs in which each contestant took part. */
  readonly shares: readonly number[];
}

function simulate({ truth, kinds = ['bug'] }: Scenario, seed: string): Simulated {
  const random = mulberry32(fnv1a(seed));
  const outcomes: CandidateOutcome[] = [];
  const rightByRun: (readonly boolean[])[] = [];
  const solved: boolean[] = [];
  const taken: (readonly number[])[] = [];
  for (let run = 0; run < RUNS; run++) {
    const kind = kinds[run % kinds.length] as WorkKind;
    const luck = new Map<string, number>(CONTESTANTS.map((model) => [familyOf(model), random()]));
    const right = CONTESTANTS.map((model, c) => {
      const own = random();
      const drawn = random() < SHARED_LUCK ? (luck.get(familyOf(model)) ?? own) : own;
      return drawn < truth(c, run, kind);
    });
    const field = chooseField({
      options: OPTIONS,
      outcomes,
      kind,
      count: COUNT,
      named: [],
      budget: { field: 10, candidate: 2 },
      runId: `${seed}:${run}`,
    }).chosen.map(({ option }) => OPTIONS.indexOf(option));
    outcomes.push(...resultOf({ field, right, run, kind }, random));
    rightByRun.push(right);
    solved.push(field.some((c) => right[c]));
    taken.push(field);
  }
  const fixed = (from: number) =>
    FIELDS.map((field) => share(rightByRun.slice(from), (right) => field.some((c) => right[c])));
  const [all, late] = [fixed(0), fixed(half)];
  return {
    solved: share(solved, Boolean),
    late: share(solved.slice(half), Boolean),
    bestFixed: Math.max(...all),
    meanFixed: all.reduce((sum, one) => sum + one, 0) / all.length,
    worstFixed: Math.min(...all),
    bestLate: Math.max(...late),
    shares: CONTESTANTS.map((_, c) =>
      share(taken.slice(Math.floor((2 * RUNS) / 3)), (field) => field.includes(c)),
    ),
  };
}

const share = <T>(list: readonly T[], is: (one: T) => boolean | undefined): number =>
  list.filter(is).length / list.length;

interface SimulatedRun {
  readonly field: readonly number[];
  readonly right: readonly boolean[];
  readonly run: number;
  readonly kind: WorkKind;
}

/** What the run leaves: people say whether Runoff's pick was right. */
function resultOf(
  { field, right, run, kind }: SimulatedRun,
  random: () => number,
): readonly CandidateOutcome[] {
  const good = field.filter((c) => right[c]);
  const bad = field.filter((c) => !right[c]);
  const from = good.length > 0 && (bad.length === 0 || random() < PICKS_RIGHT) ? good : bad;
  const first = from[Math.floor(random() * from.length)];
  const runId = `r${String(run).padStart(6, '0')}`;
  return field.map((c, i): CandidateOutcome => {
    const alias = String.fromCharCode(65 + i);
    const shown = c === first;
    return {
      runId,
      alias,
      repository: 'github-1',
      repositoryName: 'acme/shop',
      at: run,
      agent: 'builtin',
      model: CONTESTANTS[c] as string,
      prompt: 'plain',
      round: null,
      kind,
      language: null,
      size: null,
      survived: true,
      regressions: 0,
      change: alias,
      first: shown ? 'likely' : null,
      chance: 0.8,
      pick: null,
      shown,
      pull: { state: first !== undefined && right[first] ? 'merged' : 'closed', edited: 0, revertedAt: null },
      usd: 0.5,
      ms: 60_000,
    };
  });
}

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
const percent = (x: number): string => `${(100 * x).toFixed(0)}%`;
/** Half the width of a 95% interval of a mean. */
const margin = (numbers: readonly number[]): number => {
  const m = mean(numbers);
  return 1.96 * Math.sqrt(mean(numbers.map((x) => (x - m) ** 2)) / numbers.length);
};

console.log(
  `${SEEDS} simulations of ${RUNS} runs, ${COUNT} of ${CONTESTANTS.length} contestants in each run.\n`,
);
console.log(
  '| truth | solved by `auto` | best fixed field | mean fixed field | worst | regret to the best, whole | second half | places of the best one at the end | least places of anyone |',
);
console.log('|---|--:|--:|--:|--:|--:|--:|--:|--:|');
for (const scenario of SCENARIOS) {
  const all = Array.from({ length: SEEDS }, (_, seed) => simulate(scenario, `${scenario.name}:${seed}`));
  const of = (part: (one: Simulated) => number): number => mean(all.map(part));
  const regret = all.map((one) => one.bestFixed - one.solved);
  const late = all.map((one) => one.bestLate - one.late);
  const kind = scenario.kinds?.[0] ?? 'bug';
  const truths = CONTESTANTS.map((_, c) => scenario.truth(c, RUNS - 1, kind));
  const best = truths.indexOf(Math.max(...truths));
  const cells = [
    scenario.name,
    percent(of((one) => one.solved)),
    percent(of((one) => one.bestFixed)),
    percent(of((one) => one.meanFixed)),
    percent(of((one) => one.worstFixed)),
    `${percent(mean(regret))} ± ${percent(margin(regret))}`,
    `${percent(mean(late))} ± ${percent(margin(late))}`,
    percent(of((one) => one.shares[best] ?? 0)),
    percent(Math.min(...CONTESTANTS.map((_, c) => of((one) => one.shares[c] ?? 0)))),
  ];
  console.log(`| ${cells.join(' | ')} |`);
}
