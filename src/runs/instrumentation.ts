import { z } from 'zod';
import { FAULTS, type FaultCode } from '../core/model/index.ts';
import type { FlowContext, Flows } from '../ports/index.ts';
import type { World } from './context.ts';

/** The subject of a flow, taken from its input. */
const FlowSubject = z.object({ runId: z.string(), alias: z.string().optional() });

/** A stage returns its fault as a value. */
const FaultResult = z.object({
  kind: z.literal('fault'),
  fault: z.object({
    code: z.custom<FaultCode>((code) => typeof code === 'string' && Object.hasOwn(FAULTS, code)),
  }),
});

type Flow = Flows[keyof Flows];
type InstrumentationPorts = Pick<World, 'store' | 'clock' | 'log' | 'metrics' | 'tracer'>;

/**
 * Instruments flows: log lines carry run, candidate and stage; steps are timed and traced; faults and endings are
 * counted. Steps replayed after a crash are not executed and not counted again.
 */
export const instrumentFlows = (world: InstrumentationPorts, flows: Flows): Flows => ({
  run: instrumentFlow(world, flows.run, async (runId, end) => {
    const run = world.tracer && (await world.store.run(runId));
    if (!run) return;
    const attributes = { run: runId, end: String(end) };
    const when = { startedAt: run.createdAt, endedAt: world.clock.now(), failed: end === 'failed' };
    world.tracer?.recordRun({ name: 'run', run: runId, attributes }, when);
  }),
  candidate: instrumentFlow(world, flows.candidate, async (runId, _end, alias) => {
    if (!world.metrics) return;
    const candidate = (await world.store.candidates(runId)).find((one) => one.alias === alias);
    if (candidate) world.metrics.candidate(candidate.state);
  }),
  examination: instrumentFlow(world, flows.examination, async () => undefined),
});

function instrumentFlow(
  world: InstrumentationPorts,
  flow: Flow,
  ended: (runId: string, end: unknown, alias: string | undefined) => Promise<void>,
): Flow {
  return (context, input) => {
    const { runId, alias } = FlowSubject.parse(input);
    const lines = { run: runId, candidate: alias, stage: undefined, command: undefined, delivery: undefined };
    return world.log.within(lines, async () => {
      const end = await flow(instrumentSteps(world, context, runId, alias), input);
      // A failing metric must not fail the work.
      await ended(runId, end, alias).catch((thrown: unknown) =>
        world.log.warn({ err: thrown }, 'the end of a flow could not be counted'),
      );
      return end;
    });
  };
}

function instrumentSteps(
  world: InstrumentationPorts,
  context: FlowContext,
  runId: string,
  alias: string | undefined,
): FlowContext {
  const { log, clock, metrics, tracer } = world;
  return {
    ...context,
    step: (name, work, options) => {
      const instrumented = (signal: AbortSignal) =>
        log.within({ stage: name }, async () => {
          const began = clock.elapsed();
          const attributes = {
            run: runId,
            stage: name,
            ...(alias === undefined ? {} : { candidate: alias }),
          };
          const about = { name: alias === undefined ? 'stage' : 'candidate', run: runId, attributes };
          try {
            const result = await (tracer ? tracer.within(about, () => work(signal)) : work(signal));
            const faulty = FaultResult.safeParse(result);
            if (faulty.success) metrics?.fault(faulty.data.fault.code);
            return result;
          } finally {
            metrics?.stage(name, (clock.elapsed() - began) / 1000);
          }
        });
      return context.step(name, instrumented, options);
    },
  };
}
