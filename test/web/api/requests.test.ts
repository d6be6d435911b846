import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { Fault } from '../../../src/core/model/index.ts';
import { RunRequest } from '../../../src/runs/index.ts';
import { shown } from '../../commands/command-world.ts';
import { RUN } from '../../commands/dialogue-world.ts';
import { down } from '../../commands/fake-repository.ts';
import { apiWorld, expectContract, RUNS, START } from './api-world.ts';

afterAll(expectContract);

const problem = (name: string) => ({ type: `/api/problems/${name}` });
const key = (text: string) => ({ 'idempotency-key': text });

describe('a key', () => {
  test('makes a repeated request have its effect once and get the same answer', async () => {
    const s = apiWorld();
    const first = await s.post(START, { body: { candidates: 2 }, headers: key('night-1') });
    const second = await s.post(START, { body: { candidates: 2 }, headers: key('night-1') });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.text).toBe(first.text);
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect([first.headers.get('idempotency-replayed'), second.headers.get('idempotency-replayed')]).toEqual([
      null,
      'true',
    ]);
    expect(s.engine.started).toHaveLength(1);
    // Without a key, it is another request.
    expect(await s.post(START, { body: { candidates: 2 } })).toMatchObject({ status: 201 });
    s.later(25 * 3_600_000);
    expect(
      (await s.post(START, { body: {}, headers: key('night-1'), token: await s.newToken() })).status,
    ).toBe(201);
  });

  test('belongs to one request: another body, address or verb is refused', async () => {
    const s = apiWorld();
    await shown(s, 'choice');
    await s.post(`${RUNS}/${RUN}/vote`, { body: { candidate: 'B' }, headers: key('k') });
    for (const [path, body] of [
      [`${RUNS}/${RUN}/vote`, { candidate: 'C' }],
      [`${RUNS}/${RUN}/pick`, { candidate: 'B' }],
      [START, {}],
    ] as const)
      expect(await s.post(path, { body, headers: key('k') })).toMatchObject({
        status: 422,
        body: problem('key-reused'),
      });
    const other = await s.newToken();
    expect(
      await s.post(`${RUNS}/${RUN}/vote`, { body: { candidate: 'C' }, headers: key('k'), token: other }),
    ).toMatchObject({ status: 200 });
  });

  test('of two requests at once, one is answered and one is told to wait', async () => {
    const s = apiWorld();
    const both = await Promise.all([1, 2].map(() => s.post(START, { headers: key('k') })));
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(both.find(({ status }) => status === 409)).toMatchObject({ body: problem('key-in-use') });
    const later = await s.post(START, { headers: key('k') });
    expect(later.text).toBe(both.find(({ status }) => status === 201)?.text);
    expect(s.engine.started).toHaveLength(1);
  });

  test.each(['claimKey', 'createRun', 'answerKey'] as const)(
    'can be sent again after an outage of the database, which began with the answer to %s',
    async (name) => {
      const s = apiWorld();
      const { claimKey, createRun, answerKey, releaseKey } = s.store;
      const away = async () => Promise.reject(new Fault('DATABASE_UNAVAILABLE', 'It does not answer.'));
      const own = s.store[name] as (...args: readonly unknown[]) => Promise<unknown>;
      const last = async (...args: readonly unknown[]) => own(...args).then(away);
      Object.assign(s.store, { answerKey: away, releaseKey: away, [name]: last });
      expect(await s.post(START, { headers: key('k') })).toMatchObject({ status: 503 });
      Object.assign(s.store, { claimKey, createRun, answerKey, releaseKey });
      const again = await s.post(START, { headers: key('k') });
      expect(again.status).toBe(201);
      expect((await s.post(START, { headers: key('k') })).text).toBe(again.text);
      expect(s.engine.started).toHaveLength(1);
    },
  );

  test('survives a process that was killed before it answered, wherever that was', async () => {
    const s = apiWorld();
    for (const until of ['before', 'after'] as const) {
      const headers = key(`killed ${until}`.replace(' ', '-'));
      // A process claims the key, does the work or not, and is gone.
      const answerKey = s.store.answerKey;
      if (until === 'after') s.store.answerKey = async () => Promise.reject(new Error('killed'));
      else s.repository.trouble.set('issue', down);
      const release = s.store.releaseKey;
      s.store.releaseKey = async () => {};
      expect((await s.post(START, { headers })).status).toBeGreaterThanOrEqual(500);
      Object.assign(s.store, { answerKey, releaseKey: release });
      s.repository.trouble.clear();
      expect(await s.post(START, { headers })).toMatchObject({ status: 409, body: problem('key-in-use') });
      s.restart();
      const started = s.engine.started.length;
      const answer = await s.post(START, { headers });
      expect(answer.status).toBe(201);
      expect(s.engine.started).toContain(answer.body.run);
      expect(s.engine.started.length - started).toBe(until === 'after' ? 0 : 1);
      expect((await s.post(START, { headers })).text).toBe(answer.text);
    }
  });

  test('of a request that failed for an outage can be used again', async () => {
    const s = apiWorld();
    s.repository.trouble.set('issue', down);
    expect(await s.post(START, { headers: key('k') })).toMatchObject({ status: 503 });
    s.repository.trouble.clear();
    expect(await s.post(START, { headers: key('k') })).toMatchObject({ status: 201 });
  });
});

