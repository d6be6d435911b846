import { StringDecoder } from 'node:string_decoder';

/** A line longer than this is handed on in pieces (characters), so that a flood without line ends cannot grow memory. */
const LONGEST_LINE = 64 * 1024;

export interface Captured {
  readonly text: string;
  readonly truncated: boolean;
}

/** Keeps the first and the last half of a stream; a line between them says how many bytes were left out. */
export interface Capture {
  add(chunk: Buffer): void;
  end(): Captured;
}

/** Keeps at most `bytes` of a stream, in memory of about the same size however much flows through. */
export function capture(bytes: number): Capture {
  const headLimit = Math.ceil(bytes / 2);
  const tailLimit = bytes - headLimit;
  const head: Buffer[] = [];
  let headSize = 0;
  // A ring: the stream's byte n (after the head) lies at n modulo its size. It grows by doubling up to the limit.
  let ring = Buffer.alloc(0);
  let seen = 0;

  const grow = (needed: number): void => {
    if (ring.length >= tailLimit || needed <= ring.length) return;
    const larger = Buffer.alloc(Math.min(tailLimit, Math.max(needed, ring.length * 2, 4096)));
    ring.copy(larger, 0, 0, Math.min(seen, ring.length));
    ring = larger;
  };
  const keepTail = (chunk: Buffer): void => {
    grow(seen + chunk.length);
    const last = chunk.subarray(Math.max(0, chunk.length - ring.length));
    const at = ring.length === 0 ? 0 : (seen + chunk.length - last.length) % ring.length;
    const first = last.copy(ring, at);
    last.copy(ring, 0, first);
    seen += chunk.length;
  };

  return {
    add(chunk) {
      const toHead = chunk.subarray(0, headLimit - headSize);
      if (toHead.length > 0) head.push(Buffer.from(toHead));
      headSize += toHead.length;
      if (toHead.length < chunk.length) keepTail(chunk.subarray(toHead.length));
    },
    end() {
      const left = Math.max(0, seen - tailLimit);
      if (left === 0) {
        const all = Buffer.concat([...head, ring.subarray(0, seen)]);
        return { text: all.toString('utf8'), truncated: false };
      }
      const at = tailLimit === 0 ? 0 : seen % tailLimit;
      const tail = Buffer.concat([ring.subarray(at), ring.subarray(0, at)]);
      const text = `${wholeEnd(Buffer.concat(head))}\n[${left} bytes left out]\n${wholeStart(tail)}`;
      return { text, truncated: true };
    },
  };
}

/** Text without a character that the cut left incomplete at the end. */
const wholeEnd = (bytes: Buffer): string => new StringDecoder('utf8').write(bytes);

/** Text without the rest of a character whose start was left out. */
function wholeStart(bytes: Buffer): string {
  let from = 0;
  while (from < 3 && ((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  return bytes.subarray(from).toString('utf8');
}

export interface Lines {
  add(chunk: Buffer): void;
  /** Hands on the last line if no line end followed it. */
  end(): void;
}

/** Cuts a stream into lines, without their line ends. */
export function lines(onLine: (line: string) => void): Lines {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  const hand = (line: string): void => onLine(line.endsWith('\r') ? line.slice(0, -1) : line);
  return {
    add(chunk) {
      const parts = (rest + decoder.write(chunk)).split('\n');
      rest = parts.pop() ?? '';
      for (const line of parts) hand(line);
      while (rest.length > LONGEST_LINE) {
        hand(rest.slice(0, LONGEST_LINE));
        rest = rest.slice(LONGEST_LINE);
      }
    },
    end() {
      rest += decoder.end();
      if (rest !== '') hand(rest);
      rest = '';
    },
  };
}
