import type { RunId } from '../core/model/index.ts';
import { EXIT, onPresses, type Runtime, type Terminal } from '../shell.ts';

/** Milliseconds for an orderly end after a second interrupt. Our default. */
const EXIT_GRACE_MS = 3_000;

/**
 * Handles Ctrl-C while a run is followed. The first one stops this process in good order and leaves the run to be
 * resumed (docs/decisions/0176); the second one exits in any case.
 */
export interface InterruptListener {
  /** Whether a stop was requested, even if nothing has begun yet. */
  wanted(): boolean;
  opened(runtime: Runtime): void;
  /** The run is stored and can be resumed from now on. */
  begun(): void;
  /** Stops listening. */
  dispose(): void;
}

export function listenForInterrupt({ screen, onInterrupt, exit }: Terminal, runId: RunId): InterruptListener {
  let wanted = false;
  let hasBegun = false;
  let runtime: Runtime | null = null;

  async function leave(): Promise<void> {
    const later = hasBegun ? ` Run \`runoff resume ${runId}\` to continue.` : '';
    screen.err(`\nExiting now.${later}\n`);
    // A failure cannot be handled any more; the next start of Runoff repairs it.
    const patience = new Promise((resolve) => setTimeout(resolve, EXIT_GRACE_MS));
    await Promise.race([Promise.allSettled([runtime?.close()]), patience]);
    exit(EXIT.stopped);
  }

  const dispose = onPresses(onInterrupt, (press) => {
    if (press > 1) return void leave();
    wanted = true;
    screen.err('\nStopping: ending the coders and keeping finished work … (Ctrl-C again: exit at once)\n');
  });

  return {
    wanted: () => wanted,
    opened(given) {
      runtime = given;
    },
    begun() {
      hasBegun = true;
    },
    dispose,
  };
}
