import { type DiffLine, hunksOf, type PatchFile } from '../patches/index.ts';
import { isComment, type Language, languageOf } from './languages.ts';

/** White space at the start of a line means something here, or we do not know. */
const INDENTED: ReadonlySet<Language> = new Set(['python', 'shell', 'prose', 'other']);

/**
 * Does a production file change in more than white space and comments? Binary files, links, modes, and whole files
 * that come or go count as content; in doubt, so does everything else.
 */
export function hasContent(file: PatchFile): boolean {
  if (file.binary || file.change === 'deleted' || file.change === 'type-changed') return true;
  if (file.oldMode !== file.newMode && file.change === 'modified') return true;
  const language = languageOf(file.path);
  // Text over several lines may stand in the file: then a line that looks like a comment or an indent may be data.
  const literal = /`|"""|'''/.test(file.section);
  const plain = literal || INDENTED.has(language) ? trimmed(language, literal) : squeezed(language);
  return blocks(file).some(({ removed, added }) => plain(added) !== plain(removed));
}

/** Runs of changed lines without a line of context between them: a line that only moved is content. */
function blocks(file: PatchFile): readonly { removed: readonly string[]; added: readonly string[] }[] {
  const found: { removed: string[]; added: string[] }[] = [];
  for (const hunk of hunksOf(file)) {
    let before: DiffLine['kind'] = 'context';
    for (const line of hunk.lines) {
      if (line.kind !== 'context') {
        if (before === 'context') found.push({ removed: [], added: [] });
        const last = found.at(-1) as { removed: string[]; added: string[] };
        last[line.kind].push(line.text);
      }
      before = line.kind;
    }
  }
  return found;
}

type Plain = (lines: readonly string[]) => string;

const trimmed =
  (language: Language, literal: boolean): Plain =>
  (lines) =>
    lines
      .filter((line) => line.trim() !== '' && (literal || !isComment(line, language)))
      .map((line) => line.trimEnd())
      .join('\n');

const squeezed =
  (language: Language): Plain =>
  (lines) => {
    const pen: Pen = { out: [], last: '', gap: false };
    for (const line of lines) if (!isComment(line, language)) squeeze(line, pen);
    return pen.out.join('');
  };

interface Pen {
  readonly out: string[];
  last: string;
  gap: boolean;
}

/** Strings, white space, a comment up to the end of the line, words, and runs of what is left. */
const TOKEN = /"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|\s+|\/\/.*|\w+|[^\s"'/\w]+|[\s\S]/g;

/** Drops white space outside of quotes, except one space between two words, and a comment at the end of the line. */
function squeeze(line: string, pen: Pen): void {
  pen.gap = true;
  for (const token of line.match(TOKEN) ?? []) {
    if (/^\s/.test(token)) {
      pen.gap = true;
      continue;
    }
    // Without a space in front, it may be the end of a regular expression.
    if (pen.gap && token.startsWith('//')) return;
    if (pen.gap && /\w/.test(pen.last) && /^\w/.test(token)) pen.out.push(' ');
    pen.out.push(token);
    pen.last = token.at(-1) as string;
    pen.gap = false;
  }
}
