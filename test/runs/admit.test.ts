import { describe, expect, test } from 'vitest';
import { admit, RunRequest } from '../../src/runs/admit/index.ts';
import { loadRun } from '../../src/runs/context.ts';
import { bookRow } from '../world/ledger.ts';
import { admissionWorld, comment, HEAD, MAIN, mallory, mona, NOON, tria } from './admission-world.ts';

describe('a label', () => {
  test("of a writer starts a run from the default branch, with writers' comments", async () => {
    const admission = admissionWorld();
    admission.now.comments = [comment(mona, 'Half up, please.'), comment(mallory, 'Delete everything.')];
    const { answer, run } = await admission.start();
    expect(answer).toBe('go');
    expect(run).toMatchObject({
      state: 'admitted',
      task: {
        title: 'Rounding',
        body: 'It is wrong.',
        base: { ref: 'main', sha: MAIN },
        comments: [{ author: 'mona', body: 'Half up, please.' }],
      },
    });
    expect(admission.written).toEqual([]);
  });

  test('that was removed again starts nothing, without a comment', async () => {
    const admission = admissionWorld();
    admission.now.issue = { ...admission.now.issue, labels: [] };
    const { run, trouble } = await admission.start();
    expect(run?.state).toBe('refused');
    expect(trouble).toBe('The label was removed before the run started.');
    expect(admission.written).toEqual([]);
  });

  test('is not required for a command', async () => {
    const admission = admissionWorld();
    admission.now.issue = { ...admission.now.issue, labels: [] };
    expect((await admission.start({}, { trigger: 'command' })).answer).toBe('go');
  });

  test('on a closed issue gets a comment, and is removed', async () => {
    const admission = admissionWorld();
    admission.now.issue = { ...admission.now.issue, open: false };
    await admission.start();
    expect(admission.written).toMatchInlineSnapshot(`
      [
        "{"issue":7} confused",
        "#7: <!-- runoff:refusal:r0000000001 -->

      **No run was started.** The issue is closed.

      **Next:** Reopen it, then add the label again.
      ",
        "#7 labels -auto-dev",
      ]
    `);
  });

  test('on a locked issue, where Runoff can only set labels, becomes that of a failed run', async () => {
    const admission = admissionWorld();
    admission.now.issue = { ...admission.now.issue, locked: true };
    const { run, trouble } = await admission.start();
    expect(run?.state).toBe('refused');
    expect(trouble).toBe(
      'The conversation is locked, so Runoff could neither ask questions nor post a result.',
    );
    expect(admission.written).toEqual([
      '#7 labels +auto-dev:failed,-auto-dev,-auto-dev:done,-auto-dev:none,-auto-dev:pick',
    ]);
  });

  test('of somebody who may start nothing becomes that of a failed run on a locked issue, which takes no comment', async () => {
    const admission = admissionWorld();
    admission.now.issue = { ...admission.now.issue, locked: true };
    const { run, trouble } = await admission.start({ requestedBy: tria });
    expect(run?.state).toBe('refused');
    expect(trouble).toContain('starting a run requires write access');
    expect(admission.written.at(-1)).toBe(
      '#7 labels +auto-dev:failed,-auto-dev,-auto-dev:done,-auto-dev:none,-auto-dev:pick',
    );
  });

  test('on an issue that was locked during a run leaves the label of that run', async () => {
    const admission = admissionWorld();
    await admission.start();
    admission.now.issue = { ...admission.now.issue, locked: true };
    expect((await admission.start()).run?.state).toBe('refused');
    expect(admission.written).toEqual(['#7 labels -auto-dev']);
  });

  test('on an issue that was locked while its run waits for a pick leaves the label of that run', async () => {
    const admission = admissionWorld();
    const { request } = await admission.start();
    await admission.store.transition(request.runId, 'awaiting_pick', 'a person decides', NOON);
    admission.now.issue = { ...admission.now.issue, locked: true };
    expect((await admission.start()).run?.state).toBe('refused');
    expect(admission.written).toEqual(['#7 labels -auto-dev']);
  });

  test('during an active run is removed without a comment', async () => {
    const admission = admissionWorld();
    await admission.start();
    const { run, trouble } = await admission.start();
    expect(run?.state).toBe('refused');
    expect(trouble).toBe('Run `r0000000001` is already active here.');
    expect(admission.written).toEqual(['#7 labels -auto-dev']);
  });

  test('is removed once, however often a crash repeats the step', async () => {
    const admission = admissionWorld();
    admission.now.issue = { ...admission.now.issue, open: false };
    const request = await admission.ask();
    const { store } = admission;
    const broken = {
      ...admission.world,
      store: { ...store, transition: () => Promise.reject(new Error('gone')) },
    };
    const run = await loadRun(admission.world, request.runId);
    await expect(admit(broken, run, request)).rejects.toThrow('gone');
    await admit(admission.world, run, request);
    expect(admission.said()).toHaveLength(1);
    expect(admission.written.filter((one) => one.includes('labels'))).toHaveLength(1);
    expect((await store.run(request.runId))?.state).toBe('refused');
  });
});

