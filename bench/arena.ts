// How many votes a contest takes, measured with simulated voters of known preferences, and what the choice of pairs is
// worth. No model is asked. `node bench/arena.ts [--contests 60]`; a few minutes.
import { parseArgs } from 'node:util';
import { simulatedVotes } from './arena/simulate.ts';

const { values } = parseArgs({ options: { contests: { type: 'string', default: '60' } } });
const contests = Number(values.contests);

/** Log-odds for odds of 3 to 2, 2 to 1 and 4 to 1. */
const ODDS = { '3 to 2': Math.log(1.5), '2 to 1': Math.log(2), '4 to 1': Math.log(4) };
const percent = (share: number): string => `${Math.round(100 * share)}%`;
const share = (of: (seed: number) => boolean): number =>
  Array.from({ length: contests }, (_, i) => i + 1).filter(of).length / contests;

console.log(`Two contestants: told apart in the right order, of ${contests} contests\n`);
const VOTES = [10, 20, 40, 80, 160];
console.log(
  `| odds | ${VOTES.map((n) => `${n} votes`).join(' | ')} |\n| --- | ${VOTES.map(() => '--:').join(' | ')} |`,
);
for (const [name, difference] of Object.entries(ODDS)) {
  const cells = VOTES.map((votes) =>
    percent(
      share((seed) => {
        const table = simulatedVotes({
          strengths: { better: difference, worse: 0 },
          tasks: votes,
          votes,
          seed,
          order: 'informative',
          replicates: 400,
        });
        const [first] = table.groups[0] ?? [];
        return first?.contestant === 'better' && first.notToldApart.length === 0;
      }),
    ),
  );
  console.log(`| ${name} | ${cells.join(' | ')} |`);
}

/** Twelve contestants in a mixed order: close ones at the top, clearly weaker ones below. */
const STRENGTHS = [-0.4, 0.9, -1.6, 0.2, -0.1, -1.2, 1.2, -0.8, 0.5, -1.4, 0.7, -1];
const FIELD = Object.fromEntries(STRENGTHS.map((strength, i) => [`c${i}`, strength]));

/** Share of the pairs of contestants that the table has in the right order; those that it does not compare count half. */
function rightOrder(votes: number, order: 'listed' | 'random' | 'informative', seed: number): number {
  const { groups } = simulatedVotes({ strengths: FIELD, tasks: 12, votes, seed, order, replicates: 1 });
  const place = new Map(groups[0]?.map(({ strength, contestant }) => [contestant, strength]));
  const names = Object.keys(FIELD);
  const points = names.flatMap((a, i) =>
    names.slice(i + 1).map((b): number => {
      const [one, two] = [place.get(a), place.get(b)];
      if (one === undefined || two === undefined || one === two) return 0.5;
      return one > two === (FIELD[a] as number) > (FIELD[b] as number) ? 1 : 0;
    }),
  );
  return points.reduce((sum: number, point) => sum + point, 0) / points.length;
}

console.log(
  `\nTwelve contestants, 12 tasks: pairs of contestants in the right order, mean of ${contests} contests\n`,
);
const FEWER = [22, 44, 88, 176];
console.log(
  `| pairs are chosen | ${FEWER.map((n) => `${n} votes`).join(' | ')} |\n| --- | ${FEWER.map(() => '--:').join(' | ')} |`,
);
for (const order of ['listed', 'random', 'informative'] as const) {
  const cells = FEWER.map((votes) => {
    const all = Array.from({ length: contests }, (_, seed) => rightOrder(votes, order, seed + 1));
    return percent(all.reduce((sum, one) => sum + one, 0) / contests);
  });
  console.log(`| ${order} | ${cells.join(' | ')} |`);
}
