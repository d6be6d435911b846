import { describe, expect, test } from 'vitest';
import {
  findMissedLabels,
  findMissedPickEnds,
  findMissedStops,
  recordPullState,
  startFromLabel,
  stopRunsOfIssue,
  stopRunsWithoutAccess,
} from '../../src/commands/index.ts';
import type { LabelChange } from '../../src/ports/index.ts';
import { reconcile } from '../../src/runs/index.ts';
import { tried } from '../world/tried.ts';
import { atWork, boxes, type CommandWorld, commandWorld, START, shown } from './command-world.ts';
import { mona, RUN } from './dialogue-world.ts';
import { down, forbidden, openPull } from './fake-repository.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const stateOf = async ({ store }: CommandWorld, id = RUN) => (await store.run(id))?.state;
const causeOf = async ({ store }: CommandWorld) => (await store.transitions(RUN)).at(-1)?.cause;

/** Somebody has set the label on the issue, and no webhook came. */
function labelStands(s: CommandWorld, at = s.now(), byBot = false, touchedAt = at): void {
  const by = { id: mona.id, login: mona.login };
  s.repository.wanted = [{ issue: s.repository.issue, set: { by, byBot, at }, touchedAt }];
}

const webhook = (s: CommandWorld, updatedAt: number, deliveryId = 'late') =>
  startFromLabel(s.world, {
    deliveryId,
    installationId: 1,
    repository: { id: 42, owner: 'acme', name: 'lists' },
    issue: { number: 7, title: 'x', body: 'y', updatedAt },
    actor: mona,
  });

test('regular looks read no run that has ended, of which there are ever more', async () => {
  const s = commandWorld();
  await atWork(s);
  const active = await s.store.run(RUN);
  const read: unknown[] = [];
  const runsIn: typeof s.store.runsIn = async (states) => {
    const found = await s.store.runsIn(states);
    read.push(...found);
    return found;
  };
  const engine = { ...s.world.engine, status: async () => ({ kind: 'running' }) as const };
  const workspaces = { sweep: async () => [] } as never;
  const world = { ...s.world, engine, workspaces, store: { ...s.store, runsIn } };
  const look = async () => {
    await reconcile(world);
    await findMissedStops(world);
    await findMissedPickEnds(world);
    await stopRunsWithoutAccess(world, { installationId: 99, cause: 'test' });
    return read.splice(0);
  };
  expect(await look()).toEqual([active, active, active]);
  for (const state of ['coded', 'examined', 'judged', 'published'] as const)
    await s.store.transition(RUN, state, 'test', s.now());
  expect(await stateOf(s)).toBe('published');
  expect(await look()).toEqual([]);
});

