import type { DiffLine, Hunk } from './diff.ts';
import { parsePatch } from './parse.ts';
import type { Patch, PatchFile } from './patch.ts';

/** Added plus removed lines of production files. */
export const productionLines = (patch: Patch): number =>
  patch.production.reduce((total, file) => total + file.additions + file.deletions, 0);

/** Patch text of some files, for `git apply`; empty for none. */
export const joinSections = (files: readonly PatchFile[]): string =>
  files.map((file) => file.section).join('');

/** Counts for display; of a patch that is refused, what its list of files says. */
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

export type PatchedText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'gone' }
  /** Binary, a link, or hunks that do not fit this base text. */
  | { readonly kind: 'unknown' };

/** A file's text after the patch, from its text on the base; `base` is null for a file that the base does not have. */
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

/** Lines with their newline; the last one may lack it. */
const linesWithNewlines = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+/g) ?? [];
