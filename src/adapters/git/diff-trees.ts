import { isUtf8 } from 'node:buffer';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault, type Sha } from '../../core/model/index.ts';
import { parseRaw, type RawEntry } from '../../core/patches/index.ts';
import { gitFault } from './faults.ts';
import type { Git } from './git.ts';

/** Changes made by setup, which must not count as a candidate's work. Lists are sorted and NUL-separated. */
export interface SetupTraces {
  readonly brought: Buffer;
  /** `diff-index --raw -z` of the base files that setup changed. */
  readonly raw: Buffer;
}

/**
 * Parses `--raw -z --no-renames` output. In a buffer, paths are bytes, one per character, since git's names are bytes; in
 * a text they are characters.
 */
export function rawEntries(raw: Buffer | string): readonly RawEntry[] {
  const read = parseRaw(typeof raw === 'string' ? raw : raw.toString('latin1'));
  if (read.kind === 'refused') throw new Fault('INTERNAL', `A list of changes is damaged. ${read.why}`);
  return read.entries;
}

const NULL_ID = '0'.repeat(40);

/**
 * The candidate's tree, with each base file that is as setup left it restored to the base's version: if an installer
 * rewrites a lock file, that is no part of a candidate's patch.
 */
export async function withoutSetup(
  git: Git,
  cwd: string,
  from: { readonly base: Sha; readonly tree: Sha; readonly traces: SetupTraces; readonly scratch: string },
): Promise<Sha> {
  const bySetup = new Map(rawEntries(from.traces.raw).map((entry) => [entry.path, entry]));
  if (bySetup.size === 0) return from.tree;
  const raw = await rawDiff(git, cwd, from);
  const untouched = rawEntries(raw).filter((entry) => {
    const setup = bySetup.get(entry.path);
    return setup !== undefined && setup.newMode === entry.newMode && setup.newSha === entry.newSha;
  });
  if (untouched.length === 0) return from.tree;

  const env = { GIT_INDEX_FILE: join(from.scratch, 'index') };
  const step = async (args: readonly string[], input?: Buffer): Promise<string> => {
    const onKilled = () => rm(join(from.scratch, 'index.lock'), { force: true });
    const done = await git({ cwd, args, env, onKilled, ...(input ? { input } : {}) });
    if (done.exitCode !== 0) throw gitFault('Leaving out what setup changed', done);
    return done.stdout.trim();
  };
  await step(['read-tree', from.tree]);
  await step(['update-index', '-z', '--index-info'], Buffer.concat(untouched.map(asInBase)));
  return step(['write-tree']);
}

function asInBase(entry: RawEntry): Buffer {
  const mode = entry.oldSha === NULL_ID ? '0' : entry.oldMode;
  return Buffer.concat([
    Buffer.from(`${mode} ${entry.oldSha}\t`),
    Buffer.from(entry.path, 'latin1'),
    Buffer.from([0]),
  ]);
}

interface Diff {
  readonly base: Sha;
  readonly tree: Sha;
  /** Only these files; absent: all. */
  readonly paths?: readonly string[];
  /** A folder for this call alone. Output goes through a file, because it is bytes and not text. */
  readonly scratch: string;
}

/** `git diff-tree -r --raw -z --no-renames --no-abbrev base tree`. */
export async function rawDiff(git: Git, cwd: string, diff: Diff): Promise<Buffer> {
  return diffTree(git, cwd, diff, ['--raw', '-z', '--no-abbrev']);
}

/**
 * A patch for `git apply`, as text: content that is not valid UTF-8 becomes a binary patch, as files with NUL bytes do
 * anyway. Null if that is impossible: git writes the target of a link as text, whatever its bytes.
 */
export async function patchText(
  git: Git,
  cwd: string,
  diff: Diff & { readonly raw: Buffer },
): Promise<string | null> {
  const plain = await diffTree(git, cwd, diff, PATCH);
  if (isUtf8(plain)) return plain.toString('utf8');
  const allBinary = await diffTree(git, await binaryView(diff.scratch), diff, PATCH);
  const [texts, binaries] = [sections(plain), sections(allBinary)];
  // A file that became a link, or the reverse, has two sections.
  const expected = rawEntries(diff.raw).reduce((sum, { status }) => sum + (status === 'T' ? 2 : 1), 0);
  if (texts.length !== expected || binaries.length !== expected) {
    throw new Fault('INTERNAL', `A patch of ${expected} sections came out with ${texts.length}.`);
  }
  const mixed = Buffer.concat(texts.map((text, at) => (isUtf8(text) ? text : (binaries[at] ?? text))));
  return isUtf8(mixed) ? mixed.toString('utf8') : null;
}

const PATCH = [
  ...['-p', '--binary', '--full-index', '--no-ext-diff', '--no-textconv', '--no-color'],
  ...['--src-prefix=a/', '--dst-prefix=b/', '--diff-algorithm=myers', '--unified=3'],
];

async function diffTree(git: Git, cwd: string, diff: Diff, format: readonly string[]): Promise<Buffer> {
  const file = join(diff.scratch, 'diff');
  const done = await git({
    cwd,
    args: [
      'diff-tree',
      '-r',
      '--no-renames',
      ...format,
      `--output=${file}`,
      diff.base,
      diff.tree,
      ...pathsOf(diff),
    ],
  });
  if (done.exitCode !== 0) throw gitFault('Comparing a candidate with its base', done);
  return readFile(file);
}

const pathsOf = ({ paths }: Diff): readonly string[] => (paths === undefined ? [] : ['--', ...paths]);

/**
 * A repository in which every file counts as binary, which can only be set by attributes. The environment points to its
 * objects.
 */
async function binaryView(scratch: string): Promise<string> {
  const view = join(scratch, 'binary.git');
  for (const folder of ['refs', 'info', 'objects']) await mkdir(join(view, folder), { recursive: true });
  await writeFile(join(view, 'HEAD'), 'ref: refs/heads/none\n');
  await writeFile(join(view, 'config'), '[core]\n\trepositoryFormatVersion = 0\n\tbare = true\n');
  await writeFile(join(view, 'info/attributes'), '* -diff -text\n');
  return view;
}

const START = Buffer.from('\ndiff --git ');

/** Splits a patch before each `diff --git`: content lines start with another character, so none looks like it. */
function sections(patch: Buffer): readonly Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at < patch.length; ) {
    const next = patch.indexOf(START, at);
    const end = next < 0 ? patch.length : next + 1;
    found.push(patch.subarray(at, end));
    at = end;
  }
  return found;
}
