import { openRunQueue, openRunSlot, type RunSlot } from '../../src/adapters/engine/run-queue.ts';
import { Fault, type RunId } from '../../src/core/model/index.ts';
import type {
  ChildInput,
  ChildResult,
  Engine,
  FlowContext,
  FlowStatus,
  Flows,
  StepOptions,
} from '../../src/ports/index.ts';

type Ended = Exclude<FlowStatus, { kind: 'running' } | { kind: 'unknown' }>;
type Outcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown };

interface FlowRecord {
  readonly id: string;
  readonly kind: keyof Flows;
  readonly input: unknown;
  readonly parent: string | null;
  /** Finished steps in the order in which they were called. */
  readonly steps: Map<number, Outcome>;
  /** When each wait that began is over, by its place; milliseconds since 1970 UTC. */
  readonly deadlines: Map<number, number>;
  /** Every signal by topic and key; one that woke a wait stays, so that it wakes no other. */
  readonly signals: Map<string, { readonly topic: string; spent: boolean }>;
  status: FlowStatus;
  /** Milliseconds since 1970 UTC. */
  endedAt?: number;
}

/** What outlives a memory engine: hand the same journal to the next one, and it goes on where the last one stopped. */
export type Journal = Map<string, FlowRecord>;
export const newJournal = (): Journal => new Map();

const MAX_BYTES = 64 * 1024;
/** `setTimeout` fires at once beyond it. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** As a database would keep it. */
function kept(what: string, value: unknown): unknown {
  const text = JSON.stringify(value);
  if (text === undefined) return undefined;
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_BYTES) throw new Fault('INTERNAL', `${what} is ${bytes} bytes of JSON: too big.`);
  return JSON.parse(text);
}

class Cancelled extends Error {}

const frozen = <T>(): Promise<T> => new Promise<T>(() => undefined);

export interface MemoryEngineOptions {
  readonly journal?: Journal;
  /** Candidates at a time; default 3. */
  readonly concurrency?: number;
  /** Runs at a time; default 8. */
  readonly runsAtOnce?: number;
}

