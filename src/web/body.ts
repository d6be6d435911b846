import type { IncomingMessage, ServerResponse } from 'node:http';

/** `text`: says the same as the bytes that came, so that a signature of one is one of the other. */
export type Body =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'not-text' }
  | { readonly kind: 'too-long' };

/** The body of a request; of one that is longer than `limit` bytes no more is kept. Rejects when the sender goes away. */
export async function readBody(request: IncomingMessage, limit: number): Promise<Body> {
  if (Number(request.headers['content-length'] ?? 0) > limit) return { kind: 'too-long' };
  const parts: Buffer[] = [];
  let bytes = 0;
  // Not `for await`: leaving such a loop early destroys the request, and the sender would see no answer.
  return new Promise((resolve, reject) => {
    const onData = (part: Buffer): void => {
      bytes += part.length;
      if (bytes <= limit) {
        parts.push(part);
        return;
      }
      request.off('data', onData).pause();
      resolve({ kind: 'too-long' });
    };
    request.on('data', onData);
    request.once('end', () => resolve(textIn(Buffer.concat(parts))));
    request.once('error', reject);
    request.once('close', () =>
      reject(new Error('The sender closed the connection before the body was complete.')),
    );
  });
}

/** Reading other bytes as UTF-8 would mend them, and what is verified would not be what came. */
function textIn(bytes: Buffer): Body {
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? { kind: 'text', text } : { kind: 'not-text' };
}

/** How long the rest of a body that is too long is read and thrown away, milliseconds; our default. */
const DRAIN_MS = 2_000;

/**
 * Answers 413 and closes the connection. What the sender still writes is thrown away for a moment first: closing at
 * once would reset the connection, and the answer would be lost on its way.
 */
export function refuseBody(request: IncomingMessage, response: ServerResponse, limit: number): void {
  const text = `The body is longer than ${limit} bytes.\n`;
  response.writeHead(413, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    connection: 'close',
  });
  response.write(text);
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, DRAIN_MS);
  request.once('end', end).once('close', end).resume();
}
