import { openRunoff } from '@runoff/client';
import { expect, test } from 'vitest';
import { makeToken } from '../../src/commands/index.ts';
import { MAINTAINER, REPOSITORY } from '../../src/demo/environment.ts';
import { ISSUE } from '../../src/demo/sample/index.ts';
import { PERSON_PICKS, withDemoApp } from '../world/demo-app.ts';

test('another system starts a run through the App, follows it, picks, and cancels the next one', () =>
  withDemoApp({ settings: PERSON_PICKS, collaborators: { bob: 'push' } }, async (demo) => {
    const { github, world, app } = demo.environment;
    const { owner, name } = REPOSITORY;
    const made = await makeToken(world, {
      login: 'bob',
      repositories: [`${owner}/${name}`],
      verbs: ['read', 'run', 'act'],
      days: 1,
      name: 'story',
    });
    if (made.kind !== 'made') throw new Error(made.why);
    const runoff = openRunoff({ url: app.url, token: made.text });
    const place = { owner, repo: name };
    const issue = await github.as(MAINTAINER).openIssue(REPOSITORY, ISSUE);
    const start = () =>
      runoff.POST('/api/repos/{owner}/{repo}/issues/{number}/runs', {
        params: { path: { ...place, number: String(issue) }, header: { 'idempotency-key': 'story' } },
        body: { budgetUsd: 1 },
      });
    const [one, other] = await Promise.all([start(), start()]);
    const started = one.data ?? other.data;
    expect([one.response.status, other.response.status].toSorted()).toEqual([201, 409]);
    const id = String(started?.run);
    expect((await start()).data).toEqual(started);

    await demo.run(issue, ({ state }) => state === 'awaiting_pick');
    const path = { ...place, id };
    const { data: run } = await runoff.GET('/api/repos/{owner}/{repo}/runs/{id}', { params: { path } });
    expect(run?.run).toMatchObject({ state: 'awaiting_pick', budget: { run: 1 } });
    const alias = run?.run.candidates.find(({ survivor }) => survivor)?.alias ?? '?';
    const diff = await runoff.GET('/api/repos/{owner}/{repo}/runs/{id}/candidates/{alias}/diff', {
      params: { path: { ...path, alias } },
      parseAs: 'text',
    });
    expect(diff.data).toMatch(/^diff --git /);
    const picked = await runoff.POST('/api/repos/{owner}/{repo}/runs/{id}/pick', {
      params: { path },
      body: { candidate: alias },
    });
    expect(picked.data?.outcome).toBe('done');
    expect(await world.store.picks(id)).toMatchObject([{ alias, by: { login: 'bob' } }]);
    expect(await github.as(MAINTAINER).pulls(REPOSITORY)).toMatchObject([{ draft: true }]);

    const again = await runoff.POST('/api/repos/{owner}/{repo}/runs/{id}/retry', { params: { path } });
    const next = { ...place, id: String(again.data?.run) };
    const cancelled = await runoff.POST('/api/repos/{owner}/{repo}/runs/{id}/cancel', {
      params: { path: next },
    });
    expect(cancelled.data).toMatchObject({ outcome: 'done', run: next.id });
    expect((await world.store.run(next.id))?.state).toBe('cancelled');
    await world.engine.settled(next.id);

    // Who loses write access loses what the token may do.
    await github.setRole(REPOSITORY, 'bob', 'pull');
    const refused = await runoff.POST('/api/repos/{owner}/{repo}/runs/{id}/retry', { params: { path } });
    expect(refused.error).toMatchObject({ status: 403 });
  }));
