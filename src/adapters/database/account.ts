import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { Fault } from '../../core/model/index.ts';

/** The account the database server runs as; `ids` is empty when it is our own. */
export interface Account {
  readonly name: string;
  readonly ids: { readonly uid?: number; readonly gid?: number };
}

function numericId(flag: '-u' | '-g', name: string): number | null {
  const answer = spawnSync('id', [flag, name], { encoding: 'utf8' });
  return answer.status === 0 ? Number(answer.stdout) : null;
}

/** Postgres refuses to run as root, and initdb wants an entry in the password file: root takes `postgres`, else `nobody`. */
export function serverAccount(): Account {
  if (process.getuid?.() !== 0) return { name: 'this user', ids: {} };
  for (const name of ['postgres', 'nobody']) {
    const uid = numericId('-u', name);
    const gid = numericId('-g', name);
    if (uid && gid !== null) return { name, ids: { uid, gid } };
  }
  throw new Fault(
    'DATABASE_UNAVAILABLE',
    'The embedded database cannot run as root, and this system has neither a user `postgres` nor `nobody`.',
  );
}

function mayEnter(path: string, uid: number, gid: number): boolean {
  const entry = statSync(path);
  if (entry.uid === uid) return (entry.mode & 0o100) !== 0;
  if (entry.gid === gid) return (entry.mode & 0o010) !== 0;
  return (entry.mode & 0o001) !== 0;
}

/**
 * Makes the folder of the embedded database and checks that the server's account can reach it.
 * Refuses a folder below one that is closed to that account, e.g. /root, with DATABASE_UNAVAILABLE. Returns its real
 * path: two processes that name it through different links must find the same server.
 */
export function openFolder(path: string, account: Account): string {
  const wanted = resolve(path);
  const { uid, gid } = account.ids;
  if (uid === undefined || gid === undefined) {
    mkdirSync(wanted, { recursive: true, mode: 0o700 });
    return realpathSync(wanted);
  }
  const steps = relative(sep, wanted).split(sep);
  for (let depth = 0; depth <= steps.length; depth += 1) {
    const folder = join(sep, ...steps.slice(0, depth));
    if (!existsSync(folder)) break;
    if (mayEnter(folder, uid, gid)) continue;
    throw new Fault(
      'DATABASE_UNAVAILABLE',
      `The embedded database cannot run in ${wanted}: it runs as user ${account.name}, who may not enter ${folder}. ` +
        'Choose a data folder that every user may enter, such as /var/lib/runoff, or open this one with `chmod o+x`.',
    );
  }
  const first = mkdirSync(wanted, { recursive: true });
  // What we made ourselves is opened whatever the umask; folders of others stay as they are.
  if (first !== undefined) {
    for (let made = wanted; made.length >= first.length; made = dirname(made)) chmodSync(made, 0o755);
  }
  return realpathSync(wanted);
}
