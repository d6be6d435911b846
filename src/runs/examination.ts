import { z } from 'zod';
import { Fault, type RunId } from '../core/model/index.ts';
import type { ChildInput, FlowContext } from '../ports/index.ts';
import { examine } from './examine/index.ts';
import { type Guarded, guard } from './guard.ts';
import { loadRun, loadTask, priorityIn, repositoryOf } from './task.ts';
import { guardWithin, type Timed, type WorkTime } from './work-time.ts';
import type { World } from './world.ts';

export const ExaminationInput = z.strictObject({
  runId: z.string(),
  /** The test run on the base commit. */
  baseRun: z.strictObject({ sha256: z.string(), bytes: z.number() }),
  /** Milliseconds that the run may work from here on. */
  leftMs: z.number(),
});
export type ExaminationInput = z.infer<typeof ExaminationInput>;

/** What the examination's own flow does, on whatever machine takes it. */
export const examineHere = (
  world: World,
  context: FlowContext,
  { runId, baseRun, leftMs }: ExaminationInput,
): Promise<Timed<Guarded<'examined'>>> =>
  context.step('examine', (signal) =>
    guardWithin(world, 'examine', { signal, leftMs }, (within) => examine(world, runId, baseRun, within)),
  );

/** Examines all candidates, and again as long as `codeFurther` adds some: a repair, one more contestant, a synthesis. */
export async function examineAll(
  world: World,
  context: FlowContext,
  input: Omit<ExaminationInput, 'leftMs'>,
  time: WorkTime,
  codeFurther: () => Promise<boolean>,
): Promise<Guarded<'examined'>> {
  for (let round = 1; ; round += 1) {
    const examined = await examineAnywhere(world, context, { ...input, round }, time);
    if (examined.kind === 'fault' || !(await codeFurther())) return examined;
  }
}

/** Builds and tests all candidates on any machine that takes examinations. `round` counts from 1. */
async function examineAnywhere(
  world: World,
  context: FlowContext,
  { round, ...about }: Omit<ExaminationInput, 'leftMs'> & { readonly round: number },
  time: WorkTime,
): Promise<Guarded<'examined'>> {
  const took = time.begin();
  const input: ExaminationInput = { ...about, leftMs: time.left() };
  // A run that an older version began to examine itself goes on so.
  if (!(await context.patched('examination'))) return untimed(await examineHere(world, context, input), took);
  const where = await context.step('where', (signal) =>
    guard(world, 'examine', signal, () => whereOf(world, input.runId)),
  );
  if (where.kind === 'fault') return where;
  const key = round === 1 ? 'examination' : `examination-${round}`;
  const [result] = await context.fanOut<Timed<Guarded<'examined'>>>([
    { flow: 'examination', key, ...where.value, input },
  ]);
  if (result?.kind === 'done') return untimed(result.value, took);
  const why = result?.why ?? 'it was not begun';
  const fault = new Fault('INTERNAL', `The examination broke off: ${why}`);
  return { kind: 'fault', fault: { code: fault.code, message: fault.message } };
}

function untimed(
  { elapsed = 0, ...examined }: Timed<Guarded<'examined'>>,
  took: (elapsed: number) => void,
): Guarded<'examined'> {
  took(elapsed);
  return examined;
}

async function whereOf(world: World, runId: RunId): Promise<Pick<ChildInput, 'partition' | 'priority'>> {
  const { origin } = await loadTask(world, runId);
  return { partition: repositoryOf(origin), priority: priorityIn(await loadRun(world, runId)) };
}
