import { createHash } from 'node:crypto';
import { type ArtifactRef, Fault } from '../../core/model/index.ts';

const HASH_PATTERN = /^[0-9a-f]{64}$/;

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

export const artifactRef = (bytes: Buffer): ArtifactRef => ({ sha256: sha256(bytes), bytes: bytes.length });

/** `ab/cdef…`, the same in a folder and in a bucket, so that one can be copied to the other. Fault INTERNAL. */
export function artifactName(hash: string): string {
  if (!HASH_PATTERN.test(hash)) throw new Fault('INTERNAL', `\`${hash}\` is not the name of an artifact.`);
  return `${hash.slice(0, 2)}/${hash.slice(2)}`;
}

/** The hash that a name stands for; null for what is no artifact. */
export function hashInName(name: string): string | null {
  const hash = name.replace('/', '');
  return name[2] === '/' && HASH_PATTERN.test(hash) ? hash : null;
}

/** The text of `ref`, or STORED_DATA_DAMAGED when these bytes are not it; `where` names the store, for the log only. */
export function verified(bytes: Buffer | null, ref: ArtifactRef, where: string): string {
  if (bytes === null) throw damagedFault('gone', `${where}/${artifactName(ref.sha256)} is gone`);
  if (bytes.length !== ref.bytes || sha256(bytes) !== ref.sha256) {
    throw damagedFault('damaged', `${where}/${artifactName(ref.sha256)} is not what was put there`);
  }
  return bytes.toString('utf8');
}

const damagedFault = (how: 'gone' | 'damaged', detail: string): Fault =>
  new Fault('STORED_DATA_DAMAGED', `Stored data of this run is ${how} on the machine that runs Runoff.`, {
    cause: new Error(detail),
  });
