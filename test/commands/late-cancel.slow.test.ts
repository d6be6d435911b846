import { describe, expect, test } from 'vitest';
import { openLocalCommands, recordPullState, stopRunsOfIssue } from '../../src/commands/index.ts';
import { Fault } from '../../src/core/model/index.ts';
import type { Publisher } from '../../src/ports/index.ts';
import { settleOutcomes, type World } from '../../src/runs/index.ts';
import { publish } from '../../src/runs/publish/index.ts';
import { contextOf } from '../world/run-context.ts';
import { tried } from '../world/tried.ts';
import { boxes, type CommandWorld, commandWorld, type Heard, judgedRun, shown } from './command-world.ts';
import { mallory, mona, RUN } from './dialogue-world.ts';
import { down, forbidden, pullOf } from './fake-repository.ts';

const runOf = async ({ store }: CommandWorld) => (await store.run(RUN)) ?? expect.fail();

type Moment = 'comment' | 'openDraftPull';

/**
 * Publishes, and these happen once each, when GitHub is asked to do this. A cancel aborts the step, as the engine does.
 */
async function publishing(
  s: CommandWorld,
  meanwhile: Partial<Record<Moment, () => Promise<unknown>>>,
): Promise<unknown> {
  const cancelled = new AbortController();
  const { cancel } = s.engine;
  s.engine.cancel = async (id) => {
    await cancel(id);
    cancelled.abort();
  };
  const { github } = s.world;
  if (!github) throw new Error('The world has a GitHub.');
  const over = new Set<Moment>();
  const once = async (moment: Moment) => {
    if (over.has(moment)) return;
    over.add(moment);
    await meanwhile[moment]?.();
  };
  const publisher = async (handle: Parameters<typeof github.publisher>[0]): Promise<Publisher> => {
    const inner = await github.publisher(handle);
    return {
      ...inner,
      async comment(on, body) {
        await once('comment');
        return inner.comment(on, body);
      },
      async openDraftPull(pull) {
        await once('openDraftPull');
        return inner.openDraftPull(pull);
      },
    };
  };
  const world: World = { ...s.world, github: { ...github, publisher } };
  return publish(world, await contextOf(world, RUN, cancelled.signal));
}

/** Neither the trees nor the patches of the candidates can be read any more. */
async function damagePatches({ world }: CommandWorld): Promise<void> {
  Object.assign(world.workspaces, { holds: async () => false });
  await world.artifacts.sweep({ keep: () => false, before: Number.POSITIVE_INFINITY });
}

/** The commit that the pull request #11 is at. */
const headOf = ({ repository }: CommandWorld) => pullOf(repository, 11)?.headSha;

