import { z } from 'zod';
import type { CommentFacts, IssueFacts, Permission, PullFacts } from '../../ports/index.ts';

// Only the fields that we need, of what GitHub describes in its OpenAPI document. Anything else than these shapes is a
// fault, not a guess.

const Sha = z.string().regex(/^[0-9a-f]{40}$/);
const Time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const Account = z.object({ id: z.int().positive(), login: z.string().min(1), type: z.string() });

/** Shown in place of deleted accounts. */
const GHOST = { id: 0, login: 'ghost', type: 'User' } as const;

export const Repository = z.object({
  id: z.int(),
  full_name: z.string().regex(/^[\w.-]+\/[\w.-]+$/),
  private: z.boolean(),
  default_branch: z.string().min(1),
  html_url: z.string(),
});

export const Issue = z
  .object({
    number: z.int(),
    title: z.string(),
    body: z.string().nullish(),
    state: z.string(),
    labels: z.array(z.union([z.string(), z.object({ name: z.string().nullish() })])),
    user: Account.nullish(),
    pull_request: z.unknown().optional(),
  })
  .transform(
    (issue): IssueFacts => ({
      number: issue.number,
      title: issue.title,
      body: issue.body ?? '',
      open: issue.state === 'open',
      isPull: issue.pull_request !== undefined && issue.pull_request !== null,
      labels: issue.labels.flatMap((label) => (typeof label === 'string' ? label : (label.name ?? []))),
      author: actor(issue.user ?? GHOST),
    }),
  );

export const Comment = z
  .object({
    id: z.int(),
    user: Account.nullish(),
    author_association: z.string(),
    body: z.string().nullish(),
    html_url: z.string(),
    performed_via_github_app: z.object({ id: z.int() }).nullish(),
    created_at: Time,
    updated_at: Time,
  })
  .transform((comment): CommentFacts => {
    const author = comment.user ?? GHOST;
    return {
      id: comment.id,
      author: actor(author),
      authorIsBot: author.type !== 'User',
      association: comment.author_association,
      body: comment.body ?? '',
      url: comment.html_url,
      performedByAppId: comment.performed_via_github_app?.id ?? null,
      createdAt: comment.created_at,
      updatedAt: comment.updated_at,
    };
  });

const actor = ({ id, login }: { id: number; login: string }) => ({ id, login });

export const Pull = z.object({
  number: z.int(),
  html_url: z.string(),
  draft: z.boolean().optional(),
  body: z.string().nullish(),
  head: z.object({
    ref: z.string(),
    sha: Sha,
    repo: z.object({ id: z.int() }).nullish(),
  }),
  base: z.object({ ref: z.string() }),
});

export const pullFacts = (pull: z.infer<typeof Pull>): PullFacts => ({
  number: pull.number,
  url: pull.html_url,
  draft: pull.draft ?? false,
  head: pull.head.ref,
  headSha: pull.head.sha,
  base: pull.base.ref,
  body: pull.body ?? '',
});

export const PermissionLevel = z.object({
  permission: z.string(),
  role_name: z.string().optional(),
  user: Account.nullish(),
});

/**
 * The role that GitHub names, never above the base permission beside it: organisations can give roles of their own
 * any name.
 */
export function roleOf(level: z.infer<typeof PermissionLevel>): Permission {
  switch (level.permission) {
    case 'admin':
      return 'admin';
    case 'write':
      return level.role_name === 'maintain' ? 'maintain' : 'write';
    case 'read':
      return level.role_name === 'triage' ? 'triage' : 'read';
    default:
      return 'none';
  }
}

export const MintedToken = z.object({
  token: z.string().min(1),
});
