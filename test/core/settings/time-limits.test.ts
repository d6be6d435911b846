import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { moreSilence, moreTime, timesOf } from '../../../src/core/settings/index.ts';

const MINUTE = 60_000;
const timeout = { candidate: 1_800, silence: 300, extendWhileProgressing: true };

describe('the time of a coder', () => {
  const times = timesOf(timeout, 7_200);

  test("may extend to 1.5 times its wall time, within the operator's limit", () => {
    expect(times).toEqual({ wallMs: 30 * MINUTE, silenceMs: 5 * MINUTE, mostMs: 45 * MINUTE });
    expect(timesOf(timeout, 2_000).mostMs).toBe(2_000_000);
    expect(timesOf({ ...timeout, extendWhileProgressing: false }, 7_200).mostMs).toBe(30 * MINUTE);
  });

  test('is extended by a quarter while there is progress, until all is used', () => {
    const at = (minutes: number) => ({ elapsedMs: minutes * MINUTE, sinceProgressMs: MINUTE });
    expect(moreTime(times, at(30))).toBe(7.5 * MINUTE);
    expect(moreTime(times, at(37.5))).toBe(7.5 * MINUTE);
    expect(moreTime(times, at(45))).toBe(0);
  });

  test('is not extended for a coder that repeats itself', () => {
    expect(moreTime(times, { elapsedMs: 30 * MINUTE, sinceProgressMs: 6 * MINUTE })).toBe(0);
  });

  test('silence counts from the last answer of a model', () => {
    expect(moreSilence(times, 2 * MINUTE)).toBe(3 * MINUTE);
    expect(moreSilence(times, 5 * MINUTE)).toBe(0);
  });

  test('never exceeds the maximum, in any sequence of extensions', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 99_999 }),
        fc.integer({ min: 1, max: 99_999 }),
        fc.boolean(),
        (candidate, ceiling, extendWhileProgressing) => {
          const any = timesOf({ candidate, silence: 60, extendWhileProgressing }, ceiling);
          let elapsedMs = any.wallMs;
          for (let more = 1; more > 0; elapsedMs += more)
            more = moreTime(any, { elapsedMs, sinceProgressMs: 0 });
          expect(elapsedMs).toBe(any.mostMs);
          expect(any.mostMs).toBeGreaterThanOrEqual(any.wallMs);
        },
      ),
    );
  });
});