describe('a cancel while a result is being published', () => {
  test('is refused once the pull request is open, which is completed', async () => {
    const s = commandWorld();
    await judgedRun(s, 'pull');
    let said: Heard | undefined;
    await publishing(s, {
      async comment() {
        said = await s.say('/auto-dev cancel');
      },
    });
    expect([said?.outcome, said?.reply]).toMatchInlineSnapshot(`
      [
        "refused",
        "**Runoff:** Run \`r0000000000\` could not be cancelled. Its draft pull request \\#&#8203;11 is open. If you do not want it, close it.",
      ]
    `);
    const { state, outcome } = await runOf(s);
    expect([state, outcome]).toMatchObject(['published', { kind: 'pull', number: 11 }]);
    expect(s.engine.cancelled).toEqual([]);
    expect(s.repository.comments.filter(({ on }) => on === 11)).toHaveLength(1);
    expect(s.repository.checks).toHaveLength(1);
  });

  test('by closing the issue comes as late', async () => {
    const s = commandWorld();
    await judgedRun(s, 'pull');
    let stopped = -1;
    await publishing(s, {
      async comment() {
        stopped = await stopRunsOfIssue(s.world, {
          repositoryId: 42,
          issue: 7,
          cause: 'the issue was closed',
        });
      },
    });
    expect([stopped, (await runOf(s)).state]).toEqual([0, 'published']);
  });

  test('that comes as the pull request is opened leaves a run that says so', async () => {
    const s = commandWorld();
    await judgedRun(s, 'pull');
    let said: Heard | undefined;
    await publishing(s, {
      async openDraftPull() {
        said = await s.say('/auto-dev cancel');
      },
    });
    expect(said?.note).toBe('the run is cancelled');
    const { state, outcome } = await runOf(s);
    expect([state, outcome]).toMatchObject(['cancelled', { kind: 'pull', number: 11 }]);
    expect(s.repository.comments.filter(({ on }) => on === 11)).toHaveLength(1);
    const status = s.repository.comments.find(({ body }) => body.startsWith('<!-- runoff:status:'));
    expect(status?.body).toContain(
      'Its draft pull request [#11](https://github.test/acme/lists/pull/11) was already open: if you do not want it, close it.',
    );
  });

  test('that finds the run waiting for a pick by then ends that wait', async () => {
    const s = commandWorld();
    await judgedRun(s, 'choice');
    s.engine.cancel = async () => {
      await publish(s.world, await contextOf(s.world, RUN));
    };
    expect((await s.say('/auto-dev cancel')).note).toBe('the run no longer waits for a choice');
    expect((await runOf(s)).state).toBe('closed');
    expect(boxes(s).body).not.toContain('- [ ]');
  });

  test('that finds the run published by then says so', async () => {
    const s = commandWorld();
    await judgedRun(s, 'pull');
    s.engine.cancel = async () => {
      await publish(s.world, await contextOf(s.world, RUN));
    };
    const { outcome, note, reactions } = await s.say('/auto-dev cancel');
    expect([outcome, reactions]).toEqual(['refused', ['eyes', 'confused']]);
    expect(note).toContain('Its draft pull request #11 is open.');
  });
});

describe('while a pull request is being completed', () => {
  test.each(['ci', 'vote A'])('`%s` is refused until the run is published', async (name) => {
    const s = commandWorld();
    await judgedRun(s, 'pull');
    let said: Heard | undefined;
    await publishing(s, {
      async comment() {
        said = await s.say(`/auto-dev ${name}`);
      },
    });
    expect(said).toMatchObject({
      outcome: 'refused',
      note: `Run \`${RUN}\` is still being published: try again in a moment.`,
    });
    expect(await runOf(s)).toMatchObject({ state: 'published', outcome: { number: 11, headSha: headOf(s) } });
    expect((await s.say(`/auto-dev ${name}`)).outcome).toBe('done');
  });

  test('a commit on its branch during an outage leaves it the result of the run', async () => {
    const s = commandWorld();
    await judgedRun(s, 'pull');
    s.repository.trouble.set('comment', down);
    await expect(publish(s.world, await contextOf(s.world, RUN))).rejects.toMatchObject({
      code: 'GITHUB_UNAVAILABLE',
    });
    s.repository.trouble.clear();
    s.repository.branches.set(`auto-dev/7/${RUN}/B`, 'e'.repeat(40));
    await publish(s.world, await contextOf(s.world, RUN));
    expect(await runOf(s)).toMatchObject({
      state: 'published',
      outcome: { kind: 'pull', number: 11, branches: { A: `auto-dev/7/${RUN}/A` } },
    });
    expect(s.repository.comments.filter(({ on }) => on === 11)).toHaveLength(1);
  });

  test('a patch that is damaged by then leaves it the result of the run', async () => {
    const s = commandWorld();
    await judgedRun(s, 'pull');
    s.repository.trouble.set('comment', down);
    await expect(publish(s.world, await contextOf(s.world, RUN))).rejects.toThrow('GitHub answered 502.');
    s.repository.trouble.clear();
    await damagePatches(s);
    await publish(s.world, await contextOf(s.world, RUN));
    expect(await runOf(s)).toMatchObject({ state: 'published', outcome: { kind: 'pull', number: 11 } });
    expect(s.repository.comments.filter(({ on }) => on === 11)).toHaveLength(1);
  });

  test('the commit that `ci` adds after a cancel stays on record', async () => {
    const s = commandWorld();
    await judgedRun(s, 'pull');
    let said: Heard | undefined;
    await publishing(s, {
      openDraftPull: () => s.say('/auto-dev cancel'),
      async comment() {
        // The first comment may be the status of the cancelled run.
        if (!(await runOf(s)).outcome) return;
        said = await s.say('/auto-dev ci', { on: 11 });
      },
    });
    expect(said?.outcome).toBe('done');
    expect((await runOf(s)).outcome).toMatchObject({ headSha: headOf(s) });
  });
});

