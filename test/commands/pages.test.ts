import { afterEach, describe, expect, test, vi } from 'vitest';
import { openCommandIntake, type PageCommand } from '../../src/commands/index.ts';
import type { Engine } from '../../src/ports/index.ts';
import { RunRequest } from '../../src/runs/index.ts';
import { ada, atWork, boxes, type CommandWorld, commandWorld, shown } from './command-world.ts';
import { asking, mallory, mona, RUN } from './dialogue-world.ts';
import { down, openPull } from './fake-repository.ts';

type Request = Partial<Omit<PageCommand, 'about'>> & {
  readonly picks?: number;
  readonly inquiry?: number;
  readonly about?: PageCommand['about'];
};
let keys = 0;
const request = (text: string, { picks, inquiry, ...over }: Request = {}): PageCommand => ({
  via: 'page',
  key: `k${++keys}`,
  by: mona,
  text,
  about: {
    run: RUN,
    ...(picks === undefined ? {} : { picks }),
    ...(inquiry === undefined ? {} : { inquiry }),
  },
  ...over,
});

/** What the page says afterwards. */
async function press(s: CommandWorld, text: string, over: Request = {}): Promise<string> {
  const result = await s.intake.onPage(request(text, over));
  if (result.kind !== 'recorded') return `not stored: ${result.why}`;
  await s.intake.idle();
  await s.world.announcer.idle();
  const { outcome } = (await s.intake.outcome(result.command, 1)) ?? {};
  if (!outcome) return 'open';
  return `${outcome.kind}: ${outcome.kind === 'done' ? outcome.note : outcome.why}`;
}

const picksOf = async (s: CommandWorld) =>
  (await s.store.picks(RUN)).map(({ alias, by }) => `${by?.login} ${alias}`);
const stateOf = async (s: CommandWorld, id = RUN) => (await s.store.run(id))?.state;

describe('a page of a run', () => {
  test('has the effects of a comment, and writes no reply and no reaction', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    const onIssue = () => s.repository.comments.filter(({ on }) => on === 7).length;
    const before = onIssue();
    expect(await press(s, '/auto-dev vote C', { by: ada })).toBe('done: recorded the vote for C');
    expect(await press(s, '/auto-dev pick D')).toMatch(/^refused: Candidate `D` failed a gate/);
    expect(await press(s, '/auto-dev pick C')).toBe('done: Candidate C is the draft pull request #11.');
    expect(boxes(s).body).toContain('picked by `mona`');
    expect(s.repository.reactions.filter((one) => !one.startsWith('#'))).toEqual([]);
    expect(onIssue()).toBe(before);
    const audit = await s.store.audited({ run: RUN, limit: 50 });
    expect(audit.filter(({ entry }) => entry.kind === 'command')).toHaveLength(3);
  });

  test('means its own run, whatever started later in the same issue', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    const later = await atWork(s, { id: 'r0000000077' });
    expect(await press(s, '/auto-dev budget 4')).toMatch(/^refused: There is no active run here/);
    expect(await press(s, '/auto-dev retry')).toMatch(`refused: Run \`${later}\` is already active here`);
    expect(await press(s, '/auto-dev cancel')).toBe('done: the run no longer waits for a choice');
    expect([await stateOf(s), await stateOf(s, later)]).toEqual(['closed', 'briefed']);
    expect(await press(s, '/auto-dev cancel', { about: { run: later } })).toBe('done: the run is cancelled');
    expect(await stateOf(s, later)).toBe('cancelled');
  });

  test('means its own run, even if fifty others of the same issue came after it', async () => {
    const s = commandWorld();
    await shown(s, 'pull');
    await s.store.transition(RUN, 'merged', 'its pull request was merged', s.now());
    for (let n = 0; n < 50; n++) {
      s.later(1_000);
      await s.store.transition(await atWork(s, { id: `later-${n}` }), 'cancelled', 'asked', s.now());
    }
    expect(await press(s, '/auto-dev vote C')).toContain('refused: Its pull request is merged');
    expect(await press(s, '/auto-dev explain C')).toBe('done: explained candidate C');
  });

  test('whoever picks second, of two who saw the same page, is told who was first', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    const both = [
      request('/auto-dev pick B', { picks: 0 }),
      request('/auto-dev pick C', { picks: 0, by: ada }),
    ] as const;
    await Promise.all(both.map((one) => s.intake.onPage(one)));
    await s.intake.idle();
    expect(await picksOf(s)).toEqual(['mona B']);
    expect((await s.store.command(`page:${ada.id}:${both[1].key}`))?.outcome).toEqual({
      kind: 'refused',
      why: 'mona picked candidate B after your page was loaded, so your pick was not applied. If you still want it, pick again.',
    });
    expect(await press(s, '/auto-dev pick C', { picks: 1, by: ada })).toBe(
      'done: The pull request #11 now shows candidate C.',
    );
  });

  test('that has seen the last pick replaces it, even if the clock of this host is behind that of GitHub', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    await s.say('/auto-dev pick B', { at: s.now() + 60_000 });
    expect(await press(s, '/auto-dev pick C', { picks: 1 })).toBe(
      'done: The pull request #11 now shows candidate C.',
    );
  });

  test('a form that is sent twice acts once, and what was typed into it in between does not count', async () => {
    const s = commandWorld();
    await shown(s, 'pull');
    const first = request('/auto-dev retry');
    const sent = await Promise.all([first, first, first].map((one) => s.intake.onPage(one)));
    expect(sent.map(({ kind }) => kind)).toEqual(['recorded', 'recorded', 'recorded']);
    await s.intake.idle();
    expect(s.engine.started).toHaveLength(1);
    s.repository.trouble.set('issue', down);
    expect(await s.intake.onPage(first)).toEqual(sent[0]);
    expect(await s.intake.onPage({ ...first, text: '/auto-dev cancel' })).toMatchObject({ kind: 'refused' });
    expect(await s.intake.onPage({ ...first, by: ada, text: '/auto-dev vote A' })).toMatchObject({
      kind: 'recorded',
    });
  });

  test('a writer who lost the right since the page was loaded changes nothing', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    expect(await press(s, '/auto-dev vote C')).toMatch(/^done/);
    s.repository.rights[mona.id] = 'read';
    expect(await press(s, '/auto-dev pick C')).toBe(
      'ignored: the author has no write access to the repository',
    );
    expect(await press(s, '/auto-dev pick C')).toMatch(/^not stored: You have no write access/);
    expect(await press(s, '/auto-dev pick C', { by: mallory })).toMatch(/^ignored/);
    expect(await picksOf(s)).toEqual([]);
  });

  test('while GitHub does not answer, nothing counts as allowed, and the command waits', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    s.repository.trouble.set('permission', down);
    expect(await press(s, '/auto-dev pick C', { key: 'later' })).toBe('open');
    expect(await picksOf(s)).toEqual([]);
    s.repository.trouble.clear();
    await s.again();
    expect(await picksOf(s)).toEqual(['mona C']);
  });

  test('a run that starts again has the text of the issue as it was at that moment', async () => {
    const s = commandWorld();
    await shown(s, 'pull');
    s.repository.issue = { ...s.repository.issue, title: 'Edited', body: 'Before the press.' };
    await s.intake.onPage(request('/auto-dev retry'));
    s.repository.issue = { ...s.repository.issue, body: 'After it.' };
    await s.intake.idle();
    const [started] = s.engine.started;
    const { text } = RunRequest.parse((await s.store.run(started ?? ''))?.request);
    expect([text.title, await s.artifacts.get(text.body)]).toEqual(['Edited', 'Before the press.']);
  });

  test('text that is no command, an unknown run and too long an answer are refused before anything is stored', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    const said = [
      await press(s, 'pick C'),
      await press(s, '/auto-dev pick everything'),
      await press(s, '/auto-dev pick C', { about: { run: 'r9999999999' } }),
      await press(s, `/auto-dev answer ${'x'.repeat(9_000)}`),
    ];
    expect(said).toMatchInlineSnapshot(`
      [
        "not stored: This is not a command.",
        "not stored: It does not take \`everything\`. Write \`/auto-dev pick B\` or \`/auto-dev pick none\`.",
        "not stored: There is no such run.",
        "not stored: The text is longer than 8,000 characters. Shorten it.",
      ]
    `);
    expect(await s.store.commands(s.repository.handle.repositoryId, 10)).toEqual([]);
  });
});

