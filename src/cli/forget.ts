import type { Command } from 'commander';
import { counted, Fault } from '../core/model/index.ts';
import type { World } from '../runs/index.ts';
import { EXIT, type Shell } from '../shell.ts';
import { repositoriesNamed } from './leaderboard.ts';
import { jsonOption } from './options.ts';
import { jsonText } from './render/index.ts';

/** Far more than a repository has. */
const ALL_RUNS = 1_000_000;

interface ForgetFlags {
  readonly dryRun: boolean;
  readonly json?: boolean;
}

/** `runoff forget`: deletes what became of a repository's candidates, which stays when its runs are deleted. */
export function addForget(program: Command, shell: Shell, done: (code: number) => void): void {
  program
    .command('forget')
    .description("delete what was kept about a repository's candidates, as after the App was uninstalled")
    .argument('<repository>', 'OWNER/NAME, the path of a local repository, or a key such as github-42')
    .option('--dry-run', 'count what would be deleted, without deleting anything', false)
    .addOption(jsonOption())
    .action(async (repository: string, flags: ForgetFlags) => done(await forget(shell, repository, flags)));
}

async function forget(shell: Shell, asked: string, { dryRun, json }: ForgetFlags): Promise<number> {
  const { world, close } = await shell.open({ role: 'reader' });
  try {
    const [key, ...others] = await repositoriesNamed(world, asked, shell.cwd);
    if (others.length > 0)
      throw new Fault(
        'REPOSITORY_UNKNOWN',
        `Nothing was deleted, because several repositories were called ${asked}, newest first: ${await keysWithNames(world, [key, ...others])}.`,
      );
    const count = dryRun
      ? (await world.store.outcomes({ repositories: [key], runs: ALL_RUNS })).length
      : await world.store.deleteOutcomes(key);
    shell.screen.out(
      json
        ? `${jsonText({ dryRun, repository: key, outcomes: count })}\n`
        : `${counted(count, 'outcome')} of candidates of ${asked} ${dryRun ? 'would be' : count === 1 ? 'was' : 'were'} deleted.\n`,
    );
    return EXIT.done;
  } finally {
    await close();
  }
}

/** `github-43; github-42, last called acme/old`. */
async function keysWithNames({ store }: Pick<World, 'store'>, keys: readonly string[]): Promise<string> {
  const known = await store.outcomeRepositories();
  return keys
    .map((key) => `${key}, last called ${known.find((one) => one.repository === key)?.repositoryName ?? key}`)
    .join('; ');
}