describe('a pick that opened its pull request before an outage', () => {
  async function halfOpened() {
    const s = commandWorld();
    await shown(s, 'choice');
    s.repository.trouble.set('comment', down);
    const { id, outcome } = await s.say('/auto-dev pick A');
    s.repository.trouble.clear();
    expect([outcome, (await runOf(s)).state]).toEqual(['open', 'awaiting_pick']);
    return { s, id };
  }

  test('is not undone by a cancel, whose reply names the pull request', async () => {
    const { s, id } = await halfOpened();
    expect(await s.say('/auto-dev cancel')).toMatchObject({
      outcome: 'refused',
      note: `Run \`${RUN}\` could not be cancelled. Its draft pull request #11 is open. If you do not want it, close it.`,
    });
    const cause = 'the issue was closed';
    expect(await stopRunsOfIssue(s.world, { repositoryId: 42, issue: 7, cause })).toBe(0);
    await s.recover();
    expect((await s.become(id)).note).toBe('Candidate A is the draft pull request #11.');
    expect((await runOf(s)).state).toBe('published');
  });

  test('keeps it when `ci` adds a commit before the rest is written', async () => {
    const { s, id } = await halfOpened();
    expect((await s.say('/auto-dev ci', { on: 11 })).outcome).toBe('done');
    await s.recover();
    expect((await s.become(id)).note).toBe('Candidate A is the draft pull request #11.');
    expect(await runOf(s)).toMatchObject({
      state: 'published',
      outcome: { kind: 'pull', number: 11, headSha: headOf(s) },
    });
  });

  test('counts if its patch is damaged by then', async () => {
    const { s, id } = await halfOpened();
    await damagePatches(s);
    await s.recover();
    expect((await s.become(id)).note).toBe('Candidate A is the draft pull request #11.');
    expect(s.repository.comments.filter(({ on }) => on === 11)).toHaveLength(1);
  });

  test('leaves one pull request when another candidate is picked before the rest is written', async () => {
    const { s } = await halfOpened();
    s.repository.trouble.set('editPull', down);
    const { id, outcome } = await s.say('/auto-dev pick B');
    expect(outcome).toBe('open');
    s.repository.trouble.clear();
    await s.recover();
    expect((await s.become(id)).note).toBe('The pull request #11 now shows candidate B.');
    expect([...s.repository.pulls.keys()]).toEqual([11]);
    expect(await runOf(s)).toMatchObject({ state: 'published', outcome: { number: 11, headSha: headOf(s) } });
  });
});

