import { describe, expect, test } from 'vitest';
import { sequenceOf } from '../../src/core/learning/index.ts';
import { type GitHubOrigin, STAGES, type Task } from '../../src/core/model/index.ts';
import { Settings } from '../../src/core/settings/index.ts';
import { readEarlierRuns } from '../../src/runs/admit/earlier-runs.ts';
import { exposureOfLocal } from '../../src/runs/admit/index.ts';
import type { World } from '../../src/runs/index.ts';
import { judge } from '../../src/runs/judge/index.ts';
import { MODELS, outcome, run } from '../core/learning/sample.ts';
import { judged } from '../core/reports/sample.ts';
import { contextOf } from '../world/run-context.ts';
import { coderNamed } from '../world/stand-ins.ts';
import { admissionWorld, MAIN, ORIGIN } from './admission-world.ts';

const MODEL_NAMES = Object.values(MODELS);
const AUTO = 'coders: auto\ncandidates: 2\nchecks: { test: make test }\n';

/** An operator that allows three models, with one agent that is installed and one that is not. */
function scene(file = AUTO, models: readonly string[] = MODEL_NAMES) {
  const admission = admissionWorld();
  const { world, now } = admission;
  now.files[`${MAIN}:.github/auto-dev.yml`] = file;
  const missing = { ...coderNamed('codex'), version: async () => null };
  const custom = { ...coderNamed('command'), wantsArgv: true };
  const coders = new Map([coderNamed('builtin'), missing, custom].map((one) => [one.name, one]));
  const gateway = { ...world.gateway, estimate: () => 0.25 };
  Object.assign(world, { coders, gateway, defaults: { models, providers: [] } } satisfies Partial<World>);
  return admission;
}

/** Runs of this repository in which people picked this model. */
async function earlier(
  { store }: ReturnType<typeof scene>,
  count: number,
  winner: string,
  over: Parameters<typeof run>[3] = {},
) {
  for (let i = 0; i < count; i++) {
    const outcomes = run(i, MODEL_NAMES, winner, over);
    await store.keepOutcomes(
      `e${i}`,
      outcomes.map((one) => ({ ...one, runId: `e${i}` })),
      1,
    );
  }
}

describe('`adaptive.field: sequential`', () => {
  const { claude, gpt, gemini } = MODELS;
  const file = [
    'candidates: 4',
    'coders:',
    ...[claude, claude, gpt, gemini].map((model) => `- { agent: builtin, model: ${model} }`),
    'checks: { test: make test }',
    'adaptive: { field: sequential }',
  ].join('\n');
  const orderOf = async (at: ReturnType<typeof scene>) => {
    const { run: admitted, trouble } = await at.start();
    expect(trouble).toBeUndefined();
    const { settings, learned } = admitted?.task ?? {};
    const coders = settings?.coders.map(({ model }) => model) ?? [];
    return { coders, models: learned?.sequence?.map(({ position }) => coders[position]), learned };
  };

  test('starts different families first, in the order of the settings, where nothing is known', async () => {
    const { models, learned } = await orderOf(scene(file));
    expect(models).toEqual([claude, gpt, gemini, claude]);
    expect(learned?.sequence).toEqual(
      [0, 2, 3, 1].map((position) => ({
        ...{ position, wins: expect.closeTo(1 / 3), usd: expect.closeTo(0.2875) },
      })),
    );
    expect(learned?.field).toEqual([
      '`adaptive.field: sequential` orders the contestants as the settings do, different model families first: no run of this repository has been decided yet.',
    ]);
  });

  test('starts in an order by chance in blind mode, because letters follow it and the settings can be read', async () => {
    const { models, learned } = await orderOf(scene(`${file}\nblind: true`));
    expect(models?.slice(0, 3).toSorted()).toEqual([claude, gemini, gpt].toSorted());
    expect(learned?.field?.[0]).toContain('by chance, different model families first');
    const contestants = [claude, gpt, gemini].map((model) => ({
      ...{ agent: 'builtin', model, prompt: 'plain', forecastUsd: null },
    }));
    const facts = { contestants, outcomes: [], kind: 'bug', candidateUsd: 1, isBlind: true } as const;
    const firsts = Array.from(
      { length: 30 },
      (_, i) => sequenceOf({ ...facts, runId: `r${i}` }).sequence[0]?.position,
    );
    expect(new Set(firsts)).toEqual(new Set([0, 1, 2]));
  });

  test('starts the best of earlier runs first, with what it cost there', async () => {
    const at = scene(file);
    await earlier(at, 40, gemini, { usd: 0.8 });
    const { coders, models, learned } = await orderOf(at);
    expect(models?.[0]).toBe(gemini);
    // Whoever plans stays the same: the first of the settings.
    expect(coders).toEqual([claude, claude, gpt, gemini]);
    expect(models?.toSorted()).toEqual([claude, claude, gpt, gemini].toSorted());
    expect(learned?.sequence?.[0]?.wins).toBeGreaterThan(learned?.sequence?.[1]?.wins ?? 1);
    expect(learned?.sequence?.[0]?.usd).toBeGreaterThan(0.7);
    expect(learned?.field?.[0]).toContain('by 40 earlier runs in this repository');
  });

  test('admission that is repeated after a crash keeps the order', async () => {
    const orders: unknown[] = [];
    for (let i = 0; i < 2; i++) {
      const at = scene(file);
      await earlier(at, 3, gpt);
      orders.push((await orderOf(at)).models);
    }
    expect(orders[0]).toEqual(orders[1]);
  });

  test('leaves contestants that all start at once as they are', async () => {
    const { coders, learned } = await orderOf(scene(file.replace('sequential', 'all')));
    expect(coders).toEqual([claude, claude, gpt, gemini]);
    expect(learned).toBeUndefined();
  });
});

