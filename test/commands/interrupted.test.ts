import { describe, expect, test } from 'vitest';
import { stopRunsOfIssue } from '../../src/commands/index.ts';
import { Fault } from '../../src/core/model/index.ts';
import type { Store } from '../../src/ports/index.ts';
import { announceEndedRuns } from '../../src/runs/index.ts';
import { tried } from '../world/tried.ts';
import { ada, atWork, boxes, type CommandWorld, commandWorld, shown, tick } from './command-world.ts';
import { APP, mallory, mona, RUN } from './dialogue-world.ts';
import { answerTo, down, forbidden } from './fake-repository.ts';

/** The database goes away at the first call of this method that fits: as a crash right before it. */
function cutOff<K extends 'fulfil' | 'settleCommand' | 'recordCommand'>(
  { store }: CommandWorld,
  method: K,
  fits: (...args: Parameters<Store[K]>) => boolean = () => true,
): void {
  const real = store[method] as (...args: Parameters<Store[K]>) => Promise<unknown>;
  let cut = false;
  const cutting = async (...args: Parameters<Store[K]>) => {
    if (cut || !fits(...args)) return real(...args);
    cut = true;
    throw new Fault('DATABASE_UNAVAILABLE', 'The connection ended.');
  };
  Object.assign(store, { [method]: cutting });
}

const runs = async ({ store }: CommandWorld) => (await store.runs(10)).map(({ id }) => id);
const command = async ({ store }: CommandWorld, id: number) => store.command(`comment:${id}`);

describe('a command that is interrupted', () => {
  test('after it was stored is applied at the next start', async () => {
    tried({
      id: 'command-cut',
      part: 'The App is killed',
      what: 'Runoff is interrupted after a command is stored.',
      held: 'The next start applies it.',
    });
    const s = commandWorld();
    s.repository.trouble.set('permission', down);
    const { id, outcome, reactions } = await s.say('/auto-dev run');
    expect({ outcome, reactions }).toEqual({ outcome: 'open', reactions: [] });
    s.repository.trouble.clear();
    await s.again();
    expect((await s.become(id)).outcome).toBe('done');
    expect(await runs(s)).toHaveLength(1);
  });

  test('between its run and its result finds its own run, even if that is active by then', async () => {
    const s = commandWorld();
    cutOff(s, 'fulfil', (_, key) => key === 'result');
    const { id, outcome } = await s.say('/auto-dev run');
    expect(outcome).toBe('open');
    const [started = ''] = await runs(s);
    const elsewhere = commandWorld();
    const admitted = await elsewhere.store.run(await atWork(elsewhere));
    await s.store.updateRun(started, { task: admitted?.task ?? expect.fail() }, s.now());
    await s.store.transition(started, 'admitted', 'test', s.now());
    await s.again();
    const { reply, note, outcome: came } = await s.become(id);
    expect({ came, note, reply }).toEqual({ came: 'done', note: 'the run was already started', reply: null });
    expect(await runs(s)).toEqual([started]);
  });

  test('between result and reply gets the reply without being applied or checked again', async () => {
    tried({
      id: 'command-answer-cut',
      part: 'The App is killed',
      what: 'Runoff is interrupted after a command has its result and before the reply.',
      held: 'The reply is written, and the command is not applied again.',
    });
    const s = commandWorld();
    await shown(s, 'choice');
    s.repository.trouble.set('comment', down);
    const { id, outcome } = await s.say('/auto-dev explain B');
    expect(outcome).toBe('open');
    s.repository.trouble.clear();
    s.repository.rights[mona.id] = 'read';
    await s.again();
    expect(await s.become(id)).toMatchObject({ outcome: 'done', reactions: ['eyes', 'rocket'] });
    expect(answerTo(s.repository, id)).toContain('Candidate B');
  });

  test.each([
    ['between the answer and its record', 'fulfil', (_: string, key?: unknown) => key === 'reply'],
    ['between the answer and the end', 'settleCommand', () => true],
  ] as const)('%s gets one reply', async (_when, method, fits) => {
    const s = commandWorld();
    cutOff(s, method, fits as () => boolean);
    const { id, outcome } = await s.say('/auto-dev help');
    expect(outcome).toBe('open');
    await s.again();
    expect(await s.become(id)).toMatchObject({ outcome: 'done', reactions: ['eyes', 'rocket'] });
    expect(s.repository.comments).toHaveLength(1);
  });

  test('in a pick ends with one pull request, one pick and one comparison', async () => {
    tried({
      id: 'pick-cut',
      part: 'The App is killed',
      what: 'Runoff is interrupted during a pick.',
      held: 'One pull request, one pick, one comparison.',
    });
    const s = commandWorld();
    await shown(s, 'choice');
    cutOff(s, 'fulfil', (_, key) => key === 'pull');
    const { id, outcome } = await s.say('/auto-dev pick C');
    expect(outcome).toBe('open');
    await s.again();
    expect((await s.become(id)).note).toBe('Candidate C is the draft pull request #11.');
    expect([...s.repository.pulls.keys()]).toEqual([11]);
    expect(await s.store.picks(RUN)).toHaveLength(1);
    expect(s.repository.comments.filter(({ body }) => body.includes('runoff:comparison:'))).toHaveLength(1);
  });

  test('in a vote, a release of CI and a budget change has its effect once', async () => {
    const s = commandWorld();
    await shown(s, 'pull');
    const work = await atWork(s, { id: 'r0000000009', origin: { issue: 8 } });
    for (const [body, on] of [
      ['/auto-dev vote C', 11],
      ['/auto-dev ci', 11],
      ['/auto-dev budget 3', 8],
    ] as const) {
      cutOff(s, 'fulfil', (scope, key) => scope.startsWith('command:') && key === 'result');
      expect((await s.say(body, { on })).outcome).toBe('open');
      const head = s.repository.branches.get(`auto-dev/7/${RUN}/B`);
      await s.again();
      expect(s.repository.branches.get(`auto-dev/7/${RUN}/B`)).toBe(head);
    }
    expect(await s.store.unsettledCommands()).toEqual([]);
    expect(await s.store.votes(RUN)).toHaveLength(1);
    expect((await s.store.run(work))?.task?.settings.budget.run).toBe(3);
  });

  test('before it was stored fails its delivery, which can be redelivered', async () => {
    const s = commandWorld();
    cutOff(s, 'recordCommand');
    await expect(s.hear('/auto-dev run', { id: 900 })).rejects.toMatchObject({
      code: 'DATABASE_UNAVAILABLE',
    });
    expect((await s.say('/auto-dev run', { id: 900 })).outcome).toBe('done');
  });
});

