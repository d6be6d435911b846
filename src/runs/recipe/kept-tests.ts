import { z } from 'zod';
import { leftOutTypeCheck, succeeded, type TestRun } from '../../core/evidence/index.ts';
import type { World } from '../context.ts';
import type { CheckRunner } from '../examine/index.ts';
import { unlessDamaged } from '../stage.ts';

/**
 * Milliseconds for which passed tests of a base commit are not repeated. Our default: a run that is repeated, or the next
 * one on the same commit, mostly comes within an hour, in which a machine rarely changes.
 */
const KEPT_MS = 3_600_000;

type KeptPorts = Pick<World, 'artifacts' | 'clock' | 'sandbox' | 'workspaces'>;

const Kept = z.object({ at: z.number(), tests: z.object({ sha256: z.string(), bytes: z.number() }) });

/**
 * Keeps the tests of a base commit, all of which passed, with its checkout on this machine. Others are not kept: what a
 * failed or flaky test lacks may be there the next time (docs/decisions/0219).
 */
export async function keepTests(ports: KeptPorts, runner: CheckRunner, run: TestRun): Promise<void> {
  if (!isCertain(run) || runner.task.settings.network.checks) return;
  const tests = await ports.artifacts.put(JSON.stringify(run));
  const kept: z.infer<typeof Kept> = { at: ports.clock.now(), tests };
  await ports.workspaces.note(runner.base, await noteKeyOf(ports, runner), JSON.stringify(kept));
}

/** The same tests that passed on the same base commit within the last hour; null if there are none. */
export async function keptTests(ports: KeptPorts, runner: CheckRunner): Promise<TestRun | null> {
  if (runner.task.settings.network.checks) return null;
  const note = await ports.workspaces.noteOf(runner.base, await noteKeyOf(ports, runner));
  const kept = note === null ? null : keptFrom(note);
  const ageMs = kept === null ? Number.POSITIVE_INFINITY : ports.clock.now() - kept.at;
  if (kept === null || ageMs < 0 || ageMs > KEPT_MS) return null;
  const text = await unlessDamaged(ports.artifacts.get(kept.tests));
  return text === null ? null : (JSON.parse(text) as TestRun);
}

/** A damaged note is none. */
function keptFrom(note: string): z.infer<typeof Kept> | null {
  try {
    return Kept.safeParse(JSON.parse(note)).data ?? null;
  } catch {
    return null;
  }
}

const isCertain = (run: TestRun): boolean =>
  succeeded(run) &&
  run.flaky === undefined &&
  run.refusedServices === undefined &&
  // What was left out because it failed.
  run.notes === undefined &&
  (run.packages ?? []).every(succeeded) &&
  (run.types ?? []).every((check) => leftOutTypeCheck(check) === null) &&
  Object.values(run.tests).every((outcome) => outcome !== 'failed');

/** Everything that the result depends on besides the commit: sandbox, what is installed, commands and their limits. */
async function noteKeyOf(
  { sandbox }: KeptPorts,
  { base, plan, services, task, types }: CheckRunner,
): Promise<string> {
  const { checks, network, timeout } = task.settings;
  const { home, layers, submodules, tools, toolVersions } = base;
  const installed = { home, layers, submodules, tools, toolVersions };
  const { check, examine } = timeout;
  const commands = { checks, network, plan: plan.commands, services, timeout: { check, examine }, types };
  return JSON.stringify(['tests', await sandbox.probe(), installed, commands]);
}
