import { createHmac } from 'node:crypto';
import { startApp } from '../../src/compose/serve.ts';
import type { RunId } from '../../src/core/model/index.ts';
import { parseEnvironment } from '../../src/core/settings/index.ts';
import type { Flows, Random } from '../../src/ports/index.ts';
import { admit, enqueue, permit, RunRequest } from '../../src/runs/admit/index.ts';
import { loadRun } from '../../src/runs/context.ts';
import type { World } from '../../src/runs/index.ts';
import { admissionWorld, NOON } from '../runs/admission-world.ts';
import { newAppKey } from '../world/app-key.ts';
import { memoryEngine } from '../world/memory-engine.ts';
import { partial } from '../world/partial.ts';

export const SECRET = 'a-secret-of-this-test-only-0123456789';
const HOOKS = '/api/github/webhooks';

const privateKey = newAppKey();

function operatorOf() {
  const parsed = parseEnvironment({
    RUNOFF_DATA: '/nowhere',
    APP_ID: '77',
    PRIVATE_KEY: privateKey,
    WEBHOOK_SECRET: SECRET,
    PORT: '0',
  });
  if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.problems));
  return parsed.operator;
}

/** Runs wait in line for so many places, and whoever has one does this instead of being admitted. */
export interface RunSlots {
  readonly places: number;
  work(runId: RunId): Promise<void>;
}

/**
 * The App as `runoff serve` arranges it (HTTP server, Probot, intake, upkeep) over a pretended GitHub, a store and an
 * engine in memory. A run is admitted or refused, and no more: no coder, no sandbox.
 */
export async function appWorld(line: RunSlots | null = null) {
  const app = admissionWorld();
  const { store } = app;
  Object.assign(app.now.caps, { runsOfRepository: 1_000, runsOfUser: 1_000, runsOfInstallation: 1_000 });
  let runs = 0;
  let gate = Promise.resolve();
  let closeApp = async (): Promise<void> => {};
  let url = '';
  let world = app.world;

  async function start(): Promise<void> {
    const engine = memoryEngine(line ? { runsAtOnce: line.places } : {});
    const github = app.world.github;
    world = {
      ...app.world,
      github: { ...github, repositories: async () => [] },
      workspaces: {
        ...app.world.workspaces,
        sweep: async () => [],
        prune: async () => ({ checkouts: 0, layers: 0, patches: 0, repositories: 0, bytes: 0, busy: 0 }),
      },
      random: partial<Random>({
        nonce: () => 'this-process',
        runId: () => `r${String(++runs).padStart(10, '0')}`,
      }),
      engine: {
        ...engine,
        launch: (flows: Flows) =>
          engine.launch({
            ...flows,
            async run(context, input) {
              const request = RunRequest.parse(input);
              await gate;
              if (line) {
                const run = await loadRun(world, request.runId);
                await context.step('permit', () => permit(world, run, request));
                await context.waitForSlot(await context.step('enlist', () => enqueue(world, run, request)));
                return context.step('work', () => line.work(request.runId));
              }
              return context.step('admit', async () => {
                const run = await loadRun(world, request.runId);
                return (await permit(world, run, request)) === 'go' ? admit(world, run, request) : 'refused';
              });
            },
          }),
      },
    } as World;
    const served = await startApp(operatorOf(), { world, close: async () => {} });
    ({ url } = served);
    closeApp = served.close;
  }
  await start();

  /** Once every run that was started is admitted or refused. */
  async function settled() {
    for (const { id } of await store.runs(1_000)) await world.engine.settled(id);
    return store.runs(1_000);
  }
  const post = (body: NonNullable<RequestInit['body']>, headers: Readonly<Record<string, string>>) =>
    fetch(`${url}${HOOKS}`, { method: 'POST', body, headers });
  const deliver = (body: string, over: Readonly<Record<string, string>> = {}) =>
    post(Buffer.from(body), headersOf(body, over));
  return {
    ...app,
    post,
    deliver,
    settled,
    get world() {
      return world;
    },
    get url() {
      return `${url}${HOOKS}`;
    },
    /** Runs that start from now on wait until the answer of this is called. */
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
    /** The process ends; another one starts over the same database. */
    async again() {
      await closeApp();
      await start();
    },
    close: () => closeApp(),
  };
}

export type AppWorld = Awaited<ReturnType<typeof appWorld>>;

export const sign = (body: string | Buffer, secret = SECRET, hash = 'sha256'): string =>
  `${hash}=${createHmac(hash, secret).update(body).digest('hex')}`;

let deliveries = 0;
/** As GitHub sends them; an empty value leaves a header out. */
export function headersOf(body: string | Buffer, over: Readonly<Record<string, string>> = {}) {
  deliveries += 1;
  const all = {
    'content-type': 'application/json',
    'x-github-event': 'issues',
    'x-github-delivery': `a6b7c8d9-0000-4000-8000-${String(deliveries).padStart(12, '0')}`,
    'x-hub-signature-256': sign(body),
    ...over,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
}

const at = (seconds: number): string => new Date(NOON + seconds * 1_000).toISOString().replace('.000Z', 'Z');

const WHERE = {
  installation: { id: 1 },
  repository: { id: 42, name: 'shop', owner: { login: 'acme' } },
};
export const MONA = { id: 5, login: 'mona', type: 'User' };

interface Happening {
  readonly number?: number;
  readonly title?: string;
  readonly label?: string;
  readonly sender?: object;
  /** After noon. */
  readonly seconds?: number;
  readonly more?: object;
}

/** The body of an `issues` delivery. */
export function issues(
  action: string,
  {
    number = 7,
    title = 'Rounding',
    label = 'auto-dev',
    sender = MONA,
    seconds = 0,
    more = {},
  }: Happening = {},
): string {
  const issue = { number, title, body: 'It is wrong.', updated_at: at(seconds) };
  return JSON.stringify({ action, ...WHERE, issue, label: { name: label }, sender, ...more });
}

/** The body of an `issue_comment` delivery. */
export const comments = (action: string, body: string, more: object = {}): string =>
  JSON.stringify({
    action,
    ...WHERE,
    issue: { number: 7, title: 'Rounding', body: 'It is wrong.', updated_at: at(0) },
    comment: {
      id: 900,
      body,
      created_at: at(1),
      updated_at: at(2),
      performed_via_github_app: null,
      user: MONA,
    },
    sender: MONA,
    ...more,
  });
