import { Fault, type RunId } from '../core/model/index.ts';
import type { SandboxView } from '../core/reports/index.ts';
import { loadRun } from './task.ts';
import type { World } from './world.ts';

/**
 * Notes what this process executes in, for every report; called before each stage that executes, since a run may go on
 * elsewhere. What was weaker once stays weaker. A fault where there is no sandbox that can be trusted (I10).
 */
export async function noteSandbox(world: World, runId: RunId): Promise<void> {
  const probe = await world.sandbox.probe();
  if (probe.kind === 'missing')
    throw new Fault('SANDBOX_UNAVAILABLE', `${probe.why} To mend it: ${probe.remedy}`);
  const { sandbox: before } = await loadRun(world, runId);
  const { backend, detail, weaker } = probe;
  const now: SandboxView = { backend, detail, weaker };
  await world.store.updateRun(runId, { sandbox: joined(before, now) }, world.clock.now());
}

function joined(before: SandboxView | undefined, now: SandboxView): SandboxView {
  if (!before || before.detail === now.detail) return now;
  return {
    backend: before.backend === 'none' ? before.backend : now.backend,
    detail: `${before.backend}: ${before.detail}; later ${now.backend}: ${now.detail}`.slice(0, 400),
    weaker: [...new Set([...before.weaker, ...now.weaker])],
  };
}
