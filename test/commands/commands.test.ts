import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/core/commands/index.ts';
import type { TestRun } from '../../src/core/evidence/index.ts';
import { Fault, isFinal, RUN_STATES } from '../../src/core/model/index.ts';
import type { BaseCheckout, Sandbox, SandboxProbe, Workspaces } from '../../src/ports/index.ts';
import { viewOf, type World } from '../../src/runs/index.ts';
import { standingPicks } from '../../src/runs/picks.ts';
import { checkBase } from '../../src/runs/recipe/index.ts';
import { areNamesHidden } from '../../src/runs/shown.ts';
import { readSums } from '../world/ledger.ts';
import { partial } from '../world/partial.ts';
import { contextOf } from '../world/run-context.ts';
import { ada, atWork, boxes, type CommandWorld, commandWorld, shown, tick } from './command-world.ts';
import { mallory, RUN } from './dialogue-world.ts';
import { forbidden, openPull, SHA } from './fake-repository.ts';

const run = async (s: ReturnType<typeof commandWorld>, id = RUN) => (await s.store.run(id)) ?? expect.fail();
const picksOf = async (s: ReturnType<typeof commandWorld>) =>
  (await s.store.picks(RUN)).map(({ alias, by }) => `${by?.login} ${alias}`);

test('each command has a reply where no run exists', async () => {
  const s = commandWorld();
  openPull(s.repository, 12);
  const said: string[] = [];
  for (const { example } of Object.values(COMMANDS)) {
    for (const on of [7, 12]) {
      if (example === COMMANDS.help.example) continue;
      const { outcome, reply } = await s.say(example, { on });
      said.push(`#${on} ${example.split(' ')[1]}: ${outcome}. ${reply ?? 'No word.'}`);
      for (const living of await s.store.idsIn(RUN_STATES.filter((state) => !isFinal(state))))
        await s.store.transition(living, 'cancelled', 'mona cancelled it', 1);
    }
  }
  expect(said).toMatchInlineSnapshot(`
    [
      "#7 run: done. No word.",
      "#12 run: refused. **Runoff:** \`/auto-dev run\` works only on issues. On a pull request, \`/auto-dev review\` addresses review comments and \`/auto-dev fix\` fixes failing checks.",
      "#7 status: done. **Run \`r0000000001\`: cancelled**, –.

    It stopped because mona cancelled it.",
      "#12 status: done. There is no run here. To start one, comment \`/auto-dev run\` on an issue or add the label \`auto-dev\` to it.",
      "#7 cancel: refused. **Runoff:** There is no active run here.",
      "#12 cancel: refused. **Runoff:** There is no active run here.",
      "#7 retry: refused. **Runoff:** There is no run here to repeat. \`/auto-dev run\` starts one.",
      "#12 retry: refused. **Runoff:** There is no run here to repeat. \`/auto-dev review\` or \`/auto-dev fix\` starts one.",
      "#7 pick: refused. **Runoff:** No run has a result here yet. For its status, comment \`/auto-dev status\`.",
      "#12 pick: refused. **Runoff:** There is no run here. \`/auto-dev review\` or \`/auto-dev fix\` starts one.",
      "#7 vote: refused. **Runoff:** No run has a result here yet. For its status, comment \`/auto-dev status\`.",
      "#12 vote: refused. **Runoff:** There is no run here. \`/auto-dev review\` or \`/auto-dev fix\` starts one.",
      "#7 explain: refused. **Runoff:** No run has a result here yet. For its status, comment \`/auto-dev status\`.",
      "#12 explain: refused. **Runoff:** There is no run here. \`/auto-dev review\` or \`/auto-dev fix\` starts one.",
      "#7 answer: refused. **Runoff:** There is no active run here to answer.",
      "#12 answer: refused. **Runoff:** There is no active run here to answer.",
      "#7 debate: done. No word.",
      "#12 debate: refused. **Runoff:** No plan waits for approval here. Debates are started on issues.",
      "#7 approve: refused. **Runoff:** There is no active run here to answer.",
      "#12 approve: refused. **Runoff:** There is no active run here to answer.",
      "#7 revise: refused. **Runoff:** There is no active run here to answer.",
      "#12 revise: refused. **Runoff:** There is no active run here to answer.",
      "#7 ci: refused. **Runoff:** No run has a result here yet. For its status, comment \`/auto-dev status\`.",
      "#12 ci: refused. **Runoff:** There is no run here. \`/auto-dev review\` or \`/auto-dev fix\` starts one.",
      "#7 settings: refused. **Runoff:** No run has found commands that work here yet. For its status, comment \`/auto-dev status\`.",
      "#12 settings: refused. **Runoff:** There is no run here. \`/auto-dev review\` or \`/auto-dev fix\` starts one.",
      "#7 budget: refused. **Runoff:** There is no active run here, so there is no budget to change.",
      "#12 budget: refused. **Runoff:** There is no active run here, so there is no budget to change.",
      "#7 review: refused. **Runoff:** \`/auto-dev review\` works only on pull requests. On an issue, \`/auto-dev run\` starts a run.",
      "#12 review: done. No word.",
      "#7 fix: refused. **Runoff:** \`/auto-dev fix\` works only on pull requests. On an issue, \`/auto-dev run\` starts a run.",
      "#12 fix: done. No word.",
    ]
  `);
});