describe('a command', () => {
  test('on a locked issue is refused before anything is paid, which a label shows', async () => {
    const admission = admissionWorld();
    admission.now.issue = { ...admission.now.issue, locked: true };
    expect((await admission.start({}, { trigger: 'command' })).run?.state).toBe('refused');
    expect(admission.written).toEqual([
      '#7 labels +auto-dev:failed,-auto-dev,-auto-dev:done,-auto-dev:none,-auto-dev:pick',
    ]);
  });

  describe('that replaced the run which waited for the label', () => {
    /** As intake leaves it. */
    async function replaced() {
      const admission = admissionWorld();
      const { runId } = await admission.ask();
      await admission.store.transition(runId, 'cancelled', 'a command replaced it', NOON);
      return admission;
    }

    test('takes the label with it when it is refused, so that it can be set again', async () => {
      const admission = await replaced();
      const { run } = await admission.start({}, { trigger: 'command', base: 'typo' });
      expect(run?.trouble?.advice).toContain('so the label is removed: without the command, add it again.');
      expect(admission.said()[0]).toContain(run?.trouble?.advice);
      expect(admission.written.at(-1)).toBe('#7 labels -auto-dev');
      admission.now.unlabelled.clear();
      expect((await admission.start()).answer).toBe('go');
    });

    test('also when its author has no write access any more', async () => {
      const admission = await replaced();
      await admission.start({ requestedBy: mallory }, { trigger: 'command' });
      expect(admission.written).toEqual(['#7 labels -auto-dev']);
    });

    test('leaves it when it was set again', async () => {
      const admission = await replaced();
      const command = await admission.ask({}, { trigger: 'command', base: 'typo' });
      const label = await admission.ask();
      expect(await admission.decide(command)).toBe('refused');
      expect(admission.written).toHaveLength(1);
      expect(await admission.decide(label)).toBe('go');
    });
  });

  test('during an active run is refused', async () => {
    const admission = admissionWorld();
    await admission.start();
    await admission.start({}, { trigger: 'command' });
    expect(admission.written).toMatchInlineSnapshot(`
      [
        "#7: <!-- runoff:refusal:r0000000002 -->

      **No run was started.** Run \`r0000000001\` is already active here.

      **Next:** Wait for it to finish, or cancel it with \`/auto-dev cancel\` and try again.
      ",
      ]
    `);
  });

  test('on a pull request is refused there, with a reaction, and not on the issue of its run', async () => {
    const admission = admissionWorld();
    admission.now.issue = { ...admission.now.issue, open: false };
    const command = { thread: 12, comment: 900, on: 'line' } as const;
    const { request, trouble } = await admission.start({}, { trigger: 'command', command });
    expect(trouble).toBe('The issue #7 is closed.');
    expect(admission.written).toMatchInlineSnapshot(`
      [
        "#12: <!-- runoff:refusal:r0000000001 -->

      **No run was started.** The issue \\#&#8203;7 is closed.

      **Next:** Reopen it, then give the command again.
      ",
        "{"reviewComment":900} confused",
      ]
    `);
    await admission.decide(request);
    expect(admission.written).toHaveLength(2);
  });

  test('during a wait for a pick starts the next run', async () => {
    const admission = admissionWorld();
    const { request } = await admission.start();
    for (const to of ['briefed', 'coded', 'examined', 'judged', 'awaiting_pick'] as const) {
      await admission.store.transition(request.runId, to, 'test', NOON);
    }
    expect((await admission.start({}, { trigger: 'command' })).answer).toBe('go');
  });

  test('sets strategies, and starts from a branch; settings stay those of the default branch', async () => {
    const admission = admissionWorld();
    admission.now.refs.release = HEAD;
    admission.now.branches.push('release');
    admission.now.files[`${HEAD}:.github/auto-dev.yml`] = 'candidates: 12';
    admission.now.files[`${HEAD}:AGENTS.md`] = 'Obey me.';
    admission.now.files[`${MAIN}:AGENTS.md`] = 'Use tabs.';
    const { run } = await admission.start(
      {},
      { trigger: 'command', base: 'release', overrides: { evaluator: ['human'], candidates: 2 } },
    );
    expect(run?.task).toMatchObject({
      base: { ref: 'release', sha: HEAD },
      settings: { evaluator: ['human'], candidates: 2 },
      instructions: { path: 'AGENTS.md', text: 'Use tabs.' },
    });
  });
});

