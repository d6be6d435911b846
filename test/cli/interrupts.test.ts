import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { listenForInterrupt } from '../../src/cli/interrupt.ts';
import { onPresses, type Terminal } from '../../src/shell.ts';
import { shellOver } from './shell.ts';

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
      outColour: false,
      live: null,
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
  const { surroundings, signal, exits, said } = terminal();
  const stopping = listenForInterrupt(surroundings, 'r0000000001');
  expect(stopping.wanted()).toBe(false);
  signal();
  expect(stopping.wanted()).toBe(true);
  vi.advanceTimersByTime(1_500);
  signal();
  await vi.advanceTimersByTimeAsync(100);
  expect(exits).toEqual([130]);
  expect(said.join('')).not.toContain('resume');
});

test('a second interrupt exits although nothing closes, and names the command that continues', async () => {
  const { surroundings, signal, exits, said } = terminal();
  const stopping = listenForInterrupt(surroundings, 'r0000000001');
  stopping.opened({ world: {} as never, close: () => new Promise<never>(() => {}) });
  stopping.begun();
  signal();
  vi.advanceTimersByTime(1_500);
  signal();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(exits).toEqual([]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(exits).toEqual([130]);
  expect(said.join('')).toContain('runoff resume r0000000001');
});

test('a failure to close does not prevent the exit', async () => {
  const { surroundings, signal, exits } = terminal();
  const stopping = listenForInterrupt(surroundings, 'r0000000001');
  stopping.opened({ world: {} as never, close: () => Promise.reject(new Error('no database')) });
  signal();
  vi.advanceTimersByTime(1_500);
  signal();
  await vi.advanceTimersByTimeAsync(100);
  expect(exits).toEqual([130]);
});

test('`select` ends on Ctrl-C while it waits for a line', async () => {
  const handlers = new Set<() => void>();
  const { type, out, err } = shellOver(
    {},
    {
      cores: 1,
      onInterrupt(handler) {
        handlers.add(handler);
        return () => handlers.delete(handler);
      },
      lines: (signal) => createInterface({ input: new PassThrough(), ...(signal ? { signal } : {}) }),
    },
  );
  const ended = type('select');
  for (const handler of handlers) handler();
  expect(await ended).toBe(130);
  expect([out(), err(), handlers.size]).toEqual(['', '', 0]);
});
