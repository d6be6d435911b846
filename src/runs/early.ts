import { agreeEarly, type EarlyField, type Finisher } from '../core/adaptive/index.ts';
import type { TestRun } from '../core/evidence/index.ts';
import { familyOf } from '../core/judging/index.ts';
import { comparePatches } from '../core/likeness/index.ts';
import type { Alias, ArtifactRef, Candidate, RunId } from '../core/model/index.ts';
import { sayEnough } from './code/index.ts';
import { type Bench, gatherEvidence, openBench, readBaseRun } from './examine/index.ts';
import { stopIfCancelled } from './guard.ts';
import type { World } from './world.ts';

/** Milliseconds between two looks at who has finished. Our default: small beside a coder's minutes. */
const LOOK_MS = 1_000;

/**
 * While coders work: examines the first who finish, each by itself, and tells the others to stop when these pass and
 * agree. What is found here only ends the coding; the stage that follows examines everybody, with each other's tests.
 */
export async function stopEarly(
  world: World,
  runId: RunId,
  baseRun: ArtifactRef,
  over: () => boolean,
  signal: AbortSignal,
): Promise<null> {
  const examined = new Map<Alias, Finisher>();
  let table: Table | null = null;
  while (!over()) {
    stopIfCancelled(signal);
    const candidates = await world.store.candidates(runId);
    const finished = candidates.filter(({ state }) => state === 'coded');
    const news = finished.filter(({ alias }) => !examined.has(alias));
    if (finished.length >= 2 && news.length > 0 && candidates.some(isAtWork)) {
      table ??= await layTable(world, runId, baseRun, signal);
      for (const one of news) examined.set(one.alias, await look(table, one));
      const agreed = agreeEarly([...examined.values()], await fieldOf(world, candidates));
      if (agreed.kind === 'stop') {
        await sayEnough(world.store, runId, agreed.because);
        return null;
      }
    }
    await world.clock.sleep(LOOK_MS, signal);
  }
  return null;
}

const isAtWork = ({ state }: Candidate): boolean => state === 'queued' || state === 'coding';

/** Where finishers are examined. */
interface Table {
  readonly bench: Bench;
  readonly onBase: TestRun;
}

async function layTable(
  world: World,
  runId: RunId,
  baseRun: ArtifactRef,
  signal: AbortSignal,
): Promise<Table> {
  const bench = await openBench(world, runId, signal);
  return { bench, onBase: await readBaseRun(bench, baseRun) };
}

async function look({ bench, onBase }: Table, candidate: Candidate): Promise<Finisher> {
  const {
    evidence: [evidence],
  } = await gatherEvidence(bench, [candidate], onBase);
  return { evidence: evidence as Finisher['evidence'], family: familyOf(candidate.contestant.model) };
}

async function fieldOf(world: World, candidates: readonly Candidate[]): Promise<EarlyField> {
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
