import type { GitHubOrigin, RunId } from '../../core/model/index.ts';
import type { DayCaps } from '../../core/policy/index.ts';
import type { DayCap, Refusal } from '../../core/reports/index.ts';
import type { Whose } from '../../ports/index.ts';
import type { World } from '../world.ts';

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
export async function capReached(world: World, origin: GitHubOrigin): Promise<Refusal | null> {
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
export async function takePlace(world: World, origin: GitHubOrigin, runId: RunId): Promise<Refusal | null> {
  for (const one of runCaps(world.ceilings.day, origin)) {
    if (!(await placeIn(world, one, runId))) return refusalOf(origin, one.cap, one.most);
  }
  return null;
}

async function placeIn(world: World, { whose, most }: Cap, runId: RunId): Promise<boolean> {
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
