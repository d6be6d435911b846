// How well the ranking does on repositories that its constants were not tuned on: splits pools by repository, tunes the
// weights of the signals on one half, measures the other half, and the other way round.
//
//   runoff select --explain --always-pick < requests.jsonl > answers.jsonl
//   node bench/nested.ts answers.jsonl labels.jsonl
//
// A line of labels: {"id": "7", "repository": "words", "right": {"one": true, "two": false}}. Pools without a right
// candidate, or without a wrong one, say nothing about the order and are left out.
import { readFileSync } from 'node:fs';
import { CALIBRATION, type Calibration, decide, rank, rankingOptionsOf } from '../src/core/ranking/index.ts';
import type { DecisionRecord } from '../src/core/reports/index.ts';
import { Settings } from '../src/core/settings/index.ts';

interface Labels {
  readonly id: string | number;
  readonly repository: string;
  readonly right: Readonly<Record<string, boolean>>;
}
interface Answer {
  readonly id: string | number;
  readonly explanation?: DecisionRecord & { readonly ids: Readonly<Record<string, string>> };
}
interface Pool {
  readonly repository: string;
  readonly evidence: DecisionRecord['evidence'];
  readonly right: ReadonlyMap<string, boolean>;
}

const linesOf = <T>(file: string): readonly T[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as T);

function poolsFrom(answers: readonly Answer[], labels: readonly Labels[]): readonly Pool[] {
  const byId = new Map(labels.map((one) => [one.id, one]));
  return answers.flatMap(({ id, explanation }) => {
    const known = byId.get(id);
    if (!explanation || !known) return [];
    const right = new Map(
      Object.entries(explanation.ids).map(([alias, candidate]) => [alias, known.right[candidate] === true]),
    );
    const outcomes = new Set(right.values());
    return outcomes.size < 2 ? [] : [{ repository: known.repository, evidence: explanation.evidence, right }];
  });
}

interface Result {
  readonly pools: number;
  /** Sums over pools. */
  readonly picked: number;
  readonly random: number;
  /** Decided pools, and those of them that are right. */
  readonly words: Readonly<Record<'clear' | 'likely', { readonly all: number; readonly right: number }>>;
}

const SETTINGS = Settings.parse({});

function measured(pools: readonly Pool[], calibration: Calibration): Result {
  const words = { clear: { all: 0, right: 0 }, likely: { all: 0, right: 0 } };
  let picked = 0;
  let random = 0;
  for (const { evidence, right } of pools) {
    const ranking = rank(evidence, { ...rankingOptionsOf(SETTINGS), calibration });
    const first = ranking[0] && right.get(ranking[0].alias) ? 1 : 0;
    picked += first;
    random += [...right.values()].filter(Boolean).length / right.size;
    const decision = decide(ranking, evidence, { calibration });
    if (decision.kind !== 'winner') continue;
    words[decision.confidence].all += 1;
    words[decision.confidence].right += first;
  }
  return { pools: pools.length, picked, random, words };
}

const gapOf = ({ pools, picked, random }: Result): number => (picked - random) / (pools - random);

/** Few values on each side of ours: with some dozens of wrong picks there is data for little more. */
const GRID = {
  tests: [5, 10, 15],
  behaviour: [0.5, 1, 1.5, 2],
  agreement: [2, 3, 4.5, 6, 9],
  independentVotes: [2, 4, 8],
} as const;

const calibrations: readonly Calibration[] = GRID.tests.flatMap((tests) =>
  GRID.behaviour.flatMap((behaviour) =>
    GRID.agreement.flatMap((agreement) =>
      GRID.independentVotes.map((independentVotes) => ({
        ...CALIBRATION,
        signals: { tests, behaviour, agreement },
        independentVotes,
      })),
    ),
  ),
);

/** How far from ours; of equally good ones the nearest is taken. */
const distance = ({ signals, independentVotes }: Calibration): number =>
  [
    signals.tests / CALIBRATION.signals.tests,
    signals.behaviour / CALIBRATION.signals.behaviour,
    signals.agreement / CALIBRATION.signals.agreement,
    independentVotes / CALIBRATION.independentVotes,
  ].reduce((sum, ratio) => sum + Math.abs(Math.log(ratio)), 0);

function tuned(pools: readonly Pool[]): Calibration {
  const [best] = calibrations
    .map((calibration) => ({ calibration, gap: gapOf(measured(pools, calibration)) }))
    .toSorted((a, b) => b.gap - a.gap || distance(a.calibration) - distance(b.calibration));
  return best?.calibration ?? CALIBRATION;
}

const percent = (share: number): string => `${(100 * share).toFixed(1)}%`;
function row(name: string, result: Result): string {
  const { clear, likely } = result.words;
  const decided = clear.all + likely.all;
  return `| ${name} | ${result.pools} | ${percent(gapOf(result))} | ${percent(result.picked / result.pools)} | ${clear.right} of ${clear.all} | ${likely.right} of ${likely.all} | ${percent(decided / result.pools)} |`;
}

function joined(results: readonly Result[]): Result {
  const sum = (part: (one: Result) => number) => results.reduce((total, one) => total + part(one), 0);
  const word = (name: 'clear' | 'likely') => ({
    all: sum(({ words }) => words[name].all),
    right: sum(({ words }) => words[name].right),
  });
  return {
    pools: sum(({ pools }) => pools),
    picked: sum(({ picked }) => picked),
    random: sum(({ random }) => random),
    words: { clear: word('clear'), likely: word('likely') },
  };
}

const [answersFile, labelsFile] = process.argv.slice(2);
if (!answersFile || !labelsFile) {
  console.error('usage: node bench/nested.ts answers.jsonl labels.jsonl');
  process.exit(2);
}
const pools = poolsFrom(linesOf<Answer>(answersFile), linesOf<Labels>(labelsFile));
const repositories = [...new Set(pools.map(({ repository }) => repository))].sort();
const half = (parity: number) =>
  pools.filter(({ repository }) => repositories.indexOf(repository) % 2 === parity);
const folds = [half(0), half(1)] as const;
const held = folds.map((own, at) => {
  const calibration = tuned(folds[1 - at] ?? []);
  const { tests, behaviour, agreement } = calibration.signals;
  const weights = `${tests}, ${behaviour}, ${agreement}; ${calibration.independentVotes}`;
  return { name: `half ${at + 1}, tuned on the other (${weights})`, result: measured(own, calibration) };
});
console.log(
  '| pools | count | gap closed | right | clear | likely | decided |\n|---|--:|--:|--:|--:|--:|--:|',
);
console.log(row('all, with our constants', measured(pools, CALIBRATION)));
for (const { name, result } of held) console.log(row(name, result));
console.log(row('both halves, each tuned on the other', joined(held.map(({ result }) => result))));
