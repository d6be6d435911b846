import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { stopRunsWithoutAccess } from '../../src/commands/index.ts';
import { reconcile } from '../../src/runs/index.ts';
import { TOSS_UP } from '../core/reports/sample.ts';
import { tried } from '../world/tried.ts';
import { ALICE, furnished, openRoom, type Room } from './room.ts';
import { branchesOf, commentsOn, kindsOf, labelsOf, pullsOf, standing } from './standing.ts';

const stateOf = async ({ store, runId }: Room) => (await store.run(runId))?.state;
const same = (room: Room, text: string) =>
  text.replaceAll(room.runId, 'RUN').replaceAll(room.house.hub.github.url, 'GITHUB');

describe('F4: limits of GitHub', () => {
  const house = furnished();

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
    const { faults } = house().hub.github;
    faults.add({ ...limited({ 'retry-after': '30' }), times: 1 });
    const waited: number[] = [];
    let now = Date.now();
    const sleep = async (ms: number) => {
      waited.push(ms);
      now += ms;
    };
    const room = await openRoom(house(), { pushes: 'rest', now: () => now, sleep });
    expect(await room.publishes()).toBe('published');
    expect(await pullsOf(room)).toHaveLength(1);
    expect([room.slept, waited]).toEqual([[2_000], [30_000]]);
  });

  test('one that lasts is reported with its end, GitHub is not hammered, and the end is said when it is over', async () => {
    const { faults } = house().hub.github;
    let now = Date.now();
    const reset = String(Math.floor(now / 1000) + 3_000);
    faults.add({ ...limited({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }), times: 99 });
    const room = await openRoom(house(), { pushes: 'rest', now: () => now });
    expect(same(room, await room.publishes()).replace(/\d{4}-[\d-]+T[\d:.]+Z/, 'TIME')).toMatchInlineSnapshot(
      `"GITHUB_UNAVAILABLE: GitHub's rate limit is reached, so we could not open a draft pull request from auto-dev/1/RUN/B. Try again after TIME."`,
    );
    // One write met the limit; the later tries knew of it.
    expect(
      room.line.calls.filter(({ method, path }) => method === 'POST' && path.endsWith('/pulls')),
    ).toHaveLength(1);
    expect(await commentsOn(room, room.issue)).toEqual([]);
    now += 3_001_000;
    faults.clear();
    await room.recovers();
    expect(await kindsOf(room, room.issue)).toEqual(['status']);
    expect([await stateOf(room), await labelsOf(room)]).toEqual(['failed', ['auto-dev:failed']]);
  });

  test.each([403, 429])('a secondary one, told by %i', async (status) => {
    const { faults } = house().hub.github;
    const body = { message: 'You have exceeded a secondary rate limit.' };
    faults.add({ method: 'POST', path: /\/comments$/, status, headers: { 'retry-after': '7' }, body });
    const waited: number[] = [];
    let now = Date.now();
    const sleep = async (ms: number) => {
      waited.push(ms);
      now += ms;
    };
    const room = await openRoom(house(), { pushes: 'rest', now: () => now, sleep });
    expect(await room.publishes()).toBe('published');
    expect(await standing(room)).toMatchObject({ state: 'published', labels: ['auto-dev:done'] });
    expect(waited).toEqual([7_000]);
  });
});