describe('a tick', () => {
  test('that could not be stored stays visible', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    cutOff(s, 'recordCommand');
    await expect(tick(s, 'C')).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    await s.intake.idle();
    const comment = boxes(s);
    expect(comment.body).toContain('- [x] **C**');
    const event = { place: s.placeAt(comment.id), body: comment.body, performedByAppId: APP, at: s.now() };
    await s.intake.onEdit({ ...event, actor: mona });
    await s.intake.idle();
    expect(boxes(s).body).toContain('picked by `mona`');
  });

  test('is acknowledged before anything is written, however slow GitHub is', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    const github = s.world.github ?? expect.fail();
    const { publisher } = github;
    const slow = Promise.withResolvers<void>();
    github.publisher = async (handle) => {
      await slow.promise;
      return publisher(handle);
    };
    const comment = boxes(s);
    const body = comment.body.replace('- [ ] **C**', '- [x] **C**');
    comment.body = body;
    const event = { place: s.placeAt(comment.id), body, performedByAppId: APP, at: s.now(), actor: mona };
    const result = await s.intake.onEdit(event);
    expect(result.kind).toBe('recorded');
    expect(await s.store.unsettledCommands()).toHaveLength(1);
    slow.resolve();
    await s.intake.idle();
    expect(boxes(s).body).toContain('picked by `mona`');
  });

  test('of a stranger is reverted also after a crash', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    s.repository.trouble.set('editComment', down);
    s.repository.trouble.set('permission', down);
    await tick(s, 'C', { by: mallory });
    expect(boxes(s).body).toContain('- [x] **C**');
    s.repository.trouble.clear();
    await s.again();
    expect(boxes(s).body).not.toContain('[x]');
    expect(await s.store.picks(RUN)).toEqual([]);
  });
});

