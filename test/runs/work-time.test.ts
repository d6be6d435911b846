import { afterEach, describe, expect, test } from 'vitest';
import type { Evidence } from '../../src/core/evidence/index.ts';
import type {
  ChildInput,
  ChildResult,
  Clock,
  Engine,
  FlowContext,
  Flows,
  RunRecord,
} from '../../src/ports/index.ts';
import { code } from '../../src/runs/code/index.ts';
import type { World } from '../../src/runs/index.ts';
import { examineHere, examineRounds } from '../../src/runs/rounds.ts';
import { executeStage, type StageResult, stagesOf, workTimeOf } from '../../src/runs/stage.ts';
import { type Journal, memoryEngine, newJournal } from '../world/memory-engine.ts';
import { partial } from '../world/partial.ts';
import { silent } from '../world/silent-log.ts';
import { codingWorld, flowsOf, played, RUN } from './coding-world.ts';

const MINUTE = 60_000;
const cleanSignal = new AbortController().signal;
const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanUp.splice(0)) await clean();
});

/** A clock that only `advance` moves. */
function handClock() {
  let at = 0;
  const sleepers = new Set<{ readonly until: number; readonly wake: () => void }>();
  const clock: Clock = {
    now: () => at,
    elapsed: () => at,
    sleep: (ms, signal) =>
      new Promise((wake) => {
        sleepers.add({ until: at + ms, wake });
        signal?.addEventListener('abort', () => wake());
      }),
  };
  const advance = (ms: number): void => {
    at += ms;
    for (const { until, wake } of sleepers) if (until <= at) wake();
  };
  return { clock, advance };
}

const hourly = (clock: Clock) =>
  partial<World>({
    clock,
    log: silent,
    ceilings: { runSeconds: 3_600 },
    store: { run: async () => ({ id: RUN, origin: { kind: 'local', path: '/' } }) as RunRecord },
  });
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, fail) => signal.addEventListener('abort', () => fail(signal.reason)));

function opened(journal: Journal): Engine {
  const engine = memoryEngine({ journal });
  cleanUp.push(() => engine.shutdown(0));
  return engine;
}

test('the working time before a crash counts, and the time without a process does not', async () => {
  const { clock, advance } = handClock();
  const world = hourly(clock);
  let judging = Promise.withResolvers<void>();
  const begun: string[] = [];
  const flows: Flows = {
    async run(context) {
      const time = workTimeOf(60 * MINUTE);
      const stage = stagesOf(world, context, RUN, time);
      await stage('brief', async () => advance(40 * MINUTE));
      const judged = await stage('judge', ({ signal }) => {
        begun.push('judge');
        judging.resolve();
        return untilAborted(signal);
      });
      return [judged, await stage('review', async () => begun.push('review'))];
    },
    candidate: async () => null,
    examination: async () => null,
  };
  const journal = newJournal();
  const first = opened(journal);
  await first.launch(flows);
  await first.start(RUN, {});
  await judging.promise;
  await first.shutdown(0);

  advance(48 * 60 * MINUTE);
  judging = Promise.withResolvers<void>();
  const second = opened(journal);
  await second.launch(flows);
  await judging.promise;
  advance(19 * MINUTE);
  await new Promise((settle) => setImmediate(settle));
  expect(await second.status(RUN)).toEqual({ kind: 'running' });
  advance(MINUTE);

  const tooLong = { kind: 'fault', fault: expect.objectContaining({ code: 'RUN_TOO_LONG' }) };
  expect(await second.settled(RUN)).toEqual({ kind: 'done', value: [tooLong, tooLong] });
  expect(begun).toEqual(['judge', 'judge']);
});

test('a cancelled step is not reported as too long', async () => {
  const cancel = new AbortController();
  const { clock, advance } = handClock();
  const within = { signal: cancel.signal, leftMs: MINUTE };
  const ended = executeStage(hourly(clock), 'judge', within, untilAborted);
  cancel.abort();
  advance(2 * MINUTE);
  await expect(ended).rejects.toThrow('cancelled');
});

describe('the working time of a run', () => {
  const remembered = (...results: readonly unknown[]) => {
    const left = [...results];
    return partial<FlowContext>({ step: async <T>() => left.shift() as T });
  };
  const world = hourly(handClock().clock);
  const ok = { kind: 'ok', value: null };

  test('counts the longest of parallel stages', async () => {
    const time = workTimeOf(60 * MINUTE);
    const context = remembered({ ...ok, elapsed: 10 * MINUTE }, { ...ok, elapsed: 25 * MINUTE });
    const stage = stagesOf(world, context, RUN, time);
    const both = [stage('brief', async () => null), stage('base', async () => null)];
    expect(await Promise.all(both)).toEqual([ok, ok]);
    expect(time.left()).toBe(35 * MINUTE);
  });

  test('counts an examination on another machine, and the next one gets the rest', async () => {
    const children: ChildInput[] = [];
    const examined = { kind: 'ok', value: 'examined' };
    const context = partial<FlowContext>({
      patched: async () => true,
      step: async <T>() => ({ kind: 'ok', value: { partition: 'p' } }) as T,
      async fanOut<T>(inputs: readonly ChildInput[]): Promise<readonly ChildResult<T>[]> {
        children.push(...inputs);
        return [{ kind: 'done', value: { ...examined, elapsed: 40 * MINUTE } as T }];
      },
    });
    const baseRun = { sha256: 'aa', bytes: 2 };
    const rounds = [true, true, false];
    const end = await examineRounds(
      world,
      context,
      { runId: RUN, baseRun },
      workTimeOf(60 * MINUTE),
      async () => Boolean(rounds.shift()),
    );
    expect(end).toEqual(examined);
    expect(children.map(({ input }) => (input as { leftMs: number }).leftMs)).toEqual([
      60 * MINUTE,
      20 * MINUTE,
      0,
    ]);
    const here = { step: (_: string, work: (signal: AbortSignal) => unknown) => work(cleanSignal) };
    const last = await examineHere(world, here as FlowContext, { runId: RUN, baseRun, leftMs: 0 });
    expect(last).toMatchObject({ kind: 'fault', fault: { code: 'RUN_TOO_LONG' } });
  });
});

test('coders get no more time than their run has left, and the longest counts', async () => {
  const { clock, advance } = handClock();
  const walls: number[] = [];
  const script = {
    settings: { candidates: 1, timeout: { candidate: '1h' } },
    found: () => ({}) as Evidence,
    coders: {
      A: async ({ limits }: { limits: { wallMs: number } }) => {
        walls.push(limits.wallMs);
        advance(limits.wallMs);
        return 'done' as const;
      },
    },
  };
  const { world: usual } = await codingWorld(script);
  const world: World = { ...usual, clock };
  const engine = opened(newJournal());
  const ends: StageResult<unknown>[] = [];
  await played(engine, {
    ...flowsOf(world, script),
    async run(context) {
      const time = workTimeOf(10 * MINUTE);
      const stage = stagesOf(world, context, RUN, time);
      await stage('brief', async () => advance(4 * MINUTE));
      ends.push(await code(world, context, { runId: RUN, time }, stage, async () => 0));
      ends.push(await stage('judge', async () => expect.unreachable()));
      return null;
    },
  });
  expect(walls).toEqual([6 * MINUTE]);
  expect((await world.store.candidates(RUN)).map(({ state, ms }) => [state, ms])).toEqual([
    ['coded', 6 * MINUTE],
  ]);
  expect(ends).toMatchObject([
    { kind: 'ok', value: 'coded' },
    { kind: 'fault', fault: { code: 'RUN_TOO_LONG' } },
  ]);
});
