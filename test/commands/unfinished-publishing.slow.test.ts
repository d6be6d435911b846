import { describe, expect, test } from 'vitest';
import { recordPullState } from '../../src/commands/index.ts';
import { Fault } from '../../src/core/model/index.ts';
import type { FlowContext } from '../../src/ports/index.ts';
import { reconcile, settleOutcomes, type World } from '../../src/runs/index.ts';
import { conclude, publish } from '../../src/runs/publish/index.ts';
import { stagesOf, UNLIMITED } from '../../src/runs/stage.ts';
import { partial } from '../world/partial.ts';
import { contextOf } from '../world/run-context.ts';
import { tried } from '../world/tried.ts';
import { boxes, type CommandWorld, commandWorld, judgedRun, shown, tick } from './command-world.ts';
import { RUN } from './dialogue-world.ts';
import { down, forbidden } from './fake-repository.ts';

const HOUR = 60 * 60_000;
const BRANCH = `auto-dev/7/${RUN}/B`;
const runOf = async ({ store }: CommandWorld) => (await store.run(RUN)) ?? expect.fail();
const onPull = ({ repository }: CommandWorld) => repository.comments.filter(({ on }) => on === 11);

/** The last stage of a run, as its flow executes it; waiting takes no time. */
async function publishes(s: CommandWorld): Promise<number> {
  let waited = 0;
  const sleep = async (ms: number): Promise<void> => {
    waited += ms;
    s.later(ms);
  };
  const world: World = { ...s.world, clock: { ...s.world.clock, sleep } };
  const flow = partial<FlowContext>({ step: (_, work) => work(new AbortController().signal) });
  const result = await stagesOf(world, flow, RUN, UNLIMITED)('publish', (context) => publish(world, context));
  if (result.kind === 'fault') await conclude(world, flow, RUN, result.fault);
  return waited;
}

describe('an outage after the pull request was opened', () => {
  test.each([1, 12, 23])('of %i h ends with the comparison', async (hours) => {
    tried({
      id: 'github-away-while-publishing',
      part: 'GitHub is unavailable',
      what: 'GitHub is away for up to 23 hours after a pull request was opened.',
      held: 'The comparison is written when it is back, and the run is published.',
    });
    const s = commandWorld();
    await judgedRun(s, 'pull');
    const until = s.now() + hours * HOUR;
    s.repository.trouble.set('comment', () => (s.now() < until ? down() : undefined) as never);
    await publishes(s);
    expect(await runOf(s)).toMatchObject({ state: 'published', outcome: { kind: 'pull', number: 11 } });
    expect((await runOf(s)).trouble).toBeUndefined();
    expect(onPull(s)).toHaveLength(1);
    expect([...s.repository.pulls.keys()]).toEqual([11]);
  });
});

describe.each([
  ['an outage that does not end', down],
  ['a conversation in which the App may not comment', forbidden],
])('%s leaves a published run', (_what, trouble) => {
  async function unfinished() {
    const s = commandWorld();
    await judgedRun(s, 'pull');
    s.repository.trouble.set('comment', trouble);
    const waited = await publishes(s);
    s.repository.trouble.clear();
    expect(await runOf(s)).toMatchObject({ state: 'published', outcome: { kind: 'pull', number: 11 } });
    return { s, waited };
  }

  test('which says what is missing, and whose next pick writes it', async () => {
    const { s, waited } = await unfinished();
    expect(Math.round(waited / HOUR)).toBe(trouble === down ? 24 : 0);
    const statusNow = async () => {
      await s.say('/auto-dev status');
      return s.repository.comments.find(({ body }) => body.startsWith('<!-- runoff:status:'))?.body;
    };
    const status = await statusNow();
    expect(status).toContain('draft pull request [#11]');
    expect(status).toContain('Publishing did not finish: GitHub answered');
    expect(status).toContain('To write it, pick the candidate that is shown there, or another one.');
    expect([...(s.repository.labels.get(7) ?? [])]).toEqual(['auto-dev:done']);
    expect(onPull(s)).toEqual([]);
    expect((await s.say('/auto-dev pick B', { on: 11 })).outcome).toBe('done');
    expect(onPull(s).map(({ body }) => body.slice(0, 23))).toEqual(['<!-- runoff:comparison:']);
    expect(await statusNow()).not.toContain('Publishing did not finish');
  });

  test('whose merge is recorded, by its webhook or by the daily look', async () => {
    const { s } = await unfinished();
    const event = { repositoryId: 42, number: 11, head: BRANCH, state: 'merged' } as const;
    expect(await recordPullState(s.world, event)).toBe(true);
    expect((await runOf(s)).state).toBe('merged');
    const { s: other } = await unfinished();
    const pull = other.repository.pulls.get(11) ?? expect.fail();
    other.repository.pulls.set(11, { ...pull, state: 'merged' });
    await settleOutcomes(other.world);
    expect((await runOf(other)).state).toBe('merged');
  });
});

