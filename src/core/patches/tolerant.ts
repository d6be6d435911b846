export interface ReadLine {
  readonly kind: 'context' | 'added' | 'removed';
  readonly text: string;
  /** 1-based line of the base file that it is, or that stands next for an added one. */
  readonly base: number;
}

export interface ReadHunk {
  /** What stands behind the second `@@`: often the function around the change; may be empty. */
  readonly heading: string;
  readonly lines: readonly ReadLine[];
}

export interface ReadFile {
  /** The file's name after the change, before it where it is deleted. Git's quoting is left as it is. */
  readonly path: string;
  /** Its name before the change, where git says that it was renamed or copied. */
  readonly from: string | null;
  readonly created: boolean;
  readonly deleted: boolean;
  readonly binary: boolean;
  readonly hunks: readonly ReadHunk[];
}

/** What is read at most; what is beyond counts as not there. Our defaults: no patch people read comes near them. */
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
  hunks: ReadHunk[];
}

/**
 * Reads any text as a unified diff, git's or plain, and never throws: what does not belong to a file's hunks is passed
 * over. Lines beyond the counts of a hunk's header are not part of it, because no tool would apply them.
 */
export function readDiff(text: string): readonly ReadFile[] {
  const lines = linesOf(text);
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
      at = readHunk(lines, at, file);
    } else {
      if (file && file.hunks.length === 0) readHeader(line, file);
      at++;
    }
    if (files.length > READ_LIMITS.files) break;
  }
  return files.slice(0, READ_LIMITS.files);
}

function linesOf(text: string): readonly string[] {
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

/** Both names are alike in what git writes, so the second half is the name; with a rename a later line tells. */
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

const HUNK = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@(.*)$/s;

/** Reads the hunk whose header stands at `from`; returns where the next line to read is. */
function readHunk(lines: readonly string[], from: number, file: OpenFile): number {
  const { heading, ...counts } = headerOf(lines[from] as string);
  const body: ReadLine[] = [];
  file.hunks.push({ heading, lines: body });
  let { left, right, base } = counts;
  let at = from + 1;
  for (; at < lines.length && (left > 0 || right > 0); at++) {
    const line = lines[at] as string;
    const kind = kindOf(line);
    if (kind === null || endsEarly(lines, at, left, right)) break;
    if (kind === 'note') continue;
    body.push({ kind, text: textOf(line), base });
    left -= LEFT_STEP[kind];
    right -= RIGHT_STEP[kind];
    base += LEFT_STEP[kind];
  }
  return at;
}

/** The next file begins although the header announced more: whoever wrote it miscounted, or did not count. */
const endsEarly = (lines: readonly string[], at: number, left: number, right: number): boolean => {
  if (!isFilePair(lines[at] as string, lines[at + 1])) return false;
  if (left === Number.POSITIVE_INFINITY) return true;
  return lines[at + 2]?.startsWith('@@') === true && !(left === 1 && right === 1);
};

const textOf = (line: string): string =>
  line.slice(1, Math.min(line.endsWith('\r') ? line.length - 1 : line.length, READ_LIMITS.lineLength));

const LEFT_STEP = { context: 1, removed: 1, added: 0 } as const;
const RIGHT_STEP = { context: 1, removed: 0, added: 1 } as const;

/** A header without numbers, as models write it, ends with the lines that look like a hunk's; its place is not known. */
function headerOf(line: string): { heading: string; left: number; right: number; base: number } {
  const head = HUNK.exec(line);
  if (!head) return { heading: '', left: Number.POSITIVE_INFINITY, right: Number.POSITIVE_INFINITY, base: 0 };
  const [, start, before = '1', after = '1', heading = ''] = head;
  // Without lines of its own the old side names the line that the new ones follow.
  const base = Number(start) + (before === '0' ? 1 : 0);
  return { heading: heading.trim(), left: Number(before), right: Number(after), base };
}

/** An empty line is a context line that lost its blank on the way. */
function kindOf(line: string): ReadLine['kind'] | 'note' | null {
  switch (line[0]) {
    case '+':
      return 'added';
    case '-':
      return 'removed';
    case '\\':
      return 'note';
    case ' ':
    case '\r':
    case undefined:
      return 'context';
    default:
      return null;
  }
}
