import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { stopRunsWithoutAccess } from '../../src/commands/index.ts';
import { reconcile } from '../../src/runs/index.ts';
import { TOSS_UP } from '../core/reports/sample.ts';
import { tried } from '../world/tried.ts';
import { branchesOf, commentsOn, kindsOf, labelsOf, outcomeOf, pullsOf } from './outcome.ts';
import { ALICE, type Fixture, openFixture, sharedFixture } from './publishing-world.ts';

const stateOf = async ({ store, runId }: Fixture) => (await store.run(runId))?.state;
const same = (fixture: Fixture, text: string) =>
  text.replaceAll(fixture.runId, 'RUN').replaceAll(fixture.shared.hub.github.url, 'GITHUB');

describe('F4: limits of GitHub', () => {
  const shared = sharedFixture();

  const limited = (headers: Readonly<Record<string, string>>) =>
    ({
      method: 'POST',
      path: /\/pulls$/,
      status: 403,
      body: { message: 'API rate limit exceeded' },
      headers,
    }) as const;

  test('a short one is waited out', async () => {
    tried({
      id: 'github-rate-limit',
      part: 'GitHub is unavailable',
      what: 'The rate limit is reached for a short time.',
      held: 'Runoff waits.',
    });
    const { faults } = shared().hub.github;
    faults.add({ ...limited({ 'retry-after': '30' }), times: 1 });
    const waited: number[] = [];
    let now = Date.now();
    const sleep = async (ms: number) => {
      waited.push(ms);
      now += ms;
    };
    const fixture = await openFixture(shared(), { pushes: 'rest', now: () => now, sleep });
    expect(await fixture.publishes()).toBe('published');
    expect(await pullsOf(fixture)).toHaveLength(1);
    expect([fixture.slept, waited]).toEqual([[2_000], [30_000]]);
  });

  test('one that lasts is reported with its end, GitHub is not hammered, and the end is said when it is over', async () => {
    const { faults } = shared().hub.github;
    let now = Date.now();
    const reset = String(Math.floor(now / 1000) + 3_000);
    faults.add({ ...limited({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }), times: 99 });
    const fixture = await openFixture(shared(), { pushes: 'rest', now: () => now });
    expect(
      same(fixture, await fixture.publishes()).replace(/\d{4}-[\d-]+T[\d:.]+Z/, 'TIME'),
    ).toMatchInlineSnapshot(
      `"GITHUB_UNAVAILABLE: GitHub's rate limit is reached, so we could not open a draft pull request from auto-dev/1/RUN/B. Try again after TIME."`,
    );
    // One write met the limit; the later tries knew of it.
    expect(
      fixture.line.calls.filter(({ method, path }) => method === 'POST' && path.endsWith('/pulls')),
    ).toHaveLength(1);
    expect(await commentsOn(fixture, fixture.issue)).toEqual([]);
    now += 3_001_000;
    faults.clear();
    await fixture.recovers();
    expect(await kindsOf(fixture, fixture.issue)).toEqual(['status']);
    expect([await stateOf(fixture), await labelsOf(fixture)]).toEqual(['failed', ['auto-dev:failed']]);
  });

  test.each([403, 429])('a secondary one, told by %i', async (status) => {
    const { faults } = shared().hub.github;
    const body = { message: 'You have exceeded a secondary rate limit.' };
    faults.add({ method: 'POST', path: /\/comments$/, status, headers: { 'retry-after': '7' }, body });
    const waited: number[] = [];
    let now = Date.now();
    const sleep = async (ms: number) => {
      waited.push(ms);
      now += ms;
    };
    const fixture = await openFixture(shared(), { pushes: 'rest', now: () => now, sleep });
    expect(await fixture.publishes()).toBe('published');
    expect(await outcomeOf(fixture)).toMatchObject({ state: 'published', labels: ['auto-dev:done'] });
    expect(waited).toEqual([7_000]);
  });
});

