import { resolve } from 'node:path';
import type { Command } from 'commander';
import { arenaReport, competitionSection } from '../core/arena/index.ts';
import { Fault } from '../core/model/index.ts';
import { decideContest, loadContest } from '../runs/index.ts';
import { EXIT, type Shell } from '../shell.ts';
import { type ContestFlags, contestCommand, contestPath, repositoryOption } from './arena.ts';
import { arenaSectionText, jsonText, shown } from './render/index.ts';

interface DecideFlags extends ContestFlags {
  readonly repo: string;
  readonly trustChecks?: boolean;
}

/** `runoff arena decide`: what Runoff would have picked, and what competing is worth. */
export function addDecide(arena: Command, shell: Shell, done: (code: number) => void): void {
  contestCommand(arena, 'decide')
    .description('let Runoff choose among the answers to each repository task, without its hidden tests')
    .addOption(repositoryOption())
    .option('--trust-checks', 'agree to run the commands of tasks even if the sandbox is weaker')
    .addHelpText(
      'after',
      '\nNo model is asked. `runoff arena report` then says how often Runoff was right, and what competing is worth.',
    )
    .action(async (name: string, flags: DecideFlags) => done(await decide(shell, name, flags)));
}

async function decide(shell: Shell, name: string, flags: DecideFlags): Promise<number> {
  const stop = new AbortController();
  const release = shell.onInterrupt(() => stop.abort());
  try {
    const { tools, contests, variants } = await shell.openMining();
    const path = contestPath(shell, contests, name, flags);
    // A name that nobody wrote must not leave a folder behind.
    await (await contests.open(path, 'read')).close();
    const folder = await contests.open(path, 'write', { repository: resolve(shell.cwd, flags.repo) });
    try {
      const loaded = await loadContest(folder, { variants });
      const decisions = await decideContest(tools, folder, loaded, {
        trust: flags.trustChecks ?? false,
        onProgress: (text) => shell.screen.err(`${shown(text)}\n`),
        signal: stop.signal,
      });
      const { competition } = arenaReport({ ...loaded, decisions });
      if (competition === null || competition.pools === 0)
        throw new Fault(
          'CONTEST_INCOMPLETE',
          'There is no repository task with the answers of two contestants yet: run `runoff arena gen` first.',
        );
      shell.screen.out(
        flags.json
          ? `${jsonText({ contest: name, competition, decisions })}\n`
          : `${arenaSectionText(competitionSection(competition))}\n`,
      );
      return EXIT.done;
    } finally {
      await folder.close();
    }
  } catch (thrown) {
    if (stop.signal.aborted) return EXIT.stopped;
    throw thrown;
  } finally {
    release();
  }
}
