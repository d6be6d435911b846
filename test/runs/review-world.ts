import { familyOf } from '../../src/core/judging/index.ts';
import { type Brief, type Candidate, type Contestant, Fault, type Task } from '../../src/core/model/index.ts';
import { Settings } from '../../src/core/settings/index.ts';
import type { Answer, Grant, ModelQuestion, RunRecord } from '../../src/ports/index.ts';
import { testBase } from '../../src/runs/examine/index.ts';
import type { World } from '../../src/runs/index.ts';
import { judge } from '../../src/runs/judge/index.ts';
import { reviewWinner } from '../../src/runs/review.ts';
import { executeStage, type StageRunner } from '../../src/runs/stage.ts';
import type { Files } from '../adapters/git/world.ts';
import { candidate as evidenceOf } from '../core/ranking/sample.ts';
import { memoryStore } from '../world/memory-store.ts';
import { partial } from '../world/partial.ts';
import { contextOf } from '../world/run-context.ts';
import { silent } from '../world/silent-log.ts';
import { clockAt, openLeases, quietAnnouncer } from '../world/stand-ins.ts';
import { entryOf, type SharedFixture } from './examination-world.ts';
import { BRIEF, REPOSITORY, TASK } from './independent-tests-world.ts';

/** A question as a critic reads it. */
export interface Seen {
  readonly critic: string;
  readonly model: string;
  readonly prompt: string;
  readonly instructions: string;
  /** The diff, and its first changed line as a claim names it. */
  readonly diff: string;
  readonly line: { readonly file: string; readonly line: number; readonly quote: string };
}

/** What a critic answers: any value, which the schema then accepts or not. Who throws gives no answer. */
export type Opinion = (seen: Seen) => unknown;

export const passes: Opinion = () => ({ claims: [], because: 'It does what is asked for.', verdict: 'pass' });

/** Names the first changed line; with a test where one is given. */
export const objects =
  (test?: string): Opinion =>
  ({ line }) => ({
    claims: [
      { ...line, input: 'an empty line', expected: 'no cells', got: 'one cell', ...(test ? { test } : {}) },
    ],
    because: 'An empty line gives a cell.',
    verdict: 'veto',
  });

export const CLAUDE: Contestant = {
  agent: 'claude-code',
  model: 'anthropic/claude-sonnet-5',
  prompt: 'plain',
};
export const GPT: Contestant = { agent: 'codex', model: 'openai/gpt-6', prompt: 'careful' };
const GEMINI = 'google/gemini-4-pro';

export interface ReviewOptions {
  /** By alias: what each wrote. A is ahead by agreement. */
  readonly candidates: Readonly<Record<string, Files>>;
  /** By persona; absent: passes. */
  readonly critics?: Readonly<Record<string, Opinion>>;
  readonly settings?: object;
  readonly brief?: Partial<Brief>;
  readonly debated?: boolean;
  readonly models?: readonly string[];
}

export interface ReviewFixture {
  readonly world: World;
  readonly seen: Seen[];
  readonly grants: Grant[];
  /** Judges, then reviews the winner as the pipeline does; gives the run as it is stored then. */
  play(): Promise<RunRecord>;
  /** The same from the review on, as after a crash. */
  again(): Promise<RunRecord>;
}

const NO_PERSONA = { spec: 'Look for faults of the spec.', code: 'Look for wrong results.' };

