import { type Actor, asFault, type GitHubOrigin } from '../../core/model/index.ts';
import type { GitHubReader, Permission } from '../../ports/index.ts';
import { handleOf, loadRun, requireGitHub } from '../task.ts';
import { LABEL } from '../view.ts';
import type { World } from '../world.ts';
import { sayRefused } from './refuse.ts';
import type { RunRequest } from './request.ts';

const MAY_WRITE: ReadonlySet<Permission> = new Set(['admin', 'maintain', 'write']);

/** Did somebody with the right to write ask for this run? Until that is known, nothing is said in public (I4, I9). Faults: GITHUB_UNAVAILABLE. */
export async function permit(world: World, request: RunRequest): Promise<'go' | 'refused'> {
  const run = await loadRun(world, request.runId);
  const { origin } = run;
  if (run.state === 'refused') return 'refused';
  if (run.state !== 'queued' || origin.kind === 'local') return 'go';
  const reader = await requireGitHub(world).reader(handleOf(origin));
  const right = await rightOf(reader, origin.requestedBy);
  const { login } = origin.requestedBy;
  if (right === 'write') {
    if (!(await isSetByApp(reader, origin, request))) return 'go';
    await sayRefused(world, request, origin, { kind: 'set-by-app', login });
    return 'refused';
  }
  await sayRefused(world, request, origin, { kind: 'no-permission', login, mayLabel: right === 'label' });
  return 'refused';
}

/** The delivery of a label does not tell whether an App set it in a person's name; the issue's events do. */
async function isSetByApp(
  reader: GitHubReader,
  { issue }: GitHubOrigin,
  { trigger }: RunRequest,
): Promise<boolean> {
  if (trigger !== 'label') return false;
  const last = await reader.labelChange(issue, LABEL);
  return last?.how === 'set' && last.throughApp;
}

/**
 * Asks GitHub now what this person may do. `label`: may set labels, but not start or steer anything. A refusal means no
 * right (I4). While GitHub does not answer, nothing is decided: GITHUB_UNAVAILABLE.
 */
async function rightOf(reader: GitHubReader, actor: Actor): Promise<'write' | 'label' | 'none'> {
  try {
    const permission = await reader.permission(actor);
    if (MAY_WRITE.has(permission)) return 'write';
    return permission === 'triage' ? 'label' : 'none';
  } catch (thrown) {
    if (asFault(thrown).code === 'GITHUB_REFUSED') return 'none';
    throw thrown;
  }
}

/**
 * GitHub's author associations of people who probably may write. Only for deciding who is looked up first: a member may
 * have no write permission here, and somebody whose membership is private is not named a member.
 */
const LIKELY_WRITERS: ReadonlySet<string> = new Set(['OWNER', 'MEMBER', 'COLLABORATOR']);
export const isLikelyWriter = (association: string | undefined): boolean =>
  LIKELY_WRITERS.has(association ?? '');

/** May this person start and steer runs now? A refusal means no (I4). Faults: GITHUB_UNAVAILABLE. */
export const mayWrite = async (reader: GitHubReader, actor: Actor): Promise<boolean> =>
  (await rightOf(reader, actor)) === 'write';
