import type { Command } from 'commander';
import { counted, Fault } from '../core/model/index.ts';
import { EXIT, type Shell } from '../shell.ts';

/** Runs among which the repository's name is looked for: far more than a database has. */
const MAX_NAMED_RUNS = 1_000_000;

/** `runoff forget`: deletes what became of a repository's candidates, which stays when its runs are deleted. */
export function addForget(program: Command, shell: Shell, done: (code: number) => void): void {
  program
    .command('forget')
    .description("delete what was kept about a repository's candidates, as after the App was uninstalled")
    .argument(
      '<repository>',
      'OWNER/NAME, or the path of a local repository, as `runoff leaderboard` names it',
    )
    .option('--dry-run', 'count what would be deleted, without deleting anything', false)
    .action(async (repository: string, { dryRun }: { readonly dryRun: boolean }) =>
      done(await forget(shell, repository, dryRun)),
    );
}

async function forget(shell: Shell, repository: string, dryRun: boolean): Promise<number> {
  const { world, close } = await shell.open({ role: 'reader' });
  try {
    const all = await world.store.outcomes({ runs: MAX_NAMED_RUNS });
    const asked = repository.toLowerCase();
    const keys = new Set(
      all.filter((one) => one.repositoryName.toLowerCase() === asked).map((one) => one.repository),
    );
    if (keys.size === 0)
      throw new Fault(
        'NOT_A_REPOSITORY',
        `Nothing is kept about candidates of ${repository}. \`runoff leaderboard --json\` has the names of repositories.`,
      );
    let count = 0;
    for (const key of keys)
      count += dryRun
        ? all.filter((one) => one.repository === key).length
        : await world.store.deleteOutcomes(key);
    shell.screen.out(
      `${counted(count, 'outcome')} of candidates of ${repository} ${dryRun ? 'would be' : count === 1 ? 'was' : 'were'} deleted.\n`,
    );
    return EXIT.done;
  } finally {
    await close();
  }
}
