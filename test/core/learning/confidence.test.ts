import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CONFIDENCE_RULES, confidenceShift, shiftedCalibration } from '../../../src/core/learning/index.ts';
import { CALIBRATION, type Decision, decide, rank } from '../../../src/core/ranking/index.ts';
import { candidate, pools } from '../ranking/sample.ts';
import { MODELS, outcome, run } from './sample.ts';

const FIELD = [MODELS.claude, MODELS.gpt];
/** Runs in which people agreed with our first, or not. */
const verdicts = (right: readonly boolean[], over: Parameters<typeof run>[3] = {}) =>
  right.flatMap((is, i) => run(i, FIELD, is ? MODELS.claude : MODELS.gpt, over));
const WEIGHTS = { tests: 50, simplicity: 30, speed: 20 };
const repeated = (count: number, is: (i: number) => boolean) =>
  Array.from({ length: count }, (_, i) => is(i));

describe('confidence from own outcomes', () => {
  test('changes nothing with too few verdicts, and nothing at all without any', () => {
    expect(confidenceShift([])).toBeNull();
    expect(confidenceShift(verdicts(repeated(CONFIDENCE_RULES.minVerdicts - 1, () => false)))).toBeNull();
    expect(shiftedCalibration(undefined)).toBe(CALIBRATION);
  });

  test('runs without the word of a person say nothing', () => {
    const silent = verdicts(repeated(50, () => false)).map((one) => ({ ...one, pick: null }));
    expect(confidenceShift(silent)).toBeNull();
  });

  test('picks that were right as often as claimed leave the chance as it is', () => {
    const shift = confidenceShift(verdicts(repeated(100, (i) => i % 10 !== 0)));
    expect(shift?.offset).toBeCloseTo(0, 1);
  });

  test('picks that were wrong more often lower it, the more the more there are', () => {
    const few = confidenceShift(verdicts(repeated(20, (i) => i % 2 === 0)))?.offset ?? 0;
    const many = confidenceShift(verdicts(repeated(200, (i) => i % 2 === 0)))?.offset ?? 0;
    expect(few).toBeLessThan(-0.3);
    expect(many).toBeLessThan(few);
  });

  test('picks that were right more often than claimed change nothing', () => {
    const shift = confidenceShift(
      verdicts(
        repeated(100, () => true),
        { chance: 0.6 },
      ),
    );
    expect(shift).toEqual({ offset: 0, verdicts: 100 });
  });

  test('clear picks that were often wrong are not called clear, until enough later ones were right', () => {
    const wrong = (i: number) => i < 40 && i % 2 === 0;
    const followedBy = (later: number) => confidenceShift(verdicts(repeated(40 + later, (i) => !wrong(i))));
    expect(followedBy(0)?.noneClear).toBe(true);
    // What is shown meanwhile is `likely`; what counts is what the shipped curve says.
    expect(followedBy(200)?.noneClear).toBeUndefined();
  });

  test('a closed pull request counts half a verdict', () => {
    const closed = verdicts(repeated(30, () => true)).map((one) => ({
      ...one,
      pick: null,
      shown: one.first !== null,
      pull: { state: 'closed' as const, edited: null, revertedAt: null },
    }));
    expect(confidenceShift(closed)).toBeNull();
    expect(
      confidenceShift([...closed, ...closed.map((one) => ({ ...one, runId: `${one.runId}b` }))])?.verdicts,
    ).toBe(60);
  });

  test('a pick of none stays a whole verdict when the pull request is closed, as Runoff asks', () => {
    const none = verdicts(repeated(20, () => false)).map((one) => ({
      ...one,
      pick: 'none' as const,
      shown: one.first !== null,
      pull: { state: 'open' as 'open' | 'closed', edited: null, revertedAt: null },
    }));
    const closed = none.map((one) => ({ ...one, pull: { ...one.pull, state: 'closed' as const } }));
    expect(confidenceShift(closed)?.offset).toBeLessThan(0);
    expect(confidenceShift(closed)).toEqual(confidenceShift(none));
  });

  test('no record makes a decision surer than the shipped curve does', () => {
    const surest: readonly string[] = ['none', 'toss-up', 'likely', 'clear'];
    const wordOf = (decision: Decision) =>
      surest.indexOf(decision.kind === 'winner' ? decision.confidence : decision.kind);
    const judgement = fc.constantFrom(
      undefined,
      { kind: 'judged' as const, confidence: 'clear' as const, because: 'It is better.' },
      { kind: 'judged' as const, confidence: 'likely' as const, because: 'It is better.' },
    );
    const record = fc.array(
      fc.record({ right: fc.boolean(), chance: fc.constantFrom(0.3, 0.55, 0.7, 0.849, 0.93) }),
      { minLength: 20, maxLength: 60 },
    );
    const strategies = ['evidence', 'judges'] as const;
    fc.assert(
      fc.property(pools, judgement, record, ([evidence], asked, spoken) => {
        const shift = confidenceShift(
          spoken.flatMap(({ right, chance }, i) =>
            run(i, FIELD, right ? MODELS.claude : MODELS.gpt, { chance }),
          ),
        );
        expect(shift?.offset).toBeGreaterThanOrEqual(-CONFIDENCE_RULES.maxOffset);
        const strengths = asked ? { strengths: new Map([['B', 1]]) } : {};
        const ranking = rank(evidence, { weights: WEIGHTS, strategies, ...strengths });
        const shipped = decide(ranking, evidence, { judgement: asked });
        const own = decide(ranking, evidence, {
          judgement: asked,
          calibration: shiftedCalibration(shift ?? undefined),
        });
        expect(wordOf(own)).toBeLessThanOrEqual(wordOf(shipped));
        if (own.kind === 'none' || shipped.kind === 'none') return;
        expect(own.alias).toBe(shipped.alias);
        expect(own.chance).toBeLessThanOrEqual(shipped.chance);
        for (const { most } of own.caps ?? []) expect(own.chance).toBeLessThanOrEqual(most);
        if (shift?.noneClear) {
          expect(own.chance).toBeLessThan(CALIBRATION.clear);
          expect(own.caps?.map(({ because }) => because)).toContain(
            'Too many clear picks were wrong in this repository.',
          );
        }
      }),
      { numRuns: 400, seed: 19 },
    );
  });

  test('what decided a verdict of judges moves down with the rest', () => {
    const evidence = [
      candidate('A', { patchSha256: 'a'.repeat(64) }),
      candidate('B', { patchSha256: 'b'.repeat(64) }),
    ];
    const judgement = { kind: 'judged' as const, confidence: 'clear' as const, because: 'It is better.' };
    const ranking = rank(evidence, {
      weights: WEIGHTS,
      strategies: ['evidence', 'judges'],
      strengths: new Map([['A', 3]]),
    });
    const chanceWith = (offset: number) => {
      const calibration = shiftedCalibration({ offset, verdicts: 50 });
      const decision = decide(ranking, evidence, { judgement, calibration });
      return decision.kind === 'none' ? null : [decision.decidedBy, decision.kind, decision.chance];
    };
    expect(chanceWith(0)).toEqual(['judges', 'winner', 0.6]);
    expect(chanceWith(-1)).toEqual(['judges', 'toss-up', 0.356]);
  });

  test('a second candidate of the same run is no second verdict', () => {
    const twice = repeated(20, () => false).map((_, i) =>
      outcome({ runId: `r${i}`, first: 'likely', pick: 'other' }),
    );
    expect(confidenceShift([...twice, ...twice.map((one) => ({ ...one, alias: 'B' }))])?.verdicts).toBe(20);
  });
});