describe('what GitHub refuses', () => {
  const shared = sharedFixture();

  test('F22: a draft pull request: the issue says why, and a pick opens it when it may be opened', async () => {
    const message = 'Draft pull requests are not supported in this repository.';
    const fixture = await openFixture(shared(), { pushes: 'rest' });
    const { faults } = fixture.shared.hub.github;
    faults.add({
      method: 'POST',
      path: /\/pulls$/,
      status: 422,
      body: { message: 'Validation Failed', errors: [{ message }] },
    });
    expect(await fixture.publishes()).toBe('published');
    expect(await kindsOf(fixture, fixture.issue)).toEqual(['outcome', 'status']);
    const outcome = (await fixture.store.run(fixture.runId))?.outcome;
    expect(same(fixture, (outcome?.kind === 'table' && outcome.refusedBecause) || '')).toMatchInlineSnapshot(
      `"GitHub refused to open a draft pull request from auto-dev/1/RUN/B (422): Validation Failed; Draft pull requests are not supported in this repository."`,
    );
    expect(await labelsOf(fixture)).toEqual(['auto-dev:none']);
    expect(await fixture.says('/auto-dev pick B')).toMatch(/^Candidate B is the draft pull request/);
    expect(await pullsOf(fixture)).toHaveLength(1);
    expect(await labelsOf(fixture)).toEqual(['auto-dev:done']);
  });

  test('F23: a push, by a rule: the issue says why, and a pick opens it when the rule is gone', async () => {
    const fixture = await openFixture(shared());
    const { github } = fixture.shared.hub;
    await github.protect('auto-dev/*', 'Cannot create ref due to creations being restricted.');
    expect(await fixture.publishes()).toBe('published');
    expect([await pullsOf(fixture), await branchesOf(fixture)]).toEqual([[], []]);
    const outcome = (await fixture.store.run(fixture.runId))?.outcome;
    expect(same(fixture, (outcome?.kind === 'table' && outcome.refusedBecause) || '')).toMatchInlineSnapshot(
      `"The push of \`auto-dev/1/RUN/B\` was refused: [remote rejected] (hook declined) remote: error: GH013: Repository rule violations found for refs/heads/auto-dev/1/RUN/B. remote: - Cannot create ref due to creations being restricted. remote: error: hook declined to update refs/heads/auto-dev/1/RUN/B"`,
    );
    await rm(join(github.directory('alice', 'demo'), 'hooks', 'update'));
    expect(await fixture.says('/auto-dev pick B')).toMatch(/^Candidate B is the draft pull request/);
    expect(await pullsOf(fixture)).toHaveLength(1);
  });

  test('another pick, by a rule: it is on record, and does not stand', async () => {
    const fixture = await openFixture(shared());
    await fixture.publishes();
    const [pull] = await pullsOf(fixture);
    const { github } = fixture.shared.hub;
    await github.protect('auto-dev/*', 'Cannot update this protected ref.');
    expect(await fixture.says('/auto-dev pick C', { on: pull?.number ?? 0 })).toMatch(
      /^refused: The push of/,
    );
    expect(await fixture.store.picks(fixture.runId)).toMatchObject([{ alias: 'C' }]);
    const said = [
      ...(await commentsOn(fixture, fixture.issue)),
      ...(await commentsOn(fixture, pull?.number ?? 0)),
    ];
    const shown = said.filter(({ body }) => /runoff:(status|comparison)/.test(body));
    expect(shown).toHaveLength(2);
    for (const { body } of shown) expect(body).not.toMatch(/picked/i);
  });

  test('an archived repository: the run fails and nothing is left half done', async () => {
    const fixture = await openFixture(shared());
    await fixture.shared.hub.github.setArchived({ owner: 'alice', name: 'demo' }, true);
    expect(same(fixture, await fixture.publishes())).toMatchInlineSnapshot(
      `"GITHUB_REFUSED: GitHub refused to comment on #1 (403): Repository was archived so is read-only."`,
    );
    expect([await stateOf(fixture), await pullsOf(fixture), await branchesOf(fixture)]).toEqual([
      'failed',
      [],
      [],
    ]);
    const calls = fixture.line.calls.length;
    await fixture.recovers();
    expect(fixture.line.calls).toHaveLength(calls);
  });
});

describe('F10: an App that is no longer there', () => {
  const shared = sharedFixture();

  test.each(['suspended', 'uninstalled'] as const)(
    '%s: the run ends, and GitHub is not asked again',
    async (how) => {
      const fixture = await openFixture(shared(), { pushes: 'rest' });
      const { github } = fixture.shared.hub;
      fixture.line.before(async ({ method, path }) => {
        if (method !== 'POST' || !path.endsWith('/pulls')) return;
        fixture.line.before(() => undefined);
        await (how === 'suspended' ? github.suspend() : github.uninstall());
      });
      expect(await fixture.publishes()).toMatch(/^GITHUB_REFUSED: /);
      expect(await stateOf(fixture)).toBe('failed');
      const calls = fixture.line.calls.length;
      expect(calls).toBeLessThan(20);
      await fixture.recovers();
      await reconcile(fixture.world);
      expect(fixture.line.calls).toHaveLength(calls);
    },
  );

  test('a run at work is cancelled as soon as GitHub tells', async () => {
    const fixture = await openFixture(shared(), { pushes: 'rest' });
    const { github } = fixture.shared.hub;
    await github.uninstall();
    const { installationId } = github;
    expect(
      await stopRunsWithoutAccess(fixture.world, { installationId, cause: 'the App was uninstalled' }),
    ).toBe(1);
    await fixture.recovers();
    expect(await stateOf(fixture)).toBe('cancelled');
    expect(fixture.line.calls.length).toBeLessThan(3);
  });
});

describe('what changes while a run publishes', () => {
  const shared = sharedFixture();

  test('F11: a token that is no longer taken in a push: one new one, and all is there', async () => {
    tried({
      id: 'github-token-refused',
      part: 'GitHub is unavailable',
      what: 'A token is rejected during a push.',
      held: 'Runoff requests one new token, and everything exists.',
    });
    const fixture = await openFixture(shared());
    fixture.shared.hub.github.faults.add({ method: 'POST', path: /git-receive-pack$/, status: 401 });
    expect(await fixture.publishes()).toBe('published');
    expect(await pullsOf(fixture)).toHaveLength(1);
    expect(await branchesOf(fixture)).toHaveLength(3);
    expect(fixture.slept).toEqual([]);
  });

  test('the repository gets another name: the run ends under it', async () => {
    const fixture = await openFixture(shared(), { decision: TOSS_UP });
    const { github } = fixture.shared.hub;
    expect(await fixture.publishes()).toBe('published');
    await github.rename({ owner: 'alice', name: 'demo' }, 'renamed');
    expect(await fixture.says('/auto-dev pick C')).toMatch(/^Candidate C is the draft pull request/);
    expect(await github.as(ALICE).pulls({ owner: 'alice', name: 'renamed' })).toMatchObject([
      { draft: true },
    ]);
  });

  test('it gets another name between a push and the pull request', async () => {
    const fixture = await openFixture(shared());
    const { github } = fixture.shared.hub;
    fixture.line.before(async ({ method, path }) => {
      if (method !== 'POST' || !path.endsWith('/pulls')) return;
      fixture.line.before(() => undefined);
      await github.rename({ owner: 'alice', name: 'demo' }, 'renamed');
    });
    expect(await fixture.publishes()).toBe('published');
    expect(await github.as(ALICE).pulls({ owner: 'alice', name: 'renamed' })).toMatchObject([
      { draft: true },
    ]);
  });
});
