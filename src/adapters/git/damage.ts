import { createHash, randomBytes } from 'node:crypto';
import { open, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createInflate } from 'node:zlib';
import { Fault } from '../../core/model/index.ts';
import { errorTextOf, localFailure } from './faults.ts';
import type { Git } from './git.ts';
import { exists, hasCode, isSha, type Layout, namesIn, touch } from './layout.ts';
import type { Locks } from './locks.ts';

const KEY = /[0-9a-f]{24}/g;

/**
 * Finds out whether a fault was caused by a damaged repository of Runoff's. If so, the fault is STORED_DATA_DAMAGED,
 * whose message may be shown to people, and the next call recreates the repository. A mirror is fetched again; the
 * store of candidates' trees is set aside, and the trees are recreated from their patches.
 */
export function openDiagnosis(parts: {
  readonly layout: Layout;
  readonly marks: DamageMarks;
  readonly onDamage: (path: string, why: string) => void;
}): (fault: Fault) => Promise<Fault> {
  const { layout, marks, onDamage } = parts;

  return async (fault) => {
    const failure = localFailure(fault);
    if (failure === null) return fault;
    for (const key of new Set(`${failure.cwd} ${failure.message}`.match(KEY) ?? [])) {
      const mirror = layout.mirror(key);
      if (!(await exists(mirror))) continue;
      if ((await marks.damage(mirror)) !== null) {
        await marks.unmark(mirror);
        return damaged(fault);
      }
      const store = layout.objects(key);
      const why = (await exists(store)) ? await marks.damage(store) : null;
      if (why === null) continue;
      onDamage(store, why);
      await setAside(store, layout.trash());
      return damaged(fault);
    }
    return fault;
  };
}

/** Without a path, which is in the log. */
const damaged = (cause: Fault): Fault =>
  new Fault(
    'STORED_DATA_DAMAGED',
    'A stored copy of the repository is damaged on the machine that runs Runoff.',
    {
      cause,
    },
  );

async function setAside(path: string, name: string): Promise<void> {
  try {
    await rename(path, name);
  } catch (error) {
    // Another call was first.
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

/** Packs that one git verifies: their names fit into a command line. */
const PACKS_AT_ONCE = 200;

/** A file in a repository, a checkout or a layer that describes it as of the last time it was known to be complete. */
const MARK = 'runoff-mark';

/** Files of a bare repository that tell git how to read all others. */
const REPOSITORY_SETTINGS = ['config', 'HEAD'] as const;
/** Where the refs of our bare repositories are. */
const REFS = 'refs/runoff';

/**
 * Checks whether our bare repositories are as we left them. A mark is cheap: the contents of small files, and the size,
 * modification time and mode of all objects. A repository that differs from its mark is read completely before it
 * counts as damaged, because a crash can happen between a fetch and its mark.
 */
export interface DamageMarks {
  mark(repository: string): Promise<void>;
  isAsMarked(repository: string): Promise<boolean>;
  /** The next check reads everything. */
  unmark(repository: string): Promise<void>;
  /** Reads everything. Null if it is intact, else what is wrong. */
  damage(repository: string): Promise<string | null>;
}

export function openDamageMarks(git: Git): DamageMarks {
  /** Null if git does this without an error. */
  async function complaint(cwd: string, ...args: readonly string[]): Promise<string | null> {
    const done = await git({ cwd, args });
    return done.exitCode === 0 ? null : errorTextOf(done);
  }

  return {
    mark: async (repository) => writeMark(repository, await fingerprintOf(repository)),

    async isAsMarked(repository) {
      return matches(repository, () => fingerprintOf(repository));
    },

    async unmark(repository) {
      const noted = ((await contentOf(join(repository, MARK))) ?? '').split(' ')[0] ?? '';
      await writeMark(repository, `${noted} -`);
    },

    async damage(repository) {
      if (!(await exists(repository))) return 'it is gone';
      try {
        const wrong =
          (await changedSettings(repository)) ??
          (await complaint(repository, 'config', '--list', '--local')) ??
          (await complaint(repository, 'rev-parse', '--git-dir')) ??
          (await wrongRef(repository)) ??
          (await wrongLooseObject(repository));
        if (wrong !== null) return wrong;
        const packs = (await namesIn(join(repository, 'objects/pack'))).filter((name) =>
          name.endsWith('.idx'),
        );
        // Many at once: each candidate adds a pack, and to start git takes longer than to verify a small one.
        for (let at = 0; at < packs.length; at += PACKS_AT_ONCE) {
          const paths = packs.slice(at, at + PACKS_AT_ONCE).map((name) => join('objects/pack', name));
          const problem = await complaint(repository, 'verify-pack', ...paths);
          if (problem !== null) return problem;
        }
        return await complaint(repository, 'rev-list', '--objects', '--all', '--quiet');
      } catch (error) {
        if (error instanceof Error && 'syscall' in error) return error.message;
        throw error;
      }
    },
  };
}

/** Null if they are unchanged or were never recorded: we never change them after they are created. */
async function changedSettings(repository: string): Promise<string | null> {
  const [noted, ...rest] = ((await contentOf(join(repository, MARK))) ?? '').trim().split(' ');
  if (rest.length === 0 || noted === (await hashOfFile(repository, REPOSITORY_SETTINGS))) return null;
  return `${REPOSITORY_SETTINGS.join(' or ')} does not match its recorded state`;
}

async function hashOfFile(repository: string, names: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const name of names) hash.update(`${name}\0${(await contentOf(join(repository, name))) ?? ''}\0`);
  return hash.digest('hex');
}

async function fingerprintOf(repository: string): Promise<string> {
  const hash = createHash('sha256').update(await hashOfFile(repository, ['packed-refs', 'shallow']));
  for (const name of (await namesIn(join(repository, REFS))).toSorted()) {
    hash.update(`${name}\0${(await contentOf(join(repository, REFS, name))) ?? ''}\0`);
  }
  for (const line of await objectsOf(repository)) hash.update(`${line}\n`);
  return `${await hashOfFile(repository, REPOSITORY_SETTINGS)} ${hash.digest('hex')}`;
}

/** Null if it is not a file; rejects if it cannot be read. */
async function contentOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'latin1');
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'EISDIR')) return null;
    throw error;
  }
}

