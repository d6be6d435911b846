import { StringDecoder } from 'node:string_decoder';

/**
 * A longer line is passed on in pieces of this many characters, so that endless output without line breaks cannot fill
 * memory.
 */
const MAX_LINE_CHARS = 64 * 1024;

interface Captured {
  readonly text: string;
  readonly truncated: boolean;
}

/** Keeps the start and the end of a stream; a line between them states how many bytes were omitted. */
interface Capture {
  add(chunk: Buffer): void;
  end(): Captured;
}

/** Keeps at most `bytes` of a stream, using about as much memory however long the stream is. */
export function capture(bytes: number): Capture {
  const headLimit = Math.ceil(bytes / 2);
  const tailLimit = bytes - headLimit;
  const head: Buffer[] = [];
  let headSize = 0;
  // A ring buffer: byte n of the stream (after the head) is at n modulo its size. It doubles until it reaches the
  // limit.
  let ring = Buffer.alloc(0);
  let tailBytes = 0;

  const grow = (needed: number): void => {
    if (ring.length >= tailLimit || needed <= ring.length) return;
    const larger = Buffer.alloc(Math.min(tailLimit, Math.max(needed, ring.length * 2, 4096)));
    ring.copy(larger, 0, 0, Math.min(tailBytes, ring.length));
    ring = larger;
  };
  const keepTail = (chunk: Buffer): void => {
    grow(tailBytes + chunk.length);
    const last = chunk.subarray(Math.max(0, chunk.length - ring.length));
    const at = ring.length === 0 ? 0 : (tailBytes + chunk.length - last.length) % ring.length;
    const first = last.copy(ring, at);
    last.copy(ring, 0, first);
    tailBytes += chunk.length;
  };

  return {
    add(chunk) {
      const toHead = chunk.subarray(0, headLimit - headSize);
      if (toHead.length > 0) head.push(Buffer.from(toHead));
      headSize += toHead.length;
      if (toHead.length < chunk.length) keepTail(chunk.subarray(toHead.length));
    },
    end() {
      const left = Math.max(0, tailBytes - tailLimit);
      if (left === 0) {
        const all = Buffer.concat([...head, ring.subarray(0, tailBytes)]);
        return { text: all.toString('utf8'), truncated: false };
      }
      const at = tailLimit === 0 ? 0 : tailBytes % tailLimit;
      const tail = Buffer.concat([ring.subarray(at), ring.subarray(0, at)]);
      const text = `${wholeEnd(Buffer.concat(head))}\n[${left} bytes left out]\n${wholeStart(tail)}`;
      return { text, truncated: true };
    },
  };
}

/** The text without an incomplete character at its end. */
const wholeEnd = (bytes: Buffer): string => new StringDecoder('utf8').write(bytes);

/** The text without an incomplete character at its start. */
function wholeStart(bytes: Buffer): string {
  let from = 0;
  while (from < 3 && ((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  return bytes.subarray(from).toString('utf8');
}

interface LineSplitter {
  add(chunk: Buffer): void;
  /** Passes on the last line if it has no line break. */
  end(): void;
}

/** Splits a stream into lines, without their line breaks. */
export function splitLines(onLine: (line: string) => void): LineSplitter {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  const hand = (line: string): void => onLine(line.endsWith('\r') ? line.slice(0, -1) : line);
  return {
    add(chunk) {
      const parts = (rest + decoder.write(chunk)).split('\n');
      rest = parts.pop() ?? '';
      for (const line of parts) hand(line);
      while (rest.length > MAX_LINE_CHARS) {
        hand(rest.slice(0, MAX_LINE_CHARS));
        rest = rest.slice(MAX_LINE_CHARS);
      }
    },
    end() {
      rest += decoder.end();
      if (rest !== '') hand(rest);
      rest = '';
    },
  };
}
