// What a sequential field solves and costs, on stored patches of real agents whose outcome is known: one coder, all of
// them, and one after the other. What stops is what Runoff itself thinks of the candidates so far (`runoff select` and
// the cost rule of `adaptive.field: sequential`), never the outcome. Nothing is executed, so no pick is clear.
//
//   node bench/sequential.ts --data FOLDER [--groups 1000]
//
// FOLDER has `issues.dev.jsonl.gz`, `groups.dev.jsonl.gz` and `labels.dev.jsonl.gz`; the patches belong to others and are
// not part of this repository. The value of an answer is tuned on one half of the repositories and measured on the
// other, and the other way round. Candidates count as equally dear: what they cost is not known.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { familyOf } from '../src/core/judging/index.ts';
import { type CandidateOutcome, sequenceOf } from '../src/core/learning/index.ts';
import {
  correctionChance,
  NOTICED_SHARE,
  type SelectAnswer,
  selectStored,
} from '../src/core/ranking/index.ts';
import { fnv1a, mulberry32 } from '../src/core/settings/index.ts';

const { values: flags } = parseArgs({
  options: { data: { type: 'string', default: '.' }, groups: { type: 'string', default: '1000' } },
});

interface StoredIssue {
  readonly dataset: string;
  readonly instance_id: string;
  readonly repo: string;
  readonly candidates: readonly {
    readonly id: string;
    readonly patch: string;
    readonly signals?: { readonly applied?: boolean | null; readonly p2p_ok?: boolean | null };
  }[];
}
interface Group {
  readonly panel: string;
  readonly n: number;
  readonly issue: string;
  readonly candidates: readonly string[];
}
interface Label {
  readonly resolved: boolean;
  readonly system: string;
  readonly model: string;
}

const linesOf = <T>(name: string): readonly T[] =>
  gunzipSync(readFileSync(join(flags.data, name)))
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);

const issues = new Map(
  linesOf<StoredIssue>('issues.dev.jsonl.gz').map((one) => [`${one.dataset}/${one.instance_id}`, one]),
);
const labels = new Map(
  linesOf<{ readonly issue: string; readonly labels: Readonly<Record<string, Label>> }>(
    'labels.dev.jsonl.gz',
  ).map((one) => [one.issue, one.labels]),
);
/** The panels and sizes by which `runoff select` is measured. */
const PANELS = ['lite', 'poly', 'rust-hi', 'rust-lo'];
const SIZES = [3, 4, 5];

/** One contestant's patch in a pool. */
interface Entry {
  readonly candidate: StoredIssue['candidates'][number];
  readonly label: Label;
}
interface Pool {
  readonly issue: string;
  readonly panel: string;
  readonly repository: string;
  readonly half: 0 | 1;
  /** In the order of the settings, which is none. */
  readonly entries: readonly Entry[];
}

const repositories = [...new Set([...issues.values()].map(({ repo }) => repo))].toSorted(
  (one, other) => fnv1a(one) - fnv1a(other),
);

function poolOf({ issue, panel, candidates }: Group): Pool {
  const stored = issues.get(issue) as StoredIssue;
  const entries = candidates.map((id) => ({
    candidate: stored.candidates.find((one) => one.id === id) as Entry['candidate'],
    label: labels.get(issue)?.[id] as Label,
  }));
  const half = (repositories.indexOf(stored.repo) % 2) as 0 | 1;
  return { issue, panel, repository: stored.repo, half, entries };
}

function shuffled<T>(all: readonly T[], seed: string): readonly T[] {
  const random = mulberry32(fnv1a(seed));
  return all
    .map((one) => ({ one, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ one }) => one);
}

const pools = shuffled(
  linesOf<Group>('groups.dev.jsonl.gz').filter(({ panel, n }) => PANELS.includes(panel) && SIZES.includes(n)),
  'groups',
)
  .slice(0, Number(flags.groups))
  .map(poolOf);

const optionOf = ({ label }: Entry) => ({
  agent: label.system,
  model: label.model,
  prompt: 'plain',
  forecastUsd: 1,
});

/** What was right in this many earlier runs of the other repositories with the same systems, as a leaderboard has it. */
const EARLIER_RUNS = 100;