describe('on a finished run', () => {
  test('a person can read the status, vote, ask about one candidate and pick another', async () => {
    const s = commandWorld();
    await shown(s, 'pull');
    const said: string[] = [];
    for (const body of [
      '/auto-dev status',
      '/auto-dev vote C',
      '/auto-dev vote D',
      '/auto-dev vote Z',
      '/auto-dev explain Z',
      '/auto-dev ci',
      '/auto-dev pick D',
      '/auto-dev pick Z',
      '/auto-dev pick C',
      '/auto-dev pick C',
      '/auto-dev pick none',
      '/auto-dev retry Z',
      '/auto-dev cancel',
      '/auto-dev budget 5',
      '/auto-dev answer 1',
      '/auto-dev approve',
      '/auto-dev revise Smaller.',
    ]) {
      const { outcome, note, reply } = await s.say(body, { on: 11 });
      said.push(`${body}: ${outcome} (${note})${reply && reply !== note ? ` ${reply}` : ''}`);
    }
    expect(said).toMatchInlineSnapshot(`
      [
        "/auto-dev status: done (the run is published) **Run \`r0000000000\`: done, result published**, –. 4 of 4 coders finished. Spent $0.00 of <span>$</span>5.00. See [the status comment](https://github.test/c/1002) for details.",
        "/auto-dev vote C: done (recorded the vote for C)",
        "/auto-dev vote D: refused (Candidate \`D\` failed a gate or has no patch. \`B\`, \`C\`, \`A\` can be picked.) **Runoff:** Candidate \`D\` failed a gate or has no patch. \`B\`, \`C\`, \`A\` can be picked.",
        "/auto-dev vote Z: refused (Run \`r0000000000\` has no candidate \`Z\`. \`B\`, \`C\`, \`A\` can be picked.) **Runoff:** Run \`r0000000000\` has no candidate \`Z\`. \`B\`, \`C\`, \`A\` can be picked.",
        "/auto-dev explain Z: refused (Run \`r0000000000\` has no candidate \`Z\`; it has \`A\`, \`B\`, \`C\`, \`D\`.) **Runoff:** Run \`r0000000000\` has no candidate \`Z\`; it has \`A\`, \`B\`, \`C\`, \`D\`.",
        "/auto-dev ci: done (A commit without the skip marker was pushed to #11, so the repository's workflows start now.)",
        "/auto-dev pick D: refused (Candidate \`D\` failed a gate or has no patch. \`B\`, \`C\`, \`A\` can be picked.) **Runoff:** Candidate \`D\` failed a gate or has no patch. \`B\`, \`C\`, \`A\` can be picked.",
        "/auto-dev pick Z: refused (Run \`r0000000000\` has no candidate \`Z\`. \`B\`, \`C\`, \`A\` can be picked.) **Runoff:** Run \`r0000000000\` has no candidate \`Z\`. \`B\`, \`C\`, \`A\` can be picked.",
        "/auto-dev pick C: done (The pull request #11 now shows candidate C.)",
        "/auto-dev pick C: done (The pull request #11 already shows candidate C.)",
        "/auto-dev pick none: done (Recorded: no candidate is wanted. Close the pull request #11 yourself.)",
        "/auto-dev retry Z: refused (Run \`r0000000000\` has no candidate \`Z\`; it has \`A\`, \`B\`, \`C\`, \`D\`.) **Runoff:** Run \`r0000000000\` has no candidate \`Z\`; it has \`A\`, \`B\`, \`C\`, \`D\`.",
        "/auto-dev cancel: refused (There is no active run here.) **Runoff:** There is no active run here.",
        "/auto-dev budget 5: refused (There is no active run here, so there is no budget to change.) **Runoff:** There is no active run here, so there is no budget to change.",
        "/auto-dev answer 1: refused (There is no active run here to answer.) **Runoff:** There is no active run here to answer.",
        "/auto-dev approve: refused (There is no active run here to answer.) **Runoff:** There is no active run here to answer.",
        "/auto-dev revise Smaller.: refused (There is no active run here to answer.) **Runoff:** There is no active run here to answer.",
      ]
    `);
    expect(await picksOf(s)).toEqual(['mona C', 'mona C', 'mona null']);
    expect(s.repository.branches.size).toBe(5);
  });

  test('a candidate that failed a gate cannot be picked, whoever says so and however often (I7)', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    expect((await s.say('/auto-dev pick D')).outcome).toBe('refused');
    expect((await s.say('/auto-dev pick d', { by: ada })).outcome).toBe('refused');
    expect(await picksOf(s)).toEqual([]);
    expect((await run(s)).state).toBe('awaiting_pick');
    expect(s.repository.pulls.size).toBe(0);
  });

  test('an explanation has the patch and the reasons, and is posted where it was requested', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    const { outcome, reply } = await s.say('/auto-dev explain D');
    expect(outcome).toBe('done');
    expect(reply).toContain('It removes an assertion in `test/list.test.ts`, line 41.');
    expect(reply).toContain(`auto-dev/7/${RUN}/D`);
  });

  test('a pick makes the draft pull request, and the issue no longer asks', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    expect([...(s.repository.labels.get(7) ?? [])]).toEqual(['auto-dev:pick']);
    const { outcome, note, reply, reactions } = await s.say('/auto-dev pick C', { by: ada });
    expect({ outcome, note, reply, reactions }).toEqual({
      outcome: 'done',
      note: 'Candidate C is the draft pull request #11.',
      reply: null,
      reactions: ['eyes', 'rocket'],
    });
    expect(s.repository.pulls.get(11)).toMatchObject({
      draft: true,
      head: `auto-dev/7/${RUN}/C`,
      base: 'main',
    });
    expect(boxes(s).body).toContain('picked by `ada`');
    expect(boxes(s).body).not.toContain('- [ ]');
    expect([...(s.repository.labels.get(7) ?? [])]).toEqual(['auto-dev:done']);
  });

  test('a pick that met a fault does not count: the names stay hidden, and another one can be made', async () => {
    const s = commandWorld();
    await shown(s, 'choice', { settings: { blind: true } });
    s.repository.trouble.set('push', () => {
      throw new Fault('INTERNAL', 'The commit has another tree.');
    });
    expect(await s.say('/auto-dev pick B')).toMatchObject({
      outcome: 'refused',
      note: expect.stringContaining('The commit has another tree.'),
    });
    const waiting = await run(s);
    expect([waiting.state, (await viewOf(s.world, waiting)).picks]).toEqual(['awaiting_pick', undefined]);
    expect(await areNamesHidden(s.store, waiting)).toBe(true);
    s.repository.trouble.clear();
    expect((await s.say('/auto-dev pick C')).note).toBe('Candidate C is the draft pull request #11.');
    expect(await standingPicks(s.store, RUN)).toMatchObject([{ alias: 'C' }]);
  });

  test('a pick whose pull request was opened before a fault counts', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    // Other comments than the comparison: that on the new pull request.
    s.repository.trouble.set('comment', forbidden);
    expect((await s.say('/auto-dev pick B')).outcome).not.toBe('done');
    const { state, outcome } = await run(s);
    expect([state, outcome]).toMatchObject(['published', { kind: 'pull', number: 11 }]);
    expect(await standingPicks(s.store, RUN)).toMatchObject([{ alias: 'B' }]);
    s.repository.trouble.clear();
    expect((await s.say('/auto-dev pick C')).note).toBe('The pull request #11 now shows candidate C.');
    expect(s.repository.pulls.size).toBe(1);
  });

  test('`pick none` ends it without a pull request', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    expect((await s.say('/auto-dev pick none')).note).toBe(
      'None of the candidates was picked. No pull request was opened.',
    );
    expect((await run(s)).state).toBe('closed');
    expect(s.repository.pulls.size).toBe(0);
    expect([...(s.repository.labels.get(7) ?? [])]).toEqual([]);
    expect((await s.say('/auto-dev pick B')).reply).toMatchInlineSnapshot(
      `"**Runoff:** The run has ended without a pull request. To start again, comment \`/auto-dev retry\` on the issue."`,
    );
  });

  test('after the merge nothing can be voted for or picked', async () => {
    const s = commandWorld();
    await shown(s, 'pull');
    await s.store.transition(RUN, 'merged', 'its pull request was merged', s.now());
    for (const name of ['vote A', 'pick A', 'pick none'])
      expect(await s.say(`/auto-dev ${name}`, { on: 11 })).toMatchObject({
        note: 'Its pull request is merged, so the choice is made. For further changes, open a new issue.',
        reactions: ['eyes', 'confused'],
      });
    expect(await s.store.votes(RUN)).toEqual([]);
  });

  test('a cancel ends the waiting for a pick', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    expect((await s.say('/auto-dev cancel')).note).toBe('the run no longer waits for a choice');
    expect((await run(s)).state).toBe('closed');
    expect(boxes(s).body).toContain(
      '### No candidate was picked\n\n**B** is ranked first, but the evidence does not decide. It passes',
    );
    expect(boxes(s).body).toContain('The run ended before anyone chose, because mona cancelled it.');
    expect(boxes(s).body).not.toContain('- [ ]');
    expect((await s.say('/auto-dev pick B')).outcome).toBe('refused');
    expect(s.repository.pulls.size).toBe(0);
  });

  test.each([
    ['cancelled', 'The run was cancelled.'],
    ['failed', 'The run has failed.'],
    ['judged', 'is still being published: try again in a moment.'],
  ] as const)('nothing can be picked if it was %s before its end', async (state, why) => {
    const s = commandWorld();
    // The comparison stands there, and the end of publishing never came.
    const { transition } = s.store;
    s.store.transition = async (id, to, ...rest) =>
      to === 'awaiting_pick' ? 'judged' : transition(id, to, ...rest);
    await shown(s, 'choice');
    s.store.transition = transition;
    await s.store.transition(RUN, state, 'test', s.now());
    const { outcome, reply } = await s.say('/auto-dev pick B');
    expect(outcome).toBe('refused');
    expect(reply).toContain(why);
    await tick(s, 'B');
    expect([(await run(s)).state, await picksOf(s), s.repository.pulls.size]).toEqual([state, [], 0]);
  });

  test('a tick picks, and a later command picks another one onto the same branch', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    await tick(s, 'B');
    const opened = s.repository.branches.get(`auto-dev/7/${RUN}/B`);
    expect((await s.say('/auto-dev pick C', { on: 11, by: ada })).note).toBe(
      'The pull request #11 now shows candidate C.',
    );
    expect(s.repository.branches.get(`auto-dev/7/${RUN}/B`)).not.toBe(opened);
    expect([...s.repository.pulls.keys()]).toEqual([11]);
    expect(await picksOf(s)).toEqual(['mona B', 'ada C']);
    expect((await s.say('/auto-dev status', { on: 11 })).reply).toContain('result published');
  });

  test('the description of the pull request says who picked last, and whether CI runs', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    await tick(s, 'B');
    const described = () => {
      const { body = '' } = s.repository.pulls.get(11) ?? {};
      return body.match(/^\*\*(?:How sure:\*\* [^.]*|CI [^.]*)/gm);
    };
    expect(described()).toEqual(['**How sure:** candidate **B** of 4, picked by `mona`', '**CI is on hold']);
    await s.say('/auto-dev pick B', { on: 11, by: ada });
    await s.say('/auto-dev ci', { on: 11 });
    expect(described()).toEqual([
      '**How sure:** candidate **B** of 4, picked by `ada`',
      '**CI was started** with `/auto-dev ci`, by an empty commit',
    ]);
    await s.say('/auto-dev pick none', { on: 11 });
    expect(described()).toEqual([
      '**How sure:** `mona` rejected all candidates; this is candidate **B** of 4',
      '**CI was started** with `/auto-dev ci`, by an empty commit',
    ]);
    await s.say('/auto-dev pick C', { on: 11, by: ada });
    expect(described()).toEqual(['**How sure:** candidate **C** of 4, picked by `ada`', '**CI is on hold']);
  });

  test('what people wrote into the description stays when CI starts', async () => {
    const s = commandWorld();
    await shown(s, 'pull');
    const pull = s.repository.pulls.get(11);
    if (!pull) throw new Error('There is no pull request.');
    s.repository.pulls.set(11, { ...pull, body: `Read by Ada.\r\n${pull.body}` });
    await s.say('/auto-dev ci', { on: 11 });
    expect(s.repository.pulls.get(11)?.body).toMatch(/^Read by Ada\..*CI was started/s);
  });

  test('a pull request to which somebody pushed, or that is closed, is left alone', async () => {
    const s = commandWorld();
    await shown(s, 'pull');
    const branch = `auto-dev/7/${RUN}/B`;
    const ours = s.repository.branches.get(branch) ?? '';
    s.repository.branches.set(branch, 'f'.repeat(40));
    const pushed = await s.say('/auto-dev pick C', { on: 11 });
    s.repository.branches.set(branch, ours);
    openPull(s.repository, 11, { head: branch, state: 'closed' });
    const closed = await s.say('/auto-dev pick C', { on: 11 });
    const ci = await s.say('/auto-dev ci', { on: 11 });
    expect([pushed.reply, closed.reply, ci.reply]).toMatchInlineSnapshot(`
      [
        "**Runoff:** Someone pushed to the branch of \\#&#8203;11, so Runoff no longer changes it.",
        "**Runoff:** The pull request \\#&#8203;11 is closed. To work on the issue again, comment \`/auto-dev retry\` there.",
        "**Runoff:** The pull request \\#&#8203;11 is closed. To work on the issue again, comment \`/auto-dev retry\` there.",
      ]
    `);
    expect(s.repository.branches.get(branch)).toBe(ours);
  });

  test('`ci` is refused if CI is not held', async () => {
    const s = commandWorld();
    await shown(s, 'pull', { settings: { ci: 'run' } });
    expect((await s.say('/auto-dev ci', { on: 11 })).reply).toMatchInlineSnapshot(
      `"**Runoff:** CI is not on hold in this repository (\`ci: run\`): every push starts it."`,
    );
  });
});

