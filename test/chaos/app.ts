/**
 * The App as `runoff serve` starts it, in a process of its own that can be made to die. Started with its settings in the
 * environment and `AppOptions` as JSON in the first argument; writes one JSON line for each thing that it does to the
 * store and to GitHub, before and after. Unlike `runoff serve` it does not keep to GitHub's pace.
 */
import { hostname } from 'node:os';
import type { HeartbeatOptions } from '../../src/adapters/engine/index.ts';
import type { ConnectionLimits } from '../../src/adapters/postgres/index.ts';
import { openAppGitHub, openLog, openRuntime, readOperator, startApp } from '../../src/compose/index.ts';
import type { Candidate } from '../../src/core/model/index.ts';
import type { Store } from '../../src/ports/index.ts';

export interface Death {
  /** Part of what a deed is called; it dies at the `times`th deed that holds this. */
  readonly at: string;
  readonly times: number;
  /** Milliseconds after it, at most; absent: at once, inside the deed. */
  readonly afterMs?: number;
}

export interface AppOptions {
  readonly death?: Death;
  /** Absent: the engine's own. */
  readonly heartbeat?: HeartbeatOptions;
  /** Of connections to the database; absent: those of each part. */
  readonly databaseLimits?: ConnectionLimits;
}

export type Happening =
  | { readonly what: 'listens'; readonly url: string }
  | { readonly what: 'deed'; readonly deed: string }
  | { readonly what: 'dies'; readonly deed: string };

const { death, heartbeat, databaseLimits } = JSON.parse(process.argv[2] ?? '{}') as AppOptions;
const tell = (happening: Happening): boolean => process.stdout.write(`${JSON.stringify(happening)}\n`);
const seen = { fitting: 0 };

/** kill -9, as nobody could catch it. */
const die = (): void => void process.kill(process.pid, 'SIGKILL');

function did(deed: string): void {
  tell({ what: 'deed', deed });
  if (!death || !deed.includes(death.at)) return;
  seen.fitting += 1;
  if (seen.fitting !== death.times) return;
  tell({ what: 'dies', deed });
  if (death.afterMs === undefined) die();
  else setTimeout(die, death.afterMs);
}

async function told<T>(deed: string, work: () => Promise<T>): Promise<T> {
  did(`${deed} …`);
  const result = await work();
  did(`${deed} done`);
  return result;
}

/** What leaves a mark that a restart must find, or make again. */
const WRITES: ReadonlySet<string> = new Set([
  ...['createRun', 'acceptDelivery', 'updateRun', 'transition', 'markStage', 'putCandidate'],
  ...['intend', 'fulfil', 'keep', 'recordCommand', 'settleCommand', 'addPick'],
]);

const isText = (one: unknown): one is string => typeof one === 'string';

/** How far a candidate is. */
function wordsOf(candidate: unknown): readonly string[] {
  const { state, note } = candidate as Candidate;
  return [state, note ?? ''];
}

const watched = (store: Store): Store =>
  new Proxy(store, {
    get(target, name, receiver) {
      const method: unknown = Reflect.get(target, name, receiver);
      if (typeof method !== 'function') return method;
      if (typeof name !== 'string' || !WRITES.has(name)) return method.bind(target);
      return (...given: readonly unknown[]) => {
        const words = name === 'putCandidate' ? wordsOf(given[0]) : given.slice(1, 3).filter(isText);
        return told(['store', name, ...words].join(' '), () => method.apply(target, given));
      };
    },
  });

const asked: typeof fetch = (input, init) => {
  const request = new Request(input, init);
  const work = () => fetch(input, init);
  if (request.method === 'GET') return work();
  return told(`github ${request.method} ${new URL(request.url).pathname}`, work);
};

const operator = await readOperator({
  env: process.env,
  cwd: process.cwd(),
  installation: '/nowhere',
});
const log = openLog(operator);
const executor = `app-${hostname()}`;
const runtime = await openRuntime(
  operator,
  { role: 'app', executor },
  {
    github: (fence) => openAppGitHub(operator, log, { throttle: false, fetch: asked, fence }),
    log,
    ...(heartbeat ? { heartbeat } : {}),
    ...(databaseLimits ? { databaseLimits } : {}),
  },
);
const { world } = runtime;
const served = await startApp(operator, { ...runtime, world: { ...world, store: watched(world.store) } });
tell({ what: 'listens', url: served.url });

process.once('SIGTERM', () => {
  void served.close().finally(() => process.exit());
});