describe('a pull request that GitHub refuses', () => {
  const noDrafts = (): never => {
    throw new Fault('GITHUB_REFUSED', 'Draft pull requests are not supported in this repository.');
  };
  const nextIn = ({ repository }: CommandWorld, kind: 'choice' | 'outcome') =>
    repository.comments
      .find(({ body }) => body.startsWith(`<!-- runoff:${kind}:`))
      ?.body.match(/^.*\*\*Next:.*$/m)?.[0];

  test('is opened by a pick once GitHub allows it, and the comment of the issue leads there', async () => {
    const s = commandWorld();
    s.repository.trouble.set('openDraftPull', noDrafts);
    await shown(s, 'pull');
    expect(nextIn(s, 'outcome')).toContain('fix what GitHub reports, then comment `/auto-dev pick B`');
    s.repository.trouble.clear();
    expect((await s.say('/auto-dev pick B')).outcome).toBe('done');
    expect(nextIn(s, 'outcome')).toContain('review the draft pull request [#11]');
  });

  test('of a picked candidate is not sent to review, but to the next pick', async () => {
    const s = commandWorld();
    s.repository.trouble.set('openDraftPull', noDrafts);
    await shown(s, 'choice');
    await tick(s, 'B');
    expect(boxes(s).body).not.toContain('- [ ]');
    expect(nextIn(s, 'choice')).toContain('**B** has no pull request: Draft pull requests are not supported');
    expect(nextIn(s, 'choice')).toContain('comment `/auto-dev pick B`, or with the letter of another');
    s.repository.trouble.clear();
    expect((await s.say('/auto-dev pick A')).outcome).toBe('done');
    for (const kind of ['choice', 'outcome'] as const)
      expect(nextIn(s, kind)).toContain('review the draft pull request [#11]');
  });

  test('does not hide the one that a person opens although no candidate passed all tests', async () => {
    const s = commandWorld();
    const id = await judgedRun(s, 'pull');
    const because = 'Every candidate breaks an existing test.';
    await s.store.updateRun(id, { decision: { kind: 'none', decidedBy: 'regressions', because } }, s.now());
    await publish(s.world, await contextOf(s.world, id));
    expect(nextIn(s, 'outcome')).toContain('No pull request was opened.');
    expect((await s.say('/auto-dev pick A')).outcome).toBe('done');
    expect(nextIn(s, 'outcome')).toMatch(/^\*\*Next:\*\* review the draft pull request \[#11\]/);
  });
});

describe('on a locked issue, where GitHub refuses comments and reactions', () => {
  /** Publishes a run that was started by a label, in an issue that somebody locks meanwhile, and unlocks then. */
  async function locked(how: 'choice' | 'pull', more: readonly string[] = []) {
    const s = commandWorld();
    await judgedRun(s, how);
    s.repository.labels.set(7, new Set(['auto-dev']));
    for (const write of ['comment', 'react', ...more]) s.repository.trouble.set(write, forbidden);
    s.world.announcer.soon(RUN);
    await s.world.announcer.idle();
    const atWork = [...(s.repository.labels.get(7) ?? [])];
    await publishes(s);
    s.repository.trouble.clear();
    return { s, atWork, after: [...(s.repository.labels.get(7) ?? [])] };
  }

  test('a toss-up waits for its pick, labels show it, and the pick opens the pull request', async () => {
    const { s, atWork, after } = await locked('choice');
    expect([atWork, after]).toEqual([['auto-dev:running'], ['auto-dev:pick']]);
    expect((await runOf(s)).state).toBe('awaiting_pick');
    await s.say('/auto-dev status');
    const [status] = s.repository.comments.filter(({ body }) => body.startsWith('<!-- runoff:status:'));
    expect(status?.body).toContain('please choose a candidate');
    expect(status?.body).toContain('Publishing did not finish: GitHub answered 403');
    expect(status?.body).toContain('The comparison may be missing on the issue.');
    const picked = await s.say('/auto-dev pick B');
    expect([picked.outcome, picked.note]).toEqual(['done', 'Candidate B is the draft pull request #11.']);
    expect(onPull(s)).toHaveLength(1);
    expect((await runOf(s)).state).toBe('published');
  });

  test('a winner whose pull request is refused can be picked once what prevents it is gone', async () => {
    const { s, after } = await locked('pull', ['openDraftPull']);
    expect(after).toEqual(['auto-dev:none']);
    expect(await runOf(s)).toMatchObject({ state: 'published', outcome: { kind: 'table' } });
    await s.say('/auto-dev status');
    const [status] = s.repository.comments.filter(({ body }) => body.startsWith('<!-- runoff:status:'));
    expect(status?.body).toContain('**B** has no pull request: GitHub answered 403');
    expect(status?.body).toContain('Publishing did not finish');
    expect((await s.say('/auto-dev pick B')).outcome).toBe('done');
    expect(await runOf(s)).toMatchObject({ outcome: { kind: 'pull', number: 11 } });
  });
});

describe('a run whose result is stored when it is interrupted for good', () => {
  const status = async () => ({ kind: 'failed', why: 'It was restarted too often.' }) as const;

  test('is published if its pull request is open', async () => {
    const s = commandWorld();
    await judgedRun(s, 'pull');
    s.repository.trouble.set('comment', down);
    await expect(
      publish(
        { ...s.world, clock: { ...s.world.clock, sleep: async () => Promise.reject(new Error('killed')) } },
        { run: await runOf(s), signal: new AbortController().signal },
      ),
    ).rejects.toThrow('killed');
    s.repository.trouble.clear();
    await reconcile({ ...s.world, engine: { ...s.world.engine, status } });
    const { state, trouble } = await runOf(s);
    expect([state, trouble?.message]).toEqual([
      'published',
      'The run was interrupted: It was restarted too often.',
    ]);
  });

  test('waits for a pick if the comparison asks for one', async () => {
    const s = commandWorld();
    await judgedRun(s, 'choice');
    const { transition } = s.store;
    s.store.transition = () => Promise.reject(new Error('killed'));
    await expect(
      publish(s.world, { run: await runOf(s), signal: new AbortController().signal }),
    ).rejects.toThrow('killed');
    s.store.transition = transition;
    await reconcile({ ...s.world, engine: { ...s.world.engine, status } });
    expect([(await runOf(s)).state, (await runOf(s)).trouble]).toEqual(['awaiting_pick', undefined]);
    expect(boxes(s).body).toContain('- [ ] **A**');
    expect((await s.say('/auto-dev pick A')).outcome).toBe('done');
  });
});
