import { type DiffBlock, readBlock, splitBlocks } from './blocks.ts';
import type { DiffLine, Hunk } from './diff.ts';
import { isSnapshot, type Patch, type PatchFile, type PatchLimits, roleOf } from './patch.ts';
import { collisions, linkFault, pathFaults, quotedPath, repositoryFaults } from './paths.ts';

export type ParsedPatch =
  | { readonly kind: 'patch'; readonly patch: Patch }
  /** Sentences, each naming the file. */
  | { readonly kind: 'refused'; readonly reasons: readonly string[] };

export interface ParseOptions {
  readonly limits?: Partial<PatchLimits>;
  /**
   * Paths of all files of the base commit; they reveal collisions with unchanged files, and repositories that the
   * patch completes.
   */
  readonly baseFiles?: readonly string[];
}

const NO_MODE = '000000';
const LINK = '120000';
const GITLINK = '160000';
const MODES: ReadonlySet<string> = new Set(['100644', '100755', LINK]);

/**
 * Parses a collected patch. `raw` (`git diff-tree -r --raw -z --no-renames --no-abbrev`) is authoritative; `text`
 * (`-p --binary --full-index`) must contain the same files, modes and objects in the same order, or the patch is
 * rejected. Also rejects what no candidate may add to a repository: gitlinks, links that lead outside, `.git` in any
 * disguise, folders that git would treat as repositories, workflows, colliding paths. Never throws, whatever the
 * input.
 */
export function parsePatch(raw: string, text: string, options: ParseOptions = {}): ParsedPatch {
  const limits = { ...PATCH_LIMITS, ...options.limits };
  if (text.length > limits.textLength) {
    return refusedFor([`The patch is longer than ${limits.textLength} characters.`]);
  }
  const list = parseRaw(raw);
  if (list.kind === 'refused') return refusedFor([list.why]);
  const { entries } = list;
  if (entries.length > limits.files) {
    return refusedFor([`The patch changes ${entries.length} files; at most ${limits.files} are accepted.`]);
  }
  const named = entries.flatMap((entry) =>
    [...pathFaults(entry.path, limits), ...modeFaults(entry)].map(
      (why) => `${quotedPath(entry.path)} ${why}.`,
    ),
  );
  const faults = [...named, ...repeated(entries), ...treeFaults(entries, options.baseFiles ?? [])];
  if (faults.length > 0) return refusedFor(firstReasons(faults, limits.reasons));
  return readSections(entries, text, limits);
}

const refusedFor = (reasons: readonly string[]): ParsedPatch => ({ kind: 'refused', reasons });

const firstReasons = (reasons: readonly string[], most: number): readonly string[] =>
  reasons.length <= most
    ? reasons
    : [...reasons.slice(0, most), `There are ${reasons.length - most} more reasons.`];

function modeFaults(entry: RawEntry): readonly string[] {
  if (entry.oldMode === GITLINK || entry.newMode === GITLINK)
    return ['is a submodule (a gitlink): not accepted'];
  const expected = { A: NO_MODE, D: null, M: null, T: null }[entry.status];
  const faults: string[] = [];
  if (entry.status !== 'D' && !MODES.has(entry.newMode))
    faults.push(`has mode ${entry.newMode}, which is not accepted`);
  if (expected !== null && entry.oldMode !== expected) faults.push('is listed as new but has an old mode');
  if (entry.status === 'D' && entry.newMode !== NO_MODE)
    faults.push('is listed as deleted but has a new mode');
  return faults;
}

function repeated(entries: readonly RawEntry[]): readonly string[] {
  const seen = new Set<string>();
  return entries.flatMap(({ path }) => {
    if (seen.has(path)) return [`${quotedPath(path)} is listed twice.`];
    seen.add(path);
    return [];
  });
}

/** Rules for the patched tree as a whole. */
function treeFaults(entries: readonly RawEntry[], baseFiles: readonly string[]): readonly string[] {
  const changed = entries.map((entry) => entry.path);
  const touched = new Set(changed);
  const present = entries.filter((entry) => entry.status !== 'D').map((entry) => entry.path);
  const standing = baseFiles.filter((path) => !touched.has(path));
  const before = [...standing, ...entries.filter((entry) => entry.status !== 'A').map((entry) => entry.path)];
  const mayCollide = entries.filter(({ status, newMode }) => status === 'A' || newMode === LINK);
  const blamed = new Set(mayCollide.map((entry) => entry.path));
  const kept = [...standing, ...present].filter((path) => !blamed.has(path));
  return [...collisions([...blamed], kept), ...repositoryFaults(changed, before, [...standing, ...present])];
}

