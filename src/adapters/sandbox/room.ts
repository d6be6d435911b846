import { statfs } from 'node:fs/promises';
import { Fault } from '../../core/model/index.ts';

/** Less than this, and programs begin to fail for want of space. */
const FULL_BYTES = 2 ** 20;

/** What a file counts besides its content: file systems run out of files too (ext4 has one for each 16 KiB). Our default. */
export const BYTES_A_FILE = 4096;

/** The space on a file system at one moment. */
export interface Room {
  /** Free bytes and `BYTES_A_FILE` for each file that can still be made, added up: it falls with either. */
  readonly bytes: number;
  /** The smaller of the two, in bytes. */
  readonly scarcest: number;
  readonly full: boolean;
}

/** The space on the file system of a folder. */
export async function roomIn(folder: string): Promise<Room> {
  const { bavail, bsize, files, ffree } = await statfs(folder);
  return {
    bytes: bavail * bsize + ffree * BYTES_A_FILE,
    scarcest: Math.min(bavail * bsize, files > 0 ? ffree * BYTES_A_FILE : Number.POSITIVE_INFINITY),
    full: bavail * bsize < FULL_BYTES || (files > 0 && ffree === 0),
  };
}

/**
 * Who filled a disk that is full? The command, when it holds more than half of what was free when it began: it is stopped
 * for that. Otherwise somebody else did, and what the command does on a full disk says nothing about it: fault DISK_FULL, so
 * that it is run again when there is room.
 */
export function blame(before: Room, written: number): 'disk' {
  if (!before.full && written > Math.max(FULL_BYTES, before.scarcest / 2)) return 'disk';
  const megabytes = (bytes: number): string => `${Math.round(Math.max(0, bytes) / 1e6)} MB`;
  throw new Fault(
    'DISK_FULL',
    `The disk of this machine was full while a command ran, which itself had written ${megabytes(written)} of the ${megabytes(before.scarcest)} that were free before.`,
  );
}
