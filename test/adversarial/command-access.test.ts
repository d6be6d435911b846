import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startFromLabel, stopRunsOfIssue } from '../../src/commands/index.ts';
import { loadOnGitHub } from '../../src/runs/index.ts';
import { shownOn } from '../../src/runs/publish/branches.ts';
import {
  ada,
  atWork,
  boxes,
  type CommandWorld,
  commandWorld,
  shown,
  tick,
} from '../commands/command-world.ts';
import { APP, mallory, mona, RUN } from '../commands/dialogue-world.ts';
import { openPull } from '../commands/fake-repository.ts';
import { NOON } from '../runs/admission-world.ts';
import { githubOrigin } from '../world/origin.ts';
import { type AppWorld, appWorld, comments, issues, MONA } from './app-world.ts';

const bob = { id: 9, login: 'bob', isBot: false };
const picksOf = async ({ store }: CommandWorld) =>
  (await store.picks(RUN)).map(({ alias, by }) => `${by?.login} ${alias}`);
const stateOf = async ({ store }: CommandWorld, id = RUN) => (await store.run(id))?.state;
const outcomes = async ({ store }: CommandWorld) =>
  (await store.commands(42, 50))
    .map(({ by, text, outcome }) => `${by.login} ${text}: ${outcome?.kind}`)
    .toReversed();

describe('case 13: only people can use commands:', () => {
  let app: AppWorld;
  beforeEach(async () => {
    app = await appWorld();
  });
  afterEach(() => app.close());

  test.each([
    ['a bot', { id: 5, login: 'evil[bot]', type: 'Bot' }],
    ['dependabot', { id: 49699333, login: 'dependabot[bot]', type: 'Bot' }],
    ['Copilot', { id: 198982749, login: 'Copilot', type: 'Bot' }],
    ['ourselves', { id: 1, login: 'runoff[bot]', type: 'Bot' }],
    ["a bot with a writer's number and name", { ...MONA, type: 'Bot' }],
    ['an organization', { ...MONA, type: 'Organization' }],
    ['a mannequin', { ...MONA, type: 'Mannequin' }],
    ['somebody of a type in other letters', { ...MONA, type: 'user' }],
    ['somebody of no type', { id: 5, login: 'mona' }],
  ])('%s', async (_who, sender) => {
    const line = {
      pull_request: { number: 7, updated_at: '2024-10-04T12:00:00Z' },
      sender,
    };
    await app.deliver(issues('labeled', { sender }));
    await app.deliver(comments('created', '/auto-dev run', { sender }), {
      'x-github-event': 'issue_comment',
    });
    await app.deliver(comments('edited', '/auto-dev run', { sender }), {
      'x-github-event': 'issue_comment',
    });
    await app.deliver(comments('created', '/auto-dev fix', line), {
      'x-github-event': 'pull_request_review_comment',
    });
    expect(await app.settled()).toEqual([]);
    expect(await app.store.commands(42, 50)).toEqual([]);
    expect(app.written).toEqual([]);
  });

  // A person with the right to write, whose name another App uses.
  const of = (event: string, body: string) => ({ event, body });
  const written = JSON.parse(comments('created', '/auto-dev run')) as { comment: object };
  const comment = { ...written.comment, performed_via_github_app: { id: 3 } };
  const pull_request = { number: 7, title: 'x', body: '', updated_at: '2024-10-04T12:00:00Z' };
  test.each([
    of('issue_comment', comments('created', '/auto-dev run', { comment })),
    of('issue_comment', comments('edited', '/auto-dev run', { comment })),
    of('pull_request_review_comment', comments('created', '/auto-dev run', { comment, pull_request })),
    of('issues', issues('labeled')),
  ])('another App that acts for a writer cannot, by $event', async ({ event, body }) => {
    const by = { id: MONA.id, login: MONA.login };
    app.now.labelChange = { how: 'set', by, byBot: false, throughApp: true, at: NOON };
    expect((await app.deliver(body, { 'x-github-event': event })).status).toBe(200);
    expect(await app.store.commands(42, 50)).toEqual([]);
    const runs = await app.settled();
    expect(runs.filter(({ state }) => state !== 'refused')).toEqual([]);
    expect(runs.map(({ trouble }) => trouble?.message)).toEqual(
      event === 'issues'
        ? ['An App added the label on behalf of `mona`; only a person can start a run.']
        : [],
    );
  });

  test.each([of('issue_comment', comments('created', '/auto-dev run')), of('issues', issues('labeled'))])(
    'the same person without an App can, by $event',
    async ({ event, body }) => {
      const by = { id: MONA.id, login: MONA.login };
      app.now.labelChange = { how: 'set', by, byBot: false, throughApp: false, at: NOON };
      await app.deliver(body, { 'x-github-event': event });
      await expect.poll(async () => (await app.settled()).map(({ state }) => state)).toEqual(['admitted']);
    },
  );

  test('the same person without an App can, on a line', async () => {
    const line = comments('created', '/auto-dev help', { pull_request });
    await app.deliver(line, { 'x-github-event': 'pull_request_review_comment' });
    expect(await app.store.commands(42, 50)).toMatchObject([{ id: 'line:900' }]);
  });
});

