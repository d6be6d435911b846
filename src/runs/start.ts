import type { LocalOrigin, RunId } from '../core/model/index.ts';
import type { RunRequest } from './admit/index.ts';
import { loadRun } from './task.ts';
import type { World } from './world.ts';

/** Hands a stored run to the durable engine; starting it twice joins the first. */
export async function startRun(world: World, runId: RunId): Promise<void> {
  const { request } = await loadRun(world, runId);
  await world.engine.start(runId, request);
}

/** A run on a repository of this disk. Its text goes to an artifact, so that a long task fits. */
export async function startLocalRun(
  world: World,
  wish: {
    origin: LocalOrigin;
    runId: RunId;
    title: string;
    body: string;
    base?: string;
    overrides: RunRequest['overrides'];
    trustedChecks?: string;
  },
): Promise<void> {
  const { runId, origin, title, overrides } = wish;
  const at = world.clock.now();
  const text = { title, body: await world.artifacts.put(wish.body) };
  const request: RunRequest = {
    runId,
    text,
    triggeredAt: at,
    overrides,
    ...(wish.base ? { base: wish.base } : {}),
    ...(wish.trustedChecks ? { trustedChecks: wish.trustedChecks } : {}),
  };
  await world.store.createRun({ id: runId, origin, title, request, at });
  await startRun(world, runId);
}
