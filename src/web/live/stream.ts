/** Bytes that may wait for a slow reader; then the stream is ended, and the reader connects again. Our default. */
const MAX_UNREAD_BYTES = 256 * 1024;

/** One event of a stream; `data` is one JSON text. */
export interface StreamEvent {
  readonly id?: string;
  readonly name: string;
  readonly data: string;
}

/** The sending end of one open stream. */
export interface OpenStream {
  /** False if the stream has ended, also because its reader was too slow. */
  send(event: StreamEvent): boolean;
  /** Keeps proxies and both ends from taking a quiet connection for a dead one. */
  keepAlive(): boolean;
  end(): void;
}

const encoder = new TextEncoder();

/** A response of server-sent events. `onEnd` is called once, when either side ends it. */
export function eventStream(onEnd: () => void): { readonly response: Response; readonly stream: OpenStream } {
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  const ended = (): void => {
    if (controller === null) return;
    controller = null;
    onEnd();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start: (own) => {
        controller = own;
      },
      cancel: ended,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: MAX_UNREAD_BYTES }),
  );
  const write = (text: string): boolean => {
    if (controller === null) return false;
    if ((controller.desiredSize ?? 0) <= 0) {
      end();
      return false;
    }
    controller.enqueue(encoder.encode(text));
    return true;
  };
  const end = (): void => {
    controller?.close();
    ended();
  };
  const headers = {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // A proxy that collects the answer would hold back the events.
    'x-accel-buffering': 'no',
  };
  return {
    response: new Response(body, { headers }),
    stream: {
      send: ({ id, name, data }) =>
        write(`${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${data}\n\n`),
      keepAlive: () => write(': \n\n'),
      end,
    },
  };
}
