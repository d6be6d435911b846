import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

/** Bytes of lines that are kept while they cannot be written; later lines are dropped. Our default. */
const MAX_UNWRITTEN_BYTES = 2 ** 20;

const LOG_RETRY_MS = 100;
/** A process that has nothing else to do does not wait longer for its lines to be written. Our default. */
const MAX_RETRIES_AT_END = 30;

/**
 * Lines on standard error, which may be a file on a full disk, a terminal that is gone, or a pipe that nobody reads:
 * the process neither ends nor waits because of it. Lines are written at once, so that none is lost in a crash. Those
 * that cannot be are tried again until they are written. `onLost` is told how many were dropped, when there is space.
 *
 * Pino's own destination, once full, drops lines without trying to write. It waits for a full disk or a stalled reader:
 * at each line if it writes synchronously, otherwise when the process exits.
 */
export function standardError(onLost: (lines: number) => void): DestinationStream {
  const file = withoutWaiting();
  let unwritten: Buffer[] = [];
  let bytes = 0;
  let lost = 0;
  let failures = 0;
  let retry: NodeJS.Timeout | null = null;

  const stayAlive = (): void => {
    if (failures < MAX_RETRIES_AT_END) retry?.ref();
  };

  function flush(): void {
    if (retry !== null) {
      clearTimeout(retry);
      process.off('exit', flush).off('beforeExit', stayAlive);
    }
    retry = null;
    let rest = Buffer.concat(unwritten);
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(file, rest));
    } catch {
      retry = setTimeout(flush, LOG_RETRY_MS).unref();
      process.on('exit', flush).on('beforeExit', stayAlive);
    }
    failures = rest.length < bytes ? 0 : failures + 1;
    unwritten = rest.length > 0 ? [rest] : [];
    bytes = rest.length;
    // Not for each line that finds space beside a slow reader.
    if (lost > 0 && bytes <= MAX_UNWRITTEN_BYTES / 2) {
      const lines = lost;
      lost = 0;
      onLost(lines);
    }
  }

  return {
    write(line) {
      const added = Buffer.from(line);
      // After a dropped line all are dropped, so that one place in the log says where lines are missing.
      if (lost > 0 || (bytes > 0 && bytes + added.length > MAX_UNWRITTEN_BYTES)) {
        lost += 1;
        return;
      }
      unwritten.push(added);
      bytes += added.length;
      if (retry === null) flush();
    },
  };
}

/** Standard error as a file that refuses what its reader does not take, instead of blocking the process. */
function withoutWaiting(): number {
  const standard = 2;
  // Two openings of a regular file would write to the same positions.
  if (fstatSync(standard).isFile()) return standard;
  try {
    // The standard opening of a terminal blocks, and so does that of a pipe once a child has inherited it.
    return openSync(
      `/proc/self/fd/${standard}`,
      constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY,
    );
  } catch {
    // A socket, or a pipe of another user. Node makes both non-blocking when this is first read.
    void process.stderr;
    return standard;
  }
}