/** What the test of the base commit needs; `meanwhile` is done while its tests are looked for, which passed before. */
function baseWorld({ world, artifacts, now }: CommandWorld, meanwhile: () => Promise<unknown>) {
  const tests: TestRun = {
    source: 'report',
    exitCode: 0,
    stopped: null,
    ms: 1,
    tests: { 'list.test.ts > last': 'passed' },
    tail: '',
  };
  const base: BaseCheckout = { sha: SHA, repositoryKey: 'k', lower: '/lower', layers: [] };
  const probe: SandboxProbe = { kind: 'ready', backend: 'bubblewrap', detail: 'bubblewrap', weaker: [] };
  const ports = {
    ...world,
    recipes: { recipe: async () => null, keepRecipe: async () => {} },
    sandbox: partial<Sandbox>({ probe: async () => probe }),
    coders: new Map(),
    workspaces: partial<Workspaces>({
      listFiles: async () => [],
      readFile: async () => null,
      fingerprint: async () => 'f',
      prepare: async () => base,
      fetchSubmodules: async (one: BaseCheckout) => one,
      async noteOf() {
        await meanwhile();
        return JSON.stringify({ at: now(), tests: await artifacts.put(JSON.stringify(tests)) });
      },
    }),
  };
  return partial<World>(ports, ['toolchains', 'registries']);
}

