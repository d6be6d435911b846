import { asFault, type GitHubOrigin, type RunId } from '../core/model/index.ts';
import { startRun, type World } from '../runs/index.ts';
import type { Senders } from './senders.ts';

/** What an `issues.labeled` delivery says, only the fields we need. */
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
  readonly sender: { readonly id: number; readonly login: string; readonly isBot: boolean };
}

export type Taken =
  | { readonly kind: 'started'; readonly runId: RunId }
  | { readonly kind: 'ignored'; readonly why: string };

/**
 * Takes a label as a wish for a run. The delivery and the run are one transaction (I8): a redelivery, or a replay
 * under a fresh delivery id, finds its semantic key taken. Whether the sender may is decided at admission.
 */
export async function labelled(world: World, event: LabelEvent, senders?: Senders): Promise<Taken> {
  if (event.sender.isBot) return { kind: 'ignored', why: 'a bot set the label' };
  if (senders && !(await mayStore(senders, event)))
    return { kind: 'ignored', why: 'the sender may not write to the repository' };
  const origin: GitHubOrigin = {
    kind: 'github',
    installationId: event.installationId,
    repositoryId: event.repository.id,
    owner: event.repository.owner,
    name: event.repository.name,
    issue: event.issue.number,
    requestedBy: { id: event.sender.id, login: event.sender.login },
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
    return { kind: 'ignored', why: 'this label event was taken before' };
  }
  await startRun(world, runId);
  return { kind: 'started', runId };
}

/**
 * Templates of issues set labels for anybody, and maintainers label hundreds at once: whoever sets many is looked up
 * before more are stored. While GitHub does not answer, they are stored: admission asks again.
 */
async function mayStore(
  senders: Senders,
  { installationId, repository, sender }: LabelEvent,
): Promise<boolean> {
  const { id: repositoryId, owner, name } = repository;
  const place = { installationId, repositoryId, owner, name };
  const by = { id: sender.id, login: sender.login };
  if (senders.admits(place, by)) return true;
  try {
    if (await senders.mayWrite(place, by)) return true;
    senders.dropped(place);
    return false;
  } catch (thrown) {
    if (asFault(thrown).code === 'GITHUB_UNAVAILABLE') return true;
    throw thrown;
  }
}
