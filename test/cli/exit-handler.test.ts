import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { exitHandler } from '../../src/cli/index.ts';
import type { TerminalRuntime } from '../../src/shell.ts';
import { partial } from '../world/partial.ts';
import { shellOver } from './shell.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A command whose database answers nothing until it is closed; then it fails. */
function waitingCommand({ opens = Promise.resolve(), closes = Promise.resolve() } = {}) {
  const handlers = new Set<() => void>();
  const happened: string[] = [];
  const tell = (text: string) => void happened.push(text);
  const ending = exitHandler({
    screen: {
      ...{ out: tell, err: tell, outIsTerminal: false, width: null },
      ...{ colour: false, outColour: false, live: null },
    },
    onInterrupt(handler) {
      handlers.add(handler);
      return () => handlers.delete(handler);
    },
    exit: (code) => tell(`exit ${code}`),
  });
  const answer = Promise.withResolvers<never>();
  // It is rejected even if nobody has asked yet.
  answer.promise.catch(() => {});
  let closed: Promise<void> | null = null;
  const runtime = partial<TerminalRuntime>({
    world: { store: { runs: () => answer.promise } },
    async close() {
      answer.reject(new Error('the connection was closed'));
      closed ??= closes.then(() => tell('closed'));
      await closed;
    },
  });
  const { type } = shellOver(
    {},
    { ...ending.terminal, open: () => ending.follow(opens.then(() => runtime)) },
  );
  return {
    ...{ ending, happened, type, handlers },
    async signal() {
      for (const handler of handlers) handler();
      await vi.advanceTimersByTimeAsync(1_500);
    },
  };
}

test('a reading command closes its database on Ctrl-C, and says nothing of what fails by that', async () => {
  const { type, signal, happened } = waitingCommand();
  void type('runs');
  await vi.advanceTimersByTimeAsync(0);
  await signal();
  expect(happened).toEqual(['closed', 'exit 130']);
});

test('a command that shows its progress elsewhere prints, as with --json', () => {
  const { ending, happened } = waitingCommand();
  const plain = { ...ending.terminal.screen, live: null };
  plain.err('Run r1.');
  plain.out('{}');
  expect(happened).toEqual(['Run r1.', '{}']);
});

test('a database that is still starting is closed, too', async () => {
  const opens = Promise.withResolvers<void>();
  const { type, signal, happened } = waitingCommand({ opens: opens.promise });
  void type('leaderboard');
  await signal();
  expect(happened).toEqual([]);
  opens.resolve();
  await vi.advanceTimersByTimeAsync(0);
  expect(happened).toEqual(['closed', 'exit 130']);
});

test('a second Ctrl-C exits although nothing closes, and so does time', async () => {
  const never = new Promise<void>(() => {});
  const pressed = waitingCommand({ closes: never });
  void pressed.type('runs');
  await pressed.signal();
  expect(pressed.happened).toEqual([]);
  await pressed.signal();
  expect(pressed.happened).toEqual(['exit 130']);
  const waited = waitingCommand({ closes: never });
  void waited.type('runs');
  await waited.signal();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(waited.happened).toEqual(['exit 130']);
});

test('output that nobody reads closes the database as well', async () => {
  const { type, ending, happened } = waitingCommand();
  void type('runs');
  await Promise.all([ending.end(0), ending.end(0)]);
  expect(happened).toEqual(['closed', 'exit 0']);
});

test('a command that listens for Ctrl-C itself is not ended, and one that has closed does not listen', async () => {
  const { ending, happened, signal, handlers } = waitingCommand();
  const opened = await ending.follow(Promise.resolve({ close: async () => {} }));
  const release = ending.terminal.onInterrupt(() => happened.push('pager'));
  await signal();
  expect(happened).toEqual(['pager']);
  release();
  await opened.close();
  expect(handlers.size).toBe(0);
});
