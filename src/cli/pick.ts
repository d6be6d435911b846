import type { Command } from 'commander';
import { aliasOf } from '../core/commands/index.ts';
import { type Alias, Fault, type RunId } from '../core/model/index.ts';
import { leftToPerson, pickable } from '../core/ranking/index.ts';
import { type RunView, rankRows, reasons } from '../core/reports/index.ts';
import { pickLocally, requireLocalChoice, tryKeepOutcomes, type World } from '../runs/index.ts';
import { EXIT, type Shell } from '../shell.ts';
import { viewById } from './follow.ts';
import { jsonOption } from './options.ts';
import { jsonText, shellMerge, shown } from './render/index.ts';
import { showDiff } from './show.ts';

/** `runoff pick`: a person chooses one of the candidates of a local run. */
export function addPick(program: Command, shell: Shell, done: (code: number) => void): void {
  program
    .command('pick')
    .description('choose a candidate of a local run and show how to merge it')
    .argument('<run>', 'id of the run')
    .argument('[candidate]', 'letter of the candidate, or "none"; without it, you choose from a list')
    .addOption(jsonOption())
    .action(async (run: string, word: string | undefined, flags: { json?: boolean }, command: Command) => {
      const { json = false } = flags;
      if (word === undefined && (shell.chooseOne === null || json))
        command.error(
          'error: name a candidate by its letter, or "none"; a list to choose from needs a terminal',
        );
      const { world, close } = await shell.open({ role: 'reader' });
      try {
        const alias = word === undefined ? await chooseFrom(shell, world, run) : candidateOf(run, word);
        if (alias !== 'later') await pick(shell, world, run, alias, json);
        done(EXIT.done);
      } finally {
        await close();
      }
    });
}

/** Faults before a list is shown: RUN_UNKNOWN, and RUN_NOT_WAITING, also if no candidate passed every gate. */
async function chooseFrom(shell: Shell, world: PickWorld, runId: RunId): ReturnType<typeof chooseCandidate> {
  await requireLocalChoice(world, runId);
  const view = await viewById(world, runId);
  if (pickable(view).length === 0)
    throw new Fault('RUN_NOT_WAITING', `No candidate of run ${runId} can be picked: none passed every gate.`);
  return chooseCandidate(shell, world, view);
}

type PickWorld = Pick<World, 'artifacts' | 'clock' | 'diskSpace' | 'log' | 'store'>;

/** Offered besides the letters. */
const [DIFF, NONE, LATER] = ['diff:', 'none', 'later'];

/**
 * Lets the person at the terminal choose with the arrow keys, and look at diffs before. Null: none of the candidates.
 * `later`: no choice was made.
 */
async function chooseCandidate(
  shell: Pick<Shell, 'chooseOne' | 'page' | 'screen'>,
  world: PickWorld,
  view: RunView,
): Promise<Alias | null | 'later'> {
  const letters = pickable(view);
  if (shell.chooseOne === null || letters.length === 0) return 'later';
  const rows = rankRows(view);
  const because = reasons(view, true);
  const options = [
    ...letters.map((alias) => ({
      value: alias,
      label: `${alias}  ${shown(rows.find((row) => row.alias === alias)?.contestant ?? '', 60)}`,
      hint: shown(because.find((one) => one.alias === alias)?.because ?? '', 120),
    })),
    ...letters.map((alias) => ({ value: `${DIFF}${alias}`, label: `Show the diff of ${alias}`, hint: '' })),
    { value: NONE, label: 'None of them', hint: 'the branches remain' },
    { value: LATER, label: 'Decide later', hint: `runoff pick ${view.id}` },
  ];
  for (;;) {
    const chosen = (await shell.chooseOne('Which candidate do you want?', options)) ?? LATER;
    if (chosen === LATER) return 'later';
    if (chosen === NONE) return null;
    if (!chosen.startsWith(DIFF)) return chosen;
    await showDiff(shell, world, view.id, chosen.slice(DIFF.length));
  }
}

/** After a run whose evidence is inconclusive: asks at once, unless somebody has picked. */
export async function offerPick(shell: Shell, world: PickWorld, view: RunView): Promise<void> {
  const open = view.decision?.kind === 'toss-up' || leftToPerson(view.decision);
  if (!open || shell.chooseOne === null || (view.picks ?? []).length > 0) return;
  const alias = await chooseCandidate(shell, world, view);
  if (alias !== 'later') await pick(shell, world, view.id, alias, false);
}

function candidateOf(runId: RunId, word: string): Alias | null {
  if (word.toLowerCase() === 'none') return null;
  const alias = aliasOf(word);
  if (alias) return alias;
  throw new Fault(
    'CANDIDATE_UNKNOWN',
    `Run ${runId} has no candidate ${word.slice(0, 40)}: give one letter, or "none".`,
  );
}

async function pick(
  { screen, cwd, newRunId }: Shell,
  world: PickWorld,
  runId: RunId,
  alias: Alias | null,
  json: boolean,
): Promise<void> {
  const view = await viewById(world, runId);
  const picked = await pickLocally(world, runId, alias, `cli:${newRunId()}`);
  await tryKeepOutcomes(world, runId);
  const merge = picked.branch === null ? null : shellMerge(view, picked.branch, cwd);
  if (json) screen.out(`${jsonText({ run: runId, picked: alias, branch: picked.branch, merge })}\n`);
  else screen.out(`${pickText(runId, picked, merge)}\n`);
}

function pickText(
  runId: RunId,
  { alias, branch }: { readonly alias: Alias | null; readonly branch: string | null },
  merge: string | null,
): string {
  if (alias === null) return `Rejected all candidates of run ${runId}; their branches remain.`;
  if (branch === null || merge === null) {
    return `Picked candidate ${alias}. It has no branch; to see its diff, run: runoff show ${runId} ${alias}`;
  }
  return `Picked candidate ${alias}, branch ${branch}. To get its changes, run:\n  ${merge}`;
}