function outcomesOf(half: 0 | 1, panel: string): readonly CandidateOutcome[] {
  return pools
    .filter((pool) => pool.half === half && pool.panel === panel)
    .slice(0, EARLIER_RUNS)
    .flatMap(({ entries }, run) =>
      entries.map(
        (entry, i): CandidateOutcome => ({
          ...optionOf(entry),
          runId: `r${run}`,
          alias: String.fromCharCode(65 + i),
          repository: 'all',
          repositoryName: 'all',
          at: run,
          round: null,
          kind: 'bug',
          language: null,
          size: null,
          survived: true,
          regressions: 0,
          change: String.fromCharCode(65 + i),
          first: null,
          chance: 0.9,
          pick: entry.label.resolved ? 'this' : 'other',
          shown: false,
          pull: null,
          usd: 1,
          ms: 0,
        }),
      ),
    );
}

/** A pool in one order, with what Runoff thinks after each contestant. */
interface Course {
  readonly pool: Pool;
  readonly steps: readonly {
    readonly right: boolean;
    readonly picks: boolean;
    readonly chance: number;
    /** Of the contestant that would start next. */
    readonly nextWins: number;
    readonly nextRight: boolean;
  }[];
}

const kept = new Map<string, SelectAnswer>();
function answerFor(entries: readonly Entry[], issue: string): SelectAnswer {
  const key = `${issue} ${entries
    .map(({ candidate }) => candidate.id)
    .toSorted()
    .join(' ')}`;
  const known = kept.get(key);
  if (known) return known;
  const answer = selectStored({
    id: issue,
    candidates: entries.map(({ candidate, label }) => ({ ...candidate, family: familyOf(label.model) })),
  });
  kept.set(key, answer);
  return answer;
}

const other = (half: 0 | 1): 0 | 1 => (half === 0 ? 1 : 0);
const histories = new Map(
  PANELS.flatMap((panel) => ([0, 1] as const).map((half) => [`${panel} ${half}`, outcomesOf(half, panel)])),
);

function courseOf(pool: Pool, order: 'settings' | 'leaderboard'): Course {
  const { sequence } = sequenceOf({
    contestants: pool.entries.map(optionOf),
    outcomes: order === 'settings' ? [] : (histories.get(`${pool.panel} ${other(pool.half)}`) ?? []),
    kind: 'bug',
    candidateUsd: 1,
    runId: pool.issue,
    isBlind: false,
  });
  const entries = sequence.map(({ position }) => pool.entries[position] as Entry);
  const steps = entries.map((_, i) => {
    const answer = answerFor(entries.slice(0, i + 1), pool.issue);
    const picked = entries.find(({ candidate }) => candidate.id === answer.pick);
    return {
      right: picked?.label.resolved ?? false,
      picks: picked !== undefined,
      chance: answer.confidence,
      nextWins: sequence[i + 1]?.wins ?? 0,
      nextRight: entries[i + 1]?.label.resolved ?? false,
    };
  });
  return { pool, steps };
}

/** The number of contestants that start when an answer is worth this many times what one costs. */
function stopAt({ steps }: Course, value: number, first: number): number {
  let ran = Math.min(first, steps.length);
  for (; ran < steps.length; ran += 1) {
    const { chance, nextWins, picks } = steps[ran - 1] as Course['steps'][number];
    if (picks && correctionChance(chance, nextWins) * value <= 1) break;
  }
  return ran;
}

interface Measured {
  readonly solved: number;
  readonly wrong: number;
  readonly money: number;
}
type Policy = (course: Course) => number;

/** Shares of the pools, and contestants for each. Every issue counts the same. */
function measured(courses: readonly Course[], policy: Policy): Measured {
  const byIssue = [...Map.groupBy(courses, ({ pool }) => pool.issue).values()];
  const sum = { solved: 0, wrong: 0, money: 0 };
  for (const group of byIssue) {
    for (const course of group) {
      const ran = policy(course);
      const at = course.steps[ran - 1] as Course['steps'][number];
      sum.solved += (at.right ? 1 : 0) / group.length;
      sum.wrong += (at.picks && !at.right ? 1 : 0) / group.length;
      sum.money += ran / course.steps.length / group.length;
    }
  }
  const of = byIssue.length;
  return { solved: sum.solved / of, wrong: sum.wrong / of, money: sum.money / of };
}

