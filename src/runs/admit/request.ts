import { z } from 'zod';
import {
  Fault,
  type GitHubOrigin,
  isOver,
  priorityOf,
  type RunId,
  type Sha,
  type Task,
} from '../../core/model/index.ts';
import type { DayCap, Refusal } from '../../core/reports/index.ts';
import type { DayCaps } from '../../core/settings/index.ts';
import type {
  GitHubReader,
  QueueEntry,
  RepositoryFacts,
  RepositorySource,
  RunRecord,
  Whose,
} from '../../ports/index.ts';
import { repositoryKeyOf, type World } from '../context.ts';
import { Overrides } from './overrides.ts';

/** Starting commit and text of a task, before its settings are known. */
export interface GatheredTask {
  readonly kind: 'gathered';
  readonly base: Task['base'];
  readonly comments: Task['comments'];
  /** Comments omitted because of a limit, one sentence each. */
  readonly leftOut: readonly string[];
  /** Commit from which settings and instructions are read. */
  readonly rules: Sha;
  /** Absent: the text of the request is the task. */
  readonly text?: Pick<Task, 'title' | 'body'>;
}

export interface RefusedRun {
  readonly kind: 'refused';
  readonly refusal: Refusal;
}

const Ref = z.object({ sha256: z.string(), bytes: z.number() });

/** Input of a run. The engine stores it, so it is small plain JSON. */
export const RunRequest = z.strictObject({
  runId: z.string(),
  /** The task's text as of the trigger: later edits are not read (I5). */
  text: z.strictObject({ title: z.string(), body: Ref }),
  /** Milliseconds since 1970 UTC; comments written or edited later are not read. */
  triggeredAt: z.number(),
  /** Branch, tag or commit to start from; absent: the default branch, or for local runs what is checked out. */
  base: z.string().optional(),
  /** `base` is a commit of the uncommitted changes of a local working tree. */
  uncommitted: z.literal(true).optional(),
  overrides: Overrides.default({}),
  /** Local runs: digest of the exposed checks that the user has consented to. */
  trustedChecks: z.string().optional(),
  /** Trigger on GitHub; absent for a local run. */
  trigger: z.enum(['label', 'command']).optional(),
  /** The comment that asked for the run, where a refusal is answered; absent for a label, a page and the API. */
  command: z
    .strictObject({ thread: z.number(), comment: z.number(), on: z.enum(['conversation', 'line']) })
    .optional(),
  /** `again`: reruns this candidate's contestant beside the candidates of `run`, on that run's base commit. */
  carry: z.strictObject({ run: z.string(), again: z.string() }).optional(),
});
export type RunRequest = z.infer<typeof RunRequest>;

/** Adds an admissible run to the queue and shows its position in the status comment. */
export async function enqueue(
  world: Pick<World, 'store' | 'clock'>,
  { origin, state }: RunRecord,
  request: RunRequest,
): Promise<QueueEntry> {
  const asked = origin.kind === 'local' ? 'local' : (request.trigger ?? 'label');
  const queueEntry: QueueEntry = {
    share: repositoryKeyOf(origin),
    priority: priorityOf(asked),
    since: request.triggeredAt,
  };
  if (origin.kind === 'github' && state === 'queued')
    await world.store.updateRun(request.runId, { queueEntry }, world.clock.now());
  return queueEntry;
}

const DAY_MS = 86_400_000;

/** Number of the day (UTC) since 1970. */
export const dayOf = (at: number): number => Math.floor(at / DAY_MS);

interface Cap {
  readonly cap: DayCap;
  readonly whose: Whose;
  readonly most: number;
}

/** Narrowest first, so that a requester who has reached their own cap uses up no slot of the wider ones. */
const runCaps = (day: DayCaps, origin: GitHubOrigin): readonly Cap[] => [
  { cap: 'runs-user', whose: { kind: 'user', id: origin.requestedBy.id }, most: day.runsOfUser },
  {
    cap: 'runs-repository',
    whose: { kind: 'repository', id: origin.repositoryId },
    most: day.runsOfRepository,
  },
  {
    cap: 'runs-installation',
    whose: { kind: 'installation', id: origin.installationId },
    most: day.runsOfInstallation,
  },
];

/** US dollars. The gateway enforces the caps of a repository's day and of the whole day. */
const budgetCaps = (day: DayCaps, origin: GitHubOrigin): readonly Cap[] => [
  { cap: 'budget-user', whose: { kind: 'user', id: origin.requestedBy.id }, most: day.budgetOfUser },
  {
    cap: 'budget-installation',
    whose: { kind: 'installation', id: origin.installationId },
    most: day.budgetOfInstallation,
  },
];

const refusalOf = ({ requestedBy }: GitHubOrigin, cap: DayCap, most: number): Refusal => ({
  kind: 'cap-reached',
  cap,
  most,
  login: requestedBy.login,
});

/**
 * The first daily cap (UTC) that the run's repository, installation or requester has reached; null if there is none.
 */
