import { Fault } from '../../core/model/index.ts';
import type { ExecResult, ExecSpec } from '../../ports/index.ts';
import { type BoxEnd, startBox } from './box.ts';
import type { ControlGroup } from './groups.ts';
import type { Launch } from './launch.ts';
import { INSIDE } from './layout.ts';
import type { Owner } from './owner.ts';
import type { ProcessTable } from './processes.ts';
import { roomIn } from './room.ts';
import { type Supervised, supervise } from './supervise.ts';
import { lastLook, watch } from './watchdog.ts';

export interface RunInput {
  readonly spec: ExecSpec;
  readonly launch: Launch;
  readonly filter: Buffer;
  readonly owner: Owner | null;
  readonly table: ProcessTable;
  /** Bytes in the area that the command did not write, because the area is a copy. */
  readonly givenBytes: number;
  /** Holds the limits of memory and processes; null: memory is watched. The caller made it, and `run` closes it. */
  readonly group: ControlGroup | null;
}

/** Runs a launch to its end within its limits. */
export async function run(input: RunInput): Promise<ExecResult> {
  const { group } = input;
  if (group === null) return resultOf(await follow(input), false);
  let followed: Supervised<BoxEnd>;
  try {
    followed = await follow(input);
  } catch (thrown) {
    await group.close();
    throw thrown;
  }
  return resultOf(followed, (await group.close()).outOfMemory);
}

function resultOf({ end, stopped, ...rest }: Supervised<BoxEnd>, outOfMemory: boolean): ExecResult {
  const reason = stopped ?? (outOfMemory ? 'memory' : null);
  return { exitCode: reason === null ? exitCode(end, rest.stderr) : null, stopped: reason, ...rest };
}

async function follow(input: RunInput): Promise<Supervised<BoxEnd>> {
  const { spec, launch, filter, owner, table, givenBytes, group } = input;
  const folders = [spec.area.upper, spec.area.home, ...(spec.out === undefined ? [] : [spec.out])] as const;
  const room = await roomIn(folders[0]);
  // What reads an area is our own: it never counts as having filled the disk.
  const disk = { folders, givenBytes, room: spec.readOnly ? { ...room, full: true } : room };
  const box = startBox(launch, spec.stdin, { filter, door: group?.door ?? null }, owner);
  const memoryBytes = group === null ? spec.limits.memoryBytes : null;
  return await supervise(
    {
      ...box,
      kill() {
        box.kill();
        group?.kill();
      },
      async watch(over) {
        const init = await box.init;
        if (init === null) return null;
        const watched = { ...disk, init, memoryBytes, diskBytes: spec.limits.diskBytes };
        return await watch(watched, table, owner, over);
      },
      lastLook: () => lastLook(disk, owner),
    },
    spec,
  );
}

/** The numbers of signals that end a command; shells and bubblewrap report a death by signal as 128 + number. */
export const DEADLY_SIGNALS = [2, 4, 5, 6, 7, 8, 9, 11, 13, 15, 24, 25, 31];

function exitCode({ reported, code }: BoxEnd, stderr: string): number | null {
  if (reported !== null) return DEADLY_SIGNALS.includes(reported - 128) ? null : reported;
  // The launcher itself was killed, by the kernel out of memory or by an operator.
  if (code === null) return null;
  const notStarted = /^bwrap: execvp [^\n]*: ([^\n:]+)\n/.exec(stderr);
  if (notStarted !== null) return notStarted[1] === 'No such file or directory' ? 127 : 126;
  const why = stderr.trim().split('\n').slice(-3).join('; ') || `the launcher ended with code ${code}`;
  throw new Fault('SANDBOX_UNAVAILABLE', `The sandbox could not be set up for ${INSIDE.repo}: ${why}`);
}
