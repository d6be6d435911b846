// Prints Runoff's sources without types, for strip-types.mjs: of each a line with its length in bytes and its path, then its
// text. A source that cannot be stripped is left out: whoever loads it sees the error.
import { globSync, readFileSync, writeSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const STDOUT = 1;

function stripped(path) {
  try {
    return Buffer.from(stripTypeScriptTypes(readFileSync(join(ROOT, path), 'utf8')));
  } catch {
    return null;
  }
}

function print(bytes) {
  for (let at = 0; at < bytes.length; ) at += writeSync(STDOUT, bytes, at);
}

for (const path of globSync('src/**/*.ts', { cwd: ROOT })) {
  const text = stripped(path);
  if (text !== null) print(Buffer.concat([Buffer.from(`${text.length} ${path}\n`), text]));
}
