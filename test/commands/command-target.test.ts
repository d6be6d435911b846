import { describe, expect, test } from 'vitest';
import { ada, atWork, boxes, type CommandWorld, commandWorld, shown, tick } from './command-world.ts';
import { mona, RUN } from './dialogue-world.ts';
import { down, openPull } from './fake-repository.ts';

const REVIEW = 'r0000000009';
const OURS = `auto-dev/7/${RUN}/B`;
const picked = async ({ store }: CommandWorld, id: string) =>
  (await store.picks(id)).map(({ alias }) => alias);

/** Pull request #11 is ours, made for issue #7; a review there led to a pull request of its own, or asks for a pick. */
async function reviewed(how: 'pull' | 'choice'): Promise<CommandWorld> {
  const s = commandWorld();
  await shown(s, 'pull');
  s.later(1_000);
  await shown(s, how, { id: REVIEW, origin: { issue: 11, work: 'review' } });
  return s;
}

describe('on a Runoff pull request with a review run', () => {
  test('commands apply to the run that opened it, not to the review run', async () => {
    const s = await reviewed('pull');
    const theirs = `auto-dev/11/${REVIEW}/B`;
    const before = [s.repository.branches.get(OURS), s.repository.branches.get(theirs)];
    const ci = await s.say('/auto-dev ci', { on: 11 });
    expect(ci.note).toContain('pushed to #11, so');
    expect(s.repository.branches.get(OURS)).not.toBe(before[0]);
    expect((await s.say('/auto-dev explain B', { on: 11 })).reply).toContain(RUN);
    expect((await s.say('/auto-dev vote C', { on: 11 })).outcome).toBe('done');
    expect((await s.say('/auto-dev pick C', { on: 11 })).note).toBe(
      'The pull request #11 now shows candidate C.',
    );
    expect([await picked(s, RUN), await picked(s, REVIEW)]).toEqual([['C'], []]);
    expect([await s.store.votes(RUN), await s.store.votes(REVIEW)]).toMatchObject([[{ alias: 'C' }], []]);
    expect(s.repository.branches.get(theirs)).toBe(before[1]);
  });

  test('votes, explanations and picks apply to the review run while it asks for a pick there; `ci` never does', async () => {
    const s = await reviewed('choice');
    const ours = s.repository.branches.get(OURS);
    expect((await s.say('/auto-dev ci', { on: 11 })).note).toContain('pushed to #11, so');
    expect(s.repository.branches.get(OURS)).not.toBe(ours);
    expect((await s.say('/auto-dev explain B', { on: 11 })).reply).toContain(REVIEW);
    await s.say('/auto-dev vote C', { on: 11 });
    expect((await s.say('/auto-dev pick C', { on: 11 })).note).toBe(
      'Candidate C is the draft pull request #12.',
    );
    expect([await picked(s, RUN), await picked(s, REVIEW)]).toEqual([[], ['C']]);
    expect([await s.store.votes(RUN), await s.store.votes(REVIEW)]).toMatchObject([[], [{ alias: 'C' }]]);
    expect((await s.say('/auto-dev pick A', { on: 11 })).note).toBe(
      'The pull request #11 now shows candidate A.',
    );
  });

  test("commands on the review's own pull request apply to the review run", async () => {
    const s = await reviewed('pull');
    expect((await s.say('/auto-dev ci', { on: 12 })).note).toContain('pushed to #12, so');
    await s.say('/auto-dev pick C', { on: 12 });
    expect([await picked(s, RUN), await picked(s, REVIEW)]).toEqual([[], ['C']]);
  });
});

test('a tick applies to the run of its comparison, whichever run has a result by then', async () => {
  const s = commandWorld();
  await shown(s, 'choice');
  s.repository.trouble.set('permission', down);
  const { result } = await tick(s, 'C');
  s.later(1_000);
  await shown(s, 'pull', { id: REVIEW });
  s.repository.trouble.clear();
  await s.again();
  expect([await picked(s, RUN), await picked(s, REVIEW)]).toEqual([[], []]);
  const { outcome, runId } =
    (result.kind === 'recorded' && (await s.store.command(result.command))) || expect.fail();
  expect(runId).toBe(RUN);
  expect(outcome).toMatchObject({
    kind: 'refused',
    why: expect.stringContaining('The run has ended without a pull request.'),
  });
});

const LATER = 'r0000000008';