/** Temporary files of git and Runoff; they do not count as damage, and a fetch removes them. */
const PASSING = /^tmp_|^\.tmp-|\.lock$|\.keep$/;

async function objectsOf(repository: string): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const folder of await readdir(join(repository, 'objects'))) {
    for (const name of await namesIn(join(repository, 'objects', folder))) {
      if (PASSING.test(name)) continue;
      const path = join(folder, name);
      const { size, mtimeMs, mode } = await stat(join(repository, 'objects', path));
      lines.push(`${path} ${size} ${mtimeMs} ${mode}`);
    }
  }
  return lines.toSorted();
}

/** In a mirror each ref is named after the commit that it holds; refs to candidates' trees are named after areas. */
async function wrongRef(repository: string): Promise<string | null> {
  for (const name of await namesIn(join(repository, REFS))) {
    const held = (await contentOf(join(repository, REFS, name)))?.trimEnd();
    if (held === undefined || PASSING.test(name)) continue;
    if (!isSha(held) || (isSha(name) && held !== name))
      return `${REFS}/${name} does not match its recorded state`;
  }
  return null;
}

async function wrongLooseObject(repository: string): Promise<string | null> {
  const objects = join(repository, 'objects');
  for (const folder of await readdir(objects)) {
    if (!/^[0-9a-f]{2}$/.test(folder)) continue;
    for (const name of await namesIn(join(objects, folder))) {
      if (PASSING.test(name)) continue;
      const path = join(objects, folder, name);
      if ((await hashOfLooseObject(path)) !== `${folder}${name}`) {
        return `objects/${folder}/${name} does not match its name`;
      }
    }
  }
  return null;
}

/** Null if it cannot be unpacked. Never reads all of it into memory: a small file can unpack to gigabytes. */
async function hashOfLooseObject(path: string): Promise<string | null> {
  const file = await open(path);
  const hash = createHash('sha1');
  try {
    await pipeline(file.createReadStream(), createInflate(), async (content: AsyncIterable<Buffer>) => {
      for await (const chunk of content) hash.update(chunk);
    });
    return hash.digest('hex');
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) throw error;
    return null;
  }
}

/**
 * Records the fingerprint of a repository, a checkout or a layer. If the record is incomplete, everything is checked.
 */
export const writeMark = (folder: string, fingerprint: string): Promise<void> =>
  writeFile(join(folder, MARK), `${fingerprint}\n`);

/** Whether a checkout or a layer exists and matches its mark; if so, it is marked as used. */
export const isWhole = async (folder: string, fingerprint: () => Promise<string>): Promise<boolean> =>
  (await exists(folder)) && (await matches(folder, fingerprint)) && touch(folder);

/**
 * Renames a damaged checkout or layer. Areas on top of it keep what is left of it until it is old enough to be pruned.
 */
export async function setAsideDamaged(
  { locks, onDamage }: { readonly locks: Locks; readonly onDamage: (path: string, why: string) => void },
  key: string,
  folder: string,
  fingerprint: () => Promise<string>,
): Promise<void> {
  if (!(await exists(folder))) return;
  await locks.fetching(key, async () => {
    // Another process may have recreated it since.
    if (!(await exists(folder)) || (await matches(folder, fingerprint))) return;
    onDamage(folder, 'its files do not match their recorded state');
    await rename(folder, `${folder}.damaged-${randomBytes(8).toString('hex')}`);
  });
}

/** Whether it still matches; false if it was never marked or cannot be read. */
async function matches(folder: string, fingerprint: () => Promise<string>): Promise<boolean> {
  try {
    const marked = await contentOf(join(folder, MARK));
    return marked !== null && marked.trim() === (await fingerprint());
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return false;
    throw error;
  }
}
