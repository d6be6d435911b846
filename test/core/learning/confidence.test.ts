import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CONFIDENCE_RULES, confidenceShift, shiftedCalibration } from '../../../src/core/learning/index.ts';
import { CALIBRATION } from '../../../src/core/ranking/index.ts';
import { MODELS, run } from './sample.ts';

const FIELD = [MODELS.claude, MODELS.gpt];
/** Runs in which people agreed with our first, or not. */
const verdicts = (right: readonly boolean[], over: Parameters<typeof run>[3] = {}) =>
  right.flatMap((is, i) => run(i, FIELD, is ? MODELS.claude : MODELS.gpt, over));
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
    expect(shiftedCalibration({ offset: many, verdicts: 200 }).chance.start).toBeLessThan(
      CALIBRATION.chance.start,
    );
  });

  test('clear picks that were often wrong are not called clear any more', () => {
    const wrong = verdicts(repeated(30, (i) => i % 3 !== 0)).map((one) =>
      one.first ? { ...one, first: 'clear' as const } : one,
    );
    const shift = confidenceShift(wrong);
    expect(shift?.noneClear).toBe(true);
    expect(shiftedCalibration(shift ?? undefined).clear).toBeGreaterThan(1);
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

  test('never makes a pick clear that is not clear by the shipped curve', () => {
    const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { minLength: 20, maxLength: 80 }),
        fc.double({ min: -4, max: 4, noNaN: true }),
        (right, score) => {
          const shift = confidenceShift(verdicts(right));
          const calibration = shiftedCalibration(shift ?? undefined);
          const shipped = sigmoid(score + CALIBRATION.chance.start);
          const shifted = sigmoid(score + calibration.chance.start);
          if (shipped < CALIBRATION.clear) expect(shifted).toBeLessThan(calibration.clear);
          expect(Math.abs(shift?.offset ?? 0)).toBeLessThanOrEqual(CONFIDENCE_RULES.maxOffset);
        },
      ),
      { numRuns: 200, seed: 19 },
    );
  });
});