describe('a request that is not valid', () => {
  test('names each field, and the one that was probably meant', async () => {
    const s = apiWorld();
    const answer = await s.post(START, {
      body: { candidatez: 3, budgetUsd: 'a lot', evaluator: ['evidenc'] },
    });
    expect(answer).toMatchObject({ status: 422, body: { ...problem('invalid-request'), instance: START } });
    expect(answer.body.errors).toEqual(
      expect.arrayContaining([
        { field: 'body.candidatez', message: 'There is no field `candidatez`. Did you mean `candidates`?' },
        expect.objectContaining({ field: 'body.budgetUsd' }),
        expect.objectContaining({ field: 'body.evaluator.0' }),
      ]),
    );
    const wrong = { models: ['@gpt'], prompts: ['a b'], evaluator: ['human', 'human'], debate: 'often' };
    expect((await s.post(START, { body: { ...wrong, base: 'a..b', synthesis: 'yes' } })).body.errors).toEqual(
      [
        { field: 'body.models', message: expect.stringContaining('`@gpt` is not a valid name') },
        { field: 'body.prompts.0', message: expect.stringContaining('without blanks, commas') },
        { field: 'body.evaluator', message: expect.stringContaining('The strategy `human` is named twice.') },
        expect.objectContaining({ field: 'body.debate' }),
        expect.objectContaining({ field: 'body.synthesis' }),
        { field: 'body.base', message: expect.stringContaining('`--base` takes a branch') },
      ],
    );
    expect((await s.get(`${RUNS}?limt=3`)).body.errors).toMatchObject([
      { field: 'query.limt', message: expect.stringContaining('`limit`') },
    ]);
    expect((await s.get(`${RUNS}?cursor=zz`)).body.errors).toMatchObject([{ field: 'query.cursor' }]);
    expect((await s.get(`${RUNS}?limit=0`)).status).toBe(422);
    expect((await s.get(`${RUNS}/${RUN}/candidates/b/diff`)).body.errors).toMatchObject([
      { field: 'path.alias' },
    ]);
    expect((await s.post(START, { headers: { 'idempotency-key': 'a b' } })).body.errors).toMatchObject([
      { field: 'header.idempotency-key' },
    ]);
    const others = { '[]': 'a list', null: 'nothing', '"x"': 'a text', '3': 'a number' };
    for (const [raw, what] of Object.entries(others)) {
      expect((await s.post(START, { raw })).body.errors).toEqual([
        { field: 'body', message: `The fields must be groups of keys and values, not ${what}.` },
      ]);
    }
    expect((await s.post(`${RUNS}/${RUN}/pick`, {})).status).toBeGreaterThanOrEqual(400);
    expect(s.engine.started).toEqual([]);
  });

  test.each([
    ['no JSON', '{"candidates":', 400],
    ['a list', '[]', 422],
    ['null', 'null', 422],
    ['a number', '3', 422],
    ['nothing', '', 400],
    ['a key that is no own one', '{"__proto__":{"candidates":9}}', 422],
    ['a flag in a value', '{"coders":["builtin --budget 1000"]}', 422],
    ['a quotation mark in a value', '{"base":"main\\" --budget=\\"900"}', 422],
    ['a line break in a value', '{"base":"main\\n/auto-dev pick A"}', 422],
    ['a list in a value', '{"models":["a/b,c/d"]}', 422],
    ['a path that leads out', '{"base":"../../etc"}', 422],
    ['very many', `{"coders":${JSON.stringify(Array(500).fill('builtin'))}}`, 422],
    ['more than fits', `{"base":"${'a'.repeat(70_000)}"}`, 413],
    ['deep nesting', `${'['.repeat(20_000)}${']'.repeat(20_000)}`, 422],
    ['too much money', '{"budgetUsd":1e308}', 422],
    ['no amount', '{"budgetUsd":-1}', 422],
  ])('%s is refused', async (_what, raw, status) => {
    const s = apiWorld();
    const answer = await s.post(START, { raw });
    expect([answer.status, s.engine.started]).toEqual([status, []]);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
  });

  test('another type of body is refused, and none is fine', async () => {
    const s = apiWorld();
    expect(
      await s.post(START, {
        raw: 'candidates=3',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    ).toMatchObject({
      status: 415,
      body: problem('media-type'),
    });
    expect(await s.post(START)).toMatchObject({ status: 201 });
  });

  test('whatever is sent, it is answered with a problem, or starts a run with those options', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record(
          { base: fc.string(), coders: fc.array(fc.string(), { maxLength: 3 }) },
          { requiredKeys: [] },
        ),
        async (body) => {
          const s = apiWorld();
          const answer = await s.post(START, { body });
          if (answer.status === 201) {
            const run = await s.store.run(String(answer.body.run));
            const { base, overrides } = RunRequest.parse(run?.request);
            expect(base).toBe(body.base);
            expect(overrides.coders?.map(({ agent }) => agent)).toEqual(body.coders);
          } else expect([400, 422]).toContain(answer.status);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('at an address that the API does not have is answered as a problem', async () => {
    const s = apiWorld();
    for (const path of ['/api', '/api/', '/api/x', `${RUNS}/${RUN}/merge`, '/api/problems/none'])
      expect((await s.get(path)).headers.get('content-type'), path).toMatch(/json|html/);
    expect(await s.send('DELETE', `${RUNS}/${RUN}`)).toMatchObject({
      status: 404,
      body: problem('not-found'),
    });
  });
});

test('the description is served, and each type of problem explains itself', async () => {
  const s = apiWorld();
  const { status, body } = await s.get('/openapi.json', { token: null });
  expect([status, body.openapi]).toEqual([200, '3.1.0']);
  expect(await s.get('/api/problems/refused', { token: null })).toMatchObject({
    status: 200,
    body: { title: 'Runoff refused the command', status: 409 },
  });
});