describe('on an active run', () => {
  test('each command has a reply', async () => {
    const s = commandWorld();
    await atWork(s);
    const said: string[] = [];
    for (const body of [
      '/auto-dev status',
      '/auto-dev run',
      '/auto-dev retry',
      '/auto-dev pick B',
      '/auto-dev answer 1',
      '/auto-dev approve',
      '/auto-dev budget 10',
      '/auto-dev budget 10.01',
      '/auto-dev cancel',
      '/auto-dev cancel',
    ]) {
      const { outcome, note, reply } = await s.say(body);
      said.push(`${body}: ${outcome} (${note})${reply && reply !== note ? ` ${reply}` : ''}`);
    }
    expect(said).toMatchInlineSnapshot(`
      [
        "/auto-dev status: done (the run is briefed) **Run \`r0000000000\`: stage 3 of 6, running the coders**, 1.0 s. Spent $0.00 of <span>$</span>5.00.",
        "/auto-dev run: refused (Run \`r0000000000\` is already active here. To cancel it, comment \`/auto-dev cancel\`.) **Runoff:** Run \`r0000000000\` is already active here. To cancel it, comment \`/auto-dev cancel\`.",
        "/auto-dev retry: refused (Run \`r0000000000\` is already active here. To cancel it, comment \`/auto-dev cancel\`.) **Runoff:** Run \`r0000000000\` is already active here. To cancel it, comment \`/auto-dev cancel\`.",
        "/auto-dev pick B: refused (No run has a result here yet. For its status, comment \`/auto-dev status\`.) **Runoff:** No run has a result here yet. For its status, comment \`/auto-dev status\`.",
        "/auto-dev answer 1: refused (Run \`r0000000000\` is not waiting for an answer.) **Runoff:** Run \`r0000000000\` is not waiting for an answer.",
        "/auto-dev approve: refused (Run \`r0000000000\` is not waiting for an answer.) **Runoff:** Run \`r0000000000\` is not waiting for an answer.",
        "/auto-dev budget 10: done (the budget of the run is now $10.00)",
        "/auto-dev budget 10.01: refused (The operator of this server allows at most $10.00 per run (MAX_BUDGET_RUN).) **Runoff:** The operator of this server allows at most <span>$</span>10.00 per run (MAX\\_BUDGET\\_RUN).",
        "/auto-dev cancel: done (the run is cancelled)",
        "/auto-dev cancel: refused (There is no active run here.) **Runoff:** There is no active run here.",
      ]
    `);
    expect(s.engine.cancelled).toEqual([RUN]);
  });

  test('`budget` changes the settings, which the gateway reads with every booking', async () => {
    const s = commandWorld();
    await atWork(s);
    await s.say('/auto-dev budget 7.50');
    expect((await run(s)).task?.settings.budget).toMatchObject({ run: 7.5, candidate: 2 });
    const whose = { runId: RUN, spender: 'A', repository: 'github-42', dayFrom: 0, underWayFrom: 0 };
    expect((await readSums(s.store, whose)).runCap).toBe(7.5);
  });

  test('`budget` is refused at what the run has spent, which would stop it', async () => {
    const s = commandWorld();
    await atWork(s);
    const whose = { runId: RUN, spender: 'brief', repository: 'github-42', dayFrom: 0, underWayFrom: 0 };
    const call = { tokensIn: 1, tokensOut: 1, tokensCached: 0, tokensReasoning: 0, exact: true, status: 200 };
    const row = { ...whose, ...call, model: 'anthropic/m', usd: 0.29, ms: 1, at: s.now() };
    await s.store.bookCall(whose, () => row);
    for (const usd of ['0.01', '0.29'])
      expect((await s.say(`/auto-dev budget ${usd}`)).note).toBe(
        'The run has already spent $0.29, so the least is $0.30. To stop it, comment `/auto-dev cancel`.',
      );
    expect((await run(s)).task?.settings.budget.run).toBe(5);
    expect((await s.say('/auto-dev budget 0.30')).outcome).toBe('done');
  });

  test('`budget` counts that is set while the base commit is tested', async () => {
    const s = commandWorld();
    await atWork(s, { settings: { checks: { test: 'npm test' } } });
    await checkBase(
      baseWorld(s, () => s.say('/auto-dev budget 1')),
      await contextOf(s.world, RUN),
    );
    const { task, checks } = await run(s);
    expect(task?.settings.budget).toMatchObject({ run: 1, candidate: 2 });
    expect(checks).toMatchObject({ test: 'npm test', settled: true, base: { passed: 1 } });
  });

  test('`run` on the issue is possible during a review of its pull request', async () => {
    const s = commandWorld();
    await shown(s, 'pull');
    await atWork(s, { id: 'r0000000009', origin: { issue: 11, work: 'review' } });
    expect((await s.say('/auto-dev review', { on: 11 })).outcome).toBe('refused');
    expect((await s.say('/auto-dev run')).outcome).toBe('done');
  });
});

