import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CollectedPatch } from '../../ports/index.ts';
import { BYTE_FOR_BYTE } from './bases.ts';
import { type CollectLimits, type Gathered, type Known, rawEntries, tooBig, tooMany } from './collect.ts';
import { gitFault, isNoSpace } from './faults.ts';
import type { Git } from './git.ts';
import { exists, isSha, type Layout } from './layout.ts';
import { makeBare } from './mirrors.ts';
import { patchText, rawDiff } from './patch-text.ts';
import { withoutSetup } from './setup-traces.ts';

export type Admitted =
  | { readonly kind: 'patch'; readonly patch: CollectedPatch }
  | { readonly kind: 'empty' }
  | { readonly kind: 'refused'; readonly why: string };

/** One bare repository per mirror with what candidates brought; it borrows the mirror's objects, never the reverse. */
export interface CandidateStore {
  /** Path of the repository, made if need be. */
  at(key: string): Promise<string>;
  /** Checks a gathered tree and takes it in; `scratch` is a folder of our own for the time of the call. */
  admit(key: string, gathered: Gathered & { kind: 'tree' }, known: Known, scratch: string): Promise<Admitted>;
}

const CORRUPT = 'Git refused its content (fsck).';
const ODD_NAME = 'It has a file name that is not valid UTF-8.';
const ODD_LINK = 'It has a symbolic link whose target is not valid UTF-8.';
const SUBMODULE = 'It adds or moves a submodule.';

export function openCandidateStore(git: Git, layout: Layout, limits: CollectLimits): CandidateStore {
  async function at(key: string): Promise<string> {
    const path = layout.objects(key);
    await makeBare(git, path, async (folder) => {
      await mkdir(join(folder, 'info'), { recursive: true });
      await writeFile(join(folder, 'info', 'attributes'), BYTE_FOR_BYTE);
      await writeFile(join(folder, 'objects', 'info', 'alternates'), `../../../mirrors/${key}.git/objects\n`);
    });
    // Where a source is shallow, its mirror is, and so the history that we borrow ends early.
    const shallow = join(layout.mirror(key), 'shallow');
    if (await exists(shallow)) await copyFile(shallow, join(path, 'shallow'));
    return path;
  }

  /** Null when the content was taken in, else why not. */
  async function takeIn(cwd: string, tree: string, pack: Buffer): Promise<string | null> {
    if (!isSha(tree)) return CORRUPT;
    const done = await git({
      cwd,
      args: ['index-pack', '--stdin', '--strict', `--max-input-size=${limits.packBytes}`],
      input: pack,
    });
    if (isNoSpace(done.stderr)) throw gitFault("Taking in a candidate's content", done);
    if (done.exitCode !== 0) return CORRUPT;
    const type = await git({ cwd, args: ['cat-file', '-t', tree] });
    return type.stdout.trim() === 'tree' ? null : CORRUPT;
  }

  /** Null when the changes may be shown, else why not. */
  async function objection(cwd: string, raw: Buffer): Promise<string | null> {
    const entries = rawEntries(raw);
    if (entries.length > limits.files) return tooMany(entries.length, limits.files);
    if (entries.some((entry) => entry.newMode === '160000')) return SUBMODULE;
    if (entries.some((entry) => !Buffer.from(entry.path.toString('utf8')).equals(entry.path)))
      return ODD_NAME;
    const oids = entries
      .flatMap((entry) => [entry.oldMode === '160000' ? '' : entry.oldOid, entry.newOid])
      .filter((oid) => !/^0*$/.test(oid));
    const sizes = await git({
      cwd,
      args: ['cat-file', '--batch-check=%(objecttype) %(objectsize)'],
      input: `${oids.join('\n')}\n`,
    });
    if (sizes.exitCode !== 0) throw gitFault('Measuring a patch', sizes);
    let bytes = 0;
    for (const line of sizes.stdout.trim().split('\n')) {
      const [type, size] = line.split(' ');
      if (type !== 'blob') return CORRUPT;
      bytes += Number(size);
    }
    return bytes > limits.contentBytes ? tooBig(limits.contentBytes) : null;
  }

  return {
    at,

    async admit(key, gathered, { facts, traces }, scratch) {
      if (gathered.tree === facts.tree) return { kind: 'empty' };
      const cwd = await at(key);
      const why = await takeIn(cwd, gathered.tree, gathered.pack);
      if (why !== null) return { kind: 'refused', why };
      const tree = traces
        ? await withoutSetup(git, cwd, { base: facts.tree, tree: gathered.tree, traces, scratch })
        : gathered.tree;
      if (tree === facts.tree) return { kind: 'empty' };
      const raw = await rawDiff(git, cwd, { base: facts.tree, tree, scratch });
      const objected = await objection(cwd, raw);
      if (objected !== null) return { kind: 'refused', why: objected };
      const text = await patchText(git, cwd, { base: facts.tree, tree, raw, scratch });
      if (text === null) return { kind: 'refused', why: ODD_LINK };
      return { kind: 'patch', patch: { tree, raw: raw.toString('utf8'), text } };
    },
  };
}
