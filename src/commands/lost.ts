import { isOver } from '../core/lifecycle/index.ts';
import { asFault, hasLabel } from '../core/model/index.ts';
import type {
  GitHubReader,
  InstalledRepository,
  IssueFacts,
  Labelled,
  RepositoryHandle,
  RunRecord,
} from '../ports/index.ts';
import {
  cancelRun,
  handleOf,
  LABEL,
  RUNNING_LABEL,
  RunRequest,
  requireGitHub,
  type World,
} from '../runs/index.ts';
import { labelled } from './labelled.ts';
import { isOnGitHub, type OnGitHub } from './speaker.ts';
import { endUnpicked } from './unpicked.ts';

/** Milliseconds for which an event that GitHub shows is left to its webhook, which may be on its way. */
const ON_ITS_WAY_MS = 60_000;
/**
 * Milliseconds after a label for which a change of the issue is taken for a part of what its setter did, like a second
 * label. GitHub does not tell a later edit of the text from other changes, so none is run on after that (I5).
 */
const SAME_DEED_MS = 60_000;
/**
 * Milliseconds by which the time of a label event may be later than that of the issue in its webhook: they are two records
 * of GitHub's. Our default.
 */
const EVENT_SKEW_MS = 5_000;
/**
 * Milliseconds for which a label without its webhook is still taken: as long as GitHub lets a delivery be sent again. Who
 * set one earlier does not expect a run any more.
 */
const LATEST_MS = 3 * 24 * 60 * 60_000;

/**
 * What webhooks that never came would have told of runs at work: an issue that was closed, a label that a person took off.
 * GitHub does not send a failed delivery again. What cannot be read now is looked at the next time.
 */
export async function lookForWithdrawn(world: World): Promise<void> {
  if (!world.github) return;
  for (const run of (await world.store.unfinished()).filter(isOnGitHub)) {
    if (isOver(run.state) || !run.task) continue;
    await each(world, handleOf(run.origin), () => lookAtRun(world, run));
  }
}

/** The same of runs that wait for a pick, however long: one call for each. */
export async function lookForEndedChoices(world: World): Promise<void> {
  if (!world.github) return;
  for (const run of (await world.store.unfinished()).filter(isOnGitHub)) {
    if (run.state !== 'awaiting_pick') continue;
    await each(world, handleOf(run.origin), () => lookAtChoice(world, run));
  }
}

/**
 * Labels whose webhook never came, in all repositories of the App: one call for each. Ends where GitHub does not answer,
 * and returns the id of that repository: the next look begins behind it, so that one repository in trouble does not hide
 * the others. Null when all were looked at.
 */
export async function lookForLabels(world: World, behind: number | null = null): Promise<number | null> {
  if (!world.github) return null;
  const all = await world.github.repositories();
  const first = all.findIndex(({ repositoryId }) => repositoryId === behind) + 1;
  for (const repository of [...all.slice(first), ...all.slice(0, first)]) {
    const answered = await each(world, repository, () => lookIn(world, repository));
    if (!answered) return repository.repositoryId;
  }
  return null;
}

/** Whether GitHub answered. What else is wrong with one repository does not stop the look at others. */
async function each(world: World, at: RepositoryHandle, look: () => Promise<void>): Promise<boolean> {
  try {
    await look();
    return true;
  } catch (thrown) {
    world.log.warn({ repository: at.repositoryId, err: thrown }, 'a repository could not be looked at');
    return asFault(thrown).code !== 'GITHUB_UNAVAILABLE';
  }
}

async function lookAtRun(world: World, run: OnGitHub): Promise<void> {
  const reader = await requireGitHub(world).reader(handleOf(run.origin));
  const seen = await issueOf(reader, run);
  if (seen.kind === 'gone') {
    await cancelRun(world, run.id, seen.cause);
    return;
  }
  if (!seen.issue.open) {
    await cancelRun(world, run.id, 'the issue was closed');
    return;
  }
  const greeted = (await world.store.intent(run.id, 'greet'))?.state === 'done';
  if (greeted && !hasLabel(seen.issue.labels, RUNNING_LABEL) && (await someoneStopped(reader, run))) {
    await cancelRun(world, run.id, `the label ${RUNNING_LABEL} was taken off`);
  }
}

type Seen =
  | { readonly kind: 'there'; readonly issue: IssueFacts }
  | { readonly kind: 'gone'; readonly cause: string };

/** A refusal means that we can see it no more: it was deleted or moved, or the App is gone from there. */
async function issueOf(reader: GitHubReader, { origin }: OnGitHub): Promise<Seen> {
  try {
    return { kind: 'there', issue: await reader.issue(origin.issue) };
  } catch (thrown) {
    const { code, message } = asFault(thrown);
    if (code !== 'GITHUB_REFUSED') throw thrown;
    return { kind: 'gone', cause: `GitHub no longer shows its issue: ${message}` };
  }
}

/**
 * Whether a person took the label off that says a run is on. That it is not there says nothing: a bot that keeps labels
 * in order, or a label that was renamed, stops no run.
 */
