import { readFileSync } from 'node:fs';
import { findInit, type Init } from '../processes.ts';

/** Among processes that share a container, as the host counts them, the one that is number 1 inside; null: none is. */
export function findFirst(pids: readonly number[]): Init | null {
  const pid = pids.find((candidate) => numberInside(candidate) === 1);
  return pid === undefined ? null : findInit(pid);
}

function numberInside(pid: number): number | null {
  try {
    const line = /^NSpid:\t(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return line === undefined ? null : Number(line.split('\t').at(-1));
  } catch {
    // It has just ended.
    return null;
  }
}
