import { ACTIVE_STATES, asFault, hasLabel } from '../core/model/index.ts';
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
  endWaitForPick,
  type GitHubRun,
  handleOf,
  isGitHubRun,
  LABEL,
  type PublishPorts,
  RUNNING_LABEL,
  requireGitHub,
  type World,
} from '../runs/index.ts';
import { type CancelPorts, isStartedByLabel, triggeredAt } from './context.ts';
import { startFromLabel } from './intake.ts';

/** Milliseconds to wait for an event's webhook before the event counts as missed. */
const WEBHOOK_DELAY_MS = 60_000;
/**
 * Milliseconds after a label within which a change of the issue counts as part of the same action, such as a second
 * label. GitHub does not distinguish a later edit of the text from other changes, so a later change prevents the run
 * (I5).
 */
const SAME_ACTION_MS = 60_000;
/**
 * Maximum milliseconds between a label event and the issue's time in its webhook: GitHub records them separately.
 * Default.
 */
const EVENT_SKEW_MS = 5_000;
/**
 * Maximum age in milliseconds of a missed label that starts a run: as long as GitHub allows a delivery to be sent
 * again. Later a run would be a surprise.
 */
const MAX_LABEL_AGE_MS = 3 * 24 * 60 * 60_000;

/**
 * Stops active runs whose issue was closed or whose label a person removed, if the webhook never arrived: GitHub does
 * not resend failed deliveries. What cannot be read now is checked next time.
 */
export async function findMissedStops(
  world: Pick<World, 'announcer' | 'clock' | 'engine' | 'github' | 'log' | 'store'>,
): Promise<void> {
  if (!world.github) return;
  for (const run of (await world.store.runsIn(ACTIVE_STATES)).filter(isGitHubRun)) {
    if (!run.task) continue;
    await tryRepository(world, handleOf(run.origin), () => checkRun(world, run));
  }
}

/** The same for all runs that wait for a pick: one call for each. */
export async function findMissedPickEnds(world: PublishPorts & Pick<World, 'announcer'>): Promise<void> {
  if (!world.github) return;
  for (const run of (await world.store.runsIn(['awaiting_pick'])).filter(isGitHubRun)) {
    await tryRepository(world, handleOf(run.origin), () => checkWaitForPick(world, run));
  }
}

/**
 * Starts runs for labels whose webhook never arrived, in all repositories of the App: one call for each. Stops when
 * GitHub does not respond, and returns the id of that repository: the next check begins after it, so that one failing
 * repository does not block the others. Null if all were checked.
 */
export async function findMissedLabels(
  world: Pick<World, 'artifacts' | 'clock' | 'engine' | 'github' | 'log' | 'random' | 'store'>,
  after: number | null = null,
): Promise<number | null> {
  if (!world.github) return null;
  const all = await world.github.repositories();
  const first = all.findIndex(({ repositoryId }) => repositoryId === after) + 1;
  for (const repository of [...all.slice(first), ...all.slice(0, first)]) {
    const answered = await tryRepository(world, repository, () => checkRepository(world, repository));
    if (!answered) return repository.repositoryId;
  }
  return null;
}

/** Whether GitHub responded. Any other failure in one repository does not stop the check of others. */
async function tryRepository(
  world: Pick<World, 'log'>,
  at: RepositoryHandle,
  look: () => Promise<void>,
): Promise<boolean> {
  try {
    await look();
    return true;
  } catch (thrown) {
    world.log.warn({ repository: at.repositoryId, err: thrown }, 'a repository could not be looked at');
    return asFault(thrown).code !== 'GITHUB_UNAVAILABLE';
  }
}

async function checkRun(
  world: Pick<World, 'announcer' | 'clock' | 'engine' | 'github' | 'store'>,
  run: GitHubRun,
): Promise<void> {
  const reader = await requireGitHub(world).reader(handleOf(run.origin));
  const issue = await issueOf(world, reader, run);
  if (!issue?.open) {
    await cancelRun(world, run.id, issue ? ISSUE_CLOSED : ISSUE_GONE);
    return;
  }
  if (
    (await hasReplacedLabel(world, run)) &&
    !hasLabel(issue.labels, RUNNING_LABEL) &&
    (await someoneStopped(reader, run))
  ) {
    await cancelRun(world, run.id, `the label ${RUNNING_LABEL} was removed`);
  }
}

/** Whether the label `auto-dev` has been replaced by the one of an active run. */
const hasReplacedLabel = async ({ store }: Pick<World, 'store'>, { id }: RunRecord): Promise<boolean> =>
  (await store.intent(id, 'greet'))?.state === 'done';

/**
 * The issue, or null if it was deleted or moved. A missing issue means that only if the App may read other issues of
 * its repository: GitHub also hides what the App has no right to, which may be repaired (0227).
 */
async function issueOf(
  world: Pick<World, 'clock'>,
  reader: GitHubReader,
  { origin }: GitHubRun,
): Promise<IssueFacts | null> {
  const issue = await reader.findIssue(origin.issue);
  if (!issue) await reader.labelled(LABEL, world.clock.now());
  return issue;
}

const ISSUE_CLOSED = 'the issue was closed';
const ISSUE_GONE = 'GitHub no longer shows its issue: it was deleted or moved';

/**
 * Whether a person removed the label that marks an active run. Its absence proves nothing: a run is not stopped by a
 * bot that manages labels, or by renaming the label.
 */
