import type { TestTable } from '../core/evidence/index.ts';
import { confidenceNote } from '../core/learning/index.ts';
import {
  fullNameOf,
  isOver,
  type Origin,
  queueOrder,
  type RunId,
  type Task,
  type Usd,
} from '../core/model/index.ts';
import { firstInSequence } from '../core/ranking/index.ts';
import type { Diffs, DiffView, OriginView, RunView } from '../core/reports/index.ts';
import type { Artifacts, RunRecord, Store } from '../ports/index.ts';
import { readPatch, type World } from './context.ts';
import { opinionsOn } from './picks.ts';
import { shownWork } from './shown.ts';
import { unlessDamaged } from './stage.ts';

/** Label that starts a run; removed when the run starts, so that setting it again starts another. */
export const LABEL = 'auto-dev';
/** Present while a run is active; removing it cancels the run. */
export const RUNNING_LABEL = 'auto-dev:running';
/** Of these, an issue has only that of its newest run. */
export const OUTCOME_LABELS = {
  won: 'auto-dev:done',
  none: 'auto-dev:none',
  pick: 'auto-dev:pick',
  failed: 'auto-dev:failed',
} as const;

/**
 * Builds a run's view for readers from stored data. `names`: as of `shownWork`. Where a person chooses, it has the table
 * of inputs if artifacts are at hand, so that the same question is asked wherever it is read.
 */
export async function viewOf(
  world: Pick<World, 'store' | 'clock' | 'diskSpace' | 'publicUrl'> & Partial<Pick<World, 'artifacts'>>,
  run: RunRecord,
  names?: 'shown',
): Promise<RunView> {
  const work = await shownWork(world.store, run, names);
  const { usd } = await world.store.usage(run.id);
  const pageUrl =
    run.origin.kind === 'github' && world.publicUrl ? `${world.publicUrl}/runs/${run.id}` : null;
  const view = {
    ...work.view(viewFrom(run, work.candidates, usd, workEndedAt(run) ?? world.clock.now())),
    ...(pageUrl === null ? {} : { pageUrl }),
    ...(await whyEnded(world.store, run)),
  };
  if (isQueued(run)) {
    const order = await queuedRuns(world.store);
    const at = order.indexOf(run.id);
    // It may have got its slot between the two reads.
    if (at < 0) return view;
    const why = world.diskSpace?.shortage() ?? null;
    return { ...view, queue: { position: at + 1, of: order.length, ...(why === null ? {} : { why }) } };
  }
  const { votes, picks } = await opinionsOn(world.store, run);
  const artifacts = run.decision?.kind === 'toss-up' ? world.artifacts : undefined;
  const testTable = artifacts ? await loadTestTable({ artifacts }, run) : null;
  return {
    ...view,
    ...(testTable === null ? {} : { testTable }),
    ...(votes.length > 0 ? { votes } : {}),
    ...(picks.length > 0 ? { picks } : {}),
  };
}

async function whyEnded(store: Store, { id, state }: RunRecord): Promise<Pick<RunView, 'endedBecause'>> {
  if (state !== 'cancelled' && state !== 'closed') return {};
  const last = (await store.transitions(id)).findLast(({ to }) => to === state);
  return last ? { endedBecause: last.cause } : {};
}

/** When a run's own work ended, regardless of later events on its pull request; null while it is active. */
function workEndedAt(run: RunRecord): number | null {
  if (!isOver(run.state)) return null;
  return run.state === 'published' ||
    run.state === 'awaiting_pick' ||
    run.state === 'merged' ||
    run.state === 'closed'
    ? (run.stages.at(-1)?.endedAt ?? run.updatedAt)
    : run.updatedAt;
}

function viewFrom(run: RunRecord, candidates: RunView['candidates'], spent: Usd, now: number): RunView {
  const { task, independentTests, review, judgement, decision, outcome, trouble, checks, sandbox } = run;
  const { brief, debate, dialogue } = run;
  return {
    id: run.id,
    origin: originView(run.origin),
    title: run.title,
    state: run.state,
    stages: run.stages,
    candidates,
    evidence: run.evidence ?? [],
    ranking: run.ranking ?? [],
    ...(independentTests ? { independentTests } : {}),
    ...(judgement ? { judgement } : {}),
    ...(decision ? { decision } : {}),
    ...(review ? { review } : {}),
    ...(outcome ? { outcome } : {}),
    ...(trouble ? { trouble } : {}),
    ...(checks ? { checks } : {}),
    ...(sandbox ? { sandbox } : {}),
    ...factsOfTask(task),
    ...sequenceView(run),
    ...(brief ? { brief } : {}),
    ...(debate ? { debate } : {}),
    ...(dialogue ? { dialogue } : {}),
    budget: {
      run: task?.settings.budget.run ?? 0,
      spent,
      ...(task ? { candidate: task.settings.budget.candidate } : {}),
    },
    ...(run.origin.kind === 'github' ? { requestedBy: run.origin.requestedBy } : {}),
    label: LABEL,
    startedAt: run.createdAt,
    now,
  };
}

