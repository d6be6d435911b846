import { statfs } from 'node:fs/promises';
import { Fault } from '../../core/model/index.ts';

/** Less than this, and programs begin to fail for want of space. */
const FULL_BYTES = 2 ** 20;

/** What a file counts besides its content: file systems run out of files too (ext4 has one for each 16 KiB). Our default. */
export const BYTES_A_FILE = 4096;

/** The space on a file system at one moment. */
export interface Room {
  /** Room for bytes and for files, as bytes: any use of either makes it less. */
  readonly bytes: number;
  /** Bytes until the first of the two runs out. */
  readonly first: number;
  readonly full: boolean;
}

/** The space on the file system of a folder. */
export async function roomIn(folder: string): Promise<Room> {
  const { bavail, bsize, files, ffree } = await statfs(folder);
  return {
    bytes: bavail * bsize + ffree * BYTES_A_FILE,
    first: Math.min(bavail * bsize, files > 0 ? ffree * BYTES_A_FILE : Number.POSITIVE_INFINITY),
    full: bavail * bsize < FULL_BYTES || (files > 0 && ffree === 0),
  };
}

/**
 * Who filled a disk that is full? The command, when it holds more than half of what was free when it began: then it is
 * stopped for it. Else somebody else, and nothing that the command does from here on says anything about it: fault DISK_FULL,
 * so that it is run again when there is room.
 */
export function blame(before: Room, written: number): 'disk' {
  if (!before.full && written > Math.max(FULL_BYTES, before.first / 2)) return 'disk';
  const megabytes = (bytes: number): string => `${Math.round(Math.max(0, bytes) / 1e6)} MB`;
  throw new Fault(
    'DISK_FULL',
    `The disk of this machine was full while a command ran, which itself had written ${megabytes(written)} of the ${megabytes(before.first)} that were free before.`,
  );
}
