import type { ServerResponse } from 'node:http';
import type { Json } from './json.ts';

/** What goes wrong with calls on a bad day. */
export interface Mishap {
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
  add(mishap: Mishap): void;
  /** How many calls of what was added have not come. */
  left(): number;
  clear(): void;
}

export interface FaultList extends Faults {
  /** The mishap of this call, which counts as one of its times. */
  take(method: string, path: string): Mishap | undefined;
}

export function openFaults(): FaultList {
  const waiting: { readonly mishap: Mishap; left: number }[] = [];
  return {
    add: (mishap) => void waiting.push({ mishap, left: mishap.times ?? 1 }),
    left: () => waiting.reduce((sum, { left }) => sum + left, 0),
    clear: () => void waiting.splice(0),
    take: (method, path) => {
      const found = waiting.find(
        ({ mishap, left }) =>
          left > 0 && (mishap.method === '*' || mishap.method === method) && path.search(mishap.path) >= 0,
      );
      if (found) found.left -= 1;
      return found?.mishap;
    },
  };
}

export function answerMishap(answer: ServerResponse, { status = 502, headers = {}, body }: Mishap): void {
  if (status === 0) {
    answer.destroy();
    return;
  }
  const text = JSON.stringify(body ?? { message: 'Server Error' });
  answer.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers }).end(text);
}
