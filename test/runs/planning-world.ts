import { type Brief, Fault, NO_USAGE, type Task, type Usage } from '../../src/core/model/index.ts';
import { Settings } from '../../src/core/settings/index.ts';
import type { Answer, ModelQuestion } from '../../src/ports/index.ts';
import type { World } from '../../src/runs/index.ts';
import { bookRow } from '../world/ledger.ts';
import { memoryArtifacts, memoryStore } from '../world/memory-store.ts';
import { partial } from '../world/partial.ts';
import { silent } from '../world/silent-log.ts';
import { clockAt, coderNamed, openLeases, quietAnnouncer } from '../world/stand-ins.ts';
import { answered, askedAs, type Say } from './debate-world.ts';

export const RUN = 'r0000000000';
/** US dollars of one call. */
const PRICE = 0.01;

export interface Call {
  readonly spender: string;
  readonly prompt: string;
  readonly repairs?: number;
}

export interface Planned {
  /** `null`: no answer. */
  readonly planner: (call: Call) => (Brief & { read?: string[] }) | null;
  /** Answers who is asked for commands. */
  readonly setup?: () => unknown;
  readonly critics?: Say;
  readonly settings?: object;
  readonly body?: string;
  /** Beside those of the small repository, by path. */
  readonly files?: Readonly<Record<string, string>>;
  /** Instead of functions: real ones. */
  readonly models?: Pick<World, 'gateway' | 'model'>;
}

const FILES: Readonly<Record<string, string>> = {
  'README.md': '# Tally',
  'src/csv.js': 'export const parse = (text) => text.split(",");',
  'test/csv.test.js': 'test();',
};

/** A world in which a run was admitted and its brief is all there is to do. Models are functions, and cost a cent a call. */
export async function planningWorld({
  planner,
  setup,
  critics,
  settings = {},
  body = 'They break.',
  files = {},
  models,
}: Planned) {
  const store = memoryStore();
  const repository = { ...FILES, ...files };
  const asked: Call[] = [];
  const persona = { spec: 'Look.', code: 'Look.' };
  let nonce = 0;
  const leases = openLeases();
  const spent = new Map<string, Usage>();
  const world = partial<World>(
    {
      store,
      artifacts: memoryArtifacts(),
      workspaces: {
        listFiles: async () => Object.keys(repository),
        readFile: async (_: unknown, __: unknown, path: string) => repository[path] ?? null,
      },
      coders: new Map([['builtin', coderNamed('builtin', ['anthropic', 'openai-chat'])]]),
      gateway: {
        route: (model) => ({ protocol: 'anthropic', model }),
        estimate: () => 0.5,
        async open(grant) {
          const { spender, capUsd } = grant;
          if (capUsd < PRICE)
            throw new Fault('BUDGET_TOO_SMALL', `The budget of ${spender} does not suffice.`);
          spent.set(spender, await store.usage(RUN, spender));
          return leases.lease(grant, () => spent.get(spender) ?? NO_USAGE);
        },
      },
      model: {
        async ask<T>({ lease, prompt, repairs }: ModelQuestion<T>): Promise<Answer<T>> {
          const { spender, models } = leases.grantOf(lease);
          asked.push({ spender, prompt, ...(repairs === undefined ? {} : { repairs }) });
          await bookRow(store, rowOf(spender));
          spent.set(spender, await store.usage(RUN, spender));
          const said =
            spender === 'setup'
              ? (setup?.() ?? null)
              : spender.startsWith('brief')
                ? planner({ spender, prompt })
                : heard(critics, spender, models[0] ?? '', prompt);
          return said === null
            ? { kind: 'failed', why: 'The model gave no answer.' }
            : { kind: 'answer', value: said as T };
        },
      },
      clock: clockAt(() => 1_000),
      random: { nonce: () => `nonce${++nonce}` },
      log: silent,
      defaults: { models: ['anthropic/claude-sonnet-5', 'openai/gpt-5.5'], providers: [] },
      prompts: {
        planner: 'Plan.',
        setup: 'Set up.',
        critic: 'Criticise.',
        synthesiser: 'Answer.',
        personas: new Map(['qa', 'product', 'security'].map((name) => [name, persona])),
        coder: new Map([['plain', 'Do it.']]),
      },
      announcer: quietAnnouncer,
      ...models,
    },
    ['toolchains', 'registries'],
  );
  await admitted(world, Settings.parse({ checks: { test: 'npm test' }, ...settings }), body);
  return { world, asked };
}

const heard = (critics: Say | undefined, spender: string, model: string, prompt: string) =>
  answered(critics?.(askedAs(spender, { model, prompt, instructions: '' })) ?? null);

const rowOf = (spender: string) => ({
  runId: RUN,
  spender,
  repository: 'local-/',
  model: 'm',
  tokensIn: 100,
  tokensOut: 10,
  tokensCached: 0,
  tokensReasoning: 0,
  usd: PRICE,
  exact: true,
  status: 200,
  ms: 1,
  at: 0,
});

async function admitted({ store }: World, settings: Settings, body: string): Promise<void> {
  const origin = { kind: 'local', path: '/' } as const;
  const task: Task = {
    runId: RUN,
    origin,
    title: 'Notes break the import',
    body,
    comments: [{ author: 'mona', body: 'It is RFC 4180.' }],
    base: { ref: 'main', sha: '0'.repeat(40) },
    settings,
    lowered: [],
    instructions: { path: 'AGENTS.md', text: 'Use tabs.' },
  };
  await store.createRun({ id: RUN, origin, title: task.title, request: {}, at: 0 });
  await store.updateRun(RUN, { task }, 0);
  await store.transition(RUN, 'admitted', 'the run may start', 0);
}