describe('a label without its webhook', () => {
  test('starts one run, however often Runoff looks and however late the webhook arrives', async () => {
    tried({
      id: 'webhook-lost',
      part: 'GitHub is unavailable',
      what: 'The webhook of a label does not arrive, or arrives late.',
      held: 'One run starts.',
    });
    const s = commandWorld();
    labelStands(s);
    s.later(2 * MINUTE);
    await findMissedLabels(s.world);
    await findMissedLabels(s.world);
    expect((await webhook(s, START)).kind).toBe('ignored');
    expect(s.engine.started).toEqual(['r0000000001']);
    const { origin, request } = (await s.store.run('r0000000001')) ?? expect.fail();
    expect(origin).toMatchObject({ issue: 7, requestedBy: { id: mona.id, login: 'mona' } });
    expect(request).toMatchObject({ trigger: 'label', triggeredAt: START });
  });

  test('on a pull request means what its webhook would have meant', async () => {
    const s = commandWorld();
    labelStands(s);
    s.repository.wanted = s.repository.wanted.map((one) => ({
      ...one,
      issue: { ...one.issue, isPull: true },
    }));
    s.later(2 * MINUTE);
    await findMissedLabels(s.world);
    expect((await s.store.run('r0000000001'))?.origin).toMatchObject({ issue: 7, work: 'fix' });
  });

  test('is left to its webhook for a minute, and to the run that the webhook started', async () => {
    const s = commandWorld();
    labelStands(s);
    s.later(59_000);
    await findMissedLabels(s.world);
    expect(s.engine.started).toEqual([]);
    await webhook(s, START);
    s.later(10 * MINUTE);
    await findMissedLabels(s.world);
    expect(s.engine.started).toHaveLength(1);
  });

  test('is recognised as the label of its webhook despite a slightly earlier timestamp', async () => {
    const s = commandWorld();
    await webhook(s, START);
    labelStands(s, START + 2_000);
    s.later(2 * MINUTE);
    await findMissedLabels(s.world);
    expect(s.engine.started).toHaveLength(1);
  });

  test('that is added again after a run starts another one', async () => {
    const s = commandWorld();
    await webhook(s, START);
    s.later(MINUTE);
    labelStands(s);
    s.later(2 * MINUTE);
    await findMissedLabels(s.world);
    expect(s.engine.started).toHaveLength(2);
  });

  test('starts nothing if a bot or an unknown author added it', async () => {
    const s = commandWorld();
    labelStands(s, START, true);
    s.later(2 * MINUTE);
    await findMissedLabels(s.world);
    s.repository.wanted = [{ issue: s.repository.issue, set: null, touchedAt: START }];
    await findMissedLabels(s.world);
    expect(s.engine.started).toEqual([]);
  });

  test.each([
    ['set too long ago for anybody to expect a run', 3 * DAY + 1, 0],
    ['set before the App was installed', DAY, START + 1],
  ])('starts nothing if it was %s', async (_when, age, installedAt) => {
    const s = commandWorld();
    labelStands(s);
    s.repository.installedAt = installedAt;
    s.later(age);
    await findMissedLabels(s.world);
    expect(s.engine.started).toEqual([]);
  });

  test('starts nothing if the issue has changed since', async () => {
    const s = commandWorld();
    labelStands(s, START, false, START + MINUTE + 1);
    s.later(2 * MINUTE);
    await findMissedLabels(s.world);
    expect(s.engine.started).toEqual([]);
    labelStands(s, START, false, START + MINUTE);
    await findMissedLabels(s.world);
    expect(s.engine.started).toHaveLength(1);
  });

  test('is still found after an outage of two days', async () => {
    const s = commandWorld();
    labelStands(s);
    s.repository.installedAt = START - DAY;
    s.later(2 * DAY);
    await findMissedLabels(s.world);
    expect(s.engine.started).toHaveLength(1);
  });

  test('ends the search when GitHub does not answer, and the next search starts after that repository', async () => {
    const s = commandWorld();
    s.other.trouble.set('labelled', down);
    labelStands(s);
    s.later(2 * MINUTE);
    const stoppedAt = await findMissedLabels(s.world);
    expect([stoppedAt, s.engine.started]).toEqual([43, []]);
    expect(await findMissedLabels(s.world, stoppedAt)).toBe(43);
    expect(s.engine.started).toHaveLength(1);
    s.other.trouble.clear();
    expect(await findMissedLabels(s.world, 43)).toBeNull();
  });

  test('is searched in all repositories if the unresponsive one is gone', async () => {
    const s = commandWorld();
    labelStands(s);
    s.later(2 * MINUTE);
    expect(await findMissedLabels(s.world, 4_711)).toBeNull();
    expect(s.engine.started).toHaveLength(1);
  });

  test.each([
    ['forbidden', forbidden],
    [
      'odd',
      (): never => {
        throw new TypeError('undefined is not an object');
      },
    ],
  ])('is found although another repository is %s', async (_how, trouble) => {
    const s = commandWorld();
    const first = s.other;
    for (const name of ['reader', 'labelled']) {
      first.trouble.clear();
      first.trouble.set(name, trouble);
      labelStands(s, s.now());
      s.later(2 * MINUTE);
      await findMissedLabels(s.world);
    }
    expect(s.engine.started).toHaveLength(2);
  });
});

