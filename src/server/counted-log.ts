import type { Log } from '../ports/index.ts';

/** Milliseconds in which repetitions of a message are only counted. Default. */
const QUIET_MS = 60_000;

/**
 * Logs something that strangers can cause as often as they like: the first time at once, then one line a minute with
 * the number of repetitions.
 */
export function countedLog(log: Log): (message: string, why: string) => void {
  const counts = new Map<string, number>();
  function flush(message: string): void {
    const times = counts.get(message) ?? 0;
    counts.delete(message);
    if (times === 0) return;
    log.warn({ times }, `${message} (${times} more within the last minute)`);
    wait(message);
  }
  function wait(message: string): void {
    counts.set(message, 0);
    setTimeout(() => flush(message), QUIET_MS).unref();
  }
  return (message, why) => {
    const times = counts.get(message);
    if (times === undefined) {
      log.warn({ why }, message);
      wait(message);
    } else counts.set(message, times + 1);
  };
}
