import { z } from 'zod';
import type { WrittenTestFile } from '../../core/evidence/index.ts';
import { isCrash, programKilled } from '../../core/model/index.ts';
import { type Patch, type PatchFile, patchedText } from '../../core/patches/index.ts';
import { tailOf } from '../../core/reports/index.ts';
import type { ExecResult, WorkArea } from '../../ports/index.ts';
import { checkLimits, readTextAt } from '../context.ts';
import { cancelledError } from '../stage.ts';
import type { CheckRunner } from './areas.ts';

/** Written files that are listed. Our default: where the base's tests write more, nothing is compared. */
const MAX_WRITTEN = 20_000;
const LIST_BYTES = 64 * 2 ** 20;
/** Characters of all files that are read. Our default: far more than those of a patch. */
const TEXT_CHARS = 8 * 2 ** 20;
// The content of the area counts as disk use; it was limited when it was written.
const ANY_DISK = 2 ** 42;
/** Milliseconds for a program that looks at files. Our default. */
const LIST_MS = 120_000;

/**
 * Looks for files of the layers that have been written in an area: those that the overlay keeps in its upper folder,
 * whatever their content and times are now. It enters only the folders in which something was written. An area without
 * an overlay is a full copy, so that contents are compared there.
 *
 * Files that a patch has changed in the area before (`patched`) were written if they do not have its content.
 *
 *   node -e LIST /repo UPPER LAYER… < { "paths": […], "texts": true, "patched": { path: text } }
 */
const LIST_SCRIPT = `
const fs = require('node:fs');
const { dirname } = require('node:path');
const [repo, upper, ...layers] = process.argv.slice(1);
const { paths, texts, patched } = JSON.parse(fs.readFileSync(0, 'utf8'));
const CLOSED = { isDirectory: () => false, isFile: () => false, isSymbolicLink: () => false, isCharacterDevice: () => false };
const entry = (path) => {
  try {
    return fs.lstatSync(path);
  } catch (error) {
    return error.code === 'ENOENT' || error.code === 'ENOTDIR' ? null : CLOSED;
  }
};
const below = (path) => {
  for (const layer of layers) {
    const found = entry(layer + '/' + path);
    if (found) return found.isCharacterDevice() ? null : { at: layer + '/' + path, found };
  }
  return null;
};
const isSame = (path, { at, found }) => {
  if (stateOf(dirname(path)) === 'gone') return false;
  const own = entry(upper + '/' + path);
  if (!own) return false;
  if (own.isSymbolicLink() && found.isSymbolicLink()) return fs.readlinkSync(upper + '/' + path) === fs.readlinkSync(at);
  if (!own.isFile() || !found.isFile() || own.size !== found.size) return false;
  try {
    return fs.readFileSync(upper + '/' + path).equals(fs.readFileSync(at));
  } catch {
    return false;
  }
};
let room = ${TEXT_CHARS};
const textOf = (path) => {
  const found = entry(path);
  if (!found?.isFile() || found.size > room) return null;
  try {
    const text = fs.readFileSync(path, 'utf8');
    room -= text.length;
    return text;
  } catch {
    return null;
  }
};
const [own, given] = [fs.lstatSync(repo), fs.lstatSync(upper)];
const isCopy = own.ino === given.ino && own.dev === given.dev;
const states = new Map([['.', 'written']]);
const stateOf = (folder) => {
  const known = states.get(folder);
  if (known) return known;
  let state = stateOf(dirname(folder));
  if (state === 'written') {
    const found = entry(upper + '/' + folder);
    if (found) state = found.isDirectory() ? 'written' : 'gone';
    else state = entry(repo + '/' + folder) ? 'calm' : 'gone';
  }
  states.set(folder, state);
  return state;
};
const inside = (folder) =>
  fs.readdirSync(upper + '/' + folder).flatMap((name) => {
    const path = folder + '/' + name;
    const before = below(path);
    if (!before) return [];
    return before.found.isDirectory() && entry(upper + '/' + path)?.isDirectory() ? inside(path) : [path];
  });
const writtenAt = (path) => {
  const state = stateOf(dirname(path));
  if (state === 'calm') return [];
  const found = state === 'gone' ? null : entry(upper + '/' + path);
  if (!found && state !== 'gone' && entry(repo + '/' + path)) return [];
  const before = below(path);
  if (!before) return [];
  // A submodule.
  return found?.isDirectory() && before.found.isDirectory() ? inside(path) : [path];
};
const written = [];
for (const path of paths.flatMap(writtenAt)) {
  if (written.length > ${MAX_WRITTEN}) break;
  const same = (isCopy || texts) && isSame(path, below(path));
  if (!(isCopy && same)) written.push({ path, same, text: texts && !same ? textOf(upper + '/' + path) : null });
}
for (const [path, text] of Object.entries(patched))
  if (textOf(repo + '/' + path) !== text) written.push({ path, same: false, text: null });
const output = Buffer.from(JSON.stringify(written));
for (let at = 0; at < output.length; ) at += fs.writeSync(1, output, at);`;

const WrittenFiles = z.array(z.object({ path: z.string(), same: z.boolean(), text: z.string().nullable() }));

