import {
  type Alias,
  asFault,
  type Candidate,
  type Contestant,
  Fault,
  type FurtherKind,
  NO_USAGE,
  type RunId,
  type Task,
  type Usd,
} from '../../core/model/index.ts';
import { furtherAliases, type NextRound, nextRound, roundText } from '../../core/ranking/index.ts';
import { assignAliases, timesOf } from '../../core/settings/index.ts';
import type { BaseCheckout, ChildInput, ChildResult, FlowContext, RunRecord } from '../../ports/index.ts';
import { type RestorePorts, restoreTree } from '../base/index.ts';
import { hasPrice, oneMoreContestant } from '../contestants.ts';
import { priorityIn, repositoryKeyOf, taskOf, type World } from '../context.ts';
import type { StageRunner, WorkTime } from '../stage.ts';
import { takenOverNote } from '../taken-over.ts';
import { stepOfField } from './field.ts';

/** Dependencies of queueing candidates. */
export type RoundPorts = Pick<
  World,
  'announcer' | 'ceilings' | 'clock' | 'coders' | 'defaults' | 'gateway' | 'log' | 'prompts' | 'store'
>;

interface QueuedCandidate {
  readonly alias: Alias;
  readonly ordinal: number;
  readonly contestant: Contestant;
}

/** The same inputs with the run's remaining work time in milliseconds. */
export const withTimeLeft = (leftMs: number, inputs: readonly ChildInput[]): readonly ChildInput[] =>
  inputs.map((one) => ({ ...one, input: { ...Object(one.input), leftMs } }));

/** Stores the candidates to be coded next. Candidates stored before a crash stay unchanged. */
export async function queueCandidates(
  world: Pick<World, 'store' | 'announcer'>,
  run: RunRecord,
  places: readonly QueuedCandidate[],
): Promise<readonly ChildInput[]> {
  const runId = run.id;
  const known = new Set((await world.store.candidates(runId)).map((c) => c.alias));
  for (const place of places.filter(({ alias }) => !known.has(alias))) {
    const note = noteOf(place.contestant, 'waits for a slot');
    await world.store.putCandidate({ runId, ...place, usage: NO_USAGE, ms: 0, state: 'queued', note });
  }
  world.announcer.soon(runId);
  const where = { partition: repositoryKeyOf(run.origin), priority: priorityIn(run) };
  return places.map(({ alias }) => ({ key: alias, ...where, input: { runId, alias } }));
}

/** Prefixes a note with how the candidate came about, unless it is from the first round. */
export const noteOf = ({ round }: Contestant, note: string): string =>
  round ? `${roundText(round)}: ${note}` : note;

/**
 * Closes coding once every coder has ended: notes candidates that a fault stopped, and moves the run to its next state.
 * Returns the longest coder's time in milliseconds.
 */
export async function closeCoding(
  world: Pick<World, 'announcer' | 'clock' | 'store'>,
  runId: RunId,
  inputs: readonly ChildInput[],
  results: readonly ChildResult<null>[],
): Promise<{ readonly codersMs: number }> {
  const candidates = await world.store.candidates(runId);
  for (const [i, result] of results.entries()) {
    const candidate = candidates.find((c) => c.alias === inputs[i]?.key);
    if (result.kind !== 'failed' || !candidate) continue;
    if (candidate.state === 'coded' || candidate.state === 'failed') continue;
    const note = noteOf(candidate.contestant, `stopped by a fault: ${result.why}`);
    await world.store.putCandidate({ ...candidate, state: 'failed', note });
  }
  await world.store.markStage(runId, 'code', 'end', world.clock.now());
  await world.store.transition(runId, 'coded', 'every coder has ended', world.clock.now());
  world.announcer.soon(runId);
  const queued = candidates.filter(({ alias }) => inputs.some(({ key }) => key === alias));
  return { codersMs: Math.max(0, ...queued.map(({ ms }) => ms)) };
}

/**
 * Reruns one contestant of an earlier run beside that run's other patches on the same base commit, which are reused at
 * no cost. All get new aliases, so that aliases do not distinguish old from new.
 */
export async function queueRetry(
  world: RestorePorts & Pick<World, 'announcer' | 'store'>,
  run: RunRecord,
  base: BaseCheckout,
  from: { readonly run: RunId; readonly again: string; readonly signal: AbortSignal },
): Promise<readonly ChildInput[]> {
  const { again, signal } = from;
  const earlier = await world.store.candidates(from.run);
  const field: Candidate[] = [];
  for (const candidate of earlier) {
    const { alias, patch } = candidate;
    if (alias === again || (patch && (await isRestorable(world, base, { ...candidate, patch }, signal))))
      field.push(candidate);
  }
  const aliases = assignAliases(run.id, field.length);
  const known = new Set((await world.store.candidates(run.id)).map(({ alias }) => alias));
  const anew: QueuedCandidate[] = [];
  for (const [ordinal, candidate] of field.entries()) {
    const alias = aliases[ordinal] as string;
    const { round: _, ...contestant } = candidate.contestant;
    if (candidate.alias === again) anew.push({ alias, ordinal, contestant });
    else if (!known.has(alias)) {
      const { tree } = candidate.patch ?? {};
      if (tree) await world.workspaces.keep(base, `${run.id}-${alias}`, tree);
      await world.store.putCandidate(takenOver(candidate, { runId: run.id, alias, ordinal }));
    }
  }
  return queueCandidates(world, run, anew);
}

