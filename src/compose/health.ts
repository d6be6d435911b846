import type { Runtime } from '../cli/index.ts';
import type { Health } from '../server/index.ts';

/** Anybody can read it, so it says which part is down, and the log says why. */
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
      disk: world.room?.lacks() ?? 'ok',
    },
  };
}