test('case 13: nothing that Runoff writes is a command to itself, so there is no loop', async () => {
  const s = commandWorld();
  await shown(s, 'choice');
  await s.say('/auto-dev help');
  await s.say('/auto-dev explain B');
  const us = { id: 1, login: 'runoff[bot]', isBot: true };
  const before = s.repository.comments.length;
  for (const { body } of [...s.repository.comments]) {
    expect((await s.say(body, { by: us })).outcome).toBeNull();
    // And if GitHub called us a person, the text itself gives no command.
    expect((await s.say(body, { by: mona })).outcome).toBeNull();
  }
  expect(s.repository.comments).toHaveLength(before);
  expect((await s.store.commands(42, 50)).map(({ by }) => by.id)).toEqual([mona.id, mona.id]);
});

describe('case 15: an edited comment gives no command', () => {
  test.each([
    ['by its writer', null],
    ['which we wrote', APP],
    ['which another App wrote', 3],
  ])('%s', async (_whose, performedByAppId) => {
    const s = commandWorld();
    await atWork(s);
    const event = { body: '/auto-dev cancel', performedByAppId, at: s.now(), actor: mona };
    expect((await s.intake.onEdit({ place: s.placeAt(900), ...event })).kind).toBe('ignored');
    await s.intake.idle();
    expect([await stateOf(s), await outcomes(s)]).toEqual(['briefed', []]);
  });

  test('in the form that GitHub delivers', async () => {
    const app = await appWorld();
    await app.deliver(comments('edited', '/auto-dev run'), { 'x-github-event': 'issue_comment' });
    await app.deliver(comments('deleted', '/auto-dev run'), { 'x-github-event': 'issue_comment' });
    expect(await app.settled()).toEqual([]);
    expect(await app.store.commands(42, 50)).toEqual([]);
    await app.close();
  });

  test('although it was a question when it was first read', async () => {
    const s = commandWorld();
    await atWork(s);
    await s.say('/auto-dev status', { id: 900 });
    await s.say('/auto-dev cancel', { id: 900 });
    expect([await stateOf(s), await outcomes(s)]).toEqual(['briefed', ['mona /auto-dev status: done']]);
  });
});

