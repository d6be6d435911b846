import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { openDbosEngine } from '../../../src/adapters/engine/index.ts';
import { priorityOf } from '../../../src/core/model/index.ts';
import { freshDatabase } from '../../world/database.ts';
import { silent } from '../../world/silent-log.ts';

test('candidates of one repository wait for each other, those of another do not', async () => {
  const { url, drop } = await freshDatabase();
  const engine = openDbosEngine({
    databaseUrl: url,
    executorId: 'box-1',
    queue: { name: 'coders', perWorker: 10, perPartition: 1 },
    log: silent,
  });
  const now: Record<string, number> = { shop: 0, bank: 0 };
  const most: Record<string, number> = { shop: 0, bank: 0 };
  const met = Promise.withResolvers<void>();
  await engine.launch({
    run: ({ fanOut }) =>
      fanOut(
        ['shop', 'shop', 'shop', 'bank', 'bank'].map((partition, i) => ({
          key: `${i}`,
          partition,
          input: partition,
        })),
      ),
    examination: async () => null,
    candidate: ({ step }, input) =>
      step('code', async () => {
        const mine = input as string;
        now[mine] = (now[mine] ?? 0) + 1;
        most[mine] = Math.max(most[mine] ?? 0, now[mine]);
        if (now.shop === 1 && now.bank === 1) met.resolve();
        // Ends only if a candidate of the other repository runs beside it.
        await met.promise;
        now[mine] -= 1;
      }),
  });
  await engine.start('r1', null);
  expect(await engine.settled('r1')).toMatchObject({ kind: 'done' });
  expect(most).toEqual({ shop: 1, bank: 1 });
  await engine.shutdown();
  await drop();
});

test('candidates that a person requested run before those of many earlier labels', async () => {
  const { url, drop } = await freshDatabase();
  const engine = openDbosEngine({
    databaseUrl: url,
    executorId: 'box-1',
    queue: { name: 'coders', perWorker: 1, perPartition: 1 },
    log: silent,
  });
  const order: string[] = [];
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  await engine.launch({
    run: ({ fanOut }, input) => {
      const { keys, priority } = input as { keys: readonly string[]; priority: number };
      return fanOut(keys.map((key) => ({ key, partition: 'shop', priority, input: key })));
    },
    examination: async () => null,
    candidate: ({ step }, input) =>
      step('code', async () => {
        order.push(input as string);
        begun.resolve();
        await goOn.promise;
      }),
  });
  // The first one holds the only place until all the others are in line.
  await engine.start('storm', { keys: ['label-1', 'label-2', 'label-3'], priority: priorityOf('label') });
  await begun.promise;
  await engine.start('person', { keys: ['command-1', 'command-2'], priority: priorityOf('command') });
  await expect.poll(() => engine.status('person-command-2')).toEqual({ kind: 'running' });
  goOn.resolve();
  expect(await engine.settled('storm')).toMatchObject({ kind: 'done' });
  expect(await engine.settled('person')).toMatchObject({ kind: 'done' });
  expect(order).toEqual(['label-1', 'command-1', 'command-2', 'label-2', 'label-3']);
  await engine.shutdown();
  await drop();
});

test('without a database the launch is a fault, and the process can launch another engine', async () => {
  const port = await new Promise<number>((settle) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => settle(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
  const flows = { run: async () => 'ran', candidate: async () => null, examination: async () => null };
  const options = { executorId: 'cli-r1', queue: null, log: silent };
  const lost = openDbosEngine({ databaseUrl: `postgresql://u:p@127.0.0.1:${port}/x`, ...options });
  await expect(lost.launch(flows)).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });

  const { url, drop } = await freshDatabase();
  const engine = openDbosEngine({ databaseUrl: url, ...options });
  await engine.launch(flows);
  await expect(openDbosEngine({ databaseUrl: url, ...options }).launch(flows)).rejects.toMatchObject({
    code: 'INTERNAL',
  });
  await engine.start('r1', null);
  expect(await engine.settled('r1')).toEqual({ kind: 'done', value: 'ran' });
  await engine.shutdown();
  await drop();
});