/** A run that is about to be judged, with a real sandbox and critics in-process. */
export async function openReviewFixture(
  shared: SharedFixture,
  options: ReviewOptions,
): Promise<ReviewFixture> {
  const { bench } = await shared.fixture({ files: REPOSITORY });
  const { runId, base } = bench.task;
  const { settings: checks } = bench.task;
  const store = memoryStore();
  const seen: Seen[] = [];
  const grants: Grant[] = [];
  const world = partial<World>(
    {
      ...bench.world,
      store,
      ...modelsOf(options, seen, grants),
      clock: clockAt(() => 1),
      random: {
        runId: () => runId,
        nonce: () => `${(grants.length + 1).toString(16)}${'e'.repeat(31)}`,
        port: () => 1,
      },
      log: silent,
      defaults: { models: options.models ?? [CLAUDE.model, GPT.model, GEMINI], providers: [] },
      prompts: {
        judge: 'You compare two candidate patches.',
        reviewer: 'You review one candidate patch before it is offered to a maintainer.',
        personas: new Map(['product', 'qa', 'security'].map((name) => [name, NO_PERSONA])),
      },
      announcer: quietAnnouncer,
    },
    ['toolchains', 'registries'],
  );
  const origin = { kind: 'local', path: bench.source.kind === 'local' ? bench.source.path : '' } as const;
  const settings = Settings.parse({ review: 'always', checks: checks.checks, ...options.settings });
  const task: Task = { runId, origin, ...TASK, comments: [], base, settings, lowered: [] };
  await store.createRun({ id: runId, origin, title: task.title, request: {}, at: 0 });
  const aliases = Object.keys(options.candidates);
  for (const [ordinal, alias] of aliases.entries()) {
    const entry = await entryOf(bench, bench.world.workspaces, alias, options.candidates[alias] ?? {});
    await store.putCandidate({
      ...entry,
      ordinal,
      contestant: ordinal === 0 ? CLAUDE : GPT,
      state: 'examined',
      usage: { usd: 0, tokensIn: 0, tokensOut: 0, calls: 0 },
    } as Candidate);
  }
  await store.updateRun(
    runId,
    {
      task,
      brief: { ...BRIEF, ...options.brief },
      evidence: aliases.map((alias, i) =>
        evidenceOf(alias, { agreement: i === 0 ? 1 : 0.3, provenTests: 1 }),
      ),
      ...(options.debated ? { debate: {} as NonNullable<RunRecord['debate']> } : {}),
    },
    0,
  );
  for (const state of ['admitted', 'briefed', 'coded', 'examined'] as const)
    await store.transition(runId, state, 'it is', 0);
  const baseRun = await world.artifacts.put(JSON.stringify(await testBase(bench)));
  const { signal } = new AbortController();
  const stage: StageRunner = (name, work) =>
    executeStage(world, name, { signal }, async (within) => work(await contextOf(world, runId, within)));
  const again = async () => {
    const end = await reviewWinner(world, baseRun, stage);
    if (end.kind === 'fault') throw new Error(end.fault.message);
    return (await store.run(runId)) as RunRecord;
  };
  return {
    world,
    seen,
    grants,
    again,
    async play() {
      await judge(world, await contextOf(world, runId));
      return again();
    },
  };
}

function modelsOf(options: ReviewOptions, seen: Seen[], grants: Grant[]) {
  const leases = openLeases();
  return {
    gateway: {
      route: (model: string) => ({ protocol: 'openai-chat', model }) as const,
      async open(grant: Grant) {
        grants.push(grant);
        return leases.lease(grant);
      },
    },
    model: {
      async ask<T>(question: ModelQuestion<T>): Promise<Answer<T>> {
        const one = seenIn(question, leases.grantOf(question.lease).spender);
        seen.push(one);
        try {
          const parsed = question.schema.safeParse((options.critics?.[one.critic] ?? passes)(one));
          return parsed.success
            ? { kind: 'answer', value: parsed.data }
            : { kind: 'failed', why: 'The answer was not in the form asked for.' };
        } catch (thrown) {
          if (thrown instanceof Fault) throw thrown;
          return { kind: 'failed', why: thrown instanceof Error ? thrown.message : String(thrown) };
        }
      },
    },
  };
}

function seenIn(
  { prompt, instructions, route }: Omit<ModelQuestion<unknown>, 'schema'>,
  spender: string,
): Seen {
  const nonce = /^<<<TASK (\S+)$/m.exec(prompt)?.[1] ?? '';
  const diff = prompt.split(`<<<CANDIDATE ${nonce}\n`)[1]?.split(`\nCANDIDATE ${nonce}>>>`)[0] ?? '';
  const changed = /^\+ (\d+): (?!\s*\[|\S{0,3}$)(.+)$/m.exec(diff);
  return {
    critic: spender.replace(/^review-/, ''),
    model: route.model,
    prompt,
    instructions,
    diff,
    line: {
      file: /^file (\S+)/m.exec(diff)?.[1] ?? 'none',
      line: Number(changed?.[1] ?? 1),
      quote: (changed?.[2] ?? 'none').trim(),
    },
  };
}

export const familiesOf = (seen: readonly Seen[]): readonly string[] => [
  ...new Set(seen.map(({ model }) => familyOf(model))),
];
