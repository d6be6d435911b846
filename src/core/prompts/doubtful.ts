import type { Token } from 'markdown-it';

/** A definition but for what is odd in its address: parsers differ. */
const DEFINITION =
  /^\s*\[(?!\^)(?:[^[\]\\]|\\.){1,999}\]:\s*\S+[ \t]*(?:\n|$|["'(][^\n]*["')][ \t]*(?:\n|$))/;
/** Markup in a line that no browser shows. */
const SPECIAL = /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<![A-Z][^>]*>|<!\[CDATA\[[\s\S]*?\]\]>/;
/** The second line of a table, which this parser saw none in. */
const TABLE_RULE = /^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

/** Whether GitHub may take a part of a paragraph for something that its page does not show. */
export function isDoubtful({ content, children }: Token): boolean {
  if (DEFINITION.test(content)) return true;
  // The parser looks for no further one where it has missed one.
  const missed = (children ?? []).some(({ type, content: text }) => type === 'text' && /<[!?]/.test(text));
  if (missed && SPECIAL.test(content)) return true;
  const lines = content.split('\n');
  const rule = lines.findIndex((line, at) => at > 0 && line.includes('|') && TABLE_RULE.test(line));
  if (rule < 0) return false;
  const columns = cellsOf(lines[rule] ?? '').length;
  return lines.slice(rule + 1).some((line) => surplus(line, columns) > 0);
}

/** Characters in the cells of a row beyond the width of its table. */
export function surplus(line: string, columns: number): number {
  if (columns === 0) return 0;
  return cellsOf(line)
    .slice(columns)
    .reduce((sum, cell) => sum + cell.trim().length, 0);
}

const cellsOf = (line: string): readonly string[] =>
  line
    .trim()
    .replace(/^[\s>]*\|/, '')
    .replace(/(?<!\\)\|$/, '')
    .split(/(?<!\\)\|/);
