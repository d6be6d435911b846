import { followRun, openRunoff, RunoffProblem } from '@runoff/client';
import { afterAll, describe, expect, test } from 'vitest';
import { tokenIdIn } from '../../../src/core/tokens/index.ts';
import { ada, atWork } from '../../commands/command-world.ts';
import { mallory, RUN } from '../../commands/dialogue-world.ts';
import { bookRow } from '../../world/ledger.ts';
import { apiWorld, eventsOf, expectContract, RUNS, served } from './api-world.ts';

afterAll(expectContract);

const EVENTS = `${RUNS}/${RUN}/events`;
const STEP = { alias: 'A', kind: 'command', text: 'bash: npm test', call: 'c1' } as const;

async function working() {
  const s = apiWorld();
  await atWork(s);
  await s.store.putCandidate({
    ...{ runId: RUN, alias: 'A', ordinal: 0, state: 'coding', ms: 1_000, note: 'starts' },
    contestant: { agent: 'builtin', model: 'anthropic/claude-sonnet-5', prompt: 'plain' },
    usage: { usd: 0.25, tokensIn: 1, tokensOut: 1, calls: 1 },
  });
  return s;
}
type Working = Awaited<ReturnType<typeof working>>;

/** The stream as it comes over HTTP from a server of its own. */
async function overHttp(
  s: Working,
  story: (
    open: (
      token: string,
      headers?: Record<string, string>,
      query?: string,
      method?: string,
    ) => Promise<Response>,
  ) => Promise<void>,
) {
  const server = await served(s.fetch);
  try {
    await story((token, headers = {}, query = '', method = 'GET') =>
      fetch(`${server.url}${EVENTS}${query}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...headers },
      }),
    );
  } finally {
    s.close();
    server.close();
  }
}

describe('the events of a run', () => {
  test('tell each change in fields, and that the run is over', async () => {
    const s = await working();
    await overHttp(s, async (open) => {
      const response = await open(await s.usual);
      expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
      const events = eventsOf(response);
      expect((await events.next()).value).toMatchObject({
        event: 'run',
        data: {
          ...{ run: RUN, state: 'briefed' },
          candidates: [{ alias: 'A', state: 'coding', note: 'starts', usd: 0.25, ms: 1_000 }],
        },
      });
      expect(await s.post(`${RUNS}/${RUN}/cancel`)).toMatchObject({ status: 200 });
      const rest = [];
      for await (const { event, data } of events) rest.push([event, data.state]);
      expect(rest.at(-2)).toEqual(['run', 'cancelled']);
      expect(rest.at(-1)).toEqual(['end', undefined]);
    });
  });

  test('have the steps of a coder and its calls, once and in order, also after the connection broke', async () => {
    const s = await working();
    await s.store.appendSteps(RUN, [
      { ...STEP, number: 1, at: 1 },
      {
        ...STEP,
        number: 2,
        at: 2,
        kind: 'result',
        text: '',
        detail: '<b>1 failed</b>',
        ok: false,
        exitCode: 1,
      },
    ]);
    await overHttp(s, async (open) => {
      const events = eventsOf(await open(await s.usual, {}, '?steps=A'));
      const { value: first } = await events.next();
      expect(first).toMatchObject({
        event: 'steps',
        data: {
          candidate: 'A',
          steps: [
            { number: 1, kind: 'command', call: 'c1' },
            { number: 2, detail: '<b>1 failed</b>', exitCode: 1 },
          ],
          calls: [],
        },
      });
      await events.return();
      await s.store.appendSteps(RUN, [{ ...STEP, number: 3, at: 3 }]);
      await bookRow(s.store, {
        ...{ runId: RUN, spender: 'A', repository: 'github-42', model: 'anthropic/claude-sonnet-5' },
        ...{ tokensIn: 1200, tokensOut: 50, tokensCached: 0, tokensReasoning: 0 },
        ...{ exact: true, status: 200, ms: 10, usd: 0.02, at: 4 },
      });
      const again = eventsOf(await open(await s.usual, { 'last-event-id': first?.id ?? '' }, '?steps=A'));
      expect((await again.next()).value?.data).toMatchObject({
        steps: [{ number: 3 }],
        calls: [{ usd: 0.02 }],
      });
    });
  });

  test('end when the token is revoked, and not for others', async () => {
    const s = await working();
    const token = await s.newToken();
    await overHttp(s, async (open) => {
      const [lost, kept] = [eventsOf(await open(token)), eventsOf(await open(await s.usual))];
      await Promise.all([lost.next(), kept.next()]);
      await s.store.revokeToken(tokenIdIn(token) ?? '', s.now());
      s.later(46_000);
      expect(await lost.next()).toMatchObject({ done: true });
      expect((await open(token)).status).toBe(401);
      await s.store.transition(RUN, 'coded', 'test', s.now());
      expect((await kept.next()).value?.data).toMatchObject({ state: 'coded' });
    });
  });

  test('end when the person behind the token may not see the repository any more', async () => {
    const s = await working();
    s.repository.rights[ada.id] = 'read';
    const token = await s.newToken({ by: { id: ada.id, login: 'ada' } });
    await overHttp(s, async (open) => {
      const events = eventsOf(await open(token));
      await events.next();
      s.repository.rights[ada.id] = 'none';
      s.later(61_000);
      expect(await events.next()).toMatchObject({ done: true });
      expect((await open(token)).status).toBe(404);
    });
  });

  test('do not exist for those who may not see them, and for runs of other repositories', async () => {
    const s = await working();
    await atWork(s, { id: 'r0000000043', origin: s.other.handle });
    const stranger = await s.newToken({ by: { id: mallory.id, login: 'mallory' } });
    s.repository.rights[mallory.id] = 'none';
    expect(await s.get(EVENTS, { token: stranger })).toMatchObject({ status: 404 });
    expect(await s.get(`${RUNS}/r0000000043/events`)).toMatchObject({ status: 404 });
    expect(await s.get(`${RUNS}/none/events`)).toMatchObject({ status: 404 });
    expect(await s.get(EVENTS, { token: null })).toMatchObject({ status: 401 });
    const acts = await s.newToken({ verbs: ['act'] });
    expect(await s.get(EVENTS, { token: acts })).toMatchObject({ status: 403 });
    for (const wrong of [`${EVENTS}?steps=a`, `${EVENTS}?after=1`])
      expect(await s.get(wrong), wrong).toMatchObject({ status: 422 });
    expect(await s.get(EVENTS, { headers: { 'last-event-id': 'x' } })).toMatchObject({
      status: 422,
      body: { errors: [{ field: 'header.last-event-id' }] },
    });
  });

  test('are not opened by a request for their headers alone', async () => {
    const s = await working();
    await overHttp(s, async (open) => {
      for (let at = 0; at < 12; at += 1) expect((await open(await s.usual, {}, '', 'HEAD')).status).toBe(200);
      expect((await open(await s.usual)).status).toBe(200);
    });
  });

  test('are limited for each person, whichever of their tokens they use', async () => {
    const s = await working();
    await overHttp(s, async (open) => {
      const other = await s.newToken();
      for (let at = 0; at < 12; at += 1)
        expect((await open(at % 2 ? other : await s.usual)).status).toBe(200);
      const refused = await open(other);
      expect(refused.status).toBe(429);
      expect(refused.headers.get('retry-after')).toBe('15');
      expect((await open(await s.newToken({ by: { id: ada.id, login: 'ada' } }))).status).toBe(200);
    });
  });
});

describe('the client', () => {
  test('follows a run over broken connections until it is over', async () => {
    const s = await working();
    const server = await served(s.fetch);
    try {
      const runoff = openRunoff({ url: server.url, token: await s.usual });
      const seen: string[] = [];
      for await (const { event, data } of followRun(runoff, {
        owner: 'acme',
        repo: 'lists',
        id: RUN,
        steps: 'A',
      })) {
        seen.push(event === 'run' ? data.state : data.steps.map(({ number }) => number).join());
        if (seen.length === 1) {
          await s.store.appendSteps(RUN, [{ ...STEP, number: 1, at: 1 }]);
          server.hangUp();
        }
        if (seen.at(-1) === '1') await s.store.transition(RUN, 'cancelled', 'enough', s.now());
      }
      expect(seen[0]).toBe('briefed');
      expect(seen.filter((one) => one === '1')).toHaveLength(1);
      expect(seen.at(-1)).toBe('cancelled');
    } finally {
      s.close();
      server.close();
    }
  });

  test('says why it cannot, and stops when it is told to', async () => {
    const s = await working();
    const runoff = openRunoff({ url: 'http://runoff.test', token: await s.usual, fetch: s.fetch });
    const none = followRun(runoff, { owner: 'acme', repo: 'lists', id: 'none' });
    await expect(none.next()).rejects.toThrow(RunoffProblem);
    const stop = new AbortController();
    const run = followRun(runoff, { owner: 'acme', repo: 'lists', id: RUN, signal: stop.signal });
    await run.next();
    s.close();
    const next = run.next();
    stop.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
  });
});
