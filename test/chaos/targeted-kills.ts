import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** A child that is killed at its `nth` start. */
export interface KillTarget {
  readonly program: 'git' | 'flock';
  /** How its arguments begin; empty: any. */
  readonly words: string;
  readonly nth: number;
  /** Seconds that it lives, at most; absent: it is dead before it does anything. */
  readonly after?: number;
  readonly signal?: 'KILL' | 'TERM' | 'SEGV';
}

export interface TargetedKills {
  /** With programs in front of the real ones that count their starts, and kill themselves at those aimed at. */
  readonly PATH: string;
  /** The aims that were not met. */
  missed(): Promise<readonly KillTarget[]>;
}

/** Writes below `home`. */
export async function targetedKillsPath(home: string, aims: readonly KillTarget[]): Promise<TargetedKills> {
  const [folder, seen] = [join(home, 'aimed'), join(home, 'aimed-seen')];
  await mkdir(folder, { mode: 0o755 });
  await mkdir(seen);
  // Some are started as the user that sandboxes run as.
  await chmod(seen, 0o777);
  const of = (at: number): string => join(seen, `aim-${at}`);
  for (const program of new Set(aims.map((aim) => aim.program))) {
    const counters = aims.map((aim, at) => (aim.program === program ? counter(aim, of(at)) : ''));
    const lines = ['#!/bin/sh', ...counters, `exec /usr/bin/${program} "$@"`, ''];
    await writeFile(join(folder, program), lines.join('\n'), { mode: 0o755 });
  }
  return {
    PATH: `${folder}:${process.env.PATH}`,
    async missed() {
      const names = await readdir(seen);
      return aims.filter((_, at) => !names.includes(`aim-${at}-hit`));
    },
  };
}

function counter({ words, nth, after, signal = 'KILL' }: KillTarget, mark: string): string {
  // Nobody shall wait for the pipes of the one that kills.
  const late = `(sleep ${after}; kill -${signal} $$) < /dev/null > /dev/null 2>&1 &`;
  const kill = after === undefined ? `kill -${signal} $$;` : late;
  return `case "$*" in "${words}"*)
  n=1; while ! mkdir ${mark}-$n 2> /dev/null; do n=$((n + 1)); done
  if [ $n -eq ${nth} ]; then mkdir ${mark}-hit; ${kill} fi ;;
esac`;
}

/** A process of a sandbox that is killed as soon as it is seen. */
export interface SandboxTarget {
  readonly name: string;
  /** The first words of its command line. */
  readonly begins: readonly string[];
  /** What stands somewhere in it. */
  readonly holds: string;
  /** Of two processes of the same name, the one that is the other's child. */
  readonly inner?: boolean;
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly line: string;
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // It has just ended.
    return null;
  }
}

/** Gives everything that a process started, and what that started. Of others it remembers that they are none of it. */
function familyOf(root: number): () => readonly Process[] {
  const strangers = new Set<number>();
  const family = new Map([[root, 0]]);
  return () => {
    const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
    for (const pid of pids.toSorted((one, two) => one - two)) {
      if (strangers.has(pid) || family.has(pid)) continue;
      const stat = read(`/proc/${pid}/stat`);
      const parent = Number(stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      if (family.has(parent)) family.set(pid, parent);
      else strangers.add(pid);
    }
    return [...family].flatMap(([pid, parent]) => {
      const line = pid === root ? null : read(`/proc/${pid}/cmdline`);
      return line === null ? [] : [{ pid, parent, line }];
    });
  };
}

/** Milliseconds between two looks: launchers live for tens of them, and this process has other things to do. */
const LOOK_EVERY_MS = 3;

/**
 * Watches what a process starts, and kills one of each prey, one after the other. Resolves when `over`, with the names of
 * those that were not met.
 */
export async function killWhenSeen(
  root: number,
  preys: readonly SandboxTarget[],
  over: AbortSignal,
): Promise<readonly string[]> {
  const left = [...preys];
  const family = familyOf(root);
  while (!over.aborted) {
    const all = left.length > 0 ? family() : [];
    const at = left.findIndex((prey) => all.some((one) => kill(one, prey, all)));
    if (at >= 0) left.splice(at, 1);
    await delay(LOOK_EVERY_MS);
  }
  return left.map(({ name }) => name);
}

function kill({ pid, parent, line }: Process, prey: SandboxTarget, all: readonly Process[]): boolean {
  const first = `${prey.begins.join('\0')}\0`;
  if (!line.startsWith(first) || !line.includes(prey.holds)) return false;
  const inner = all.some((one) => one.pid === parent && one.line.startsWith(first));
  if (inner !== (prey.inner ?? false)) return false;
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    // It was faster: another one then.
    return false;
  }
}
