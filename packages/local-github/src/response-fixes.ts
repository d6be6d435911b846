import { okOrThrow } from './emulator.ts';
import { branches, git } from './git.ts';
import { isObject, type Json, type JsonObject, numberAt, objectAt, textAt } from './json.ts';
import { type GitHubState, ownerToken, type Repository } from './state.ts';

/** Puts right, in place, what GitHub always sends and the emulator leaves out or gets wrong. */
export async function fixResponse(state: GitHubState, value: Json): Promise<Json> {
  if (Array.isArray(value)) {
    for (const item of value) await fixResponse(state, item);
  } else if (isObject(value)) {
    for (const [key, inner] of Object.entries(value)) {
      if (typeof inner === 'string') value[key] = repairedText(state, key, inner);
      else if (inner !== undefined) await fixResponse(state, inner);
    }
    repairRepository(value);
    repairCheckRun(state, value);
    repairReview(value);
    repairEvent(value);
    repairComment(state, value);
    // The emulator's mail address of a bot is none that a mail server takes.
    if (value.type === 'Bot' && 'email' in value) value.email = null;
    await repairPull(state, value);
  }
  return value;
}

/** A bot's login has brackets, which a URL may not. */
const repairedText = (state: GitHubState, key: string, text: string): string =>
  key.endsWith('url') && text.startsWith(state.baseUrl)
    ? text.replaceAll('[', '%5B').replaceAll(']', '%5D')
    : text;

function repairRepository(value: JsonObject): void {
  if (!('full_name' in value) || !('clone_url' in value)) return;
  value.pushed_at ??= value.created_at;
  if (!('permissions' in value) || !('forks_count' in value)) return;
  value.network_count ??= value.forks_count;
  value.subscribers_count ??= 0;
}

function repairCheckRun(state: GitHubState, value: JsonObject): void {
  if (!isObject(value.output) || !('annotations_count' in value.output) || !value.url) return;
  value.output.annotations_url = `${textAt(value, 'url')}/annotations`;
  value.details_url ??= value.html_url;
  const others = { ...state.app, ...OTHER_APP };
  value.app = state.ownChecks.has(numberAt(value, 'id') ?? 0) ? state.app : others;
}

/** Whose the check runs are that a user stands in for. */
const OTHER_APP = { id: 15368, slug: 'github-actions', name: 'GitHub Actions' } as const;

/** Links of what is said in a review, and where on the lines it stands. */
function repairReview(value: JsonObject): void {
  if (!('pull_request_url' in value) || !('diff_hunk' in value)) return;
  value._links ??= {
    self: { href: textAt(value, 'url') },
    html: { href: textAt(value, 'html_url') },
    pull_request: { href: textAt(value, 'pull_request_url') },
  };
  // GitHub takes a comment on a whole file for one on its first line.
  value.line ??= 1;
  value.original_line ??= value.line;
  value.position ??= value.line;
  value.original_position ??= value.position;
  if (value.in_reply_to_id === null) delete value.in_reply_to_id;
  value.start_line ??= null;
  value.original_start_line ??= null;
  value.start_side ??= null;
}

/** An event of an issue has only the parts that its kind has. */
function repairEvent(value: JsonObject): void {
  if (!('event' in value) || !('commit_url' in value)) return;
  delete value.issue;
  value.performed_via_github_app ??= null;
  for (const part of ['label', 'assignee', 'milestone', 'rename'])
    if (value[part] === null) delete value[part];
}

function repairComment(state: GitHubState, value: JsonObject): void {
  if (!('issue_url' in value) || !('performed_via_github_app' in value)) return;
  const byApp = textAt(value, 'user', 'login') === `${textAt(state.app, 'slug')}[bot]`;
  if (byApp) value.performed_via_github_app = state.app;
  // The emulator writes a comment twice to create it, and dates the second time as an edit.
  if (!state.edited.has(textAt(value, 'url'))) value.updated_at = value.created_at;
}

/** An open pull request follows its branch, and counts what the branch has over its base. */
async function repairPull(state: GitHubState, value: JsonObject): Promise<void> {
  if ('merged_at' in value && 'head' in value) value.active_lock_reason ??= null;
  const repository = state.repositories.get(textAt(value, 'head', 'repo', 'full_name'));
  if (!repository || !isObject(value.head) || !isObject(value.base)) return;
  const moved =
    value.state === 'open' ? undefined : repository.movedMerges.get(numberAt(value, 'number') ?? 0);
  if (moved) {
    value.head.sha = moved.head;
    if (moved.merge !== '') value.merge_commit_sha = moved.merge;
  }
  if (value.state !== 'open') return;
  const tip = (await branches(repository.directory))[`refs/heads/${textAt(value.head, 'ref')}`];
  if (tip === undefined) return;
  value.head.sha = tip;
  value.statuses_url = `${state.baseUrl}/repos/${repository.fullName}/statuses/${tip}`;
  objectAt(value, '_links', 'statuses').href = value.statuses_url;
  if (!('changed_files' in value)) return;
  const base = `refs/heads/${textAt(value.base, 'ref')}`;
  const rows = (await git(repository.directory, 'diff', '--numstat', `${base}...${tip}`)).split('\n');
  const counts = rows.filter((row) => row !== '').map((row) => row.split('\t'));
  const sum = (column: 0 | 1): number => counts.reduce((total, row) => total + (Number(row[column]) || 0), 0);
  value.changed_files = counts.length;
  value.additions = sum(0);
  value.deletions = sum(1);
  value.commits = Number(await git(repository.directory, 'rev-list', '--count', `${base}..${tip}`));
}

