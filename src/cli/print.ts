import type { RunView } from '../core/reports/index.ts';
import { diffsOf, type World } from '../runs/index.ts';
import { finalReport } from './render/index.ts';
import type { Screen } from './runtime.ts';

/** Columns where the output is no terminal: a file, a pipe, a log. */
const PLAIN_WIDTH = 110;

/** The comparison as a reader would see it, what was left where, and the next commands to type. */
export async function printReport(
  world: World,
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