describe('the time that is probably left', () => {
  /** Runs of this repository whose stages took a minute each. */
  async function timed({ store }: ReturnType<typeof scene>, count: number, over: Partial<GitHubOrigin> = {}) {
    const states = ['admitted', 'briefed', 'coded', 'examined', 'judged', 'published'] as const;
    for (let i = 0; i < count; i++) {
      const id = `t${over.repositoryId ?? ''}${i}`;
      const origin = { ...ORIGIN, issue: 100 + i, ...over };
      await store.createRun({ id, origin, title: 'x', request: {}, at: i });
      for (const [at, stage] of STAGES.entries()) {
        await store.markStage(id, stage, 'start', at * 60_000);
        await store.markStage(id, stage, 'end', (at + 1) * 60_000);
      }
      for (const state of states) await store.transition(id, state, 'test', 1);
    }
  }

  test('is frozen from earlier runs of this repository, and absent without enough of them', async () => {
    const at = scene('checks: { test: make test }\n');
    await timed(at, 2);
    await timed(at, 9, { repositoryId: 43 });
    expect((await at.start()).run?.task?.learned).toBeUndefined();
    await at.store.transition('r0000000001', 'cancelled', 'test', 1);
    await timed({ ...at, store: at.store }, 3, { issue: 55 });
    const { run: admitted } = await at.start({ issue: 8 });
    expect(admitted?.task?.learned?.times).toMatchObject({ runs: 3, ms: { code: 60_000 } });
  });

  test('does not take runs on pull requests for runs on issues', async () => {
    const at = scene('checks: { test: make test }\n');
    await timed(at, 5, { work: 'fix' });
    expect((await at.start()).run?.task?.learned).toBeUndefined();
  });
});