describe('case 16: the author of a fork cannot use commands', () => {
  test.each([7, 11])(
    "on Runoff's #%s, and gets neither reply nor reaction, only an audit entry",
    async (on) => {
      const s = commandWorld();
      await shown(s, 'pull');
      const before = s.repository.comments.length;
      const head = s.repository.branches.get(`auto-dev/7/${RUN}/B`);
      expect(await s.say('/auto-dev pick C', { by: mallory, on })).toMatchObject({
        outcome: 'ignored',
        reply: null,
        reactions: [],
      });
      expect(s.repository.comments).toHaveLength(before);
      expect(s.repository.branches.get(`auto-dev/7/${RUN}/B`)).toBe(head);
      expect(await picksOf(s)).toEqual([]);
    },
  );

  test("on the fork's pull request, where a writer is told why nothing is done", async () => {
    const s = commandWorld();
    openPull(s.repository, 12, { headRepositoryId: 99, foreignSha: 'e'.repeat(40), author: mallory });
    expect((await s.say('/auto-dev fix', { by: mallory, on: 12 })).outcome).toBe('ignored');
    expect((await s.say('/auto-dev fix', { on: 12 })).reply).toContain('comes from a fork');
    expect(s.engine.started).toEqual([]);
  });

  test("with a branch of the same name as Runoff's, whose end does not end Runoff's pull request", async () => {
    const app = await appWorld();
    const run = 'r0000000042';
    await app.store.createRun({
      id: run,
      origin: githubOrigin(),
      title: 'x',
      request: null,
      at: 1,
    });
    for (const to of ['admitted', 'briefed', 'coded', 'examined', 'judged', 'published'] as const)
      await app.store.transition(run, to, 'test', 1);
    const branch = `auto-dev/7/${run}/B`;
    const headSha = 'b'.repeat(40);
    const outcome = {
      kind: 'pull',
      number: 11,
      url: 'x',
      branch,
      headSha,
      branches: {},
      comparisonUrl: 'x',
    } as const;
    await app.store.updateRun(run, { outcome }, 1);
    const close = (id: number) =>
      app.deliver(
        issues('closed', {
          more: {
            pull_request: {
              number: 11,
              merged: true,
              updated_at: '2024-10-04T12:00:00Z',
              head: { ref: branch, repo: { id } },
            },
          },
        }),
        { 'x-github-event': 'pull_request' },
      );
    await close(99);
    expect((await app.store.run(run))?.state).toBe('published');
    await close(42);
    expect((await app.store.run(run))?.state).toBe('merged');
    await app.close();
  });
});

describe('case 18: a run belongs to its repository, by number', () => {
  const elsewhere = (s: CommandWorld, id: number) => ({ ...s.placeAt(id), repositoryId: 43, name: 'other' });
  const sayElsewhere = async (s: CommandWorld, body: string, id: number) => {
    s.other.rights[mallory.id] = 'admin';
    await s.intake.onComment({
      place: elsewhere(s, id),
      body,
      issue: s.repository.issue,
      at: s.now(),
      throughApp: false,
      actor: mallory,
    });
    await s.intake.idle();
    return (await s.store.command(`comment:${id}`))?.outcome;
  };

  test.each(['pick C', 'pick none', 'vote C', 'explain C', 'ci', 'retry C', 'cancel', 'budget 9'])(
    'the admin of another one cannot %s from the issue of the same number',
    async (words) => {
      const s = commandWorld();
      await shown(s, 'choice');
      await atWork(s, { id: 'r0000000009' });
      const budget = async () => (await s.store.run('r0000000009'))?.task?.settings.budget;
      const before = await budget();
      expect(await sayElsewhere(s, `/auto-dev ${words}`, 900)).toMatchObject({ kind: 'refused' });
      expect([await stateOf(s), await stateOf(s, 'r0000000009')]).toEqual(['awaiting_pick', 'briefed']);
      expect([await picksOf(s), await s.store.votes(RUN), s.engine.cancelled]).toEqual([[], [], []]);
      expect(await budget()).toEqual(before);
      expect(JSON.stringify(s.other.comments)).not.toContain(RUN);
    },
  );

  test('a command cannot name a run of another repository', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    for (const [at, words] of [`pick ${RUN}`, `pick C ${RUN}`, `cancel ${RUN}`, `explain ${RUN}/C`].entries())
      expect(await sayElsewhere(s, `/auto-dev ${words}`, 900 + at)).toMatchObject({ kind: 'refused' });
    expect([await stateOf(s), await picksOf(s)]).toEqual(['awaiting_pick', []]);
  });

  test('a tick in a copy of the comment elsewhere is ignored', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    const { id, body } = boxes(s);
    const event = { body: body.replace('[ ]', '[x]'), performedByAppId: APP, at: s.now(), actor: mona };
    expect((await s.intake.onEdit({ place: elsewhere(s, id), ...event })).kind).toBe('ignored');
    expect((await s.intake.onEdit({ place: s.placeAt(id + 500), ...event })).kind).toBe('ignored');
    expect([await stateOf(s), await picksOf(s)]).toEqual(['awaiting_pick', []]);
  });

  test('an issue that is transferred takes no run with it', async () => {
    const s = commandWorld();
    await atWork(s);
    await stopRunsOfIssue(s.world, {
      repositoryId: 42,
      issue: 7,
      cause: 'the issue was moved to another repository',
    });
    expect(await stateOf(s)).toBe('cancelled');
    s.other.rights[mona.id] = 'write';
    const id = 900;
    await s.intake.onComment({
      place: elsewhere(s, id),
      body: '/auto-dev retry',
      issue: s.repository.issue,
      at: s.now(),
      throughApp: false,
      actor: mona,
    });
    await s.intake.idle();
    expect((await s.store.command('comment:900'))?.outcome).toMatchObject({ kind: 'refused' });
  });

  test('a renamed repository stays the same one', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    const place = { ...s.placeAt(900), owner: 'acme-inc', name: 'renamed' };
    const { issue } = s.repository;
    const body = '/auto-dev pick C';
    await s.intake.onComment({ place, body, issue, at: s.now(), throughApp: false, actor: mona });
    await s.intake.idle();
    expect(await picksOf(s)).toEqual(['mona C']);
  });

  test('a label at the same time on an issue of the same number elsewhere starts another run', async () => {
    const s = commandWorld();
    const event = {
      installationId: 1,
      issue: { number: 7, title: 'x', body: 'y', updatedAt: s.now() },
      actor: mona,
    };
    for (const id of [42, 43])
      await startFromLabel(s.world, {
        ...event,
        deliveryId: `d${id}`,
        repository: { id, owner: 'acme', name: 'x' },
      });
    expect(s.engine.started).toHaveLength(2);
  });
});

