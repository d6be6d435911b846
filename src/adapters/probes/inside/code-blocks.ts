// The code in an issue: between fences, or indented.

/** A fenced code block in Markdown. */
interface Fence {
  readonly language: string;
  readonly code: string;
  /** The text after it, up to the next fence or heading. */
  readonly after: string;
}

const OPEN = /^[ \t]*(`{3,20}|~{3,20})[ \t]*([\w+-]*)/;

/** The fenced code of a text and the prose around it, read line by line: an issue may open any number of fences. */
export function fencesOf(markdown: string): { readonly fences: readonly Fence[]; readonly prose: string } {
  const fences: { language: string; code: string[]; after: string[] }[] = [];
  const prose: string[] = [];
  let mark: string | null = null;
  let following = false;
  for (const line of markdown.split(/\r?\n/)) {
    const [, open, language = ''] = OPEN.exec(line) ?? [];
    if (mark !== null) {
      if (line.trim() === mark) mark = null;
      else fences.at(-1)?.code.push(line);
      following = mark === null;
    } else if (open) {
      mark = open;
      fences.push({ language, code: [], after: [] });
    } else {
      following = following && !line.startsWith('#');
      prose.push(line);
      if (following) fences.at(-1)?.after.push(line);
    }
  }
  return {
    fences: fences.map(({ language, code, after }) => ({
      language,
      code: `${code.join('\n')}\n`,
      after: after.join('\n'),
    })),
    prose: prose.join('\n'),
  };
}

const INDENTED = /^(?: {4}|\t)/;
const LIST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])\s/;

/**
 * Code that is indented instead of fenced, without its indent: after an empty line, up to the next line of text. Below
 * a list an indent continues an item.
 */
export function indentedCodeIn(prose: string): readonly string[] {
  const blocks: string[][] = [];
  let block: string[] | null = null;
  let inList = false;
  let afterEmpty = true;
  for (const line of prose.split('\n')) {
    const isEmpty = line.trim() === '';
    if (isEmpty) block?.push('');
    else if (INDENTED.test(line) && (block !== null || (afterEmpty && !inList))) {
      if (block === null) {
        block = [];
        blocks.push(block);
      }
      block.push(line.replace(INDENTED, ''));
    } else {
      block = null;
      inList = LIST_ITEM.test(line) || (inList && /^\s/.test(line));
    }
    afterEmpty = isEmpty;
  }
  return blocks.map((lines) => `${lines.join('\n').trimEnd()}\n`);
}
