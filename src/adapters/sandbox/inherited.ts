import { readdirSync, readFileSync } from 'node:fs';

/** O_CLOEXEC as /proc/PID/fdinfo shows it; the same on x64 and arm64. */
const CLOSE_ON_EXEC = 0o2000000;

/**
 * Descriptors beyond the standard ones that every program this process starts would receive: what its own parent (a
 * service manager, a shell, a test runner) left open. Node opens its own so that they are not passed on.
 */
export function inheritedDescriptors(): readonly number[] {
  const passedOn = (fd: string): boolean => {
    try {
      const flags = /^flags:\s+([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1];
      return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
    } catch {
      // The descriptor of this very listing, closed by now.
      return false;
    }
  };
  return readdirSync('/proc/self/fd')
    .filter((fd) => Number(fd) > 2 && passedOn(fd))
    .map(Number);
}
