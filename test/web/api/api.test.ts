import { afterAll, describe, expect, test } from 'vitest';
import { Fault } from '../../../src/core/model/index.ts';
import { tokenIdIn } from '../../../src/core/tokens/index.ts';
import { RunRequest } from '../../../src/runs/index.ts';
import { ada, atWork, shown } from '../../commands/command-world.ts';
import { mallory, RUN } from '../../commands/dialogue-world.ts';
import { down, forbidden } from '../../commands/fake-repository.ts';
import { apiWorld, calledOperations, expectContract, RUNS, START } from './api-world.ts';

afterAll(expectContract);

const problem = (name: string) => ({ type: `/api/problems/${name}` });

describe('a run', () => {
  test('is started with the effects, the limits and the audit of the comment', async () => {
    const s = apiWorld();
    const started = await s.post(START, {
      body: { candidates: 3, models: ['anthropic/claude-sonnet-5'], budgetUsd: 4, base: 'main' },
    });
    expect(started).toMatchObject({ status: 201, body: { outcome: 'done', note: 'started a run' } });
    const id = String(started.body.run);
    expect(started.headers.get('location')).toBe(`${RUNS}/${id}`);
    expect(s.engine.started).toEqual([id]);
    const run = await s.store.run(id);
    expect(run?.origin).toMatchObject({ issue: 7, requestedBy: { id: 5, login: 'mona' } });
    expect(RunRequest.parse(run?.request)).toMatchObject({
      trigger: 'command',
      base: 'main',
      text: { title: 'last() returns undefined' },
      overrides: { candidates: 3, budgetUsd: 4, coders: [{ model: 'anthropic/claude-sonnet-5' }] },
    });
    const [entry] = (await s.store.audited({ limit: 9 })).filter((one) => one.entry.kind === 'command');
    expect(entry?.entry).toMatchObject({
      by: { login: 'mona' },
      token: tokenIdIn(await s.usual),
      text: '/auto-dev run --candidates="3" --models="anthropic/claude-sonnet-5" --budget="4.00" --base="main"',
      thread: 7,
    });
    expect(await s.get(`${RUNS}/${id}`)).toMatchObject({
      status: 200,
      body: { run: { id, state: 'queued' } },
    });
  });

  test('is started with every option of the comment', async () => {
    const s = apiWorld();
    const body = {
      ...{ candidates: 2, coders: ['claude-code', 'codex'], models: ['anthropic/claude-sonnet-5'] },
      ...{
        prompts: ['plain', 'careful'],
        evaluator: ['evidence', 'human'],
        debate: 'always',
        review: 'never',
      },
      ...{ synthesis: false, budgetUsd: 2.5, timeoutSeconds: 90, base: 'release/2.1' },
    };
    const started = await s.post(START, { body });
    expect(started.status).toBe(201);
    const request = RunRequest.parse((await s.store.run(String(started.body.run)))?.request);
    const { base, models, coders, ...others } = body;
    expect(request).toMatchObject({ base });
    expect(request.overrides).toEqual({
      ...others,
      coders: coders.map((agent) => ({ agent, model: models[0] })),
    });
    const [entry] = (await s.store.audited({ limit: 9 })).filter((one) => one.entry.kind === 'command');
    expect(entry?.entry).toMatchObject({
      text: [
        '/auto-dev run --candidates="2" --coders="claude-code,codex" --models="anthropic/claude-sonnet-5"',
        '--prompts="plain,careful" --evaluator="evidence,human" --debate="always" --review="never"',
        '--synthesis="false" --budget="2.50" --timeout="90s" --base="release/2.1"',
      ].join(' '),
    });
  });

  test('is started with alternative field names', async () => {
    const s = apiWorld();
    const path = '/api/tasks/acme%2Flists%237/process';
    const started = await s.post(path, { body: { multiAgent: true, coderCount: 3 } });
    expect(started.status).toBe(201);
    const request = RunRequest.parse((await s.store.run(String(started.body.run)))?.request);
    expect(request.overrides).toEqual({ candidates: 3 });
    const alone = apiWorld();
    const one = await alone.post(path, { body: { multiAgent: false, coderCount: 3 } });
    const overrides = RunRequest.parse((await alone.store.run(String(one.body.run)))?.request).overrides;
    expect(overrides).toEqual({ candidates: 1 });
    for (const wrong of ['acme', 'acme%2Flists', 'acme%2Flists%23x', RUN])
      expect(await alone.post(`/api/tasks/${wrong}/process`, { body: {} })).toMatchObject({
        status: 422,
        body: { errors: [{ field: 'path.id' }] },
      });
  });

  test('is not started while another one is active there', async () => {
    const s = apiWorld();
    const active = await atWork(s);
    expect(await s.post(START)).toMatchObject({ status: 409, body: problem('refused') });
    expect((await s.post(START)).body.detail).toContain(`Run \`${active}\` is already active`);
    expect(s.engine.started).toEqual([]);
  });

  test('is followed, picked from, voted on, repeated and cancelled', async () => {
    const s = apiWorld();
    await shown(s, 'choice');
    expect((await s.get(`${RUNS}/${RUN}`)).body).toMatchObject({
      run: { state: 'awaiting_pick', candidates: [{ alias: 'A' }, {}, {}, {}] },
      explanation: { decision: { kind: 'toss-up' } },
    });
    const diff = await s.get(`${RUNS}/${RUN}/candidates/B/diff`);
    expect(diff.headers.get('content-type')).toBe('text/x-diff; charset=utf-8');
    expect(diff.text).toContain('+first');
    expect(await s.post(`${RUNS}/${RUN}/vote`, { body: { candidate: 'C' } })).toMatchObject({
      status: 200,
      body: { note: 'recorded the vote for C', run: RUN },
    });
    expect(await s.post(`${RUNS}/${RUN}/pick`, { body: { candidate: 'D' } })).toMatchObject({
      status: 409,
      body: problem('refused'),
    });
    const picked = await s.post(`${RUNS}/${RUN}/pick`, { body: { candidate: 'C' } });
    expect(picked.body).toMatchObject({
      outcome: 'done',
      note: 'Candidate C is the draft pull request #11.',
    });
    expect(await s.store.picks(RUN)).toMatchObject([{ alias: 'C', by: { login: 'mona' } }]);
    const command = encodeURIComponent(String(picked.body.command));
    expect((await s.get(`/api/repos/acme/lists/commands/${command}`)).body).toEqual(picked.body);
    const again = await s.post(`${RUNS}/${RUN}/retry`);
    expect(again).toMatchObject({ status: 201, body: { outcome: 'done' } });
    const later = String(again.body.run);
    const list = await s.get(`${RUNS}?limit=1`);
    expect(list.body).toMatchObject({ runs: [{ id: later, requestedBy: 'mona', candidate: null }] });
    expect((await s.get(`${RUNS}?limit=1&cursor=${list.body.next}`)).body).toMatchObject({
      runs: [{ id: RUN, candidate: 'C', issue: { number: 7 } }],
      next: null,
    });
    expect((await s.get(`${RUNS}?state=published&by=MONA&q=last()`)).body.runs).toHaveLength(1);
    expect(await s.post(`${RUNS}/${later}/cancel`)).toMatchObject({ status: 200, body: { run: later } });
    expect((await s.store.run(later))?.state).toBe('cancelled');
    expect(calledOperations()).toEqual(
      new Set([
        ...calledOperations(),
        'pickCandidate',
        'voteForCandidate',
        'retryRun',
        'cancelRun',
        'showDiff',
      ]),
    );
  });

  test('names its pull request, and no comments or labels, which the server does not ask for', async () => {
    const s = apiWorld();
    const id = await shown(s, 'pull');
    const { body } = await s.get(`${RUNS}/${id}`);
    const [pull] = s.repository.pulls.values();
    expect(body).toMatchObject({
      run: { state: 'published' },
      pull: { number: 11, url: pull?.url, head: `auto-dev/7/${id}/B`, draft: null, base: null, body: null },
    });
    expect(body).not.toHaveProperty('comments');
    expect(body).not.toHaveProperty('issueLabels');
  });

  test('is started by a label and by a request at once: each is a run, and one of them goes on', async () => {
    const s = apiWorld();
    const { title, body } = s.repository.issue;
    const label = s.intake.onLabel({
      deliveryId: 'd1',
      installationId: 1,
      repository: { id: 42, owner: 'acme', name: 'lists' },
      issue: { number: 7, title, body, updatedAt: s.now() },
      actor: { id: 5, login: 'mona', isBot: false },
    });
    const [one, other] = await Promise.all([label, s.post(START)]);
    const labelled = one.kind === 'started' ? one.runId : expect.fail(one.why);
    const goesOn = other.status === 201 ? other.body.run : labelled;
    const active = (await s.store.activeRuns(42, 7)).map(({ id }) => id);
    expect(active).toContain(goesOn);
    // The label's run is replaced while it waits in the queue (decision 38), unless it was stored later: then admission
    // refuses it as the younger one.
    expect(await s.store.run(labelled)).toMatchObject({
      state: active.includes(labelled) ? 'queued' : 'cancelled',
    });
  });
});

