import { z } from 'zod';
import type { TestRun } from '../core/evidence/index.ts';
import { familyOf } from '../core/judging/index.ts';
import { comparePatches } from '../core/likeness/index.ts';
import { type Alias, type ArtifactRef, type Candidate, Fault } from '../core/model/index.ts';
import { type AgreementContext, decideEarlyStop, type FinishedCandidate } from '../core/ranking/index.ts';
import type { FlowContext } from '../ports/index.ts';
import { requestStop } from './code/index.ts';
import { priorityIn, repositoryKeyOf, type World } from './context.ts';
import {
  type CheckRunner,
  type CheckRunnerPorts,
  type ExaminePorts,
  examine,
  gatherEvidence,
  openCheckRunner,
  readBaseRun,
} from './examine/index.ts';
import {
  type RunContext,
  type StagePorts,
  type StageResult,
  stagesOf,
  type Timed,
  throwIfCancelled,
  UNLIMITED,
  unlessDamaged,
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
 * Examines all candidates, and again as long as `codeFurther` adds some: a repair, one more contestant, a synthesis.
 */
export async function examineRounds(
  world: StagePorts,
  flow: FlowContext,
  input: Omit<ExaminationInput, 'leftMs'>,
  time: WorkTime,
  codeFurther: () => Promise<boolean>,
): Promise<StageResult<'examined'>> {
  for (let round = 1; ; round += 1) {
    const examined = await examineRound(world, flow, { ...input, round }, time);
    if (examined.kind === 'fault' || !(await codeFurther())) return examined;
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

/** Milliseconds between checks for finished coders. Our default: short compared with a coder's minutes. */
const FINISHER_CHECK_MS = 1_000;

/**
 * Examines the first finishers individually while other coders work, and stops the others when the finishers pass and
 * agree. The result only ends coding; the following stage examines all candidates, including with each other's tests.
 */
export async function stopEarly(
  world: CheckRunnerPorts,
  context: RunContext,
  baseRun: ArtifactRef,
  over: () => boolean,
): Promise<null> {
  const { run, signal } = context;
  const examined = new Map<Alias, FinishedCandidate>();
  let table: FinisherChecks | null = null;
  while (!over()) {
    throwIfCancelled(signal);
    const candidates = await world.store.candidates(run.id);
    const finished = candidates.filter(({ state }) => state === 'coded');
    const news = finished.filter(({ alias }) => !examined.has(alias));
    if (finished.length >= 2 && news.length > 0 && candidates.some(isCoding)) {
      table ??= await openFinisherChecks(world, context, baseRun);
      for (const one of news) examined.set(one.alias, await examineFinisher(table, one));
      const agreed = decideEarlyStop([...examined.values()], await earlyFieldOf(world, candidates));
      if (agreed.kind === 'stop') {
        await requestStop(world.store, run.id, agreed.because);
        return null;
      }
    }
    await world.clock.sleep(FINISHER_CHECK_MS, signal);
  }
  return null;
}

const isCoding = ({ state }: Candidate): boolean => state === 'queued' || state === 'coding';

/** Dependencies of examining finishers. */
interface FinisherChecks {
  readonly runner: CheckRunner;
  readonly onBase: TestRun;
}

async function openFinisherChecks(
  world: CheckRunnerPorts,
  context: RunContext,
  baseRun: ArtifactRef,
): Promise<FinisherChecks> {
  const runner = await openCheckRunner(world, context);
  return { runner, onBase: await readBaseRun(runner, baseRun) };
}

async function examineFinisher(
  { runner, onBase }: FinisherChecks,
  candidate: Candidate,
): Promise<FinishedCandidate> {
  const {
    evidence: [evidence],
  } = await gatherEvidence(runner, [candidate], onBase);
  return {
    evidence: evidence as FinishedCandidate['evidence'],
    family: familyOf(candidate.contestant.model),
  };
}

async function earlyFieldOf(
  world: Pick<World, 'artifacts'>,
  candidates: readonly Candidate[],
): Promise<AgreementContext> {
  const texts = new Map<Alias, string>();
  for (const { alias, patch } of candidates) {
    const text = patch ? await unlessDamaged(world.artifacts.get(patch.text)) : null;
    if (text !== null) texts.set(alias, text);
  }
  return {
    families: new Set(candidates.map(({ contestant }) => familyOf(contestant.model))).size,
    similarity(a, b) {
      const pair = [a, b].map((id) => ({ id, text: texts.get(id) ?? '' }));
      const [own, other] = comparePatches(pair);
      if (!own || !other) return 0;
      return own.classIndex === other.classIndex ? 1 : own.share;
    },
  };
}
