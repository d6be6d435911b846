import type { TestRun } from '../../core/evidence/index.ts';
import { asFault, Fault } from '../../core/model/index.ts';
import { tailOf } from '../../core/reports/index.ts';
import { SERVICE_NOT_STARTED, SERVICE_REFUSED, type ServicePlan } from '../../core/settings/index.ts';
import type { ExecResult } from '../../ports/index.ts';
import { type CheckArea, type CheckRunner, KillShown, withoutServices } from './areas.ts';
import { runCommand } from './execute.ts';

const NO_SERVICE = 'The services for the tests could not be started.';

/** A service that ended by itself instead of starting. Only on the base is it known that no candidate is the reason. */
class ServiceRefused extends Fault {
  readonly service: string;

  constructor(service: string, message: string) {
    super('RESOURCES_EXHAUSTED', message);
    this.service = service;
  }
}

/** Whether a test command may have ended because of a service; a test command can have these exit codes too. */
export const mayLackService = ({ exitCode }: ExecResult): boolean =>
  exitCode === SERVICE_NOT_STARTED || exitCode === SERVICE_REFUSED;

/**
 * Starts the services alone, since the exit code of a test command is no proof. Rejects with RESOURCES_EXHAUSTED if one
 * does not start, or so that the work is repeated in another area, once.
 */
export async function repeatIfNotStarted(
  runner: CheckRunner,
  area: CheckArea,
  { script, refusedIn }: ServicePlan,
): Promise<void> {
  const alone = await runCommand(runner, area, { argv: ['sh', '-c', script] });
  if (alone.exitCode === 0) {
    if (area.repeatableIfShown) throw new KillShown();
    return;
  }
  const why = tailOf(alone.stderr, 1) || NO_SERVICE;
  const service = alone.exitCode === SERVICE_REFUSED ? refusedIn(alone.stderr) : null;
  throw service === null ? new Fault('RESOURCES_EXHAUSTED', why) : new ServiceRefused(service, why);
}

/**
 * Runs the tests on the base without the services that refuse to start there in every area: a port, a name or a version
 * is the reason, which waiting does not change. Tests that need one fail on the base, and are set aside.
 */
export async function onUsableServices(
  runner: CheckRunner,
  work: (runner: CheckRunner) => Promise<TestRun>,
): Promise<TestRun> {
  try {
    return await work(runner);
  } catch (thrown) {
    const { cause, message } = asFault(thrown);
    if (!(cause instanceof ServiceRefused)) throw thrown;
    const { service } = cause;
    const run = await onUsableServices(withoutServices(runner, [service]), work);
    return {
      ...run,
      refusedServices: [service, ...(run.refusedServices ?? [])],
      notes: [...(run.notes ?? []), `${message}. The tests ran without it.`],
    };
  }
}
