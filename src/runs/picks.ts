import { type Alias, Fault, fullNameOf, isOver, type RunId, type Task } from '../core/model/index.ts';
import { pickOf } from '../core/ranking/index.ts';
import { type PickRecord, type RunRecord, rejectedPickKey, type Store, type Vote } from '../ports/index.ts';
import { loadRun, type World } from './context.ts';

/** Rejects a pick that GitHub refused: it stays on record but no longer counts. `why`: a sentence. */
export async function rejectPick(store: Store, runId: RunId, key: string, why: string): Promise<void> {
  await store.intend(runId, rejectedPickKey(key));
  await store.fulfil(runId, rejectedPickKey(key), why);
}

/** Why a pick no longer counts; null if it counts. */
export async function whyPickRejected(
  store: StorePart<'intent'>,
  runId: RunId,
  { key }: PickRecord,
): Promise<string | null> {
  const intent = await store.intent(runId, rejectedPickKey(key));
  return intent?.state === 'done' ? String(intent.result) : null;
}

/** The picks that count, in order; the last one is in effect. */
export async function standingPicks(
  store: StorePart<'intent' | 'picks'>,
  runId: RunId,
): Promise<readonly PickRecord[]> {
  const standing: PickRecord[] = [];
  for (const pick of await store.picks(runId)) {
    if ((await whyPickRejected(store, runId, pick)) === null) standing.push(pick);
  }
  return standing;
}

/** Votes, and the picks that count. Only judged runs have any. */
export async function opinionsOn(
  store: StorePart<'intent' | 'picks' | 'votes'>,
  { id, decision }: Pick<RunRecord, 'decision' | 'id'>,
): Promise<{ readonly votes: readonly Vote[]; readonly picks: readonly PickRecord[] }> {
  if (!decision) return { votes: [], picks: [] };
  return { votes: await store.votes(id), picks: await standingPicks(store, id) };
}

type StorePart<K extends keyof Store> = { readonly [M in K]: Store[M] };

interface LocalPick {
  readonly alias: Alias | null;
  /** The branch with its commit, e.g. `runoff/r7k2m9q4xa/B`; null if none was picked or the run left no branch. */
  readonly branch: string | null;
  /** The commit that the run started from; absent if it has none. */
  readonly base?: Task['base'] | undefined;
}

/**
 * Records the local user's pick for a local run; `alias` null: none of the candidates. Idempotent per `key`. Faults:
 * RUN_UNKNOWN, RUN_NOT_WAITING if there is nothing to pick from, CANDIDATE_UNKNOWN.
 */
export async function pickLocally(
  world: Pick<World, 'store' | 'clock'>,
  runId: RunId,
  alias: Alias | null,
  key: string,
): Promise<LocalPick> {
  const run = await requireLocalChoice(world, runId);
  if (alias !== null) await requireSurvivor(world, run, alias);
  await world.store.addPick(runId, {
    alias,
    by: null,
    at: world.clock.now(),
    key,
    shown: {
      aliases: (run.ranking ?? []).map((one) => one.alias),
      first: pickOf(run.decision),
      votes: tally(await world.store.votes(runId)),
    },
  });
  const branch = alias === null ? null : (run.outcome?.branches[alias] ?? null);
  return { alias, branch, base: run.task?.base };
}

/** The run, if a person at this machine can pick from it. Faults: RUN_UNKNOWN, RUN_NOT_WAITING. */
export async function requireLocalChoice(world: Pick<World, 'store'>, runId: RunId): Promise<RunRecord> {
  const run = await loadRun(world, runId);
  const { id, origin, state } = run;
  if (origin.kind === 'github') {
    throw new Fault(
      'RUN_NOT_WAITING',
      `Run ${id} belongs to issue #${origin.issue} of ${fullNameOf(origin)}, so pick there: comment \`/auto-dev pick B\`.`,
    );
  }
  if (!isOver(state)) {
    throw new Fault('RUN_NOT_WAITING', `Run ${id} is still active, so there is nothing to pick from yet.`);
  }
  if (state === 'refused') {
    throw new Fault('RUN_NOT_WAITING', `Run ${id} was refused, so it has no candidates to pick from.`);
  }
  return run;
}

/** Only candidates that passed every gate can be picked, by people as by judges (I7). */
async function requireSurvivor(world: Pick<World, 'store'>, run: RunRecord, alias: Alias): Promise<void> {
  const candidate = (await world.store.candidates(run.id)).find((one) => one.alias === alias);
  if (!candidate?.patch) {
    const why = candidate ? 'it left no patch' : 'there is no candidate with this letter';
    throw new Fault('CANDIDATE_UNKNOWN', `Candidate ${alias} of run ${run.id} cannot be picked: ${why}.`);
  }
  const evidence = run.evidence?.find((one) => one.alias === alias);
  if (evidence?.survivor) return;
  const gate = evidence?.gates.find(({ passed }) => !passed);
  const why = gate
    ? `it failed the gate \`${gate.gate}\` (${gate.because.replace(/\.$/, '')})`
    : 'it was not examined';
  throw new Fault('CANDIDATE_UNKNOWN', `Candidate ${alias} of run ${run.id} cannot be picked: ${why}.`);
}

function tally(votes: readonly Vote[]): Readonly<Record<Alias, number>> {
  const count: Record<Alias, number> = {};
  for (const { alias } of votes) count[alias] = (count[alias] ?? 0) + 1;
  return count;
}