describe('a lost webhook of an active run', () => {
  /** Greeted: the label that says so is set. */
  async function greeted(): Promise<CommandWorld> {
    const s = commandWorld();
    await atWork(s);
    s.world.announcer.soon(RUN);
    await s.world.announcer.idle();
    expect([...(s.repository.labels.get(7) ?? [])]).toEqual(['auto-dev:running']);
    return s;
  }

  /** The running label is not on the issue any more; what its events tell. */
  function tookOff(s: CommandWorld, change: Partial<LabelChange> | null = {}): void {
    s.repository.labels.get(7)?.clear();
    const by = { id: mona.id, login: mona.login };
    s.repository.labelChange = change && {
      how: 'taken-off',
      by,
      byBot: false,
      throughApp: false,
      at: s.now(),
      ...change,
    };
  }

  test('changes nothing if nothing happened', async () => {
    const s = await greeted();
    await findMissedStops(s.world);
    expect(await stateOf(s)).toBe('briefed');
  });

  test('about a closed issue cancels the run', async () => {
    const s = await greeted();
    s.repository.issue = { ...s.repository.issue, open: false };
    await findMissedStops(s.world);
    expect([await stateOf(s), await causeOf(s)]).toEqual(['cancelled', 'the issue was closed']);
    expect(s.engine.cancelled).toEqual([RUN]);
  });

  test('about a removed running label cancels the run', async () => {
    const s = await greeted();
    tookOff(s);
    await findMissedStops(s.world);
    expect(await causeOf(s)).toBe('the label auto-dev:running was removed');
  });

  test.each<[string, Partial<LabelChange> | null]>([
    ['a bot took it off', { byBot: true }],
    ['somebody took it off before this run was asked for', { at: START - 1_000 }],
    ['it was renamed, so the last that is known is that it was set', { how: 'set', byBot: true }],
    ['GitHub does not tell who took it off', null],
  ])('changes nothing if the running label is missing and %s', async (_what, change) => {
    const s = await greeted();
    tookOff(s, change);
    await findMissedStops(s.world);
    expect(await stateOf(s)).toBe('briefed');
  });

  test('changes nothing if the running label has different letter case', async () => {
    const s = await greeted();
    tookOff(s);
    s.repository.labels.set(7, new Set(['Auto-Dev:Running']));
    await findMissedStops(s.world);
    expect(await stateOf(s)).toBe('briefed');
  });

  test.each([
    ['are refused', forbidden],
    ['cannot be read now', down],
  ])('changes nothing if the running label is missing and its events %s', async (_what, trouble) => {
    const s = await greeted();
    tookOff(s);
    s.repository.trouble.set('labelChange', trouble);
    await findMissedStops(s.world);
    expect(await stateOf(s)).toBe('briefed');
  });

  test('changes nothing before the run has set its label', async () => {
    const s = commandWorld();
    await atWork(s);
    await findMissedStops(s.world);
    expect(await stateOf(s)).toBe('briefed');
  });

  test('about a deleted issue cancels the run', async () => {
    const s = await greeted();
    s.repository.deleted.add(7);
    await findMissedStops(s.world);
    expect(await causeOf(s)).toBe('GitHub no longer shows its issue: it was deleted or moved');
  });

  test('changes nothing if GitHub refuses to show the issue, which is no deletion', async () => {
    const s = await greeted();
    s.repository.trouble.set('issue', forbidden);
    await findMissedStops(s.world);
    expect([await stateOf(s), s.engine.cancelled]).toEqual(['briefed', []]);
  });

  test.each(['reader', 'labelled'])('changes nothing if GitHub refuses the App itself (%s)', async (call) => {
    const s = await greeted();
    s.repository.deleted.add(7);
    s.repository.trouble.set(call, forbidden);
    await findMissedStops(s.world);
    expect([await stateOf(s), s.engine.cancelled]).toEqual(['briefed', []]);
    s.repository.trouble.clear();
    await findMissedStops(s.world);
    expect(await stateOf(s)).toBe('cancelled');
  });

  test('changes nothing in an unreadable repository, and does not block the others', async () => {
    const s = commandWorld();
    await atWork(s, { id: 'r0000000008', origin: { repositoryId: 43 } });
    await atWork(s);
    s.other.trouble.set('issue', down);
    s.repository.issue = { ...s.repository.issue, open: false };
    await findMissedStops(s.world);
    expect([await stateOf(s, 'r0000000008'), await stateOf(s)]).toEqual(['briefed', 'cancelled']);
  });
});

describe('a lost webhook of a run that waits for a pick', () => {
  test('changes nothing if nothing has happened', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    await findMissedPickEnds(s.world);
    expect(await stateOf(s)).toBe('awaiting_pick');
  });

  test('about a closed issue ends the wait', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    s.repository.issue = { ...s.repository.issue, open: false };
    await findMissedPickEnds(s.world);
    expect([await stateOf(s), await causeOf(s)]).toEqual(['closed', 'the issue was closed']);
    expect(boxes(s).body).not.toContain('- [ ]');
  });

  test.each(['reader', 'labelled'])('changes nothing if GitHub refuses the App itself (%s)', async (call) => {
    const s = commandWorld();
    await shown(s, 'choice');
    s.repository.deleted.add(7);
    s.repository.trouble.set(call, forbidden);
    await findMissedPickEnds(s.world);
    expect(await stateOf(s)).toBe('awaiting_pick');
    expect(boxes(s).body).toContain('- [ ]');
  });

  test('about a deleted issue ends the wait', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    s.repository.trouble.set('issue', forbidden);
    await findMissedPickEnds(s.world);
    expect(await stateOf(s)).toBe('awaiting_pick');
    s.repository.trouble.clear();
    s.repository.deleted.add(7);
    await findMissedPickEnds(s.world);
    expect(await stateOf(s)).toBe('closed');
    expect(await causeOf(s)).toContain('GitHub no longer shows its issue');
  });

  test('changes nothing while GitHub does not answer', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    s.repository.trouble.set('issue', down);
    await findMissedPickEnds(s.world);
    expect(await stateOf(s)).toBe('awaiting_pick');
  });

  test('is searched less often than those of active runs', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    let asked = 0;
    const count = (): never => {
      asked += 1;
      return down();
    };
    s.repository.trouble.set('issue', count);
    await findMissedStops(s.world);
    expect(asked).toBe(0);
    await findMissedPickEnds(s.world);
    expect(asked).toBe(1);
  });
});

