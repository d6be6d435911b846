import {
  type ArenaReport,
  arenaReport,
  type Match,
  mostInformative,
  pairsOf,
  type RatingTable,
  rate,
  type SamplePair,
} from '../../src/core/arena/index.ts';
import { contestOf, Field, repoTask, SOLVED, UNSOLVED } from '../../test/core/arena/contest-records.ts';

/** Numbers in [0, 1) that depend on the seed alone: Park and Miller's generator. */
export function seeded(seed: number): () => number {
  let state = (seed * 2_654_435_761) % 2_147_483_647 || 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** What a simulated contestant is like. */
const EXAMPLE = [
  { prompt: 'short', model: 'north/large', solves: 0.62, usd: 0.11 },
  { prompt: 'short', model: 'north/small', solves: 0.35, usd: 0.012 },
  { prompt: 'short', model: 'south/medium', solves: 0.55, usd: 0.034 },
  { prompt: 'test-first', model: 'north/large', solves: 0.78, usd: 0.19 },
  { prompt: 'test-first', model: 'north/small', solves: 0.42, usd: 0.021 },
  { prompt: 'test-first', model: 'south/medium', solves: 0.6, usd: 0.052 },
] as const;

/**
 * A contest of six simulated contestants on 40 repository tasks. Everybody solves a task with a known chance, so the
 * report can be compared with the truth. No model is asked.
 */
export function exampleReport(): ArenaReport {
  const tasks = Array.from({ length: 40 }, (_, i) => repoTask(`task-${i + 1}`));
  const contest = contestOf([], tasks, {
    name: 'example',
    contestants: EXAMPLE.map(({ prompt, model }) => ({
      id: `${prompt}/${model}`,
      agent: 'none',
      model,
      prompt,
      instructions: prompt,
    })),
  });
  const field = new Field(contest);
  const random = seeded(1);
  for (const task of tasks) {
    for (const { prompt, model, solves, usd } of EXAMPLE) {
      const verification = random() < solves ? SOLVED : UNSOLVED;
      const cost = usd * (0.6 + 0.8 * random());
      field.answer(`${prompt}/${model}`, task.id, `${prompt} ${model} ${task.id}`, {
        verification,
        usage: { calls: 1, tokensIn: 1, tokensOut: 1, usd: cost },
      });
    }
  }
  return arenaReport(field.records);
}

interface Voting {
  /** Log-odds by contestant. */
  readonly strengths: Readonly<Record<string, number>>;
  readonly tasks: number;
  readonly votes: number;
  readonly seed: number;
  /** `informative`: as `runoff arena vote` chooses. */
  readonly order: 'informative' | 'random' | 'listed';
  /** Replicates of the bootstrap. */
  readonly replicates: number;
}

/** One person votes as often as wanted; each vote follows the known strengths. */
export function simulatedVotes({ strengths, tasks, votes, seed, order, replicates }: Voting): RatingTable {
  const names = Object.keys(strengths);
  const pairs = pairsOf(
    Array.from({ length: tasks }, (_, i) => i).flatMap((task) =>
      names.map((contestant) => ({
        id: `${contestant}-${task}`,
        task: `t${task}`,
        contestant,
        round: 1,
        answer: contestant,
      })),
    ),
  );
  const random = seeded(seed);
  const matches: Match[] = [];
  let open = pairs;
  while (matches.length < votes) {
    const pair = nextPair(open, { matches, seed, order, random });
    if (!pair) break;
    open = open.filter(({ key }) => key !== pair.key);
    const [a, b] = [pair.a.contestant, pair.b.contestant];
    const chance = 1 / (1 + Math.exp((strengths[b] as number) - (strengths[a] as number)));
    matches.push({ task: pair.task, a, b, score: random() < chance ? 1 : 0 });
  }
  return rate(names, matches, { seed, replicates });
}

function nextPair(
  open: readonly SamplePair[],
  {
    matches,
    seed,
    order,
    random,
  }: { matches: readonly Match[]; random: () => number } & Pick<Voting, 'seed' | 'order'>,
): SamplePair | null {
  if (order === 'informative') return mostInformative(open, { matches, asked: new Map(), seed });
  return open[order === 'listed' ? 0 : Math.floor(random() * open.length)] ?? null;
}
