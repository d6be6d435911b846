import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { leaderboardOf, WORK_KINDS, type WorkKind } from '../core/learning/index.ts';
import { Fault } from '../core/model/index.ts';
import { keepDueOutcomes, type World } from '../runs/index.ts';
import { EXIT, type Shell } from '../shell.ts';
import { jsonOption } from './options.ts';
import { jsonText, leaderboardText } from './render/index.ts';

interface LeaderboardFlags {
  readonly repo?: string;
  readonly kind?: WorkKind;
  readonly json?: boolean;
}

/** Runs that are read of what is selected; the newest count. Our default. */
const MAX_RUNS = 5_000;
/** Columns of a report that does not go to a terminal. */
const DEFAULT_WIDTH = 100;

/** `runoff leaderboard`: which contestants win, from the outcomes of all runs, deleted ones included. */
export function addLeaderboard(program: Command, shell: Shell, done: (code: number) => void): void {
  program
    .command('leaderboard')
    .description('compare contestants by what became of their candidates')
    .option('--repo <repository>', 'only this repository: OWNER/NAME, or the path of a local one')
    .addOption(new Option('--kind <kind>', 'only this kind of work').choices(WORK_KINDS))
    .addOption(jsonOption())
    .addHelpText('after', '\ndocs/learning.md explains the columns.')
    .action(async (flags: LeaderboardFlags) => done(await showLeaderboard(shell, flags)));
}

async function showLeaderboard(shell: Shell, { repo, kind, json }: LeaderboardFlags): Promise<number> {
  const { world, close } = await shell.open({ role: 'reader' });
  try {
    await keepDueOutcomes(world);
    const [key] = repo === undefined ? [] : await repositoriesNamed(world, repo, shell.cwd);
    const outcomes = await world.store.outcomes({
      ...(key === undefined ? {} : { repositories: [key] }),
      runs: MAX_RUNS,
    });
    const leaderboard = leaderboardOf(outcomes.filter((one) => kind === undefined || one.kind === kind));
    const { screen } = shell;
    if (json) screen.out(`${jsonText({ ...leaderboard, kind: kind ?? null })}\n`);
    else {
      const lines = leaderboardText(leaderboard, {
        width: screen.width ?? DEFAULT_WIDTH,
        colour: screen.outColour,
        ...(kind ? { kind } : {}),
      });
      screen.out(`${lines.join('\n')}\n`);
    }
    return EXIT.done;
  } finally {
    await close();
  }
}

interface Places {
  readonly store: Pick<World['store'], 'outcomeRepositories'>;
  readonly workspaces: { describe(path: string): Promise<{ readonly top: string }> };
}

/**
 * Keys of the repositories of which outcomes are kept under this name, the one whose run under it is newest first: by
 * `OWNER/NAME`, ignoring case, by key, or by a path in a local one. A repository that was renamed is found by each of
 * its names, and a name that passed to another repository names both. Fault: REPOSITORY_UNKNOWN.
 */
export async function repositoriesNamed(
  { store, workspaces }: Places,
  asked: string,
  cwd: string,
): Promise<readonly [string, ...string[]]> {
  const known = await store.outcomeRepositories();
  const keysOf = (isNamed: (one: (typeof known)[number]) => boolean) => [
    ...new Set(known.filter(isNamed).map(({ repository }) => repository)),
  ];
  const [first, ...others] = keysOf(
    ({ repository, repositoryName }) =>
      repository === asked || repositoryName.toLowerCase() === asked.toLowerCase(),
  );
  if (first !== undefined) return [first, ...others];
  const top = await workspaces.describe(resolve(cwd, asked)).then(
    (found) => found.top,
    () => null,
  );
  const [local] = keysOf(({ repositoryName }) => repositoryName === top);
  if (local !== undefined) return [local];
  const names = [...new Set(known.map(({ repositoryName }) => repositoryName))].toSorted();
  const which =
    names.length === 0
      ? 'there are none of any repository yet'
      : `there are some of ${names.slice(0, 10).join(', ')}`;
  throw new Fault('REPOSITORY_UNKNOWN', `No outcomes of ${asked} are kept; ${which}.`);
}