function readSections(entries: readonly RawEntry[], text: string, limits: PatchLimits): ParsedPatch {
  const blocks = splitBlocks(text);
  if (blocks === null) return refusedFor(['The patch text has content before its first file.']);
  const files: PatchFile[] = [];
  const faults: string[] = [];
  let at = 0;
  for (const entry of entries) {
    const section = blocks.slice(at, at + (entry.status === 'T' ? 2 : 1));
    at += entry.status === 'T' ? 2 : 1;
    const read = readSection(entry, section);
    if (typeof read === 'string') faults.push(`${quotedPath(entry.path)} ${read}.`);
    else files.push(read);
  }
  if (at !== blocks.length)
    faults.push(`The list names ${entries.length} files, but the patch text does not match it.`);
  return faults.length > 0
    ? refusedFor(firstReasons(faults, limits.reasons))
    : { kind: 'patch', patch: patchOf(files, text) };
}

const patchOf = (files: readonly PatchFile[], text: string): Patch => ({
  text,
  files,
  production: files.filter((file) => file.role === 'production'),
  tests: files.filter((file) => file.role === 'test' || isSnapshot(file.path)),
});

const CHANGES = { A: 'added', M: 'modified', D: 'deleted', T: 'type-changed' } as const;

/** The file, or a clause that describes the problem. */
function readSection(entry: RawEntry, texts: readonly string[]): PatchFile | string {
  if (texts.length === 0) return 'has no section in the patch text';
  const blocks: DiffBlock[] = [];
  for (const text of texts) {
    const read = readBlock(text, entry.path);
    if (read.kind === 'refused') return `has a section in the patch text that ${read.why}`;
    blocks.push(read.block);
  }
  if (!matchesEntry(entry, blocks))
    return 'has a section in the patch text that contradicts the list of changed files';
  const binary = blocks.some((block) => block.binary);
  const fault = entry.newMode === LINK ? linkOf(entry, blocks.at(-1) as DiffBlock) : null;
  if (fault) return fault;
  const hunks = blocks.flatMap((block) => block.hunks);
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return {
    path: entry.path,
    change: CHANGES[entry.status],
    oldMode: entry.oldMode,
    newMode: entry.newMode,
    role: roleOf(entry.path),
    additions: lines.filter((line) => line.kind === 'added').length,
    deletions: lines.filter((line) => line.kind === 'removed').length,
    binary,
    hunks,
    section: texts.join(''),
  };
}

function matchesEntry(entry: RawEntry, blocks: readonly DiffBlock[]): boolean {
  const [first, second] = blocks;
  if (!first) return false;
  if (entry.status === 'T') {
    if (!second?.created || !first.deleted || first.created || second.deleted) return false;
    const modes = first.oldMode === entry.oldMode && second.newMode === entry.newMode;
    return modes && first.oldSha === entry.oldSha && second.newSha === entry.newSha;
  }
  if (first.created !== (entry.status === 'A') || first.deleted !== (entry.status === 'D')) return false;
  if (first.oldSha === undefined) return entry.oldSha === entry.newSha && modesAgree(entry, first);
  return first.oldSha === entry.oldSha && first.newSha === entry.newSha && modesAgree(entry, first);
}

const modesAgree = (entry: RawEntry, block: DiffBlock): boolean =>
  (block.oldMode ?? NO_MODE) === entry.oldMode && (block.newMode ?? NO_MODE) === entry.newMode;

/** A link's target is the text of its blob: one line without a newline. */
function linkOf(entry: RawEntry, block: DiffBlock): string | null {
  if (entry.oldMode === LINK && entry.oldSha === entry.newSha) return null;
  const lines = block.hunks.flatMap((hunk) => hunk.lines).filter((line) => line.kind !== 'removed');
  const [only] = lines;
  if (block.binary || lines.length !== 1 || only?.kind !== 'added' || !only.noNewline) {
    return 'is a symbolic link with an unreadable target';
  }
  return linkFault(entry.path, only.text);
}