async function someoneStopped(reader: GitHubReader, run: GitHubRun): Promise<boolean> {
  const last = await reader.labelChange(run.origin.issue, RUNNING_LABEL);
  return last?.how === 'taken-off' && !last.byBot && last.at >= triggeredAt(run);
}

async function checkWaitForPick(
  world: PublishPorts & Pick<World, 'announcer'>,
  run: GitHubRun,
): Promise<void> {
  const reader = await requireGitHub(world).reader(handleOf(run.origin));
  const issue = await issueOf(world, reader, run);
  if (!issue?.open) await endWaitForPick(world, run.id, issue ? ISSUE_CLOSED : ISSUE_GONE);
}

async function checkRepository(
  world: Pick<World, 'artifacts' | 'clock' | 'engine' | 'github' | 'log' | 'random' | 'store'>,
  repository: InstalledRepository,
): Promise<void> {
  // Labels older than the App's installation were set for another purpose.
  const since = Math.max(world.clock.now() - MAX_LABEL_AGE_MS, repository.installedAt);
  const reader = await requireGitHub(world).reader(repository);
  for (const one of await reader.labelled(LABEL, since)) {
    const { set } = one;
    if (set && set.at >= since) await startFromMissedLabel(world, repository, { ...one, set });
  }
}

/** A label with a known author and time. */
type DatedLabel = Labelled & { readonly set: NonNullable<Labelled['set']> };

async function startFromMissedLabel(
  world: Pick<World, 'artifacts' | 'clock' | 'engine' | 'log' | 'random' | 'store'>,
  repository: RepositoryHandle,
  { issue, set, touchedAt }: DatedLabel,
): Promise<void> {
  const { installationId, repositoryId, owner, name } = repository;
  if (world.clock.now() - set.at < WEBHOOK_DELAY_MS) return;
  if (await world.store.isLabelRecorded(repositoryId, issue.number, set.at - EVENT_SKEW_MS)) return;
  if (touchedAt - set.at > SAME_ACTION_MS) {
    world.log.warn(
      { repository: repositoryId, issue: issue.number },
      'a label was set without its webhook and the issue has changed since, so it is unclear which text was meant: set the label again',
    );
    return;
  }
  const taken = await startFromLabel(world, {
    deliveryId: `lost:${repositoryId}:${issue.number}:${set.at}`,
    installationId,
    repository: { id: repositoryId, owner, name },
    issue: { number: issue.number, title: issue.title, body: issue.body, updatedAt: set.at },
    // As in the webhook of such a label.
    ...(issue.isPull ? { work: 'fix' as const } : {}),
    actor: { ...set.by, isBot: set.byBot },
  });
  const what =
    taken.kind === 'started' ? { kind: taken.kind, run: taken.runId } : { kind: taken.kind, why: taken.why };
  world.log.info({ repository: repositoryId, issue: issue.number, ...what }, 'a label without a webhook');
}

/** One of Runoff's labels was removed, or the issue or pull request was closed, deleted or moved away. */
interface StopEvent {
  readonly repositoryId: number;
  readonly issue: number;
  /** When, milliseconds since 1970 UTC; absent where it cannot be undone. */
  readonly at?: number;
  /** One clause, for the run's record. */
  readonly cause: string;
  /** The label that was removed: this stops work, but not the wait for a pick. */
  readonly label?: typeof LABEL | typeof RUNNING_LABEL;
}

/**
 * Cancels the issue's active run, or ends its wait for a pick. Stopping is always safe, so GitHub's own permission is
 * sufficient.
 */
export async function stopRunsOfIssue(world: CancelPorts, event: StopEvent): Promise<number> {
  let stopped = 0;
  for (const run of await world.store.activeRuns(event.repositoryId, event.issue)) {
    if (event.at !== undefined && event.at < triggeredAt(run)) continue;
    if (event.label && run.state === 'awaiting_pick') continue;
    if (event.label === LABEL && !(await isStillAskedBy(world, run))) continue;
    if (await stopRun(world, run, event.cause)) stopped += 1;
  }
  return stopped;
}

/**
 * Whether a run was started by the label `auto-dev` that is on the issue. Added while another run is at work, it is not
 * the label of that run, which goes on when somebody takes it off again.
 */
const isStillAskedBy = async (world: Pick<World, 'store'>, run: RunRecord): Promise<boolean> =>
  isStartedByLabel(run) && !(await hasReplacedLabel(world, run));

/** The App was uninstalled or suspended, or its access to a repository was removed. */
interface AccessRemovedEvent {
  readonly installationId: number;
  /** Absent: all of the installation's. */
  readonly repositoryIds?: readonly number[];
  /** One clause, for the run's record. */
  readonly cause: string;
}

/** Ends every run that can no longer write to GitHub: active ones, and those that wait for a pick. */
export async function stopRunsWithoutAccess(world: CancelPorts, event: AccessRemovedEvent): Promise<number> {
  let stopped = 0;
  for (const run of await world.store.runsIn([...ACTIVE_STATES, 'awaiting_pick'])) {
    const { origin } = run;
    if (origin.kind !== 'github' || origin.installationId !== event.installationId) continue;
    if (event.repositoryIds && !event.repositoryIds.includes(origin.repositoryId)) continue;
    if (await stopRun(world, run, event.cause)) stopped += 1;
  }
  return stopped;
}

/** False if there is nothing to stop: the run is over, and waits for no pick. */
const stopRun = (world: CancelPorts, { id, state }: RunRecord, cause: string): Promise<boolean> =>
  state === 'awaiting_pick' ? endWaitForPick(world, id, cause) : cancelRun(world, id, cause);