/** A webhook as GitHub would name and fill it. */
export async function fixWebhookPayload(
  state: GitHubState,
  event: string,
  payload: JsonObject,
): Promise<{ readonly event: string; readonly payload: JsonObject }> {
  await fixResponse(state, payload);
  const repository = state.repositories.get(textAt(payload, 'repository', 'full_name'));
  if (!repository) return { event, payload };
  await completeLabel(state, repository, payload);
  if (event === 'issue_comment') await markPull(state, repository, objectAt(payload, 'issue'));
  if (payload.action === 'edited') describeEdit(state, payload);
  if (event === 'pull_request') {
    return { event, payload: { number: numberAt(payload, 'pull_request', 'number'), ...payload } };
  }
  // The emulator calls it an issue when a pull request is labelled.
  if (event === 'issues' && isObject(payload.issue) && 'head' in payload.issue) {
    const { issue, ...rest } = payload;
    return {
      event: 'pull_request',
      payload: { ...rest, number: numberAt(issue, 'number'), pull_request: issue },
    };
  }
  return { event, payload };
}

async function completeLabel(state: GitHubState, repository: Repository, payload: JsonObject): Promise<void> {
  if (!isObject(payload.label) || 'id' in payload.label) return;
  const name = encodeURIComponent(textAt(payload.label, 'name'));
  const path = `/repos/${repository.fullName}/labels/${name}`;
  payload.label = await state.emulator.call('GET', path, ownerToken(state, repository));
}

/** What an edited text said before, which the emulator does not tell. */
function describeEdit(state: GitHubState, payload: JsonObject): void {
  const now = objectAt(payload, ['comment', 'pull_request', 'issue'].find((key) => key in payload) ?? '');
  const before = state.edited.get(textAt(now, 'url')) ?? {};
  const changed = ['title', 'body'].filter((key) => key in now && textAt(now, key) !== textAt(before, key));
  payload.changes = Object.fromEntries(changed.map((key) => [key, { from: textAt(before, key) }]));
}

/** Every pull request is an issue too, and says so; the emulator's does not. */
async function markPull(state: GitHubState, repository: Repository, issue: JsonObject): Promise<void> {
  const pull = await pullAt(state, repository, numberAt(issue, 'number') ?? 0);
  if (pull) Object.assign(issue, issueSideOf(pull));
}

/** A pull request as REST shows it; null when there is none with this number. */
export async function pullAt(
  state: GitHubState,
  repository: Repository,
  number: number,
): Promise<JsonObject | null> {
  const path = `/repos/${repository.fullName}/pulls/${number}`;
  const token = ownerToken(state, repository);
  const pull = await okOrThrow(state.emulator.call('GET', path, token));
  if (!isObject(pull)) return null;
  await fixResponse(state, pull);
  return pull;
}

const issueSideOf = (pull: JsonObject): JsonObject => ({
  html_url: pull.html_url,
  draft: pull.draft,
  pull_request: {
    url: pull.url,
    html_url: pull.html_url,
    diff_url: pull.diff_url,
    patch_url: pull.patch_url,
    merged_at: pull.merged_at,
  },
});

/** The issue that a pull request also is. */
export function pullAsIssue(pull: JsonObject): JsonObject {
  const url = textAt(pull, 'issue_url');
  const kept = Object.fromEntries(ISSUE_FIELDS.map((key) => [key, pull[key]]));
  return {
    ...kept,
    url,
    repository_url: url.replace(/\/issues\/\d+$/, ''),
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    timeline_url: `${url}/timeline`,
    state_reason: null,
    closed_by: null,
    performed_via_github_app: null,
    ...issueSideOf(pull),
  };
}

const ISSUE_FIELDS = [
  'id',
  'node_id',
  'number',
  'title',
  'user',
  'labels',
  'state',
  'locked',
  'assignee',
  'assignees',
  'milestone',
  'comments',
  'created_at',
  'updated_at',
  'closed_at',
  'body',
  'author_association',
] as const;
