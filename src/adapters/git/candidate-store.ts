import { isUtf8 } from 'node:buffer';
import { copyFile, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { Fault, machineFaultInLastLine, type Sha } from '../../core/model/index.ts';
import type { CollectedPatch } from '../../ports/index.ts';
import { BYTE_FOR_BYTE } from './bases.ts';
import { type CollectedTree, type CollectLimits, type Known, tooBig, tooMany } from './collect.ts';
import { treeEntry } from './commit-files.ts';
import { patchText, rawDiff, rawEntries, withoutSetup } from './diff-trees.ts';
import { gitFault } from './faults.ts';
import type { Git, GitDone } from './git.ts';
import { checkedSha, exists, isSha, type Layout, replaceFile, touch } from './layout.ts';
import { makeBare } from './mirrors.ts';
import { isFull } from './trees.ts';

type Admitted =
  | { readonly kind: 'patch'; readonly patch: CollectedPatch }
  | { readonly kind: 'empty' }
  | Refusal;

interface Unpacked {
  readonly kind: 'unpacked';
  /** Files of the base that were not checked. */
  readonly excused: readonly Sha[];
}

interface Refusal {
  readonly kind: 'refused';
  readonly why: string;
  /** Git's error, if the content may be valid and Runoff's copy of the repository damaged. */
  readonly fault?: Fault;
}

/** One bare repository per mirror with what candidates added. It borrows the mirror's objects, never the reverse. */
export interface CandidateStore {
  /** Path of the repository, which is created if necessary. */
  at(key: string): Promise<string>;
  /** Checks a collected tree and stores it; `scratch` is a folder for this call alone. */
  admit(
    key: string,
    gathered: CollectedTree & { kind: 'tree' },
    known: Known,
    from: { readonly areaId: string; readonly scratch: string },
  ): Promise<Admitted>;
  /** Whether the store still has this tree. */
  holds(key: string, tree: Sha): Promise<boolean>;
  /** Claims a tree for another area as well. */
  keep(key: string, areaId: string, tree: Sha): Promise<void>;
}

const CORRUPT = 'Git refused its content (fsck).';
const ODD_NAME = 'It has a file name that is not valid UTF-8.';
const ODD_LINK = 'It has a symbolic link whose target is not valid UTF-8.';
const SUBMODULE = 'It adds or moves a submodule.';

const rejection = (why: string): Refusal => ({ kind: 'refused', why });
const corrupt = (what: string, done: GitDone): Refusal => ({
  ...rejection(CORRUPT),
  fault: gitFault(what, done, 'INTERNAL'),
});

export function openCandidateStore(git: Git, layout: Layout, limits: CollectLimits): CandidateStore {
  async function at(key: string): Promise<string> {
    const path = layout.objects(key);
    await makeBare(git, path, async (folder) => {
      await mkdir(join(folder, 'info'), { recursive: true });
      await writeFile(join(folder, 'info', 'attributes'), BYTE_FOR_BYTE);
      await writeFile(join(folder, 'objects', 'info', 'alternates'), `../../../mirrors/${key}.git/objects\n`);
    });
    await touch(path);
    // If a source is shallow, so is its mirror, and the history that we borrow ends early.
    const shallow = join(layout.mirror(key), 'shallow');
    if (await exists(shallow)) await copyFile(shallow, join(path, 'shallow'));
    return path;
  }

  /**
   * Checks the content as git does before it accepts a push. That reads `.gitmodules` and `.gitattributes` files of the
   * whole tree: where the base's own do not pass, they are left out, and no path of the patch may have their content.
   */
  async function unpack(
    quarantine: Git,
    { cwd, objects, base }: { readonly cwd: string; readonly objects: string; readonly base: string },
    { tree, pack }: CollectedTree & { kind: 'tree' },
  ): Promise<Refusal | Unpacked> {
    if (!isSha(tree)) return rejection(CORRUPT);
    const what = "Taking in a candidate's content";
    const index = async (strict: string): Promise<GitDone> => {
      // What a refused pack left behind must not be kept.
      await rm(join(objects, 'pack'), { recursive: true, force: true });
      await mkdir(join(objects, 'pack'), { recursive: true });
      const args = ['index-pack', '--stdin', strict, `--max-input-size=${limits.packBytes}`];
      const done = await quarantine({ cwd, args, input: pack });
      const machine = done.exitCode === 0 ? null : machineFaultInLastLine(done.stderr);
      if (machine !== null) throw gitFault(what, done, machine);
      // Not every message of git's names the reason.
      if (done.exitCode !== 0 && (await isFull(cwd))) throw new Fault('DISK_FULL', `${what} failed.`);
      return done;
    };
    let done = await index('--strict');
    let excused: readonly Sha[] = [];
    if (done.exitCode !== 0) {
      excused = await checkedFilesOf(quarantine, cwd, base);
      const list = join(objects, 'excused');
      await writeFile(list, excused.map((oid) => `${oid}\n`).join(''));
      // Relative, because a space or a comma in a path would end the option.
      if (excused.length > 0) done = await index(`--strict=skiplist=${relative(cwd, list)}`);
      await rm(list);
    }
    if (done.exitCode !== 0) return corrupt(what, done);
    const type = await quarantine({ cwd, args: ['cat-file', '-t', tree] });
    return type.stdout.trim() === 'tree' ? { kind: 'unpacked', excused } : corrupt(what, type);
  }

  /** Null if the changes may be shown, else why not. */
  async function objection(
    quarantine: Git,
    cwd: string,
    { raw, excused }: { readonly raw: Buffer; readonly excused: readonly Sha[] },
  ): Promise<Refusal | null> {
    const entries = rawEntries(raw);
    if (entries.some(({ newSha }) => excused.includes(newSha))) return rejection(CORRUPT);
    if (entries.length > limits.files) return rejection(tooMany(entries.length, limits.files));
    if (entries.some((entry) => entry.newMode === '160000')) return rejection(SUBMODULE);
    if (entries.some(({ path }) => !isUtf8(Buffer.from(path, 'latin1')))) return rejection(ODD_NAME);
    const oids = entries
      .flatMap((entry) => [entry.oldMode === '160000' ? '' : entry.oldSha, entry.newSha])
      .filter((oid) => !/^0*$/.test(oid));
    const sizes = await quarantine({
      cwd,
      args: ['cat-file', '--batch-check=%(objecttype) %(objectsize)'],
      input: `${oids.join('\n')}\n`,
    });
    if (sizes.exitCode !== 0) throw gitFault('Measuring a patch', sizes);
    let bytes = 0;
    for (const line of sizes.stdout.trim().split('\n')) {
      const [type, size] = line.split(' ');
      if (type !== 'blob') return corrupt('Measuring a patch', sizes);
      bytes += Number(size);
    }
    return bytes > limits.contentBytes ? rejection(tooBig(limits.contentBytes)) : null;
  }

  return {
    at,

    async admit(key, gathered, { facts, traces }, { areaId, scratch }) {
      if (gathered.tree === facts.tree) return { kind: 'empty' };
      const cwd = await at(key);
      const objects = join(scratch, 'objects');
      const quarantine = quarantined(git, objects, join(cwd, 'objects'));
      const unpacked = await unpack(quarantine, { cwd, objects, base: facts.tree }, gathered);
      if (unpacked.kind === 'refused') return unpacked;
      const tree = traces
        ? await withoutSetup(quarantine, cwd, { base: facts.tree, tree: gathered.tree, traces, scratch })
        : gathered.tree;
      if (tree === facts.tree) return { kind: 'empty' };
      const raw = await rawDiff(quarantine, cwd, { base: facts.tree, tree, scratch });
      const objected = await objection(quarantine, cwd, { raw, excused: unpacked.excused });
      if (objected !== null) return objected;
      const text = await patchText(quarantine, cwd, { base: facts.tree, tree, raw, scratch });
      if (text === null) return rejection(ODD_LINK);
      await moveObjects(objects, join(cwd, 'objects'));
      await claim(cwd, areaId, tree);
      return { kind: 'patch', patch: { tree, raw: raw.toString('utf8'), text } };
    },
    async holds(key, tree) {
      const done = await git({ cwd: await at(key), args: ['cat-file', '-e', `${checkedSha(tree)}^{tree}`] });
      return done.exitCode === 0;
    },
    keep: async (key, areaId, tree) => claim(await at(key), areaId, checkedSha(tree)),
  };
}

/** Claims of areas on trees. A claim of a finished run that is too old is pruned with its tree. */
export const CLAIMS = 'refs/runoff';

/** Writes a ref that keeps the tree, without git, whose lock files remain when it is killed. */
async function claim(store: string, areaId: string, tree: string): Promise<void> {
  const ref = join(store, CLAIMS, areaId);
  await mkdir(dirname(ref), { recursive: true });
  // Not in the same folder, where every file is a ref.
  await replaceFile(ref, `${tree}\n`, store);
}

/** Files of a tree whose content `index-pack --strict` checks. */
async function checkedFilesOf(git: Git, cwd: string, tree: string): Promise<readonly Sha[]> {
  const done = await git({ cwd, args: ['ls-tree', '-r', '-z', '--full-tree', tree] });
  if (done.exitCode !== 0) throw gitFault('Listing files', done);
  return done.stdout
    .split('\0')
    .filter((record) => /[\t/]\.git(?:modules|attributes)$/.test(record))
    .map((record) => treeEntry(record).oid);
}

/**
 * A git that writes objects to a separate folder, as receive-pack does: what is rejected disappears with the folder.
 */
function quarantined(git: Git, objects: string, alternates: string): Git {
  const env = { GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: alternates };
  return (call) => git({ ...call, env: { ...call.env, ...env } });
}

/** A pack is visible once its index exists, so the index is moved last. */
async function moveObjects(from: string, to: string): Promise<void> {
  const entries = await readdir(from, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(from, join(entry.parentPath, entry.name)));
  const isIndex = (file: string): number => (file.endsWith('.idx') ? 1 : 0);
  for (const file of files.sort((one, two) => isIndex(one) - isIndex(two))) {
    await mkdir(dirname(join(to, file)), { recursive: true });
    await rename(join(from, file), join(to, file));
  }
}
