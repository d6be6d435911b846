export interface DiffLine {
  readonly kind: 'context' | 'added' | 'removed';
  readonly text: string;
  /** 1-based, in the new file; of a removed line, in the old one. */
  readonly line: number;
  /** 1-based line in the old file; for an added line, that of the line after it. */
  readonly base: number;
  /** The file ends here without a newline. */
  readonly noNewline?: boolean;
}

export interface Hunk {
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  readonly newCount: number;
  /** The surrounding context that git found, often a function; may be empty. */
  readonly heading: string;
  readonly lines: readonly DiffLine[];
}

export interface ReadFile {
  /** The file's name after the change, or before it if the file is deleted. Git's quoting is unchanged. */
  readonly path: string;
  /** Its name before the change, if git reports a rename or copy. */
  readonly from: string | null;
  readonly created: boolean;
  readonly deleted: boolean;
  readonly binary: boolean;
  readonly hunks: readonly Hunk[];
}

/** Maximum input; anything beyond is ignored. Defaults, far above any patch that people read. */
export const READ_LIMITS = {
  /** UTF-16 code units of a patch. */
  characters: 4 * 2 ** 20,
  files: 2_000,
  /** Code units of one line; machine-made lines beyond it are cut. */
  lineLength: 2_000,
} as const;

interface OpenFile {
  path: string;
  from: string | null;
  created: boolean;
  deleted: boolean;
  binary: boolean;
  /** Its `---` and `+++` lines were read. */
  named: boolean;
  hunks: Hunk[];
}

/**
 * Parses any text as a unified diff, git's or plain. Never throws: skips what does not belong to a file's hunks.
 * Lines beyond the counts of a hunk's header are not part of it, because no tool would apply them.
 */
export function readDiff(text: string): readonly ReadFile[] {
  const lines = splitLines(text);
  const files: OpenFile[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] as string;
    const file = files.at(-1);
    if (line.startsWith('diff --git ')) {
      files.push(opened(gitPath(line)));
      at++;
    } else if (isFilePair(line, lines[at + 1])) {
      nameFile(files, line, lines[at + 1] as string);
      at += 2;
    } else if (file && line.startsWith('@@')) {
      const { hunk, next } = readHunk(lines, at);
      file.hunks.push(shortenedHunk(hunk));
      at = next;
    } else {
      if (file && file.hunks.length === 0) readHeader(line, file);
      at++;
    }
    if (files.length > READ_LIMITS.files) break;
  }
  return files.slice(0, READ_LIMITS.files);
}

