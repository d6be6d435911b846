import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  arenaReport,
  type Competition,
  competitionOf,
  competitionSection,
  decisionId,
  PoolDecision,
  poolsOf,
  reportHtml,
  reportMarkdown,
  type SamplePool,
} from '../../../src/core/arena/index.ts';
import { contestOf, Field, repoTask, SOLVED, sha256, UNSOLVED } from './contest-records.ts';

/** Lines that an answer changes, by contestant; negative: it is wrong. Null: no diff. */
type Answers = Readonly<Record<string, number | null>>;

const fieldOf = (tasks: Readonly<Record<string, Answers>>): Field => {
  const contestants = [...new Set(Object.values(tasks).flatMap((one) => Object.keys(one)))];
  const field = new Field(
    contestOf(
      contestants,
      Object.keys(tasks).map((id) => repoTask(id)),
    ),
  );
  for (const [task, answers] of Object.entries(tasks))
    for (const [contestant, lines] of Object.entries(answers)) {
      const change = { files: 1, additions: Math.abs(lines ?? 0), deletions: 0 };
      if (lines === null)
        field.answer(contestant, task, 'Sorry.', { outcome: 'not-a-diff', why: 'It is prose.' });
      else
        field.answer(contestant, task, `diff of ${contestant}`, {
          verification: { ...(lines > 0 ? SOLVED : UNSOLVED), change },
        });
    }
  return field;
};

const poolsIn = ({ contest, samples }: Field) => poolsOf(contest, samples);

function decided(
  field: Field,
  pool: SamplePool,
  kind: PoolDecision['class'],
  picked: string | null,
  among: readonly string[] = [],
): PoolDecision {
  const idOf = (contestant: string) =>
    pool.samples.find((one) => one.contestant === contestant)?.id ?? 'missing';
  return PoolDecision.parse({
    version: 1,
    id: decisionId(field.digest, pool, sha256),
    contest: field.digest,
    task: pool.task,
    round: pool.round,
    samples: pool.samples.map(({ id }) => id),
    class: kind,
    pick: picked === null ? null : idOf(picked),
    among: among.map(idOf),
    chance: picked === null ? null : 0.5,
    because: 'It is so.',
    seconds: 1,
    at: '2026-11-24T12:00:00Z',
  });
}

const wayOf = ({ ways }: Competition, name: string) => ways.find(({ way }) => way === name);

/** Three contestants on four tasks: `a` solves two, `b` one, `c` one, and nobody the last. */
const field = fieldOf({
  one: { a: 5, b: -3, c: -9 },
  two: { a: -5, b: 20, c: -1 },
  three: { a: 4, b: null, c: 4 },
  four: { a: -5, b: -3, c: -9 },
});
const [one, two, three, four] = poolsIn(field) as [SamplePool, SamplePool, SamplePool, SamplePool];
const decisions = [
  decided(field, one, 'clear', 'a'),
  decided(field, two, 'toss-up', 'a', ['a', 'b']),
  decided(field, three, 'likely', 'c'),
  decided(field, four, 'none', null),
];

