import type { Context, Probot } from 'probot';
import { LABEL, type World } from './pipeline/index.ts';
import { commented, labelled, pullClosed, ticked, withdrawn } from './steering/index.ts';

/** The Probot application: GitHub's events in, runs and their steering out. Every decision is elsewhere. */
export const app =
  (world: World) =>
  (probot: Probot): void => {
    probot.on('issues.labeled', (context) => onLabel(world, context));
    probot.on('issues.unlabeled', async (context) => {
      if (context.payload.label?.name === LABEL)
        await onWithdrawn(world, context, `the label ${LABEL} was taken off`);
    });
    probot.on('issues.closed', (context) => onWithdrawn(world, context, 'the issue was closed'));
    probot.on('issues.deleted', (context) => onWithdrawn(world, context, 'the issue was deleted'));
    probot.on('issues.transferred', (context) =>
      onWithdrawn(world, context, 'the issue was moved to another repository'),
    );
    probot.on('issue_comment.created', (context) => onComment(world, context));
    probot.on('issue_comment.edited', (context) => onEdit(world, context));
    probot.on('pull_request.closed', async (context) => {
      const { repository, pull_request: pull } = context.payload;
      // A fork may have a branch of the same name; ours are in the repository itself.
      if (pull.head.repo?.id !== repository.id) return;
      await pullClosed(world, {
        repositoryId: repository.id,
        head: pull.head.ref,
        merged: pull.merged === true,
      });
    });
  };

async function onLabel(world: World, context: Context<'issues.labeled'>): Promise<void> {
  const { installation, issue, label, repository, sender } = context.payload;
  if (label?.name !== LABEL || issue.pull_request || !installation || !sender) return;
  const taken = await labelled(world, {
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
  world.log.info(
    { delivery: context.id, repository: repository.id, issue: issue.number, ...taken },
    'label seen',
  );
}

async function onComment(world: World, context: Context<'issue_comment.created'>): Promise<void> {
  const { comment, issue, repository, sender } = context.payload;
  if (issue.pull_request || !sender) return;
  const heeded = await commented(world, {
    repositoryId: repository.id,
    issue: issue.number,
    comment: { id: comment.id, body: comment.body },
    throughApp: Boolean(comment.performed_via_github_app),
    sender: speaker(sender),
  });
  if (heeded.kind !== 'ignored') {
    world.log.info({ delivery: context.id, issue: issue.number, ...heeded }, 'command seen');
  }
}

async function onEdit(world: World, context: Context<'issue_comment.edited'>): Promise<void> {
  const { comment, issue, repository, sender } = context.payload;
  if (issue.pull_request || !sender) return;
  const heeded = await ticked(world, {
    repositoryId: repository.id,
    issue: issue.number,
    comment: {
      id: comment.id,
      body: comment.body,
      performedByAppId: comment.performed_via_github_app?.id ?? null,
    },
    sender: speaker(sender),
  });
  if (heeded.kind !== 'ignored') {
    world.log.info({ delivery: context.id, issue: issue.number, ...heeded }, 'edit seen');
  }
}

const speaker = ({ id, login, type }: { id: number; login: string; type?: string }) => ({
  id,
  login,
  isBot: type !== 'User',
});

async function onWithdrawn(
  world: World,
  context: Context<'issues.unlabeled' | 'issues.closed' | 'issues.deleted' | 'issues.transferred'>,
  cause: string,
): Promise<void> {
  const { issue, repository } = context.payload;
  await withdrawn(world, { repositoryId: repository.id, issue: issue.number, cause });
}
