import type { Evidence } from '../../src/core/evidence/index.ts';
import { type Alias, Fault, type Task, type Usage } from '../../src/core/model/index.ts';
import { Settings } from '../../src/core/settings/index.ts';
import type {
  BaseCheckout,
  Engine,
  ExecResult,
  ExecSpec,
  Flows,
  Gateway,
  Sandbox,
  Store,
  WorkArea,
  Workspaces,
} from '../../src/ports/index.ts';
import { type CandidateInput, code, codeFurther, codeOne } from '../../src/runs/code/index.ts';
import type { World } from '../../src/runs/index.ts';
import { maxWorkMs, stagesOf, UNLIMITED, workTimeOf } from '../../src/runs/stage.ts';
import { bookRow } from '../world/ledger.ts';
import { memoryArtifacts, memoryStore } from '../world/memory-store.ts';
import { partial } from '../world/partial.ts';
import { silent } from '../world/silent-log.ts';
import { coderNamed, openLeases, quietAnnouncer } from '../world/stand-ins.ts';

/** What one coder does; `exec` is what its sandbox was asked for. A result is what a real sandbox said. */
export type Doing = (exec: ExecSpec) => Promise<'done' | 'stopped' | ExecResult>;

export interface Script {
  readonly settings?: object;
  /** By alias; others end at once. */
  readonly coders?: Readonly<Record<Alias, Doing>>;
  /** What is found when a candidate is examined. */
  readonly found: (alias: Alias) => Evidence;
  /** The tree that a candidate's patch leads to; absent: one of its own. */
  readonly tree?: (alias: Alias) => string;
  readonly unpriced?: boolean;
  /** A sequential field, in which contestants are expected to cost this much. */
  readonly expectedUsd?: readonly (number | null)[];
  /** The order in which it starts; absent: that of the settings. */
  readonly order?: readonly number[];
}

export const RUN = 'r0000000000';
/** What an examination is said to take, in milliseconds. */
const EXAMINED_MS = 3_600_000;

/** A world in which coding is all there is: coders are functions, examining is a table. Survives its engine. */
export async function codingWorld(script: Script) {
  const settings = Settings.parse({ checks: { test: 'npm test' }, ...script.settings });
  const store = memoryStore();
  const artifacts = memoryArtifacts();
  const starts: Alias[] = [];
  const prompts = new Map<Alias, string>();
  const applied = new Map<Alias, string>();
  const aliasOf = (id: string) => id.slice(RUN.length + 1);

  const exec: Sandbox['exec'] = async (spec) => {
    const alias = aliasOf(spec.area.id);
    const result = { exitCode: 0, stopped: null, stdout: '', stderr: '', truncated: false, ms: 1 };
    if (spec.argv[0] === 'git') {
      applied.set(alias, spec.stdin ?? '');
      return result;
    }
    starts.push(alias);
    prompts.set(alias, spec.stdin ?? '');
    const how = (await script.coders?.[alias]?.(spec)) ?? 'done';
    if (typeof how === 'object') return how;
    return how === 'stopped' ? { ...result, exitCode: null, stopped: 'cancelled' } : result;
  };
  const world = partial<World>(
    {
      store,
      artifacts,
      sandbox: {
        probe: async () => ({ kind: 'ready', backend: 'none', detail: 'pretended', weaker: [] }),
        exec,
      },
      workspaces: workspacesOf(script, aliasOf),
      coders: new Map([['builtin', coderNamed('builtin')]]),
      gateway: gatewayOf(store, script),
      clock: {
        now: () => Date.now(),
        elapsed: () => performance.now(),
        sleep: (ms: number) => new Promise((settle) => setTimeout(settle, ms / 100)),
      },
      random: { runId: () => RUN, nonce: () => 'c0ffee', port: () => 1 },
      log: silent,
      ceilings: { timeoutCandidateSeconds: 7_200, runSeconds: 86_400 },
      defaults: { models: ['anthropic/claude-sonnet-4-5'], providers: [] },
      parallelChecks: 1,
      prompts: {
        planner: '',
        judge: '',
        independentTests: '',
        distinguish: '',
        reviewer: '',
        coder: new Map([['plain', 'Do it.']]),
        personas: new Map(),
      },
      announcer: quietAnnouncer,
    },
    ['toolchains', 'registries'],
  );
  await admitted(world, settings, script);
  return { world, starts, prompts, applied };
}

