import type { World } from '../pipeline/index.ts';

/** A world that is open: the database runs, the sandbox is proven. `close` leaves nothing behind. */
export interface Runtime {
  readonly world: World;
  close(): Promise<void>;
}

export interface Needs {
  /** Executes flows in this process under this executor's name; absent: only reads and steers. */
  readonly executor?: string;
}

export interface Finding {
  readonly name: string;
  readonly state: 'ok' | 'warning' | 'fault';
  readonly detail: string;
  /** What to do next; only with `warning` and `fault`. */
  readonly remedy?: string;
}

export interface DemoOptions {
  readonly keep: boolean;
  readonly json: boolean;
}

/** What the command line needs from outside; `main.ts` gives the real ones. */
export interface Shell {
  open(needs: Needs): Promise<Runtime>;
  serve(): Promise<number>;
  demo(options: DemoOptions, screen: Screen): Promise<number>;
  doctor(): Promise<readonly Finding[]>;
  newRunId(): string;
  readText(path: string): Promise<string>;
  readonly version: string;
  readonly cwd: string;
  readonly screen: Screen;
  /** Calls back at the first SIGINT or SIGTERM; returns a function that stops listening. */
  onInterrupt(handler: () => void): () => void;
}

/** Where people and programs read: text and JSON on `out`, progress and errors on `err`. */
export interface Screen {
  out(text: string): void;
  err(text: string): void;
  /** Characters in a line; null when progress goes to no terminal and is printed as plain lines. */
  readonly width: number | null;
  readonly colour: boolean;
}

/** Exit codes of every command. */
export const EXIT = { done: 0, failed: 1, usage: 2, nothingSurvived: 3, cancelled: 130 } as const;
