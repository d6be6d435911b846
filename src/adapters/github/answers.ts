import { z } from 'zod';
import type {
  CommentFacts,
  IssueFacts,
  Permission,
  PullDetails,
  PullFacts,
  Remark,
} from '../../ports/index.ts';

// Only the fields that we need, of what GitHub describes in its OpenAPI document. Anything else than these shapes is a
// fault, not a guess.

const Sha = z.string().regex(/^[0-9a-f]{40}$/);
const Time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
export const Account = z.object({ id: z.int().positive(), login: z.string().min(1), type: z.string() });

/** Shown in place of deleted accounts. */
const GHOST = { id: 0, login: 'ghost', type: 'User' } as const;

export type Repository = z.infer<typeof Repository>;
export const Repository = z.object({
  id: z.int(),
  full_name: z.string().regex(/^[\w.-]+\/[\w.-]+$/),
  private: z.boolean(),
  archived: z.boolean(),
  default_branch: z.string().min(1),
  html_url: z.string(),
});

export const IssueAnswer = z
  .object({
    number: z.int(),
    title: z.string(),
    body: z.string().nullish(),
    state: z.string(),
    locked: z.boolean(),
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
      locked: issue.locked,
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

/** When anything about an issue changed last. */
export const Touched = z.object({ updated_at: Time }).transform(({ updated_at }) => updated_at);

/** The GraphQL id of a REST object. */
export const NodeId = z.object({ node_id: z.string().min(1) });

/** The App itself; the login of its account is derived from the slug. */
export const OwnApp = z.object({ slug: z.string().min(1) });

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

/** A file of a pull request; the second name is that of a renamed file before. */
export const ChangedFile = z.object({ filename: z.string(), previous_filename: z.string().optional() });

export const pullFacts = (pull: z.infer<typeof Pull>): PullFacts => ({
  number: pull.number,
  url: pull.html_url,
  draft: pull.draft ?? false,
  head: pull.head.ref,
  headSha: pull.head.sha,
  base: pull.base.ref,
  body: pull.body ?? '',
});

export const PullWithSource = Pull.extend({
  title: z.string(),
  state: z.string(),
  merged_at: z.string().nullish(),
  merge_commit_sha: Sha.nullish(),
  user: Account.nullish(),
});

export const pullDetails = (pull: z.infer<typeof PullWithSource>): PullDetails => ({
  ...pullFacts(pull),
  title: pull.title,
  author: actor(pull.user ?? GHOST),
  state: pull.merged_at ? 'merged' : pull.state === 'open' ? 'open' : 'closed',
  headRepositoryId: pull.head.repo?.id ?? null,
  // Of an open one it is the commit of a trial merge.
  ...(pull.merged_at && pull.merge_commit_sha ? { mergeSha: pull.merge_commit_sha } : {}),
});

/** Null for a review without text, and for a pending one. */
export const Review = z
  .object({
    user: Account.nullish(),
    author_association: z.string(),
    body: z.string().nullish(),
    submitted_at: Time.nullish(),
  })
  .transform(({ user, author_association: association, body, submitted_at: madeAt }): Remark | null => {
    if (!body || madeAt === null || madeAt === undefined) return null;
    return { ...writtenBy(user), association, body, createdAt: madeAt, updatedAt: madeAt };
  });

export const ReviewComment = z
  .object({
    user: Account.nullish(),
    author_association: z.string(),
    body: z.string(),
    path: z.string(),
    line: z.int().positive().nullish(),
    subject_type: z.string().nullish(),
    created_at: Time,
    updated_at: Time,
  })
  .transform((comment): Remark => {
    const { user, author_association: association, body, path, line, subject_type } = comment;
    // A comment on a whole file has a line too, which is meaningless.
    const at = line && subject_type !== 'file' ? { path, line } : { path };
    const times = { createdAt: comment.created_at, updatedAt: comment.updated_at };
    return { ...writtenBy(user), association, body, ...at, ...times };
  });

function writtenBy(user: z.infer<typeof Account> | null | undefined) {
  const author = user ?? GHOST;
  return { author: actor(author), authorIsBot: author.type !== 'User' };
}

/** An event of an issue, reduced to what concerns labels. */
export const IssueEvent = z.object({
  event: z.string(),
  actor: Account.nullish(),
  created_at: Time,
  performed_via_github_app: z.object({ id: z.int() }).nullish(),
  label: z.object({ name: z.string().nullish() }).nullish(),
});

export const CheckRunAnswer = z.object({
  id: z.int(),
  name: z.string(),
  external_id: z.string().nullish(),
  conclusion: z.string().nullish(),
  app: z.object({ id: z.int() }).nullish(),
  output: z.object({ title: z.string().nullish(), summary: z.string().nullish() }).nullish(),
});

export const Status = z.object({
  context: z.string(),
  state: z.string(),
  description: z.string().nullish(),
});

export const Ref = z.object({ object: z.object({ type: z.string(), sha: Sha }) });

export const Installation = z.object({
  id: z.int().positive(),
  created_at: Time,
  suspended_at: z.string().nullish(),
});

export const InstalledRepositoryAnswer = z.object({
  id: z.int().positive(),
  name: z.string().min(1),
  owner: z.object({ login: z.string().min(1) }),
});

export const PermissionLevel = z.object({
  permission: z.string(),
  role_name: z.string().optional(),
  user: Account.nullish(),
});

/** The role that GitHub reports, limited to the base permission: organisations can give custom roles any name. */
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
