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

describe('F4: a rate limit of GitHub', () => {
  const shared = sharedFixture();

  const limited = (headers: Readonly<Record<string, string>>) =>
    ({
      method: 'POST',
      path: /\/pulls$/,
      status: 403,
      body: { message: 'API rate limit exceeded' },
      headers,
    }) as const;

  test('is waited out if it is short', async () => {
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

  test("is reported with its end if it lasts, without further requests, and the run's end is announced afterwards", async () => {
    const { faults } = shared().hub.github;
    let now = Date.now();
    const reset = String(Math.floor(now / 1000) + 3_000);
    faults.add({ ...limited({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }), times: 99 });
    const fixture = await openFixture(shared(), { pushes: 'rest', now: () => now });
    expect(
      same(fixture, await fixture.publishes()).replace(/\d{4}-[\d-]+T[\d:.]+Z/, 'TIME'),
    ).toMatchInlineSnapshot(
      `"GITHUB_UNAVAILABLE: GitHub's rate limit is reached, so Runoff could not open a draft pull request from auto-dev/1/RUN/B. Try again after TIME."`,
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

  test.each([403, 429])('is recognised as secondary by %i', async (status) => {
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

describe('a rejection by GitHub', () => {
  const shared = sharedFixture();

  test('F22: of a draft pull request is explained on the issue, and a later pick opens it', async () => {
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

  test('F23: of a push by a rule is explained on the issue, and a pick works when the rule is gone', async () => {
    const fixture = await openFixture(shared());
    const { github } = fixture.shared.hub;
    await github.protect('auto-dev/*', 'Cannot create ref due to creations being restricted.');
    expect(await fixture.publishes()).toBe('published');
    expect([await pullsOf(fixture), await branchesOf(fixture)]).toEqual([[], []]);
    const outcome = (await fixture.store.run(fixture.runId))?.outcome;
    expect(same(fixture, (outcome?.kind === 'table' && outcome.refusedBecause) || '')).toMatchInlineSnapshot(
      `"A rule of this repository does not let Runoff push the branch \`auto-dev/1/RUN/B\`: \`Cannot create ref due to creations being restricted\`. Change the rule, or let Runoff's App bypass it."`,
    );
    await rm(join(github.directory('alice', 'demo'), 'hooks', 'update'));
    expect(await fixture.says('/auto-dev pick B')).toMatch(/^Candidate B is the draft pull request/);
    expect(await pullsOf(fixture)).toHaveLength(1);
  });

  test('of another pick by a rule is recorded, and the pick does not count', async () => {
    const fixture = await openFixture(shared());
    await fixture.publishes();
    const [pull] = await pullsOf(fixture);
    const { github } = fixture.shared.hub;
    await github.protect('auto-dev/*', 'Cannot update this protected ref.');
    expect(await fixture.says('/auto-dev pick C', { on: pull?.number ?? 0 })).toMatch(
      /^refused: A rule of this repository does not let Runoff push the branch/,
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

  test('of all writes in an archived repository leaves its result for a pick, and nothing half done', async () => {
    const fixture = await openFixture(shared());
    await fixture.shared.hub.github.setArchived({ owner: 'alice', name: 'demo' }, true);
    expect(same(fixture, await fixture.publishes())).toMatchInlineSnapshot(
      `"GITHUB_REFUSED: GitHub refused to comment on #1 (403): Repository was archived so is read-only."`,
    );
    expect([await stateOf(fixture), await pullsOf(fixture), await branchesOf(fixture)]).toEqual([
      'published',
      [],
      [],
    ]);
    expect((await fixture.store.run(fixture.runId))?.trouble?.advice).toMatch(/If you pick a candidate/);
    const calls = fixture.line.calls.length;
    await fixture.recovers();
    expect(fixture.line.calls).toHaveLength(calls);
  });
});

describe('F10: an App that was removed', () => {
  const shared = sharedFixture();

  test.each(['suspended', 'uninstalled'] as const)(
    'by %s ends the run without further requests',
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

  test('cancels an active run as soon as the webhook arrives', async () => {
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

describe('a change during publishing', () => {
  const shared = sharedFixture();

  test('F11: of the token leads to one new token, and everything exists', async () => {
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

  test('of the token that GitHub also refuses anew is waited for, and everything exists', async () => {
    const fixture = await openFixture(shared());
    const { faults } = fixture.shared.hub.github;
    for (let refused = 0; refused < 2; refused += 1)
      faults.add({ method: 'POST', path: /git-receive-pack$/, status: 401 });
    expect(await fixture.publishes()).toBe('published');
    expect(await pullsOf(fixture)).toHaveLength(1);
    expect(fixture.slept).not.toEqual([]);
  });

  test("of the repository's name lets the run end under the new one", async () => {
    const fixture = await openFixture(shared(), { decision: TOSS_UP });
    const { github } = fixture.shared.hub;
    expect(await fixture.publishes()).toBe('published');
    await github.rename({ owner: 'alice', name: 'demo' }, 'renamed');
    expect(await fixture.says('/auto-dev pick C')).toMatch(/^Candidate C is the draft pull request/);
    expect(await github.as(ALICE).pulls({ owner: 'alice', name: 'renamed' })).toMatchObject([
      { draft: true },
    ]);
  });

  test("of the repository's name can happen between push and pull request", async () => {
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