describe('a webhook', () => {
  test('about a closed issue stops an active run, ends a wait for a pick, and keeps a published run', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    await atWork(s, { id: 'r0000000008' });
    const cause = 'the issue was closed';
    expect(await stopRunsOfIssue(s.world, { repositoryId: 42, issue: 7, cause })).toBe(2);
    expect(await stopRunsOfIssue(s.world, { repositoryId: 42, issue: 7, cause })).toBe(0);
    expect([await stateOf(s), await stateOf(s, 'r0000000008')]).toEqual(['closed', 'cancelled']);
    expect(boxes(s).body).not.toContain('- [ ]');
  });

  test('about a deleted issue does the same', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    s.repository.trouble.set('editComment', forbidden);
    expect(
      await stopRunsOfIssue(s.world, { repositoryId: 42, issue: 7, cause: 'the issue was deleted' }),
    ).toBe(1);
    expect(await stateOf(s)).toBe('closed');
  });

  test('about an issue of the same number elsewhere changes nothing', async () => {
    const s = commandWorld();
    await atWork(s);
    expect(await stopRunsOfIssue(s.world, { repositoryId: 43, issue: 7, cause: 'x' })).toBe(0);
  });

  test('about a removed repository stops its runs, and no other', async () => {
    const s = commandWorld();
    await atWork(s);
    await atWork(s, { id: 'r0000000008', origin: { repositoryId: 43 } });
    const at = { installationId: 1, cause: 'the App lost access to the repository' };
    expect(await stopRunsWithoutAccess(s.world, { ...at, repositoryIds: [43] })).toBe(1);
    expect([await stateOf(s), await stateOf(s, 'r0000000008')]).toEqual(['briefed', 'cancelled']);
    expect(await stopRunsWithoutAccess(s.world, { ...at, installationId: 2 })).toBe(0);
  });

  test('about an uninstalled App ends waits for a pick', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    s.repository.trouble.set('reader', forbidden);
    expect(
      await stopRunsWithoutAccess(s.world, { installationId: 1, cause: 'the App was uninstalled' }),
    ).toBe(1);
    expect([await stateOf(s), await causeOf(s)]).toEqual(['closed', 'the App was uninstalled']);
  });

  test('about an uninstalled App keeps published runs', async () => {
    const s = commandWorld();
    await shown(s, 'pull');
    expect(
      await stopRunsWithoutAccess(s.world, { installationId: 1, cause: 'the App was uninstalled' }),
    ).toBe(0);
    expect(await stateOf(s)).toBe('published');
  });

  test.each([['merged'], ['closed']] as const)(
    'about a pull request that is %s is recorded',
    async (state) => {
      const s = commandWorld();
      await shown(s, 'pull');
      const head = `auto-dev/7/${RUN}/B`;
      const event = { repositoryId: 42, number: 11, head, state };
      const other = [
        { repositoryId: 43 },
        { head: `auto-dev/7/${RUN}/C` },
        // Somebody opened another one from the same branch.
        { number: 12 },
      ];
      for (const one of other) expect(await recordPullState(s.world, { ...event, ...one })).toBe(false);
      expect(await stateOf(s)).toBe('published');
      expect(await recordPullState(s.world, event)).toBe(true);
      expect(await recordPullState(s.world, event)).toBe(false);
      expect(await stateOf(s)).toBe(state);
      openPull(s.repository, 11, { head, state: 'closed' });
      expect((await s.say('/auto-dev pick C', { on: 11 })).outcome).toBe('refused');
    },
  );

  test('about a pull request that is reopened is recorded, and how it ends then', async () => {
    const s = commandWorld();
    await shown(s, 'pull');
    const event = { repositoryId: 42, number: 11, head: `auto-dev/7/${RUN}/B` };
    expect(await recordPullState(s.world, { ...event, state: 'open' })).toBe(false);
    await recordPullState(s.world, { ...event, state: 'closed' });
    expect(await recordPullState(s.world, { ...event, state: 'open' })).toBe(true);
    expect(await stateOf(s)).toBe('published');
    await recordPullState(s.world, { ...event, state: 'closed' });
    // The webhook of its reopening was lost.
    expect(await recordPullState(s.world, { ...event, state: 'merged' })).toBe(true);
    expect(await stateOf(s)).toBe('merged');
    expect(await recordPullState(s.world, { ...event, state: 'open' })).toBe(false);
  });
});