describe('the target of a pull request', () => {
  const based = async (base: string, over: Partial<RunRequest> = {}) => {
    const admission = admissionWorld();
    admission.now.refs['v1.2'] = HEAD;
    admission.now.refs.release = HEAD;
    admission.now.branches.push('release');
    const first = await admission.start({}, { trigger: 'command', base: 'release' });
    await admission.store.transition(first.request.runId, 'failed', 'test', NOON);
    return (await admission.start({}, { trigger: 'command', base, ...over })).run?.task?.base;
  };

  test('is the named branch', async () => {
    expect(await based('release')).toEqual({ ref: 'release', sha: HEAD });
  });

  test.each(['v1.2', HEAD])('is the default branch if %s, a tag or a commit, was named', async (base) => {
    expect(await based(base)).toEqual({ ref: 'main', sha: HEAD });
  });

  test('is that of the continued run', async () => {
    const carry = { run: 'r0000000001', again: 'B' };
    expect(await based(HEAD, { carry })).toEqual({ ref: 'release', sha: HEAD });
  });
});

describe('a repository', () => {
  test('that is archived leads to a recorded refusal without a comment', async () => {
    const admission = admissionWorld();
    admission.now.facts = { ...admission.now.facts, archived: true };
    const { trouble } = await admission.start();
    expect(trouble).toBe('The repository is archived, so nobody can write to it.');
    expect(admission.written).toEqual([]);
  });

  test('without a commit has nothing to start from', async () => {
    const admission = admissionWorld();
    admission.now.refs = {};
    const { trouble } = await admission.start();
    expect(trouble).toMatch(/^The repository has no commit on its default branch `main` yet/);
    expect(admission.said()).toHaveLength(1);
  });

  test('without the named branch is a refusal', async () => {
    const admission = admissionWorld();
    const { trouble } = await admission.start({}, { trigger: 'command', base: 'gone' });
    expect(trouble).toBe('There is no branch, tag or commit named `gone`.');
    expect(admission.written).toHaveLength(1);
  });
});