describe('a pick whose outage lasts for hours', () => {
  const HOUR = 60 * 60_000;
  const ENDS = ['merged', 'closed'] as const;
  const onPull = ({ repository }: CommandWorld) => repository.comments.filter(({ on }) => on === 11);
  const labels = ({ repository }: CommandWorld) => [...(repository.labels.get(7) ?? [])];
  const path = async ({ store }: CommandWorld) =>
    (await store.transitions(RUN)).map(({ to }) => to).slice(-3);

  /** Its pull request is open, and nothing more can be written. */
  async function pickBroken(name = 'pick A') {
    const s = commandWorld();
    await shown(s, name === 'pick A' ? 'choice' : 'pull');
    s.repository.trouble.set(name === 'pick A' ? 'comment' : 'editPull', down);
    const { id } = await s.say(`/auto-dev ${name}`);
    for (let hour = 0; hour < 2; hour += 1) {
      s.later(HOUR);
      await s.recover();
    }
    expect((await s.become(id)).outcome).toBe('open');
    return { s, id };
  }

  /** As an earlier version left it: the command has ended, and the run waits for a pick with an open pull request. */
  async function stuck() {
    const { s, id } = await pickBroken();
    s.repository.trouble.clear();
    await s.store.settleCommand(`comment:${id}`, { kind: 'refused', why: 'GitHub answered 502.' }, s.now());
    return s;
  }

  function ends({ repository }: CommandWorld, state: 'merged' | 'closed'): void {
    const pull = repository.pulls.get(11) ?? expect.fail();
    repository.pulls.set(11, { ...pull, state });
  }
  const webhook = (s: CommandWorld, state: 'merged' | 'closed' | 'open') =>
    recordPullState(s.world, { repositoryId: 42, number: 11, head: `auto-dev/7/${RUN}/A`, state });

  test('is completed when GitHub is back', async () => {
    tried({
      id: 'pick-github-away',
      part: 'GitHub is unavailable',
      what: 'GitHub is away for two hours after a pick has opened its pull request, and its author loses write access meanwhile.',
      held: 'The pick is completed: comparison, label and reply, and no checkbox is left.',
    });
    const { s, id } = await pickBroken();
    s.repository.trouble.clear();
    s.repository.rights[mona.id] = 'read';
    await s.recover();
    expect(await s.become(id)).toMatchObject({
      note: 'Candidate A is the draft pull request #11.',
      reactions: ['eyes', 'rocket'],
    });
    expect([(await runOf(s)).state, onPull(s).length, labels(s)]).toEqual([
      'published',
      1,
      ['auto-dev:done'],
    ]);
    expect(boxes(s).body).not.toContain('- [ ]');
  });

  test('of another candidate is completed, so that the run shows what its branch has', async () => {
    const { s, id } = await pickBroken('pick C');
    s.repository.trouble.clear();
    await s.recover();
    expect((await s.become(id)).note).toBe('The pull request #11 now shows candidate C.');
    expect((await runOf(s)).outcome).toMatchObject({ headSha: headOf(s) });
  });

  test.each(ENDS)('leaves a published run that is %s, says its webhook', async (state) => {
    const { s, id } = await pickBroken();
    expect(await webhook(s, 'open')).toBe(false);
    s.repository.trouble.clear();
    ends(s, state);
    expect(await webhook(s, state)).toBe(true);
    expect(await webhook(s, state)).toBe(false);
    expect(await path(s)).toEqual(['awaiting_pick', 'published', state]);
    expect(boxes(s).body).not.toContain('- [ ]');
    expect(labels(s)).toEqual(state === 'merged' ? ['auto-dev:done'] : []);
    await s.recover();
    expect((await s.become(id)).outcome).toBe('done');
    expect([(await runOf(s)).state, onPull(s).length]).toEqual([state, 1]);
  });

  test.each(ENDS)('leaves a published run that is %s, says the daily look', async (state) => {
    const { s } = await pickBroken();
    s.repository.trouble.clear();
    ends(s, state);
    await settleOutcomes(s.world);
    expect(await path(s)).toEqual(['awaiting_pick', 'published', state]);
    expect(boxes(s).body).not.toContain('- [ ]');
  });

  test('is left to its command while that has no outcome', async () => {
    const { s } = await pickBroken();
    s.repository.trouble.clear();
    await settleOutcomes(s.world);
    expect([(await runOf(s)).state, onPull(s)]).toEqual(['awaiting_pick', []]);
  });

  test.each(['open', ...ENDS] as const)('and was given up is completed daily (%s)', async (state) => {
    const s = await stuck();
    if (state !== 'open') ends(s, state);
    await settleOutcomes(s.world);
    expect([(await runOf(s)).state, onPull(s).length]).toEqual([state === 'open' ? 'published' : state, 1]);
    expect(boxes(s).body).not.toContain('- [ ]');
    const transitions = await s.store.transitions(RUN);
    await settleOutcomes(s.world);
    expect([await s.store.transitions(RUN), onPull(s).length]).toEqual([transitions, 1]);
  });
});

