// Reads files that somebody else wrote.
import { lstatSync, readFileSync } from 'node:fs';

const MAX_BYTES = 2 << 20;

/** The text of a file that is worth parsing; null for links, big files, and what is no UTF-8 text. */
export function textOf(path) {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat?.isFile() || stat.size > MAX_BYTES) return null;
  const text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  return /[\0\uFFFD]/.test(text) ? null : text;
}