describe('case 19: of two contradictory commands the one with the later timestamp wins', () => {
  const orders = [
    ['in order', [0, 1]],
    ['the later one first', [1, 0]],
  ] as const;
  const moments = [
    ['at once', 'together', 1_000],
    ['one after the other', 'apart', 1_000],
    ['within one second, one after the other', 'apart', 0],
  ] as const;
  const table = orders.flatMap(([order, turns]) =>
    moments.map(([moment, how, gap]) => [order, moment, { turns, how, gap }] as const),
  );

  async function both(
    s: CommandWorld,
    on: number,
    words: readonly [string, string],
    { turns, how, gap }: (typeof table)[number][2],
  ) {
    const at = s.now();
    const said = [
      { by: ada, id: 2_001, at, on },
      { by: mona, id: 2_002, at: at + gap, on },
    ];
    const heard = turns.map((turn) => async () => {
      await s.hear(`/auto-dev ${words[turn]}`, said[turn]);
      if (how === 'apart') await s.intake.idle();
    });
    if (how === 'together') await Promise.all(heard.map((hear) => hear()));
    else for (const hear of heard) await hear();
    await s.intake.idle();
  }

  test.each(table)('picks, %s, %s', async (_order, _moment, how) => {
    const s = commandWorld();
    await shown(s, 'pull');
    await both(s, 11, ['pick A', 'pick C'], how);
    expect((await picksOf(s)).at(-1)).toBe('mona C');
    expect(await shownOn(s.store, await loadOnGitHub(s.world, RUN))).toBe('C');
    expect(await outcomes(s)).toHaveLength(2);
    expect(await s.store.unsettledCommands()).toEqual([]);
    const first = await s.store.command('comment:2001');
    if ((await picksOf(s)).length === 1)
      expect(first?.outcome).toEqual({
        kind: 'refused',
        why: 'A later command has already picked a candidate.',
      });
  });

  test.each(table)('budgets, %s, %s', async (_order, _moment, how) => {
    const s = commandWorld();
    await atWork(s);
    await both(s, 7, ['budget 9', 'budget 3'], how);
    expect((await s.store.run(RUN))?.task?.settings.budget.run).toBe(3);
    expect(await outcomes(s)).toHaveLength(2);
  });

  test.each(table.filter(([, , { gap }]) => gap > 0))(
    'votes of one person, %s, %s',
    async (_order, _moment, how) => {
      const s = commandWorld();
      await shown(s, 'choice');
      const at = s.now();
      for (const turn of how.turns)
        await s.say(`/auto-dev vote ${'AC'[turn]}`, { id: 2_001 + turn, at: at + turn * how.gap });
      expect(await s.store.votes(RUN)).toMatchObject([{ by: { id: mona.id }, alias: 'C' }]);
    },
  );

  test('a pick and a cancel end in one of the two, and both are recorded', async () => {
    for (const words of [
      ['pick C', 'cancel'],
      ['cancel', 'pick C'],
    ] as const) {
      for (const [, , how] of table) {
        const s = commandWorld();
        await shown(s, 'choice');
        await both(s, 7, words, how);
        const state = await stateOf(s);
        expect([state, s.repository.pulls.size]).toEqual(
          state === 'closed' ? ['closed', 0] : ['published', 1],
        );
        expect((await outcomes(s)).map((one) => one.split(': ').at(-1)).toSorted()).toEqual([
          'done',
          'refused',
        ]);
      }
    }
  });
});

