import type { Command } from 'commander';
import { aliasOf } from '../core/commands/index.ts';
import { type Alias, Fault, type RunId } from '../core/model/index.ts';
import { decisionRecord, type RunView } from '../core/reports/index.ts';
import { diffsOf, type World } from '../runs/index.ts';
import { EXIT, type Screen, type Shell } from '../shell.ts';
import { viewById } from './follow.ts';
import { jsonOption } from './options.ts';
import { diffText, explainText, finalReport, jsonText, painter, runJson } from './render/index.ts';

type Readable = Pick<World, 'artifacts' | 'clock' | 'diskSpace' | 'store'>;

const document = (value: unknown): string => `${jsonText(value)}\n`;

/** `runoff show` and `runoff explain`: what is known about a finished run and its candidates. */
export function addShow(program: Command, shell: Shell, done: (code: number) => void): void {
  program
    .command('show')
    .description('show the comparison of a run, or the diff of one candidate')
    .argument('<run>', 'id of the run')
    .argument('[candidate]', 'letter of the candidate')
    .option('--open', "show the run's page in a browser instead, until you press Ctrl-C", false)
    .addOption(jsonOption())
    .action(async (run: string, word: string | undefined, flags: ShowFlags) => {
      if (flags.open) return done(await shell.ui({ run, open: true }));
      done(await reading(shell, (world) => showRun(shell, world, run, word, flags.json ?? false)));
    });
  program
    .command('explain')
    .description('show everything known about one candidate: reasons, checks, scores, judges')
    .argument('<run>', 'id of the run')
    .argument('<candidate>', 'letter of the candidate')
    .addOption(jsonOption())
    .action(async (run: string, word: string, { json }: { json?: boolean }) =>
      done(await reading(shell, (world) => explain(shell, world, run, word, json ?? false))),
    );
}

interface ShowFlags {
  readonly open: boolean;
  readonly json?: boolean;
}

async function reading(shell: Shell, work: (world: Readable) => Promise<number>): Promise<number> {
  const { world, close } = await shell.open({ role: 'reader' });
  try {
    return await work(world);
  } finally {
    await close();
  }
}

async function showRun(
  shell: Shell,
  world: Readable,
  runId: RunId,
  word: string | undefined,
  json: boolean,
): Promise<number> {
  const { screen, cwd } = shell;
  const view = await viewById(world, runId);
  if (word === undefined) {
    if (json) screen.out(document({ ...runJson(view), explanation: decisionRecord(view) }));
    else await printReport(world, view, { screen, cwd });
    return EXIT.done;
  }
  if (!json) {
    await showDiff(shell, world, runId, letterOf(view, word));
    return EXIT.done;
  }
  const alias = letterOf(view, word);
  screen.out(document({ alias, diff: await candidatePatch(world, runId, alias) }));
  return EXIT.done;
}

/** Prints a candidate's diff: coloured and in the pager at a terminal, every byte for `git apply` elsewhere. */
export async function showDiff(
  { screen, page }: Pick<Shell, 'page' | 'screen'>,
  world: Pick<World, 'artifacts' | 'store'>,
  runId: RunId,
  alias: Alias,
): Promise<void> {
  const patch = await candidatePatch(world, runId, alias);
  if (!screen.outIsTerminal) return screen.out(patch);
  const text = diffText(patch, painter(screen.outColour));
  if (page === null) screen.out(text);
  else await page(text);
}

async function candidatePatch(
  world: Pick<World, 'artifacts' | 'store'>,
  runId: RunId,
  alias: Alias,
): Promise<string> {
  const diff = (await diffsOf(world, runId))[alias];
  if (!diff) throw new Fault('CANDIDATE_UNKNOWN', `Candidate ${alias} of run ${runId} left no patch.`);
  return diff.patch.text;
}

/** Fault: CANDIDATE_UNKNOWN, with the letters that there are. */
function letterOf(view: RunView, word: string): Alias {
  const alias = aliasOf(word);
  if (alias && view.candidates.some((one) => one.alias === alias)) return alias;
  const all = view.candidates.map((one) => one.alias).toSorted();
  const which = all.length === 0 ? 'It has no candidates yet.' : `Its candidates: ${all.join(', ')}.`;
  throw new Fault('CANDIDATE_UNKNOWN', `Run ${view.id} has no candidate ${word.slice(0, 40)}. ${which}`);
}

async function explain(
  { screen, page }: Shell,
  world: Readable,
  runId: RunId,
  word: string,
  json: boolean,
): Promise<number> {
  const view = await viewById(world, runId);
  const alias = letterOf(view, word);
  if (json) {
    const candidate = runJson(view).run.candidates.find((one) => one.alias === alias);
    const judged = (view.judgement?.pairs ?? []).filter(({ a, b }) => a === alias || b === alias);
    screen.out(document({ run: runId, candidate, judged }));
    return EXIT.done;
  }
  const text = explainText(view, alias, { width: screen.width ?? PLAIN_WIDTH, colour: screen.outColour });
  if (text === null) throw new Fault('INTERNAL', `Candidate ${alias} of run ${runId} is not in its report.`);
  if (page === null) screen.out(`${text}\n`);
  else await page(`${text}\n`);
  return EXIT.done;
}

/** Columns if the output is not a terminal but a file, a pipe or a log. */
export const PLAIN_WIDTH = 110;

/** Prints the comparison, where the results are, and the next commands to type. */
export async function printReport(
  world: Pick<World, 'artifacts' | 'store'>,
  view: RunView,
  where: {
    readonly screen: Screen;
    readonly cwd?: string;
    readonly commands?: readonly (readonly [string, string])[];
    readonly gone?: boolean;
  },
): Promise<void> {
  const { screen, cwd, commands = [], gone = false } = where;
  const diffs = await diffsOf(world, view.id);
  const width = screen.width ?? PLAIN_WIDTH;
  const lines = finalReport(view, {
    width,
    colour: screen.outColour,
    diffs,
    commands,
    gone,
    ...(cwd ? { cwd } : {}),
  });
  screen.out(`${lines.join('\n')}\n`);
}
