import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { tried } from '../world/tried.ts';
import type { ChaosEnvironment } from './chaos-environment.ts';
import { expectNoProblems } from './expect-no-problems.ts';
import { withPreparedChaosEnvironment } from './prepared-chaos-environment.ts';
import type { AppProcess } from './process.ts';

const NAMES = ['one', 'two'] as const;
type Name = (typeof NAMES)[number];

type Workers = Readonly<Record<Name, AppProcess>>;

interface Met {
  readonly name: Name;
  readonly worker: AppProcess;
}

/** What a worker does: `coding` only when an answer of its coder is paid. */
const AT_WORK = {
  coding: `name = 'candidate' and exists (
    select from runoff.gateway_call where exact and status = 200 and spender <> 'brief')`,
  examining: "name = 'examination'",
} as const;

const LOOK_EVERY_MS = 20;
/** What a frozen process has sent before is through by then. */
const THROUGH_MS = 300;

/** Freezes a worker while it does this; it does until it is woken. */
async function freezeWhile(
  environment: ChaosEnvironment,
  workers: Workers,
  what: keyof typeof AT_WORK,
): Promise<Met> {
  const holders = async () => {
    const rows = await environment.query(
      `select executor_id from dbos.workflow_status where status = 'PENDING' and ${AT_WORK[what]}`,
    );
    return rows.map((row) => String(row.executor_id));
  };
  for (;;) {
    const held = await holders();
    const name = NAMES.find((one) => held.some((id) => id.endsWith(`-${one}`)));
    if (name === undefined) {
      await delay(LOOK_EVERY_MS);
      continue;
    }
    workers[name].freeze();
    await delay(THROUGH_MS);
    if ((await holders()).some((id) => id.endsWith(`-${name}`))) return { name, worker: workers[name] };
    workers[name].wake();
  }
}

/** An App that leads, and two workers, of which one is met at work and done something to. Everything holds then. */
async function play(
  what: keyof typeof AT_WORK,
  deed: (met: Met, over: () => Promise<void>) => Promise<void>,
): Promise<void> {
  await withPreparedChaosEnvironment(
    async (environment) => {
      const app = await environment.start();
      const [one, two] = await Promise.all(NAMES.map((name) => environment.worker(name)));
      if (!one || !two) throw new Error('There are two workers.');
      const issues = await environment.label(1);
      const met = await freezeWhile(environment, { one, two }, what);
      await deed(met, async () => expect(await environment.play(app, issues)).toBe('over'));
      const other = met.name === 'one' ? 'two' : 'one';
      await (other === 'one' ? one : two).stop();
      await app.stop();
      await expectNoProblems(environment, issues, [other]);
    },
    { withWorkers: true },
  );
}

describe.runIf(process.env.RUNOFF_TEST_CHAOS === 'all')(
  'one of two workers, while the App leads only',
  () => {
    test('is killed with -9 while it codes', () => {
      tried({
        id: 'worker-killed-coding',
        part: 'Several processes',
        what: 'One of two workers, while it codes.',
        held: 'The other one takes over, and the run ends as without a kill.',
        only: 'RUNOFF_TEST_CHAOS=all',
      });
      return play('coding', async ({ worker }, over) => {
        await worker.kill();
        await over();
      });
    });

    test('is killed with -9 while it examines', () => {
      tried({
        id: 'worker-killed-examining',
        part: 'Several processes',
        what: 'One of two workers, while it examines.',
        held: 'The other one takes over, and the run ends as without a kill.',
        only: 'RUNOFF_TEST_CHAOS=all',
      });
      return play('examining', async ({ worker }, over) => {
        await worker.kill();
        await over();
      });
    });

    test('is frozen while it codes until the other one has done its work, and wakes', () => {
      tried({
        id: 'worker-frozen',
        part: 'Several processes',
        what: 'One of two workers is frozen while it codes, and resumes when the other has done its work.',
        held: 'It exits, none of its results count, and the run ends as without a kill.',
        only: 'RUNOFF_TEST_CHAOS=all',
      });
      return play('coding', async ({ worker }, over) => {
        await over();
        worker.wake();
        expect(await worker.ended).toEqual({ code: 1, signal: null });
      });
    });
  },
);