describe('case 20: one writer, one vote', () => {
  test('only the last vote of a person counts', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    for (const alias of 'ABCABCABCA') await s.say(`/auto-dev vote ${alias}`);
    expect((await s.store.votes(RUN)).map(({ by, alias }) => `${by.login} ${alias}`)).toEqual(['mona A']);
    expect(boxes(s).body).toContain('1 vote: **A** 1 (`mona`).');
  });

  test('votes by people without write access, bots and Runoff itself do not count', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    s.repository.rights[bob.id] = 'triage';
    const before = boxes(s).body;
    const us = { id: 1, login: 'runoff[bot]', isBot: true };
    for (const by of [mallory, bob, us, { ...mona, isBot: true }])
      for (let n = 0; n < 10; n++) await s.say('/auto-dev vote C', { by });
    expect(await s.store.votes(RUN)).toEqual([]);
    expect(boxes(s).body).toBe(before);
  });

  test('a vote by somebody who has lost access does not count, nor does a pick', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    s.repository.rights[bob.id] = 'write';
    for (const by of [ada, bob]) await s.say('/auto-dev vote C', { by });
    s.repository.rights[bob.id] = 'read';
    expect((await s.say('/auto-dev pick A', { by: bob })).outcome).toBe('ignored');
    await s.say('/auto-dev pick B');
    expect((await s.store.picks(RUN))[0]?.shown).toEqual({
      aliases: ['B', 'C', 'A', 'D'],
      first: 'B',
      votes: { C: 1 },
    });
  });

  test('a renamed person stays the same one', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    await s.say('/auto-dev vote A');
    await s.say('/auto-dev vote C', { by: { ...mona, login: 'mona-lisa' } });
    expect(await s.store.votes(RUN)).toMatchObject([{ by: { id: mona.id, login: 'mona-lisa' }, alias: 'C' }]);
  });

  test('a tick by a stranger is reverted, as is every other edit', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    const ours = boxes(s).body;
    await tick(s, 'C', { by: mallory });
    expect([boxes(s).body, await stateOf(s), await outcomes(s)]).toEqual([
      ours,
      'awaiting_pick',
      ['mallory /auto-dev pick C: ignored'],
    ]);
    const edits = [
      ours.replaceAll('- [ ]', '- [x]'),
      ours.replace('**A**', '**D**'),
      ours.replace('- [ ] **A**', '- [x] **D**'),
      `${ours}\n- [x] **D**`,
      '',
    ];
    for (const body of edits) {
      boxes(s).body = body === '' ? ours : body;
      const comment = boxes(s);
      const event = { place: s.placeAt(comment.id), body, performedByAppId: APP, at: s.now(), actor: mona };
      expect((await s.intake.onEdit(event)).kind).toBe('ignored');
      await s.intake.idle();
      expect(boxes(s).body).toBe(ours);
    }
    expect([await stateOf(s), await picksOf(s)]).toEqual(['awaiting_pick', []]);
  });

  test('a tick that is delivered three times at once is one pick', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    const { event } = await tick(s, 'C');
    await Promise.all([s.intake.onEdit(event), s.intake.onEdit(event)]);
    await s.intake.idle();
    expect(await picksOf(s)).toEqual(['mona C']);
    expect(s.repository.pulls.size).toBe(1);
  });

  test('"none of them" is a checkbox, too', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    await tick(s, null);
    expect([await stateOf(s), await picksOf(s)]).toEqual(['closed', ['mona null']]);
  });
});
