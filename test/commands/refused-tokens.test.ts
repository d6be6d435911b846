import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type GitHubWorld, openGitHubWorld } from '../../packages/local-github/test/github-world.ts';
import { findMissedStops, openCommandIntake } from '../../src/commands/index.ts';
import type { GitHubOrigin } from '../../src/core/model/index.ts';
import { Settings } from '../../src/core/settings/index.ts';
import { announceEndedRuns, openAnnouncer, type World } from '../../src/runs/index.ts';
import { appGitHub } from '../world/app-github.ts';
import { memoryArtifacts, memoryStore } from '../world/memory-store.ts';
import { partial } from '../world/partial.ts';
import { silent } from '../world/silent-log.ts';
import { tried } from '../world/tried.ts';

// Runoff asks once more with a new token when GitHub answers 401. Here GitHub does so again: an outage of its sign-in.

const RUN = 'r0000000001';
const NOW = Date.parse('2026-05-04T10:00:00Z');

let hub: GitHubWorld;
beforeAll(async () => {
  hub = await openGitHubWorld();
});
afterAll(async () => {
  expect(hub.contract.violations).toEqual([]);
  await hub.close();
});
beforeEach(() => hub.github.faults.clear());

/** A run whose coders are at work on an issue of alice's. */
async function running() {
  const issue = await hub.github.as('alice').openIssue(hub.repository, { title: 'Add is wrong' });
  const handle = hub.github.handle(hub.repository.owner, hub.repository.name);
  const github = appGitHub(hub);
  const alice = await github.people.byLogin('alice', handle);
  if (!alice) throw new Error('Alice has an account.');
  const store = memoryStore();
  const clock = { now: () => NOW, elapsed: () => NOW, sleep: async () => {} };
  const cancelled: string[] = [];
  const world = partial<World>({
    store,
    clock,
    github,
    log: silent,
    artifacts: memoryArtifacts(),
    announcer: openAnnouncer({ artifacts: memoryArtifacts(), store, clock, log: silent, github }),
    engine: { cancel: async (id: string) => void cancelled.push(id) },
  });
  const origin: GitHubOrigin = { kind: 'github', ...handle, issue, requestedBy: alice };
  const base = { ref: 'main', sha: 'a'.repeat(40) };
  const text = { title: 'Add is wrong', body: '' };
  const task = { runId: RUN, origin, ...text, comments: [], base, settings: Settings.parse({}), lowered: [] };
  await store.createRun({ id: RUN, origin, title: 'Add is wrong', request: null, at: NOW });
  await store.updateRun(RUN, { task }, NOW);
  for (const to of ['admitted', 'briefed'] as const) await store.transition(RUN, to, 'test', NOW);
  const state = async () => (await store.run(RUN))?.state;
  return { world, store, issue, handle, alice, state, cancelled };
}

/** The next two calls to this path are answered with 401. */
const refuseTokens = (method: 'GET' | 'POST', path: RegExp): void =>
  hub.github.faults.add({ method, path, status: 401, times: 2 });

test('does not make an issue count as deleted, so its run continues', async () => {
  tried({
    id: 'github-sign-in-down',
    part: 'GitHub is unavailable',
    what: 'GitHub answers 401 to a token, and to the new one that replaces it.',
    held: 'That counts as an outage: no run stops, a command waits, and the end of a run is announced later.',
  });
  const { world, issue, state, cancelled } = await running();
  refuseTokens('GET', new RegExp(`/issues/${issue}$`));
  await findMissedStops(world);
  expect([hub.github.faults.left(), await state(), cancelled]).toEqual([0, 'briefed', []]);
});

test('does not make a writer a stranger: their command waits, and is applied', async () => {
  const { world, store, issue, handle, alice } = await running();
  const intake = openCommandIntake(world);
  const place = { ...handle, thread: issue, isPull: false, comment: 77, on: 'conversation' } as const;
  refuseTokens('GET', /\/permission$/);
  await intake.onComment({
    place,
    body: '/auto-dev help',
    issue: { title: 'Add is wrong', body: '' },
    at: NOW,
    throughApp: false,
    actor: { ...alice, isBot: false },
  });
  await intake.idle();
  const outcome = async () => (await store.command('comment:77'))?.outcome?.kind;
  expect([hub.github.faults.left(), await outcome()]).toEqual([0, undefined]);
  // The comment is not on this GitHub, so nothing can react to it.
  await intake.recover();
  await intake.idle();
  expect(await outcome()).toBe('done');
});

test('does not leave the end of a run unannounced', async () => {
  const { world, store, issue } = await running();
  refuseTokens('POST', new RegExp(`/issues/${issue}/comments$`));
  await store.transition(RUN, 'failed', 'test', NOW);
  await world.announcer.finish(RUN);
  const ours = async () =>
    (await hub.github.as('alice').comments(hub.repository, issue)).filter(({ body }) =>
      body.includes('runoff:status'),
    );
  expect([hub.github.faults.left(), await ours()]).toEqual([0, []]);
  await announceEndedRuns(world);
  expect(await ours()).toHaveLength(1);
});
