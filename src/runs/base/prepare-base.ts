import { Fault, type Task } from '../../core/model/index.ts';
import {
  type BaseStep,
  commandFailure,
  failureLines,
  quotedCode,
  registryOutage,
} from '../../core/reports/index.ts';
import { type BaseCheckout, NO_REGISTRIES, type RepositorySource } from '../../ports/index.ts';
import { allowedHosts, checkLimits, readTextAt, sourceOf, type World } from '../context.ts';
import { absentContentAt, gitEnvironmentAt } from './content.ts';
import { toolsAt, withTools } from './toolchains.ts';

/** Told what is done with the base commit; work goes on when it resolves. */
export type OnBaseStep = (step: BaseStep) => Promise<void> | void;

/** The prepared checkout of the task's base commit with what `checks.setup` installed; made once, then found again. */
export async function prepareBase(
  world: Pick<World, 'github' | 'registries' | 'toolchains' | 'workspaces'>,
  task: Pick<Task, 'base' | 'origin' | 'settings'>,
  how: {
    readonly source?: RepositorySource;
    readonly signal: AbortSignal;
    /** Called as each step begins. */
    readonly onStep?: OnBaseStep;
  },
): Promise<BaseCheckout> {
  const source = how.source ?? (await sourceOf(world, task));
  const { sha } = task.base;
  const read = (path: string) => readTextAt(world, source, sha, path);
  await how.onStep?.({ name: 'checkout' });
  const { setup } = task.settings.checks;
  const provided = await toolsAt(world, { source, sha, read, setup }, how.signal);
  const bare = withTools(await world.workspaces.prepare(source, sha), provided);
  if (!setup) return bare;
  await how.onStep?.({ name: 'set-up', command: setup });
  const egress = allowedHosts(task);
  const registries = (await world.registries?.of(setup)) ?? NO_REGISTRIES;
  const env = { ...(await gitEnvironmentAt(world, source, sha)), ...registries.env };
  const installed = await world.workspaces.install(
    bare,
    { command: setup, egress, registries: { ...registries, env }, limits: checkLimits(task) },
    how.signal,
  );
  if (installed.kind === 'ready') return installed.base;
  const { why, refusedHosts, tail } = installed;
  const hasNetwork = egress.length > 0 || registries.hosts.length > 0;
  const outage = registryOutage({ ...installed, hasNetwork });
  if (outage !== null)
    throw new Fault(
      'REGISTRY_UNAVAILABLE',
      `The set-up command ${quotedCode(setup)} could not get its packages: ${outage}.${outputText(tail)}`,
    );
  const failure = commandFailure({
    step: 'set-up',
    command: setup,
    how: why.replace(/^`[^`]*` (?:ended with |was )?|\.$/g, ''),
    lines: failureLines(tail),
  });
  // A missing tool is the likeliest cause, and what a person can do something about.
  const missing = [...(provided?.missing ?? []), ...(await absentContentAt(world, source, sha))];
  const text = [...missing, `${failure}${refusedText(refusedHosts)}`].join(' ');
  throw new Fault('BASE_BROKEN', text);
}

/** What else may have made it fail; empty without output. */
function outputText(tail: string): string {
  const lines = failureLines(tail);
  return lines.length === 0 ? '' : ` Its output: ${lines.map(quotedCode).join(', ')}.`;
}

/** Which lines would allow the hosts that a set-up command was refused; empty for none. */
function refusedText(hosts: readonly string[]): string {
  if (hosts.length === 0) return '';
  const names = hosts.slice(0, 5).map((host) => host.replace(/:443$/, ''));
  const list = names.join(', ');
  return ` It may not reach ${list}. To allow that, add \`network: { allow: [${list}] }\` to .github/auto-dev.yml, and NETWORK_ALLOW=registries,${names.join(',')} to Runoff's own settings.`;
}
