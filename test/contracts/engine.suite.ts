import { afterEach, describe, expect, test } from 'vitest';
import { Fault } from '../../src/core/model/index.ts';
import type { ChildResult, Engine, FlowContext, Flows, QueueEntry } from '../../src/ports/index.ts';

/** Durable state that engines can be opened on, one after the other. */
export interface EngineWorld {
  engine(): Engine;
  close(): Promise<void>;
}

/** How many candidates run at a time in the worlds that the suite is given. */
export const CANDIDATES_AT_A_TIME = 2;
/** How many runs have a place at a time there. */
export const RUNS_AT_A_TIME = 2;

type Body = (context: FlowContext, input: unknown) => Promise<unknown>;
const nothing: Body = async () => null;
const flowsOf = (run: Body, candidate: Body = nothing): Flows => ({
  run,
  candidate,
  examination: nothing,
});

/** Something a test waits for, or makes a step wait for. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** Resolves when the signal aborts, the way a coder's process ends. */
const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((settle) => {
    if (signal.aborted) settle();
    else signal.addEventListener('abort', () => settle(), { once: true });
  });

export function engineContract(name: string, open: () => Promise<EngineWorld>): void {
  describe(`engine: ${name}`, () => {
    const worlds: EngineWorld[] = [];
    const engines: Engine[] = [];

    async function world() {
      const opened = await open();
      worlds.push(opened);
      return {
        async launched(flows: Flows): Promise<Engine> {
          const engine = opened.engine();
          engines.push(engine);
          await engine.launch(flows);
          return engine;
        },
      };
    }
    const launched = async (run: Body, candidate?: Body): Promise<Engine> =>
      (await world()).launched(flowsOf(run, candidate));

    afterEach(async () => {
      for (const engine of engines.splice(0)) await engine.shutdown(0);
      for (const opened of worlds.splice(0)) await opened.close();
    });

    describe('runs', () => {
      test('nobody works under a name that no process has', async () => {
        const engine = await launched(async () => undefined);
        expect(await engine.activeExecutors(['cli-nobody'])).toEqual(new Set());
      });

      test('a run gets its input, and its result can be read', async () => {
        const engine = await launched(async ({ id, step }, input) => {
          const doubled = await step('double', async () => (input as { n: number }).n * 2);
          return { id, doubled };
        });
        await engine.start('r1', { n: 21 });
        const done = { kind: 'done', value: { id: 'r1', doubled: 42 } };
        expect(await engine.settled('r1')).toEqual(done);
        expect(await engine.status('r1')).toEqual(done);
        expect(await engine.settled('r1')).toEqual(done);
      });

      test('a run without a result is done, too', async () => {
        const engine = await launched(async () => undefined);
        await engine.start('r1', null);
        expect(await engine.settled('r1')).toEqual({ kind: 'done', value: undefined });
      });

      test('a run that rejects has failed, and says why', async () => {
        const engine = await launched(async () => {
          throw new Fault('BASE_BROKEN', 'The build fails on the base commit.');
        });
        await engine.start('r1', null);
        expect(await engine.settled('r1')).toEqual({
          kind: 'failed',
          why: 'The build fails on the base commit.',
        });
      });

      test('a run that was never started is unknown', async () => {
        const engine = await launched(nothing);
        expect(await engine.status('r9')).toEqual({ kind: 'unknown' });
        expect(await engine.settled('r9')).toEqual({ kind: 'unknown' });
      });

      test('a second start of the same run joins the first', async () => {
        const inputs: unknown[] = [];
        const go = gate();
        const engine = await launched(async ({ step }, input) => {
          await step('note', async () => {
            inputs.push(input);
            await go.opened;
          });
          return input;
        });
        await Promise.all([engine.start('r1', 'first'), engine.start('r1', 'first')]);
        await engine.start('r1', 'second');
        expect(await engine.status('r1')).toEqual({ kind: 'running' });
        go.open();
        expect(await engine.settled('r1')).toEqual({ kind: 'done', value: 'first' });
        await engine.start('r1', 'third');
        expect(await engine.settled('r1')).toEqual({ kind: 'done', value: 'first' });
        expect(inputs).toEqual(['first']);
      });

      test('several runs execute in parallel', async () => {
        const all = Array.from({ length: 5 }, gate);
        const engine = await launched(async ({ step }, input) => {
          const mine = input as number;
          await step('meet', async () => {
            all[mine]?.open();
            await Promise.all(all.map((one) => one.opened));
          });
          return mine;
        });
        for (const i of all.keys()) await engine.start(`r${i}`, i);
        for (const i of all.keys()) {
          expect(await engine.settled(`r${i}`)).toEqual({ kind: 'done', value: i });
        }
      });

      test('an engine that is not launched reports a fault', async () => {
        const opened = await open();
        worlds.push(opened);
        await expect(opened.engine().start('r1', null)).rejects.toMatchObject({ code: 'INTERNAL' });
        await expect(opened.engine().status('r1')).rejects.toMatchObject({ code: 'INTERNAL' });
        await opened.engine().shutdown();
      });
    });

    describe('steps', () => {
      test('a step gives back plain JSON, as it would be read after a restart', async () => {
        const engine = await launched(({ step }) =>
          step('look', async () => ({ at: new Date(0), gone: undefined, list: [1, undefined, 'x'] })),
        );
        await engine.start('r1', null);
        expect(await engine.settled('r1')).toEqual({
          kind: 'done',
          value: { at: '1970-01-01T00:00:00.000Z', list: [1, null, 'x'] },
        });
      });

      test("a step rejects with its work's error, and the run can continue", async () => {
        const fault = new Fault('MODEL_UNAVAILABLE', 'The model does not answer.');
        const caught: unknown[] = [];
        const engine = await launched(async ({ step }) => {
          for (const thrown of [fault, new TypeError('x is not a function')]) {
            await step('ask', async () => {
              throw thrown;
            }).catch((error: unknown) => caught.push(error));
          }
          return step('go on', async () => 'went on');
        });
        await engine.start('r1', null);
        expect(await engine.settled('r1')).toEqual({ kind: 'done', value: 'went on' });
        expect(caught[0]).toBe(fault);
        expect(caught[1]).toBeInstanceOf(TypeError);
      });

      test('steps may run in parallel', async () => {
        const [left, right] = [gate(), gate()];
        const engine = await launched(({ step }) =>
          Promise.all([
            step('left', async () => {
              left.open();
              await right.opened;
              return 'l';
            }),
            step('right', async () => {
              right.open();
              await left.opened;
              return 'r';
            }),
          ]),
        );
        await engine.start('r1', null);
        expect(await engine.settled('r1')).toEqual({ kind: 'done', value: ['l', 'r'] });
      });

      test('a result over 64 KiB is rejected, and the fault names the step', async () => {
        const engine = await launched(({ step }) => step('read the log', async () => 'ü'.repeat(40_000)));
        await engine.start('r1', null);
        expect(await engine.settled('r1')).toEqual({
          kind: 'failed',
          why: expect.stringContaining('step `read the log`'),
        });
        await expect(engine.start('r2', 'x'.repeat(70_000))).rejects.toMatchObject({ code: 'INTERNAL' });
        expect(await engine.status('r2')).toEqual({ kind: 'unknown' });
      });

      test('a run can catch the fault of a step that is too big', async () => {
        const engine = await launched(async ({ step }) =>
          step('big', async () => 'x'.repeat(70_000)).catch((error: Fault) => error.code),
        );
        await engine.start('r1', null);
        expect(await engine.settled('r1')).toEqual({ kind: 'done', value: 'INTERNAL' });
      });
    });

    describe('candidates', () => {
      const inputs = (count: number) =>
        Array.from({ length: count }, (_, i) => ({ key: `${i}`, partition: 'acme/shop', input: i }));

      test('results are in the order of the inputs, whichever ends first', async () => {
        const done = Array.from({ length: CANDIDATES_AT_A_TIME }, gate);
        const engine = await launched(
          ({ fanOut }) => fanOut(inputs(CANDIDATES_AT_A_TIME)),
          async ({ id, step }, input) => {
            const mine = input as number;
            // Each waits for the one after it.
            await step('code', () => done[mine + 1]?.opened ?? Promise.resolve());
            done[mine]?.open();
            return id;
          },
        );
        await engine.start('r1', null);
        expect(await engine.settled('r1')).toEqual({
          kind: 'done',
          value: [
            { kind: 'done', value: 'r1-0' },
            { kind: 'done', value: 'r1-1' },
          ],
        });
      });

      test('a failed candidate is a value and does not affect the others', async () => {
        const engine = await launched(
          ({ fanOut }) => fanOut(inputs(3)),
          ({ step }, input) =>
            step('code', async () => {
              if (input === 1) throw new Fault('MODEL_UNAVAILABLE', 'The model does not answer.');
              return input;
            }),
        );
        await engine.start('r1', null);
        expect(await engine.settled('r1')).toEqual({
          kind: 'done',
          value: [
            { kind: 'done', value: 0 },
            { kind: 'failed', why: 'The model does not answer.' },
            { kind: 'done', value: 2 },
          ],
        });
      });

      test('an empty list of candidates gives no results', async () => {
        const engine = await launched(({ fanOut }) => fanOut([]));
        await engine.start('r1', null);
        expect(await engine.settled('r1')).toEqual({ kind: 'done', value: [] });
      });

      test('as many run in parallel as there are slots, and all run eventually', async () => {
        let now = 0;
        let most = 0;
        const full = gate();
        const engine = await launched(
          ({ fanOut }) => fanOut(inputs(6)),
          ({ step }) =>
            step('code', async () => {
              now += 1;
              most = Math.max(most, now);
              if (now === CANDIDATES_AT_A_TIME) full.open();
              await full.opened;
              // Lets others in, if they could come.
              await new Promise((settle) => setTimeout(settle, 20));
              now -= 1;
            }),
        );
        await engine.start('r1', null);
        const ended = await engine.settled('r1');
        expect(ended.kind === 'done' ? (ended.value as ChildResult<null>[]) : []).toHaveLength(6);
        expect(most).toBe(CANDIDATES_AT_A_TIME);
      });
    });

    describe('cancelling', () => {
      test('the running step gets its signal, and no further step starts', async () => {
        const started = gate();
        const stopped = gate();
        const later: string[] = [];
        const engine = await launched(async ({ step }) => {
          await step('plan', async (signal) => {
            started.open();
            await untilAborted(signal);
            stopped.open();
            throw signal.reason;
          });
          await step('later', async () => later.push('ran'));
        });
        await engine.start('r1', null);
        await started.opened;
        await engine.cancel('r1');
        await stopped.opened;
        expect(await engine.settled('r1')).toEqual({ kind: 'cancelled' });
        expect(later).toEqual([]);
      });

      test('a cancelled run is settled when its last parallel step has cleaned up', async () => {
        const started = [gate(), gate()];
        const clean = gate();
        const done: string[] = [];
        const engine = await launched(async ({ step }) => {
          await Promise.all([
            step('plan', async (signal) => {
              started[0]?.open();
              await untilAborted(signal);
              throw signal.reason;
            }),
            step('build', async (signal) => {
              started[1]?.open();
              await untilAborted(signal);
              await clean.opened;
              done.push('cleaned up');
              throw signal.reason;
            }),
          ]);
        });
        await engine.start('r1', null);
        await Promise.all(started.map((one) => one.opened));
        await engine.cancel('r1');
        await expect.poll(() => engine.status('r1')).toEqual({ kind: 'cancelled' });
        const settled = engine.settled('r1').then((status) => [status, ...done]);
        // Long enough for a look at the status to end before the step does.
        for (const _ of [1, 2, 3]) await engine.status('r1');
        clean.open();
        expect(await settled).toEqual([{ kind: 'cancelled' }, 'cleaned up']);
      });

      test('a run that catches the abort of its step does not continue', async () => {
        const started = gate();
        const later: string[] = [];
        const tried = gate();
        const engine = await launched(async ({ step }) => {
          try {
            await step('plan', async (signal) => {
              started.open();
              await untilAborted(signal);
            });
          } catch {
            // As a pipeline does that writes down a failure.
          } finally {
            tried.open();
          }
          await step('later', async () => later.push('ran'));
        });
        await engine.start('r1', null);
        await started.opened;
        await engine.cancel('r1');
        await tried.opened;
        expect(await engine.settled('r1')).toEqual({ kind: 'cancelled' });
        expect(later).toEqual([]);
      });

      test('active candidates get their signal, and queued ones never start', async () => {
        const running = Array.from({ length: CANDIDATES_AT_A_TIME }, gate);
        const stopped = Array.from({ length: CANDIDATES_AT_A_TIME }, gate);
        const begun: number[] = [];
        const engine = await launched(
          ({ fanOut }) =>
            fanOut(Array.from({ length: 5 }, (_, i) => ({ key: `${i}`, partition: 'p', input: i }))),
          ({ step }, input) =>
            step('code', async (signal) => {
              const place = begun.push(input as number) - 1;
              running[place]?.open();
              await untilAborted(signal);
              stopped[place]?.open();
            }),
        );
        await engine.start('r1', null);
        await Promise.all(running.map((one) => one.opened));
        await engine.cancel('r1');
        await Promise.all(stopped.map((one) => one.opened));
        expect(await engine.settled('r1')).toEqual({ kind: 'cancelled' });
        // One whose turn to be started had not come is unknown.
        for (const i of [0, 1, 2, 3, 4]) {
          expect(['cancelled', 'unknown']).toContain((await engine.settled(`r1-${i}`)).kind);
        }
        await engine.shutdown(0);
        expect(begun).toHaveLength(CANDIDATES_AT_A_TIME);
      });

      test('an ended run keeps its result, and an unknown run stays unknown', async () => {
        const engine = await launched(async () => 'ended');
        await engine.start('r1', null);
        await engine.settled('r1');
        await engine.cancel('r1');
        await engine.cancel('r9');
        expect(await engine.status('r1')).toEqual({ kind: 'done', value: 'ended' });
        expect(await engine.status('r9')).toEqual({ kind: 'unknown' });
      });

      test('a cancelled run stays cancelled when it is started again', async () => {
        const started = gate();
        const engine = await launched(({ step }) =>
          step('plan', async (signal) => {
            started.open();
            await untilAborted(signal);
          }),
        );
        await engine.start('r1', null);
        await started.opened;
        await engine.cancel('r1');
        await engine.start('r1', null);
        expect(await engine.settled('r1')).toEqual({ kind: 'cancelled' });
      });
    });

    describe('waiting', () => {
      const LONG = 60_000;
      /** Waits as often as its input says, and tells how each wait ended. */
      const waits =
        (begun: { open(): void }, ms = LONG): Body =>
        async ({ step, wait }, input) => {
          await step('begin', async () => begun.open());
          const ends: string[] = [];
          for (let i = 0; i < (input as number); i++) ends.push(await wait('reply', ms));
          return ends;
        };
      const done = (value: unknown) => ({ kind: 'done', value });

      test('a signal wakes the flow that waits', async () => {
        const begun = gate();
        const engine = await launched(waits(begun));
        await engine.start('r1', 1);
        await begun.opened;
        await new Promise((settle) => setTimeout(settle, 100));
        expect(await engine.status('r1')).toEqual({ kind: 'running' });
        await engine.signal('r1', 'reply', 'comment:1');
        expect(await engine.settled('r1')).toEqual(done(['signalled']));
      });

      test('an early signal is kept for the wait, and ends only one wait', async () => {
        const go = gate();
        const begun = gate();
        const engine = await launched(async ({ step, wait }) => {
          await step('begin', async () => {
            begun.open();
            await go.opened;
          });
          return [await wait('reply', LONG), await wait('reply', LONG), await wait('reply', 50)];
        });
        await engine.start('r1', null);
        await begun.opened;
        await engine.signal('r1', 'reply', 'comment:1');
        await engine.signal('r1', 'reply', 'comment:2');
        go.open();
        expect(await engine.settled('r1')).toEqual(done(['signalled', 'signalled', 'timeout']));
      });

      test('the same key wakes a flow only once', async () => {
        const begun = gate();
        const engine = await launched(waits(begun, 400));
        await engine.start('r1', 2);
        await begun.opened;
        await engine.signal('r1', 'reply', 'comment:1');
        await engine.signal('r1', 'reply', 'comment:1');
        expect(await engine.settled('r1')).toEqual(done(['signalled', 'timeout']));
      });

      test('the same key wakes each flow and topic', async () => {
        const engine = await launched(async ({ wait }) => [
          await wait('reply', LONG),
          await wait('pick', LONG),
        ]);
        for (const id of ['r1', 'r2']) {
          await engine.start(id, null);
          await engine.signal(id, 'pick', 'comment:1');
          await engine.signal(id, 'reply', 'comment:1');
        }
        expect(await engine.settled('r1')).toEqual(done(['signalled', 'signalled']));
        expect(await engine.settled('r2')).toEqual(done(['signalled', 'signalled']));
      });

      test('without a signal a wait ends on time, however short it is', async () => {
        const begun = gate();
        const engine = await launched(waits(begun, 0));
        await engine.start('r1', 2);
        expect(await engine.settled('r1')).toEqual(done(['timeout', 'timeout']));
      });

      test("a waiting flow takes no candidate's slot", async () => {
        const places = CANDIDATES_AT_A_TIME + 1;
        const engine = await launched(
          async ({ wait, fanOut }, input) =>
            input === 'waits' ? wait('reply', LONG) : fanOut([{ key: 'A', partition: 'p', input: null }]),
          async () => 'coded',
        );
        for (let i = 0; i < places; i++) await engine.start(`r${i}`, 'waits');
        await engine.start('r9', 'codes');
        expect(await engine.settled('r9')).toEqual(done([{ kind: 'done', value: 'coded' }]));
        for (let i = 0; i < places; i++) await engine.signal(`r${i}`, 'reply', 'comment:1');
        for (let i = 0; i < places; i++) expect(await engine.settled(`r${i}`)).toEqual(done('signalled'));
      });

      test('a signal to an ended or unknown flow has no effect', async () => {
        const engine = await launched(async () => 'ended');
        await engine.start('r1', null);
        await engine.settled('r1');
        await engine.signal('r1', 'reply', 'comment:1');
        await engine.signal('r9', 'reply', 'comment:1');
        expect(await engine.status('r1')).toEqual(done('ended'));
        expect(await engine.status('r9')).toEqual({ kind: 'unknown' });
      });

      test('cancelling ends a wait, and no further step starts', async () => {
        const begun = gate();
        const left = gate();
        const later: string[] = [];
        const engine = await launched(async ({ step, wait }) => {
          await step('begin', async () => begun.open());
          try {
            await wait('reply', LONG);
          } finally {
            left.open();
          }
          await step('later', async () => later.push('ran'));
        });
        await engine.start('r1', null);
        await begun.opened;
        await new Promise((settle) => setTimeout(settle, 200));
        await engine.cancel('r1');
        expect(await engine.settled('r1')).toEqual({ kind: 'cancelled' });
        await engine.signal('r1', 'reply', 'comment:1');
        await left.opened;
        expect(later).toEqual([]);
      }, 20_000);

      test('an engine can stop during a wait, and the next one continues it with the remaining time', async () => {
        const durable = await world();
        const begun = gate();
        const ms = 3_000;
        const first = await durable.launched(flowsOf(waits(begun, ms)));
        const from = Date.now();
        await first.start('r1', 1);
        await begun.opened;
        await new Promise((settle) => setTimeout(settle, 300));
        await first.shutdown();
        expect(Date.now() - from).toBeLessThan(ms);

        const second = await durable.launched(flowsOf(waits(gate(), 20 * ms)));
        expect(await second.settled('r1')).toEqual(done(['timeout']));
        expect(Date.now() - from).toBeGreaterThanOrEqual(ms - 50);
        expect(Date.now() - from).toBeLessThan(4 * ms);
      }, 20_000);

      test('the result of a wait, and an unused signal, survive a restart', async () => {
        const durable = await world();
        const woken = gate();
        const run =
          (hold: boolean): Body =>
          async ({ step, wait }) => {
            const ends = [await wait('reply', LONG)];
            await step('woken', async (signal) => {
              woken.open();
              if (hold) await untilAborted(signal);
            });
            return [...ends, await wait('reply', LONG)];
          };
        const first = await durable.launched(flowsOf(run(true)));
        await first.start('r1', null);
        await first.signal('r1', 'reply', 'comment:1');
        await woken.opened;
        await first.signal('r1', 'reply', 'comment:2');
        await first.shutdown(0);
        const second = await durable.launched(flowsOf(run(false)));
        await second.signal('r1', 'reply', 'comment:1');
        expect(await second.settled('r1')).toEqual(done(['signalled', 'signalled']));
      });
    });

    describe('forgetting', () => {
      test('runs that ended before a time are deleted with their candidates, active ones are not', async () => {
        const go = gate();
        const ran: string[] = [];
        const engine = await launched(
          async ({ step, fanOut }, input) => {
            if (input === 'stays') return step('work', () => go.opened);
            return fanOut([{ key: 'A', partition: 'p', input: null }]);
          },
          async () => ran.push('coded'),
        );
        await engine.start('r1', 'ends');
        await engine.start('r2', 'stays');
        await engine.settled('r1');
        expect(await engine.forget(Date.now() - 60_000)).toBe(0);
        expect(await engine.status('r1')).toMatchObject({ kind: 'done' });
        expect(await engine.forget(Date.now() + 60_000)).toBe(1);
        expect(await engine.status('r1')).toEqual({ kind: 'unknown' });
        expect(await engine.status('r2')).toEqual({ kind: 'running' });
        // Its candidate too: else a second start would find that one's result.
        await engine.start('r1', 'ends');
        await engine.settled('r1');
        expect(ran).toHaveLength(2);
        go.open();
        expect(await engine.settled('r2')).toMatchObject({ kind: 'done' });
      });
    });

    describe('the run queue', () => {
      const label = { share: 'shop', priority: 1, since: 0 };
      /** Takes a place as its input says, is at work until its gate opens, and tells of both. */
      function works() {
        const begun: string[] = [];
        const gates = new Map<string, ReturnType<typeof gate>>();
        const of = (name: string) => {
          const found = gates.get(name) ?? gate();
          gates.set(name, found);
          return found;
        };
        /** Read at the moment in which the flow enters the queue. */
        const telling = (id: string, entry: QueueEntry): QueueEntry => ({
          ...entry,
          get share() {
            of(`${id} came`).open();
            return entry.share;
          },
        });
        const body: Body = async ({ id, step, waitForSlot }, input) => {
          await waitForSlot(telling(id, input as QueueEntry));
          await step('work', async (signal) => {
            begun.push(id);
            of(`${id} began`).open();
            await Promise.race([of(`${id} ends`).opened, untilAborted(signal)]);
          });
          return id;
        };
        const all = (ids: readonly string[], what: string) =>
          Promise.all(ids.map((id) => of(`${id} ${what}`).opened));
        return {
          body,
          begun,
          telling,
          came: (...ids: readonly string[]) => all(ids, 'came'),
          began: (...ids: readonly string[]) => all(ids, 'began'),
          end: (...ids: readonly string[]) => {
            for (const id of ids) of(`${id} ends`).open();
          },
        };
      }
      async function allDone(engine: Engine, ids: readonly string[]): Promise<void> {
        for (const id of ids) expect(await engine.settled(id)).toEqual({ kind: 'done', value: id });
      }

      test("a person's run precedes labels, then repositories take turns, then the older run", async () => {
        const { body, begun, came, began, end } = works();
        const engine = await launched(body);
        const first = ['r1', 'r2'];
        for (const id of first) await engine.start(id, label);
        await began(...first);
        const line: Readonly<Record<string, QueueEntry>> = {
          r3: { ...label, since: 2 },
          r4: { ...label, since: 1 },
          r5: { ...label, share: 'bank', since: 9 },
          r6: { ...label, priority: 0, since: 10 },
        };
        for (const [id, entry] of Object.entries(line)) await engine.start(id, entry);
        await came(...Object.keys(line));
        const turns = [
          ['r1', 'r6'],
          ['r6', 'r5'],
          ['r2', 'r4'],
          ['r5', 'r3'],
        ] as const;
        for (const [over, next] of turns) {
          end(over);
          await began(next);
        }
        expect(begun.slice(RUNS_AT_A_TIME)).toEqual(['r6', 'r5', 'r4', 'r3']);
        end('r3', 'r4');
        await allDone(engine, [...first, ...Object.keys(line)]);
      });

      test('a run that waits for people holds no slot, and continues before new runs', async () => {
        const { body, begun, telling, came, began, end } = works();
        const back = gate();
        const asking: Body = async (context) => {
          await context.waitForSlot(telling(context.id, label));
          await context.step('ask', async () => null);
          await context.wait('reply', 60_000);
          back.open();
          await context.step('answered', async () => begun.push('answered'));
          return context.id;
        };
        const engine = await launched((context, input) =>
          input === null ? asking(context, null) : body(context, input),
        );
        await engine.start('r0', null);
        await came('r0');
        for (const id of ['r1', 'r2']) await engine.start(id, label);
        // Both: the one that asks has given its place up.
        await began('r1', 'r2');
        await engine.start('r3', { ...label, priority: 0 });
        await came('r3');
        await engine.signal('r0', 'reply', 'comment:1');
        await back.opened;
        end('r1');
        await began('r3');
        end('r2', 'r3');
        await allDone(engine, ['r0', 'r1', 'r2', 'r3']);
      });

      test('a run that had a slot before a crash precedes new runs', async () => {
        const durable = await world();
        const before = works();
        const first = await durable.launched(flowsOf(before.body));
        await first.start('r1', label);
        await before.began('r1');
        await first.shutdown(0);

        const { body, begun, came, began, end } = works();
        const back = gate();
        const second = await durable.launched(
          flowsOf(async (context, input) => {
            if (context.id === 'r1') await back.opened;
            return body(context, input);
          }),
        );
        for (const id of ['r2', 'r3']) await second.start(id, label);
        await began('r2', 'r3');
        await second.start('r4', { ...label, share: 'bank', priority: 0 });
        await came('r4');
        back.open();
        await came('r1');
        end('r2');
        await began('r1');
        end('r3');
        await began('r4');
        expect(begun.slice(RUNS_AT_A_TIME)).toEqual(['r1', 'r4']);
        end('r1', 'r4');
        await allDone(second, ['r1', 'r2', 'r3', 'r4']);
      });

      test('a cancelled run leaves the queue', async () => {
        const { body, begun, came, began, end } = works();
        const engine = await launched(body);
        for (const id of ['r1', 'r2']) await engine.start(id, label);
        await began('r1', 'r2');
        for (const id of ['r3', 'r4']) await engine.start(id, label);
        await came('r3', 'r4');
        await engine.cancel('r3');
        expect(await engine.settled('r3')).toEqual({ kind: 'cancelled' });
        await engine.cancel('r1');
        await began('r4');
        expect(begun.slice(RUNS_AT_A_TIME)).toEqual(['r4']);
        end('r2', 'r4');
        await allDone(engine, ['r2', 'r4']);
      });
    });

    describe('stopping and resuming', () => {
      test('a step under way is waited for; the next engine repeats no finished step', async () => {
        const durable = await world();
        const ran: string[] = [];
        const inPlan = gate();
        const planned = gate();
        const flows = (pass: number) =>
          flowsOf(async ({ step }) => {
            const brief = await step('brief', async () => ran.push(`brief ${pass}`));
            await step('plan', async () => {
              inPlan.open();
              await planned.opened;
              ran.push(`plan ${pass}`);
            });
            await step('publish', async () => ran.push(`publish ${pass}`));
            return brief;
          });
        const first = await durable.launched(flows(1));
        await first.start('r1', null);
        await inPlan.opened;
        const leaving = first.shutdown();
        planned.open();
        await leaving;
        expect(ran).toEqual(['brief 1', 'plan 1']);

        const second = await durable.launched(flows(2));
        expect(await second.settled('r1')).toEqual({ kind: 'done', value: 1 });
        expect(ran).toEqual(['brief 1', 'plan 1', 'publish 2']);
      });

      test('a step that exceeds the grace period is stopped, and runs again at the next launch', async () => {
        const durable = await world();
        const coding = gate();
        const told = gate();
        const first = await durable.launched(
          flowsOf(
            ({ fanOut }) => fanOut([{ key: 'A', partition: 'p', input: null }]),
            ({ step }) =>
              step('code', async (signal) => {
                coding.open();
                await untilAborted(signal);
                told.open();
                return 'half a patch';
              }),
          ),
        );
        await first.start('r1', null);
        await coding.opened;
        await first.shutdown(0);
        await told.opened;

        const second = await durable.launched(
          flowsOf(
            ({ fanOut }) => fanOut([{ key: 'A', partition: 'p', input: null }]),
            ({ step }) => step('code', async () => 'a whole patch'),
          ),
        );
        expect(await second.settled('r1')).toEqual({
          kind: 'done',
          value: [{ kind: 'done', value: 'a whole patch' }],
        });
      });

      test('a step that waits for others does not delay a shutdown, and runs again at the next launch', async () => {
        const durable = await world();
        const watching = gate();
        let told = false;
        const flows = (pass: number) =>
          flowsOf(async ({ step }) => {
            const brief = await step('brief', async () => pass);
            const watch = async (signal: AbortSignal) => {
              if (pass > 1) return 'all coders have ended';
              watching.open();
              await untilAborted(signal);
              told = true;
              throw new Error('The watch is over.');
            };
            return [brief, await step('watch', watch, { abortOnShutdown: true })];
          });
        const first = await durable.launched(flows(1));
        await first.start('r1', null);
        await watching.opened;
        // Longer than the test may take.
        await first.shutdown(10 * 60_000);
        expect(told).toBe(true);

        const second = await durable.launched(flows(2));
        expect(await second.settled('r1')).toEqual({ kind: 'done', value: [1, 'all coders have ended'] });
      });

      test('a step that may be interrupted by a shutdown keeps what it returns before, and its own failure', async () => {
        const engine = await launched(async ({ step }) => {
          const failed = await step('fails', async () => Promise.reject(new Error('Why.')), {
            abortOnShutdown: true,
          }).catch((error: Error) => error.message);
          return [failed, await step('works', async () => 'done', { abortOnShutdown: true })];
        });
        await engine.start('r1', null);
        expect(await engine.settled('r1')).toEqual({ kind: 'done', value: ['Why.', 'done'] });
      });

      test('a fault is the same on replay', async () => {
        const durable = await world();
        const waiting = gate();
        const run =
          (pass: number): Body =>
          async ({ step }) => {
            const caught = await step('ask', async () => {
              throw new Fault('MODEL_PRICE_UNKNOWN', `No price, pass ${pass}.`);
            }).catch((error: unknown) => error);
            await step('wait', async (signal) => {
              waiting.open();
              if (pass === 1) await untilAborted(signal);
            });
            throw caught;
          };
        const first = await durable.launched(flowsOf(run(1)));
        await first.start('r1', null);
        await waiting.opened;
        await first.shutdown(0);
        const caught: unknown[] = [];
        const second = await durable.launched(
          flowsOf((context, input) =>
            run(2)(context, input).catch((error: unknown) => {
              caught.push(error);
              return 'caught';
            }),
          ),
        );
        expect(await second.settled('r1')).toEqual({ kind: 'done', value: 'caught' });
        expect(caught[0]).toBeInstanceOf(Fault);
        expect(caught[0]).toMatchObject({ code: 'MODEL_PRICE_UNKNOWN', message: 'No price, pass 1.' });
      });

      test('a patch of a flow applies to runs that have not passed it, permanently', async () => {
        const durable = await world();
        const ran: string[] = [];
        const gates = { early: gate(), late: gate() };
        const stuck = (name: 'early' | 'late') => async (signal: AbortSignal) => {
          gates[name].open();
          await untilAborted(signal);
        };
        const first = await durable.launched(
          flowsOf(async ({ step }, input) => {
            await step('brief', input === 'early' ? stuck('early') : async () => void ran.push('late brief'));
            await step('code', async () => ran.push('late code'));
            await step('publish', stuck('late'));
          }),
        );
        await first.start('r1', 'early');
        await first.start('r2', 'late');
        await Promise.all([gates.early.opened, gates.late.opened]);
        await first.shutdown(0);

        const asking = gate();
        const changed =
          (pass: number): Body =>
          async ({ step, patched }, input) => {
            await step('brief', async () => ran.push(`${input} brief`));
            const asks = await patched('ask');
            if (asks) await step('ask', async () => ran.push(`${input} ask`));
            await step('code', async (signal) => {
              ran.push(`${input} code`);
              asking.open();
              if (pass === 2) await untilAborted(signal);
            });
            return { asks, publish: await step('publish', async () => pass) };
          };
        const second = await durable.launched(flowsOf(changed(2)));
        expect(await second.settled('r2')).toEqual({ kind: 'done', value: { asks: false, publish: 2 } });
        await asking.opened;
        await second.shutdown(0);

        const third = await durable.launched(flowsOf(changed(3)));
        expect(await third.settled('r1')).toEqual({ kind: 'done', value: { asks: true, publish: 3 } });
        expect(ran.toSorted()).toEqual([
          'early ask',
          'early brief',
          'early code',
          'early code',
          'late brief',
          'late code',
        ]);
      });

      test('a waiter for a run learns when the engine stops', async () => {
        const started = gate();
        const engine = await launched(({ step }) =>
          step('plan', async (signal) => {
            started.open();
            await untilAborted(signal);
          }),
        );
        await engine.start('r1', null);
        await started.opened;
        const waiting = engine.settled('r1').catch((fault: unknown) => fault);
        await engine.shutdown(0);
        expect(await waiting).toMatchObject({ code: 'INTERNAL' });
      });

      test('a run that ended before is not run again', async () => {
        const durable = await world();
        const first = await durable.launched(flowsOf(async () => 'first'));
        await first.start('r1', null);
        await first.settled('r1');
        await first.shutdown();
        const second = await durable.launched(flowsOf(async () => 'second'));
        expect(await second.settled('r1')).toEqual({ kind: 'done', value: 'first' });
      });
    });
  });
}
