import type { Context, Probot } from 'probot';
import {
  type CancelPorts,
  type CommandIntake,
  type IntakeResult,
  recordPullState,
  stopRunsOfIssue,
  stopRunsWithoutAccess,
} from './commands/index.ts';
import { Fault, type FaultCode, isSameLabel } from './core/model/index.ts';
import type { CommandPlace } from './ports/index.ts';
import { LABEL, RUNNING_LABEL, type World } from './runs/index.ts';

/** The Probot application: turns GitHub's events into runs and commands. It decides nothing itself. */
export const app =
  (world: CancelPorts, intake: CommandIntake) =>
  (probot: Pick<Probot, 'on' | 'onError'>): void => {
    probot.onError(({ errors }) => answerUnavailable(errors));
    probot.on('issues.labeled', (context) => onLabel(world, intake, context, context.payload.issue));
    probot.on('pull_request.labeled', (context) =>
      // On a pull request the label means `/auto-dev fix`: failing checks, or else the review.
      onLabel(world, intake, context, context.payload.pull_request, 'fix'),
    );
    probot.on('issues.unlabeled', (context) => onUnlabel(world, context, context.payload.issue));
    probot.on('pull_request.unlabeled', (context) => onUnlabel(world, context, context.payload.pull_request));
    probot.on('issues.closed', ({ payload: { repository, issue } }) =>
      onClosed(world, repository.id, issue, 'the issue was closed'),
    );
    probot.on('issues.deleted', async ({ payload: { repository, issue } }) => {
      const cause = 'the issue was deleted';
      await stopRunsOfIssue(world, { repositoryId: repository.id, issue: issue.number, cause });
    });
    probot.on('issues.transferred', async ({ payload: { repository, issue } }) => {
      const cause = 'the issue was moved to another repository';
      await stopRunsOfIssue(world, { repositoryId: repository.id, issue: issue.number, cause });
    });
    probot.on('issue_comment.created', (context) => onComment(world, intake, context));
    probot.on('issue_comment.edited', (context) => onEdit(world, intake, context));
    probot.on('pull_request_review_comment.created', (context) => onLineComment(world, intake, context));
    probot.on('pull_request.closed', async (context) => {
      const { repository, pull_request: pull } = context.payload;
      // A fork may have a branch of the same name; Runoff's branches are in the repository itself.
      if (pull.head.repo?.id !== repository.id) return;
      const state = pull.merged === true ? 'merged' : 'closed';
      await recordPullState(world, { ...pullIn(repository.id, pull), state });
      await onClosed(world, repository.id, pull, 'the pull request was closed');
    });
    probot.on('pull_request.reopened', async ({ payload: { repository, pull_request: pull } }) => {
      if (pull.head.repo?.id !== repository.id) return;
      await recordPullState(world, { ...pullIn(repository.id, pull), state: 'open' });
    });
    probot.on(['installation.deleted', 'installation.suspend'], async ({ payload }) => {
      const cause = payload.action === 'deleted' ? 'the App was uninstalled' : 'the App was suspended';
      await stopRunsWithoutAccess(world, { installationId: payload.installation.id, cause });
    });
    probot.on('installation_repositories.removed', async ({ payload }) => {
      await stopRunsWithoutAccess(world, {
        installationId: payload.installation.id,
        repositoryIds: payload.repositories_removed.map(({ id }) => id),
        cause: 'the App lost access to the repository',
      });
    });
  };

const pullIn = (
  repositoryId: number,
  { number, head }: { readonly number: number; readonly head: { readonly ref: string } },
) => ({ repositoryId, number, head: head.ref });

/**
 * Temporary faults, and those that free disk space resolves: GitHub is told that the delivery failed, and can send it
 * again.
 */
const RETRY_LATER: ReadonlySet<FaultCode> = new Set([
  'DATABASE_UNAVAILABLE',
  'ARTIFACTS_UNAVAILABLE',
  'DISK_FULL',
  'DISK_FAILING',
  'RESOURCES_EXHAUSTED',
]);

/** Probot answers with the status of the first error, or 500 without one. The reason itself is only logged. */
function answerUnavailable(errors: readonly Error[]): void {
  for (const error of errors) {
    if (!(error instanceof Fault) || !RETRY_LATER.has(error.code)) continue;
    const message =
      error.code === 'DISK_FULL'
        ? 'The disk is full, so Runoff started nothing for this delivery. Free some space, then redeliver it.'
        : 'Runoff cannot reach its database or artifact store, so it started nothing for this delivery. Redeliver it once it can, or wait: Runoff finds missed labels by itself.';
    Object.assign(error, { status: 503, name: 'Unavailable', message });
  }
}

interface LabelledThread extends Thread {
  readonly title: string;
  readonly body?: string | null;
  readonly pull_request?: unknown;
}

async function onLabel(
  world: Pick<World, 'log'>,
  intake: CommandIntake,
  context: Context<'issues.labeled' | 'pull_request.labeled'>,
  /** The name of an event is not signed: a body of another one lacks it. */
  thread: LabelledThread | undefined,
  work?: 'fix',
): Promise<void> {
  const { installation, label, repository, sender } = context.payload;
  if (!label || !isSameLabel(label.name, LABEL)) return;
  // GitHub sends an event of its own for pull requests.
  if (!thread || thread.pull_request || !installation || !sender) return;
  const taken = await intake.onLabel({
    deliveryId: context.id,
    installationId: installation.id,
    repository: { id: repository.id, owner: repository.owner.login, name: repository.name },
    issue: { number: thread.number, ...issueText(thread), updatedAt: Date.parse(thread.updated_at) },
    ...(work ? { work } : {}),
    actor: actorOf(sender),
  });
  const what =
    taken.kind === 'started' ? { kind: taken.kind, run: taken.runId } : { kind: taken.kind, why: taken.why };
  world.log.info(
    { delivery: context.id, repository: repository.id, issue: thread.number, ...what },
    'label seen',
  );
}

