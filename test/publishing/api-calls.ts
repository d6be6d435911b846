/** What happens to one call of the App, by its place in the order of calls. */
export type Trouble =
  /** GitHub does nothing and answers 502. */
  | { readonly kind: 'before'; readonly at: number }
  /** GitHub does it, and the answer is lost. */
  | { readonly kind: 'after'; readonly at: number }
  /** From this call on, GitHub answers 502 to all, until it is mended. */
  | { readonly kind: 'outage'; readonly at: number };

export interface Call {
  readonly method: string;
  /** Without the server, the query and `/api/v3`. */
  readonly path: string;
}

/** The App's line to GitHub's API: remembers what went over it, and can fail. */
export interface ApiCalls {
  readonly calls: readonly Call[];
  readonly fetch: typeof fetch;
  fails(trouble: Trouble): void;
  mended(): void;
  /** Called before each call goes out. */
  before(look: (call: Call) => Promise<void> | void): void;
}

const badGateway = () => Response.json({ message: 'Server Error' }, { status: 502 });

export function openApiCalls(): ApiCalls {
  const calls: Call[] = [];
  let trouble: Trouble | null = null;
  let look: (call: Call) => Promise<void> | void = () => undefined;
  return {
    calls,
    async fetch(input, init) {
      const url = new URL(input instanceof Request ? input.url : input);
      const method = init?.method ?? 'GET';
      const call = { method, path: url.pathname.replace(/^\/api(?:\/v3)?/, '') };
      const at = calls.push(call) - 1;
      await look(call);
      if (trouble?.kind === 'outage' && at >= trouble.at) return badGateway();
      if (trouble?.kind === 'before' && at === trouble.at) return badGateway();
      const answer = await fetch(input, init);
      return trouble?.kind === 'after' && at === trouble.at ? badGateway() : answer;
    },
    fails: (wanted) => {
      trouble = wanted;
    },
    mended: () => {
      trouble = null;
    },
    before: (wanted) => {
      look = wanted;
    },
  };
}