describe('`coders: auto`', () => {
  test('names the contestants when the run is admitted, and says why', async () => {
    const at = scene();
    await earlier(at, 15, MODELS.gpt);
    const { answer, run: admitted, trouble } = await at.start();
    expect(trouble).toBeUndefined();
    expect(answer).toBe('go');
    const task = admitted?.task;
    expect(task?.settings.coders).toHaveLength(2);
    expect(task?.settings.candidates).toBe(2);
    for (const coder of task?.settings.coders ?? []) {
      expect(coder).toMatchObject({ agent: 'builtin', prompt: 'plain' });
      expect(MODEL_NAMES).toContain(coder.model);
    }
    expect(task?.learned?.field?.[0]).toBe(
      '`coders: auto` chose 2 contestants of 3 for a bug: from 15 earlier runs in this repository.',
    );
    expect(task?.learned?.field).toHaveLength(3);
  });

  test('admission that is repeated after a crash chooses the same', async () => {
    const fields: unknown[] = [];
    for (let i = 0; i < 2; i++) {
      const at = scene();
      await earlier(at, 15, MODELS.gpt);
      fields.push((await at.start()).run?.task?.settings.coders);
    }
    expect(fields[0]).toEqual(fields[1]);
  });

  test('an admitted run keeps its field, whatever becomes known later', async () => {
    const at = scene();
    const { request, run: admitted } = await at.start();
    await earlier(at, 40, MODELS.gemini);
    expect(await at.decide(request)).toBe('go');
    expect(await at.taskOf(request)).toEqual(admitted?.task);
  });

  test('other repositories have no say', async () => {
    const at = scene();
    await earlier(at, 15, MODELS.gpt, { repository: 'github-43' });
    expect((await at.start()).run?.task?.learned?.field?.[0]).toContain('no run of this repository');
  });

  test('fills the places that named coders leave', async () => {
    const named = `coders: [{ agent: builtin, model: ${MODELS.gpt}, prompt: plain }, { agent: auto }]\ncandidates: 3\n`;
    const { run: admitted } = await scene(named).start();
    const models = admitted?.task?.settings.coders.map(({ model }) => model) ?? [];
    expect(models[0]).toBe(MODELS.gpt);
    expect(models.toSorted()).toEqual(MODEL_NAMES.toSorted());
  });

  test('for one run, by its command, with as many candidates as the settings say', async () => {
    const at = scene('candidates: 3\n');
    const { run: admitted } = await at.start({}, { overrides: { coders: [{ agent: 'auto' }] } });
    expect(admitted?.task?.settings.coders).toHaveLength(3);
  });

  test('without an allowed model the run does not start, and the message says what to do', async () => {
    await expect(scene(AUTO, []).start()).rejects.toMatchObject({
      code: 'MODEL_KEY_MISSING',
      message: expect.stringContaining('MULTI_AGENT_MODELS'),
    });
  });

  test('a model beside `auto` is refused, because it would be ignored', async () => {
    const file = `coders: [{ agent: auto, model: ${MODELS.gpt} }]\n`;
    await expect(scene(file).start()).rejects.toMatchObject({
      code: 'SETTINGS_INVALID',
      message: expect.stringContaining('takes no model'),
    });
    const [model] = MODEL_NAMES;
    const overrides = { coders: [{ agent: 'auto', model }] } as const;
    await expect(scene('').start({}, { overrides: { coders: [...overrides.coders] } })).rejects.toMatchObject(
      {
        code: 'SETTINGS_INVALID',
        message: expect.stringContaining('`--models`'),
      },
    );
  });

  test('misspelt, it is asked for', async () => {
    await expect(scene('coders: [{ agent: Auto }]\n').start()).rejects.toMatchObject({
      code: 'AGENT_UNKNOWN',
      message: expect.stringContaining('Did you mean auto?'),
    });
  });

  test('is off unless the settings say so', async () => {
    const at = scene('checks: { test: make test }\n');
    await earlier(at, 15, MODELS.gpt);
    const task = (await at.start()).run?.task;
    expect(task?.settings.coders).toEqual([{ agent: 'builtin' }]);
    expect(task).not.toHaveProperty('learned');
  });

  test('does not change what a local run asks its user to trust', async () => {
    const trusted = async (file: string) => {
      const { world, now } = scene(file);
      now.refs.HEAD = MAIN;
      const described = { top: '/srv/shop', dirty: false, branch: 'main', empty: false, unwritable: null };
      const workspaces = { ...world.workspaces, describe: async () => described };
      const probe = { kind: 'ready', backend: 'container', detail: 'x', weaker: ['It is weaker.'] } as const;
      const parts = { ...world, workspaces, sandbox: { probe: async () => probe } } as unknown as World;
      const request = { runId: 'r1', overrides: {} };
      return exposureOfLocal(parts, { kind: 'local', path: '/srv/shop' }, request);
    };
    const one = await trusted(AUTO);
    expect(one?.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(await trusted('candidates: 2\nchecks: { test: make test }\n')).toEqual(one);
  });
});

describe('confidence', () => {
  test('stays as it is in a local repository, where only objections are heard', async () => {
    const { world } = scene();
    for (let i = 0; i < 400; i++) {
      const accepted = { first: 'clear' as const, chance: 0.93, pick: null, repository: 'local-/srv/shop' };
      const over = i % 20 === 0 ? { ...accepted, pick: 'other' as const } : accepted;
      await world.store.keepOutcomes(`l${i}`, [outcome({ ...over, runId: `l${i}`, at: i })], 1);
    }
    const earlierRuns = await readEarlierRuns(world, {
      id: 'r1',
      origin: { kind: 'local', path: '/srv/shop' },
      title: 'Fix it',
    });
    expect(earlierRuns.learned()).toEqual({});
  });

  test('is frozen with the task once there are enough verdicts', async () => {
    const at = scene('checks: { test: make test }\n');
    await earlier(at, 30, MODELS.gpt);
    const learned = (await at.start()).run?.task?.learned;
    expect(learned).toMatchObject({ confidence: { verdicts: 30 } });
    expect(learned?.confidence?.offset).toBeLessThan(-0.5);
  });

  test('moves the decision, by the offset of the admission', async () => {
    const decided = async (confidence?: NonNullable<Task['learned']>['confidence']) => {
      const { store, world } = admissionWorld();
      const { ranking, evidence: sample } = judged();
      await store.createRun({ id: 'r1', origin: ORIGIN, title: 'x', request: null, at: 1 });
      const task: Task = {
        runId: 'r1',
        origin: ORIGIN,
        title: 'x',
        body: '',
        comments: [],
        base: { ref: 'main', sha: MAIN },
        settings: Settings.parse({ evaluator: ['evidence'] }),
        lowered: [],
        ...(confidence ? { learned: { confidence } } : {}),
      };
      await store.updateRun('r1', { task, evidence: sample, ranking }, 1);
      for (const state of ['admitted', 'briefed', 'coded', 'examined'] as const)
        await store.transition('r1', state, 'test', 1);
      return judge(world, await contextOf(world, 'r1'));
    };
    const shipped = await decided();
    expect(await decided({ offset: 0, verdicts: 20 })).toEqual(shipped);
    const lowered = await decided({ offset: -1.5, verdicts: 200 });
    if (shipped.kind === 'none' || lowered.kind === 'none') throw new Error('Somebody is first.');
    expect(lowered.alias).toBe(shipped.alias);
    expect(lowered.chance).toBeLessThan(shipped.chance);
  });
});
