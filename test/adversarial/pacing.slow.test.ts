import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextTurn, PACE } from '../../src/adapters/github/faults.ts';
import { openGitHub } from '../../src/adapters/github/index.ts';
import { Fault } from '../../src/core/model/index.ts';
import type { Publisher } from '../../src/ports/index.ts';
import { newAppKey } from '../world/app-key.ts';
import { silent } from '../world/silent-log.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const privateKey = newAppKey();

const REPOSITORY = {
  id: 5,
  full_name: 'o/r',
  private: false,
  archived: false,
  default_branch: 'main',
  html_url: 'https://example.org/o/r',
};
const COMMENT = {
  id: 12,
  node_id: 'IC_12',
  user: { id: 99, login: 'auto-dev[bot]', type: 'Bot' },
  author_association: 'NONE',
  body: 'x',
  html_url: 'https://example.org/o/r/issues/7#issuecomment-12',
  performed_via_github_app: { id: 1 },
  created_at: '2026-01-02T03:04:05Z',
  updated_at: '2026-01-02T03:04:05Z',
};

type Kind = 'comment' | 'edit';

/** GitHub under a clock of our own, which notes when which write arrived. `refuse` may answer a write otherwise. */
function openStorm(refuse: (arrived: number) => Response | undefined = () => undefined) {
  let now = Date.parse('2026-01-02T00:00:00Z');
  const arrived: { readonly at: number; readonly kind: Kind }[] = [];
  const answer = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    const method = init?.method ?? 'GET';
    if (pathname.endsWith('/access_tokens')) {
      return Response.json({ token: 'ghs_x', expires_at: '2099-01-01T00:00:00Z' }, { status: 201 });
    }
    if (method === 'GET') return Response.json(pathname === '/repositories/5' ? REPOSITORY : COMMENT);
    if (method === 'DELETE') return new Response(null, { status: 204 });
    arrived.push({ at: now, kind: method === 'POST' ? 'comment' : 'edit' });
    return refuse(arrived.length) ?? Response.json(COMMENT, { status: method === 'POST' ? 201 : 200 });
  };
  const github = openGitHub({
    appId: 1,
    privateKey,
    apiUrl: 'https://api.example.org',
    gitUrl: 'https://example.org',
    fetch: answer,
    log: silent,
    now: () => now,
    sleep: async (ms) => {
      now += ms;
    },
  });
  return {
    arrived,
    open: () => github.publisher({ installationId: 2, repositoryId: 5, owner: 'o', name: 'r' }),
    pass: (ms: number) => {
      now += ms;
    },
    now: () => now,
  };
}
type Storm = ReturnType<typeof openStorm>;

/** Writes until it is done, as a stage does: after a fault it waits as long as the message says, and tries again. */
async function insist(storm: Storm, write: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await write();
      return;
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'GITHUB_UNAVAILABLE') throw error;
      const until = Date.parse(/after (\S+Z)/.exec(error.message)?.[1] ?? '');
      expect(until).not.toBeNaN();
      // Another writer that waits for the same moment may have passed the time already.
      storm.pass(Math.max(0, until - storm.now()));
    }
  }
}

const times = (storm: Storm): readonly number[] => storm.arrived.map(({ at }) => at);

/** The most that lie in any window of this length. */
function most(at: readonly number[], window: number): number {
  let first = 0;
  return at.reduce((found, time, index) => {
    while (time - (at[first] ?? 0) >= window) first += 1;
    return Math.max(found, index - first + 1);
  }, 0);
}

const closest = (at: readonly number[]): number =>
  Math.min(...at.slice(1).map((time, index) => time - (at[index] ?? 0)));

const several = (count: number, write: (publisher: Publisher) => Promise<unknown>, publisher: Publisher) =>
  Array.from({ length: count }, () => write(publisher));

