import {
  type GitHubOrigin,
  type ListedPull,
  type OpenPull,
  type Overlaps,
  overlapsOf,
  type RunId,
} from '../core/model/index.ts';
import { branchPrefix, elapsed } from '../core/reports/index.ts';
import type { GitHubReader } from '../ports/index.ts';
import { handleOf, requireGitHub, type World } from './context.ts';

/**
 * Open pull requests that are compared with a run, and milliseconds for reading them. Our defaults: each may take a
 * request, and an installation has 5,000 an hour.
 */
const MAX_PULLS = 30;
export const READ_MS = 15_000;

type OverlapPorts = Pick<World, 'clock' | 'github' | 'log'>;

/** Compares files with the open pull requests that were read before. */
export type CompareWithOpenPulls = (files: readonly string[]) => Overlaps;

/**
 * Reads the open pull requests of the run's own repository, with the token of that repository. Never rejects: what could
 * not be read is said in the result. `signal`: the result is not needed any more.
 */
export async function readOpenPulls(
  world: OverlapPorts,
  { id, origin }: { readonly id: RunId; readonly origin: GitHubOrigin },
  signal?: AbortSignal,
): Promise<CompareWithOpenPulls> {
  const { clock, log } = world;
  const pulls: OpenPull[] = [];
  const done = new AbortController();
  let missing: string | null = null;
  try {
    const reader = await requireGitHub(world).reader(handleOf(origin));
    const ended = AbortSignal.any([done.signal, ...(signal ? [signal] : [])]);
    const timeUp = clock.sleep(READ_MS, ended).then(() => 'time up' as const);
    const others = async () => (await reader.openPulls()).filter((listed) => !isOwn(listed, id, origin));
    missing = await Promise.race([readInto(pulls, reader, others, ended), timeUp]).then((end) =>
      end === 'time up'
        ? `Not all open pull requests were compared: GitHub took longer than ${elapsed(READ_MS)} to list their files.`
        : end,
    );
  } catch (thrown) {
    log.warn({ run: id, err: thrown }, 'the open pull requests could not be read');
    // GitHub's own words are for the log: everybody reads the brief.
    missing = 'Not all open pull requests were compared, because GitHub did not list all of their files.';
  } finally {
    done.abort();
  }
  const read = [...pulls];
  return (files) => overlapsOf(files, read, missing);
}

/** Returns why it did not read them all, as a sentence; null if it did. */
async function readInto(
  pulls: OpenPull[],
  reader: Pick<GitHubReader, 'pullFiles'>,
  list: () => Promise<readonly ListedPull[]>,
  signal: AbortSignal,
): Promise<string | null> {
  if (signal.aborted) return null;
  const open = await list();
  for (const pull of open.slice(0, MAX_PULLS)) {
    if (signal.aborted) return null;
    pulls.push({ ...pull, ...(await reader.pullFiles(pull.number)) });
  }
  return open.length > MAX_PULLS
    ? `Only the ${MAX_PULLS} open pull requests that changed last were compared.`
    : null;
}

/** The run's own result, and the pull request that it works on. A fork may have a branch of the same name. */
const isOwn = (
  { number, head, headRepositoryId }: ListedPull,
  id: RunId,
  { issue, work, repositoryId }: GitHubOrigin,
): boolean =>
  (work !== undefined && number === issue) ||
  (headRepositoryId === repositoryId && head.startsWith(branchPrefix(issue, id)));