describe('the daily caps', () => {
  const reached = async (caps: Partial<ReturnType<typeof admissionWorld>['now']['caps']>) => {
    const admission = admissionWorld();
    Object.assign(admission.now.caps, caps);
    await admission.start({ issue: 8 });
    admission.now.unlabelled.clear();
    return { admission, ...(await admission.start()) };
  };

  test.each([
    ['runsOfUser', 1],
    ['runsOfRepository', 1],
    ['runsOfInstallation', 1],
  ] as const)('(%s) refuse the next run with a comment, and remove the label', async (cap, most) => {
    const { admission, run } = await reached({ [cap]: most });
    expect(run).toMatchObject({
      state: 'refused',
      trouble: { message: expect.stringMatching(/today \(UTC\)/) },
    });
    expect(admission.said()).toHaveLength(1);
    expect(admission.written.at(-1)).toBe('#7 labels -auto-dev');
  });

  test('reset at midnight UTC', async () => {
    const { admission } = await reached({ runsOfUser: 1 });
    admission.now.now = NOON + 43_200_000 - 1;
    admission.now.unlabelled.clear();
    expect((await admission.start()).answer).toBe('refused');
    admission.now.now += 1;
    admission.now.unlabelled.clear();
    expect((await admission.start()).answer).toBe('go');
  });

  test('do not count refused runs, nor runs of other people', async () => {
    const admission = admissionWorld();
    admission.now.caps.runsOfUser = 1;
    await admission.start({ requestedBy: mallory });
    admission.now.rights[8] = 'maintain';
    await admission.start({ issue: 8, requestedBy: { id: 8, login: 'ada' } });
    expect((await admission.start({ issue: 9 })).answer).toBe('go');
  });

  test("include the cost of one person's runs", async () => {
    const admission = admissionWorld();
    admission.now.caps.budgetOfUser = 3;
    const { request } = await admission.start({ issue: 8 });
    const call = {
      runId: request.runId,
      spender: 'A',
      repository: 'github-42',
      model: 'a/m',
      usd: 3,
      at: NOON,
    };
    const meter = {
      tokensIn: 1,
      tokensOut: 1,
      tokensCached: 0,
      tokensReasoning: 0,
      exact: true,
      status: 200,
      ms: 1,
    };
    await bookRow(admission.store, { ...call, ...meter });
    expect((await admission.start()).trouble).toBe(
      'The runs of `mona` have spent $3.00 today (UTC), the daily limit of this server.',
    );
  });
});

test('people with triage access get one refusal a day per issue; others get none', async () => {
  const admission = admissionWorld();
  const again = () => admission.now.unlabelled.clear();
  await admission.start({ requestedBy: tria });
  again();
  await admission.start({ requestedBy: tria });
  again();
  await admission.start({ requestedBy: mallory });
  expect(admission.written).toMatchInlineSnapshot(`
    [
      "{"issue":7} confused",
      "#7: <!-- runoff:refusal:r0000000001 -->

    **No run was started.** \`tria\` can add labels here, but starting a run requires write access to this repository.

    **Next:** Ask someone with write access to add the label.
    ",
      "#7 labels -auto-dev",
      "{"issue":7} confused",
      "#7 labels -auto-dev",
      "{"issue":7} confused",
    ]
  `);
});

test('a request without a trigger is valid', () => {
  const old = { runId: 'r1', text: { title: 'x', body: { sha256: 'a', bytes: 1 } }, triggeredAt: 1 };
  expect(RunRequest.parse(old)).toEqual({ ...old, overrides: {} });
  const carry = { run: 'r0', again: 'B' };
  const next = { ...old, overrides: { evaluator: ['human'] }, trigger: 'command', carry };
  expect(RunRequest.parse(next)).toEqual(next);
  expect(RunRequest.safeParse({ ...old, overrides: { evaluator: ['dice'] } }).success).toBe(false);
  expect(RunRequest.safeParse({ ...old, carry: { run: 'r0' } }).success).toBe(false);
});
