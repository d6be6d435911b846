import { isOver } from '../../core/lifecycle/index.ts';
import { Fault, type GitHubOrigin, type RunId, type Sha } from '../../core/model/index.ts';
import type { Refusal } from '../../core/reports/index.ts';
import type { GitHubReader, RepositoryFacts, RepositorySource } from '../../ports/index.ts';
import type { World } from '../world.ts';
import { capReached } from './caps.ts';
import type { Refused } from './index.ts';

export const refused = (refusal: Refusal): Refused => ({ kind: 'refused', refusal });

/** The repository that the run was asked for: by its number, whatever it is called by now. */
async function repositoryFor(reader: GitHubReader, origin: GitHubOrigin): Promise<RepositoryFacts> {
  const facts = await reader.repository();
  if (facts.id === origin.repositoryId) return facts;
  throw new Fault(
    'GITHUB_REFUSED',
    `${facts.fullName} is no longer the repository that this run was started for.`,
  );
}

const sourceFor = (facts: RepositoryFacts, reader: GitHubReader): RepositorySource => ({
  kind: 'remote',
  url: facts.cloneUrl,
  credential: () => reader.credential(),
});

/** Whether there is room for one more run: nobody is at work here, and no cap of the day is reached. */
async function noRoom(world: World, origin: GitHubOrigin, self: RunId): Promise<Refusal | null> {
  const other = await livingRun(world, origin, self);
  return other ? { kind: 'already-running', run: other } : capReached(world, origin);
}

/** The oldest run that is at work on the issue goes on; a younger one is refused. */
async function livingRun(world: World, origin: GitHubOrigin, self: RunId): Promise<RunId | null> {
  const living = await world.store.livingRuns(origin.repositoryId, origin.issue);
  const oldest = living.find((run) => !isOver(run.state));
  return oldest && oldest.id !== self ? oldest.id : null;
}

/** Where settings are read from; null where the repository has no commit yet. */
const rulesOf = (
  world: World,
  source: RepositorySource,
  { defaultBranch }: RepositoryFacts,
): Promise<Sha | null> => world.workspaces.resolve(source, defaultBranch);

/** What a run on GitHub starts from, whatever its task is. */
export interface Ground {
  readonly kind: 'ground';
  readonly source: RepositorySource;
  readonly defaultBranch: string;
  /** Commit whose settings and instructions hold. */
  readonly rules: Sha;
}

/** Checks the repository, then what the caller finds `unfit`, then the room for one more run. */
export async function groundFor(
  world: World,
  {
    origin,
    reader,
    self,
  }: { readonly origin: GitHubOrigin; readonly reader: GitHubReader; readonly self: RunId },
  unfit: () => Promise<Refusal | null>,
): Promise<Ground | Refused> {
  const facts = await repositoryFor(reader, origin);
  if (facts.archived) return refused({ kind: 'archived' });
  const refusal = (await unfit()) ?? (await noRoom(world, origin, self));
  if (refusal) return refused(refusal);
  const source = sourceFor(facts, reader);
  const { defaultBranch } = facts;
  const rules = await rulesOf(world, source, facts);
  if (!rules) return refused({ kind: 'repository-empty', branch: defaultBranch });
  return { kind: 'ground', source, defaultBranch, rules };
}
