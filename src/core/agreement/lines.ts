import { Lexer, openBefore, type Syntax, syntaxOf } from './lex.ts';
import type { ReadFile, ReadHunk, ReadLine } from './read.ts';

/** A line of a hunk as code. */
export interface CodeLine extends ReadLine {
  /** Empty for a comment or a blank line. On a context line: as it stands in the new file. */
  readonly tokens: readonly string[];
}

/** One hunk's lines as code tokens, both sides read apart: what opens on one side must not swallow the other. */
export function codeOf(file: ReadFile, hunk: ReadHunk): readonly CodeLine[] {
  const syntax = syntaxOf(file.path);
  const open = openBefore(
    hunk.lines.filter((line) => line.kind !== 'added').map((line) => line.text),
    syntax,
  );
  const before = new Lexer(syntax, open);
  const after = new Lexer(syntax, open);
  return hunk.lines.map((line) => {
    const old = line.kind === 'added' ? [] : before.line(line.text);
    const now = line.kind === 'removed' ? old : after.line(line.text);
    return { ...line, tokens: ended(now, syntax) };
  });
}

const ended = (tokens: readonly string[], { freeSemicolons }: Syntax): readonly string[] =>
  freeSemicolons && tokens.at(-1) === ';' ? tokens.slice(0, -1) : tokens;
