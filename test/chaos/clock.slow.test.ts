import { execFileSync, spawn } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expectNoProblems } from './expect-no-problems.ts';
import { withPreparedChaosEnvironment } from './prepared-chaos-environment.ts';

/**
 * Nobody but root of the machine itself may set its clock, and no namespace has a wall clock of its own: a library between
 * Node and the kernel shifts the one that the App sees, while it runs. `apt-get install libfaketime`, then
 * `RUNOFF_TEST_CLOCK=all npm run test:full -- test/chaos/clock.slow.test.ts`. The parts that keep time are also tried alone, always:
 * test/adversarial/clock-jumps.test.ts.
 */
const ASKED = process.env.RUNOFF_TEST_CLOCK === 'all';
const [LIBRARY = ''] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1');

/** A clock that can be set while its readers run. The monotonic one goes on as it is, as in the kernel. */
function openWallClock(folder: string) {
  const file = join(folder, 'offset');
  const set = (offset: string): void => {
    // In one piece: it is read at each look at the clock.
    writeFileSync(`${file}.new`, `${offset}\n`);
    renameSync(`${file}.new`, file);
  };
  set('+0');
  return {
    set,
    env: {
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
  };
}

describe("a run ends as usual when the clock of the App's machine is set", () => {
  test.runIf(ASKED).each([
    ['an hour ahead, and back again', ['+1h', '+0']],
    ['an hour back, and ahead again', ['-1h', '+0']],
  ])('%s: it ends as without', async (_name, steps) => {
    expect(existsSync(LIBRARY), 'libfaketime is missing: apt-get install libfaketime').toBe(true);
    const folder = mkdtempSync(join(tmpdir(), 'runoff-clock-'));
    const clock = openWallClock(folder);
    try {
      await withPreparedChaosEnvironment(
        async (environment) => {
          const app = await environment.start();
          clock.set(steps[0] as string);
          const issues = await environment.label(1);
          await app.reaches('putCandidate coding', 2);
          clock.set(steps[1] as string);
          await app.reaches('transition coded', 1);
          clock.set(steps[0] as string);
          expect(await environment.play(app, issues)).toBe('over');
          await app.stop();
          await expectNoProblems(environment, issues);
        },
        { env: async () => clock.env },
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test.runIf(ASKED)('the App does see the other time', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'runoff-clock-'));
    const clock = openWallClock(folder);
    try {
      clock.set('+1h');
      const env = { ...clock.env, PATH: process.env.PATH };
      const seen = Number(execFileSync(process.execPath, ['-p', 'Date.now()'], { env }).toString());
      expect(seen - Date.now()).toBeGreaterThan(59 * 60_000);
      // While it runs: it is set when the program has said its first time.
      const child = spawn(process.execPath, ['-e', 'setInterval(() => console.log(Date.now()), 20)'], {
        env,
      });
      const times: number[] = [];
      for await (const chunk of child.stdout) {
        times.push(...String(chunk).trim().split('\n').map(Number));
        if (times.length >= 1) clock.set('-1h');
        if ((times[0] ?? 0) - (times.at(-1) ?? 0) > 60 * 60_000) break;
      }
      child.kill();
      expect((times[0] ?? 0) - (times.at(-1) ?? 0)).toBeGreaterThan(60 * 60_000);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
