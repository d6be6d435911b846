import { runCli } from '../../src/cli/index.ts';
import type { World } from '../../src/runs/index.ts';
import type { Shell, TerminalRuntime } from '../../src/shell.ts';
import { type Parts, partial } from '../world/partial.ts';

/** A command line over these parts of a world, with what it printed. */
export function shellOver(world: Parts<World>, over: Parts<Shell> = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const shell = partial<Shell>({
    screen: {
      out: (text) => void out.push(text),
      err: (text) => void err.push(text),
      outIsTerminal: false,
      width: null,
      colour: false,
      outColour: false,
      live: null,
    },
    open: async () => partial<TerminalRuntime>({ world, close: async () => {} }),
    chooseOne: null,
    page: null,
    version: '1',
    cwd: '/x',
    ...over,
  });
  return {
    type: (...argv: readonly string[]) => runCli(shell, argv),
    out: () => out.join(''),
    err: () => err.join(''),
  };
}