/** A run that the label asked for. `queued`: its requester may start it, which nobody knows otherwise. */
async function askedFor(s: CommandWorld, id: string, queued = false): Promise<void> {
  s.later(1_000);
  const requestedBy = { id: mona.id, login: mona.login };
  const text = { title: 'x', body: { sha256: '0', bytes: 0 } };
  await s.store.createRun({
    id,
    origin: { kind: 'github', ...s.repository.handle, issue: 7, requestedBy },
    title: 'x',
    request: { runId: id, text, triggeredAt: s.now(), overrides: {}, trigger: 'label' },
    at: s.now(),
  });
  const queueEntry = { share: 'lists', priority: 1, since: s.now() };
  if (queued) await s.store.updateRun(id, { queueEntry }, s.now());
}

describe('a rejected or queued run beside an active one', () => {
  const asked = (s: CommandWorld) => askedFor(s, LATER);
  const refuse = ({ store, now }: CommandWorld) =>
    store.transition(LATER, 'refused', 'another run is at work', now());
  const labels = ({ repository }: CommandWorld) => [...(repository.labels.get(7) ?? [])];
  /** A run whose coders are at work, as people see it. */
  async function greeted(): Promise<CommandWorld> {
    const s = commandWorld();
    await atWork(s);
    s.world.announcer.soon(RUN);
    await s.world.announcer.idle();
    return s;
  }

  test('does not change what `status` says about the active one', async () => {
    const s = await greeted();
    const before = s.repository.comments.length;
    await asked(s);
    await refuse(s);
    const { reply } = await s.say('/auto-dev status');
    expect(reply).toContain(`Run \`${RUN}\`: stage 3 of 6`);
    expect(labels(s)).toEqual(['auto-dev:running']);
    expect(s.repository.comments).toHaveLength(before + 1);
  });

  test('is not announced by `status` before it is admitted', async () => {
    const s = commandWorld();
    s.repository.labels.set(7, new Set(['auto-dev']));
    await asked(s);
    const { reply, outcome } = await s.say('/auto-dev status');
    expect(outcome).toBe('done');
    expect(reply).toContain(LATER);
    expect(labels(s)).toEqual(['auto-dev']);
    expect(s.repository.reactions.filter((one) => one.startsWith('#'))).toEqual([]);
    expect(s.repository.comments).toHaveLength(1);
  });

  test('that waits for a label is replaced by a command that starts a run', async () => {
    const s = commandWorld();
    await asked(s);
    expect(await s.say('/auto-dev run -n 4')).toMatchObject({ outcome: 'done', note: 'started a run' });
    expect(s.engine.cancelled).toEqual([LATER]);
    expect((await s.store.run(LATER))?.state).toBe('cancelled');
    const active = await s.store.activeRuns(s.repository.handle.repositoryId, 7);
    expect(active.map(({ request }) => request)).toMatchObject([{ overrides: { candidates: 4 } }]);
  });

  test('that waits for a label set after the command is not replaced by it', async () => {
    const s = commandWorld();
    s.later(120_000);
    await asked(s);
    await s.say('/auto-dev run', { at: s.now() - 90_000 });
    expect(s.engine.cancelled).toEqual([]);
  });

  test('is not mentioned in updates', async () => {
    const s = await greeted();
    await asked(s);
    await refuse(s);
    await s.world.announcer.finish(LATER);
    expect(labels(s)).toEqual(['auto-dev:running']);
    expect(s.repository.comments).toHaveLength(1);
  });

  test('does not keep `cancel` from the active one, and does not take its place', async () => {
    const s = await greeted();
    await asked(s);
    const { outcome, note, id } = await s.say('/auto-dev cancel');
    expect([outcome, note]).toEqual(['done', `the runs \`${RUN}\` and \`${LATER}\` are cancelled`]);
    expect(s.engine.cancelled.toSorted()).toEqual([RUN, LATER]);
    expect((await s.store.command(`comment:${id}`))?.runId).toBe(RUN);
  });

  test('is cancelled itself if no run is active', async () => {
    const s = commandWorld();
    await asked(s);
    expect((await s.say('/auto-dev cancel')).note).toBe('the run is cancelled');
    expect(s.engine.cancelled).toEqual([LATER]);
  });

  test.each([
    ['an issue', 7, ['run', 'run']],
    ['an issue with a result', 7, ['retry A', 'retry', 'run']],
    ['a pull request', 12, ['fix', 'review']],
  ])('is cancelled with all others of %s before one is admitted', async (what, on, commands) => {
    const s = commandWorld();
    openPull(s.repository, 12);
    if (what.endsWith('result')) await shown(s, 'choice');
    for (const command of commands) await s.say(`/auto-dev ${command}`, { on });
    expect(s.engine.started).toHaveLength(commands.length);
    expect((await s.say('/auto-dev status', { on })).reply).toContain(
      what.endsWith('result') ? RUN : s.engine.started[0],
    );
    const { note } = await s.say('/auto-dev cancel', { on });
    expect(s.engine.cancelled.toSorted()).toEqual(s.engine.started);
    for (const id of s.engine.started) expect(note).toContain(id);
    expect((await s.say('/auto-dev cancel', { on })).note).not.toContain('the runs');
  });

  test.each(['cancel', 'pick B', 'status', 'explain B'])(
    'does not hide the run that `%s` is for, even if fifty were rejected after it',
    async (command) => {
      const s = commandWorld();
      await shown(s, 'choice');
      for (let n = 0; n < 50; n++) {
        const id = `rejected-${n}`;
        await askedFor(s, id);
        await s.store.transition(id, 'refused', 'no write access', s.now());
      }
      const { outcome, id } = await s.say(`/auto-dev ${command}`);
      expect(outcome).toBe('done');
      expect((await s.store.command(`comment:${id}`))?.runId).toBe(RUN);
    },
  );

  test('does not keep `cancel` from ending a wait for a pick', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    await asked(s);
    await refuse(s);
    expect((await s.say('/auto-dev cancel')).note).toBe('the run no longer waits for a choice');
    expect(boxes(s).body).not.toContain('- [ ]');
  });
});