async function someoneStopped(reader: GitHubReader, run: OnGitHub): Promise<boolean> {
  const last = await reader.labelChange(run.origin.issue, RUNNING_LABEL);
  return last?.how === 'taken-off' && !last.byBot && last.at >= triggeredAt(run);
}

async function lookAtChoice(world: World, run: OnGitHub): Promise<void> {
  const reader = await requireGitHub(world).reader(handleOf(run.origin));
  const seen = await issueOf(reader, run);
  if (seen.kind === 'gone') await endUnpicked(world, run.id, seen.cause);
  else if (!seen.issue.open) await endUnpicked(world, run.id, 'the issue was closed');
}

async function lookIn(world: World, repository: InstalledRepository): Promise<void> {
  // Labels from the time before the App was there were set for something else.
  const since = Math.max(world.clock.now() - LATEST_MS, repository.installedAt);
  const reader = await requireGitHub(world).reader(repository);
  for (const one of await reader.labelled(LABEL, since)) {
    const { set } = one;
    if (set && set.at >= since) await takeLost(world, repository, { ...one, set });
  }
}

/** One of which GitHub tells who set it. */
type Dated = Labelled & { readonly set: NonNullable<Labelled['set']> };

async function takeLost(
  world: World,
  repository: RepositoryHandle,
  { issue, set, touchedAt }: Dated,
): Promise<void> {
  const { installationId, repositoryId, owner, name } = repository;
  if (world.clock.now() - set.at < ON_ITS_WAY_MS) return;
  if (await world.store.labelSeen(repositoryId, issue.number, set.at - EVENT_SKEW_MS)) return;
  if (touchedAt - set.at > SAME_DEED_MS) {
    world.log.warn(
      { repository: repositoryId, issue: issue.number },
      'a label came without its webhook, and its issue has changed since: nobody knows what text was meant, so it must be set again',
    );
    return;
  }
  const taken = await labelled(world, {
    deliveryId: `lost:${repositoryId}:${issue.number}:${set.at}`,
    installationId,
    repository: { id: repositoryId, owner, name },
    issue: { number: issue.number, title: issue.title, body: issue.body, updatedAt: set.at },
    sender: { ...set.by, isBot: set.byBot },
  });
  const what =
    taken.kind === 'started' ? { kind: taken.kind, run: taken.runId } : { kind: taken.kind, why: taken.why };
  world.log.info({ repository: repositoryId, issue: issue.number, ...what }, 'a label without a webhook');
}

/** The label `auto-dev:running` was taken off, or the issue or pull request was closed, deleted or moved away. */
export interface StopEvent {
  readonly repositoryId: number;
  readonly issue: number;
  /** When, milliseconds since 1970 UTC; absent where it cannot be undone. */
  readonly at?: number;
  /** One clause, for the run's record. */
  readonly cause: string;
  /** A label was taken off. It speaks of work: whoever is asked to pick is asked still. Absent: false. */
  readonly workOnly?: boolean;
}

/** Cancels the issue's living run, or ends its waiting for a pick. Stopping is always safe, so anybody whom GitHub lets do this may. */
export async function withdrawn(world: World, event: StopEvent): Promise<number> {
  let stopped = 0;
  for (const run of await world.store.livingRuns(event.repositoryId, event.issue)) {
    if (event.at !== undefined && event.at < triggeredAt(run)) continue;
    if (event.workOnly && run.state === 'awaiting_pick') continue;
    if (await end(world, run, event.cause)) stopped += 1;
  }
  return stopped;
}

/**
 * When a run was asked for by GitHub's clock, milliseconds since 1970 UTC. Deliveries come late and can be replayed: what
 * happened before does not concern the run.
 */
export function triggeredAt({ request }: RunRecord): number {
  const read = RunRequest.safeParse(request);
  return read.success ? read.data.triggeredAt : 0;
}

/** The App was uninstalled or suspended, or a repository was taken from it. */
export interface GoneEvent {
  readonly installationId: number;
  /** Absent: all of the installation's. */
  readonly repositoryIds?: readonly number[];
  /** One clause, for the run's record. */
  readonly cause: string;
}

/** Ends every run that can say nothing on GitHub any more: those at work, and those that wait for a pick. */
export async function gone(world: World, event: GoneEvent): Promise<number> {
  let stopped = 0;
  for (const run of await world.store.unfinished()) {
    const { origin } = run;
    if (origin.kind !== 'github' || origin.installationId !== event.installationId) continue;
    if (event.repositoryIds && !event.repositoryIds.includes(origin.repositoryId)) continue;
    if (await end(world, run, event.cause)) stopped += 1;
  }
  return stopped;
}

/** False where there is nothing to end: the run is over, and nobody is asked to pick. */
const end = (world: World, { id, state }: RunRecord, cause: string): Promise<boolean> =>
  state === 'awaiting_pick' ? endUnpicked(world, id, cause) : cancelRun(world, id, cause);
