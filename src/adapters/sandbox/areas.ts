import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { Fault, machineFaultIn } from '../../core/model/index.ts';
import type { ExecSpec, WorkArea } from '../../ports/index.ts';
import { type Owner, runCommand } from './processes.ts';
import { bytesIn } from './usage.ts';

/**
 * Replaces overlay mounts: `upper` is filled with a copy of the layers and used directly. A later area that uses this
 * `upper` as a layer gets the whole tree from it and nothing from the layers below, so deletions carry over too, except
 * in a layer that was moved since. `home` is filled with a copy of its layer at the same time.
 */
interface Copies {
  /** Fills the area unless that has been done; returns the size of the copy in bytes. */
  ensure(area: WorkArea): Promise<number>;
}

export function openCopies(scratch: string, owner: Owner | null): Copies {
  const underWay = new Map<string, Promise<number>>();
  const marks = join(scratch, 'copies');

  // The mark is where no sandbox can reach it, and names the folder's inode: a recreated area is filled again.
  const markOf = (upper: string): string => {
    const { ino, birthtimeMs } = statSync(upper);
    const key = createHash('sha256').update(`${upper}\0${ino}\0${birthtimeMs}`).digest('hex');
    return join(marks, key);
  };
  /** Removes marks of folders that other parts have removed or moved. */
  const sweepMarks = (): void => {
    for (const name of readdirSync(marks).filter((each) => MARK.test(each))) {
      const mark = join(marks, name);
      const upper = readMark(mark)?.upper;
      if (upper === undefined || !existsSync(upper) || markOf(upper) !== mark) rmSync(mark, { force: true });
    }
  };
  // An existing file is removed first: it may be read-only, or a link that would be followed.
  const cp = ['cp', '-a', '--remove-destination', '--reflink=auto', '--'] as const;
  const copyInto = async (layer: string, folder: string): Promise<void> => {
    const copy = await runCommand([...cp, `${layer}/.`, folder], owner);
    if (copy.code !== 0) throw copyFault(layer, copy.stderr);
  };
  const fill = async (area: WorkArea, mark: string): Promise<number> => {
    const whole = area.lowers.findIndex((layer) => existsSync(layer) && existsSync(markOf(layer)));
    const layers = whole < 0 ? area.lowers : area.lowers.slice(0, whole + 1);
    for (const layer of layers.toReversed()) {
      await copyInto(layer, area.upper);
    }
    if (area.homeLower !== undefined) await copyInto(area.homeLower, area.home);
    const bytes = await bytesIn([area.upper, area.home], owner);
    mkdirSync(marks, { recursive: true });
    writeMark(mark, { bytes, upper: area.upper });
    sweepMarks();
    return bytes;
  };

  return {
    async ensure(area) {
      const mark = markOf(area.upper);
      const filled = readMark(mark);
      if (filled !== null) return filled.bytes;
      const filling = underWay.get(mark) ?? fill(area, mark).finally(() => underWay.delete(mark));
      underWay.set(mark, filling);
      return await filling;
    },
  };
}

/** The name of a mark; a draft of one has more. */
const MARK = /^[0-9a-f]{64}$/;

const CopyMark = z.object({ bytes: z.number(), upper: z.string() });
type CopyMark = z.infer<typeof CopyMark>;

/** Null if there is none or it is incomplete after a crash. */
function readMark(mark: string): CopyMark | null {
  try {
    return CopyMark.parse(JSON.parse(readFileSync(mark, 'utf8')));
  } catch (thrown) {
    if (thrown instanceof SyntaxError || thrown instanceof z.ZodError) return null;
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw thrown;
  }
}

