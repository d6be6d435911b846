import { readFileSync } from 'node:fs';

/** Limits of this process that a sandbox cannot have higher; infinity where there is none. */
export interface Ceilings {
  readonly processes: number;
  readonly files: number;
  readonly fileBytes: number;
}

/** The hard limits from /proc/self/limits. */
export function readCeilings(): Ceilings {
  const text = readFileSync('/proc/self/limits', 'utf8');
  const hard = (name: string): number => {
    const value = new RegExp(`^${name} +\\S+ +(\\d+)`, 'm').exec(text)?.[1];
    return value === undefined ? Number.POSITIVE_INFINITY : Number(value);
  };
  return {
    processes: hard('Max processes'),
    files: hard('Max open files'),
    fileBytes: hard('Max file size'),
  };
}
