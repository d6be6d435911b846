import { Fault, isOver, type RunId } from '../core/model/index.ts';
import type { RunView } from '../core/reports/index.ts';
import { diffsOf, viewOf, type World } from '../runs/index.ts';
import type { Screen } from '../shell.ts';
import { finalReport, progressLine, renderProgress } from './render/index.ts';

const LOOK_EVERY_MS = 250;
/** Reads of the store for each check of the engine. */
const LOOKS_PER_CHECK = 4;
const UP = (lines: number) => `\u001b[${lines}A\u001b[J`;

export async function viewById(
  world: Pick<World, 'clock' | 'diskSpace' | 'store'>,
  runId: RunId,
): Promise<RunView> {
  const run = await world.store.run(runId);
  if (!run) throw new Fault('RUN_UNKNOWN', `There is no run ${runId} in this database.`);
  return viewOf(world, run);
}

/**
 * Shows a run until it ends: one block that is redrawn in a terminal, plain lines elsewhere. Returns the last view. The
 * engine must have been launched. Fault INTERNAL if no process works on the run and it has not ended.
 */
export async function follow(
  world: Pick<World, 'clock' | 'diskSpace' | 'engine' | 'store'>,
  runId: RunId,
  screen: Screen,
): Promise<RunView> {
  const draw = screen.width === null ? linesOn(screen) : blockOn(screen, screen.width);
  let idle = 0;
  for (let looks = 1; ; looks += 1) {
    const view = await viewById(world, runId);
    draw(view);
    if (isOver(view.state)) return view;
    if (looks % LOOKS_PER_CHECK === 0) {
      const { kind } = await world.engine.status(runId);
      idle = kind === 'running' ? 0 : idle + 1;
      // Twice: the end may be stored a moment after the engine reports it.
      if (idle > 1) throw brokenOff(view, kind);
    }
    await world.clock.sleep(LOOK_EVERY_MS);
  }
}

const brokenOff = (view: RunView, engine: string): Fault =>
  new Fault(
    'INTERNAL',
    `No process is working on run ${view.id}: the engine reports ${engine}, the database ${view.state}. Run \`runoff cancel ${view.id}\` to close it.`,
  );

function blockOn(screen: Screen, width: number): (view: RunView) => void {
  let drawn = 0;
  return (view) => {
    const lines = renderProgress(view, width, screen.colour);
    screen.err(`${drawn > 0 ? UP(drawn) : ''}${lines.join('\n')}\n`);
    drawn = lines.length;
  };
}

function linesOn(screen: Screen): (view: RunView) => void {
  let last: RunView | null = null;
  return (view) => {
    for (const line of progressLine(last, view)) screen.err(`${line}\n`);
    last = view;
  };
}

/** Columns if the output is not a terminal but a file, a pipe or a log. */
const PLAIN_WIDTH = 110;

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
    colour: screen.colour,
    diffs,
    commands,
    gone,
    ...(cwd ? { cwd } : {}),
  });
  screen.out(`${lines.join('\n')}\n`);
}