const VALUES = [1, 2, 3, 4, 6, 8, 10, 12, 15, 20, 30, 50];
const all: Policy = ({ steps }) => steps.length;

/** The cheapest value at which as much is solved as by all, at no more wrong picks; else the one that solves most. */
function tunedValue(courses: readonly Course[], first: number): number {
  const goal = measured(courses, all);
  const tried = VALUES.map((value) => ({ value, ...measured(courses, (one) => stopAt(one, value, first)) }));
  const good = tried.filter(({ solved, wrong }) => solved >= goal.solved && wrong <= goal.wrong);
  const best = good.length > 0 ? good : tried.toSorted((a, b) => b.solved - a.solved).slice(0, 1);
  return best.toSorted((a, b) => a.money - b.money)[0]?.value ?? 50;
}

const percent = (share: number): string => `${(100 * share).toFixed(1)}%`;
const rowText = (name: string, { solved, wrong, money }: Measured): string =>
  `| ${name} | ${percent(money)} | ${percent(solved)} | ${percent(wrong)} |`;

const ORDERS = ['settings', 'leaderboard'] as const;
const coursesIn = (order: (typeof ORDERS)[number]): readonly Course[] =>
  pools.map((pool) => courseOf(pool, order));
const courses = { settings: coursesIn('settings'), leaderboard: coursesIn('leaderboard') } as const;

/** Each half with the value that the other half chose. */
function crossTuned(
  all: readonly Course[],
  first: number,
): { readonly measured: Measured; readonly values: string } {
  const values = ([0, 1] as const).map((half) =>
    tunedValue(
      all.filter(({ pool }) => pool.half === half),
      first,
    ),
  );
  const policy: Policy = (one) => stopAt(one, values[other(one.pool.half)] as number, first);
  return { measured: measured(all, policy), values: values.join(' and ') };
}

/** Of wrong picks before a right contestant, the share that is right once it takes part. */
function noticedShare(all: readonly Course[]): { readonly share: number; readonly of: number } {
  const chances = all.flatMap(({ steps }) =>
    steps
      .slice(0, -1)
      .flatMap((step, i) => (!step.right && step.nextRight ? [steps[i + 1]?.right === true] : [])),
  );
  return { share: chances.filter(Boolean).length / chances.length, of: chances.length };
}

console.log(
  `${pools.length} pools of ${new Set(pools.map(({ issue }) => issue)).size} issues, 3 to 5 systems each.\n`,
);
for (const half of [0, 1] as const) {
  const { share, of } = noticedShare(courses.settings.filter(({ pool }) => pool.half === half));
  console.log(
    `Half ${half + 1}: ${percent(share)} of ${of} wrong picks are corrected by the next, right one (in use: ${NOTICED_SHARE}).`,
  );
}
console.log('\n| | money, of all | issues solved | wrong picks |\n|---|--:|--:|--:|');
console.log(
  rowText(
    'one coder, any',
    measured(courses.settings, () => 1),
  ),
);
console.log(
  rowText(
    'one coder, the best by the leaderboard',
    measured(courses.leaderboard, () => 1),
  ),
);
console.log(rowText('all', measured(courses.settings, all)));
for (const order of ORDERS) {
  for (const first of [1, 2]) {
    const { measured: result, values } = crossTuned(courses[order], first);
    console.log(rowText(`sequential from ${first}, order of the ${order} (value ${values})`, result));
  }
}
console.log('\nThe curve: an answer is worth so many times what a candidate costs.\n');
console.log(
  '| value | order | first | money, of all | issues solved | wrong picks |\n|--:|---|--:|--:|--:|--:|',
);
for (const order of ORDERS)
  for (const first of [1, 2])
    for (const value of VALUES) {
      const { money, solved, wrong } = measured(courses[order], (one) => stopAt(one, value, first));
      console.log(
        `| ${value} | ${order} | ${first} | ${percent(money)} | ${percent(solved)} | ${percent(wrong)} |`,
      );
    }