describe('once a run waits for no pick any more, nobody is asked to choose,', () => {
  const closed = 'the issue was closed';
  const close = (s: CommandWorld) => {
    s.later(5_000);
    return stopRunsOfIssue(s.world, { repositoryId: 42, issue: 7, at: s.now(), cause: closed });
  };
  const asks = async (s: CommandWorld) => {
    expect((await s.store.run(RUN))?.state).toBe('closed');
    const status = s.repository.comments.find(({ body }) => body.startsWith(`<!-- runoff:status:${RUN}`));
    const texts = [boxes(s).body, status?.body ?? expect.fail()];
    return texts.map((body) => /- \[ \]|please choose/i.test(body));
  };

  test('also if Runoff is killed as the wait ends', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    const { transition } = s.store;
    s.store.transition = async (...args) => {
      await transition(...args);
      s.store.transition = transition;
      throw new Fault('DATABASE_UNAVAILABLE', 'The connection ended.');
    };
    const { id } = await s.say('/auto-dev cancel');
    await s.again();
    expect((await command(s, id))?.outcome?.kind).toBe('done');
    await announceEndedRuns(s.world);
    expect(await asks(s)).toEqual([false, false]);
    expect([...(s.repository.labels.get(7) ?? [])]).toEqual([]);
  });

  test.each([
    ['the comparison', ['issue']],
    ['every comment', ['comment', 'editComment', 'react']],
  ])('also after an outage that hit %s', async (_what, calls) => {
    const s = commandWorld();
    await shown(s, 'choice');
    for (const call of calls) s.repository.trouble.set(call, down);
    expect(await close(s)).toBe(1);
    await announceEndedRuns(s.world);
    expect((await asks(s))[0]).toBe(true);
    s.repository.trouble.clear();
    await announceEndedRuns(s.world);
    expect(await asks(s)).toEqual([false, false]);
  });

  test('and what GitHub refuses to edit is tried once', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    s.repository.trouble.set('editComment', forbidden);
    expect(await close(s)).toBe(1);
    expect(await s.store.endedWithout('said', 0, 9)).toEqual([]);
  });

  test('also if a newer run has a result', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    s.later(60_000);
    await shown(s, 'pull', { id: 'r0000000009' });
    await announceEndedRuns(s.world);
    expect(await asks(s)).toEqual([false, false]);
    expect([...(s.repository.labels.get(7) ?? [])]).toEqual(['auto-dev:done']);
  });
});

describe('an outage', () => {
  test('of an hour ends a command of unknown access without allowing it', async () => {
    const s = commandWorld();
    s.repository.trouble.set('permission', down);
    const { id } = await s.say('/auto-dev run');
    s.later(59 * 60_000);
    await s.recover();
    expect((await command(s, id))?.outcome).toBeUndefined();
    s.later(2 * 60_000);
    await s.recover();
    expect((await command(s, id))?.outcome).toMatchObject({ kind: 'refused', why: 'GitHub answered 502.' });
    s.repository.trouble.clear();
    await s.recover();
    expect(await runs(s)).toEqual([]);
  });

  test('of an hour is counted from the arrival of a comment, however old that is', async () => {
    const s = commandWorld();
    s.repository.trouble.set('permission', down);
    const { id } = await s.say('/auto-dev run', { at: s.now() - 2 * 60 * 60_000 });
    s.later(59 * 60_000);
    await s.recover();
    expect((await command(s, id))?.outcome).toBeUndefined();
    s.later(2 * 60_000);
    await s.recover();
    expect((await command(s, id))?.outcome).toMatchObject({ kind: 'refused', why: 'GitHub answered 502.' });
  });

  test('that prevents the reply does not undo the command', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    s.repository.trouble.set('comment', down);
    const { id } = await s.say('/auto-dev explain B');
    s.later(2 * 60 * 60_000);
    await s.recover();
    expect((await command(s, id))?.outcome).toMatchObject({
      kind: 'done',
      note: 'explained candidate B',
    });
  });

  test('in the form of a locked conversation does not undo the command', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    s.repository.trouble.set('comment', forbidden);
    const { id } = await s.say('/auto-dev explain B');
    expect(await command(s, id)).toMatchObject({ outcome: { kind: 'done' }, runId: RUN });
    s.repository.trouble.set('react', forbidden);
    expect((await s.say('/auto-dev vote B')).outcome).toBe('done');
  });

  test('during a tick does not lose it', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    s.repository.trouble.set('editComment', down);
    await tick(s, 'C');
    s.repository.trouble.clear();
    await s.again();
    expect((await s.store.run(RUN))?.outcome).toMatchObject({ kind: 'pull', branch: `auto-dev/7/${RUN}/C` });
    expect(boxes(s).body).toContain('picked by `mona`');
  });

  test('is told from denied access, which refuses', async () => {
    const s = commandWorld();
    s.repository.trouble.set('permission', forbidden);
    expect((await s.say('/auto-dev run', { by: ada })).outcome).toBe('ignored');
  });

  test('for one person does not delay the next', async () => {
    const s = commandWorld();
    s.repository.trouble.set('permission', down);
    const first = await s.hear('/auto-dev help', { by: mallory });
    await s.intake.idle();
    s.repository.trouble.clear();
    expect((await s.say('/auto-dev help')).outcome).toBe('done');
    expect((await command(s, first))?.outcome).toBeUndefined();
  });
});

test('a comment that is delivered ten times at once and again after a restart is one command', async () => {
  const s = commandWorld();
  await Promise.all(Array.from({ length: 10 }, () => s.hear('/auto-dev run', { id: 900, at: s.now() })));
  await s.intake.idle();
  await s.again();
  expect(await s.say('/auto-dev run', { id: 900 })).toMatchObject({
    outcome: 'done',
    reactions: ['eyes', 'rocket'],
  });
  expect(await runs(s)).toHaveLength(1);
  expect(await s.store.commands(42, 50)).toHaveLength(1);
});
