/** A header of a file in a unified diff, as git or `diff -u` write it. */
const FILE_START = /^(?:diff --git |--- (?:a\/|\/dev\/null|"a\/))/;
const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/;
const EXTENDED =
  /^(?:index |old mode |new mode |new file mode |deleted file mode |similarity index |dissimilarity index |rename (?:from|to) |copy (?:from|to) )/;

/**
 * The unified diff in what a model answered: in code fences or as it is, with prose around it. Null if there is none.
 * The numbers of lines in hunk headers are counted again: models count badly, and `git apply` refuses what does not add
 * up. Nothing else is changed.
 */
export function diffIn(answer: string): string | null {
  const lines = answer.replaceAll('\r\n', '\n').split('\n');
  const out: string[] = [];
  for (let at = 0; at < lines.length; ) {
    if (FILE_START.test(lines[at] ?? '')) at = readFileDiff(lines, at, out);
    else at += 1;
  }
  return out.some((line) => line.startsWith('@@ ') || EXTENDED.test(line)) ? `${out.join('\n')}\n` : null;
}

/** Copies the diff of one file to `out`; returns the index of the first line after it. */
function readFileDiff(lines: readonly string[], start: number, out: string[]): number {
  let at = start;
  while (at < lines.length && isHeader(lines, at, start)) out.push(lines[at++] ?? '');
  for (;;) {
    const header = HUNK.exec(lines[at] ?? '');
    if (!header) return at;
    at = readHunk(lines, at, header, out);
  }
}

function isHeader(lines: readonly string[], at: number, start: number): boolean {
  const line = lines[at] ?? '';
  if (line.startsWith('diff --git ')) return at === start;
  if (line.startsWith('--- ')) return at === start || !lines.slice(start, at).some(isOld);
  return line.startsWith('+++ ') || EXTENDED.test(line);
}

const isOld = (line: string): boolean => line.startsWith('--- ');

function readHunk(lines: readonly string[], from: number, header: RegExpExecArray, out: string[]): number {
  const body: string[] = [];
  let at = from + 1;
  for (; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (isEndOfHunk(lines, at)) break;
    body.push(line);
  }
  // Empty lines after a hunk are the space before prose.
  while (body.at(-1) === '') body.pop();
  // Models and editors drop the space of an empty context line.
  for (const [index, line] of body.entries()) if (line === '') body[index] = ' ';
  const [, oldStart = '', newStart = '', rest = ''] = header;
  const removed = body.filter((line) => line.startsWith('-') || line.startsWith(' ')).length;
  const added = body.filter((line) => line.startsWith('+') || line.startsWith(' ')).length;
  out.push(`@@ -${oldStart},${removed} +${newStart},${added} @@${rest}`, ...body);
  return at;
}

function isEndOfHunk(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? '';
  // A removed line that begins with two hyphens looks like a header, but no `+++` follows it.
  if (/^--- /.test(line)) return FILE_START.test(line) && (lines[at + 1] ?? '').startsWith('+++ ');
  return line !== '' && !/^[ +\-\\]/.test(line);
}
