import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a sandbox sees of /etc instead of the host's: no accounts, no names, no time zone (so UTC). */
const FILES: Readonly<Record<string, string>> = {
  passwd: [
    'root:x:0:0:root:/nonexistent:/usr/sbin/nologin',
    'agent:x:1000:1000:agent:/home/agent:/bin/sh',
    'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin',
    '',
  ].join('\n'),
  group: ['root:x:0:', 'agent:x:1000:', 'nogroup:x:65534:', ''].join('\n'),
  hosts: ['127.0.0.1 localhost sandbox', '::1 localhost ip6-localhost', ''].join('\n'),
  'nsswitch.conf': ['passwd: files', 'group: files', 'hosts: files', 'services: files', ''].join('\n'),
  // /repo belongs to another uid than its readers in some mounts, which git takes for a trap.
  gitconfig: [
    '[safe]',
    '\tdirectory = *',
    '[user]',
    '\tname = agent',
    '\temail = agent@sandbox.invalid',
    '[init]',
    '\tdefaultBranch = main',
    '',
  ].join('\n'),
};

/** Public host files that programs in /usr need in order to run; absent ones are skipped. */
export const PUBLIC_ETC = [
  '/etc/alternatives',
  '/etc/ld.so.cache',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
  '/etc/pki/tls/certs',
  '/etc/pki/ca-trust/extracted',
  '/etc/ca-certificates/extracted',
  '/etc/crypto-policies',
  '/etc/services',
  '/etc/protocols',
  '/etc/mime.types',
  '/etc/fonts',
] as const;

export const SYNTHETIC_ETC = Object.keys(FILES);

/** Writes the synthetic files below `scratch` once and returns their folder. */
export function prepareEtc(scratch: string): string {
  const folder = join(scratch, 'etc-1');
  writeOnce(folder, FILES);
  return folder;
}

/** Makes a folder of files that sandboxes read, whole or not at all, unless it is there: its name tells its content. */
export function writeOnce(folder: string, files: Readonly<Record<string, string>>): void {
  if (existsSync(folder)) return;
  const building = `${folder}-${randomBytes(6).toString('hex')}`;
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