describe('the API', () => {
  test('starts a run on an issue, with options, as a comment would', async () => {
    const s = commandWorld();
    const about = { repository: s.repository.handle, thread: 7 };
    expect(await press(s, '/auto-dev run -n 3 --budget 4', { via: 'api', about })).toBe(
      'done: started a run',
    );
    const [started] = s.engine.started;
    expect((await s.store.run(started ?? ''))?.request).toMatchObject({
      trigger: 'command',
      overrides: { candidates: 3, budgetUsd: 4 },
    });
    openPull(s.repository, 12);
    s.repository.issue = { ...s.repository.issue, number: 12, isPull: true };
    expect(await press(s, '/auto-dev run', { via: 'api', about: { ...about, thread: 12 } })).toMatch(
      /^refused: `\/auto-dev run` works only on issues/,
    );
  });

  test('starts nothing for people without write access, or while GitHub cannot be asked', async () => {
    const s = commandWorld();
    const about = { repository: s.repository.handle, thread: 7 };
    expect(await press(s, '/auto-dev run', { via: 'api', about, by: mallory })).toMatch(/^ignored/);
    s.repository.trouble.set('issue', down);
    await expect(s.intake.onPage(request('/auto-dev run', { about }))).rejects.toMatchObject({
      code: 'GITHUB_UNAVAILABLE',
    });
    expect(s.engine.started).toEqual([]);
  });
});

describe('a question on a page', () => {
  const engines: Engine[] = [];
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.shutdown(0);
  });
  async function scene() {
    const opened = await asking();
    engines.push(opened.engine);
    await vi.waitFor(() => expect(opened.asked()).toBeDefined(), 5_000);
    const intake = openCommandIntake(opened.world);
    const press = async (text: string, over: Request = {}) => {
      const result = await intake.onPage(request(text, over));
      await intake.idle();
      if (result.kind !== 'recorded') return result.why;
      const outcome = (await opened.store.command(result.command))?.outcome;
      return outcome?.kind === 'done' ? outcome.note : outcome?.why;
    };
    return { ...opened, press };
  }

  test('is answered there, and its comment shows who answered what', async () => {
    const s = await scene();
    expect(await s.press('/auto-dev answer 2', { inquiry: 1 })).toBe('the run continues with it');
    expect(await s.engine.settled(RUN)).toEqual({ kind: 'done', value: 'agreed' });
    await s.world.announcer.idle();
    expect(s.asked()?.body).toContain('`mona` answered: half even');
    expect(s.reactions).toEqual([]);
  });

  test('an answer to a question that is no longer open is refused, and the comment stays as it is', async () => {
    const s = await scene();
    const before = s.asked()?.body;
    expect(await s.press('/auto-dev answer 2', { inquiry: 7 })).toMatch(
      /^The question on your page is settled/,
    );
    expect(await s.press('/auto-dev approve', { inquiry: 1 })).toMatch(/./);
    expect(s.asked()?.body).toBe(before);
    expect(await s.replies()).toEqual([]);
  });
});
