import { isOver } from '../core/lifecycle/index.ts';
import { Fault, type RunId } from '../core/model/index.ts';
import type { RunView } from '../core/reports/index.ts';
import { viewOf, type World } from '../pipeline/index.ts';
import { progressLine, renderProgress } from './render/index.ts';
import type { Screen } from './runtime.ts';

const LOOK_EVERY_MS = 250;
const UP = (lines: number) => `\u001b[${lines}A\u001b[J`;

export async function viewById(world: World, runId: RunId): Promise<RunView> {
  const run = await world.store.run(runId);
  if (!run) throw new Fault('RUN_UNKNOWN', `There is no run ${runId} in this database.`);
  return viewOf(world, run);
}

/** Shows a run until it is over: one block that is redrawn on a terminal, plain lines elsewhere. Returns the last view. */
export async function follow(world: World, runId: RunId, screen: Screen): Promise<RunView> {
  const draw = screen.width === null ? linesOn(screen) : blockOn(screen, screen.width);
  for (;;) {
    const view = await viewById(world, runId);
    draw(view);
    if (isOver(view.state)) return view;
    await world.clock.sleep(LOOK_EVERY_MS);
  }
}

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
