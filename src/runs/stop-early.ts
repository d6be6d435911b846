import type { TestRun } from '../core/evidence/index.ts';
import { familyOf } from '../core/judging/index.ts';
import { comparePatches } from '../core/likeness/index.ts';
import type { Alias, ArtifactRef, Candidate } from '../core/model/index.ts';
import { type AgreementContext, decideEarlyStop, type FinishedCandidate } from '../core/ranking/index.ts';
import { requestStop } from './code/index.ts';
import type { World } from './context.ts';
import {
  type CheckRunner,
  type CheckRunnerPorts,
  gatherEvidence,
  openCheckRunner,
  readBaseRun,
} from './examine/index.ts';
import { type RunContext, throwIfCancelled } from './stage.ts';

/** Milliseconds between two looks at who has finished. Our default: small beside a coder's minutes. */
const FINISHER_CHECK_MS = 1_000;

/**
 * While coders work: examines the first who finish, each by itself, and tells the others to stop when these pass and
 * agree. What is found here only ends the coding; the stage that follows examines everybody, with each other's tests.
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

/** Where finishers are examined. */
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
  for (const { alias, patch } of candidates)
    if (patch) texts.set(alias, await world.artifacts.get(patch.text));
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