describe('a comment that reaches Runoff after a later run was requested', () => {
  const HOUR = 60 * 60_000;
  /** Moments at which it may have been written: an hour before, and in the second of the request. */
  async function world(prepare: (s: CommandWorld) => Promise<unknown>) {
    const s = commandWorld();
    const before = s.now();
    s.later(HOUR);
    const requested = s.now();
    await prepare(s);
    return { s, before, requested };
  }
  const running = (s: CommandWorld) => atWork(s);
  const waiting = (s: CommandWorld) => shown(s, 'choice');
  const published = (s: CommandWorld) => shown(s, 'pull');
  const traces = async ({ store, engine, repository }: CommandWorld) => ({
    run: await store.run(RUN),
    picks: await store.picks(RUN),
    votes: await store.votes(RUN),
    started: [...engine.started],
    pulls: [...repository.pulls.keys()],
    branches: [...repository.branches],
  });

  test.each([
    ['cancel', running],
    ['cancel', waiting],
    ['pick B', waiting],
    ['pick none', published],
    ['vote C', waiting],
    ['ci', published],
    ['budget 9', running],
    ['retry', published],
    ['retry B', published],
    ['run', published],
    ['run', running],
    ['debate', published],
  ])('does not apply to it: `%s`', async (name, prepare) => {
    const { s, before, requested } = await world(prepare);
    const untouched = await traces(s);
    expect(await s.say(`/auto-dev ${name}`, { at: before })).toMatchObject({
      outcome: 'refused',
      note: `Run \`${RUN}\` was requested after this comment was written. If you mean that run, or want another one, write the command again.`,
      reactions: ['eyes', 'confused'],
    });
    expect(await traces(s)).toEqual(untouched);
    expect((await s.say(`/auto-dev ${name}`, { at: requested })).note).not.toContain('was requested after');
  });

  test.each(['review', 'fix'])('does not start another one on a pull request: `%s`', async (name) => {
    const s = await reviewed('pull');
    const run = await s.store.run(REVIEW);
    const written = (run?.createdAt ?? 0) - 1_000;
    expect(await s.say(`/auto-dev ${name}`, { on: 11, at: written })).toMatchObject({ outcome: 'refused' });
    expect(s.engine.started).toEqual([]);
  });

  test('applies to the run before it', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    s.later(HOUR);
    const before = s.now();
    s.later(HOUR);
    await atWork(s, { id: LATER });
    expect((await s.say('/auto-dev vote C', { at: before })).outcome).toBe('done');
    expect(await s.store.votes(RUN)).toHaveLength(1);
    expect((await s.say('/auto-dev cancel', { at: before })).note).toBe(
      'the run no longer waits for a choice',
    );
    expect((await s.store.run(LATER))?.state).toBe('briefed');
    expect(s.engine.cancelled).toEqual([]);
  });

  test('starts no second run when its author has written it again meanwhile', async () => {
    const s = commandWorld();
    const first = s.now();
    s.later(30_000);
    expect((await s.say('/auto-dev run')).note).toBe('started a run');
    const [started = ''] = s.engine.started;
    const queueEntry = { share: 'lists', priority: 1, since: s.now() };
    await s.store.updateRun(started, { queueEntry }, s.now());
    expect((await s.say('/auto-dev run', { at: first })).outcome).toBe('refused');
    expect(s.engine.started).toEqual([started]);
  });

  test('is not held up by a label of somebody who may start nothing', async () => {
    const s = commandWorld();
    const before = s.now();
    await askedFor(s, LATER);
    expect((await s.say('/auto-dev run', { at: before })).note).toBe('started a run');
    await s.store.transition(LATER, 'refused', 'test', s.now());
    expect((await s.say('/auto-dev run', { at: before, by: ada })).note).toBe('started a run');
  });

  test('still shows the status', async () => {
    const { s, before } = await world(running);
    expect((await s.say('/auto-dev status', { at: before })).reply).toContain(RUN);
  });

  test('may be dated a little before a run that was started on a page, by another clock', async () => {
    const s = commandWorld();
    s.later(30_001);
    await atWork(s);
    expect((await s.say('/auto-dev cancel', { at: s.now() - 30_000 })).outcome).toBe('done');
  });
});