describe('a run that a command starts', () => {
  test('has the options of the command, its author and the current text', async () => {
    const s = commandWorld();
    const body =
      '/auto-dev run -n 3 --models anthropic/a,openai/b --evaluator human --budget 8 --timeout 30m --base release/2';
    const { outcome, reactions, reply } = await s.say(body, { by: ada });
    expect({ outcome, reactions, reply }).toEqual({
      outcome: 'done',
      reactions: ['eyes', 'rocket'],
      reply: null,
    });
    expect(s.engine.started).toEqual(['r0000000001']);
    const { origin, request } = await run(s, 'r0000000001');
    expect(origin).toMatchObject({ issue: 7, requestedBy: { id: ada.id, login: 'ada' } });
    expect(request).toMatchObject({
      text: { title: 'last() returns undefined' },
      trigger: 'command',
      base: 'release/2',
      overrides: {
        candidates: 3,
        coders: [
          { agent: 'builtin', model: 'anthropic/a' },
          { agent: 'builtin', model: 'openai/b' },
        ],
        evaluator: ['human'],
        timeoutSeconds: 1_800,
        budgetUsd: 8,
      },
    });
  });

  test('as a retry has the same options, and with a letter the same base commit', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    await s.say('/auto-dev retry', { by: ada });
    await s.store.transition('r0000000001', 'cancelled', 'test', s.now());
    await s.say('/auto-dev retry c');
    expect((await run(s, 'r0000000001')).request).toMatchObject({ overrides: { candidates: 4 } });
    expect((await run(s, 'r0000000001')).request).not.toHaveProperty('carry');
    expect((await run(s, 'r0000000002')).request).toMatchObject({
      overrides: { candidates: 4 },
      base: (await run(s)).task?.base.sha,
      carry: { run: RUN, again: 'C' },
    });
  });

  test('as a retry takes options in place of those that the run had', async () => {
    const s = commandWorld();
    await shown(s, 'choice');
    await s.say('/auto-dev retry all -n 2 --budget 3', { by: ada });
    expect((await run(s, 'r0000000001')).request).toMatchObject({
      overrides: { candidates: 2, budgetUsd: 3 },
    });
  });

  test.each(['review', 'fix'] as const)('with %s works on the pull request', async (work) => {
    const s = commandWorld();
    openPull(s.repository, 12);
    expect((await s.say(`/auto-dev ${work}`, { on: 12, line: true })).reactions).toEqual(['eyes', 'rocket']);
    expect((await run(s, 'r0000000001')).origin).toMatchObject({ issue: 12, work });
    expect(s.repository.reactions.every((one) => one.startsWith('line '))).toBe(true);
    expect((await run(s, 'r0000000001')).request).toMatchObject({ command: { thread: 12, on: 'line' } });
  });
});

