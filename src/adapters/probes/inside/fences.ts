/** A fenced piece of code in Markdown. */
export interface Fence {
  readonly language: string;
  readonly code: string;
  /** What stands behind it, up to the next fence or heading. */
  readonly after: string;
}

const OPEN = /^[ \t]*(`{3,20}|~{3,20})[ \t]*([\w+-]*)/;

/** The fenced code of a text and the prose around it, read line by line: an issue may open fences without end. */
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
