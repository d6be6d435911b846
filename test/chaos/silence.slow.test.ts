import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LIMITS } from '../../src/adapters/postgres/index.ts';
import type { DatabaseProxy } from '../world/database-proxy.ts';
import { tried } from '../world/tried.ts';
import { expectNoProblems } from './expect-no-problems.ts';
import { withPreparedChaosEnvironment } from './prepared-chaos-environment.ts';

const ALL = process.env.RUNOFF_TEST_CHAOS === 'all';

/** What happens to the way to the database, and for how long, milliseconds. */
const WAYS: Readonly<Record<string, (proxy: DatabaseProxy) => void>> = {
  'swallows everything': (proxy) => proxy.let('swallow', 'swallow'),
  'swallows what is answered': (proxy) => proxy.let('pass', 'swallow'),
  refuses: (proxy) => {
    proxy.refuse();
    proxy.reset();
  },
  resets: (proxy) => proxy.reset(),
};

/** Short limits for the sample; the long silences meet those of a user. */
const SHORT = {
  ms: 6_000,
  limits: { ...LIMITS, connectMs: 6_000, silenceMs: 4_000, statementMs: 3_000 },
};
const CASES = [
  { how: 'swallows everything', ...SHORT },
  ...(ALL ? Object.keys(WAYS).map((how) => ({ how, ms: 60_000, limits: undefined })) : []),
];

test.each(CASES)(
  'a run ends as usual when its way to the database $how for $ms ms',
  { timeout: 1_200_000 },
  ({ how, ms, limits }) =>
    withPreparedChaosEnvironment(
      async (environment) => {
        tried({
          id: 'database-silent-runs',
          part: 'The database is killed or unavailable',
          what: 'No data passes between the App and its database during active coders: for 6 s or 60 s, dropped, refused and reset.',
          held: 'Its health check reports this, no model call starts, and the run ends as without.',
          more: 'RUNOFF_TEST_CHAOS=all',
        });
        const app = await environment.start();
        const issues = await environment.label(1);
        await app.reaches('putCandidate', 1);
        const [proxy] = environment.proxies;
        if (!proxy) throw new Error('There is a proxy before the database.');
        WAYS[how]?.(proxy);
        // What was booked before is let go on; nothing that begins later can be booked.
        await delay(ms / 2);
        const before = environment.models.requests.length;
        const health = how === 'resets' ? null : await fetch(`${await app.url}/healthz`);
        expect(health?.status ?? 503).toBe(503);
        await delay(ms / 2);
        if (how !== 'resets') expect(environment.models.requests.length).toBe(before);
        proxy.heal();
        expect(await environment.play(app, issues)).toBe('over');
        await app.stop();
        await expectNoProblems(environment, issues);
      },
      { databaseApart: true, ...(limits ? { databaseLimits: limits } : {}) },
    ),
);