test('a fault after the pull request was opened leaves its number on record', async () => {
  const s = commandWorld();
  await judgedRun(s, 'pull');
  s.repository.trouble.set('comment', forbidden);
  await expect(publish(s.world, await contextOf(s.world, RUN))).rejects.toMatchObject({
    code: 'GITHUB_REFUSED',
  });
  expect((await runOf(s)).outcome).toMatchObject({ kind: 'pull', number: 11, branch: `auto-dev/7/${RUN}/B` });
});

test('a cancel on the page of a local run whose result is about to be shown is refused', async () => {
  const s = commandWorld();
  const origin = { kind: 'local', path: '/home/ada/lists' } as const;
  await s.store.createRun({ id: RUN, origin, title: 'x', request: null, at: 1 });
  const commands = openLocalCommands(s.world);
  const cancel = async (key: string) => {
    const by = { id: 0, login: 'ada' };
    const given = { via: 'page', key, by, text: '/auto-dev cancel', about: { run: RUN } } as const;
    const intake = await commands.onPage(given);
    return intake.kind === 'recorded' ? (await commands.outcome(intake.command, 0))?.outcome : intake;
  };
  await s.store.updateRun(RUN, { outcome: { kind: 'branches', branches: { A: 'runoff/A' } } }, 2);
  expect(await cancel('early')).toEqual({
    kind: 'refused',
    why: 'The run could not be cancelled: its result is already stored. Load the page again to see it.',
  });
  await s.store.transition(RUN, 'failed', 'test', 3);
  expect(await cancel('late')).toEqual({ kind: 'done', note: 'the run had already ended' });
});

test('a form of the page of a local run that met an outage can be sent again', async () => {
  const s = commandWorld();
  const origin = { kind: 'local', path: '/home/ada/lists' } as const;
  await s.store.createRun({ id: RUN, origin, title: 'x', request: null, at: 1 });
  const commands = openLocalCommands(s.world);
  const by = { id: 0, login: 'ada' };
  const form = { via: 'page', key: 'k', by, text: '/auto-dev cancel', about: { run: RUN } } as const;
  const { run } = s.store;
  Object.assign(s.store, { run: async () => Promise.reject(new Fault('DATABASE_UNAVAILABLE', 'away')) });
  await expect(commands.onPage(form)).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
  Object.assign(s.store, { run });
  expect(await commands.onPage(form)).toMatchObject({ kind: 'recorded' });
  expect((await runOf(s)).state).toBe('cancelled');
});

test('a cancel that goes on after 8,000 characters cancels nothing', async () => {
  const s = commandWorld();
  await judgedRun(s, 'pull');
  const filler = ' '.repeat(8_000);
  expect(await s.say(`/auto-dev cancel${filler}not yet`)).toMatchObject({
    outcome: 'refused',
    note: 'The text is longer than 8,000 characters. Shorten it.',
  });
  expect((await runOf(s)).state).toBe('judged');
  expect(await s.say(`/auto-dev cancel${' '.repeat(8_000 - '/auto-dev cancel'.length)}`)).toMatchObject({
    outcome: 'done',
  });
  expect((await s.say(`/auto-dev cancel${filler}not yet`, { by: mallory })).reply).toBeNull();
});
