import { describe, expect, test } from 'vitest';
import { stopRunsOfIssue } from '../../src/commands/index.ts';
import type { Publisher } from '../../src/ports/index.ts';
import type { World } from '../../src/runs/index.ts';
import { publish } from '../../src/runs/publish/index.ts';
import { contextOf } from '../world/run-context.ts';
import { boxes, type CommandWorld, commandWorld, type Heard, judgedRun } from './command-world.ts';
import { mallory, RUN } from './dialogue-world.ts';
import { forbidden } from './fake-repository.ts';

const runOf = async ({ store }: CommandWorld) => (await store.run(RUN)) ?? expect.fail();

/** Publishes, and something happens once, when GitHub is asked to do this. A cancel aborts the step, as the engine does. */
async function publishing(
  s: CommandWorld,
  at: 'comment' | 'openDraftPull',
  meanwhile: () => Promise<unknown>,
): Promise<unknown> {
  const cancelled = new AbortController();
  const { cancel } = s.engine;
  s.engine.cancel = async (id) => {
    await cancel(id);
    cancelled.abort();
  };
  const { github } = s.world;
  if (!github) throw new Error('The world has a GitHub.');
  let first = true;
  const once = async () => {
    if (!first) return;
    first = false;
    await meanwhile();
  };
  const publisher = async (handle: Parameters<typeof github.publisher>[0]): Promise<Publisher> => {
    const inner = await github.publisher(handle);
    return {
      ...inner,
      async comment(on, body) {
        if (at === 'comment') await once();
        return inner.comment(on, body);
      },
      async openDraftPull(pull) {
        if (at === 'openDraftPull') await once();
        return inner.openDraftPull(pull);
      },
    };
  };
  const world: World = { ...s.world, github: { ...github, publisher } };
  return publish(world, await contextOf(world, RUN, cancelled.signal));
}

describe('a cancel while a result is being published', () => {
  test('is refused once the pull request is open, which is completed', async () => {
    const s = commandWorld();
    await judgedRun(s, 'pull');
    let said: Heard | undefined;
    await publishing(s, 'comment', async () => {
      said = await s.say('/auto-dev cancel');
    });
    expect([said?.outcome, said?.reply]).toMatchInlineSnapshot(`
      [
        "refused",
        "**Runoff:** Run \`r0000000000\` could not be cancelled. Its draft pull request \\#&#8203;11 is open. If you do not want it, close it.",
      ]
    `);
    const { state, outcome } = await runOf(s);
    expect([state, outcome]).toMatchObject(['published', { kind: 'pull', number: 11 }]);
    expect(s.engine.cancelled).toEqual([]);
    expect(s.repository.comments.filter(({ on }) => on === 11)).toHaveLength(1);
    expect(s.repository.checks).toHaveLength(1);
  });

  test('by closing the issue comes as late', async () => {
    const s = commandWorld();
    await judgedRun(s, 'pull');
    let stopped = -1;
    await publishing(s, 'comment', async () => {
      stopped = await stopRunsOfIssue(s.world, { repositoryId: 42, issue: 7, cause: 'the issue was closed' });
    });
    expect([stopped, (await runOf(s)).state]).toEqual([0, 'published']);
  });

  test('that comes as the pull request is opened leaves a run that says so', async () => {
    const s = commandWorld();
    await judgedRun(s, 'pull');
    let said: Heard | undefined;
    await publishing(s, 'openDraftPull', async () => {
      said = await s.say('/auto-dev cancel');
    });
    expect(said?.note).toBe('the run is cancelled');
    const { state, outcome } = await runOf(s);
    expect([state, outcome]).toMatchObject(['cancelled', { kind: 'pull', number: 11 }]);
    expect(s.repository.comments.filter(({ on }) => on === 11)).toHaveLength(1);
    const status = s.repository.comments.find(({ body }) => body.startsWith('<!-- runoff:status:'));
    expect(status?.body).toContain(
      'Its draft pull request [#11](https://github.test/acme/lists/pull/11) was already open: if you do not want it, close it.',
    );
  });

  test('that finds the run waiting for a pick by then ends that wait', async () => {
    const s = commandWorld();
    await judgedRun(s, 'choice');
    s.engine.cancel = async () => {
      await publish(s.world, await contextOf(s.world, RUN));
    };
    expect((await s.say('/auto-dev cancel')).note).toBe('the run no longer waits for a choice');
    expect((await runOf(s)).state).toBe('closed');
    expect(boxes(s).body).not.toContain('- [ ]');
  });

  test('that finds the run published by then says so', async () => {
    const s = commandWorld();
    await judgedRun(s, 'pull');
    s.engine.cancel = async () => {
      await publish(s.world, await contextOf(s.world, RUN));
    };
    const { outcome, note, reactions } = await s.say('/auto-dev cancel');
    expect([outcome, reactions]).toEqual(['refused', ['eyes', 'confused']]);
    expect(note).toContain('Its draft pull request #11 is open.');
  });
});

test('a fault after the pull request was opened leaves its number on record', async () => {
  const s = commandWorld();
  await judgedRun(s, 'pull');
  s.repository.trouble.set('comment', forbidden);
  await expect(publish(s.world, await contextOf(s.world, RUN))).rejects.toMatchObject({
    code: 'GITHUB_REFUSED',
  });
  expect((await runOf(s)).outcome).toMatchObject({ kind: 'pull', number: 11, branch: `auto-dev/7/${RUN}/B` });
});

test('a cancel that goes on after 8,000 characters cancels nothing', async () => {
  const s = commandWorld();
  await judgedRun(s, 'pull');
  const filler = ' '.repeat(8_000);
  expect(await s.say(`/auto-dev cancel${filler}not yet`)).toMatchObject({
    outcome: 'refused',
    note: 'The text is longer than 8,000 characters. Shorten it.',
  });
  expect((await runOf(s)).state).toBe('judged');
  expect(await s.say(`/auto-dev cancel${' '.repeat(8_000 - '/auto-dev cancel'.length)}`)).toMatchObject({
    outcome: 'done',
  });
  expect((await s.say(`/auto-dev cancel${filler}not yet`, { by: mallory })).reply).toBeNull();
});