describe('what GitHub refuses', () => {
  const house = furnished();

  test('F22: a draft pull request: the issue says why, and a pick opens it when it may be opened', async () => {
    const message = 'Draft pull requests are not supported in this repository.';
    const room = await openRoom(house(), { pushes: 'rest' });
    const { faults } = room.house.hub.github;
    faults.add({
      method: 'POST',
      path: /\/pulls$/,
      status: 422,
      body: { message: 'Validation Failed', errors: [{ message }] },
    });
    expect(await room.publishes()).toBe('published');
    expect(await kindsOf(room, room.issue)).toEqual(['outcome', 'status']);
    const outcome = (await room.store.run(room.runId))?.outcome;
    expect(same(room, (outcome?.kind === 'table' && outcome.refusedBecause) || '')).toMatchInlineSnapshot(
      `"GitHub refused to open a draft pull request from auto-dev/1/RUN/B (422): Validation Failed; Draft pull requests are not supported in this repository."`,
    );
    expect(await labelsOf(room)).toEqual(['auto-dev:none']);
    expect(await room.says('/auto-dev pick B')).toMatch(/^Candidate B is the draft pull request/);
    expect(await pullsOf(room)).toHaveLength(1);
    expect(await labelsOf(room)).toEqual(['auto-dev:done']);
  });

  test('F23: a push, by a rule: the issue says why, and a pick opens it when the rule is gone', async () => {
    const room = await openRoom(house());
    const { github } = room.house.hub;
    await github.protect('auto-dev/*', 'Cannot create ref due to creations being restricted.');
    expect(await room.publishes()).toBe('published');
    expect([await pullsOf(room), await branchesOf(room)]).toEqual([[], []]);
    const outcome = (await room.store.run(room.runId))?.outcome;
    expect(same(room, (outcome?.kind === 'table' && outcome.refusedBecause) || '')).toMatchInlineSnapshot(
      `"The push of \`auto-dev/1/RUN/B\` was refused: [remote rejected] (hook declined) remote: error: GH013: Repository rule violations found for refs/heads/auto-dev/1/RUN/B. remote: - Cannot create ref due to creations being restricted. remote: error: hook declined to update refs/heads/auto-dev/1/RUN/B"`,
    );
    await rm(join(github.directory('alice', 'demo'), 'hooks', 'update'));
    expect(await room.says('/auto-dev pick B')).toMatch(/^Candidate B is the draft pull request/);
    expect(await pullsOf(room)).toHaveLength(1);
  });

  test('another pick, by a rule: it is on record, and does not stand', async () => {
    const room = await openRoom(house());
    await room.publishes();
    const [pull] = await pullsOf(room);
    const { github } = room.house.hub;
    await github.protect('auto-dev/*', 'Cannot update this protected ref.');
    expect(await room.says('/auto-dev pick C', { on: pull?.number ?? 0 })).toMatch(/^refused: The push of/);
    expect(await room.store.picks(room.runId)).toMatchObject([{ alias: 'C' }]);
    const said = [...(await commentsOn(room, room.issue)), ...(await commentsOn(room, pull?.number ?? 0))];
    const shown = said.filter(({ body }) => /runoff:(status|comparison)/.test(body));
    expect(shown).toHaveLength(2);
    for (const { body } of shown) expect(body).not.toMatch(/picked/i);
  });

  test('an archived repository: the run fails and nothing is left half done', async () => {
    const room = await openRoom(house());
    await room.house.hub.github.setArchived({ owner: 'alice', name: 'demo' }, true);
    expect(same(room, await room.publishes())).toMatchInlineSnapshot(
      `"GITHUB_REFUSED: GitHub refused to comment on #1 (403): Repository was archived so is read-only."`,
    );
    expect([await stateOf(room), await pullsOf(room), await branchesOf(room)]).toEqual(['failed', [], []]);
    const calls = room.line.calls.length;
    await room.recovers();
    expect(room.line.calls).toHaveLength(calls);
  });
});

describe('F10: an App that is no longer there', () => {
  const house = furnished();

  test.each(['suspended', 'uninstalled'] as const)(
    '%s: the run ends, and GitHub is not asked again',
    async (how) => {
      const room = await openRoom(house(), { pushes: 'rest' });
      const { github } = room.house.hub;
      room.line.before(async ({ method, path }) => {
        if (method !== 'POST' || !path.endsWith('/pulls')) return;
        room.line.before(() => undefined);
        await (how === 'suspended' ? github.suspend() : github.uninstall());
      });
      expect(await room.publishes()).toMatch(/^GITHUB_REFUSED: /);
      expect(await stateOf(room)).toBe('failed');
      const calls = room.line.calls.length;
      expect(calls).toBeLessThan(20);
      await room.recovers();
      await reconcile(room.world);
      expect(room.line.calls).toHaveLength(calls);
    },
  );

  test('a run at work is cancelled as soon as GitHub tells', async () => {
    const room = await openRoom(house(), { pushes: 'rest' });
    const { github } = room.house.hub;
    await github.uninstall();
    const { installationId } = github;
    expect(
      await stopRunsWithoutAccess(room.world, { installationId, cause: 'the App was uninstalled' }),
    ).toBe(1);
    await room.recovers();
    expect(await stateOf(room)).toBe('cancelled');
    expect(room.line.calls.length).toBeLessThan(3);
  });
});

describe('what changes while a run publishes', () => {
  const house = furnished();

  test('F11: a token that is no longer taken in a push: one new one, and all is there', async () => {
    tried({
      id: 'github-token-refused',
      part: 'GitHub is unavailable',
      what: 'A token is rejected during a push.',
      held: 'Runoff requests one new token, and everything exists.',
    });
    const room = await openRoom(house());
    room.house.hub.github.faults.add({ method: 'POST', path: /git-receive-pack$/, status: 401 });
    expect(await room.publishes()).toBe('published');
    expect(await pullsOf(room)).toHaveLength(1);
    expect(await branchesOf(room)).toHaveLength(3);
    expect(room.slept).toEqual([]);
  });

  test('the repository gets another name: the run ends under it', async () => {
    const room = await openRoom(house(), { decision: TOSS_UP });
    const { github } = room.house.hub;
    expect(await room.publishes()).toBe('published');
    await github.rename({ owner: 'alice', name: 'demo' }, 'renamed');
    expect(await room.says('/auto-dev pick C')).toMatch(/^Candidate C is the draft pull request/);
    expect(await github.as(ALICE).pulls({ owner: 'alice', name: 'renamed' })).toMatchObject([
      { draft: true },
    ]);
  });

  test('it gets another name between a push and the pull request', async () => {
    const room = await openRoom(house());
    const { github } = room.house.hub;
    room.line.before(async ({ method, path }) => {
      if (method !== 'POST' || !path.endsWith('/pulls')) return;
      room.line.before(() => undefined);
      await github.rename({ owner: 'alice', name: 'demo' }, 'renamed');
    });
    expect(await room.publishes()).toBe('published');
    expect(await github.as(ALICE).pulls({ owner: 'alice', name: 'renamed' })).toMatchObject([
      { draft: true },
    ]);
  });
});