describe('the label of a run that is cancelled before its admission', () => {
  const labels = ({ repository }: CommandWorld) => [...(repository.labels.get(7) ?? [])];
  async function labelled(): Promise<CommandWorld> {
    const s = commandWorld();
    s.repository.labels.set(7, new Set(['auto-dev']));
    return s;
  }

  test.each(['before', 'after'])('is removed, %s its place in the queue is shown', async (when) => {
    const s = await labelled();
    await askedFor(s, RUN, true);
    if (when === 'after') s.world.announcer.soon(RUN);
    await s.world.announcer.idle();
    expect(s.repository.comments).toHaveLength(when === 'after' ? 1 : 0);
    await s.say('/auto-dev cancel');
    expect(labels(s)).toEqual([]);
    expect(s.repository.comments).toHaveLength(when === 'after' ? 1 : 0);
  });

  test('is removed with all runs of the issue', async () => {
    const s = await labelled();
    await atWork(s);
    await askedFor(s, LATER, true);
    await s.say('/auto-dev cancel');
    expect(labels(s)).toEqual([]);
  });

  test('stays while another run waits for it, and that of an active run stays, too', async () => {
    const s = await labelled();
    await atWork(s);
    s.repository.labels.set(7, new Set(['auto-dev', 'auto-dev:running']));
    await askedFor(s, REVIEW, true);
    await askedFor(s, LATER, true);
    await s.store.transition(LATER, 'cancelled', 'test', s.now());
    await s.world.announcer.finish(LATER);
    expect(labels(s)).toEqual(['auto-dev', 'auto-dev:running']);
  });
});

describe('a fault of admission', () => {
  const trouble = {
    code: 'SANDBOX_UNAVAILABLE',
    message: 'There is no sandbox.',
    advice: 'Get one.',
  } as const;

  async function failsAtAdmission(s: CommandWorld) {
    await s.store.updateRun(RUN, { trouble }, s.now());
    await s.store.transition(RUN, 'failed', 'there is no sandbox', s.now());
    await s.world.announcer.finish(RUN);
    return [...(s.repository.labels.get(7) ?? [])];
  }

  test('is reported although there is no task, and takes the label with it, so that it can be set again', async () => {
    const s = commandWorld();
    s.repository.labels.set(7, new Set(['auto-dev']));
    await askedFor(s, RUN);
    expect(await failsAtAdmission(s)).toEqual(['auto-dev:failed']);
    expect(s.repository.comments.map(({ body }) => body).join()).toContain('There is no sandbox.');
  });

  test('leaves the label to a run that waits for it', async () => {
    const s = commandWorld();
    s.repository.labels.set(7, new Set(['auto-dev']));
    await askedFor(s, RUN);
    s.later(1_000);
    await askedFor(s, REVIEW);
    expect(await failsAtAdmission(s)).toContain('auto-dev');
  });
});
