import { asFault, type GitHubOrigin, type RunId } from '../core/model/index.ts';
import { startRun, type World } from '../runs/index.ts';
import type { AuthorLimits } from './author-limits.ts';

/** An `issues.labeled` delivery: only the fields that we need. */
export interface LabelEvent {
  readonly deliveryId: string;
  readonly installationId: number;
  readonly repository: { readonly id: number; readonly owner: string; readonly name: string };
  readonly issue: {
    readonly number: number;
    readonly title: string;
    readonly body: string;
    readonly updatedAt: number;
  };
  readonly actor: { readonly id: number; readonly login: string; readonly isBot: boolean };
}

export type LabelResult =
  | { readonly kind: 'started'; readonly runId: RunId }
  | { readonly kind: 'ignored'; readonly why: string };

/**
 * Starts a run for a label. The delivery and the run are one transaction (I8): a redelivery, or a replay under a new
 * delivery id, finds its semantic key in use. Admission checks the permission of whoever set the label.
 */
export async function startFromLabel(
  world: Pick<World, 'artifacts' | 'clock' | 'engine' | 'random' | 'store'>,
  event: LabelEvent,
  limits?: AuthorLimits,
): Promise<LabelResult> {
  if (event.actor.isBot) return { kind: 'ignored', why: 'a bot added the label' };
  if (limits && !(await mayStore(limits, event)))
    return { kind: 'ignored', why: 'the author has no write access to the repository' };
  const origin: GitHubOrigin = {
    kind: 'github',
    installationId: event.installationId,
    repositoryId: event.repository.id,
    owner: event.repository.owner,
    name: event.repository.name,
    issue: event.issue.number,
    requestedBy: { id: event.actor.id, login: event.actor.login },
  };
  const runId = world.random.runId();
  const delivery = {
    id: event.deliveryId,
    event: 'issues.labeled',
    semanticKey: `labeled:${event.repository.id}:${event.issue.number}:${event.issue.updatedAt}`,
    runId,
  };
  const { title, body } = event.issue;
  const text = { title, body: await world.artifacts.put(body) };
  const request = {
    runId,
    text,
    triggeredAt: event.issue.updatedAt,
    trigger: 'label',
    overrides: {},
  } as const;
  if (!(await world.store.acceptDelivery(delivery, { origin, title, request, at: world.clock.now() }))) {
    return { kind: 'ignored', why: 'this label event was already processed' };
  }
  await startRun(world, runId);
  return { kind: 'started', runId };
}

/**
 * Issue templates set labels for anybody, and maintainers label hundreds at once: the permission of somebody who sets
 * many is read before more are stored. While GitHub does not answer, they are stored: admission asks again.
 */
async function mayStore(
  limits: AuthorLimits,
  { installationId, repository, actor: sender }: LabelEvent,
): Promise<boolean> {
  const { id: repositoryId, owner, name } = repository;
  const place = { installationId, repositoryId, owner, name };
  const by = { id: sender.id, login: sender.login };
  if (limits.mayStore(place, by)) return true;
  try {
    if (await limits.mayWrite(place, by)) return true;
    limits.noteDropped(place);
    return false;
  } catch (thrown) {
    if (asFault(thrown).code === 'GITHUB_UNAVAILABLE') return true;
    throw thrown;
  }
}

export interface PullEvent {
  readonly repositoryId: number;
  readonly head: string;
  readonly merged: boolean;
}

/** Records how a run's pull request ended. The branch name names the run; the store confirms it. */
export async function recordPullClosed(
  world: Pick<World, 'clock' | 'store'>,
  event: PullEvent,
): Promise<boolean> {
  const runId = /^auto-dev\/\d+\/(r[0-9a-z]{10})\/[A-Z]$/.exec(event.head)?.[1];
  const run = runId ? await world.store.run(runId) : null;
  if (run?.state !== 'published' || run.outcome?.kind !== 'pull' || run.outcome.branch !== event.head)
    return false;
  if (run.origin.kind !== 'github' || run.origin.repositoryId !== event.repositoryId) return false;
  const cause = event.merged ? 'its pull request was merged' : 'its pull request was closed';
  await world.store.transition(run.id, event.merged ? 'merged' : 'closed', cause, world.clock.now());
  return true;
}
