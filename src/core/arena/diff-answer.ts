/** A header of a file in a unified diff, as git or `diff -u` write it. */
const FILE_START = /^(?:diff --git |--- (?:a\/|\/dev\/null|"a\/))/;
const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/;
/** A path without the prefix that `git apply` removes: `--- list.js`, and perhaps a time after a tab. */
const BARE = /^(---|\+\+\+) (?!a\/|b\/|"|\/)(\S[^\t]*)/;
const EXTENDED =
  /^(?:index |old mode |new mode |new file mode |deleted file mode |similarity index |dissimilarity index |rename (?:from|to) |copy (?:from|to) )/;

/**
 * The unified diff in what a model answered: in code fences or as it is, with prose around it. Null if there is none.
 * The numbers of lines in hunk headers are counted again: models count badly, and `git apply` refuses what does not add
 * up. Paths without `a/` and `b/` get them. Nothing else is changed.
 */
export function diffIn(answer: string): string | null {
  const lines = answer.replaceAll('\r\n', '\n').split('\n');
  const out: string[] = [];
  for (let at = 0; at < lines.length; ) {
    if (isFileStart(lines, at)) at = readFileDiff(lines, at, out);
    else at += 1;
  }
  return out.some((line) => line.startsWith('@@ ') || EXTENDED.test(line)) ? `${out.join('\n')}\n` : null;
}

/** Whether a file begins here. Without `a/` and `b/`, three lines must look like it: prose has rules and lists. */
function isFileStart(lines: readonly string[], at: number): boolean {
  const [line = '', second = '', third = ''] = lines.slice(at, at + 3);
  if (FILE_START.test(line)) return true;
  return BARE.test(line) && second.startsWith('+++ ') && HUNK.test(third);
}

/** Copies the diff of one file to `out`; returns the index of the first line after it. */
function readFileDiff(lines: readonly string[], start: number, out: string[]): number {
  let at = start;
  while (at < lines.length && isHeader(lines, at, start)) out.push(withPrefix(lines[at++] ?? ''));
  for (;;) {
    const header = HUNK.exec(lines[at] ?? '');
    if (!header) return at;
    at = readHunk(lines, at, header, out);
  }
}

const withPrefix = (header: string): string =>
  header.replace(BARE, (_, side: string, path: string) => `${side} ${side === '---' ? 'a' : 'b'}/${path}`);

function isHeader(lines: readonly string[], at: number, start: number): boolean {
  const line = lines[at] ?? '';
  if (line.startsWith('diff --git ')) return at === start;
  if (line.startsWith('--- ')) return at === start || !lines.slice(start, at).some(isOld);
  return line.startsWith('+++ ') || EXTENDED.test(line);
}

const isOld = (line: string): boolean => line.startsWith('--- ');

function readHunk(lines: readonly string[], from: number, header: RegExpExecArray, out: string[]): number {
  const [, oldStart = '', oldLines = '1', newStart = '', newLines = '1', rest = ''] = header;
  let at = from + 1;
  while (at < lines.length && !isEndOfHunk(lines, at)) at += 1;
  const body = withoutList(lines.slice(from + 1, at), Number(oldLines), Number(newLines));
  // Empty lines after a hunk are the space before prose.
  while (body.at(-1) === '') body.pop();
  for (const [index, line] of body.entries()) body[index] = asContext(line);
  const removed = countOf(body, '-');
  const added = countOf(body, '+');
  out.push(`@@ -${oldStart},${removed} +${newStart},${added} @@${rest}`, ...body);
  return at;
}

const isOn = (line: string, mark: '-' | '+'): boolean =>
  line.startsWith(mark) || line.startsWith(' ') || line === '';

/** Lines of one side of a hunk. */
const countOf = (body: readonly string[], mark: '-' | '+'): number =>
  body.filter((line) => isOn(line, mark)).length;

/** Without a list of bullets after an empty line, at which the hunk has as many lines as its header says. */
function withoutList(body: readonly string[], oldLines: number, newLines: number): string[] {
  const listFrom = body.findLastIndex((line) => line !== '' && !line.startsWith('- ')) + 1;
  let [old, fresh] = [0, 0];
  for (const [at, line] of body.entries()) {
    if (at >= listFrom && line === '' && old === oldLines && fresh === newLines) return body.slice(0, at);
    if (isOn(line, '-')) old += 1;
    if (isOn(line, '+')) fresh += 1;
  }
  return [...body];
}

/** Models and editors drop the space of an empty context line. */
const asContext = (line: string): string => (line === '' ? ' ' : line);

function isEndOfHunk(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? '';
  // A removed line that begins with two hyphens looks like a header, but no `+++` follows it.
  if (/^--- /.test(line)) return isFileStart(lines, at) && (lines[at + 1] ?? '').startsWith('+++ ');
  return line !== '' && !/^[ +\-\\]/.test(line);
}