/** Runoff removes both labels itself, as a bot; a person who removes one wants the run to stop. */
async function onUnlabel(
  world: CancelPorts,
  context: Context<'issues.unlabeled' | 'pull_request.unlabeled'>,
  thread: Thread,
): Promise<void> {
  const { label, repository, sender } = context.payload;
  const own = ([LABEL, RUNNING_LABEL] as const).find((one) => isSameLabel(one, label?.name ?? ''));
  if (!own || actorOf(sender).isBot) return;
  await stopRunsOfIssue(world, {
    repositoryId: repository.id,
    issue: thread.number,
    at: Date.parse(thread.updated_at),
    cause: `the label ${own} was removed`,
    label: own,
  });
}

/** An issue or a pull request. */
interface Thread {
  readonly number: number;
  readonly updated_at: string;
}

async function onClosed(
  world: CancelPorts,
  repositoryId: number,
  { number, updated_at }: Thread,
  cause: string,
): Promise<void> {
  await stopRunsOfIssue(world, { repositoryId, issue: number, at: Date.parse(updated_at), cause });
}

async function onComment(
  world: Pick<World, 'log'>,
  intake: CommandIntake,
  context: Context<'issue_comment.created'>,
): Promise<void> {
  const { comment, issue, sender } = context.payload;
  const place = inConversation(context.payload);
  if (!place || !sender) return;
  const event = { place, issue: issueText(issue), ...fieldsOf(comment), actor: actorOf(sender) };
  logIntake(world, context.id, await intake.onComment(event));
}

async function onLineComment(
  world: Pick<World, 'log'>,
  intake: CommandIntake,
  context: Context<'pull_request_review_comment.created'>,
): Promise<void> {
  const { comment, pull_request: pull, sender } = context.payload;
  const place = placeOf(context.payload, pull.number, comment.id, { isPull: true, on: 'line' });
  if (!place || !sender) return;
  // In a review, a comment has the time of its draft, and changed last when the review was submitted: the command is
  // given then, together with the review's other comments and its summary.
  const at = Math.max(Date.parse(comment.created_at), Date.parse(comment.updated_at));
  const event = { place, issue: issueText(pull), ...fieldsOf(comment), at, actor: actorOf(sender) };
  logIntake(world, context.id, await intake.onComment(event));
}

async function onEdit(
  world: Pick<World, 'log'>,
  intake: CommandIntake,
  context: Context<'issue_comment.edited'>,
): Promise<void> {
  const { comment, sender } = context.payload;
  const place = inConversation(context.payload);
  if (!place || !sender) return;
  const result = await intake.onEdit({
    place,
    body: comment.body,
    performedByAppId: comment.performed_via_github_app?.id ?? null,
    at: Date.parse(comment.updated_at),
    actor: actorOf(sender),
  });
  logIntake(world, context.id, result);
}

/** GitHub also sends it for comments on lines, although the event's documentation omits it. */
interface NewComment {
  readonly body: string;
  readonly created_at: string;
  readonly author_association: string;
}

const fieldsOf = (comment: NewComment) => ({
  body: comment.body,
  at: Date.parse(comment.created_at),
  throughApp: isThroughApp(comment),
  association: comment.author_association,
});

const isThroughApp = (comment: object): boolean =>
  'performed_via_github_app' in comment && Boolean(comment.performed_via_github_app);

function logIntake(world: Pick<World, 'log'>, delivery: string, result: IntakeResult): void {
  if (result.kind === 'recorded') world.log.info({ delivery, ...result }, 'a command was recorded');
}

const issueText = ({ title, body }: { readonly title: string; readonly body?: string | null }) => ({
  title,
  body: body ?? '',
});

interface RepositoryPayload {
  readonly installation?: { readonly id: number } | undefined;
  readonly repository: {
    readonly id: number;
    readonly name: string;
    readonly owner: { readonly login: string };
  };
}

/** The place of a comment on an issue, or in the conversation of a pull request. */
const inConversation = (
  payload: Context<'issue_comment.created' | 'issue_comment.edited'>['payload'],
): CommandPlace | null =>
  placeOf(payload, payload.issue.number, payload.comment.id, {
    isPull: payload.issue.pull_request !== undefined,
    on: 'conversation',
  });

/** Null if the delivery names no installation: without one no reply could be written. */
function placeOf(
  { installation, repository }: RepositoryPayload,
  thread: number,
  comment: number,
  where: Pick<CommandPlace, 'isPull' | 'on'>,
): CommandPlace | null {
  if (!installation) return null;
  return {
    installationId: installation.id,
    repositoryId: repository.id,
    owner: repository.owner.login,
    name: repository.name,
    thread,
    comment,
    ...where,
  };
}

const actorOf = ({ id, login, type }: { id: number; login: string; type?: string }) => ({
  id,
  login,
  isBot: type !== 'User',
});
