import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { prepareEtc } from '../etc.ts';

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
  if (!existsSync(folder)) write(folder, files);
  return { etc: folder, entry: join(folder, 'entry.mjs') };
}

const unlessRoot = (id: number, line: string): string => (id === 0 ? '' : line);

function write(folder: string, files: Readonly<Record<string, string>>): void {
  const building = `${folder}.${randomBytes(6).toString('hex')}`;
  mkdirSync(building, { recursive: true, mode: 0o755 });
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(building, name), text, { mode: 0o644 });
  try {
    renameSync(building, folder);
  } catch (thrown) {
    rmSync(building, { recursive: true, force: true });
    // Another process was faster; what it wrote is the same.
    if (!existsSync(folder)) throw thrown;
  }
}