describe('who may do what', () => {
  test('a token that is missing, wrong, expired or revoked opens nothing', async () => {
    const s = apiWorld();
    const expired = await s.newToken({ expiresAt: s.now() - 1 });
    const revoked = await s.newToken({ id: 'abc' });
    await s.store.revokeToken('abc', s.now());
    for (const token of [
      null,
      'x',
      expired,
      revoked,
      `${await s.usual}0`,
      'runoff_pat_',
      'ghs_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    ]) {
      const answer = await s.get(RUNS, { token });
      expect(answer, String(token)).toMatchObject({ status: 401, body: problem('unauthorised') });
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
    }
    expect((await s.get(RUNS, { token: expired })).body.detail).toContain('expired');
    expect((await s.get(RUNS, { token: revoked })).body.detail).toContain('revoked');
    expect(await s.get(RUNS, { token: null, headers: { authorization: 'Basic bW9uYTp4' } })).toMatchObject({
      status: 401,
    });
  });

  test('nothing but its repositories exists for a token', async () => {
    const s = apiWorld();
    s.other.rights[5] = 'admin';
    await atWork(s, { id: 'r0000000043', origin: s.other.handle });
    const paths = [
      '/api/repos/acme/other/runs',
      '/api/repos/acme/none/runs',
      `${RUNS}/r0000000043`,
      `${RUNS}/none`,
    ];
    const bodies = [];
    for (const path of paths) {
      const { status, body } = await s.get(path);
      expect(status, path).toBe(404);
      bodies.push({ ...body, instance: '' });
    }
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
    expect(await s.post('/api/repos/acme/other/issues/7/runs')).toMatchObject({ status: 404 });
    expect(await s.post(`${RUNS}/r0000000043/cancel`)).toMatchObject({ status: 404 });
    expect((await s.store.run('r0000000043'))?.state).toBe('briefed');
  });

  test('a renamed repository is the one of its present name, and nothing under the former one', async () => {
    const s = apiWorld();
    await shown(s, 'choice');
    const NOW = '/api/repos/acme/renamed';
    expect(await s.get(RUNS)).toMatchObject({ status: 200 });
    expect(await s.get(`${NOW}/runs`)).toMatchObject({ status: 404 });
    s.repository.renamed = 'renamed';
    s.later(2_000);
    // Another repository can have the former name already.
    expect(await s.post(START)).toMatchObject({ status: 404 });
    expect(await s.post(`${RUNS}/${RUN}/pick`, { body: { candidate: 'B' } })).toMatchObject({ status: 404 });
    expect(await s.get(RUNS)).toMatchObject({ status: 404 });
    expect([s.engine.started, await s.store.picks(RUN)]).toEqual([[], []]);
    expect(await s.get(`${NOW}/runs/${RUN}`)).toMatchObject({ status: 200 });
    const voted = await s.post(`${NOW}/runs/${RUN}/vote`, { body: { candidate: 'B' } });
    expect(voted).toMatchObject({ status: 200 });
    expect(voted.headers.get('location')).toBe(`${NOW}/runs/${RUN}`);
    s.later(2_000);
    s.repository.trouble.set('repository', down);
    expect(await s.post(`${NOW}/issues/8/runs`)).toMatchObject({
      status: 503,
      body: problem('github-unavailable'),
    });
    expect(await s.get(`${NOW}/runs/${RUN}`)).toMatchObject({ status: 200 });
  });

  test('a command that counted for nothing says whose write access was missing, whoever asks for it', async () => {
    const s = apiWorld();
    await shown(s, 'choice');
    s.repository.rights[ada.id] = 'read';
    const by = { id: ada.id, login: ada.login };
    await s.intake.onPage({ via: 'api', key: 'k1', by, text: '/auto-dev vote B', about: { run: RUN } });
    await s.intake.idle();
    const path = `/api/repos/acme/lists/commands/${encodeURIComponent(`api:${ada.id}:k1`)}`;
    expect(await s.get(path)).toMatchObject({
      status: 403,
      body: {
        ...problem('write-access-missing'),
        detail: 'ada may read acme/lists, and has no write access to it. Ask somebody who has.',
      },
    });
  });

  test('a token does what it was made for', async () => {
    const s = apiWorld();
    await shown(s, 'choice');
    const reads = await s.newToken({ verbs: ['read'] });
    const acts = await s.newToken({ verbs: ['act'] });
    expect(await s.get(`${RUNS}/${RUN}`, { token: reads })).toMatchObject({ status: 200 });
    expect(await s.get(`${RUNS}/${RUN}`, { token: acts })).toMatchObject({ status: 403 });
    for (const [path, body] of [
      [START],
      [`${RUNS}/${RUN}/pick`, { candidate: 'C' }],
      [`${RUNS}/${RUN}/retry`],
    ] as const)
      expect(await s.post(path, { token: reads, body })).toMatchObject({
        status: 403,
        body: problem('verb-missing'),
      });
    expect(await s.post(`${RUNS}/${RUN}/vote`, { token: acts, body: { candidate: 'C' } })).toMatchObject({
      status: 200,
    });
    expect(await s.post(`${RUNS}/${RUN}/retry`, { token: acts })).toMatchObject({ status: 403 });
    expect(await s.store.picks(RUN)).toEqual([]);
  });

  test('the person behind the token is asked about at GitHub, and loses what they lose there', async () => {
    const s = apiWorld();
    await shown(s, 'choice');
    s.repository.rights[mallory.id] = 'read';
    const reader = await s.newToken({ by: { id: mallory.id, login: 'mallory' } });
    expect(await s.get(RUNS, { token: reader })).toMatchObject({ status: 200 });
    expect(await s.post(`${RUNS}/${RUN}/vote`, { token: reader, body: { candidate: 'C' } })).toMatchObject({
      status: 403,
      body: problem('write-access-missing'),
    });
    const adas = await s.newToken({ by: { id: ada.id, login: 'ada' } });
    expect(await s.get(RUNS, { token: adas })).toMatchObject({ status: 200 });
    // What is shown may be a minute old; what is done is not.
    s.repository.rights[ada.id] = 'none';
    expect(await s.post(`${RUNS}/${RUN}/pick`, { token: adas, body: { candidate: 'C' } })).toMatchObject({
      status: 403,
    });
    expect(await s.store.picks(RUN)).toEqual([]);
    s.later(61_000);
    expect(await s.get(RUNS, { token: adas })).toMatchObject({ status: 404 });
    s.repository.trouble.set('permission', forbidden);
    s.later(61_000);
    expect(await s.get(RUNS)).toMatchObject({ status: 404 });
  });

  test('nobody sees anything while GitHub does not answer', async () => {
    const s = apiWorld();
    s.repository.trouble.set('permission', down);
    const answer = await s.get(RUNS);
    expect(answer).toMatchObject({ status: 503, body: problem('github-unavailable') });
    expect(answer.headers.get('retry-after')).toBe('30');
  });

  test.each(['ARTIFACTS_UNAVAILABLE', 'DISK_FULL', 'DISK_FAILING', 'RESOURCES_EXHAUSTED'] as const)(
    'a request that met %s can be sent again later',
    async (code) => {
      const s = apiWorld();
      await shown(s, 'choice');
      const { get, put } = s.artifacts;
      const fails = async () => Promise.reject(new Fault(code, 'The store is away.'));
      Object.assign(s.artifacts, { get: fails, put: fails });
      for (const answer of [
        await s.get(`${RUNS}/${RUN}/candidates/A/diff`),
        await s.post(START.replace('/7/', '/8/'), { body: {}, headers: { 'idempotency-key': 'k' } }),
      ]) {
        expect(answer).toMatchObject({ status: 503, body: problem('server-unavailable') });
        expect(answer.headers.get('retry-after')).toBe('30');
      }
      Object.assign(s.artifacts, { get, put });
      expect(await s.get(`${RUNS}/${RUN}/candidates/A/diff`)).toMatchObject({ status: 200 });
    },
  );

  test('a token of GitHub is its person, and acts with the scope that lets it write there', async () => {
    const calls: string[] = [];
    const holders: Record<string, { person: { id: number; login: string }; scopes: string[] | null }> = {
      ghp_classic: { person: { id: 5, login: 'mona' }, scopes: ['repo'] },
      gho_signin: { person: { id: 5, login: 'mona' }, scopes: ['read:user'] },
      github_pat_fine: { person: { id: 5, login: 'mona' }, scopes: null },
    };
    const long = (name: string) =>
      `${name.replace(/(?<=_)[a-z]+$/, '')}${name.split('_').at(-1)}${'0'.repeat(36)}`;
    const byText = new Map(Object.entries(holders).map(([name, holder]) => [long(name), holder]));
    const s: ReturnType<typeof apiWorld> = apiWorld({
      ofToken: async (token) => {
        calls.push(token);
        return byText.get(token) ?? null;
      },
      repository: async (_token, _owner, name) => (name === 'lists' ? s.repository.handle : null),
    });
    await shown(s, 'choice');
    const body = { candidate: 'C' };
    for (const name of ['gho_signin', 'github_pat_fine']) {
      expect(await s.get(RUNS, { token: long(name) })).toMatchObject({ status: 200 });
      expect(await s.post(`${RUNS}/${RUN}/vote`, { token: long(name), body })).toMatchObject({
        status: 403,
        body: problem('verb-missing'),
      });
    }
    expect(await s.post(`${RUNS}/${RUN}/vote`, { token: long('ghp_classic'), body })).toMatchObject({
      status: 200,
    });
    const [voted] = await s.store.audited({ limit: 1 });
    expect(voted?.entry).toMatchObject({ kind: 'command', text: '/auto-dev vote C' });
    expect(voted?.entry).not.toHaveProperty('token');
    expect(await s.get('/api/repos/acme/none/runs', { token: long('ghp_classic') })).toMatchObject({
      status: 404,
    });
    expect(calls).toHaveLength(3);
    s.later(61_000);
    await s.get(RUNS, { token: long('ghp_classic') });
    expect(calls).toHaveLength(4);
    const wrong = (n: number) => `ghp_${String(n).padStart(36, '0')}`;
    let last = 401;
    for (let n = 0; n < 70; n++) last = (await s.get(RUNS, { token: wrong(n) })).status;
    expect(last).toBe(429);
    expect(calls.length).toBeLessThanOrEqual(64);
    expect(await s.get(RUNS)).toMatchObject({ status: 200 });
  });

  test('people whose tokens GitHub accepted are served although strangers send unknown ones', async () => {
    let known = true;
    let broken = false;
    const calls: string[] = [];
    const mine = `ghp_${'m'.repeat(36)}`;
    const s: ReturnType<typeof apiWorld> = apiWorld({
      ofToken: async (token) => {
        calls.push(token);
        if (broken) throw down();
        return known && token === mine ? { person: { id: 5, login: 'mona' }, scopes: ['repo'] } : null;
      },
      repository: async () => s.repository.handle,
    });
    const asMona = async () => (await s.get(RUNS, { token: mine })).status;
    expect(await asMona()).toBe(200);
    s.later(61_000);
    for (let n = 0; n < 61; n++) await s.get(RUNS, { token: `ghp_${String(n).padStart(36, '0')}` });
    expect(await asMona()).toBe(200);
    // GitHub is asked again, but only so often where it gives no answer.
    s.later(61_000);
    broken = true;
    calls.length = 0;
    for (let n = 0; n < 20; n++) await asMona();
    expect(calls).toHaveLength(10);
    // A token that GitHub accepts no more is an unknown one from then on.
    s.later(61_000);
    [broken, known] = [false, false];
    expect(await asMona()).toBe(401);
    s.later(61_000);
    for (let n = 0; n < 61; n++) await s.get(RUNS, { token: `ghp_${String(n).padStart(36, '0')}` });
    expect(await asMona()).toBe(429);
  });

  test('a burst of commands is carried out; of somebody who lost write access, few are even stored', async () => {
    const s = apiWorld();
    await shown(s, 'choice');
    async function burst(token: string): Promise<ReadonlySet<number>> {
      const vote = () => s.post(`${RUNS}/${RUN}/vote`, { token, body: { candidate: 'B' } });
      return new Set((await Promise.all(Array.from({ length: 30 }, vote))).map(({ status }) => status));
    }
    expect(await burst(await s.usual)).toEqual(new Set([200]));
    const adas = await s.newToken({ by: { id: ada.id, login: 'ada' } });
    expect(await s.get(RUNS, { token: adas })).toMatchObject({ status: 200 });
    s.repository.rights[ada.id] = 'read';
    expect(await burst(adas)).toEqual(new Set([403]));
    const stored = await s.store.commands(s.repository.handle.repositoryId, 99);
    expect(stored.filter(({ by }) => by.login === 'ada').length).toBeLessThanOrEqual(20);
    s.later(2 * 60_000);
    s.repository.trouble.set('permission', down);
    expect(await burst(await s.usual)).toEqual(new Set([503]));
  });

  test('a token is limited by itself, and its last use is noted', async () => {
    const s = apiWorld();
    const busy = await s.newToken();
    const answers = [];
    for (let n = 0; n < 62; n++)
      answers.push((await s.post('/api/repos/acme/none/issues/7/runs', { token: busy })).status);
    expect(answers.slice(0, 60).every((status) => status === 404)).toBe(true);
    const limited = await s.post(START, { token: busy });
    expect(limited).toMatchObject({ status: 429, body: problem('too-many-requests') });
    expect(limited.headers.get('retry-after')).toBe('60');
    expect(await s.post(START)).toMatchObject({ status: 201 });
    s.later(61_000);
    expect(await s.get(RUNS, { token: busy })).toMatchObject({ status: 200 });
    expect((await s.store.tokens({ limit: 9 })).every(({ lastUsedAt = 0 }) => lastUsedAt > 0)).toBe(true);
  });
});