/** Written atomically: without its mark, the area is filled again, which restores what a command has deleted. */
function writeMark(mark: string, content: CopyMark): void {
  const draft = `${mark}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, JSON.stringify(content), { flush: true });
  renameSync(draft, mark);
}

/** Why a folder or a tool could not be copied for a sandbox, from the copying program's output. */
export function copyFault(from: string, said: string): Fault {
  const code = machineFaultIn(said) === 'DISK_FULL' ? 'DISK_FULL' : 'SANDBOX_UNAVAILABLE';
  return new Fault(code, `${from} could not be copied: ${said.trim().slice(-600)}`);
}

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;
const ENTER_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
/** Never opens an existing file, which may be a link or have a second name elsewhere. */
const CREATE_FLAGS = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;

/**
 * Writes files below a folder that a command may have written to: every step uses a descriptor of the folder that the
 * last step entered and follows no link, so that nothing outside can be reached even if the folder changes meanwhile.
 * The files are new, and only their owner can read them. Throws INTERNAL for a path that is not a plain relative one,
 * DISK_FULL, or SANDBOX_UNAVAILABLE if something is in the way.
 */
export function writeBelow(
  scratchFolder: string,
  files: Readonly<Record<string, string>>,
  owner: Owner | null,
): void {
  const entries = Object.entries(files).map(([path, text]) => ({ parts: pathParts(path), text }));
  for (const { parts, text } of entries) {
    try {
      writeFileBelow(scratchFolder, parts, text, owner);
    } catch (thrown) {
      const { code, message } = thrown as NodeJS.ErrnoException;
      if (machineFaultIn(message) === 'DISK_FULL')
        throw new Fault('DISK_FULL', `There is no space left for ${parts.join('/')} of a command's HOME.`);
      throw new Fault(
        'SANDBOX_UNAVAILABLE',
        `${parts.join('/')} cannot be written below a command's HOME (${code}): a link, a file or a closed folder is in the way.`,
      );
    }
  }
}

function pathParts(path: string): readonly string[] {
  const parts = path.split('/');
  if (path.includes('\0') || parts.some((part) => part === '' || part === '.' || part === '..')) {
    throw new Fault('INTERNAL', `${JSON.stringify(path)} is no path below a command's HOME.`);
  }
  return parts;
}

/** Path of a name in the folder of a descriptor; Node has no openat. */
const nameIn = (fd: number, name: string): string => `/proc/self/fd/${fd}/${name}`;

function writeFileBelow(folder: string, parts: readonly string[], text: string, owner: Owner | null): void {
  let here = openSync(folder, ENTER_FLAGS);
  try {
    for (const name of parts.slice(0, -1)) {
      const next = enterFolder(here, name, owner);
      closeSync(here);
      here = next;
    }
    const file = createFile(nameIn(here, parts.at(-1) ?? ''));
    try {
      // The umask affects the mode of openSync.
      fchmodSync(file, 0o600);
      if (owner !== null) fchownSync(file, owner.uid, owner.gid);
      writeFileSync(file, text);
    } finally {
      closeSync(file);
    }
  } finally {
    closeSync(here);
  }
}

function enterFolder(fd: number, name: string, owner: Owner | null): number {
  let made = false;
  try {
    mkdirSync(nameIn(fd, name), { mode: 0o700 });
    made = true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  }
  const entered = openSync(nameIn(fd, name), ENTER_FLAGS);
  if (made && owner !== null) fchownSync(entered, owner.uid, owner.gid);
  return entered;
}

function createFile(path: string): number {
  try {
    return openSync(path, CREATE_FLAGS, 0o600);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
    unlinkSync(path);
    return openSync(path, CREATE_FLAGS, 0o600);
  }
}

export function folder(scratch: string, name: string): string {
  const path = join(scratch, name);
  mkdirSync(path, { recursive: true, mode: 0o755 });
  return path;
}

/**
 * A command may close its own folders (chmod 0) so that the set-up of the next command fails; their owner opens them
 * again.
 */
export function openToOwner({ area }: ExecSpec): void {
  for (const path of [area.upper, area.home]) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined)
      throw new Fault('SANDBOX_UNAVAILABLE', `The area's folder ${path} does not exist.`);
    if ((found.mode & 0o700) !== 0o700) chmodSync(path, found.mode | 0o700);
  }
}

export function makeArea(root: string, owner: Owner | null): WorkArea {
  const area: WorkArea = {
    id: 'probe',
    lowers: [join(root, 'lower')],
    upper: join(root, 'upper'),
    work: join(root, 'work'),
    merged: join(root, 'merged'),
    home: join(root, 'home'),
  };
  for (const path of [...area.lowers, area.upper, area.work, area.merged, area.home]) {
    mkdirSync(path, { recursive: true, mode: 0o755 });
    if (owner !== null) chownSync(path, owner.uid, owner.gid);
  }
  return area;
}

export function removeArea(root: string): void {
  // The kernel creates these folders, closed to everyone.
  const closed = [join(root, 'work', 'work'), join(root, 'work', 'home', 'work')];
  for (const path of closed) if (existsSync(path)) chmodSync(path, 0o700);
  rmSync(root, { recursive: true, force: true });
}