function splitLines(text: string): readonly string[] {
  const lines = text.slice(0, READ_LIMITS.characters).split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

const opened = (path: string): OpenFile => ({
  path,
  from: null,
  created: false,
  deleted: false,
  binary: false,
  named: false,
  hunks: [],
});

/** Both names are equal in git's output, so the second half is the name; for a rename, a later line has it. */
const gitPath = (line: string): string => {
  const rest = line.slice('diff --git '.length);
  const cut = rest.lastIndexOf(rest.endsWith('"') ? ' "b/' : ' b/');
  return cleaned(cut < 0 ? rest : rest.slice(cut + 1));
};

const cleaned = (field: string): string =>
  field
    .slice(0, READ_LIMITS.lineLength)
    .replace(/[\t\r].*$/s, '')
    .replace(/^"(.*)"$/, '$1')
    .replace(/^[ab]\//, '');

const isFilePair = (line: string, next: string | undefined): boolean =>
  line.startsWith('--- ') && next?.startsWith('+++ ') === true;

function nameFile(files: OpenFile[], from: string, to: string): void {
  const [before, after] = [cleaned(from.slice(4)), cleaned(to.slice(4))];
  const last = files.at(-1);
  const file = !last || last.named || last.hunks.length > 0 ? opened('') : last;
  if (file !== last) files.push(file);
  file.named = true;
  file.created ||= before === '/dev/null';
  file.deleted ||= after === '/dev/null';
  file.path = after === '/dev/null' ? before : after;
}

function readHeader(line: string, file: OpenFile): void {
  if (line.startsWith('new file mode')) file.created = true;
  else if (line.startsWith('deleted file mode')) file.deleted = true;
  else if (line.startsWith('Binary files ') || line === 'GIT binary patch') file.binary = true;
  const name = /^(?:rename|copy) (from|to) (.*)$/.exec(line);
  if (name?.[1] === 'from') file.from = cleaned(name[2] as string);
  else if (name) file.path = cleaned(name[2] as string);
}

/** Normalized for comparison: without Windows line ends, and with generated lines cut (including their sign). */
export const shortenedHunk = (hunk: Hunk): Hunk => ({
  ...hunk,
  heading: hunk.heading.trim(),
  lines: hunk.lines.map((line) => ({
    ...line,
    text: line.text.replace(/\r$/, '').slice(0, READ_LIMITS.lineLength - 1),
  })),
});

interface HunkRead {
  readonly hunk: Hunk;
  /** Index of the next line. */
  readonly next: number;
  /** The header is git's and matches its lines: nothing had to be guessed. */
  readonly exact: boolean;
}

/** Number of lines in the old and in the new file that a hunk's line represents. */
export const LINE_STEPS = { context: [1, 1], removed: [1, 0], added: [0, 1] } as const;

/** Parses the hunk whose header is at `from`, as far as its lines look like a hunk. */
export function readHunk(lines: readonly string[], from: number): HunkRead {
  const { hunk, ...header } = headerOf(lines[from] as string);
  const body: DiffLine[] = [];
  let { exact, left, right, base, line } = header;
  let at = from + 1;
  for (; at < lines.length; at++) {
    const text = lines[at] as string;
    if (text.startsWith('\\')) {
      const marked = markUnended(body);
      exact &&= marked;
      continue;
    }
    if (left <= 0 && right <= 0) break;
    const kind = lineKind(text);
    if (kind === null || endsEarly(lines, at, left, right)) break;
    exact &&= text !== '' && !text.startsWith('\r');
    body.push({ kind, text: text.slice(1), line: kind === 'removed' ? base : line, base });
    const [old, now] = LINE_STEPS[kind];
    left -= old;
    right -= now;
    base += old;
    line += now;
  }
  return { hunk: { ...hunk, lines: body }, next: at, exact: exact && left === 0 && right === 0 };
}

/** `\ No newline at end of file` refers to the line before it. */
function markUnended(body: DiffLine[]): boolean {
  const last = body.pop();
  if (last) body.push({ ...last, noNewline: true });
  return last !== undefined;
}

/** The next file begins although the header announced more lines: the author miscounted. */
const endsEarly = (lines: readonly string[], at: number, left: number, right: number): boolean => {
  if (!isFilePair(lines[at] as string, lines[at + 1])) return false;
  if (left === Number.POSITIVE_INFINITY) return true;
  return lines[at + 2]?.startsWith('@@') === true && !(left === 1 && right === 1);
};

const HUNK = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@( ?)(.*)$/s;

/**
 * A header without numbers, as models write it, ends with the lines that look like a hunk's; its position is unknown.
 */
function headerOf(text: string) {
  const head = HUNK.exec(text);
  const [, oldStart = '0', oldCount = '1', newStart = '0', newCount = '1', blank = '', heading = ''] =
    head ?? [];
  const hunk = {
    oldStart: Number(oldStart),
    oldCount: Number(oldCount),
    newStart: Number(newStart),
    newCount: Number(newCount),
    heading,
  };
  const known = head !== null;
  return {
    hunk,
    exact: known && (blank !== '' || heading === ''),
    left: known ? hunk.oldCount : Number.POSITIVE_INFINITY,
    right: known ? hunk.newCount : Number.POSITIVE_INFINITY,
    // Without lines of its own, the old side names the line before the new ones.
    base: hunk.oldStart + (known && hunk.oldCount === 0 ? 1 : 0),
    line: hunk.newStart,
  };
}

/** An empty line is a context line that lost its leading blank. */
function lineKind(text: string): DiffLine['kind'] | null {
  switch (text[0]) {
    case '+':
      return 'added';
    case '-':
      return 'removed';
    case ' ':
    case '\r':
    case undefined:
      return 'context';
    default:
      return null;
  }
}

/** How `git apply` takes a patch: its text, and how many leading folders its paths begin with (`-p`). */
export interface AppliedForm {
  readonly text: string;
  readonly strip: 0 | 1;
}

const HEADER_LINE = /^(?:diff --git |--- |\+\+\+ |@@ -\d)/;

/**
 * A patch as people save it, in the form that git applies: git refuses one whose last line has no end, whose line ends
 * an editor made those of Windows, in headers too, or that was made with `git diff --no-prefix`. A patch to a file with
 * Windows line ends has them in its content only, and is left as it is.
 */
export function appliedForm(given: string): AppliedForm {
  const headers = given.split('\n').filter((line) => HEADER_LINE.test(line));
  const isConverted = headers.length > 0 && headers.every((line) => line.endsWith('\r'));
  const text = isConverted ? given.replaceAll('\r\n', '\n') : given;
  return { text: text.endsWith('\n') ? text : `${text}\n`, strip: hasPrefixes(text) ? 1 : 0 };
}

/**
 * Without prefixes, the old and the new name of a file are the same, as far as it is not renamed. Models also write
 * `a/` before both.
 */
function hasPrefixes(text: string): boolean {
  const lines = text.split('\n');
  const pairs = lines.flatMap((line, at): (readonly [string, string])[] => {
    const next = lines[at + 1] ?? '';
    if (isFilePair(line, next) && lines[at + 2]?.startsWith('@@ ') === true)
      return [[withoutTime(line), withoutTime(next)]];
    if (!line.startsWith('diff --git ')) return [];
    const names = line.slice('diff --git '.length);
    const half = (names.length - 1) / 2;
    return [[names.slice(0, half), names.slice(half + 1)]];
  });
  const changed = pairs.filter((pair) => !pair.includes('/dev/null'));
  return (
    changed.length === 0 ||
    changed.some(([from, to]) => from !== to) ||
    changed.every(([from]) => from.startsWith('a/'))
  );
}

const withoutTime = (line: string): string => line.slice(4).replace(/\t.*$/s, '');