describe('what competing is worth', () => {
  test('counts each way in solved tasks and dollars', () => {
    const found = competitionOf(poolsIn(field), decisions);
    expect(found).toMatchObject({ pools: 4, contestants: 3, best: 'a', undecided: 0 });
    expect(wayOf(found, 'runoff')).toMatchObject({ solved: 2, usd: expect.closeTo(0.12) });
    // A third, a third, two thirds, and nothing, for the price of one answer each.
    expect(wayOf(found, 'single')).toMatchObject({
      solved: expect.closeTo(4 / 3),
      usd: expect.closeTo(0.04),
    });
    // What is no diff cannot be picked.
    expect(wayOf(found, 'random')?.solved).toBeCloseTo(1 / 3 + 1 / 3 + 1);
    expect(wayOf(found, 'smallest')?.solved).toBeCloseTo(1);
    expect(wayOf(found, 'best')).toMatchObject({ solved: 2, usd: expect.closeTo(0.04) });
    expect(wayOf(found, 'ceiling')).toMatchObject({ solved: 3, usdPerSolved: expect.closeTo(0.04) });
  });

  test('says by class how often a decision was right', () => {
    const { classes } = competitionOf(poolsIn(field), decisions);
    expect(classes.map((row) => [row.class, row.pools, row.right, row.amongRight])).toEqual([
      ['clear', 1, 1, 0],
      ['likely', 1, 1, 0],
      ['toss-up', 1, 0, 1],
      ['none', 1, 1, 0],
    ]);
  });

  test('what is not decided, or was decided on other answers, does not count', () => {
    expect(competitionOf(poolsIn(field), decisions.slice(1))).toMatchObject({ pools: 3, undecided: 1 });
    const other = { ...decisions[0], samples: two.samples.map(({ id }) => id) } as PoolDecision;
    expect(competitionOf([one], [other])).toMatchObject({ pools: 0, undecided: 1, best: null });
  });

  test('a set of answers counts once, and in as many rounds as somebody answered it anew', () => {
    const plain = contestOf(['a', 'b', 'agent'], [repoTask('one'), repoTask('two')], { rounds: 2 });
    const contestants = plain.contestants.map((each) =>
      each.id === 'agent' ? { ...each, agent: 'builtin' } : each,
    );
    const mixed = new Field({ ...plain, contestants });
    for (const task of ['one', 'two']) {
      mixed.answer('a', task, 'diff of a', { verification: SOLVED });
      mixed.answer('b', task, 'diff of b', { verification: UNSOLVED });
    }
    // Nobody but plain calls has answered the second task.
    for (const round of [1, 2]) mixed.answer('agent', 'one', `${round}`, { round, verification: UNSOLVED });
    const pools = poolsIn(mixed);
    expect(pools.map(({ task, round, samples }) => [task, round, samples.length])).toEqual([
      ['one', 1, 3],
      ['one', 2, 3],
      ['two', null, 2],
    ]);
    const found = competitionOf(
      pools,
      pools.map((pool) => decided(mixed, pool, 'clear', 'a')),
    );
    expect(found).toMatchObject({ pools: 3, tasks: 2, best: 'a', undecided: 0 });
    // Each set by itself: three answers twice, and two.
    expect(wayOf(found, 'runoff')).toMatchObject({ solved: 3, usd: expect.closeTo(0.08) });
    expect(competitionSection(found).sentences.join(' ')).toMatch(
      /^Runoff chose in 3 sets of answers, .* an answer that stands for several rounds counts in each\./,
    );
  });

  test('a task that one contestant answered is no competition', () => {
    expect(poolsIn(fieldOf({ one: { a: 1 } }))).toEqual([]);
  });

  test('the order of samples and decisions changes nothing', () => {
    const expected = competitionOf(poolsIn(field), decisions);
    fc.assert(
      fc.property(fc.shuffledSubarray([...field.samples], { minLength: 12 }), (samples) => {
        const pools = poolsOf(field.contest, samples).toReversed();
        expect(competitionOf(pools, decisions.toReversed())).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  test('no way solves more than a perfect pick, and none less than nothing', () => {
    const lines = fc.option(fc.integer({ min: -9, max: 9 }).filter((n) => n !== 0));
    const answers = fc.record({ a: lines, b: lines, c: lines });
    fc.assert(
      fc.property(fc.array(answers, { minLength: 1, maxLength: 5 }), (list) => {
        const some = fieldOf(Object.fromEntries(list.map((each, at) => [`t${at}`, each])));
        const pools = poolsIn(some);
        const found = competitionOf(
          pools,
          pools.map((pool) => decided(some, pool, 'clear', 'a')),
        );
        const most = wayOf(found, 'ceiling')?.solved ?? 0;
        for (const { solved, usd } of found.ways) {
          expect(solved).toBeGreaterThanOrEqual(0);
          expect(solved).toBeLessThanOrEqual(most + 1e-9);
          expect(usd).toBeGreaterThan(0);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('the report has the section where there are decisions', () => {
    const records = field.records;
    expect(reportMarkdown(arenaReport(records))).not.toContain('What competing is worth');
    const result = arenaReport({ ...records, decisions });
    const text = reportMarkdown(result).replaceAll('<span>$</span>', '$');
    expect(text).toContain('## What competing is worth');
    expect(text).toContain("| Runoff's pick | 2 of 4 (50%) | $0.12 | $0.06 |");
    expect(text).toContain('Against one contestant alone: 0.7 more solved for $0.08 more, $0.12 for each.');
    expect(reportHtml(result)).toContain('a perfect pick (ceiling)');
  });
});
