import { join } from 'node:path';
import type { Operator } from '../core/settings/index.ts';
import type { Log, Store, Tracer, Workspaces } from '../ports/index.ts';
import type { RuntimeNeeds } from '../shell.ts';
import type { Instruments } from './instrumentation.ts';

/** Opens only what is configured; otherwise the packages for metrics and a collector are not even loaded. */
export async function openInstruments(
  operator: Operator,
  { store, log }: { readonly store: Store; readonly log: Log },
  needs: RuntimeNeeds,
  cleanups: AsyncDisposableStack,
): Promise<Pick<Instruments, 'metrics' | 'tracer'>> {
  const { metricsToken } = operator;
  const metrics =
    metricsToken === undefined
      ? {}
      : {
          metrics: (await import('../adapters/metrics/index.ts')).openMetrics({
            census: () => store.census(),
          }),
        };
  const tracer = needs.role === 'reader' ? null : await openTracers(operator, needs, log);
  if (tracer === null) return metrics;
  cleanups.defer(() => tracer.close());
  return { ...metrics, tracer };
}

/** To a collector, to files, or both; null if neither is wanted. */
async function openTracers(
  { traces, traceFolder }: Operator,
  needs: Exclude<RuntimeNeeds, { role: 'reader' }>,
  log: Log,
): Promise<Tracer | null> {
  const { executor: instance, traceFile } = needs;
  if (!traces && traceFolder === undefined && traceFile === undefined) return null;
  const { openTraceFiles, openTracer, prepareTraceFile } = await import('../adapters/traces/index.ts');
  // Before anything is paid: whoever names a file wants it. A folder of the operator stops no run.
  if (traceFile !== undefined) await prepareTraceFile(traceFile);
  const fileOf = (run: string): string => traceFile ?? join(traceFolder ?? '', `${run}.json`);
  const onFailure = (thrown: unknown) => log.warn({ err: thrown }, 'A trace could not be written.');
  const tracers = [
    ...(traces ? [openTracer({ ...traces, instance })] : []),
    ...((traceFile ?? traceFolder) ? [openTraceFiles({ fileOf, instance, onFailure })] : []),
  ];
  return tracers.reduce(both);
}

/** Every span goes to both. */
const both = (one: Tracer, other: Tracer): Tracer => ({
  within: (about, work) => one.within(about, () => other.within(about, work)),
  record(about, when) {
    one.record(about, when);
    other.record(about, when);
  },
  recordRun(about, when) {
    one.recordRun(about, when);
    other.recordRun(about, when);
  },
  async close() {
    await Promise.all([one.close(), other.close()]);
  },
});

/** The same workspaces; operations with git, areas and layers are traced by their names. */
export function tracedWorkspaces(
  workspaces: Workspaces,
  { log, tracer }: Pick<Instruments, 'log' | 'tracer'>,
): Workspaces {
  if (!tracer) return workspaces;
  const traced = Object.entries(workspaces).map(([operation, method]) => [
    operation,
    (...given: readonly unknown[]) => {
      const work = async (): Promise<unknown> => Reflect.apply(method, workspaces, given);
      const { run, candidate } = log.about();
      if (run === undefined) return work();
      const attributes = { run, operation, ...(candidate === undefined ? {} : { candidate }) };
      return tracer.within({ name: 'workspace', run, attributes }, work);
    },
  ]);
  return Object.fromEntries(traced) as Workspaces;
}