describe('case 80: the publisher', () => {
  test('case 80: writes at most 80 times a minute and 500 times an hour, for all runs together', {
    timeout: 240_000,
  }, async () => {
    const storm = openStorm();
    const one = await storm.open();
    const other = await storm.open();
    for (let i = 0; i < 600; i++) {
      await Promise.all([
        insist(storm, () => one.comment(7, 'x')),
        insist(storm, () => other.comment(8, 'y')),
      ]);
    }
    const at = times(storm);
    expect(at).toHaveLength(1200);
    expect(most(at, MINUTE)).toBeLessThanOrEqual(80);
    expect(most(at, HOUR)).toBeLessThanOrEqual(500);
    expect(closest(at)).toBeGreaterThanOrEqual(1000);
    // It is not kept by hardly writing at all.
    expect(most(at, HOUR)).toBe(PACE.perHour);
  });

  test('case 80: waits as long as GitHub asks, and does not burst afterwards', async () => {
    const limit = { message: 'You have exceeded a secondary rate limit.' };
    const storm = openStorm((count) =>
      count === 3 ? Response.json(limit, { status: 403, headers: { 'retry-after': '50' } }) : undefined,
    );
    const publisher = await storm.open();
    const all = await Promise.allSettled(several(12, (bot) => bot.comment(7, 'x'), publisher));
    expect(all.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    const at = times(storm);
    expect(at).toHaveLength(12);
    expect((at[3] ?? 0) - (at[2] ?? 0)).toBeGreaterThanOrEqual(50_000);
    expect(closest(at)).toBeGreaterThanOrEqual(1000);
  });

  test('case 80: sends nothing before a long limit ends, and no write twice', async () => {
    const storm = openStorm((count) =>
      count === 1
        ? Response.json(
            { message: 'API rate limit exceeded' },
            {
              status: 403,
              headers: {
                'x-ratelimit-remaining': '0',
                'x-ratelimit-reset': String(Date.parse('2026-01-02T00:40:00Z') / 1000),
              },
            },
          )
        : undefined,
    );
    const publisher = await storm.open();
    const about = { code: 'GITHUB_UNAVAILABLE', message: expect.stringContaining('00:40:00') };
    for (const write of several(5, (bot) => bot.comment(7, 'x'), publisher)) {
      await expect(write).rejects.toMatchObject(about);
    }
    expect(storm.arrived).toHaveLength(1);
    storm.pass(40 * MINUTE);
    await Promise.all(several(5, (bot) => bot.comment(7, 'x'), publisher));
    expect(storm.arrived).toHaveLength(6);
    expect(closest(times(storm))).toBeGreaterThanOrEqual(1000);
  });

  test('case 80: delays edits when the hourly limit is nearly reached', async () => {
    const storm = openStorm();
    const publisher = await storm.open();
    const before = PACE.perHour - PACE.reserved;
    for (let i = 0; i < before; i++) await insist(storm, () => publisher.editComment(12, 'x'));
    await expect(publisher.editComment(12, 'x')).rejects.toMatchObject({
      code: 'GITHUB_UNAVAILABLE',
      message: expect.stringContaining('so Runoff did not edit our comment'),
    });
    for (let i = 0; i < PACE.reserved; i++) await publisher.comment(7, 'x');
    expect(storm.arrived.filter(({ kind }) => kind === 'edit')).toHaveLength(before);
    await expect(publisher.comment(7, 'x')).rejects.toMatchObject({ code: 'GITHUB_UNAVAILABLE' });
    expect(most(times(storm), HOUR)).toBe(PACE.perHour);
  });
});

test('no time window contains more writes than allowed, whenever they are requested', () => {
  const wanted = fc.array(
    fc.record({ after: fc.nat(5 * MINUTE), count: fc.nat(200), yields: fc.boolean() }),
    {
      maxLength: 12,
    },
  );
  fc.assert(
    fc.property(wanted, (bursts) => {
      let now = 0;
      let sent: readonly number[] = [];
      for (const { after, count, yields } of bursts) {
        now += after;
        for (let i = 0; i < count; i++) {
          now = Math.max(now, nextTurn(sent, yields));
          sent = [...sent, now];
        }
      }
      expect(most(sent, MINUTE)).toBeLessThanOrEqual(PACE.perMinute);
      expect(most(sent, HOUR)).toBeLessThanOrEqual(PACE.perHour);
      if (sent.length > 1) expect(closest(sent)).toBeGreaterThanOrEqual(PACE.gapMs);
    }),
    { numRuns: 30 },
  );
});
