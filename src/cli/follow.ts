import { type Alias, Fault, isOver, type RunId } from '../core/model/index.ts';
import type { CandidateView, RunView } from '../core/reports/index.ts';
import { viewOf, type World } from '../runs/index.ts';
import type { LiveBlock, Screen } from '../shell.ts';
import { progressLine, renderProgress } from './render/index.ts';

const LOOK_EVERY_MS = 250;
/** Reads of the store for each check of the engine. */
const LOOKS_PER_CHECK = 4;

export async function viewById(
  world: Pick<World, 'artifacts' | 'clock' | 'diskSpace' | 'store'>,
  runId: RunId,
): Promise<RunView> {
  const run = await world.store.run(runId);
  if (!run) throw new Fault('RUN_UNKNOWN', `There is no run ${runId} in this database.`);
  return viewOf(world, run);
}

/**
 * Shows a run until it ends or `until` holds: one block that is redrawn in a terminal, plain lines elsewhere. Returns the
 * last view. The engine must have been launched. Fault INTERNAL if no process works on the run and it has not ended.
 */
export async function follow(
  world: Pick<World, 'artifacts' | 'clock' | 'diskSpace' | 'engine' | 'store'>,
  runId: RunId,
  screen: Screen,
  until: () => boolean = () => false,
): Promise<RunView> {
  const draw = screen.live === null ? linesOn(screen) : blockOn(screen.live, screen);
  try {
    let idle = 0;
    for (let looks = 1; ; looks += 1) {
      const view = await viewById(world, runId);
      draw(view);
      if (isOver(view.state) || until()) return view;
      if (looks % LOOKS_PER_CHECK === 0) {
        const { kind } = await world.engine.status(runId);
        idle = kind === 'running' ? 0 : idle + 1;
        // Twice: the end may be stored a moment after the engine reports it.
        if (idle > 1) throw brokenOff(view, kind);
      }
      await world.clock.sleep(LOOK_EVERY_MS);
    }
  } finally {
    screen.live?.end();
  }
}

const brokenOff = (view: RunView, engine: string): Fault =>
  new Fault(
    'INTERNAL',
    `No process is working on run ${view.id}: the engine reports ${engine}, the database ${view.state}. Run \`runoff cancel ${view.id}\` to close it.`,
  );

function blockOn(block: LiveBlock, screen: Screen): (view: RunView) => void {
  const ticking = openTicking();
  return (view) => block.draw(renderProgress(ticking(view), screen.width ?? 0, screen.colour));
}

/** The stored time of a coder grows with its steps. Between two of them, the time since the last one is added. */
function openTicking(): (view: RunView) => RunView {
  const seen = new Map<Alias, { readonly ms: number; readonly at: number }>();
  const ticked = (candidate: CandidateView, now: number): CandidateView => {
    const { alias, state, ms } = candidate;
    if (state !== 'coding') return candidate;
    const before = seen.get(alias);
    if (before?.ms === ms) return { ...candidate, ms: ms + now - before.at };
    seen.set(alias, { ms, at: now });
    return candidate;
  };
  return (view) => ({ ...view, candidates: view.candidates.map((one) => ticked(one, view.now)) });
}

function linesOn(screen: Screen): (view: RunView) => void {
  let last: RunView | null = null;
  return (view) => {
    for (const line of progressLine(last, view)) screen.err(`${line}\n`);
    last = view;
  };
}
