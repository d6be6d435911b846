import { afterEach, describe, expect, test, vi } from 'vitest';
import { openCommandIntake } from '../../src/commands/index.ts';
import type { Engine } from '../../src/ports/index.ts';
import { RunRequest, type World } from '../../src/runs/index.ts';
import { ada, atWork, commandWorld } from './command-world.ts';
import { asking, mallory, mona, RUN, sayTo } from './dialogue-world.ts';

const engines: Engine[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.shutdown(0);
});

/** A run that waits for approval of its plan. */
async function waiting(ceilings: Partial<World['ceilings']> = {}) {
  const s = await asking({ approval: 'plan' }, []);
  engines.push(s.engine);
  Object.assign(s.world, { ceilings: { debates: true, ...ceilings } });
  await vi.waitFor(() => expect(s.asked()).toBeDefined(), 5_000);
  const intake = openCommandIntake(s.world);
  let said = 900;
  const say = (body: string, over: object = {}) => sayTo(s.world, intake, body, { id: ++said, ...over });
  /** A form of the run's page. */
  const press = async (text: string, inquiry: number, key = text) => {
    await intake.onPage({
      via: 'page',
      key,
      by: { id: mona.id, login: mona.login },
      text,
      about: { run: RUN, inquiry },
    });
    await intake.idle();
    return (await intake.outcome(`page:${mona.id}:${key}`, 0))?.outcome;
  };
  const askedAgain = (number: number) =>
    vi.waitFor(async () => {
      const run = await s.store.run(RUN);
      expect(run).toMatchObject({ state: 'awaiting_approval' });
      expect(run?.dialogue?.inquiries).toHaveLength(number);
      expect((await s.store.intent(RUN, `question:${number}`))?.state).toBe('done');
    }, 5_000);
  return { ...s, intake, say, press, askedAgain };
}

describe('while a plan waits for approval', () => {
  test('a comment asks for a debate of it, and the refined text waits for approval again', async () => {
    const s = await waiting();
    expect(s.asked()?.body).toContain('`/auto-dev debate`');
    expect(await s.say('/auto-dev debate')).toBe('done');
    await s.askedAgain(2);
    await s.world.announcer.idle();
    expect(s.asked()?.body).toContain('`mona` asked for a debate of the plan.');
    expect(await s.say('/auto-dev approve', { id: 9_000 })).toBe('done');
    expect(await s.engine.settled(RUN)).toEqual({ kind: 'done', value: 'agreed' });
    expect(await s.replies()).toMatchObject([{ kind: 'debate', by: { id: mona.id } }, { kind: 'approve' }]);
  });

  test('a form of its page does the same, once, for the plan that the page showed', async () => {
    const s = await waiting();
    expect(await s.press('/auto-dev debate', 1)).toMatchObject({ kind: 'done' });
    await s.press('/auto-dev debate', 1);
    await s.askedAgain(2);
    expect(await s.press('/auto-dev approve', 1)).toMatchObject({
      kind: 'refused',
      why: expect.stringContaining('The question on your page is settled'),
    });
    expect(await s.press('/auto-dev approve', 2, 'again')).toMatchObject({ kind: 'done' });
    expect(await s.engine.settled(RUN)).toEqual({ kind: 'done', value: 'agreed' });
    expect(await s.replies()).toHaveLength(2);
  });

  test('nobody without write access asks for one, and nobody where the operator allows none', async () => {
    const s = await waiting();
    expect(await s.say('/auto-dev debate', { actor: mallory })).toBe('ignored');
    expect(await s.say('/auto-dev debate quickly')).toBe('refused');
    const none = await waiting({ debates: false });
    expect(await none.say('/auto-dev debate')).toBe('refused');
    expect([...(await s.replies()), ...(await none.replies())]).toEqual([]);
  });
});

test('a question is answered before its plan is debated', async () => {
  const s = await asking({ approval: 'plan' });
  engines.push(s.engine);
  Object.assign(s.world, { ceilings: { debates: true } });
  await vi.waitFor(() => expect(s.asked()).toBeDefined(), 5_000);
  expect(await sayTo(s.world, openCommandIntake(s.world), '/auto-dev debate')).toBe('refused');
  expect(s.asked()?.body).toContain('Its plan can be debated after that.');
});

describe('on an issue', () => {
  const world = () => {
    const s = commandWorld();
    Object.assign(s.world, { ceilings: { budgetRun: 10, debates: true } });
    return s;
  };

  test('without a run, a debate starts one that waits for approval, with the text as it is then', async () => {
    const s = world();
    await s.hear('/auto-dev debate', { by: ada });
    await s.intake.idle();
    const [id = ''] = s.engine.started;
    const run = await s.store.run(id);
    expect(run?.origin).toMatchObject({ issue: 7, requestedBy: { id: ada.id } });
    expect(RunRequest.parse(run?.request)).toMatchObject({
      trigger: 'command',
      text: { title: s.repository.issue.title },
      overrides: { debate: 'always', approval: 'plan' },
    });
  });

  test('it is refused while a run is at work, also from the page of an earlier one', async () => {
    const s = world();
    const active = await atWork(s);
    const id = await s.hear('/auto-dev debate');
    await s.intake.idle();
    const outcome = (await s.store.command(`comment:${id}`))?.outcome;
    expect(outcome).toMatchObject({
      kind: 'refused',
      why: expect.stringContaining(`\`${active}\` does not wait`),
    });
    expect(s.engine.started).toEqual([]);
  });
});
