import type { Context, Probot } from 'probot';
import { gone, type Heeded, pullClosed, type Steering, withdrawn } from './commands/index.ts';
import { Fault, type FaultCode, isSameLabel } from './core/model/index.ts';
import type { CommandPlace } from './ports/index.ts';
import { LABEL, RUNNING_LABEL, type World } from './runs/index.ts';

/** The Probot application: GitHub's events in, runs and their steering out. Every decision is elsewhere. */
export const app =
  (world: World, steering: Steering) =>
  (probot: Pick<Probot, 'on' | 'onError'>): void => {
    probot.onError(({ errors }) => putOff(errors));
    probot.on('issues.labeled', (context) => onLabel(world, steering, context));
    probot.on('issues.unlabeled', (context) => onUnlabel(world, context, context.payload.issue));
    probot.on('pull_request.unlabeled', (context) => onUnlabel(world, context, context.payload.pull_request));
    probot.on('issues.closed', ({ payload: { repository, issue } }) =>
      onWithdrawn(world, repository.id, issue, 'the issue was closed'),
    );
    probot.on('issues.deleted', async ({ payload: { repository, issue } }) => {
      const cause = 'the issue was deleted';
      await withdrawn(world, { repositoryId: repository.id, issue: issue.number, cause });
    });
    probot.on('issues.transferred', async ({ payload: { repository, issue } }) => {
      const cause = 'the issue was moved to another repository';
      await withdrawn(world, { repositoryId: repository.id, issue: issue.number, cause });
    });
    probot.on('issue_comment.created', (context) => onComment(world, steering, context));
    probot.on('issue_comment.edited', (context) => onEdit(world, steering, context));
    probot.on('pull_request_review_comment.created', (context) => onLineComment(world, steering, context));
    probot.on('pull_request.closed', async (context) => {
      const { repository, pull_request: pull } = context.payload;
      // A fork may have a branch of the same name; ours are in the repository itself.
      if (pull.head.repo?.id !== repository.id) return;
      await pullClosed(world, {
        repositoryId: repository.id,
        head: pull.head.ref,
        merged: pull.merged === true,
      });
      await onWithdrawn(world, repository.id, pull, 'the pull request was closed');
    });
    probot.on(['installation.deleted', 'installation.suspend'], async ({ payload }) => {
      const cause = payload.action === 'deleted' ? 'the App was uninstalled' : 'the App was suspended';
      await gone(world, { installationId: payload.installation.id, cause });
    });
    probot.on('installation_repositories.removed', async ({ payload }) => {
      await gone(world, {
        installationId: payload.installation.id,
        repositoryIds: payload.repositories_removed.map(({ id }) => id),
        cause: 'the repository was taken from the App',
      });
    });
  };

/** What waiting mends, or somebody who makes room: GitHub is told that the delivery failed, and can send it again. */
const FOR_LATER: ReadonlySet<FaultCode> = new Set([
  'DATABASE_UNAVAILABLE',
  'ARTIFACTS_UNAVAILABLE',
  'DISK_FULL',
]);

/** Probot answers with the status of the first error, 500 where it has none. The reason itself goes to the log only. */
function putOff(errors: readonly Error[]): void {
  for (const error of errors) {
    if (!(error instanceof Fault) || !FOR_LATER.has(error.code)) continue;
    const message =
      error.code === 'DISK_FULL'
        ? 'Runoff has no room left to take this delivery; nothing was started. Make room, then redeliver it.'
        : 'Runoff cannot reach what it keeps its work in; nothing was started. Redeliver this once it can, or wait: labels are looked for.';
    Object.assign(error, { status: 503, name: 'Unavailable', message });
  }
}

async function onLabel(world: World, steering: Steering, context: Context<'issues.labeled'>): Promise<void> {
  const { installation, issue, label, repository, sender } = context.payload;
  if (!label || !isSameLabel(label.name, LABEL)) return;
  if (issue.pull_request || !installation || !sender) return;
  const taken = await steering.labelled({
    deliveryId: context.id,
    installationId: installation.id,
    repository: { id: repository.id, owner: repository.owner.login, name: repository.name },
    issue: {
      number: issue.number,
      title: issue.title,
      body: issue.body ?? '',
      updatedAt: Date.parse(issue.updated_at),
    },
    sender: speaker(sender),
  });
  const what =
    taken.kind === 'started' ? { kind: taken.kind, run: taken.runId } : { kind: taken.kind, why: taken.why };
  world.log.info(
    { delivery: context.id, repository: repository.id, issue: issue.number, ...what },
    'label seen',
  );
}

