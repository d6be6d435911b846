import { EXIT, onPresses, type Screen, type Terminal } from '../shell.ts';

/** Milliseconds to close what is open, which may still be starting. Our default. */
const CLOSING_MS = 10_000;

interface Closable {
  close(): Promise<void>;
}

/**
 * How a command ends from outside: by Ctrl-C or SIGTERM if it does not listen itself, or because its output cannot be
 * written. What it has open is closed first: an embedded database would stay behind.
 */
interface ExitHandler {
  /** For the command. Prints nothing any more once the command ends: the rest of it fails at what was closed. */
  readonly terminal: Terminal;
  /** Follows what is being opened until it is closed. */
  follow<T extends Closable>(opening: Promise<T>): Promise<T>;
  /** Closes what is open and exits. Only the first call counts. */
  end(code: number): Promise<void>;
}

export function exitHandler({ screen, onInterrupt, exit }: Terminal): ExitHandler {
  const open = new Set<Promise<Closable>>();
  let listening = 0;
  let isEnding = false;
  let release = () => {};

  async function end(code: number): Promise<void> {
    if (isEnding) return;
    isEnding = true;
    const closed = [...open].map(async (opening) => (await opening).close());
    const patience = new Promise((resolve) => setTimeout(resolve, CLOSING_MS));
    await Promise.race([Promise.allSettled(closed), patience]);
    exit(code);
  }

  function interrupted(): void {
    if (listening > 0) return;
    if (isEnding) exit(EXIT.stopped);
    void end(EXIT.stopped);
  }

  function forget(opening: Promise<Closable>): void {
    if (open.delete(opening) && open.size === 0) release();
  }

  return {
    terminal: {
      screen: mutedOnce(screen, () => isEnding),
      onInterrupt(handler) {
        listening += 1;
        const off = onInterrupt(handler);
        return () => {
          listening -= 1;
          off();
        };
      },
      exit,
    },
    async follow(opening) {
      if (open.size === 0) release = onPresses(onInterrupt, interrupted);
      open.add(opening);
      try {
        const opened = await opening;
        return { ...opened, close: () => opened.close().finally(() => forget(opening)) };
      } catch (thrown) {
        forget(opening);
        throw thrown;
      }
    },
    end,
  };
}

/** The screen, whose size and colours may change, until `isMute`. */
const mutedOnce = (screen: Screen, isMute: () => boolean): Screen =>
  Object.defineProperties({} as Screen, {
    ...Object.getOwnPropertyDescriptors(screen),
    out: { value: (text: string) => isMute() || screen.out(text), enumerable: true },
    err: { value: (text: string) => isMute() || screen.err(text), enumerable: true },
  });
