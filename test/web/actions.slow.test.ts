import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openStore } from '../../src/adapters/store/index.ts';
import { systemRandom } from '../../src/adapters/system/index.ts';
import { openLocalCommands } from '../../src/commands/index.ts';
import type { World } from '../../src/runs/index.ts';
import { openWeb, type Viewer } from '../../src/web/index.ts';
import { TOSS_UP } from '../core/reports/sample.ts';
import { type Fixture, openFixture, sharedFixture } from '../publishing/publishing-world.ts';
import { freshDatabase, type TestDatabase } from '../world/database.ts';
import { partial } from '../world/partial.ts';

const shared = sharedFixture('file');

let database: TestDatabase;
let store: Awaited<ReturnType<typeof openStore>>;
beforeAll(async () => {
  database = await freshDatabase();
  store = await openStore(database.url);
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

/** A browser without scripts: it reads forms, sends them, and goes where an answer leads. */
function browser(fixture: Fixture, viewer: Viewer, csrf = `token of ${'id' in viewer ? viewer.id : 0}`) {
  const world = partial<World>({ ...fixture.world, random: systemRandom }, ['diskSpace', 'metrics']);
  const commands = viewer.kind === 'local' ? openLocalCommands(world) : fixture.intake;
  const web = openWeb({ world, commands, identify: async () => ({ viewer, csrf }) });
  const fetched = (path: string, init: RequestInit = {}) =>
    web.fetch(new Request(`http://runoff.test${path}`, init));
  const page = async () => (await fetched(`/runs/${fixture.runId}`)).text();
  /** Sends the form of an action as the page has it, with what a person enters. */
  const send = async (html: string, action: string, entered: Record<string, string>) => {
    const found = html
      .split('<form ')
      .find((form) => form.includes(`action="/runs/${fixture.runId}/${action}"`));
    if (!found) throw new Error(`The page has no form to ${action}.`);
    const hidden = [...found.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(
      ([, name = '', value = '']) => [name, value] as const,
    );
    const body = new URLSearchParams({ ...Object.fromEntries(hidden), ...entered });
    const response = await fetched(`/runs/${fixture.runId}/${action}`, { method: 'POST', body });
    address = response.headers.get('location') ?? address;
    return response;
  };
  /** Where the last form led. */
  let address = `/runs/${fixture.runId}`;
  /** What a page says about a form that was sent; null for nothing. */
  const said = async (at = address) => {
    // The clock of the fixture waits for nothing.
    await fixture.intake.idle();
    const text = await (await fetched(at)).text();
    return /class="notice \w+">(.*?)<\/p>/s.exec(text)?.[1]?.replace(/<\/?\w+>/g, '') ?? null;
  };
  /** The page, a press of a button on it, and what the page says then. */
  const press = async (action: string, entered: Record<string, string> = {}) => {
    const response = await send(await page(), action, entered);
    return response.status === 303 ? said() : `${response.status}: ${await response.text()}`;
  };
  return { fetched, page, send, said, press, address: () => address };
}

async function viewerCalled(login: string): Promise<Viewer> {
  const { github } = shared().hub;
  const { id } = (await github.as(login).request('GET', '/user')) as { readonly id: number };
  return { kind: 'github', id, login, operator: false };
}

let fixture: Fixture;
let alice: ReturnType<typeof browser>;
beforeEach(async () => {
  fixture = await openFixture(shared(), { decision: TOSS_UP, keeps: store });
  await fixture.publishes();
  alice = browser(fixture, await viewerCalled('alice'));
});

const pulls = async () => (await store.run(fixture.runId))?.outcome?.kind;
const commentsOf = async (issue: number): Promise<string> => {
  const { github, repository } = shared().hub;
  const path = `/repos/${repository.owner}/${repository.name}/issues/${issue}/comments`;
  return JSON.stringify(await github.as('alice').request('GET', path));
};

describe('a writer, on the page of a run that waits for a pick', () => {
  test('picks: the pull request is opened, the issue says by whom, and so does the page, also when it is loaded again', async () => {
    expect(await alice.press('vote', { candidate: 'C' })).toBe('Recorded the vote for C.');
    expect(await alice.press('pick', { candidate: 'C' })).toMatch(
      /^Candidate C is the draft pull request #\d+\.$/,
    );
    expect(await alice.said()).toMatch(/^Candidate C is the draft pull request/);
    expect(await alice.said(`/runs/${fixture.runId}`)).toBeNull();
    expect(await pulls()).toBe('pull');
    expect(await commentsOf(fixture.issue)).toContain('picked by `alice`');
    const audit = await store.audited({ run: fixture.runId, limit: 20 });
    expect(audit.flatMap(({ entry }) => (entry.kind === 'command' ? [entry.text] : []))).toEqual(
      expect.arrayContaining(['/auto-dev vote C', '/auto-dev pick C']),
    );
  });

  test('sees the outcome of her own forms to this run, whatever key the address has', async () => {
    await alice.press('vote', { candidate: 'B' });
    const address = alice.address();
    expect(address).toMatch(/\?outcome=[0-9a-f]{32}#outcome$/);
    const bob = browser(fixture, await viewerCalled('bob'));
    expect(await bob.said(address)).toBeNull();
    const other = await openFixture(shared(), { decision: TOSS_UP, keeps: store });
    await other.publishes();
    expect(await alice.said(address.replace(fixture.runId, other.runId))).toBeNull();
    for (const key of ['', 'x', '0'.repeat(32)])
      expect(await alice.said(`/runs/${fixture.runId}?outcome=${key}`)).toBeNull();
    expect(await alice.said(address)).toBe('Recorded the vote for B.');
  });

  test('in two browsers at once: one picks, and the other is told by whom and what', async () => {
    const bob = browser(fixture, await viewerCalled('bob'));
    const [hers, his] = [await alice.page(), await bob.page()];
    const answers = await Promise.all([
      alice.send(hers, 'pick', { candidate: 'B' }),
      bob.send(his, 'pick', { candidate: 'C' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    const told = [await alice.said(), await bob.said()];
    const second = told.findIndex((text) => text?.includes('after your page was loaded'));
    expect(told[1 - second]).toMatch(/is the draft pull request/);
    expect(told[second]).toContain(second === 1 ? 'alice picked candidate B' : 'bob picked candidate C');
    expect(await store.picks(fixture.runId)).toHaveLength(1);
  });

  test('who sends a form twice acts once, and who changes it in between is told', async () => {
    const page = await alice.page();
    await Promise.all([1, 2, 3].map(() => alice.send(page, 'vote', { candidate: 'B' })));
    const other = await alice.send(page, 'pick', { candidate: 'B' });
    expect(other.status).toBe(422);
    await fixture.intake.idle();
    expect(await store.votes(fixture.runId)).toHaveLength(1);
    expect(await store.picks(fixture.runId)).toEqual([]);
  });

  test('cancels it after a step that says what happens, and then picks nothing any more from an old page', async () => {
    const old = await alice.page();
    expect(old).toMatch(/<details class="confirm"><summary>Cancel the run…<\/summary>.*cannot be undone/s);
    expect(await alice.press('cancel')).toBe('The run no longer waits for a choice.');
    expect((await alice.send(old, 'pick', { candidate: 'B' })).status).toBe(303);
    expect(await alice.said()).toMatch(/^The run has ended without a pull request\./);
    expect(await alice.page()).not.toContain('/pick"');
  });
});

describe('nothing is changed', () => {
  test('by a form without the token of the session, or with that of another one', async () => {
    const page = await alice.page();
    for (const csrf of ['', 'token of 999', 'x'])
      expect((await alice.send(page, 'pick', { candidate: 'B', csrf })).status).toBe(403);
    expect((await alice.fetched(`/runs/${fixture.runId}/cancel`, { method: 'POST' })).status).toBe(403);
    expect(await store.picks(fixture.runId)).toEqual([]);
  });

  test('by a writer who lost the right between page and press', async () => {
    const page = await alice.page();
    const bob = browser(fixture, await viewerCalled('bob'));
    const his = await bob.page();
    const { github, repository } = shared().hub;
    await github.setRole(repository, 'bob', 'pull');
    try {
      expect((await bob.send(his, 'pick', { candidate: 'B' })).status).toBe(303);
      expect(await bob.said()).toBe(
        'You have no write access to the repository at the moment, so nothing was changed.',
      );
    } finally {
      await github.setRole(repository, 'bob', 'push');
    }
    expect(await store.picks(fixture.runId)).toEqual([]);
    expect((await alice.send(page, 'pick', { candidate: 'B' })).status).toBe(303);
  });

  test('by a reader, who gets no forms', async () => {
    const tess = browser(fixture, await viewerCalled('tess'));
    expect(await tess.page()).toContain('People with write access to alice/demo can act here.');
    const page = await tess.page();
    expect(page).not.toContain('action="/runs/');
    const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? expect.fail();
    const body = new URLSearchParams({ csrf, key: 'a'.repeat(32), candidate: 'B' });
    const forged = await tess.fetched(`/runs/${fixture.runId}/pick`, { method: 'POST', body });
    expect(forged.status).toBe(403);
    expect(await forged.text()).toContain('This needs write access to the repository.');
    expect(await store.picks(fixture.runId)).toEqual([]);
  });

  test('by fields that no form has', async () => {
    const page = await alice.page();
    for (const entered of [{ candidate: 'B\n/auto-dev cancel' }, { candidate: '' }, { key: '../x' }])
      expect((await alice.send(page, 'pick', entered)).status).toBe(400);
    expect(await store.picks(fixture.runId)).toEqual([]);
  });
});

describe('a run on this machine', () => {
  test('is picked from on its page by the person at this machine, and told how to merge', async () => {
    const origin = { kind: 'local', path: '/home/kim/shop' } as const;
    const local = { ...fixture, runId: `r${String(Math.random()).slice(2, 12)}` };
    const run = (await store.run(fixture.runId)) ?? expect.fail();
    await store.createRun({ id: local.runId, origin, title: 'Local', request: null, at: 1 });
    const { evidence = [], ranking = [], decision = TOSS_UP } = run;
    const branches = { B: `runoff/${local.runId}/B` };
    await store.updateRun(
      local.runId,
      { evidence, ranking, decision, outcome: { kind: 'branches', branches } },
      1,
    );
    for (const one of await store.candidates(fixture.runId))
      await store.putCandidate({ ...one, runId: local.runId });
    for (const to of ['admitted', 'briefed', 'coded', 'examined', 'judged', 'published'] as const)
      await store.transition(local.runId, to, 'test', 1);
    const kim = browser(local, { kind: 'local' });
    expect(await kim.press('pick', { candidate: 'B' })).toBe(
      `Candidate B is picked. To merge it, run git merge ${branches.B} in the repository.`,
    );
    expect((await store.picks(local.runId)).map(({ alias, by }) => [alias, by])).toEqual([['B', null]]);
    expect(await kim.press('pick', { candidate: 'none' })).toMatch(/^All candidates are rejected/);
    expect(await kim.page()).not.toContain('/retry"');
  });
});
