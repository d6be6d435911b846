import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A process that descends from one that a round started. */
export interface Descendant {
  readonly pid: number;
  /** Told by the kernel at its start: a number that is used again belongs to another. */
  readonly begun: string;
  readonly name: string;
  readonly command: string;
}

const read = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

const childrenOf = (pid: number): readonly number[] => {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      read(`/proc/${pid}/task/${task}/children`).split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
};

/** What follows the name in /proc/<pid>/stat; the name may hold anything. */
const fieldsOf = (pid: number): readonly string[] =>
  read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
const BEGUN = 19;

function victim(pid: number): Descendant | null {
  const begun = fieldsOf(pid)[BEGUN];
  if (begun === undefined) return null;
  return {
    pid,
    begun,
    name: read(`/proc/${pid}/comm`).trim(),
    command: read(`/proc/${pid}/cmdline`)
      .replaceAll(/[\0\s]+/g, ' ')
      .trim()
      .slice(0, 120),
  };
}

/** All that descend from these, children before grandchildren; zombies are left out. */
export function descendants(roots: readonly number[]): readonly Descendant[] {
  const found: Descendant[] = [];
  const seen = new Set<number>(roots);
  let level = roots.flatMap(childrenOf);
  while (level.length > 0) {
    const next: number[] = [];
    for (const pid of level) {
      if (seen.has(pid)) continue;
      seen.add(pid);
      const one = victim(pid);
      if (one && fieldsOf(pid)[0] !== 'Z') found.push(one);
      next.push(...childrenOf(pid));
    }
    level = next;
  }
  return found;
}

/** Sends a signal, unless the process is gone and its number is another's; whether it was sent. */
export function send({ pid, begun }: Pick<Descendant, 'pid' | 'begun'>, signal: NodeJS.Signals): boolean {
  if (fieldsOf(pid)[BEGUN] !== begun) return false;
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** The process itself as a victim; null when it is gone. `below`: refused unless it works in this folder. */
export function ownProcess(pid: number, below?: string): Descendant | null {
  if (below !== undefined) {
    try {
      if (!readlinkSync(`/proc/${pid}/cwd`).startsWith(below)) return null;
    } catch {
      return null;
    }
  }
  return victim(pid);
}

const SUPERVISORS: ReadonlySet<string> = new Set(['bwrap', 'unshare']);
const isDatabase = ({ name }: Descendant): boolean => name === 'postgres';

/** Programs that hold a sandbox together. */
export const supervisors = (all: readonly Descendant[]): readonly Descendant[] =>
  all.filter(({ name }) => SUPERVISORS.has(name));

/** All others: git, flock, agents, tests, shells. */
export const otherChildren = (all: readonly Descendant[]): readonly Descendant[] =>
  all.filter((one) => !SUPERVISORS.has(one.name) && !isDatabase(one));