describe('a command that could start no run', () => {
  const EYES_AND_NO = ['eyes', 'confused'];

  test.each(['run', 'retry', 'retry B', 'debate'])('is refused on a closed issue: `%s`', async (name) => {
    const s = commandWorld();
    await shown(s, 'pull');
    s.repository.issue = { ...s.repository.issue, open: false };
    const { reactions, reply } = await s.say(`/auto-dev ${name}`);
    expect(reactions).toEqual(EYES_AND_NO);
    expect(reply).toBe('**Runoff:** The issue is closed. Reopen it, then give the command again.');
    expect(s.engine.started).toEqual([]);
  });

  test('is refused in the conversation in which it was given', async () => {
    const s = commandWorld();
    await shown(s, 'pull');
    s.repository.issue = { ...s.repository.issue, open: false };
    const { reactions, note } = await s.say('/auto-dev retry', { on: 11 });
    expect(reactions).toEqual(EYES_AND_NO);
    expect(note).toBe('The issue #7 is closed. Reopen it, then give the command again.');
  });

  test.each(['review', 'fix'])('is refused on a closed pull request: `%s`', async (name) => {
    const s = commandWorld();
    openPull(s.repository, 12, { state: 'closed' });
    const { reactions, reply } = await s.say(`/auto-dev ${name}`, { on: 12 });
    expect(reactions).toEqual(EYES_AND_NO);
    expect(reply).toContain('The pull request is no longer open.');
  });

  test('is refused while the run of another command waits for its turn', async () => {
    const s = commandWorld();
    await shown(s, 'pull');
    await s.say('/auto-dev retry', { on: 11 });
    const [first = ''] = s.engine.started;
    const queueEntry = { share: 'lists', priority: 1, since: s.now() };
    await s.store.updateRun(first, { queueEntry }, s.now());
    for (const on of [7, 11]) {
      const { reactions, note } = await s.say('/auto-dev retry', { on });
      expect(reactions).toEqual(EYES_AND_NO);
      expect(note).toContain(`Run \`${first}\` is already active here.`);
    }
    expect(s.engine.started).toEqual([first]);
  });
});

