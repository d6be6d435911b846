import { expect, test } from 'vitest';
import { openCommandQueue } from '../../src/commands/command-queue.ts';
import type { CommandRecord } from '../../src/ports/index.ts';

const commandOf = (id: number, text: string): CommandRecord => ({
  id: `comment:${id}`,
  place: {
    installationId: 1,
    repositoryId: 42,
    owner: 'acme',
    name: 'lists',
    thread: 7,
    comment: id,
    on: 'conversation',
    isPull: false,
  },
  by: { id: 1, login: 'mona' },
  text: `/auto-dev ${text}`,
  at: id,
});

test('a command that arrives as two queues end never runs in parallel with another of its repository', async () => {
  for (let moments = 0; moments < 30; moments += 1) {
    const going = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    const end = Promise.withResolvers<void>();
    let working = 0;
    let most = 0;
    const queue = openCommandQueue({
      isLikelyAllowed: () => true,
      check: async () => true,
      isAtWork: async () => true,
      process: async ({ place }) => {
        if (place.comment < 10) return going[place.comment === 1 ? 0 : 1].promise;
        working += 1;
        most = Math.max(most, working);
        await end.promise;
        working -= 1;
      },
    });
    queue.add(commandOf(1, 'status'));
    queue.add(commandOf(2, 'cancel'));
    await new Promise((resolve) => setImmediate(resolve));
    const between = async () => {
      for (let n = 0; n < moments; n += 1) await null;
      queue.add(commandOf(11, 'status'));
    };
    going[0].resolve();
    void between();
    going[1].resolve();
    await new Promise((resolve) => setImmediate(resolve));
    queue.add(commandOf(12, 'status'));
    await new Promise((resolve) => setImmediate(resolve));
    end.resolve();
    await queue.idle();
    expect([moments, most]).toEqual([moments, 1]);
  }
});
