import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { prepareEtc, writeOnce } from '../etc.ts';

export interface ContainerFiles {
  /** Folder of the synthetic /etc. */
  readonly etc: string;
  readonly entry: string;
}

const ENTRY = readFileSync(join(import.meta.dirname, 'entry.mjs'), 'utf8');

/**
 * Writes what every container sees of /etc, and its entry, below `scratch` once. Copies, because Runoff may be installed
 * where the sandboxes' user cannot read. Ids differ from the default sandbox's: engines map users their own way.
 */
export function prepareContainerFiles(scratch: string, uid: number, gid: number): ContainerFiles {
  const given = prepareEtc(scratch);
  const files: Record<string, string> = {
    ...Object.fromEntries(readdirSync(given).map((name) => [name, readFileSync(join(given, name), 'utf8')])),
    passwd: `${unlessRoot(uid, 'root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n')}agent:x:${uid}:${gid}:agent:/home/agent:/bin/sh\n`,
    group: `${unlessRoot(gid, 'root:x:0:\n')}agent:x:${gid}:\n`,
    // Without a network there is no resolver; the engine would show the host's.
    'resolv.conf': '',
    'entry.mjs': ENTRY,
  };
  const digest = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 12);
  const folder = join(scratch, `container-${digest}`);
  writeOnce(folder, files);
  return { etc: folder, entry: join(folder, 'entry.mjs') };
}

const unlessRoot = (id: number, line: string): string => (id === 0 ? '' : line);
