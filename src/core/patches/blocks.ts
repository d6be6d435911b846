import { type Hunk, readHunk } from './diff.ts';

/** One parsed `diff --git` block. A change of type is two blocks. */
export interface DiffBlock {
  readonly oldMode?: string;
  readonly newMode?: string;
  /** Full object names of the `index` line; absent if only the mode changed. */
  readonly oldSha?: string;
  readonly newSha?: string;
  readonly created: boolean;
  readonly deleted: boolean;
  readonly binary: boolean;
  readonly hunks: readonly Hunk[];
}

type DiffRead =
  | { readonly kind: 'ok'; readonly block: DiffBlock }
  | { readonly kind: 'refused'; readonly why: string };

interface Header {
  oldMode?: string;
  newMode?: string;
  oldSha?: string;
  newSha?: string;
  created: boolean;
  deleted: boolean;
  binary: boolean;
}

/** The blocks of a patch text, each with its `diff --git` line; null if there is text before the first. */
export function splitBlocks(text: string): readonly string[] | null {
  if (text === '') return [];
  const starts: number[] = [];
  for (let at = text.startsWith('diff --git ') ? 0 : -1; at >= 0; ) {
    starts.push(at);
    const next = text.indexOf('\ndiff --git ', at);
    at = next < 0 ? -1 : next + 1;
  }
  if (starts.length === 0) return null;
  return starts.map((start, i) => text.slice(start, starts[i + 1]));
}

/** Reads one block and checks that every line of it belongs to `path`. */
export function readBlock(block: string, path: string): DiffRead {
  if (!block.endsWith('\n')) return { kind: 'refused', why: 'ends in the middle of a line' };
  const lines = block.slice(0, -1).split('\n');
  if (!headerNames(lines[0] as string, path))
    return { kind: 'refused', why: 'names another file in its first line' };
  const header: Header = { created: false, deleted: false, binary: false };
  let at = 1;
  while (at < lines.length && readHeaderLine(lines[at] as string, header)) at++;
  if (lines[at] === 'GIT binary patch') {
    return { kind: 'ok', block: { ...header, binary: true, hunks: [] } };
  }
  if (at === lines.length) return { kind: 'ok', block: { ...header, hunks: [] } };
  if (!fileLines(lines[at] as string, lines[at + 1] ?? '', path, header)) {
    return { kind: 'refused', why: 'has a header line that is not expected here' };
  }
  const hunks = readHunks(lines, at + 2);
  return hunks === null
    ? { kind: 'refused', why: 'has a hunk that does not hold the lines it announces' }
    : { kind: 'ok', block: { ...header, hunks } };
}

function readHeaderLine(line: string, header: Header): boolean {
  const mode = /^(old|new|deleted file|new file) mode (\d{6})$/.exec(line);
  if (mode) {
    const value = mode[2] as string;
    if (mode[1] === 'old' || mode[1] === 'deleted file') header.oldMode = value;
    else header.newMode = value;
    header.deleted ||= mode[1] === 'deleted file';
    header.created ||= mode[1] === 'new file';
    return true;
  }
  const index = /^index ([0-9a-f]{40,64})\.\.([0-9a-f]{40,64})(?: (\d{6}))?$/.exec(line);
  if (!index) return false;
  header.oldSha = index[1] as string;
  header.newSha = index[2] as string;
  if (index[3]) {
    header.oldMode = index[3];
    header.newMode = index[3];
  }
  return true;
}

/** Git ends these lines with a tab when the path holds a space. */
function fileLines(from: string, to: string, path: string, header: Header): boolean {
  const field = (line: string) => line.slice(4).replace(/\t$/, '');
  const fromOk = header.created ? field(from) === '/dev/null' : namesPath(field(from), 'a/', path);
  const toOk = header.deleted ? field(to) === '/dev/null' : namesPath(field(to), 'b/', path);
  return from.startsWith('--- ') && to.startsWith('+++ ') && fromOk && toOk;
}

/** Null if there is anything but complete hunks. */
function readHunks(lines: readonly string[], from: number): readonly Hunk[] | null {
  const hunks: Hunk[] = [];
  for (let at = from; at < lines.length; ) {
    const { hunk, next, exact } = readHunk(lines, at);
    if (!exact) return null;
    hunks.push(hunk);
    at = next;
  }
  return hunks;
}

const C_ESCAPES: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 34,
  '\\': 92,
};

/**
 * The path in git's C-style quoting (`"a/\303\266.txt"`), including quotes; null if malformed. Octal escapes are
 * bytes of UTF-8.
 */
function unquote(quoted: string): string | null {
  if (quoted.length < 2 || !quoted.startsWith('"') || !quoted.endsWith('"')) return null;
  const bytes: number[] = [];
  const inner = quoted.slice(1, -1);
  for (let i = 0; i < inner.length; ) {
    const char = inner[i] as string;
    if (char === '"') return null;
    if (char !== '\\') {
      const point = String.fromCodePoint(inner.codePointAt(i) as number);
      bytes.push(...new TextEncoder().encode(point));
      i += point.length;
      continue;
    }
    const octal = /^[0-3][0-7]{2}/.exec(inner.slice(i + 1, i + 4))?.[0];
    const byte = octal === undefined ? C_ESCAPES[inner[i + 1] ?? ''] : Number.parseInt(octal, 8);
    if (byte === undefined) return null;
    bytes.push(byte);
    i += 1 + (octal?.length ?? 1);
  }
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

/** Does a header field (`a/x` or `"a/\303…"`) name `prefix` + `path`? */
const namesPath = (field: string, prefix: string, path: string): boolean =>
  field === prefix + path || (field.startsWith('"') && unquote(field) === prefix + path);

/** Whether `diff --git A B` names this path on both sides. Git quotes either side only if necessary, so both alike. */
function headerNames(line: string, path: string): boolean {
  const rest = line.slice('diff --git '.length);
  if (rest === `a/${path} b/${path}`) return true;
  const middle = rest.indexOf('" "');
  if (middle < 0) return false;
  return namesPath(rest.slice(0, middle + 1), 'a/', path) && namesPath(rest.slice(middle + 2), 'b/', path);
}