/** Every coder costs ten cents. */
function gatewayOf(store: Store, { unpriced }: Script): Pick<Gateway, 'route' | 'open'> {
  const usage: Usage = { usd: 0.1, tokensIn: 10, tokensOut: 1, calls: 1 };
  return {
    route(model, how) {
      if (unpriced && how?.capTokens === undefined) throw new Fault('MODEL_PRICE_UNKNOWN', 'no price');
      return { protocol: 'anthropic', model };
    },
    async open(grant) {
      const { spender } = grant;
      const row = { runId: RUN, spender, repository: 'local-/', model: 'm', tokensIn: 10, tokensOut: 1 };
      const rest = { tokensCached: 0, tokensReasoning: 0, usd: 0.1, exact: true, status: 200, ms: 1, at: 0 };
      await bookRow(store, { ...row, ...rest });
      return openLeases().lease(grant, () => usage);
    },
  };
}

function workspacesOf({ tree }: Script, aliasOf: (id: string) => Alias) {
  const base: BaseCheckout = { sha: '0'.repeat(40), repositoryKey: 'k', lower: '/l', layers: [] };
  return partial<Workspaces>({
    prepare: async () => base,
    fetchSubmodules: async (one) => one,
    isWhole: async () => true,
    open: async (_, id) => partial<WorkArea>({ id }),
    remove: async () => {},
    async collect(_, { id }) {
      const alias = aliasOf(id);
      const text = `patch of ${alias}`;
      return { kind: 'patch', patch: { tree: tree?.(alias) ?? `tree of ${alias}`, raw: '', text } };
    },
  });
}

/** A test that fails on the base, which a candidate may fix. */
const FAILING = { because: 'failing', count: 1, names: ['red'] } as const;

async function admitted({ store }: World, settings: Settings, { expectedUsd, order }: Script): Promise<void> {
  const origin = { kind: 'local', path: '/' } as const;
  const task: Task = {
    runId: RUN,
    origin,
    title: 'Quotes',
    body: 'They break.',
    comments: [],
    base: { ref: 'main', sha: '0'.repeat(40) },
    settings,
    lowered: [],
    ...(expectedUsd
      ? {
          learned: {
            sequence: expectedUsd.map((usd, i) => ({ position: order?.[i] ?? i, wins: 0.4, usd })),
          },
        }
      : {}),
  };
  const brief = {
    goal: 'Mend it.',
    definitionOfDone: ['It works.'],
    plan: [],
    files: [],
    assumptions: [],
    questions: [],
  };
  await store.createRun({ id: RUN, origin, title: task.title, request: {}, at: 0 });
  const checks = {
    base: { exitCode: 1, passed: 5, total: 6, excluded: [FAILING], lines: [] },
  };
  await store.updateRun(RUN, { task, brief, checks }, 0);
  await store.transition(RUN, 'admitted', 'it may', 0);
  await store.transition(RUN, 'briefed', 'it is', 0);
}

/** Coding and examining of a run, as the pipeline puts them together. */
export function flowsOf(
  world: World,
  { found }: Script,
  watch: Parameters<typeof code>[4] = async () => 0,
): Flows {
  return {
    async run(context) {
      const stage = stagesOf(world, context, RUN, UNLIMITED);
      const time = workTimeOf(maxWorkMs(world));
      await code(world, context, { runId: RUN, time }, stage, watch);
      do {
        await context.step('examine', async () => {
          const candidates = await world.store.candidates(RUN);
          const evidence = candidates.map(({ alias }) => found(alias));
          await world.store.updateRun(RUN, { evidence }, 0);
        });
      } while (await codeFurther(world, context, stage, time, EXAMINED_MS));
      return null;
    },
    examination: async () => null,
    candidate: (context, input) => codeOne(world, context, input as CandidateInput),
  };
}

/** Starts the run, or takes it up again, and waits for its end. */
export async function played(engine: Engine, flows: Flows): Promise<void> {
  await engine.launch(flows);
  await engine.start(RUN, {});
  const end = await engine.settled(RUN);
  if (end.kind !== 'done') throw new Error(JSON.stringify(end));
}
