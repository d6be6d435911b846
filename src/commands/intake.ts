import { givesCommand, parseCommand } from '../core/commands/index.ts';
import { type Actor, asFault, type GitHubOrigin, type PullWork, type RunId } from '../core/model/index.ts';
import type { CommandPlace, CommandRecord, NewCommand, RepositoryHandle } from '../ports/index.ts';
import {
  followPull,
  isLikelyWriter,
  type PublishPorts,
  type PullState,
  startRun,
  type World,
} from '../runs/index.ts';
import type { CommandPorts } from './apply-command.ts';
import { commandOfEdit, type EditEvent, restoreBoxes } from './checkboxes.ts';
import { openCommandQueue, STARTS } from './command-queue.ts';
import {
  type AuthorLimits,
  type CommentEvent,
  type IntakeResult,
  ignored,
  MAX_COMMENT_TEXT,
  openAuthorLimits,
} from './context.ts';
import {
  commandFromPage,
  isSameRequest,
  type PageCommand,
  type PageIntake,
  pageCommandId,
  refusedOnPage,
} from './pages.ts';
import { isAllowed, isAtWork, processCommand } from './process-commands.ts';

/**
 * Receives commands from GitHub, pages and the API. A command is stored first and applied in the background: one at a time for each
 * repository, in the order of GitHub's times and ids. `cancel` does not wait for the others, and no command waits for
 * authors without known write access. The number of commands stored for such authors is limited, and none is stored
 * for a minute after GitHub has reported that they have no write access.
 */
export interface CommandIntake {
  /** Records the command of a new comment; a second delivery of it changes nothing (I8). */
  onComment(event: CommentEvent): Promise<IntakeResult>;
  /** Handles an edit of one of Runoff's comments: a checkbox may have been ticked. */
  onEdit(event: EditEvent): Promise<IntakeResult>;
  /**
   * Records a command that was given on a page or through the API; a repeated request changes nothing (I8). The caller
   * has established who the person is; whether they may give the command is read when it is applied (I4). Faults:
   * GITHUB_UNAVAILABLE and GITHUB_REFUSED, for commands that start a run, whose issue is read now (I5), and for many
   * commands within a minute.
   */
  onPage(given: PageCommand): Promise<PageIntake>;
  /** A recorded command, after waiting at most this long for its outcome, which may be absent. */
  outcome(command: string, withinMs: number): Promise<CommandRecord | null>;
  /** Starts a run for a label. */
  onLabel(event: LabelEvent): Promise<LabelResult>;
  /** Queues commands without an outcome, after a crash or an outage of GitHub. */
  recover(): Promise<void>;
  /** Waits for the commands that are being applied, and for edited comments that are being restored. */
  idle(): Promise<void>;
}

export function openCommandIntake(world: CommandPorts): CommandIntake {
  const limits = openAuthorLimits(world);
  const queue = openCommandQueue({
    // Only people with write access can edit Runoff's comments, and so tick a checkbox.
    isLikelyAllowed: ({ association, ticked, place, by }) =>
      ticked !== undefined || isLikelyWriter(association) || limits.isRecentWriter(place, by),
    check: (command) => isAllowed(world, limits, command),
    isAtWork: (command) => isAtWork(world, command),
    process: (command) => processCommand(world, limits, command),
  });
  const restoring = new Set<Promise<void>>();

  /** In the background: the webhook is answered at once, and a second checkbox does not wait for a pick. */
  function restore(place: CommandPlace, runId: RunId, command: string | undefined): void {
    const applied = command === undefined ? Promise.resolve() : queue.finished(command);
    const work = restoreBoxes(world, place, runId, applied).finally(() => restoring.delete(work));
    restoring.add(work);
  }

  async function record(given: NewCommand): Promise<IntakeResult> {
    const command = { ...given, receivedAt: world.clock.now() };
    if (!(await world.store.recordCommand(command))) return ignored('it was recorded before');
    queue.add(command);
    return { kind: 'recorded', command: command.id };
  }

  return {
    async onComment({ place, body, issue, at, throughApp, association, actor: sender }) {
      if (sender.isBot || throughApp) return ignored('no person wrote it');
      if (!givesCommand(body)) return ignored('it gives no command');
      const { id, login } = sender;
      if (!limits.mayStore(place, { id, login })) {
        limits.noteDropped(place);
        return ignored('the author has no write access to the repository, or sends too many commands');
      }
      const scope = place.on === 'line' ? 'line' : 'comment';
      // One more than is accepted tells that there was more: it is refused when its author is known to be a writer.
      const text = body.slice(0, MAX_COMMENT_TEXT + 1).toWellFormed();
      const likely = association === undefined ? {} : { association: association.slice(0, 40) };
      const command = { id: `${scope}:${place.comment}`, place, by: { id, login }, text, at, ...likely };
      const given = parseCommand(body);
      if (!given || !STARTS.has(given.name)) return record(command);
      const issueText = { title: issue.title, body: await world.artifacts.put(issue.body) };
      return record({ ...command, issue: issueText });
    },
    async onEdit(event) {
      const edit = await commandOfEdit(world, event);
      if (!edit) return ignored('no person changed a checkbox of ours');
      // Stored first: once the checkbox is restored in the comment, there is no other trace of the tick.
      const result = edit.command ? await record(edit.command) : ignored('no box alone was ticked');
      restore(event.place, edit.run, edit.command?.id);
      return result;
    },
    async onPage(given) {
      const before = await world.store.command(pageCommandId(given));
      if (before)
        return isSameRequest(before, given)
          ? { kind: 'recorded', command: before.id }
          : refusedOnPage('A different command was already sent with this key. Load the page again.');
      const command = await commandFromPage(world, given);
      if ('kind' in command) return command;
      const { id, place, by } = command;
      if (!(await mayStore(limits, place, by)))
        return { kind: 'forbidden', why: 'You have no write access to the repository.' };
      await record(command);
      return { kind: 'recorded', command: id };
    },
    async outcome(id, withinMs) {
      const waiting = new AbortController();
      await Promise.race([queue.finished(id), world.clock.sleep(withinMs, waiting.signal)]);
      waiting.abort();
      return world.store.command(id);
    },
    onLabel: (event) => startFromLabel(world, event, limits),
    async recover() {
      for (const command of await world.store.unsettledCommands()) {
        queue.add(command);
        if (command.ticked !== undefined) restore(command.place, command.ticked, command.id);
      }
    },
    async idle() {
      await Promise.all([queue.idle(), ...restoring]);
    },
  };
}

