import { afterEach, describe, expect, test, vi } from 'vitest';
import { type EditEvent, openCommandIntake } from '../../src/commands/index.ts';
import type { Engine } from '../../src/ports/index.ts';
import {
  APP,
  asking,
  HOST_FOLDER,
  mallory,
  mona,
  ORIGIN,
  placeAt,
  question,
  RUN,
  type Said,
  sayTo,
} from './dialogue-world.ts';

const engines: Engine[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.shutdown(0);
});

async function scene(...args: Parameters<typeof asking>) {
  const opened = await asking(...args);
  engines.push(opened.engine);
  await vi.waitFor(() => expect(opened.asked()).toBeDefined(), 5_000);
  const ask = opened.asked() as { readonly id: number; readonly createdAt: number; body: string };
  const intake = openCommandIntake(opened.world);
  /** What became of a command in a new comment; null where it was none. */
  const say = (body: string, over: Said = {}) => sayTo(opened.world, intake, body, over);
  /** Somebody edits our question so that it says this. */
  const edit = async (
    body: string,
    { id = ask.id, ...over }: Partial<EditEvent> & { id?: number; repositoryId?: number } = {},
  ) => {
    ask.body = body;
    const { repositoryId, ...rest } = over;
    const result = await intake.onEdit({
      place: placeAt(id, repositoryId ? { repositoryId } : {}),
      body,
      performedByAppId: APP,
      at: Date.now(),
      actor: mona,
      ...rest,
    });
    await intake.idle();
    return result;
  };
  /** What became of ticks, in their order. */
  const ticks = async () =>
    (await opened.store.commands(ORIGIN.repositoryId, 50))
      .filter(({ ticked }) => ticked === RUN)
      .map(({ outcome }) => outcome?.kind ?? 'open')
      .toReversed();
  const tick = (body: string, box: number): string => {
    let at = 0;
    return body.replace(/^- \[ \]/gm, (found) => (++at === box ? '- [x]' : found));
  };
  /** All slots are busy: the run reads no reply before `hears`. */
  const isBusy = () => {
    const { engine } = opened.world;
    const hears = vi.fn(engine.signal);
    const signal = vi.spyOn(engine, 'signal').mockResolvedValue();
    return async () => {
      const [given] = signal.mock.calls;
      signal.mockRestore();
      if (given) await hears(...given);
    };
  };
  const goesOn = async () =>
    expect(await opened.engine.settled(RUN)).toEqual({ kind: 'done', value: 'agreed' });
  const waitsStill = async () => {
    await new Promise((settle) => setTimeout(settle, 50));
    expect((await opened.store.run(RUN))?.state).toMatch(/^awaiting_/);
    expect(await opened.replies()).toEqual([]);
  };
  /** The comment that asks after another plan was made. */
  const asksAgain = () =>
    vi.waitFor(async () => {
      const intent = await opened.store.intent(RUN, 'question:2');
      if (intent?.state !== 'done') throw new Error('Nothing is asked yet.');
      return intent.result as { readonly id: number };
    }, 5_000);
  /** As after a start. */
  const recovered = async () => {
    await intake.recover();
    await intake.idle();
    return (await opened.store.command('comment:900'))?.outcome?.kind;
  };
  return { ...opened, recovered, asksAgain, ticks, ask, say, edit, tick, isBusy, goesOn, waitsStill };
}