/** False if its tree and patch have been deleted: it could be judged but not published. */
async function isRestorable(
  world: RestorePorts,
  base: BaseCheckout,
  candidate: Parameters<typeof restoreTree>[2],
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return (await restoreTree(world, base, candidate, signal)) === 'there';
  } catch (thrown) {
    const { code } = asFault(thrown);
    if ((code !== 'INTERNAL' && code !== 'STORED_DATA_DAMAGED') || signal.aborted) throw thrown;
    const { runId, alias } = candidate;
    world.log.warn({ run: runId, candidate: alias, err: thrown }, 'a candidate cannot be taken over');
    return false;
  }
}

/** Moves the further round it came from into the note, since that refers to aliases of the earlier run. */
function takenOver(
  { contestant: { round, ...contestant }, ...candidate }: Candidate,
  here: Pick<Candidate, 'runId' | 'alias' | 'ordinal'>,
): Candidate {
  const how = round ? ` (${roundText(round)} there)` : '';
  return {
    ...candidate,
    contestant,
    ...here,
    state: 'coded',
    usage: NO_USAGE,
    note: takenOverNote(candidate, how),
  };
}

/**
 * Codes what the evidence calls for: the next contestant of a sequential field, or a further round (repairs, one more
 * contestant, a synthesis). Its candidates run in their own flows, so that none is coded twice. Returns false if there
 * is nothing more to examine, or too little time for it; a round that fails leaves the run's existing candidates
 * unchanged. `examinedMs`: milliseconds that the last examination took.
 */
export async function codeFurther(
  world: RoundPorts,
  flow: FlowContext,
  stage: StageRunner,
  time: WorkTime,
  examinedMs: number,
): Promise<boolean> {
  // Of the flow's recorded steps, so that a repeat after a crash decides the same.
  const codingMs = time.left() - examinedMs;
  const queued = await stage('round', ({ run }) => queueRound(world, run, codingMs));
  if (queued.kind === 'fault' || queued.value.length === 0) return false;
  const took = time.begin();
  const results = await flow.fanOut<null>(withTimeLeft(time.left(), queued.value));
  const closed = await stage('code', ({ run }) => closeCoding(world, run.id, queued.value, results));
  if (closed.kind === 'ok') took(closed.value.codersMs);
  return true;
}

/**
 * Decides from the examination and the time left, so that a repeat after a crash chooses the same candidates.
 * `codingMs`: milliseconds left for coding, if the next examination takes as long as the last one.
 */
async function queueRound(
  world: RoundPorts,
  run: RunRecord,
  codingMs: number,
): Promise<readonly ChildInput[]> {
  const task = taskOf(run);
  const { id: runId, evidence = [] } = run;
  const candidates = await world.store.candidates(runId);
  const examined = candidates.filter(({ alias }) => evidence.some((one) => one.alias === alias));
  // Unexamined candidates are allowed only if an interrupted execution of this step queued them; with any others, a
  // further round would be requested twice.
  if (candidates.some((one) => one.state !== 'queued' && !examined.includes(one))) return [];
  const remainingUsd = await budgetLeft(world, task, examined);
  // A round that the examination after it has no time for would cost the run the result that it has.
  const isTimeShort =
    codingMs < timesOf(task.settings.timeout, world.ceilings.timeoutCandidateSeconds).mostMs;
  // A field that has ended does not go on after a repair, whatever that changes.
  const step = run.fieldEnd ? null : stepOfField(world, run, task, { examined, remainingUsd, isTimeShort });
  if (step?.kind === 'stop') {
    const { kind: _, ...fieldEnd } = step;
    await world.store.updateRun(runId, { fieldEnd }, world.clock.now());
  }
  if (isTimeShort) {
    world.log.info({ run: runId }, 'too little time is left for another candidate and its examination');
    return [];
  }
  const next =
    step?.kind === 'next'
      ? step
      : nextRound({ candidates: examined, evidence, settings: task.settings, remainingUsd });
  world.log.info({ run: runId, round: next.kind }, next.because);
  const contestants = next.kind === 'next' ? [next.contestant] : contestantsFor(world, task, next, examined);
  if (contestants.length === 0) return [];
  await world.store.markStage(runId, 'code', 'start', world.clock.now());
  await world.store.transition(runId, 'briefed', next.because, world.clock.now());
  const aliases = furtherAliases(examined.length, contestants.length);
  const places = aliases.map((alias, i): QueuedCandidate => {
    const ordinal = examined.length + i;
    return { alias, ordinal, contestant: contestants[i] as Contestant };
  });
  return queueCandidates(world, run, places);
}

/** US dollars; null if a model has no price, because the ledger then understates the spending. */
async function budgetLeft(
  world: Pick<World, 'coders' | 'gateway' | 'store'>,
  task: Task,
  examined: readonly Candidate[],
): Promise<Usd | null> {
  if (!examined.every(({ contestant }) => hasPrice(world, contestant))) return null;
  const { usd } = await world.store.usage(task.runId);
  return task.settings.budget.run - usd;
}

function contestantsFor(
  world: Pick<World, 'coders' | 'defaults' | 'gateway' | 'prompts'>,
  task: Task,
  next: NextRound,
  examined: readonly Candidate[],
): readonly Contestant[] {
  const again = (alias: Alias, kind: FurtherKind, of: readonly Alias[]): Contestant => {
    const candidate = examined.find((one) => one.alias === alias);
    if (!candidate) throw new Fault('INTERNAL', `A round names candidate ${alias}, which was not examined.`);
    return { ...candidate.contestant, round: { kind, of } };
  };
  switch (next.kind) {
    case 'enough':
      return [];
    case 'repair':
      return next.aliases.map((alias) => again(alias, 'repair', [alias]));
    case 'one-more':
      return [{ ...oneMoreContestant(world, task.settings), round: { kind: 'one-more', of: [] } }];
    case 'synthesise':
      return [again(next.from[0], 'synthesis', next.from)];
  }
}