/** The engine port within one process: same promises, but nothing survives the process. */
export function memoryEngine(options: MemoryEngineOptions = {}): Engine {
  const journal = options.journal ?? newJournal();
  const line = openRunQueue({ slots: options.runsAtOnce ?? 8 });
  const signals = new Map<string, AbortController>();
  const ends = new Map<string, { readonly promise: Promise<void>; readonly settle: () => void }>();
  /** Under way, each with the id of its flow. */
  const steps = new Map<Promise<unknown>, string>();
  const waiting: (() => void)[] = [];
  /** Rings for whoever waits for a signal of a flow. */
  const bells = new Map<string, Set<() => void>>();
  let free = options.concurrency ?? 3;
  let flows: Flows | null = null;
  let stopping = false;
  const shutdown = new AbortController();

  const launched = (): Flows => {
    if (flows === null)
      throw new Fault('INTERNAL', 'The engine is used before `launch` or after `shutdown`.');
    return flows;
  };

  function endOf(id: string) {
    const found = ends.get(id);
    if (found !== undefined) return found;
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = { promise, settle: resolve };
    ends.set(id, end);
    return end;
  }

  /** Waits for the steps of a flow and its children that are under way. */
  const stepsOf = (id: string) =>
    Promise.allSettled(
      [...steps].flatMap(([step, flow]) => (flow === id || journal.get(flow)?.parent === id ? [step] : [])),
    );

  function finish(record: FlowRecord, status: Ended): void {
    if (record.status.kind === 'running') Object.assign(record, { status, endedAt: Date.now() });
    endOf(record.id).settle();
  }

  async function takePlace(): Promise<void> {
    if (free > 0) free -= 1;
    else await new Promise<void>((settle) => waiting.push(settle));
  }
  function givePlace(): void {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  }

  /** Until a bell of this flow rings, at most so long. */
  async function listen(id: string, ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const ringing = bells.get(id) ?? new Set();
    bells.set(id, ringing.add(resolve));
    const timer = setTimeout(resolve, Math.min(Math.max(ms, 0), LONGEST_TIMER_MS));
    await promise;
    clearTimeout(timer);
    ringing.delete(resolve);
  }
  const ring = (id: string): void => {
    for (const bell of bells.get(id) ?? []) bell();
  };

  async function waitFor(record: FlowRecord, place: number, topic: string, ms: number) {
    const until = record.deadlines.get(place) ?? Date.now() + ms;
    record.deadlines.set(place, until);
    for (;;) {
      if (record.status.kind === 'cancelled') throw new Cancelled('The run was cancelled.');
      if (stopping) return frozen<Outcome>();
      const signal = [...record.signals.values()].find((one) => one.topic === topic && !one.spent);
      if (signal === undefined && Date.now() < until) {
        await listen(record.id, until - Date.now());
        continue;
      }
      if (signal !== undefined) signal.spent = true;
      const outcome: Outcome = { ok: true, value: signal === undefined ? 'timeout' : 'signalled' };
      record.steps.set(place, outcome);
      return outcome;
    }
  }

  function contextOf(record: FlowRecord, signal: AbortSignal, ticket: RunSlot): FlowContext {
    let calls = 0;
    const live = () => {
      if (record.status.kind === 'cancelled') throw new Cancelled('The run was cancelled.');
    };
    async function once(name: string, work: () => Promise<unknown>): Promise<Outcome> {
      try {
        return { ok: true, value: kept(`The result of step \`${name}\``, await work()) };
      } catch (error) {
        return { ok: false, error };
      }
    }
    /** Written down before anybody hears of it, unless the engine has left by then. */
    async function recorded(place: number, step: Promise<Outcome>): Promise<Outcome> {
      const outcome = await step;
      if (!signal.aborted) record.steps.set(place, outcome);
      return outcome;
    }
    async function inFlight<T>(step: Promise<T>): Promise<T> {
      steps.set(step, record.id);
      return step.finally(() => steps.delete(step));
    }
    async function begun(
      place: number,
      name: string,
      work: (signal: AbortSignal) => Promise<unknown>,
      { abortOnShutdown = false }: StepOptions,
    ): Promise<Outcome> {
      await ticket.regain(signal);
      if (stopping) return frozen<Outcome>();
      if (!abortOnShutdown)
        return inFlight(
          recorded(
            place,
            once(name, () => work(signal)),
          ),
        );
      const outcome = await inFlight(once(name, () => work(AbortSignal.any([signal, shutdown.signal]))));
      if (!outcome.ok && shutdown.signal.aborted) return frozen<Outcome>();
      return recorded(place, Promise.resolve(outcome));
    }
    return {
      id: record.id,
      async step<T>(
        name: string,
        work: (signal: AbortSignal) => Promise<T>,
        options: StepOptions = {},
      ): Promise<T> {
        if (stopping) return frozen();
        live();
        const place = calls;
        calls += 1;
        const outcome = record.steps.get(place) ?? (await begun(place, name, work, options));
        live();
        if (signal.aborted) return frozen();
        if (!outcome.ok) throw outcome.error;
        return outcome.value as T;
      },
      async wait(topic, ms) {
        if (stopping) return frozen();
        live();
        const place = calls;
        calls += 1;
        ticket.release();
        const outcome = record.steps.get(place) ?? (await waitFor(record, place, topic, ms));
        live();
        return outcome.ok && outcome.value === 'signalled' ? 'signalled' : 'timeout';
      },
      async waitForSlot(entry) {
        if (stopping) return frozen();
        live();
        const place = calls;
        calls += 1;
        if (record.steps.has(place)) return ticket.restore(entry);
        await ticket.enter(entry, signal);
        record.steps.set(place, { ok: true, value: 'slot' });
      },
      async patched(name) {
        if (stopping) return frozen();
        live();
        const mark = `patch ${name}`;
        const outcome = record.steps.get(calls) ?? { ok: true, value: mark };
        if (!outcome.ok || outcome.value !== mark) return false;
        record.steps.set(calls, outcome);
        calls += 1;
        return true;
      },
      async fanOut<T>(inputs: readonly ChildInput[]): Promise<readonly ChildResult<T>[]> {
        if (stopping) return frozen();
        live();
        await ticket.regain(signal);
        const children = inputs.map((child) => {
          const id = `${record.id}-${child.key}`;
          begin(id, child.flow ?? 'candidate', kept(`The input of flow ${id}`, child.input), record.id);
          return id;
        });
        const results: ChildResult<T>[] = [];
        for (const id of children) {
          await endOf(id).promise;
          if (stopping) return frozen();
          results.push(resultOf<T>(journal.get(id)?.status));
        }
        live();
        return results;
      },
    };
  }

  function resultOf<T>(status: FlowStatus | undefined): ChildResult<T> {
    if (status?.kind === 'done') return { kind: 'done', value: status.value as T };
    return { kind: 'failed', why: status?.kind === 'failed' ? status.why : 'It was cancelled.' };
  }

  async function live(record: FlowRecord): Promise<void> {
    const controller = new AbortController();
    signals.set(record.id, controller);
    if (record.kind === 'candidate') await takePlace();
    const ticket = openRunSlot(line, record.id);
    try {
      if (stopping) return await frozen();
      const value = await launched()[record.kind](contextOf(record, controller.signal, ticket), record.input);
      finish(record, { kind: 'done', value: kept(`The result of flow ${record.id}`, value) });
    } catch (error) {
      finish(record, { kind: 'failed', why: error instanceof Error ? error.message : String(error) });
    } finally {
      ticket.release();
      if (record.kind === 'candidate') givePlace();
    }
  }

  function begin(id: string, kind: keyof Flows, input: unknown, parent: string | null): void {
    if (journal.has(id)) return;
    const record: FlowRecord = {
      id,
      kind,
      input,
      parent,
      steps: new Map(),
      deadlines: new Map(),
      signals: new Map(),
      status: { kind: 'running' },
    };
    journal.set(id, record);
    void live(record);
  }

  const status = async (id: RunId): Promise<FlowStatus> => {
    launched();
    return journal.get(id)?.status ?? { kind: 'unknown' };
  };

  return {
    // No other process can share it.
    activeExecutors: async () => new Set(),
    async launch(given) {
      flows = given;
      for (const record of [...journal.values()]) {
        if (record.status.kind === 'running') void live(record);
        else endOf(record.id).settle();
      }
    },
    async start(id, input) {
      launched();
      begin(id, 'run', kept(`The input of run ${id}`, input), null);
    },
    async settled(id) {
      const now = await status(id);
      if (now.kind !== 'unknown') await endOf(id).promise;
      await stepsOf(id);
      const then = await status(id);
      if (then.kind === 'running')
        throw new Fault('INTERNAL', `The engine was shut down while run ${id} was going on.`);
      return then;
    },
    status,
    async cancel(id) {
      launched();
      for (const record of journal.values()) {
        if (record.id !== id && record.parent !== id) continue;
        finish(record, { kind: 'cancelled' });
        signals.get(record.id)?.abort(new Cancelled('The run was cancelled.'));
        ring(record.id);
      }
    },
    async signal(id, topic, key) {
      launched();
      const record = journal.get(id);
      if (record === undefined || record.signals.has(`${topic}:${key}`)) return;
      record.signals.set(`${topic}:${key}`, { topic, spent: false });
      ring(id);
    },
    async forget(before) {
      launched();
      const ended = [...journal.values()].filter(
        ({ parent, endedAt }) => parent === null && endedAt !== undefined && endedAt < before,
      );
      for (const { id } of ended) {
        for (const one of [...journal.values()]) {
          if (one.id !== id && one.parent !== id) continue;
          journal.delete(one.id);
          ends.delete(one.id);
        }
      }
      return ended.length;
    },
    async shutdown(graceMs = 10_000) {
      if (flows === null) return;
      stopping = true;
      shutdown.abort(new Error('Runoff is shutting down.'));
      line.close();
      for (const id of bells.keys()) ring(id);
      const { promise: patience, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, graceMs);
      await Promise.race([Promise.allSettled(steps.keys()), patience]);
      clearTimeout(timer);
      flows = null;
      for (const controller of signals.values()) controller.abort(new Error('Runoff is shutting down.'));
      for (const end of ends.values()) end.settle();
    },
  };
}
