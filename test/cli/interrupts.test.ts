import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { listenForInterrupt } from '../../src/cli/run.ts';
import { onPresses, type Terminal } from '../../src/shell.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A terminal of which only Ctrl-C is used. */
function terminal() {
  const handlers = new Set<() => void>();
  const said: string[] = [];
  const exits: number[] = [];
  const surroundings: Terminal = {
    screen: {
      out: () => {},
      err: (text) => said.push(text),
      outIsTerminal: false,
      width: null,
      colour: false,
    },
    onInterrupt(handler) {
      handlers.add(handler);
      return () => handlers.delete(handler);
    },
    exit: (code) => exits.push(code),
  };
  const signal = () => {
    for (const handler of handlers) handler();
  };
  return { surroundings, said, exits, signal };
}

test('an interrupt that arrives twice counts once, and a later one is the next', () => {
  const { surroundings, signal } = terminal();
  const presses: number[] = [];
  const dispose = onPresses(surroundings.onInterrupt, (press) => presses.push(press));
  signal();
  vi.advanceTimersByTime(20);
  signal();
  expect(presses).toEqual([1]);
  vi.advanceTimersByTime(1_000);
  signal();
  expect(presses).toEqual([1, 2]);
  dispose();
  vi.advanceTimersByTime(5_000);
  signal();
  expect(presses).toEqual([1, 2]);
});

test('an interrupt before anything is open is remembered, and the next one exits', async () => {
  const { surroundings, signal, exits } = terminal();
  const stopping = listenForInterrupt(surroundings, 'r0000000001');
  expect(stopping.wanted()).toBe(false);
  signal();
  expect(stopping.wanted()).toBe(true);
  await stopping.idle();
  vi.advanceTimersByTime(1_500);
  signal();
  await vi.advanceTimersByTimeAsync(100);
  expect(exits).toEqual([130]);
});

test('a second interrupt exits although nothing closes', async () => {
  const { surroundings, signal, exits, said } = terminal();
  const stopping = listenForInterrupt(surroundings, 'r0000000001');
  const never = () => new Promise<never>(() => {});
  const world = { store: { run: never } } as never;
  stopping.opened({ world, close: never });
  stopping.begun();
  signal();
  vi.advanceTimersByTime(1_500);
  signal();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(exits).toEqual([]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(exits).toEqual([130]);
  expect(said.join('')).toContain('runoff cancel r0000000001');
});

test('a failed cancellation is reported, and the next interrupt repeats it before exiting', async () => {
  const { surroundings, signal, exits, said } = terminal();
  let looks = 0;
  const run = async () => {
    looks += 1;
    throw new Error('no database');
  };
  const stopping = listenForInterrupt(surroundings, 'r0000000001');
  stopping.opened({ world: { store: { run } } as never, close: async () => {} });
  signal();
  expect(looks).toBe(0);
  stopping.begun();
  await stopping.idle();
  expect(said.join('')).toContain('Cancelling the run failed: Error: no database');
  vi.advanceTimersByTime(1_500);
  signal();
  await vi.advanceTimersByTimeAsync(100);
  expect(looks).toBe(2);
  expect(exits).toEqual([130]);
});
