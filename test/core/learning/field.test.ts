import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CandidateOutcome,
  chooseField,
  FIELD_RULES,
  type FieldRequest,
  fieldReasons,
  leaderboardOf,
} from '../../../src/core/learning/index.ts';
import { fnv1a, mulberry32 } from '../../../src/core/settings/index.ts';
import { MODELS, outcome, run } from './sample.ts';

const option = (model: string, over: Partial<FieldRequest['options'][number]> = {}) => ({
  agent: 'builtin',
  model,
  prompt: 'plain',
  forecastUsd: 0.5,
  ...over,
});
const ALL = Object.values(MODELS).map((model) => option(model));
const request = (over: Partial<FieldRequest> = {}): FieldRequest => ({
  options: ALL,
  outcomes: [],
  kind: 'bug',
  count: 2,
  named: [],
  budget: { field: 10, candidate: 2 },
  runId: 'r1',
  ...over,
});
const modelsOf = (made: FieldRequest) => chooseField(made).chosen.map((one) => one.option.model);
const runIds = Array.from({ length: 300 }, (_, i) => `r${i}`);

describe('the field of a run', () => {
  test('is the same for the same run, in whatever order options and outcomes come', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.nat({ max: 40 }), (runId, runs) => {
        const outcomes = Array.from({ length: runs }, (_, i) =>
          run(i, Object.values(MODELS), MODELS.gpt),
        ).flat();
        const made = request({ runId, outcomes });
        const again = request({ runId, outcomes: outcomes.toReversed(), options: ALL.toReversed() });
        expect(chooseField(again)).toEqual(chooseField(made));
      }),
      { numRuns: 50, seed: 19 },
    );
  });

  test('holds only what is allowed, nobody twice, and as many as asked', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.integer({ min: 0, max: 6 }), (runId, count) => {
        const { chosen } = chooseField(request({ runId, count }));
        expect(chosen).toHaveLength(Math.min(count, ALL.length));
        expect(new Set(chosen.map((one) => one.option.model)).size).toBe(chosen.length);
        for (const one of chosen) expect(ALL).toContain(one.option);
      }),
      { numRuns: 100, seed: 19 },
    );
  });

  test('earlier outcomes of contestants that are not allowed now bring none of them back', () => {
    const outcomes = Array.from({ length: 30 }, (_, i) =>
      run(i, ['other/best', MODELS.gpt], 'other/best'),
    ).flat();
    expect(modelsOf(request({ outcomes, count: 3 })).toSorted()).toEqual(Object.values(MODELS).toSorted());
  });

  test('prefers who won before, and gives places to the others too', () => {
    const outcomes = Array.from({ length: 40 }, (_, i) =>
      run(i, Object.values(MODELS), MODELS.gemini),
    ).flat();
    const chosen = runIds.map((runId) => modelsOf(request({ outcomes, runId, count: 1 }))[0]);
    const share = (model: string) => chosen.filter((one) => one === model).length / chosen.length;
    expect(share(MODELS.gemini)).toBeGreaterThan(0.85);
    expect(share(MODELS.claude)).toBeGreaterThan(0.005);
    expect(share(MODELS.gpt)).toBeGreaterThan(0.005);
  });

  test('own results count once: the share that it states is as the leaderboard has it', () => {
    const outcomes = Array.from({ length: 3 }, (_, i) => run(i, Object.values(MODELS), MODELS.gpt)).flat();
    const { chosen } = chooseField(request({ outcomes, count: 3 }));
    const { standings } = leaderboardOf(outcomes);
    for (const { option: made, estimate } of chosen) {
      const standing = standings.find(({ model }) => model === made.model);
      expect(estimate).toBeCloseTo(standing?.estimate ?? 0, 1);
    }
  });

  test('a contestant with two places in a run has one trial', () => {
    const twice = Array.from({ length: 10 }, (_, i) => {
      const [one] = run(i, [MODELS.gpt], MODELS.gpt);
      return one ? [one, { ...one, alias: 'B' }] : [];
    }).flat();
    const once = twice.filter(({ alias }) => alias === 'A');
    expect(chooseField(request({ outcomes: twice }))).toEqual(chooseField(request({ outcomes: once })));
  });

  test('another kind of work counts less: the winner of this kind leads', () => {
    const bugs = Array.from({ length: 12 }, (_, i) => run(2 * i, Object.values(MODELS), MODELS.gpt));
    const docs = Array.from({ length: 12 }, (_, i) =>
      run(2 * i + 1, Object.values(MODELS), MODELS.claude, { kind: 'docs' }),
    );
    const first = (kind: FieldRequest['kind'], model: string) =>
      runIds.filter(
        (runId) =>
          modelsOf(request({ outcomes: [...bugs, ...docs].flat(), kind, runId, count: 1 }))[0] === model,
      ).length;
    expect(first('bug', MODELS.gpt)).toBeGreaterThan(first('bug', MODELS.claude));
    expect(first('docs', MODELS.claude)).toBeGreaterThan(first('docs', MODELS.gpt));
  });

  test('without any data, two of three come from different families more often than by chance', () => {
    const options = [
      option('anthropic/claude-sonnet-5'),
      option('anthropic/claude-opus-5'),
      option('anthropic/claude-haiku-5'),
      option('openai/gpt-6-sol'),
    ];
    const mixed = runIds.filter((runId) =>
      modelsOf(request({ options, runId })).includes('openai/gpt-6-sol'),
    );
    // Two of four at random: a half.
    expect(mixed.length / runIds.length).toBeGreaterThan(0.55);
  });

  test('coders that the settings name count for diversity and budget, and are not chosen again', () => {
    const named = [{ agent: 'builtin', model: MODELS.gpt, prompt: 'plain' }];
    for (const runId of runIds.slice(0, 50)) {
      expect(modelsOf(request({ named, runId, count: 3 }))).not.toContain(MODELS.gpt);
    }
  });

  test('stays within the budget, by what contestants cost before', () => {
    const costly = Array.from({ length: 20 }, (_, i) =>
      outcome({ runId: `r${i}`, at: i, model: MODELS.claude, pick: 'this', usd: 1.9 }),
    );
    for (const runId of runIds.slice(0, 100)) {
      const { chosen, isCutByBudget } = chooseField(
        request({ outcomes: costly, runId, count: 3, budget: { field: 1.2, candidate: 2 } }),
      );
      expect(chosen.reduce((sum, one) => sum + one.expectedUsd, 0)).toBeLessThanOrEqual(1.2);
      expect(chosen).toHaveLength(2);
      expect(isCutByBudget).toBe(true);
    }
  });

  test('one contestant starts even if it may cost more than the budget: the cheapest', () => {
    const options = [option(MODELS.claude, { forecastUsd: 1.5 }), option(MODELS.gpt, { forecastUsd: 0.9 })];
    const made = request({ options, budget: { field: 0.1, candidate: 2 } });
    expect(modelsOf(made)).toEqual([MODELS.gpt]);
    // Nothing was left out for the budget's sake.
    expect(chooseField({ ...made, count: 1 }).isCutByBudget).toBe(false);
    expect(chooseField({ ...made, count: 2 }).isCutByBudget).toBe(true);
  });

  test('says why', () => {
    const outcomes = Array.from({ length: 12 }, (_, i) => run(i, Object.values(MODELS), MODELS.gpt)).flat();
    expect(fieldReasons(chooseField(request({ outcomes })))).toMatchInlineSnapshot(`
      [
        "\`coders: auto\` chose 2 contestants of 3 for a bug: from 12 earlier runs in this repository.",
        "builtin × openai/gpt-6-sol (plain): among the best draws; it wins an estimated 82% (12 runs).",
        "builtin × google/gemini-3.1-pro-preview (plain): among the best draws; it wins an estimated 9% (12 runs).",
      ]
    `);
    expect(fieldReasons(chooseField(request({ count: 1 })))).toMatchInlineSnapshot(`
      [
        "\`coders: auto\` chose 1 contestant of 3 for a bug: no run of this repository has been decided yet, so they were drawn at random, from different model families first.",
        "builtin × openai/gpt-6-sol (plain): among the best draws; it has not run here yet.",
      ]
    `);
  });
});

