import { request } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';

/** A `fetch` whose every request goes to one unix socket, whatever host its URL names. */
export function socketFetch(socketPath: string): typeof fetch {
  return async (input, init) => {
    const asked = new Request(input, init);
    const url = new URL(asked.url);
    const body = Buffer.from(await asked.arrayBuffer());
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const sent = request(
      {
        socketPath,
        path: url.pathname + url.search,
        method: asked.method,
        headers: { ...Object.fromEntries(asked.headers), 'content-length': body.length },
        signal: asked.signal,
        agent: false,
      },
      (answer) => {
        const headers = new Headers(
          Object.entries(answer.headers).flatMap(([name, value]): [string, string][] =>
            typeof value === 'string' ? [[name, value]] : [],
          ),
        );
        const status = answer.statusCode ?? 502;
        resolve(new Response(Readable.toWeb(answer) as ReadableStream<Uint8Array>, { status, headers }));
      },
    );
    sent.on('error', reject);
    sent.end(body);
    return promise;
  };
}
