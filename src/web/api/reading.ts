import { fullNameOf, type RunId } from '../../core/model/index.ts';
import { pickOf } from '../../core/ranking/index.ts';
import { decisionRecord, runDocument } from '../../core/reports/index.ts';
import type { TokenVerb } from '../../core/tokens/index.ts';
import type { ListedRun, RepositoryHandle, RunFilter } from '../../ports/index.ts';
import { readPatch, shownWork, unlessDamaged, viewOf } from '../../runs/index.ts';
import type { WebParts } from '../context.ts';
import { listCursor, readListCursor } from '../list-cursor.ts';
import type { LivePages } from '../live/index.ts';
import type { Caller, Callers } from './callers.ts';
import { ApiProblem, invalidRequest, notThere } from './problems.ts';
import type { RunSummary } from './schemas.ts';

/** What the API needs of the server. */
export interface ApiParts extends Pick<WebParts, 'access' | 'commands' | 'world'> {
  readonly callers: Callers;
  readonly live: Pick<LivePages, 'follow'>;
}

export interface RepositoryName {
  readonly owner: string;
  readonly repo: string;
}

export interface ReachedRepository {
  readonly caller: Caller;
  readonly repository: RepositoryHandle;
}

/**
 * The caller, and the repository if they may use it in this way. What the token does not reach, and what the person may
 * not see now, does not exist.
 */
export async function admitCaller(
  parts: Pick<ApiParts, 'access' | 'callers'>,
  request: Request,
  place: RepositoryName,
  verb: TokenVerb,
): Promise<ReachedRepository> {
  return reach(parts, await parts.callers.callerOf(request), place, verb);
}

/** What `admitCaller` finds out about a caller. */
export async function reach(
  { access }: Pick<ApiParts, 'access'>,
  caller: Caller,
  { owner, repo }: RepositoryName,
  verb: TokenVerb,
): Promise<ReachedRepository> {
  const repository = await caller.find(owner, repo, verb === 'read' ? 'lately' : 'now');
  const right = repository ? await access.right(caller.viewer, repository) : 'none';
  if (!repository || right === 'none') throw notThere();
  const why = caller.whyNot(verb);
  if (why !== null) throw new ApiProblem('verb-missing', why);
  if (verb !== 'read' && right !== 'write') throw readerOnly(caller.viewer.login, repository);
  return { caller, repository };
}

export const readerOnly = (login: string, repository: RepositoryHandle): ApiProblem =>
  new ApiProblem(
    'write-access-missing',
    `${login} may read ${fullNameOf(repository)}, and has no write access to it. Ask somebody who has.`,
  );

/** Runs on a page if the request does not say. Our default. */
const USUAL_PAGE = 30;

interface ListParameters {
  readonly state?: ListedRun['state'] | undefined;
  readonly by?: string | undefined;
  readonly q?: string | undefined;
  readonly limit?: string | undefined;
  readonly cursor?: string | undefined;
}

/** One page of the runs of a repository. */
export async function pageOfRuns(
  { world }: Pick<ApiParts, 'world'>,
  { repositoryId }: RepositoryHandle,
  { state, by, q, limit, cursor }: ListParameters,
): Promise<{ readonly runs: RunSummary[]; readonly next: string | null }> {
  const size = limit === undefined ? USUAL_PAGE : Number(limit);
  const after = cursor === undefined ? undefined : readListCursor(cursor);
  if (after === null)
    throw invalidRequest([{ field: 'query.cursor', message: 'Send `next` of the page before, unchanged.' }]);
  const filter: RunFilter = {
    of: [repositoryId],
    limit: size + 1,
    ...(state ? { states: [state] } : {}),
    ...(by ? { by } : {}),
    ...(q ? { text: q } : {}),
    ...(after ? { after } : {}),
  };
  const found = await world.store.listRuns(filter);
  const shown = found.slice(0, size);
  const last = shown.at(-1);
  return {
    runs: shown.flatMap(runSummaries),
    next: last && found.length > size ? listCursor(last) : null,
  };
}

function runSummaries({ id, origin, title, state, decision, pick, usd, ...times }: ListedRun): RunSummary[] {
  if (origin.kind !== 'github') return [];
  return [
    {
      id,
      issue: { repository: fullNameOf(origin), number: origin.issue, title },
      state,
      requestedBy: origin.requestedBy.login,
      candidate: pick ? pick.alias : pickOf(decision),
      confidence: decision?.kind === 'winner' ? decision.confidence : null,
      usd,
      createdAt: times.createdAt,
      updatedAt: times.updatedAt,
    },
  ];
}

/** Whether the run is one of the repository. */
export async function isRunOf(
  { world }: Pick<ApiParts, 'world'>,
  { repositoryId }: RepositoryHandle,
  id: RunId,
): Promise<boolean> {
  const origin = await world.store.originOf(id);
  return origin?.kind === 'github' && origin.repositoryId === repositoryId;
}

async function recordIn(parts: Pick<ApiParts, 'world'>, repository: RepositoryHandle, id: RunId) {
  const run = (await isRunOf(parts, repository, id)) ? await parts.world.store.run(id) : null;
  if (!run) throw notThere();
  return run;
}

export async function runIn(parts: Pick<ApiParts, 'world'>, repository: RepositoryHandle, id: RunId) {
  const view = await viewOf(parts.world, await recordIn(parts, repository, id));
  const record = decisionRecord(view);
  // The server does not ask GitHub for these: an empty list would say that there are none.
  const { comments: _comments, issueLabels: _labels, ...document } = runDocument(view);
  return { ...document, explanation: record && { ...record } };
}

/** The text of a candidate's patch, every byte of it. */
export async function patchText(
  parts: Pick<ApiParts, 'world'>,
  repository: RepositoryHandle,
  id: RunId,
  alias: string,
): Promise<string> {
  const run = await recordIn(parts, repository, id);
  const { candidates } = await shownWork(parts.world.store, run);
  const patch = candidates.find((one) => one.alias === alias)?.patch;
  const found = patch ? await unlessDamaged(readPatch(parts.world.artifacts, patch)) : null;
  if (!found) throw notThere();
  return found.text;
}
