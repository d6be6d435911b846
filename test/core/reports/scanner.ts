/** One code block of a Markdown text, by CommonMark's rule for fences. */
export interface CodeBlock {
  readonly info: string;
  readonly lines: readonly string[];
}

export interface Scan {
  readonly blocks: readonly CodeBlock[];
  /** Every line outside code blocks and fences. */
  readonly outside: readonly string[];
  /** A block was still open at the end of the text. */
  readonly unclosed: boolean;
}

interface Open {
  readonly mark: string;
  readonly length: number;
  readonly info: string;
  readonly lines: string[];
}

/**
 * Fenced code blocks as CommonMark finds them: a fence is three or more backticks or tildes, indented by at most three
 * spaces; only a line of at least as many of the same, with nothing behind but blanks, closes it. An HTML block
 * (`<details>`, `<summary>`) lasts to the next empty line, and no fence opens inside it. CR, LF and CR LF end a line.
 */
export function scan(markdown: string): Scan {
  const blocks: CodeBlock[] = [];
  const outside: string[] = [];
  let open: Open | null = null;
  let inHtml = false;
  for (const line of markdown.split(/\r\n|\r|\n/)) {
    if (open !== null) {
      if (closes(open, line)) {
        blocks.push({ info: open.info, lines: open.lines });
        open = null;
      } else {
        open.lines.push(line);
      }
      continue;
    }
    if (line.trim() === '') inHtml = false;
    else if (/^ {0,3}<\/?(?:details|summary)\b/i.test(line)) inHtml = true;
    open = inHtml ? null : opening(line);
    if (open === null) outside.push(line);
  }
  return { blocks, outside, unclosed: open !== null };
}

function opening(line: string): Open | null {
  const found = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line);
  const mark = found?.[1];
  const info = (found?.[2] ?? '').trim();
  if (mark === undefined || (mark.startsWith('`') && info.includes('`'))) return null;
  return { mark: mark.charAt(0), length: mark.length, info, lines: [] };
}

function closes(open: Open, line: string): boolean {
  const found = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1];
  return (found ?? '').startsWith(open.mark) && (found ?? '').length >= open.length;
}
