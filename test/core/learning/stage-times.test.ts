import { describe, expect, test } from 'vitest';
import { expectedLeft, stageTimes } from '../../../src/core/learning/index.ts';
import { STAGES, type Stage } from '../../../src/core/model/index.ts';

const MINUTE = 60_000;

/** The marks of a run whose stages took so many minutes, each followed at once by the next one. */
function run(...minutes: readonly number[]) {
  let at = 1_000;
  return minutes.map((took, index) => {
    const startedAt = at;
    at += took * MINUTE;
    return { stage: STAGES[index] as Stage, startedAt, endedAt: at };
  });
}

const three = [run(0, 2, 10, 4, 1, 0), run(0, 2, 12, 4, 1, 0), run(0, 2, 90, 4, 1, 0)];

describe('what the stages of a run usually take', () => {
  test('is the median, which one long run does not move', () => {
    expect(stageTimes(three)).toEqual({
      runs: 3,
      ms: {
        admit: 0,
        brief: 2 * MINUTE,
        code: 12 * MINUTE,
        examine: 4 * MINUTE,
        judge: MINUTE,
        publish: 0,
      },
    });
  });

  test('is unknown after two runs, and runs that did not reach the end do not count', () => {
    expect(stageTimes(three.slice(1))).toBeNull();
    expect(stageTimes([...three.slice(1), run(0, 2, 10)])).toBeNull();
    const [first] = three;
    const unfinished = (first ?? []).map(({ stage, startedAt }) => ({ stage, startedAt }));
    expect(stageTimes([...three.slice(1), unfinished])).toBeNull();
  });

  test('includes what a stage had to wait for before the next one began', () => {
    const waited = run(0, 2, 10, 4, 1, 0).map((mark) =>
      mark.stage === 'brief' ? { ...mark, endedAt: mark.startedAt + 1 } : mark,
    );
    expect(stageTimes([waited, waited, waited])?.ms.brief).toBe(2 * MINUTE);
  });
});

describe('what a run still takes', () => {
  const times = stageTimes(three);

  test('is the rest of its stage, and the stages to come', () => {
    if (!times) return expect.fail('Three runs are enough.');
    expect(expectedLeft(times, { stage: 'code', inStageMs: 5 * MINUTE })).toBe(12 * MINUTE);
    expect(expectedLeft(times, { stage: 'publish', inStageMs: 0 })).toBe(0);
  });

  test('is unknown once its stage takes longer than usual', () => {
    if (!times) return expect.fail('Three runs are enough.');
    expect(expectedLeft(times, { stage: 'code', inStageMs: 12 * MINUTE })).toBe(5 * MINUTE);
    expect(expectedLeft(times, { stage: 'code', inStageMs: 12 * MINUTE + 1 })).toBeNull();
  });
});
