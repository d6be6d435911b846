import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type GitHubWorld, openGitHubWorld } from '../../packages/local-github/test/github-world.ts';
import { type CommandIntake, openCommandIntake } from '../../src/commands/index.ts';
import { openLog } from '../../src/compose/index.ts';
import { instrumentedGitHub, instrumentedPushes } from '../../src/compose/instrumentation.ts';
import type { Alias, GitHubOrigin, RunId, Sha } from '../../src/core/model/index.ts';
import type { Decision } from '../../src/core/ranking/index.ts';
import { type Operator, parseEnvironment, Settings } from '../../src/core/settings/index.ts';
import type { CollectedPatch, Store } from '../../src/ports/index.ts';
import { announceEndedRuns, openAnnouncer, reconcile, type World } from '../../src/runs/index.ts';
import { READ_MS } from '../../src/runs/overlaps.ts';
import { endWithFault, publish } from '../../src/runs/publish/index.ts';
import { executeStage } from '../../src/runs/stage.ts';
import { type GitWorld, openGitWorld } from '../adapters/git/world.ts';
import { patchOf } from '../contracts/workspaces.suite.ts';
import { candidate, evidence, judged } from '../core/reports/sample.ts';
import { appGitHub } from '../world/app-github.ts';
import { memoryArtifacts, memoryStore } from '../world/memory-store.ts';
import { partial } from '../world/partial.ts';
import { contextOf } from '../world/run-context.ts';
import { silent } from '../world/silent-log.ts';
import { type ApiCalls, openApiCalls } from './api-calls.ts';
import { overRest } from './refs-over-rest.ts';

export const ALICE = 'alice';
/** When everything happens, so that what is said says the same each time. */
export const NOON = Date.UTC(2026, 0, 2, 12);
const ALIASES = ['A', 'B', 'C'] as const;

/** One GitHub and three candidates' patches for the stories of a test; each story has its own issue, run and App. */
export interface SharedFixture {
  readonly hub: GitHubWorld;
  readonly git: GitWorld;
  readonly base: Sha;
  readonly patches: Readonly<Record<Alias, CollectedPatch>>;
}

/** Opened before each test and closed after it; or once for a file whose stories change nothing but their own issue. */
export function sharedFixture(per: 'test' | 'file' = 'test'): () => SharedFixture {
  let shared: SharedFixture | undefined;
  const [before, after] = per === 'test' ? [beforeEach, afterEach] : [beforeAll, afterAll];
  before(async () => {
    shared = await openSharedFixture();
  });
  after(async () => {
    shared?.git.close();
    await shared?.hub.close();
  });
  return () => {
    if (!shared) throw new Error('The shared is opened before each test.');
    return shared;
  };
}

async function openSharedFixture(): Promise<SharedFixture> {
  const hub = await openGitHubWorld();
  const git = openGitWorld();
  const url = `${hub.github.url}/alice/demo.git`;
  const credential = async () => ({ username: 'x-access-token', password: hub.github.token(ALICE) });
  const source = { kind: 'remote', url, credential } as const;
  const base = (await git.workspaces.resolve(source, 'main')) ?? '';
  const checkout = await git.workspaces.prepare(source, base);
  const patches: Record<Alias, CollectedPatch> = {};
  for (const alias of ALIASES) {
    const area = await git.workspaces.open(checkout, `made-${alias}`);
    await git.run(area, `printf '%s' '${sourceOf(alias)}' > src/add.js`);
    patches[alias] = patchOf(await git.workspaces.collect(checkout, area));
    await git.workspaces.remove(area);
    await hub.push(`seeds/${alias}`, { 'src/add.js': sourceOf(alias) }, hub.github.token(ALICE));
  }
  return { hub, git, base, patches };
}

const sourceOf = (alias: Alias): string => `export const add = (a, b) => a + b; // ${alias}\n`;

export const WINNER = judged().decision as Decision;