/**
 * Which of these files of the layers below an area were written there, even if they have their old content again, in
 * order. Null if there are too many, or they cannot be read. `upper`: a folder of the host in place of the area's own,
 * such as the layer of a set-up. `patched`: texts of files that a patch has changed there before, which are listed if
 * they have another one. `texts`: with those of all others.
 */
export async function writtenIn(
  runner: CheckRunner,
  area: WorkArea,
  paths: readonly string[],
  {
    texts = false,
    upper,
    patched = {},
  }: {
    readonly texts?: boolean;
    readonly upper?: string;
    readonly patched?: Readonly<Record<string, string>>;
  } = {},
): Promise<readonly WrittenTestFile[] | null> {
  if (paths.length + Object.keys(patched).length === 0) return [];
  const result = await runReader(runner, area, {
    script: LIST_SCRIPT,
    input: { paths, texts, patched },
    upper: upper ?? area.upper,
  });
  if (result.exitCode !== 0 || result.truncated) return null;
  const written = WrittenFiles.safeParse(jsonIn(result.stdout)).data ?? null;
  return written !== null && written.length <= MAX_WRITTEN ? written : null;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Gives files the content that they have in the layers; what stands in their way is removed. */
const RESTORE_SCRIPT = `
const fs = require('node:fs');
const { dirname } = require('node:path');
const [repo, ...layers] = process.argv.slice(1);
const entry = (path) => fs.lstatSync(path, { throwIfNoEntry: false });
const open = (folder) => {
  if (folder === '.') return;
  open(dirname(folder));
  const found = entry(repo + '/' + folder);
  if (found && !found.isDirectory()) fs.rmSync(repo + '/' + folder, { force: true });
  if (!found?.isDirectory()) fs.mkdirSync(repo + '/' + folder);
  else if ((found.mode & 0o700) !== 0o700) fs.chmodSync(repo + '/' + folder, found.mode | 0o700);
};
for (const path of JSON.parse(fs.readFileSync(0, 'utf8')).paths) {
  open(dirname(path));
  const from = layers.map((layer) => layer + '/' + path).find(entry);
  fs.rmSync(repo + '/' + path, { recursive: true, force: true });
  if (entry(from).isSymbolicLink()) fs.symlinkSync(fs.readlinkSync(from), repo + '/' + path);
  else fs.copyFileSync(from, repo + '/' + path);
}`;

/** Restores files of the layers below an area. Returns null on success, else the reason. */
export async function restoreFiles(
  runner: CheckRunner,
  area: WorkArea,
  paths: readonly string[],
): Promise<string | null> {
  const result = await runReader(runner, area, { script: RESTORE_SCRIPT, input: { paths } });
  return result.exitCode === 0 ? null : tailOf(result.stderr, 3) || `exit code ${result.exitCode}`;
}

const PROGRAM = 'The program that looks at test files';

/** Runs a program of Runoff's own, where code of a candidate may have run before. */
async function runReader(
  { world, task, signal }: CheckRunner,
  area: WorkArea,
  {
    script,
    input,
    upper,
  }: {
    readonly script: string;
    readonly input: object;
    /** Mounted beside the layers; absent: the program writes to the area. */
    readonly upper?: string;
  },
): Promise<ExecResult> {
  const layers = area.lowers.map((from, at) => ({ from, to: `/run/bridge/layer-${LETTERS[at] ?? at}` }));
  const folders = upper === undefined ? layers : [{ from: upper, to: '/run/bridge/upper' }, ...layers];
  const result = await world.sandbox.exec({
    area,
    argv: ['/opt/toolchain/bin/node', '-e', script, '/repo', ...folders.map(({ to }) => to)],
    stdin: JSON.stringify(input),
    // Otherwise the marks of deleted files would be hidden.
    ...(upper === undefined ? {} : { readOnly: true }),
    binds: folders,
    limits: { ...checkLimits(task), wallMs: LIST_MS, outputBytes: LIST_BYTES, diskBytes: ANY_DISK },
    signal,
  });
  const { exitCode, stopped } = result;
  if (stopped === 'cancelled') throw cancelledError();
  // Each command has a sandbox of its own, so no process of a candidate can have sent the signal.
  if (exitCode === null && stopped === null && !isCrash(result.signal))
    throw programKilled(PROGRAM, { kind: 'lost', how: 'was killed' });
  return result;
}

/** One mount point is not the beginning of another. */
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** What these files contain after their patch, by path; without those whose text is unknown. */
export async function patchedTexts(
  { world, source, task }: CheckRunner,
  files: readonly PatchFile[],
): Promise<Readonly<Record<string, string>>> {
  const texts: Record<string, string> = {};
  for (const file of files) {
    const base = file.change === 'added' ? null : await readTextAt(world, source, task.base.sha, file.path);
    const patched = patchedText(base, file);
    if (patched.kind === 'text') texts[file.path] = patched.text;
  }
  return texts;
}

/** Without what the patch itself says: a build may generate what the patch contains as well. */
export async function writtenBesidePatch(
  runner: CheckRunner,
  written: readonly WrittenTestFile[],
  { files }: Patch,
): Promise<readonly WrittenTestFile[]> {
  const paths = new Set(written.map(({ path }) => path));
  const patched = files.filter(({ path }) => paths.has(path));
  const texts = await patchedTexts(runner, patched);
  return written.filter(({ path, text }) => text === null || texts[path] !== text);
}
