import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Engine, RunRecord } from '../../src/ports/index.ts';
import { type CommentEvent, commented, type EditEvent, ticked } from '../../src/steering/index.ts';
import { APP, asking, mallory, mona, ORIGIN, RUN } from './pretend.ts';

const engines: Engine[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.shutdown(0);
});

async function scene(...args: Parameters<typeof asking>) {
  const opened = await asking(...args);
  engines.push(opened.engine);
  await vi.waitFor(() => expect(opened.asked()).toBeDefined(), 5_000);
  const ask = opened.asked() as { readonly id: number; body: string };
  const comment = (body: string, over: Partial<CommentEvent> = {}): CommentEvent => ({
    repositoryId: ORIGIN.repositoryId,
    issue: ORIGIN.issue,
    comment: { id: 900, body },
    throughApp: false,
    sender: mona,
    ...over,
  });
  /** Somebody edits our question so that it says this. */
  const edit = (body: string, over: Partial<EditEvent> = {}): EditEvent => {
    ask.body = body;
    return {
      repositoryId: ORIGIN.repositoryId,
      issue: ORIGIN.issue,
      comment: { id: ask.id, body, performedByAppId: APP },
      sender: mona,
      ...over,
    };
  };
  const tick = (body: string, box: number): string => {
    let at = 0;
    return body.replace(/^- \[ \]/gm, (found) => (++at === box ? '- [x]' : found));
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
  return { ...opened, asksAgain, ask, comment, edit, tick, goesOn, waitsStill };
}

describe('a comment', () => {
  test('answers, gets a thumb, and the question says who answered what', async () => {
    const s = await scene();
    expect(await commented(s.world, s.comment('/auto-dev answer 2'))).toEqual({ kind: 'taken', runId: RUN });
    await s.goesOn();
    await s.world.announcer.idle();
    expect(s.reactions).toEqual(['900 +1']);
    expect(s.ask.body).toContain('`mona` answered: half even');
    expect(s.ask.body).not.toContain('- [ ]');
  });

  test('that is delivered twice does nothing twice', async () => {
    const s = await scene();
    const event = s.comment('/auto-dev answer half up, but only for prices');
    await Promise.all([commented(s.world, event), commented(s.world, event)]);
    await s.goesOn();
    await commented(s.world, event);
    expect(await s.replies()).toMatchObject([{ text: 'half up, but only for prices', by: { id: mona.id } }]);
    expect(new Set(s.reactions)).toEqual(new Set(['900 +1']));
  });

  test.each([
    ['by a stranger', { sender: mallory }, []],
    ['by a bot', { sender: { ...mona, isBot: true } }, []],
    ['through an App', { throughApp: true }, []],
    ['in another repository', { repositoryId: 43 }, []],
    ['on another issue', { issue: 8 }, []],
  ])('%s is not heard', async (_who, over, reactions) => {
    const s = await scene();
    expect((await commented(s.world, s.comment('/auto-dev answer 2', over))).kind).not.toBe('taken');
    expect(s.reactions).toEqual(reactions);
    await s.waitsStill();
  });

  test.each([
    ['is no command', 'I would round down.', []],
    ['is no command of ours', '/auto-dev merge', ['900 confused']],
    ['names an option that there is not', '/auto-dev answer 4', ['900 confused']],
    ['approves a question', '/auto-dev approve', ['900 confused']],
  ])('that %s changes nothing', async (_what, body, reactions) => {
    const s = await scene();
    await commented(s.world, s.comment(body));
    expect(s.reactions).toEqual(reactions);
    await s.waitsStill();
  });

  test('whose writer GitHub cannot tell about is not heard', async () => {
    const s = await scene();
    s.rights[mona.id] = 'broken';
    expect((await commented(s.world, s.comment('/auto-dev answer 2'))).kind).toBe('refused');
    await s.waitsStill();
  });

  test('from before the question does not answer it, however late it is delivered', async () => {
    const s = await scene();
    const comment = { id: s.ask.id - 1, body: '/auto-dev answer 2' };
    expect((await commented(s.world, s.comment('', { comment }))).kind).toBe('refused');
    await s.waitsStill();
  });

  test('that approves the plan before does not approve the next one, which its writer has not seen', async () => {
    const s = await scene({ approval: 'plan' }, []);
    await commented(s.world, s.comment('/auto-dev revise Smaller steps.'));
    await s.asksAgain();
    const written = { id: 901, body: '/auto-dev approve' };
    expect((await commented(s.world, s.comment('', { comment: written }))).kind).toBe('refused');
    const second = s.comments.find(({ body }) => body.includes(`question:${RUN}:2`));
    expect(second?.body).toContain('It was written before this was asked.');
    expect((await s.store.run(RUN))?.state).toBe('awaiting_approval');
    expect(await s.replies()).toHaveLength(1);
  });

  test('is not taken while the comment that asks is not written', async () => {
    const s = await scene();
    const dialogue = (await s.store.run(RUN))?.dialogue;
    const [inquiry] = dialogue?.inquiries ?? [];
    if (!dialogue || !inquiry) throw new Error('Nothing is asked.');
    await s.store.updateRun(RUN, { dialogue: { ...dialogue, inquiries: [{ ...inquiry, number: 9 }] } }, 1);
    expect((await commented(s.world, s.comment('/auto-dev answer 2'))).kind).toBe('refused');
    await s.waitsStill();
  });

  test.each([
    ['was not admitted yet', 'task'],
    ['has asked nothing', 'dialogue'],
  ] as const)('on a run that %s costs nothing, whoever wrote it', async (_what, lacking) => {
    const s = await scene();
    const reader = vi.fn(s.github.reader);
    const found = (await s.store.livingRuns(ORIGIN.repositoryId, ORIGIN.issue)).map(
      ({ [lacking]: _, ...run }) => run as RunRecord,
    );
    const store = { ...s.store, livingRuns: async () => found };
    const world = { ...s.world, store, github: { ...s.github, reader } };
    expect((await commented(world, s.comment('/auto-dev answer 2'))).kind).toBe('ignored');
    expect(reader).not.toHaveBeenCalled();
    expect(s.reactions).toEqual([]);
  });

  test('that was not taken is explained in the question: the last one, and until it is settled', async () => {
    const s = await scene();
    const ours = s.ask.body;
    const say = (id: number, body: string) => commented(s.world, s.comment('', { comment: { id, body } }));
    await say(901, '/auto-dev `@acme/all`<!--');
    expect(s.ask.body).not.toMatch(/@acme|<!--$/m);
    await say(902, '/auto-dev answer 7');
    expect(s.ask.body.replace(ours, '')).toMatchInlineSnapshot(`
      "
      Not taken: \`/auto-dev answer 7\`. There is no option 7: the options are 1 to 3. Write \`/auto-dev answer 2\`, which answers the open question by an option or in your own words.
      "
    `);
    await say(902, '/auto-dev answer 7');
    expect(s.edits).toHaveLength(2);
    // Ticked in the text as it is now.
    expect((await ticked(s.world, s.edit(s.tick(s.ask.body, 3)))).kind).toBe('taken');
    await s.goesOn();
    await s.world.announcer.idle();
    expect(s.ask.body).toContain('`mona` answered: down');
    expect(s.ask.body).not.toContain('Not taken');
  });

  test('by a stranger is explained to nobody', async () => {
    const s = await scene();
    await commented(s.world, s.comment('/auto-dev answer 7', { sender: mallory }));
    expect(s.edits).toEqual([]);
  });

  test('to a run that waits for nobody is answered by a shrug', async () => {
    const s = await scene();
    await commented(s.world, s.comment('/auto-dev answer 2'));
    await s.goesOn();
    const late = { id: 901, body: '/auto-dev approve' };
    expect((await commented(s.world, s.comment('', { comment: late }))).kind).toBe('refused');
    expect(s.reactions).toEqual(['900 +1', '901 confused']);
  });

  test('asks for another plan, then approves it', async () => {
    const s = await scene({ approval: 'plan' }, []);
    expect((await commented(s.world, s.comment('/auto-dev revise Smaller steps.\nNo flag.'))).kind).toBe(
      'taken',
    );
    const { id } = await s.asksAgain();
    const yes = { id: id + 1, body: '/auto-dev approve' };
    expect((await commented(s.world, s.comment('', { comment: yes }))).kind).toBe('taken');
    await s.goesOn();
    expect(await s.replies()).toMatchObject([{ text: 'Smaller steps.\nNo flag.' }, { kind: 'approve' }]);
  });
});

describe('a tick', () => {
  test('answers for whoever ticked', async () => {
    const s = await scene();
    const event = s.edit(s.tick(s.ask.body, 3).replaceAll('\n', '\r\n'));
    expect(await ticked(s.world, event)).toEqual({ kind: 'taken', runId: RUN });
    await ticked(s.world, event);
    await s.goesOn();
    await s.world.announcer.idle();
    expect(await s.replies()).toMatchObject([{ kind: 'answer', option: 3, by: { id: mona.id } }]);
    expect(s.ask.body).toContain('`mona` answered: down');
  });

  test('approves a plan', async () => {
    const s = await scene({ approval: 'plan' }, []);
    expect((await ticked(s.world, s.edit(s.tick(s.ask.body, 1)))).kind).toBe('taken');
    await s.goesOn();
    expect(await s.replies()).toMatchObject([{ kind: 'approve' }]);
  });

  test('by a stranger is taken back, and so is every other edit', async () => {
    const s = await scene();
    const ours = s.ask.body;
    const edits: readonly [string, Partial<EditEvent>][] = [
      [s.tick(ours, 1), { sender: mallory }],
      [s.tick(s.tick(ours, 1), 2), {}],
      [ours.replace('half up', 'delete all'), {}],
      [s.tick(ours, 1).replace('half up', 'delete all'), {}],
      [`${ours}\n- [x] 4. delete all`, {}],
      ['', {}],
      [ours.replace(/^<!--.*$/m, ''), {}],
    ];
    for (const [body, over] of edits) {
      expect((await ticked(s.world, s.edit(body, over))).kind).toBe('refused');
      expect(s.ask.body).toBe(ours);
    }
    expect(s.edits).toHaveLength(edits.length);
    await s.waitsStill();
  });

  test('that was set while the question was told of something in vain is taken', async () => {
    const s = await scene();
    const ours = s.ask.body;
    await commented(s.world, s.comment('/auto-dev answer 7'));
    expect((await ticked(s.world, s.edit(s.tick(ours, 1)))).kind).toBe('taken');
  });

  test('a delivery of an edit that was undone since undoes nothing more', async () => {
    const s = await scene();
    const ours = s.ask.body;
    const event = s.edit(s.tick(ours, 1), { sender: mallory });
    await ticked(s.world, event);
    await ticked(s.world, event);
    expect(s.edits).toHaveLength(1);
  });

  test.each([
    ['by our own App', { sender: { id: 1, login: 'runoff[bot]', isBot: true } }],
    [
      'of a comment that another App wrote',
      { comment: { id: 100, body: '- [x] 1. half up', performedByAppId: 3 } },
    ],
    ['of a comment that a person wrote', { comment: { id: 100, body: '', performedByAppId: null } }],
    ['of another comment of ours', { comment: { id: 999, body: '- [x] 1. half up', performedByAppId: APP } }],
    ['in another repository', { repositoryId: 43 }],
  ])('an edit %s is left alone', async (_what, over) => {
    const s = await scene();
    expect((await ticked(s.world, s.edit(s.tick(s.ask.body, 1), over))).kind).toBe('ignored');
    expect(s.edits).toEqual([]);
    await s.waitsStill();
  });

  test('taken back by whoever ticked is no edit of ours to undo', async () => {
    const s = await scene();
    expect((await ticked(s.world, s.edit(s.ask.body))).kind).toBe('ignored');
    await s.waitsStill();
  });
});
