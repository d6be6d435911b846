import { statfs } from 'node:fs/promises';
import type { PageCommands } from '../commands/index.ts';
import type { Operator } from '../core/settings/index.ts';
import { queuedRuns, type World } from '../runs/index.ts';
import { type InstallationFacts, openSignIn, openWeb, type WebApp } from '../web/index.ts';
import { arenaOf } from './arena.ts';
import { ownVersion } from './connections.ts';
import { apartFromWorkers, unclaimedWork } from './doctor.ts';

const MS_A_DAY = 86_400_000;
/** Faults on the status page. Our default. */
const MAX_FAULTS = 20;

/** The pages of the App, with signing in through GitHub. */
export function openPages(operator: Operator, world: World, commands: PageCommands): WebApp {
  const { pages: settings, github } = operator;
  const { identify, routes } = openSignIn({ world, settings, github, fetch });
  return openWeb({
    world,
    commands,
    identify,
    signIn: routes,
    publicRepositories: settings.publicRepositories,
    arena: arenaOf(operator, world),
    installation: () => installationFacts(operator, world),
    ...(settings.publicUrl === undefined ? {} : { origin: settings.publicUrl }),
  });
}

/** For a server on this machine alone: browsers reach it where it listens. */
export const onOwnAddress = (operator: Operator, publicUrl: string): Operator => ({
  ...operator,
  pages: {
    ...operator.pages,
    publicUrl,
    lacks: operator.pages.lacks.filter((name) => name !== 'PUBLIC_URL'),
  },
});

/** What the status page of the operator shows. */
export async function installationFacts(
  { data, max, ...operator }: Pick<Operator, 'artifacts' | 'data' | 'max'>,
  world: Pick<World, 'clock' | 'diskSpace' | 'store'>,
): Promise<InstallationFacts> {
  const { store, clock, diskSpace } = world;
  const now = clock.now();
  const executors = await store.executors();
  return {
    census: await store.census(),
    queue: await queuedRuns(store),
    executors,
    spentToday: await store.spentSince(now - (now % MS_A_DAY)),
    capDay: max.budgetDay,
    capRepositoryDay: max.budgetRepositoryDay,
    failed: await store.failedRuns(MAX_FAULTS),
    disk: await diskOf(data),
    shortage: diskSpace?.shortage() ?? null,
    unclaimed: [...unclaimedWork(executors), ...apartFromWorkers(executors, operator)],
    version: ownVersion(),
  };
}

const diskOf = (folder: string): Promise<InstallationFacts['disk']> =>
  statfs(folder).then(
    ({ bavail, blocks, bsize }) => ({ free: bavail * bsize, size: blocks * bsize }),
    () => null,
  );