describe('text that is not a command', () => {
  test('is answered with the probable command', async () => {
    const s = commandWorld();
    const said: (string | null)[] = [];
    for (const body of [
      '/auto-dev pikc B',
      '/auto-dev merge',
      '/auto-dev run --candidats 3',
      '/auto-dev cancel it please',
      '/auto-dev status\n/auto-dev cancel',
      '/auto-dev rerun',
      '/auto-dev @acme/all <!--',
    ])
      said.push((await s.say(body)).reply);
    expect(said).toMatchInlineSnapshot(`
      [
        "**Not understood:** \`/auto-dev pikc\`. There is no such command. Did you mean \`/auto-dev pick B\`, which opens the pull request with this candidate, or replaces the current one; \`none\` rejects them all? For all commands, comment \`/auto-dev help\`.",
        "**Not understood:** \`/auto-dev merge\`. There is no such command. For all commands, comment \`/auto-dev help\`.",
        "**Not understood:** \`/auto-dev run\`. There is no option \`--candidats\`. Did you mean \`--candidates\`? For all commands, comment \`/auto-dev help\`.",
        "**Not understood:** \`/auto-dev cancel it please\`. \`cancel\` takes no further text, and a comment gives one command: write only \`/auto-dev cancel\`. For all commands, comment \`/auto-dev help\`.",
        "**Not understood:** \`/auto-dev status /auto-dev cancel\`. \`status\` takes no further text, and a comment gives one command: write only \`/auto-dev status\`. For all commands, comment \`/auto-dev help\`.",
        "**Not understood:** \`/auto-dev rerun\`. There is no such command. Did you mean \`/auto-dev retry B\`, which repeats the whole run, with other options where they are given, or only the contestant of one candidate, who competes with the existing candidates? For all commands, comment \`/auto-dev help\`.",
        "**Not understood:** <code>/auto-dev &#64;&#8203;acme/all</code>. There is no such command. For all commands, comment \`/auto-dev help\`.",
      ]
    `);
    expect(s.engine.started).toEqual([]);
  });

  test('is answered by a `help` that lists every command', async () => {
    const s = commandWorld();
    const { outcome, reply } = await s.say('/auto-dev help');
    expect(outcome).toBe('done');
    for (const { usage } of Object.values(COMMANDS)) expect(reply).toContain(usage[0]);
  });
});

