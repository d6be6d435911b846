import { type Command, Option } from 'commander';
import { type CandidateOutcome, leaderboardOf, WORK_KINDS, type WorkKind } from '../core/learning/index.ts';
import { Fault } from '../core/model/index.ts';
import { keepDueOutcomes } from '../runs/index.ts';
import { EXIT, type Shell } from '../shell.ts';
import { jsonOption } from './options.ts';
import { jsonText, leaderboardText } from './render/index.ts';

interface LeaderboardFlags {
  readonly repo?: string;
  readonly kind?: WorkKind;
  readonly json?: boolean;
}

/** Runs that are read; the newest count. Our default. */
const MAX_RUNS = 5_000;
/** Columns of a report that does not go to a terminal. */
const DEFAULT_WIDTH = 100;

const EXAMPLES = `
Examples:
  runoff leaderboard                          all repositories
  runoff leaderboard --repo acme/shop         one repository on GitHub
  runoff leaderboard --repo .                 the repository in this folder
  runoff leaderboard --kind bug --json        bugs only, for a program

docs/learning.md explains the columns.`;

/** `runoff leaderboard`: which contestants win, from the outcomes of all runs, deleted ones included. */
export function addLeaderboard(program: Command, shell: Shell, done: (code: number) => void): void {
  program
    .command('leaderboard')
    .description('compare contestants by what became of their candidates')
    .option('--repo <repository>', 'only this repository: OWNER/NAME, or the path of a local one')
    .addOption(new Option('--kind <kind>', 'only this kind of work').choices(WORK_KINDS))
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(async (flags: LeaderboardFlags) => done(await showLeaderboard(shell, flags)));
}

async function showLeaderboard(shell: Shell, { repo, kind, json }: LeaderboardFlags): Promise<number> {
  const { world, close } = await shell.open({ role: 'reader' });
  try {
    await keepDueOutcomes(world);
    const all = await world.store.outcomes({ runs: MAX_RUNS });
    const key = repo === undefined ? undefined : await repositoryKey(world, all, repo, shell.cwd);
    const leaderboard = leaderboardOf(
      all.filter(
        (one) => (key === undefined || one.repository === key) && (kind === undefined || one.kind === kind),
      ),
    );
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

/**
 * By `OWNER/NAME`, ignoring case, or the top folder of a local path. A repository that was renamed is found by each of its
 * names, and a name that passed to another repository means that one.
 */
async function repositoryKey(
  world: { readonly workspaces: { describe(path: string): Promise<{ readonly top: string }> } },
  outcomes: readonly CandidateOutcome[],
  asked: string,
  cwd: string,
): Promise<string> {
  const newestFirst = outcomes.toSorted((one, other) => other.at - one.at);
  const byName = newestFirst.find((one) => one.repositoryName.toLowerCase() === asked.toLowerCase());
  if (byName !== undefined) return byName.repository;
  const path = asked.startsWith('/') ? asked : `${cwd}/${asked}`;
  const top = await world.workspaces.describe(path).then(
    (found) => found.top,
    () => null,
  );
  const byPath = newestFirst.find(({ repositoryName }) => repositoryName === top);
  if (byPath !== undefined) return byPath.repository;
  const names = [...new Set(outcomes.map(({ repositoryName }) => repositoryName))].toSorted();
  const known =
    names.length === 0 ? 'there are none yet' : `there are some of ${names.slice(0, 10).join(', ')}`;
  throw new Fault('NOT_A_REPOSITORY', `No run of ${asked} has been decided yet; ${known}.`);
}
