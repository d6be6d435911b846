import { Fault, type GitHubOrigin, isOver, type RunId, type Sha } from '../../core/model/index.ts';
import type { DayCap, Refusal } from '../../core/reports/index.ts';
import type { DayCaps } from '../../core/settings/index.ts';
import type { GitHubReader, RepositoryFacts, RepositorySource, Whose } from '../../ports/index.ts';
import type { World } from '../context.ts';
import type { Refused } from './request.ts';

const DAY_MS = 86_400_000;

/** Number of the day (UTC) since 1970. */
export const dayOf = (at: number): number => Math.floor(at / DAY_MS);

interface Cap {
  readonly cap: DayCap;
  readonly whose: Whose;
  readonly most: number;
}

/** The narrowest first: whoever has reached theirs takes no place from others. */
const runCaps = (day: DayCaps, origin: GitHubOrigin): readonly Cap[] => [
  { cap: 'runs-user', whose: { kind: 'user', id: origin.requestedBy.id }, most: day.runsOfUser },
  {
    cap: 'runs-repository',
    whose: { kind: 'repository', id: origin.repositoryId },
    most: day.runsOfRepository,
  },
  {
    cap: 'runs-installation',
    whose: { kind: 'installation', id: origin.installationId },
    most: day.runsOfInstallation,
  },
];

/** US dollars. A repository's day and the whole day are held by the gateway. */
const budgetCaps = (day: DayCaps, origin: GitHubOrigin): readonly Cap[] => [
  { cap: 'budget-user', whose: { kind: 'user', id: origin.requestedBy.id }, most: day.budgetOfUser },
  {
    cap: 'budget-installation',
    whose: { kind: 'installation', id: origin.installationId },
    most: day.budgetOfInstallation,
  },
];

const refusalOf = ({ requestedBy }: GitHubOrigin, cap: DayCap, most: number): Refusal => ({
  kind: 'cap-reached',
  cap,
  most,
  login: requestedBy.login,
});

/** The first cap of this day (UTC) that the run's repository, installation or asker has reached; null when there is none. */
async function capReached(
  world: Pick<World, 'ceilings' | 'clock' | 'store'>,
  origin: GitHubOrigin,
): Promise<Refusal | null> {
  const { day } = world.ceilings;
  const midnight = dayOf(world.clock.now()) * DAY_MS;
  for (const { cap, whose, most } of runCaps(day, origin)) {
    if ((await world.store.startedSince(midnight, whose)) >= most) return refusalOf(origin, cap, most);
  }
  for (const { cap, whose, most } of budgetCaps(day, origin)) {
    if ((await world.store.spentBySince(midnight, whose)) >= most) return refusalOf(origin, cap, most);
  }
  return null;
}

/**
 * Takes one of the day's places for a run that is about to start. Runs that are admitted at the same moment have all
 * counted too few: each place is an intent of its own, so it is taken once.
 */
export async function reserveCapacity(
  world: Pick<World, 'ceilings' | 'clock' | 'store'>,
  origin: GitHubOrigin,
  runId: RunId,
): Promise<Refusal | null> {
  for (const one of runCaps(world.ceilings.day, origin)) {
    if (!(await capacityFor(world, one, runId))) return refusalOf(origin, one.cap, one.most);
  }
  return null;
}

async function capacityFor(
  world: Pick<World, 'clock' | 'store'>,
  { whose, most }: Cap,
  runId: RunId,
): Promise<boolean> {
  const day = dayOf(world.clock.now());
  const scope = `day:${day}:${whose.kind}:${whose.id}`;
  for (let place = await world.store.startedSince(day * DAY_MS, whose); place < most; place++) {
    const key = `place:${place}`;
    const { fresh, intent } = await world.store.intend(scope, key);
    if (fresh) await world.store.fulfil(scope, key, runId);
    if (fresh || (intent.state === 'done' && intent.result === runId)) return true;
  }
  return false;
}

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
async function capacityRefusal(
  world: Pick<World, 'ceilings' | 'clock' | 'store'>,
  origin: GitHubOrigin,
  self: RunId,
): Promise<Refusal | null> {
  const other = await activeRun(world, origin, self);
  return other ? { kind: 'already-running', run: other } : capReached(world, origin);
}

/** The oldest run that is at work on the issue goes on; a younger one is refused. */
async function activeRun(
  world: Pick<World, 'store'>,
  origin: GitHubOrigin,
  self: RunId,
): Promise<RunId | null> {
  const living = await world.store.activeRuns(origin.repositoryId, origin.issue);
  const oldest = living.find((run) => !isOver(run.state));
  return oldest && oldest.id !== self ? oldest.id : null;
}

/** Where settings are read from; null where the repository has no commit yet. */
const settingsCommitOf = (
  world: Pick<World, 'workspaces'>,
  source: RepositorySource,
  { defaultBranch }: RepositoryFacts,
): Promise<Sha | null> => world.workspaces.resolve(source, defaultBranch);

/** What a run on GitHub starts from, whatever its task is. */
interface RepositoryAccess {
  readonly kind: 'ground';
  readonly source: RepositorySource;
  readonly defaultBranch: string;
  /** Commit whose settings and instructions hold. */
  readonly rules: Sha;
}

/** Checks the repository, then what the caller finds `unfit`, then the room for one more run. */
export async function repositoryAccess(
  world: Pick<World, 'ceilings' | 'clock' | 'store' | 'workspaces'>,
  {
    origin,
    reader,
    self,
  }: { readonly origin: GitHubOrigin; readonly reader: GitHubReader; readonly self: RunId },
  unfit: () => Promise<Refusal | null>,
): Promise<RepositoryAccess | Refused> {
  const facts = await repositoryFor(reader, origin);
  if (facts.archived) return refused({ kind: 'archived' });
  const refusal = (await unfit()) ?? (await capacityRefusal(world, origin, self));
  if (refusal) return refused(refusal);
  const source = sourceFor(facts, reader);
  const { defaultBranch } = facts;
  const rules = await settingsCommitOf(world, source, facts);
  if (!rules) return refused({ kind: 'repository-empty', branch: defaultBranch });
  return { kind: 'ground', source, defaultBranch, rules };
}
