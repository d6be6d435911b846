import { afterEach, expect, test } from 'vitest';
import { openDbosEngine } from '../../src/adapters/engine/index.ts';
import type { FlowContext } from '../../src/ports/index.ts';
import { examineAll } from '../../src/runs/examination.ts';
import type { World } from '../../src/runs/index.ts';
import { workTimeOf } from '../../src/runs/work-time.ts';
import { freshDatabase } from '../world/database.ts';
import { silent } from '../world/silent.ts';

const INPUT = { runId: 'r1', baseRun: { sha256: 'aa', bytes: 2 } };
const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanUp.splice(0).toReversed()) await clean();
});

test('a run that an older version examined itself goes on in this one, and is not examined again', async () => {
  const { url, drop } = await freshDatabase();
  cleanUp.push(drop);
  const queue = { name: 'coders', perWorker: 2, perPartition: 2 };
  const open = () => openDbosEngine({ databaseUrl: url, executorId: 'box-1', queue, log: silent });
  const candidate = async () => null;

  const judging = Promise.withResolvers<void>();
  const older = open();
  await older.launch({
    async run({ step }: FlowContext) {
      await step('examine', async () => ({ kind: 'ok', value: 'examined' }));
      await step('round', async () => ({ kind: 'ok', value: [] }));
      await step('judge', (signal) => {
        judging.resolve();
        return new Promise((_, fail) => signal.addEventListener('abort', () => fail(signal.reason)));
      });
    },
    candidate,
    examination: candidate,
  });
  await older.start('r1', null);
  await judging.promise;
  await older.shutdown(0);

  const newer = open();
  cleanUp.push(() => newer.shutdown());
  let examinations = 0;
  await newer.launch({
    async run(context) {
      const examined = await examineAll(
        { log: silent } as World,
        context,
        INPUT,
        workTimeOf(1_000),
        async () => {
          await context.step('round', async () => expect.unreachable());
          return false;
        },
      );
      return [examined, await context.step('judge', async () => 'judged')];
    },
    candidate,
    async examination() {
      examinations += 1;
    },
  });
  expect(await newer.settled('r1')).toEqual({
    kind: 'done',
    value: [{ kind: 'ok', value: 'examined' }, 'judged'],
  });
  expect(examinations).toBe(0);
});