export interface FixtureOptions {
  readonly decision?: Decision;
  /** Stands before the store; a crash is a store that rejects. */
  readonly store?: (inner: Store) => Store;
  /** Called when the run, or a command, waits for what is away. */
  readonly onSleep?: () => void;
  readonly throttle?: boolean;
  /** For the adapter: what it takes for the time. */
  readonly now?: () => number;
  readonly sleep?: (ms: number) => Promise<unknown>;
  /** Of the issue; default: a new one. */
  readonly issue?: number;
  /** Pushes by git, as Runoff does; else over REST, where the story is about calls. Default: git. */
  readonly pushes?: 'git' | 'rest';
  /** Writes to GitHub are kept in the audit, as a server does. Default: not. */
  readonly audited?: boolean;
  /** Where runs are stored; default: in memory. */
  readonly keeps?: Store;
  /** Shared with another fixture's run. */
  readonly beside?: Fixture;
}

export interface Fixture {
  readonly shared: SharedFixture;
  readonly world: World;
  readonly store: Store;
  readonly runId: RunId;
  readonly issue: number;
  /** The App's line to GitHub's API. */
  readonly line: ApiCalls;
  /** Milliseconds that the run slept, one for each time. */
  readonly slept: readonly number[];
  readonly intake: CommandIntake;
  /** Publishes as the engine does: again while GitHub is away. Then what upkeep does every few minutes. */
  publishes(): Promise<string>;
  /** As alice, in a new comment; resolves with what became of it. */
  says(text: string, where?: { readonly on?: number; readonly login?: string }): Promise<string>;
  /** What upkeep does after an outage. */
  recovers(): Promise<void>;
}

let count = 0;

/** A run that is judged, on a new issue, with nothing of it on GitHub yet. */
export async function openFixture(shared: SharedFixture, options: FixtureOptions = {}): Promise<Fixture> {
  const { hub } = shared;
  const line = openApiCalls();
  const slept: number[] = [];
  const log = options.audited ? openLog(quiet()) : { ...silent, about: () => ({}) };
  const plain = appGitHub(hub, {
    fetch: line.fetch,
    log,
    ...(options.throttle === undefined ? {} : { throttle: options.throttle }),
    ...(options.now ? { now: options.now } : {}),
    ...(options.sleep ? { sleep: options.sleep } : {}),
  });
  const inner = options.beside?.store ?? options.keeps ?? memoryStore();
  const store = options.store?.(inner) ?? inner;
  const artifacts = options.beside?.world.artifacts ?? memoryArtifacts();
  const clock = {
    elapsed: () => performance.now(),
    now: () => NOON,
    async sleep(ms: number, signal?: AbortSignal) {
      // A limit of time for reading, which is not waited for.
      if (ms === READ_MS) return new Promise<void>((end) => signal?.addEventListener('abort', () => end()));
      slept.push(ms);
      line.mended();
      options.onSleep?.();
    },
  };
  const cancelled = new AbortController();
  const engine = {
    status: async () => ({ kind: 'running' }) as const,
    cancel: async () => cancelled.abort(),
    start: async () => {},
  };
  const eyes = { store, log };
  const pushing = options.pushes === 'rest' ? overRest(shared) : shared.git.workspaces;
  const workspaces = options.audited ? instrumentedPushes(pushing, eyes, () => NOON) : pushing;
  const github = options.audited ? instrumentedGitHub(plain, eyes) : plain;
  const announcer = openAnnouncer({ artifacts, store, clock, log, github });
  const { sandbox } = shared.git;
  const parts = { store, artifacts, engine, workspaces, sandbox, github, clock, log, announcer };
  const world = partial<World>(parts, ['diskSpace', 'metrics']);
  const issue =
    options.issue ?? (await hub.github.as(ALICE).openIssue(hub.repository, { title: 'Add is wrong' }));
  const runId = `r${String(++count).padStart(10, '0')}`;
  await judge(shared, inner, artifacts, { runId, issue, decision: options.decision ?? WINNER });
  const intake = openCommandIntake(world);
  const fixture = { shared, world, store: inner, runId, issue, line, slept, intake };
  const mended = () => {
    line.mended();
    options.onSleep?.();
  };
  return {
    ...fixture,
    publishes: () => publishes(world, runId, mended, cancelled.signal),
    ...speaking({ ...fixture, world, intake }, mended),
  };
}

