import { afterEach, describe, expect, test } from 'vitest';
import { type NewReply, NO_DIALOGUE } from '../../src/core/brief/index.ts';
import type { Brief, Question, Task } from '../../src/core/model/index.ts';
import { Settings } from '../../src/core/settings/index.ts';
import type { Engine, FlowContext, Flows } from '../../src/ports/index.ts';
import { cancelRun, reconcile, reply, type World } from '../../src/runs/index.ts';
import { settleQuestions } from '../../src/runs/questions/index.ts';
import { stagesOf, UNLIMITED } from '../../src/runs/stage.ts';
import { memoryEngine, newJournal } from '../world/memory-engine.ts';
import { memoryStore } from '../world/memory-store.ts';
import { partial } from '../world/partial.ts';
import { silent } from '../world/silent-log.ts';
import { clockAt, quietAnnouncer } from '../world/stand-ins.ts';

const RUN = 'r0000000000';
const ORIGIN = { kind: 'local', path: '/' } as const;

const question = (text: string): Question => ({
  text,
  options: ['half up', 'half even'],
  severity: 'blocking',
  assume: 'It rounds as before.',
});
const briefWith = (...questions: Question[]): Brief => ({
  goal: 'Mend it.',
  definitionOfDone: ['It works.'],
  plan: ['Change the rounding.'],
  files: [],
  assumptions: [],
  questions,
});
const said = (over: Partial<NewReply>): NewReply => ({ kind: 'answer', text: '', by: null, at: 1, ...over });

const engines: Engine[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.shutdown(0);
});

/** A world in which a brief is all there is. Each plan takes the next of these; the last one stays. */
async function briefWorld(settings: object, ...briefs: readonly Brief[]) {
  const store = memoryStore();
  const journal = newJournal();
  const planned: string[] = [];

  const base = {
    store,
    clock: clockAt(),
    log: silent,
    announcer: quietAnnouncer,
    workspaces: { sweep: async () => [] },
  };
  const task: Task = {
    runId: RUN,
    origin: ORIGIN,
    title: 'Rounding',
    body: 'It is wrong.',
    comments: [],
    base: { ref: 'main', sha: '0'.repeat(40) },
    settings: Settings.parse(settings),
    lowered: [],
  };
  await store.createRun({ id: RUN, origin: ORIGIN, title: 'Rounding', request: null, at: 1 });
  await store.updateRun(RUN, { task }, 1);
  await store.transition(RUN, 'admitted', 'test', 1);

  const flows = (world: World): Flows => ({
    candidate: async () => null,
    examination: async () => null,
    async run(context: FlowContext) {
      const stage = stagesOf(world, context, RUN, UNLIMITED);
      const plan = () =>
        stage('brief', async () => {
          const brief = briefs[Math.min(planned.length, briefs.length - 1)];
          planned.push(brief?.goal ?? '');
          await store.updateRun(RUN, brief ? { brief } : {}, 1);
        });
      await plan();
      const agreed = await settleQuestions(world, context, stage, plan);
      return agreed.kind === 'ok' ? agreed.value : agreed.fault;
    },
  });
  async function launched(): Promise<World> {
    const engine = memoryEngine({ journal });
    engines.push(engine);
    const world = partial<World>({ ...base, engine });
    await engine.launch(flows(world));
    return world;
  }
  return {
    store,
    planned,
    launched,
    async started(): Promise<World> {
      const world = await launched();
      await world.engine.start(RUN, null);
      return world;
    },
    state: async () => (await store.run(RUN))?.state,
    inquiries: async () => ((await store.run(RUN))?.dialogue ?? NO_DIALOGUE).inquiries,
    waits: (state: string, inquiry: number) =>
      expect
        .poll(
          async () => {
            const run = await store.run(RUN);
            return [run?.state, run?.dialogue?.inquiries.length];
          },
          { timeout: 240_000 },
        )
        .toEqual([state, inquiry]),
  };
}

const done = (value: unknown) => ({ kind: 'done', value });

test('coders start at once without open questions', async () => {
  const scene = await briefWorld({}, briefWith());
  const world = await scene.started();
  expect(await world.engine.settled(RUN)).toEqual(done('agreed'));
  expect(await scene.state()).toBe('briefed');
  expect((await scene.store.run(RUN))?.dialogue).toBeUndefined();
});