/** We take both labels off ourselves, as a bot; a person who does it wants the run to stop. */
async function onUnlabel(
  world: World,
  context: Context<'issues.unlabeled' | 'pull_request.unlabeled'>,
  thread: Thread,
): Promise<void> {
  const { label, repository, sender } = context.payload;
  const name = [LABEL, RUNNING_LABEL].find((own) => isSameLabel(own, label?.name ?? ''));
  if (!name || speaker(sender).isBot) return;
  await withdrawn(world, {
    repositoryId: repository.id,
    issue: thread.number,
    at: Date.parse(thread.updated_at),
    cause: `the label ${name} was taken off`,
    workOnly: true,
  });
}

/** An issue or a pull request. */
interface Thread {
  readonly number: number;
  readonly updated_at: string;
}

async function onWithdrawn(
  world: World,
  repositoryId: number,
  { number, updated_at }: Thread,
  cause: string,
): Promise<void> {
  await withdrawn(world, { repositoryId, issue: number, at: Date.parse(updated_at), cause });
}

async function onComment(
  world: World,
  steering: Steering,
  context: Context<'issue_comment.created'>,
): Promise<void> {
  const { comment, issue, sender } = context.payload;
  const place = inConversation(context.payload);
  if (!place || !sender) return;
  const heeded = await steering.heard({
    place,
    body: comment.body,
    issue: saidIn(issue),
    at: Date.parse(comment.created_at),
    throughApp: isThroughApp(comment),
    association: comment.author_association,
    sender: speaker(sender),
  });
  tell(world, context.id, heeded);
}

async function onLineComment(
  world: World,
  steering: Steering,
  context: Context<'pull_request_review_comment.created'>,
): Promise<void> {
  const { comment, pull_request: pull, sender } = context.payload;
  const place = placeOf(context.payload, pull.number, comment.id, { isPull: true, on: 'line' });
  if (!place || !sender) return;
  const heeded = await steering.heard({
    place,
    body: comment.body,
    issue: saidIn(pull),
    at: Date.parse(comment.created_at),
    throughApp: isThroughApp(comment),
    association: comment.author_association,
    sender: speaker(sender),
  });
  tell(world, context.id, heeded);
}

async function onEdit(
  world: World,
  steering: Steering,
  context: Context<'issue_comment.edited'>,
): Promise<void> {
  const { comment, sender } = context.payload;
  const place = inConversation(context.payload);
  if (!place || !sender) return;
  const heeded = await steering.ticked({
    place,
    body: comment.body,
    performedByAppId: comment.performed_via_github_app?.id ?? null,
    at: Date.parse(comment.updated_at),
    sender: speaker(sender),
  });
  tell(world, context.id, heeded);
}

/** GitHub sends it with comments on lines as well, though its description of that event leaves it out. */
const isThroughApp = (comment: object): boolean =>
  'performed_via_github_app' in comment && Boolean(comment.performed_via_github_app);

function tell(world: World, delivery: string, heeded: Heeded): void {
  if (heeded.kind === 'heard') world.log.info({ delivery, ...heeded }, 'a command was heard');
}

const saidIn = ({ title, body }: { readonly title: string; readonly body?: string | null }) => ({
  title,
  body: body ?? '',
});

interface Spoken {
  readonly installation?: { readonly id: number } | undefined;
  readonly repository: {
    readonly id: number;
    readonly name: string;
    readonly owner: { readonly login: string };
  };
}

/** Where a comment on an issue stands, or in the conversation of a pull request. */
const inConversation = (
  payload: Context<'issue_comment.created' | 'issue_comment.edited'>['payload'],
): CommandPlace | null =>
  placeOf(payload, payload.issue.number, payload.comment.id, {
    isPull: payload.issue.pull_request !== undefined,
    on: 'conversation',
  });

/** Null where the delivery names no installation: then nobody could be answered. */
function placeOf(
  { installation, repository }: Spoken,
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

const speaker = ({ id, login, type }: { id: number; login: string; type?: string }) => ({
  id,
  login,
  isBot: type !== 'User',
});