describe('a comment', () => {
  test('answers a question, gets 👍, and the question shows who answered what', async () => {
    const s = await scene();
    expect(await s.say('/auto-dev answer 2')).toBe('done');
    await s.goesOn();
    await s.world.announcer.idle();
    expect(s.reactions).toEqual(['900 eyes', '900 rocket']);
    expect(s.ask.body).toContain('`mona` answered: half even');
    expect(s.ask.body).not.toContain('- [ ]');
  });

  test('that is delivered twice has its effect once', async () => {
    const s = await scene();
    const body = '/auto-dev answer half up, but only for prices';
    await Promise.all([s.say(body), s.say(body)]);
    await s.goesOn();
    await s.say(body);
    expect(await s.replies()).toMatchObject([{ text: 'half up, but only for prices', by: { id: mona.id } }]);
    expect(s.reactions).toEqual(['900 eyes', '900 rocket']);
  });

  test.each([
    ['by a stranger', { actor: mallory }, 'ignored'],
    ['by a bot', { actor: { ...mona, isBot: true } }, null],
    ['through an App', { throughApp: true }, null],
  ])('%s is ignored', async (_who, over, outcome) => {
    const s = await scene();
    expect(await s.say('/auto-dev answer 2', over)).toBe(outcome);
    expect(s.reactions).toEqual([]);
    expect(s.comments.filter(({ body }) => body.includes('runoff:reply'))).toEqual([]);
    await s.waitsStill();
  });

  test.each([
    ['is no command', 'I would round down.', []],
    ['is no command of ours', '/auto-dev merge', ['900 eyes', '900 confused']],
    ['names an option that there is not', '/auto-dev answer 4', ['900 eyes', '900 confused']],
    ['approves a question', '/auto-dev approve', ['900 eyes', '900 confused']],
  ])('that %s changes nothing', async (_what, body, reactions) => {
    const s = await scene();
    await s.say(body);
    expect(s.reactions).toEqual(reactions);
    await s.waitsStill();
  });

  test("whose author's access is unknown is applied when it is known", async () => {
    const s = await scene();
    s.rights[mona.id] = 'broken';
    expect(await s.say('/auto-dev answer 2')).toBe('open');
    await s.waitsStill();
    s.rights[mona.id] = 'write';
    expect(await s.recovered()).toBe('done');
    await s.goesOn();
  });

  test('from before the question does not answer it, however late it arrives', async () => {
    const s = await scene();
    expect(await s.say('/auto-dev answer 2', { id: s.ask.id - 1 })).toBe('refused');
    await s.waitsStill();
  });

  test('on a line answers a question that was asked before it', async () => {
    const s = await scene();
    const line = { id: s.ask.id - 1, place: { on: 'line' } } as const;
    expect(await s.say('/auto-dev answer 2', { ...line, at: s.ask.createdAt + 1_000 })).toBe('done');
    await s.goesOn();
    expect(await s.replies()).toMatchObject([{ option: 2 }]);
  });

  test('on a line from before the question does not answer it, however great its id', async () => {
    const s = await scene();
    const line = { id: s.ask.id + 1, place: { on: 'line' } } as const;
    expect(await s.say('/auto-dev answer 2', { ...line, at: s.ask.createdAt })).toBe('refused');
    expect(s.ask.body).toContain('You wrote it before the question was asked.');
    await s.waitsStill();
  });

  test('on a line without its question is referred to the conversation', async () => {
    const s = await scene();
    s.comments.splice(0);
    const line = { id: 5, place: { on: 'line' }, at: s.ask.createdAt + 1_000 } as const;
    expect(await s.say('/auto-dev answer 2', line)).toBe('refused');
    expect((await s.store.command('line:5'))?.outcome).toMatchObject({
      why: 'Runoff could not find out whether you wrote it after the question: comment in the conversation, not on a line of code.',
    });
    await s.waitsStill();
  });

  test('that approves a plan does not approve the next one', async () => {
    const s = await scene({ approval: 'plan' }, []);
    await s.say('/auto-dev revise Smaller steps.');
    await s.asksAgain();
    expect(await s.say('/auto-dev approve', { id: 901 })).toBe('refused');
    const second = s.comments.find(({ body }) => body.includes(`question:${RUN}:2`));
    expect(second?.body).toContain('You wrote it before the question was asked.');
    expect((await s.store.run(RUN))?.state).toBe('awaiting_approval');
    expect(await s.replies()).toHaveLength(1);
  });

  test('that was not accepted is explained in a reply if the question was deleted', async () => {
    const s = await scene();
    s.comments.splice(0, s.comments.length, { id: 5, createdAt: 0, body: 'I would round down.' });
    expect(await s.say('/auto-dev answer 9')).toBe('refused');
    expect(s.comments.at(-1)?.body).toContain('There is no option 9: the options are 1 to 3.');
    await s.waitsStill();
  });

  test('is not accepted while the question is not posted', async () => {
    const s = await scene();
    const dialogue = (await s.store.run(RUN))?.dialogue;
    const [inquiry] = dialogue?.inquiries ?? [];
    if (!dialogue || !inquiry) throw new Error('Nothing is asked.');
    await s.store.updateRun(RUN, { dialogue: { ...dialogue, inquiries: [{ ...inquiry, number: 9 }] } }, 1);
    expect(await s.say('/auto-dev answer 2')).toBe('refused');
    expect(s.comments.at(-1)?.body).toContain('You wrote it before the question was asked.');
    await s.waitsStill();
  });

  test('that was not accepted is explained in the question until that is settled', async () => {
    const s = await scene();
    const ours = s.ask.body;
    const say = (id: number, body: string) => s.say(body, { id });
    await say(901, '/auto-dev `@acme/all`<!--');
    expect(s.ask.body).not.toMatch(/@acme|<!--$/m);
    await say(902, '/auto-dev answer 7');
    expect(s.ask.body.replace(ours, '')).toMatchInlineSnapshot(`
      "
      Not accepted: \`/auto-dev answer 7\`. There is no option 7: the options are 1 to 3. Try \`/auto-dev answer 2\`, which answers the open question with an option or in your own words.
      "
    `);
    await say(902, '/auto-dev answer 7');
    expect(s.edits).toHaveLength(2);
    // Ticked in the text as it is now.
    expect((await s.edit(s.tick(s.ask.body, 3))).kind).toBe('recorded');
    await s.goesOn();
    await s.world.announcer.idle();
    expect(s.ask.body).toContain('`mona` answered: down');
    expect(s.ask.body).not.toContain('Not taken');
  });

  test('by a stranger is not explained', async () => {
    const s = await scene();
    await s.say('/auto-dev answer 7', { actor: mallory });
    expect(s.edits).toEqual([]);
  });

  test('to a run without a question gets a reply', async () => {
    const s = await scene();
    await s.say('/auto-dev answer 2');
    await s.goesOn();
    expect(await s.say('/auto-dev approve', { id: 901 })).toBe('refused');
    expect(s.reactions).toEqual(['900 eyes', '900 rocket', '901 eyes', '901 confused']);
    expect(s.comments.at(-1)?.body).toContain('is not waiting for an answer');
  });

  test('asks for another plan, then approves it', async () => {
    const s = await scene({ approval: 'plan' }, []);
    expect(await s.say('/auto-dev revise Smaller steps.\nNo flag.')).toBe('done');
    const { id } = await s.asksAgain();
    expect(await s.say('/auto-dev approve', { id: id + 1 })).toBe('done');
    await s.goesOn();
    expect(await s.replies()).toMatchObject([{ text: 'Smaller steps.\nNo flag.' }, { kind: 'approve' }]);
  });
});