export const PATCH_LIMITS: PatchLimits = {
  files: 5_000,
  textLength: 32 * 2 ** 20,
  componentBytes: 255,
  pathBytes: 1_024,
  reasons: 20,
};

/** One changed path in `git diff-tree --raw`. */
export interface RawEntry {
  readonly oldMode: string;
  readonly newMode: string;
  readonly oldSha: string;
  readonly newSha: string;
  readonly status: 'A' | 'M' | 'D' | 'T';
  readonly path: string;
}

type RawList =
  | { readonly kind: 'ok'; readonly entries: readonly RawEntry[] }
  | { readonly kind: 'refused'; readonly why: string };

const META = /^:(\d{6}) (\d{6}) ([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) ([AMDT])$/;

/** Parses `git diff-tree -r --raw -z --no-renames --no-abbrev base tree`: records of meta, NUL, path, NUL. */
export function parseRaw(raw: string): RawList {
  if (raw === '') return { kind: 'ok', entries: [] };
  if (!raw.endsWith('\0')) return { kind: 'refused', why: 'The list of changed files ends within an entry.' };
  const fields = raw.slice(0, -1).split('\0');
  if (fields.length % 2 !== 0)
    return { kind: 'refused', why: 'The list of changed files has an entry without a path.' };
  const entries: RawEntry[] = [];
  for (let i = 0; i < fields.length; i += 2) {
    const meta = META.exec(fields[i] as string);
    if (!meta)
      return { kind: 'refused', why: `Entry ${i / 2 + 1} of the list of changed files is unreadable.` };
    const [, oldMode = '', newMode = '', oldSha = '', newSha = '', status] = meta;
    const path = fields[i + 1] as string;
    entries.push({ oldMode, newMode, oldSha, newSha, status: status as RawEntry['status'], path });
  }
  return { kind: 'ok', entries };
}

/** Added plus removed lines of production files. */
export const productionLines = (patch: Patch): number =>
  patch.production.reduce((total, file) => total + file.additions + file.deletions, 0);

/** Patch text of some files, for `git apply`; empty for none. */
export const joinSections = (files: readonly PatchFile[]): string =>
  files.map((file) => file.section).join('');

/** Counts for display; for a rejected patch, derived from its list of files. */
export function summarise(collected: { readonly raw: string; readonly text: string }): {
  readonly files: number;
  readonly additions: number;
  readonly deletions: number;
} {
  const parsed = parsePatch(collected.raw, collected.text);
  if (parsed.kind === 'refused') {
    return { files: Math.floor(collected.raw.split('\0').length / 2), additions: 0, deletions: 0 };
  }
  const { files } = parsed.patch;
  const sum = (count: (file: PatchFile) => number) => files.reduce((total, file) => total + count(file), 0);
  return {
    files: files.length,
    additions: sum((file) => file.additions),
    deletions: sum((file) => file.deletions),
  };
}

type PatchedText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'gone' }
  /** Binary, a link, or hunks that do not match this base text. */
  | { readonly kind: 'unknown' };

/** A file's text after the patch, computed from its base text; `base` is null for a file that the base lacks. */
export function patchedText(base: string | null, file: PatchFile): PatchedText {
  if (file.change === 'deleted') return { kind: 'gone' };
  if (file.binary || file.change === 'type-changed') return { kind: 'unknown' };
  const before = linesWithNewlines(base ?? '');
  const after: string[] = [];
  let read = 0;
  for (const hunk of file.hunks) {
    const start = hunk.oldCount === 0 ? hunk.oldStart : hunk.oldStart - 1;
    if (start < read || !hunkFits(hunk, before, start)) return { kind: 'unknown' };
    while (read < start) after.push(before[read++] as string);
    read += hunk.oldCount;
    for (const line of hunk.lines) if (line.kind !== 'removed') after.push(lineWithNewline(line));
  }
  while (read < before.length) after.push(before[read++] as string);
  return { kind: 'text', text: after.join('') };
}

const hunkFits = (hunk: Hunk, before: readonly string[], start: number): boolean =>
  start <= before.length &&
  hunk.lines
    .filter((line) => line.kind !== 'added')
    .every((line, i) => before[start + i] === lineWithNewline(line));

const lineWithNewline = (line: DiffLine): string => (line.noNewline ? line.text : `${line.text}\n`);

/** Lines with their newline, which the last one may lack. */
const linesWithNewlines = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+/g) ?? [];
