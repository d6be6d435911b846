import type { Json } from './json.ts';

/** What goes wrong with a call. */
export interface InjectedFault {
  /** HTTP method; `*` for any. */
  readonly method: string;
  /** Of the path without query and without `/api/v3`; for git such as `/alice/demo.git/git-receive-pack`. */
  readonly path: RegExp;
  /** How many calls it happens to. Default 1. */
  readonly times?: number;
  /** HTTP status; 0 breaks the connection. Default 502. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Json;
  /** The call is carried out first, and then its answer is lost. Default false: nothing is done. */
  readonly after?: boolean;
}

export interface Faults {
  add(fault: InjectedFault): void;
  /** How many calls of what was added have not come. */
  left(): number;
  clear(): void;
}

export interface FaultList extends Faults {
  /** The fault of this call, which counts as one of its times. */
  take(method: string, path: string): InjectedFault | undefined;
}

export function createFaults(): FaultList {
  const waiting: { readonly fault: InjectedFault; left: number }[] = [];
  return {
    add: (fault) => void waiting.push({ fault, left: fault.times ?? 1 }),
    left: () => waiting.reduce((sum, { left }) => sum + left, 0),
    clear: () => void waiting.splice(0),
    take: (method, path) => {
      const found = waiting.find(
        ({ fault, left }) =>
          left > 0 && (fault.method === '*' || fault.method === method) && path.search(fault.path) >= 0,
      );
      if (found) found.left -= 1;
      return found?.fault;
    },
  };
}
