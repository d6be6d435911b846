import { z } from 'zod';
import { Fault } from '../core/model/index.ts';
import type { FlowContext } from '../ports/index.ts';
import { priorityIn, repositoryKeyOf } from './context.ts';
import { type ExaminePorts, examine } from './examine/index.ts';
import {
  type StagePorts,
  type StageResult,
  stagesOf,
  type Timed,
  UNLIMITED,
  type WorkTime,
  workTimeOf,
} from './stage.ts';

export const ExaminationInput = z.strictObject({
  runId: z.string(),
  /** The test run on the base commit. */
  baseRun: z.strictObject({ sha256: z.string(), bytes: z.number() }),
  /** Milliseconds of work time left to the run. */
  leftMs: z.number(),
});
export type ExaminationInput = z.infer<typeof ExaminationInput>;

/** Executes the examination's own flow, on any machine; returns its milliseconds as well. */
export async function examineHere(
  world: ExaminePorts & StagePorts,
  flow: FlowContext,
  { runId, baseRun, leftMs }: ExaminationInput,
): Promise<Timed<StageResult<'examined'>>> {
  const time = workTimeOf(leftMs);
  const stage = stagesOf(world, flow, runId, time);
  const examined = await stage('examine', (context) => examine(world, context, baseRun));
  return { ...examined, elapsed: leftMs - time.left() };
}

/**
 * Examines all candidates, and again as long as `codeFurther` adds some: the next contestant of a sequential field, or
 * those of a further round. It gets the milliseconds that the examination before it took.
 */
export async function examineRounds(
  world: StagePorts,
  flow: FlowContext,
  input: Omit<ExaminationInput, 'leftMs'>,
  time: WorkTime,
  codeFurther: (examinedMs: number) => Promise<boolean>,
): Promise<StageResult<'examined'>> {
  for (let round = 1; ; round += 1) {
    const before = time.left();
    const examined = await examineRound(world, flow, { ...input, round }, time);
    if (examined.kind === 'fault' || !(await codeFurther(before - time.left()))) return examined;
  }
}

/** Builds and tests all candidates on any machine that takes examinations. `round` counts from 1. */
async function examineRound(
  world: StagePorts,
  flow: FlowContext,
  { round, ...input }: Omit<ExaminationInput, 'leftMs'> & { readonly round: number },
  time: WorkTime,
): Promise<StageResult<'examined'>> {
  const took = time.begin();
  const leftMs = time.left();
  const queue = await stagesOf(
    world,
    flow,
    input.runId,
    UNLIMITED,
  )('where', async ({ run }) => ({
    partition: repositoryKeyOf(run.origin),
    priority: priorityIn(run),
  }));
  if (queue.kind === 'fault') return queue;
  const key = round === 1 ? 'examination' : `examination-${round}`;
  const [result] = await flow.fanOut<Timed<StageResult<'examined'>>>([
    { flow: 'examination', key, ...queue.value, input: { ...input, leftMs } },
  ]);
  if (result?.kind === 'done') {
    const { elapsed = 0, ...examined } = result.value;
    took(elapsed);
    return examined;
  }
  const why = result?.why ?? 'it was not started';
  const fault = new Fault('INTERNAL', `The examination was interrupted: ${why}`);
  return { kind: 'fault', fault: { code: fault.code, message: fault.message } };
}
