import type { Clock } from '../../ports/index.ts';

/** Bytes that may wait for a slow reader; then the stream is ended, and the reader connects again. Our default. */
const MAX_UNREAD_BYTES = 256 * 1024;

/** Milliseconds of silence after which a stream gets a comment. Our default: proxies wait for 60 s. */
export const STREAM_SILENCE_MS = 15_000;
/** Milliseconds after which the right of a reader is asked again: at most a minute, with one look and the answer. */
export const RECHECK_MS = 45_000;

/** One event of a stream; `data` is one JSON text. */
interface StreamEvent {
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

/** The readers of one kind of stream. */
export interface StreamReaders<R> {
  add(reader: R): void;
  /** A reader whose stream has ended. */
  remove(stream: OpenStream): void;
  /** Ends all streams. */
  close(): void;
}

interface LookedFor<R> extends StreamReaders<R> {
  all(): readonly R[];
  /** Removes a reader and ends the stream, so that the browser connects again. */
  drop(stream: OpenStream): void;
}

interface LookOptions {
  /** Milliseconds from the end of one look to the next. */
  readonly everyMs: number;
  readonly look: () => Promise<void>;
  /** Told of a look that rejected; the next one is made as usual. */
  readonly failed: (error: unknown) => void;
  /** Called when the last reader has left and no look is made any more. */
  readonly paused?: () => void;
}

/** Makes one look at the database for all readers, again and again, and only while there are any. */
export function openReaders<R extends { readonly stream: OpenStream }>(
  clock: Pick<Clock, 'sleep'>,
  { everyMs, look, failed, paused }: LookOptions,
): LookedFor<R> {
  const readers = new Map<OpenStream, R>();
  let isLooking = false;

  const lookRegularly = async (): Promise<void> => {
    while (readers.size > 0) {
      await look().catch(failed);
      await clock.sleep(everyMs);
    }
    paused?.();
  };
  const start = (): void => {
    if (isLooking) return;
    isLooking = true;
    void lookRegularly().finally(() => {
      isLooking = false;
      if (readers.size > 0) start();
    });
  };
  const drop = (stream: OpenStream): void => {
    readers.delete(stream);
    stream.end();
  };
  return {
    all: () => [...readers.values()],
    add(reader) {
      readers.set(reader.stream, reader);
      start();
    },
    remove: (stream) => void readers.delete(stream),
    drop,
    close() {
      for (const stream of [...readers.keys()]) drop(stream);
    },
  };
}
