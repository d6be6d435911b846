import type { Command } from 'commander';
import { aliasOf } from '../core/commands/index.ts';
import { type Alias, Fault, type RunId } from '../core/model/index.ts';
import { pickHere } from '../runs/index.ts';
import { viewById } from './follow.ts';
import { jsonOption } from './options.ts';
import { branchMerge, jsonText } from './render/index.ts';
import { EXIT, type Shell } from './runtime.ts';

/** `runoff pick`: a person's choice among the candidates of a local run. */
export function addPick(program: Command, shell: Shell, done: (code: number) => void): void {
  program
    .command('pick')
    .description('keeps which candidate of a local run you take, and says how to merge it')
    .argument('<run>', 'id of the run')
    .argument('<candidate>', 'letter of the candidate, or none')
    .addOption(jsonOption())
    .action(async (run: string, word: string, { json }: { readonly json?: boolean }) =>
      done(await pick(shell, run, wordOf(run, word), json ?? false)),
    );
}

function wordOf(runId: RunId, word: string): Alias | null {
  if (word.toLowerCase() === 'none') return null;
  const alias = aliasOf(word);
  if (alias) return alias;
  throw new Fault(
    'CANDIDATE_UNKNOWN',
    `Run ${runId} has no candidate ${word.slice(0, 40)}: give one letter, or none.`,
  );
}

async function pick(shell: Shell, runId: RunId, alias: Alias | null, json: boolean): Promise<number> {
  const { world, close } = await shell.open({});
  try {
    const view = await viewById(world, runId);
    const picked = await pickHere(world, runId, alias, `cli:${shell.newRunId()}`);
    const merge = picked.branch === null ? null : branchMerge(view, picked.branch, shell.cwd);
    if (json) shell.screen.out(`${jsonText({ run: runId, picked: alias, branch: picked.branch, merge })}\n`);
    else shell.screen.out(`${wordsOf(runId, picked, merge)}\n`);
    return EXIT.done;
  } finally {
    await close();
  }
}

function wordsOf(
  runId: RunId,
  { alias, branch }: { readonly alias: Alias | null; readonly branch: string | null },
  merge: string | null,
): string {
  if (alias === null) return `None of the candidates of run ${runId} is picked; their branches stay.`;
  if (branch === null || merge === null) {
    return `Candidate ${alias} is picked. The run left no branch of it; its diff: runoff show ${runId} ${alias}`;
  }
  return `Candidate ${alias} is picked. It is on the branch ${branch}:\n  ${merge}`;
}