describe('a tick', () => {
  test('answers in the name of the person who ticked', async () => {
    const s = await scene();
    const body = s.tick(s.ask.body, 3).replaceAll('\n', '\r\n');
    const at = Date.now();
    expect((await s.edit(body, { at })).kind).toBe('recorded');
    await s.edit(body, { at });
    await s.goesOn();
    await s.world.announcer.idle();
    expect(await s.replies()).toMatchObject([{ kind: 'answer', option: 3, by: { id: mona.id } }]);
    expect(s.ask.body).toContain('`mona` answered: down');
  });

  test('answers a question that quotes a folder of this host', async () => {
    const text = `Is ${HOST_FOLDER}/areas/x meant?`;
    const options = ['yes', `no, ${HOST_FOLDER}/areas/y`];
    const s = await scene({}, [{ ...question, text, options, assume: 'yes' }]);
    expect(s.ask.body).toContain('(data folder)/areas/x');
    expect(s.ask.body).not.toContain(HOST_FOLDER);
    expect((await s.edit(s.tick(s.ask.body, 2))).kind).toBe('recorded');
    await s.goesOn();
    expect(await s.replies()).toMatchObject([{ kind: 'answer', option: 2 }]);
  });

  test('approves a plan', async () => {
    const s = await scene({ approval: 'plan' }, []);
    expect((await s.edit(s.tick(s.ask.body, 1))).kind).toBe('recorded');
    await s.goesOn();
    expect(await s.replies()).toMatchObject([{ kind: 'approve' }]);
  });

  test('by a stranger is reverted, as is every other edit', async () => {
    const s = await scene();
    const ours = s.ask.body;
    const edits: readonly [string, Partial<EditEvent>][] = [
      [s.tick(s.tick(ours, 1), 2), {}],
      [ours.replace('half up', 'delete all'), {}],
      [s.tick(ours, 1).replace('half up', 'delete all'), {}],
      [`${ours}\n- [x] 4. delete all`, {}],
      ['', {}],
      [ours.replace(/^<!--.*$/m, ''), {}],
    ];
    for (const [body, over] of edits) {
      expect((await s.edit(body, over)).kind).toBe('ignored');
      expect(s.ask.body).toBe(ours);
    }
    await s.edit(s.tick(ours, 1), { actor: mallory });
    expect(s.ask.body).toBe(ours);
    expect(await s.ticks()).toEqual(['ignored']);
    expect(s.edits).toHaveLength(edits.length + 1);
    expect(s.comments.filter(({ body }) => body.includes('runoff:reply'))).toEqual([]);
    await s.waitsStill();
  });

  test('that was set during an update of the question is accepted', async () => {
    const s = await scene();
    const ours = s.ask.body;
    await s.say('/auto-dev answer 7');
    expect((await s.edit(s.tick(ours, 1))).kind).toBe('recorded');
  });

  test.each([
    ['by our own App', { actor: { id: 1, login: 'runoff[bot]', isBot: true } }],
    ['of a comment that another App wrote', { performedByAppId: 3 }],
    ['of a comment that a person wrote', { performedByAppId: null }],
    ['of another comment of ours', { id: 999 }],
    ['in another repository', { repositoryId: 43 }],
  ])('by an edit %s is ignored', async (_what, over) => {
    const s = await scene();
    expect((await s.edit(s.tick(s.ask.body, 1), over)).kind).toBe('ignored');
    expect(s.edits).toEqual([]);
    await s.waitsStill();
  });

  test.each([
    ['an answer', {}, [question], 2],
    ['an approval', { approval: 'plan' }, [], 1],
  ])('that is %s stays until the run has a slot to read it', async (_what, settings, questions, box) => {
    const s = await scene(settings, questions);
    const ours = s.ask.body;
    const ticked = s.tick(ours, box);
    const hears = s.isBusy();
    expect((await s.edit(ticked)).kind).toBe('recorded');
    expect(s.ask.body).toBe(ticked);
    expect(s.edits).toEqual([]);
    // It cannot be taken back, and no other one is accepted.
    for (const edited of [ours, s.tick(ours, 1), s.tick(ticked, 1)]) {
      expect((await s.edit(edited)).kind).toBe('ignored');
      expect(s.ask.body).toBe(ticked);
    }
    expect(await s.replies()).toHaveLength(1);
    await hears();
    await s.goesOn();
    await s.world.announcer.idle();
    expect(s.ask.body).not.toMatch(/- \[/);
  });

  test('that is accepted only after an outage is shown again', async () => {
    const s = await scene();
    const ours = s.ask.body;
    const hears = s.isBusy();
    s.rights[mona.id] = 'broken';
    await s.edit(s.tick(ours, 2));
    expect(s.ask.body).toBe(ours);
    s.rights[mona.id] = 'write';
    await s.recovered();
    expect(s.ask.body).toBe(s.tick(ours, 2));
    await hears();
    await s.goesOn();
  });

  test.each([
    ['answers a question', {}, [question], { kind: 'answer', option: 1 }],
    ['approves a plan', { approval: 'plan' }, [], { kind: 'approve' }],
  ])('during an outage %s when GitHub is back', async (_what, settings, questions, answer) => {
    const s = await scene(settings, questions);
    const ours = s.ask.body;
    s.rights[mona.id] = 'broken';
    s.outage.begin();
    expect((await s.edit(s.tick(ours, 1))).kind).toBe('recorded');
    expect(await s.ticks()).toEqual(['open']);
    await s.waitsStill();
    s.rights[mona.id] = 'write';
    s.outage.end();
    await s.recovered();
    expect(await s.ticks()).toEqual(['done']);
    await s.goesOn();
    await s.world.announcer.idle();
    expect(await s.replies()).toMatchObject([{ ...answer, by: { id: mona.id } }]);
    expect(s.ask.body).not.toMatch(/- \[/);
  });

  test('that comes too late is answered with a reply, so that nobody believes it counts', async () => {
    const s = await scene({ approval: 'plan' }, []);
    const ours = s.ask.body;
    s.rights[mona.id] = 'broken';
    // In the same second, as far as GitHub tells.
    const at = Date.now();
    await s.edit(s.tick(ours, 1), { at });
    s.rights[mona.id] = 'write';
    await s.say('/auto-dev revise Smaller steps.', { at });
    await s.asksAgain();
    await s.recovered();
    expect(await s.ticks()).toEqual(['refused']);
    expect(s.comments.at(-1)?.body).toContain('The question in which you ticked a box is settled');
    expect((await s.store.run(RUN))?.state).toBe('awaiting_approval');
  });

  test('that its author removes is not restored', async () => {
    const s = await scene();
    expect((await s.edit(s.ask.body)).kind).toBe('ignored');
    await s.waitsStill();
  });
});
