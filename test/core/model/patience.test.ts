import { expect, test } from 'vitest';
import { signsOfWork } from '../../../src/core/model/index.ts';

const PATIENCE = { silenceMs: 30_000, refusedMs: 10_000, computingMs: 60_000 };
const open = (patience = PATIENCE) => signsOfWork({ wallMs: 1 }, patience);
type Signs = ReturnType<typeof open>;

/**
 * What a command does in each ten seconds without output, until it is stopped: how many they were. `each` says if it printed
 * something before them.
 */
function silentPeriods(signs: Signs, each: (period: number) => unknown, most = 50): number {
  let quietMs = 0;
  for (let period = 1; period <= most; period += 1) {
    quietMs = each(period) === true ? 10_000 : quietMs + 10_000;
    if (signs.onLimit('silence', quietMs) === 0) return period;
  }
  return most;
}
const compute = (signs: Signs, seconds: number) => {
  for (let second = 0; second < seconds; second += 1) signs.onComputing();
};

test('a command that does nothing is stopped after its silence, one that was refused a host at the first look', () => {
  const idle = open();
  expect(idle.limits).toEqual({ wallMs: 1, silenceMs: 10_000 });
  expect(silentPeriods(idle, () => {})).toBe(3);

  const refused = open();
  refused.onRefusedHost();
  expect(silentPeriods(refused, () => {})).toBe(1);
});

test('data of a host and computing are signs of work, and waking up now and then is none', () => {
  const loading = open();
  expect(silentPeriods(loading, () => loading.onTraffic(), 20)).toBe(20);

  const waking = open();
  expect(silentPeriods(waking, () => compute(waking, 3))).toBe(3);

  const compiling = open();
  expect(silentPeriods(compiling, () => compute(compiling, 4))).toBe(6);

  const tests = open({ ...PATIENCE, computingMs: Number.POSITIVE_INFINITY });
  expect(silentPeriods(tests, (period) => compute(tests, period < 20 ? 9 : 0))).toBe(22);
});

test('output begins it all anew, whether a line or a dot, and the time limit is one', () => {
  const talking = open();
  const periods = silentPeriods(talking, (period) => {
    compute(talking, 9);
    return period === 5;
  });
  expect(periods).toBe(10);
  const dots = open();
  expect(silentPeriods(dots, () => true, 30)).toBe(30);
  expect(talking.onLimit('wall', 0)).toBe(0);
});
