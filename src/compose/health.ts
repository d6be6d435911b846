import type { Operator } from '../core/settings/index.ts';
import type { ExecutorRecord } from '../ports/index.ts';
import type { World } from '../runs/index.ts';
import type { Health, WebOptions } from '../server/index.ts';
import type { Runtime } from '../shell.ts';

/** Anybody can read this, so it only names the part that is down; the log has the reason. */
export async function healthOf({ world }: Runtime): Promise<Health> {
  const reachable = await world.store.runs(1).then(
    () => true,
    (thrown: unknown) => {
      world.log.error({ err: thrown }, 'health: the database does not answer');
      return false;
    },
  );
  const sandbox = await world.sandbox.probe();
  if (sandbox.kind === 'missing') world.log.error({ why: sandbox.why }, 'health: there is no sandbox');
  const ok = reachable && sandbox.kind === 'ready';
  return {
    ok,
    detail: {
      database: reachable ? 'ok' : 'not reachable',
      sandbox: sandbox.kind === 'ready' ? 'ok' : 'missing',
      disk: world.diskSpace?.shortage() ?? 'ok',
    },
  };
}

/** The `/metrics` page for requests with the operator's token. If no token is configured, the page does not exist. */
export function metricsPageOf(
  { metricsToken: token }: Operator,
  { metrics }: Pick<World, 'metrics'>,
): Pick<WebOptions, 'metrics'> {
  return token && metrics ? { metrics: { token, exposition: () => metrics.exposition() } } : {};
}

/** Work that waits forever because no process executes it: a sentence for each kind, with what to do. */
export function unclaimedWork(
  executors: readonly Pick<ExecutorRecord, 'coders' | 'examinations' | 'silentMs'>[],
): readonly string[] {
  const active = executors.filter(({ silentMs }) => silentMs !== null);
  const nobody = (most: 'coders' | 'examinations') => active.every((one) => one[most] === 0);
  return [
    ...(nobody('coders')
      ? [
          'No process takes coders, so that runs wait: start `runoff worker`, or set CODERS_PER_WORKER above 0.',
        ]
      : []),
    ...(nobody('examinations')
      ? [
          'No process builds and tests candidates, so that runs wait: start `runoff worker`, or set EXAMINATIONS_PER_WORKER above 0.',
        ]
      : []),
  ];
}