/** Contestants with a known chance of being right, run after run. */
function simulate(
  truth: (model: string, run: number) => number,
  {
    models,
    runs,
    seed,
  }: { readonly models: readonly string[]; readonly runs: number; readonly seed: string },
) {
  const random = mulberry32(fnv1a(seed));
  const options = models.map((model) => option(model));
  const outcomes: CandidateOutcome[] = [];
  const times = new Map<string, number[]>(models.map((model) => [model, []]));
  for (let i = 0; i < runs; i++) {
    const chosen = modelsOf(request({ options, outcomes, runId: `${seed}:${i}`, count: 2 }));
    const right = chosen.filter((model) => random() < truth(model, i));
    const winner = right[Math.floor(random() * right.length)] ?? null;
    for (const model of chosen) times.get(model)?.push(i);
    outcomes.push(...run(i, chosen, winner));
  }
  return (model: string, from: number, to: number) =>
    (times.get(model) ?? []).filter((i) => i >= from && i < to).length / (to - from);
}

describe('over many runs', () => {
  const models = ['a/one', 'b/two', 'c/three', 'd/four'];

  test('the best contestant gets a place in most runs, and nobody is locked out', () => {
    fc.assert(
      fc.property(fc.constantFrom(...models), fc.string({ minLength: 1 }), (best, seed) => {
        const share = simulate((model) => (model === best ? 0.8 : 0.3), { models, runs: 120, seed });
        expect(share(best, 60, 120)).toBeGreaterThan(0.7);
        const least = (FIELD_RULES.floor / models.length) * 0.2;
        for (const model of models) expect(share(model, 0, 120)).toBeGreaterThan(least);
      }),
      { numRuns: 6, seed: 19 },
    );
  });

  test('a contestant that gets worse loses its place to one that is better now', () => {
    const share = simulate(
      (model, i) => (model === 'a/one' ? (i < 80 ? 0.9 : 0.1) : model === 'b/two' ? 0.6 : 0.35),
      {
        models,
        runs: 240,
        seed: 'worse',
      },
    );
    expect(share('a/one', 40, 80)).toBeGreaterThan(0.7);
    expect(share('b/two', 180, 240)).toBeGreaterThan(0.6);
    expect(share('a/one', 180, 240)).toBeLessThan(0.5);
  });

  test('a good one with an unlucky start comes back', () => {
    const share = simulate((model, i) => (model === 'c/three' ? (i < 25 ? 0 : 0.9) : 0.4), {
      models,
      runs: 200,
      seed: 'unlucky',
    });
    expect(share('c/three', 140, 200)).toBeGreaterThan(0.6);
  });
});
