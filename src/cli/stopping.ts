import type { RunId } from '../core/model/index.ts';
import { cancelRun, type World } from '../runs/index.ts';
import { onPresses } from './interrupts.ts';
import { EXIT, type Runtime, type Surroundings } from './runtime.ts';

/** Milliseconds that a second interrupt still leaves for an orderly end. Our default. */
const LAST_GRACE_MS = 3_000;

/** Ctrl-C while a run is followed. The first one cancels the run, a second one leaves whatever happens. */
export interface Stopping {
  /** Somebody wants to stop, whatever has begun by now. */
  wanted(): boolean;
  opened(runtime: Runtime): void;
  /** The run is stored and can be cancelled from now on; what was wanted before is done now. */
  begun(): void;
  /** Waits for a cancelling that is under way. */
  idle(): Promise<void>;
  /** Stops listening. */
  deaf(): void;
}

export function listenForStop({ screen, onInterrupt, exit }: Surroundings, runId: RunId): Stopping {
  let wanted = false;
  let runtime: Runtime | null = null;
  let world: World | null = null;
  let cancelling: Promise<void> | null = null;

  function cancel(): Promise<void> {
    if (world === null) return Promise.resolve();
    cancelling ??= cancelRun(world, runId, 'stopped from the terminal').then(
      () => undefined,
      (thrown: unknown) => {
        cancelling = null;
        screen.err(`The run could not be cancelled: ${String(thrown)}\n`);
      },
    );
    return cancelling;
  }

  async function leave(): Promise<void> {
    screen.err(`\nLeaving at once. \`runoff cancel ${runId}\` tidies up what is left.\n`);
    const orderly = cancel().then(() => runtime?.close());
    // What fails now cannot be mended here; the next start of Runoff does it.
    const patience = new Promise((resolve) => setTimeout(resolve, LAST_GRACE_MS));
    await Promise.race([Promise.allSettled([orderly]), patience]);
    exit(EXIT.cancelled);
  }

  const deaf = onPresses(onInterrupt, (press) => {
    if (press > 1) return void leave();
    wanted = true;
    screen.err('\nStopping: coders are killed, what exists is kept …\n');
    void cancel();
  });

  return {
    wanted: () => wanted,
    opened(given) {
      runtime = given;
    },
    begun() {
      world = runtime?.world ?? null;
      if (wanted) void cancel();
    },
    idle: async () => cancelling ?? undefined,
    deaf,
  };
}