async function capReached(
  world: Pick<World, 'ceilings' | 'clock' | 'store'>,
  origin: GitHubOrigin,
): Promise<Refusal | null> {
  const { day } = world.ceilings;
  const midnight = dayOf(world.clock.now()) * DAY_MS;
  for (const { cap, whose, most } of runCaps(day, origin)) {
    if ((await world.store.startedSince(midnight, whose)) >= most) return refusalOf(origin, cap, most);
  }
  for (const { cap, whose, most } of budgetCaps(day, origin)) {
    if ((await world.store.spentSince(midnight, whose)) >= most) return refusalOf(origin, cap, most);
  }
  return null;
}

/**
 * Reserves one of the day's slots for a run. Runs admitted concurrently may all count too few; each slot is an intent
 * of its own, so it is reserved only once.
 */
export async function reserveCapacity(
  world: Pick<World, 'ceilings' | 'clock' | 'store'>,
  origin: GitHubOrigin,
  runId: RunId,
): Promise<Refusal | null> {
  for (const one of runCaps(world.ceilings.day, origin)) {
    if (!(await capacityFor(world, one, runId))) return refusalOf(origin, one.cap, one.most);
  }
  return null;
}

async function capacityFor(
  world: Pick<World, 'clock' | 'store'>,
  { whose, most }: Cap,
  runId: RunId,
): Promise<boolean> {
  const day = dayOf(world.clock.now());
  const scope = `day:${day}:${whose.kind}:${whose.id}`;
  for (let slot = await world.store.startedSince(day * DAY_MS, whose); slot < most; slot++) {
    const key = `slot:${slot}`;
    const { fresh, intent } = await world.store.intend(scope, key);
    if (fresh) await world.store.fulfil(scope, key, runId);
    if (fresh || (intent.state === 'done' && intent.result === runId)) return true;
  }
  return false;
}

export const refused = (refusal: Refusal): RefusedRun => ({ kind: 'refused', refusal });

/** The repository by its id, so that a rename does not matter. */
async function repositoryFor(reader: GitHubReader, origin: GitHubOrigin): Promise<RepositoryFacts> {
  const facts = await reader.repository();
  if (facts.id === origin.repositoryId) return facts;
  throw new Fault(
    'GITHUB_REFUSED',
    `${facts.fullName} is no longer the repository that this run was started for.`,
  );
}

const sourceFor = (facts: RepositoryFacts, reader: GitHubReader): RepositorySource => ({
  kind: 'remote',
  url: facts.cloneUrl,
  credential: () => reader.credential(),
});

/** Checks that no run is active on the issue and no daily cap is reached. */
async function capacityRefusal(
  world: Pick<World, 'ceilings' | 'clock' | 'store'>,
  origin: GitHubOrigin,
  self: RunId,
): Promise<Refusal | null> {
  const other = await activeRun(world, origin, self);
  return other ? { kind: 'already-running', run: other } : capReached(world, origin);
}

/** The oldest active run on the issue continues; younger ones are refused. */
async function activeRun(
  world: Pick<World, 'store'>,
  origin: GitHubOrigin,
  self: RunId,
): Promise<RunId | null> {
  const active = await world.store.activeRuns(origin.repositoryId, origin.issue);
  const oldest = active.find((run) => !isOver(run.state));
  return oldest && oldest.id !== self ? oldest.id : null;
}

/** Commit from which settings are read; null if the repository has no commit yet. */
const settingsCommitOf = (
  world: Pick<World, 'workspaces'>,
  source: RepositorySource,
  { defaultBranch }: RepositoryFacts,
): Promise<Sha | null> => world.workspaces.resolve(source, defaultBranch);

/** Starting data of a run on GitHub, for any kind of task. */
interface RepositoryAccess {
  readonly kind: 'repository';
  readonly source: RepositorySource;
  readonly defaultBranch: string;
  /** Commit from which settings and instructions are read. */
  readonly rules: Sha;
}

/** Checks the repository, then the caller's `unfit`, then the limits. */
export async function repositoryAccess(
  world: Pick<World, 'ceilings' | 'clock' | 'store' | 'workspaces'>,
  {
    origin,
    reader,
    self,
  }: { readonly origin: GitHubOrigin; readonly reader: GitHubReader; readonly self: RunId },
  unfit: () => Promise<Refusal | null>,
): Promise<RepositoryAccess | RefusedRun> {
  const facts = await repositoryFor(reader, origin);
  if (facts.archived) return refused({ kind: 'archived' });
  const refusal = (await unfit()) ?? (await capacityRefusal(world, origin, self));
  if (refusal) return refused(refusal);
  const source = sourceFor(facts, reader);
  const { defaultBranch } = facts;
  const rules = await settingsCommitOf(world, source, facts);
  if (!rules) return refused({ kind: 'repository-empty', branch: defaultBranch });
  return { kind: 'repository', source, defaultBranch, rules };
}