test('a run asks a question, and continues with its answer, a new plan and its approval', async () => {
  const scene = await briefWorld({ approval: 'plan' }, briefWith(question('Which?')), briefWith());
  const world = await scene.started();
  await scene.waits('awaiting_answer', 1);
  expect(await reply(world, RUN, 'a', said({ kind: 'approve' }))).toMatchObject({ kind: 'unfit' });
  expect(await reply(world, RUN, 'b', said({ option: 3 }))).toMatchObject({ kind: 'unfit' });
  expect(await reply(world, RUN, 'c', said({ option: 2 }))).toEqual({ kind: 'taken' });
  await scene.waits('awaiting_approval', 2);
  expect(scene.planned).toHaveLength(2);
  expect(await reply(world, RUN, 'd', said({ kind: 'revise', text: 'Smaller.' }))).toEqual({ kind: 'taken' });
  await scene.waits('awaiting_approval', 3);
  expect(await reply(world, RUN, 'e', said({ kind: 'approve' }))).toEqual({ kind: 'taken' });
  expect(await world.engine.settled(RUN)).toEqual(done('agreed'));
  expect(scene.planned).toHaveLength(3);
  expect((await scene.inquiries()).map(({ settled }) => settled?.kind)).toEqual([
    'answered',
    'revised',
    'approved',
  ]);
  expect(await reply(world, RUN, 'f', said({ kind: 'approve' }))).toMatchObject({ kind: 'not-waiting' });
  expect((await scene.store.transitions(RUN)).map(({ to }) => to)).toEqual([
    'admitted',
    'awaiting_answer',
    'admitted',
    'awaiting_approval',
    'admitted',
    'awaiting_approval',
    'briefed',
  ]);
});

test('a repeated reply does not answer a later question', async () => {
  const [first, second] = [question('First?'), question('Second?')];
  const scene = await briefWorld({}, briefWith(first, second), briefWith(first, second));
  const world = await scene.started();
  await scene.waits('awaiting_answer', 1);
  await reply(world, RUN, 'comment:1', said({ option: 1 }));
  await scene.waits('awaiting_answer', 2);
  await reply(world, RUN, 'comment:1', said({ option: 1 }));
  await new Promise((settle) => setTimeout(settle, 100));
  expect(await scene.state()).toBe('awaiting_answer');
  await reply(world, RUN, 'comment:2', said({ text: 'as before' }));
  expect(await world.engine.settled(RUN)).toEqual(done('agreed'));
  expect(await scene.inquiries()).toMatchObject([
    { settled: { text: 'half up' } },
    { settled: { text: 'as before' } },
  ]);
});

describe('if nobody replies', () => {
  test('the run stops, and its record says why', async () => {
    const scene = await briefWorld({ answer: { within: '1s' } }, briefWith(question('Which?')));
    const world = await scene.started();
    expect(await world.engine.settled(RUN)).toEqual(done('stopped'));
    expect(await scene.state()).toBe('cancelled');
    expect((await scene.store.transitions(RUN)).at(-1)).toMatchObject({
      cause: 'nobody answered within 1 s',
    });
  });

  test("the run continues with the question's assumption, but never with an unapproved plan", async () => {
    const settings = { answer: { within: '1s', otherwise: 'assume' }, approval: 'plan' };
    const scene = await briefWorld(settings, briefWith(question('Which?')));
    const world = await scene.started();
    await scene.waits('awaiting_approval', 2);
    expect((await scene.store.run(RUN))?.brief?.assumptions).toEqual([
      'Which? Assumed: It rounds as before.',
    ]);
    expect(scene.planned).toHaveLength(1);
    expect(await world.engine.settled(RUN)).toEqual(done('stopped'));
  });
});

describe('if the process ends during a wait', () => {
  test('the next one continues, and asks nothing twice', async () => {
    const scene = await briefWorld({}, briefWith(question('Which?')), briefWith());
    const first = await scene.started();
    await scene.waits('awaiting_answer', 1);
    await first.engine.shutdown(0);
    const second = await scene.launched();
    await reply(second, RUN, 'a', said({ option: 1 }));
    expect(await second.engine.settled(RUN)).toEqual(done('agreed'));
    expect(await scene.inquiries()).toHaveLength(1);
    expect(scene.planned).toHaveLength(2);
  });

  test('a stored reply reaches the run by the regular reconciliation', async () => {
    const scene = await briefWorld({}, briefWith(question('Which?')), briefWith());
    const world = await scene.started();
    await scene.waits('awaiting_answer', 1);
    await scene.store.addReply(RUN, 'a', said({ option: 1 }));
    await new Promise((settle) => setTimeout(settle, 50));
    expect(await scene.state()).toBe('awaiting_answer');
    const asGitHub = { ...world.store };
    asGitHub.runsIn = async (states) =>
      (await world.store.runsIn(states)).map((run) => ({ ...run, origin: { kind: 'github' } as never }));
    await reconcile({ ...world, store: asGitHub });
    await reconcile({ ...world, store: asGitHub });
    expect(await world.engine.settled(RUN)).toEqual(done('agreed'));
  });
});

test('a waiting run can be cancelled, and accepts no replies afterwards', async () => {
  const scene = await briefWorld({}, briefWith(question('Which?')));
  const world = await scene.started();
  await scene.waits('awaiting_answer', 1);
  expect(await cancelRun(world, RUN, 'test')).toBe(true);
  expect(await world.engine.settled(RUN)).toEqual({ kind: 'cancelled' });
  expect(await reply(world, RUN, 'a', said({ option: 1 }))).toMatchObject({ kind: 'not-waiting' });
  expect(await scene.state()).toBe('cancelled');
});
