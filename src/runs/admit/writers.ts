import { type Actor, asFault, type GitHubOrigin } from '../../core/model/index.ts';
import { counted, type Refusal } from '../../core/reports/index.ts';
import type { GitHubReader, Permission, RunRecord } from '../../ports/index.ts';
import { handleOf, requireGitHub, type World } from '../context.ts';
import { LABEL } from '../view.ts';
import { reportRefusal } from './refuse.ts';
import type { RunRequest } from './request.ts';

/** Maximum number of writers' comments in a task; the newest are kept. Our default. */
const MAX_COMMENTS = 200;
/** Maximum number of pages (of 100) read from one list: GitHub allows at most 2,500 comments on an issue. */
const MAX_PAGES = 25;
/**
 * Maximum number of people whose permission is looked up for one task: likely writers (`isLikelyWriter`), and all
 * others. Our defaults.
 */
const MAX_LOOKUPS = { likely: 60, others: 30 } as const;

interface WriterComment {
  readonly author: Actor;
  readonly authorIsBot: boolean;
  readonly association: string;
  /** Milliseconds since 1970 UTC. */
  readonly updatedAt: number;
}

/** Filters comments by people with write access. */
interface WriterComments {
  /**
   * Comments made before `before`, without bots and later edits (I5), by authors who currently have write access (I4);
   * oldest first. Reads pages, which are newest first, until there is enough. Faults: GITHUB_UNAVAILABLE.
   */
  among<T extends WriterComment>(pages: AsyncIterable<readonly T[]>, before: number): Promise<readonly T[]>;
  /** Comments omitted because of a limit, one sentence each. */
  leftOut(): readonly string[];
}

export function openWriterComments(reader: GitHubReader): WriterComments {
  const people = openPermissionLookup(reader);
  let older = false;

  async function among<T extends WriterComment>(pages: AsyncIterable<readonly T[]>, before: number) {
    let found: readonly T[] = [];
    let read = 0;
    for await (const page of pages) {
      // There is at least one more page or comment.
      if (read === MAX_PAGES || found.length >= MAX_COMMENTS) {
        older = true;
        break;
      }
      read += 1;
      const byPeople = page.filter((one) => !one.authorIsBot && one.updatedAt <= before);
      await people.lookUp(byPeople);
      found = [...byPeople.filter(({ author }) => people.mayWrite(author)), ...found];
    }
    older ||= found.length > MAX_COMMENTS;
    return found.slice(-MAX_COMMENTS);
  }
  return {
    among,
    leftOut: () => [
      ...(people.unasked() > 0
        ? [
            `Comments by ${counted(people.unasked(), 'person', 'people')} were left out: too many other people commented, so their permission was not checked.`,
          ]
        : []),
      ...(older ? [`Comments older than the newest ${MAX_COMMENTS} by writers were left out.`] : []),
    ],
  };
}

/** Looks up each person once, likely writers first; they have a separate quota, which strangers cannot exhaust. */
function openPermissionLookup(reader: GitHubReader) {
  const known = new Map<number, boolean>();
  const unasked = new Set<number>();
  const left: { likely: number; others: number } = { ...MAX_LOOKUPS };

  async function lookUpOne({ author, association }: WriterComment): Promise<void> {
    if (known.has(author.id)) return;
    const kind = isLikelyWriter(association) ? 'likely' : 'others';
    if (left[kind] === 0) {
      unasked.add(author.id);
      return;
    }
    left[kind] -= 1;
    unasked.delete(author.id);
    known.set(author.id, await mayWrite(reader, author));
  }
  return {
    async lookUp(comments: readonly WriterComment[]): Promise<void> {
      const newestFirst = comments.toReversed();
      for (const one of newestFirst) if (isLikelyWriter(one.association)) await lookUpOne(one);
      for (const one of newestFirst) await lookUpOne(one);
    },
    mayWrite: ({ id }: Actor): boolean => known.get(id) === true,
    unasked: (): number => unasked.size,
  };
}

export const MAY_WRITE: ReadonlySet<Permission> = new Set(['admin', 'maintain', 'write']);

/** Checks that the requester has write access. Until then, nothing is posted (I4, I9). Faults: GITHUB_UNAVAILABLE. */
export async function permit(
  world: Pick<World, 'clock' | 'github' | 'log' | 'store'>,
  run: RunRecord,
  request: RunRequest,
): Promise<'go' | 'refused'> {
  const { origin } = run;
  if (run.state === 'refused') return 'refused';
  if (run.state !== 'queued' || origin.kind === 'local') return 'go';
  const reader = await requireGitHub(world).reader(handleOf(origin));
  const refusal = (await whyNotPermitted(reader, origin)) ?? (await setByApp(reader, origin, request));
  if (refusal === null) return 'go';
  await reportRefusal(world, request, origin, refusal);
  return 'refused';
}

/** Null if the requester currently has write access. Faults: GITHUB_UNAVAILABLE. */
export async function whyNotPermitted(
  reader: GitHubReader,
  { requestedBy }: GitHubOrigin,
): Promise<Refusal | null> {
  const right = await rightOf(reader, requestedBy);
  if (right === 'write') return null;
  return { kind: 'no-permission', login: requestedBy.login, mayLabel: right === 'label' };
}

/** The webhook of a label does not say whether an App set it on a person's behalf; the issue's events do. */
async function setByApp(
  reader: GitHubReader,
  { issue, requestedBy }: GitHubOrigin,
  { trigger }: RunRequest,
): Promise<Refusal | null> {
  if (trigger !== 'label') return null;
  const last = await reader.labelChange(issue, LABEL);
  return last?.how === 'set' && last.throughApp ? { kind: 'set-by-app', login: requestedBy.login } : null;
}

/**
 * Queries a person's current permission. `label`: may set labels, but not start or control runs. A refusal by GitHub
 * means no permission (I4). Faults with GITHUB_UNAVAILABLE if GitHub does not respond.
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
 * GitHub's author associations of people who probably have write access. Only determines who is looked up first: a
 * member may lack write access, and private members are not marked as members.
 */
const LIKELY_WRITERS: ReadonlySet<string> = new Set(['OWNER', 'MEMBER', 'COLLABORATOR']);
export const isLikelyWriter = (association: string | undefined): boolean =>
  LIKELY_WRITERS.has(association ?? '');

/**
 * Whether a person may currently start and control runs. A refusal by GitHub means no (I4). Faults: GITHUB_UNAVAILABLE.
 */
export const mayWrite = async (reader: GitHubReader, actor: Actor): Promise<boolean> =>
  (await rightOf(reader, actor)) === 'write';
