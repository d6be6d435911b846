import { lstat, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { machineFaultIn, type Sha } from '../../core/model/index.ts';
import type { SubmoduleAccess } from '../../core/settings/index.ts';
import type { AbsentSubmodule, BaseCheckout, RepositorySource, Workspaces } from '../../ports/index.ts';
import { checkOut } from './bases.ts';
import { isWhole, setAsideDamaged, writeMark } from './damage.ts';
import { abortError, errorTextOf, gitFault, wasDenied } from './faults.ts';
import type { Git } from './git.ts';
import { chownTo, hasCode, keyOf, type Layout, temporaryPath } from './layout.ts';
import { type Locks, openSharedWork } from './locks.ts';
import { initBare, type Mirrors } from './mirrors.ts';
import { REMOTE_SILENCE_MS } from './sources.ts';
import { bytesAt, type FoundSubmodule, homeOf, linksOf, submodulesOf } from './submodule-sources.ts';
import { type FileOwner, fingerprintTree, removeTree } from './trees.ts';

/** Bytes of one submodule, as git transfers it and as files. Our default. */
const MAX_SUBMODULE_BYTES = 2 ** 30;
/** Time for the transfer of one submodule; git's own limit of speed would allow days. Our default. */
const MAX_SUBMODULE_MS = 30 * 60_000;
/** Submodules of a commit, those inside of others included, and how deep they may be nested. Our defaults. */
const MAX_SUBMODULES = 60;
const MAX_NESTED = 4;
interface SubmoduleParts {
  readonly git: Git;
  readonly layout: Layout;
  readonly locks: Locks;
  readonly mirrors: Mirrors;
  readonly owner: FileOwner;
  /** Default: `MAX_SUBMODULE_BYTES`. */
  readonly submoduleBytes?: number;
  readonly onDamage: (path: string, why: string) => void;
}

interface SubmoduleLayers {
  list: Workspaces['listSubmodules'];
  fetch: Workspaces['fetchSubmodules'];
  /** Whether the layer of a base is as it was made; true without one. */
  isWhole(base: BaseCheckout): Promise<boolean>;
}

/**
 * Fetches submodules into layers over base checkouts: without a login, from allowed hosts or from the same repository
 * on this disk. No program, hook or filter of a repository is started (docs/decisions/0108).
 */
export function openSubmodules(parts: SubmoduleParts): SubmoduleLayers {
  const { git, layout, locks, mirrors } = parts;
  const shared = openSharedWork<BaseCheckout>();

  async function found(source: RepositorySource, sha: Sha, access: SubmoduleAccess) {
    const bare = { cwd: layout.mirror(await mirrors.hold(source, sha)), sha };
    if ((await linksOf(git, bare)).length === 0) return { all: [], own: null };
    const { url, own, modules } = await homeOf(git, source);
    return { own, all: await submodulesOf(git, { ...bare, url, modules }, { access, own }) };
  }

  const fetch: Workspaces['fetchSubmodules'] = async (base, { source, access, known }, signal) => {
    const earlier = known === undefined ? null : await layered(base, known);
    if (earlier !== null) return earlier;
    const { all, own } = await found(source, base.sha, access);
    if (all.length === 0) return base;
    const wanted = all.map(({ path, sha, why }) => [path, sha, why]);
    // What failed may work the next time, so the result is found by its id alone.
    const layerWith = (failed: readonly AbsentSubmodule[]) =>
      keyOf(JSON.stringify(['submodules', wanted, access, failed]));
    const complete = await layered(base, layerWith([]));
    if (complete !== null) return complete;
    const fresh = temporaryPath(layout.layer(base.repositoryKey, layerWith([])));
    try {
      const filling = openFilling(parts, { access, own, fresh, signal });
      await filling.fill(all);
      const { absent, failed } = await filling.finish();
      const id = layerWith(failed);
      const layer = layout.layer(base.repositoryKey, id);
      // Otherwise a damaged one would stay in the place of the new one.
      await setAsideDamaged(parts, base.repositoryKey, layer, () => layerFingerprint(layer));
      await rename(fresh, layer).catch((thrown: unknown) => {
        if (!hasCode(thrown, 'ENOTEMPTY') && !hasCode(thrown, 'EEXIST')) throw thrown;
      });
      return {
        ...base,
        submodules: { id, files: join(layer, 'files'), absent },
      };
    } finally {
      await removeTree(fresh);
    }
  };

  /** The base with an existing layer; null if there is none. */
  async function layered(base: BaseCheckout, id: string): Promise<BaseCheckout | null> {
    const layer = layout.layer(base.repositoryKey, id);
    if (!(await isWhole(layer, () => layerFingerprint(layer)))) return null;
    const absent = Absent.parse(JSON.parse(await readFile(join(layer, ABSENT), 'utf8')));
    return { ...base, submodules: { id, files: join(layer, 'files'), absent } };
  }

  return {
    list: (source, sha, access) =>
      mirrors.using(source, async () => {
        const { all } = await found(source, sha, access);
        return all.map(({ path, why }) => ({ path, why }));
      }),
    fetch: (base, from, signal) =>
      shared(
        [base.repositoryKey, base.sha, from.known ?? '', JSON.stringify(from.access)].join('\0'),
        () => locks.using(base.repositoryKey, () => fetch(base, from, signal)),
        signal,
      ),
    async isWhole({ submodules }) {
      if (submodules === undefined) return true;
      const layer = dirname(submodules.files);
      return isWhole(layer, () => layerFingerprint(layer));
    },
  };
}

const ABSENT = 'absent.json';
const Absent = z.array(z.object({ path: z.string(), why: z.string() }));

const layerFingerprint = async (layer: string): Promise<string> =>
  `${await fingerprintTree(join(layer, 'files'))} ${await readFile(join(layer, ABSENT), 'utf8')}`;

/** Fills a new layer with submodules, and with those inside of them. */
function openFilling(
  { git, owner, submoduleBytes: maxBytes = MAX_SUBMODULE_BYTES }: SubmoduleParts,
  {
    access,
    own,
    fresh,
    signal,
  }: {
    readonly access: SubmoduleAccess;
    readonly own: string | null;
    readonly fresh: string;
    readonly signal: AbortSignal | undefined;
  },
) {
  const files = join(fresh, 'files');
  const bare = join(fresh, 'fetched.git');
  const absent: AbsentSubmodule[] = [];
  const failed: AbsentSubmodule[] = [];
  let left = MAX_SUBMODULES;

  async function fill(all: readonly FoundSubmodule[], prefix = '', depth = 0): Promise<void> {
    for (const one of all) {
      if (signal?.aborted) throw abortError();
      const path = `${prefix}${one.path}`;
      left -= 1;
      if (one.why !== null) absent.push({ path, why: one.why });
      else if (left < 0) absent.push({ path, why: `only ${MAX_SUBMODULES} submodules are fetched` });
      else if (depth >= MAX_NESTED) absent.push({ path, why: 'it is nested too deeply' });
      else {
        const why = await fetchOne(one, path);
        if (why !== null) {
          absent.push({ path, why });
          failed.push({ path, why });
          continue;
        }
        const parent = {
          cwd: bare,
          sha: one.sha,
          url: one.url,
          modules: one.folder && join(one.folder, 'modules'),
        };
        await fill(await submodulesOf(git, parent, { access, own }), `${path}/`, depth + 1);
      }
    }
  }

  /** Null on success, else why it is absent. */
  async function fetchOne({ sha, url, folder }: FoundSubmodule, path: string): Promise<string | null> {
    await removeTree(bare);
    await mkdir(bare, { recursive: true });
    await initBare(git, bare);
    const from = folder ?? url ?? '';
    const done = await git({
      cwd: bare,
      args: [
        'fetch',
        '-q',
        '--depth=1',
        '--no-tags',
        '--no-write-fetch-head',
        from,
        `+${sha}:refs/runoff/${sha}`,
      ],
      ...(folder === null
        ? { silenceMs: REMOTE_SILENCE_MS, env: { GIT_ALLOW_PROTOCOL: 'http:https' } }
        : { env: { GIT_ALLOW_PROTOCOL: 'file' } }),
      maxBytes,
      maxMs: MAX_SUBMODULE_MS,
      signal,
    });
    if (signal?.aborted) throw abortError();
    if (machineFaultIn(done.stderr) !== null) throw gitFault(`Fetching the submodule ${path}`, done);
    if (done.exitCode !== 0) {
      const host = url === null ? 'its server' : new URL(url).host;
      return wasDenied(done)
        ? `${host} does not give it without a login, and Runoff uses none for submodules`
        : `it could not be fetched from ${host}: ${errorTextOf(done)}`;
    }
    const bytes = await bytesAt(git, bare, sha);
    if (bytes > maxBytes) return `its files have more than ${Math.round(maxBytes / 2 ** 20)} MiB`;
    const target = join(files, path);
    await makeFolders(files, path, owner);
    await checkOut(git, target, { mirror: bare, sha, owner });
    await removeTree(join(target, '.git'));
    return null;
  }

  return {
    async fill(all: readonly FoundSubmodule[]): Promise<void> {
      await mkdir(files, { recursive: true, mode: 0o755 });
      await chownTo(files, owner);
      await fill(all);
    },
    async finish() {
      await removeTree(bare);
      await writeFile(join(fresh, ABSENT), JSON.stringify(absent));
      await writeMark(fresh, await layerFingerprint(fresh));
      return { absent, failed };
    },
  };
}

/**
 * Creates the folders of a path below `root`. Every folder on the way must be one: a damaged tree may have a link of the
 * same name.
 */
async function makeFolders(root: string, path: string, owner: FileOwner): Promise<void> {
  let folder = root;
  for (const part of path.split('/')) {
    folder = join(folder, part);
    try {
      await mkdir(folder, { mode: 0o755 });
      await chownTo(folder, owner);
    } catch (error) {
      if (!hasCode(error, 'EEXIST') || !(await lstat(folder)).isDirectory()) throw error;
    }
  }
}