test('a stranger gets no reply, on an issue, a pull request or a line', async () => {
  const s = commandWorld();
  await shown(s, 'pull');
  const before = s.repository.comments.length;
  for (const { example } of Object.values(COMMANDS)) {
    for (const where of [{ on: 7 }, { on: 11 }, { on: 11, line: true }])
      expect(await s.say(example, { by: mallory, ...where })).toMatchObject({ reply: null, reactions: [] });
    s.later(60_000);
  }
  expect(new Set((await s.store.commands(42, 100)).map(({ outcome }) => outcome?.kind))).toEqual(
    new Set(['ignored']),
  );
  expect(s.repository.comments).toHaveLength(before);
  expect(s.engine.started).toEqual([]);
  expect(await s.store.picks(RUN)).toEqual([]);
});

test('on a pull request from a fork a writer gets help, and a refusal for every other command', async () => {
  const s = commandWorld();
  openPull(s.repository, 12, { headRepositoryId: 99, foreignSha: 'e'.repeat(40) });
  const answers = new Set<string | null>();
  for (const { example } of Object.values(COMMANDS)) {
    if (example !== COMMANDS.help.example) answers.add((await s.say(example, { on: 12 })).reply);
  }
  expect([...answers]).toMatchInlineSnapshot(`
    [
      "**Runoff:** This pull request comes from a fork, and Runoff only accepts commands on pull requests from this repository. Push the branch to this repository and open a pull request from it.",
    ]
  `);
  expect((await s.say('/auto-dev help', { on: 12 })).outcome).toBe('done');
  expect(s.engine.started).toEqual([]);
});