/** What was frozen at admission; little of it is known before. */
const factsOfTask = (task: Task | undefined) => ({
  ...(task ? { base: task.base } : {}),
  ...(task?.settings.timeout ? { candidateMs: task.settings.timeout.candidate * 1_000 } : {}),
  ...(task?.learned?.times ? { times: task.learned.times } : {}),
  ...(task?.leftOut ? { leftOut: task.leftOut } : {}),
  ...(task?.conventionalTitles ? { conventionalTitles: task.conventionalTitles } : {}),
  lowered: task?.lowered ?? [],
  learned: learnedNotes(task?.learned),
  ci: task?.settings.ci ?? 'hold',
});

function sequenceView({ task, checks, stages, fieldEnd }: RunRecord): Pick<RunView, 'sequence'> {
  const contestants = task?.learned?.sequence;
  if (!task || !contestants) return {};
  // Until coders start it is not known what the tests on the base say.
  const isOpen = !stages.some(({ stage }) => stage === 'code');
  const base = checks?.base ?? (isOpen ? { excluded: [] } : null);
  const first = Math.min(firstInSequence(task.settings, base), contestants.length);
  const costOf = (of: typeof contestants) =>
    of.reduce<Usd | null>((sum, { usd }) => (sum === null || usd === null ? null : sum + usd), 0);
  return {
    sequence: {
      first,
      of: contestants.length,
      firstUsd: costOf(contestants.slice(0, first)),
      allUsd: costOf(contestants),
      ...(fieldEnd ? { end: fieldEnd } : {}),
    },
  };
}

const learnedNotes = ({ field = [], confidence }: Task['learned'] = {}): readonly string[] => [
  ...field,
  ...(confidence ? [confidenceNote(confidence)] : []),
];

const originView = (origin: Origin): OriginView =>
  origin.kind === 'github'
    ? {
        kind: 'github',
        repository: fullNameOf(origin),
        issue: origin.issue,
        ...(origin.work ? { work: origin.work } : {}),
      }
    : { kind: 'local', path: origin.path };

/** Null: not kept, or cannot be read. Its form is ours: artifacts are named by the hash of their content. */
export async function loadTestTable(
  { artifacts }: { readonly artifacts: Artifacts },
  run: Pick<RunRecord, 'testResults'>,
): Promise<TestTable | null> {
  const ref = run.testResults?.table;
  const text = ref ? await unlessDamaged(artifacts.get(ref)) : null;
  return text === null ? null : (JSON.parse(text) as TestTable);
}

/** The patches of a run's candidates, without links to branches. */
export async function diffsOf(world: { store: Store; artifacts: Artifacts }, runId: RunId): Promise<Diffs> {
  const diffs: Record<string, DiffView> = {};
  for (const { alias, patch } of await world.store.candidates(runId)) {
    if (!patch) continue;
    const parsed = await unlessDamaged(readPatch(world.artifacts, patch));
    // Unreadable patches are left out; everything else is shown.
    if (parsed === null) continue;
    // A refused patch is shown as text only.
    const { text } = parsed;
    diffs[alias] = {
      patch: parsed.kind === 'patch' ? parsed.patch : { text, files: [], production: [], tests: [] },
    };
  }
  return diffs;
}

/** Whether an admissible run waits for a slot. */
export const isQueued = (run: Pick<RunRecord, 'state' | 'queueEntry' | 'stages'>): boolean =>
  run.state === 'queued' && run.queueEntry !== undefined && run.stages.length === 0;

/** Queued runs, next first, from the store; with several machines each has its own queue. */
export async function queuedRuns(store: Pick<Store, 'queuedRuns'>): Promise<readonly RunId[]> {
  const { waiting, holders } = await store.queuedRuns();
  return queueOrder(waiting, holders).map(({ id }) => id);
}

/**
 * How many queued runs get position updates, and how often in milliseconds. Our defaults: an edit is a write, and an
 * installation has 400 per hour in total. Runs further back are told their position once, up to the fortieth.
 */
const REFRESHED_POSITIONS = 10;
const REFRESH_AFTER_MS = 5 * 60_000;
const ANNOUNCED_POSITIONS = 40;

/** Updates the positions shown for queued runs. `announcedAt`: monotonic time of each run's last update. */
export async function announceQueue(
  world: Pick<World, 'store' | 'announcer' | 'clock'>,
  announcedAt: Map<RunId, number>,
): Promise<void> {
  const order = await queuedRuns(world.store);
  const now = world.clock.elapsed();
  for (const id of announcedAt.keys()) if (!order.includes(id)) announcedAt.delete(id);
  for (const [at, id] of order.slice(0, ANNOUNCED_POSITIONS).entries()) {
    const last = announcedAt.get(id);
    if (last !== undefined && (at >= REFRESHED_POSITIONS || now - last < REFRESH_AFTER_MS)) continue;
    announcedAt.set(id, now);
    world.announcer.soon(id);
  }
}
