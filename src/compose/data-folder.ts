import { chmod, chown, mkdir, readdir, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { Fault } from '../core/model/index.ts';
import { dataPaths } from './paths.ts';

/** Others may pass through, to what is open to them inside, and may not look around. */
const PASSABLE = 0o711;
const OTHERS_MAY_WRITE = 0o002;

/** What may lie in a folder that is as good as empty: what file systems bring, and our own settings. */
const UNIMPORTANT: ReadonlySet<string> = new Set(['lost+found', '.env']);

const { agents, database, sockets, toolchain } = dataPaths('/');
/** What Runoff makes first in its data folder, by names that nobody else uses; `app.pem` is from setting up the App. */
const OURS: ReadonlySet<string> = new Set([
  ...[agents, database, sockets, toolchain].map((path) => basename(path)),
  'app.pem',
]);

/**
 * The data folder, made if it is missing. Mode and owner are set only on what Runoff made: a folder of somebody else's
 * is never taken over. Fault ENVIRONMENT_INVALID when it holds other things, or when everybody may write to it.
 */
export async function openDataFolder(path: string, owner: { readonly gid: number } | null): Promise<void> {
  const data = resolve(path);
  const first = await makeFolder(data);
  if (first === undefined) {
    // As an ordinary user we are the sandbox's user too: whatever the mode is, it may enter.
    if (!(await isOurs(data)) || owner === null) return;
  }
  // What we made ourselves is opened whatever the umask.
  for (let made = data; made.length >= (first ?? data).length; made = dirname(made)) {
    await chmod(made, PASSABLE);
  }
  if (owner) await chown(data, 0, owner.gid);
}

async function makeFolder(data: string): Promise<string | undefined> {
  try {
    return await mkdir(data, { recursive: true, mode: PASSABLE });
  } catch (thrown) {
    throw new Fault(
      'ENVIRONMENT_INVALID',
      `RUNOFF_DATA: the data folder ${data} cannot be made: ${(thrown as Error).message}.`,
      { cause: thrown },
    );
  }
}

/** False for a folder that is empty: it may be used as it is. */
async function isOurs(data: string): Promise<boolean> {
  if (((await stat(data)).mode & OTHERS_MAY_WRITE) !== 0) {
    throw refused(data, 'everybody may write to it');
  }
  const names = (await readdir(data)).filter((name) => !UNIMPORTANT.has(name));
  if (names.length === 0) return false;
  if (names.some((name) => OURS.has(name))) return true;
  throw refused(data, 'it holds other things');
}

const refused = (data: string, why: string): Fault =>
  new Fault(
    'ENVIRONMENT_INVALID',
    `RUNOFF_DATA: ${data} cannot be the data folder: ${why}. Name a folder for Runoff alone; it is made if it is missing.`,
  );