/** A delivery of `issues.labeled` or `pull_request.labeled`, with the required fields only. */
interface LabelEvent {
  readonly deliveryId: string;
  readonly installationId: number;
  readonly repository: { readonly id: number; readonly owner: string; readonly name: string };
  readonly issue: {
    readonly number: number;
    readonly title: string;
    readonly body: string;
    readonly updatedAt: number;
  };
  /** Of a pull request: what the label asks for. */
  readonly work?: PullWork;
  readonly actor: { readonly id: number; readonly login: string; readonly isBot: boolean };
}

type LabelResult =
  | { readonly kind: 'started'; readonly runId: RunId }
  | { readonly kind: 'ignored'; readonly why: string };

/**
 * Starts a run for a label. The delivery and the run are one transaction (I8): a redelivery, or a replay under a new
 * delivery id, finds its semantic key in use. Admission checks the permission of the person who set the label.
 */
export async function startFromLabel(
  world: Pick<World, 'artifacts' | 'clock' | 'engine' | 'random' | 'store'>,
  event: LabelEvent,
  limits?: AuthorLimits,
): Promise<LabelResult> {
  if (event.actor.isBot) return { kind: 'ignored', why: 'a bot added the label' };
  if (limits && !(await mayStoreLabel(limits, event)))
    return { kind: 'ignored', why: 'the author has no write access to the repository' };
  const origin: GitHubOrigin = {
    kind: 'github',
    installationId: event.installationId,
    repositoryId: event.repository.id,
    owner: event.repository.owner,
    name: event.repository.name,
    issue: event.issue.number,
    ...(event.work ? { work: event.work } : {}),
    requestedBy: { id: event.actor.id, login: event.actor.login },
  };
  const runId = world.random.runId();
  const delivery = {
    id: event.deliveryId,
    event: event.work ? 'pull_request.labeled' : 'issues.labeled',
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
 * Whether one more label or command of a page may be stored. Who sends many is no flood if they are a writer: the
 * permission is read then. Faults: GITHUB_UNAVAILABLE, GITHUB_REFUSED.
 */
async function mayStore(limits: AuthorLimits, place: RepositoryHandle, by: Actor): Promise<boolean> {
  if (limits.mayStore(place, by) || (await limits.mayWrite(place, by))) return true;
  limits.noteDropped(place);
  return false;
}

/**
 * Issue templates set labels on behalf of any author, and maintainers label hundreds at once. During an outage of
 * GitHub they are stored: admission checks again.
 */
async function mayStoreLabel(
  limits: AuthorLimits,
  { installationId, repository, actor: sender }: LabelEvent,
): Promise<boolean> {
  const { id: repositoryId, owner, name } = repository;
  const place = { installationId, repositoryId, owner, name };
  const by = { id: sender.id, login: sender.login };
  try {
    return await mayStore(limits, place, by);
  } catch (thrown) {
    if (asFault(thrown).code === 'GITHUB_UNAVAILABLE') return true;
    throw thrown;
  }
}

interface PullEvent {
  readonly repositoryId: number;
  readonly number: number;
  readonly head: string;
  readonly state: PullState;
}

/**
 * Records that a run's pull request was merged, closed or reopened; returns whether that changed the run. The branch
 * name contains the run's id; the store confirms it, and the number: anybody with write access can open a second pull
 * request from the branch.
 */
export async function recordPullState(
  world: PublishPorts & Pick<World, 'announcer'>,
  event: PullEvent,
): Promise<boolean> {
  const runId = /^auto-dev\/\d+\/(r[0-9a-z]{10})\/[A-Z]$/.exec(event.head)?.[1];
  const run = runId ? await world.store.run(runId) : null;
  if (run?.outcome?.kind !== 'pull' || run.outcome.branch !== event.head) return false;
  if (run.outcome.number !== event.number) return false;
  if (run.origin.kind !== 'github' || run.origin.repositoryId !== event.repositoryId) return false;
  return followPull(world, run, event.state);
}