function quiet(): Operator {
  const parsed = parseEnvironment({ RUNOFF_DATA: '/nowhere', LOG_LEVEL: 'silent' });
  if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.problems));
  return parsed.operator;
}

async function judge(
  { hub, base, patches }: SharedFixture,
  store: Store,
  artifacts: World['artifacts'],
  { runId, issue, decision }: { readonly runId: RunId; readonly issue: number; readonly decision: Decision },
): Promise<void> {
  const origin: GitHubOrigin = {
    kind: 'github',
    ...hub.github.handle(hub.repository.owner, hub.repository.name),
    issue,
    requestedBy: { id: 1, login: ALICE },
  };
  const title = 'Add is wrong';
  const { ranking } = judged();
  // Runs of one issue are told apart by their age.
  const at = NOON - 60_000 + count;
  await store.createRun({ id: runId, origin, title, request: null, at });
  const task = {
    runId,
    origin,
    title,
    body: '',
    comments: [],
    base: { ref: 'main', sha: base },
    settings: Settings.parse({}),
    lowered: [],
  };
  await store.updateRun(
    runId,
    {
      task,
      decision,
      evidence: ALIASES.map((alias) => evidence(alias)),
      ranking: ranking.filter(({ alias }) => alias in patches),
      checks: { test: 'node --test' },
    },
    at,
  );
  for (const [alias, { tree, raw, text }] of Object.entries(patches)) {
    const one = candidate(alias, { runId });
    if (!one.patch) throw new Error('A candidate of the sample has a patch.');
    const patch = { ...one.patch, tree, raw: await artifacts.put(raw), text: await artifacts.put(text) };
    await store.putCandidate({ ...one, patch });
  }
  for (const state of ['admitted', 'briefed', 'coded', 'examined', 'judged'] as const) {
    await store.transition(runId, state, 'the story begins here', at);
  }
}

async function publishes(
  world: World,
  runId: RunId,
  mended: () => void,
  signal: AbortSignal,
): Promise<string> {
  const end = await executeStage(world, 'publish', { signal }, async (within) =>
    publish(world, await contextOf(world, runId, within)),
  );
  if (end.kind === 'fault') await endWithFault(world, runId, end.fault);
  mended();
  await reconcile(world);
  await announceEndedRuns(world);
  return end.kind === 'fault' ? `${end.fault.code}: ${end.fault.message}` : end.value;
}

let commands = 0;

type Speaking = Pick<Fixture, 'shared' | 'world' | 'store' | 'issue' | 'intake'>;

function speaking({ shared, world, store, issue, intake }: Speaking, mended: () => void) {
  const { github, repository } = shared.hub;
  // Kept as it is now: what carries a command may have another name by then.
  const handle = github.handle(repository.owner, repository.name);
  const fates = async (id: string): Promise<string> => {
    const { outcome } = (await store.command(id)) ?? {};
    if (!outcome) return 'open';
    return outcome.kind === 'done' ? outcome.note : `${outcome.kind}: ${outcome.why}`;
  };
  const recovers = async () => {
    mended();
    await reconcile(world);
    await announceEndedRuns(world);
    await intake.recover();
    await intake.idle();
  };
  const says: Fixture['says'] = async (text, { on = issue, login = ALICE } = {}) => {
    const comment = await github.as(login).comment(repository, on, text);
    const user = (await github.as(login).request('GET', '/user')) as { readonly id: number };
    const place = {
      ...handle,
      thread: on,
      isPull: on !== issue,
      comment,
      on: 'conversation',
    } as const;
    const at = NOON + ++commands * 1000;
    const actor = { id: user.id, login, isBot: false };
    const said = { title: 'An issue', body: 'What is to be done.' };
    await intake.onComment({ place, body: text, issue: said, at, throughApp: false, actor });
    await intake.idle();
    const id = `comment:${comment}`;
    // Upkeep looks every few minutes, whatever became of it.
    await recovers();
    return fates(id);
  };
  return { says, recovers };
}
