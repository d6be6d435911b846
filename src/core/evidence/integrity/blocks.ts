import type { Language } from '../languages.ts';
import type { Side } from './view.ts';

/** A part of a text that belongs to a head: `if (x)`, `test('a', () =>`, `with suppress(E):`. */
export interface Block {
  /** Offset of the head's first character. */
  readonly headAt: number;
  /** Offsets of the inside. */
  readonly start: number;
  readonly end: number;
  /** The head, strings kept, bounded. */
  readonly head: string;
}

const INDENTED: ReadonlySet<Language> = new Set(['python', 'ruby', 'shell']);

/** All blocks in order of their beginnings; they nest. */
export const blocksOf = (
  side: Side,
  language: Language,
  brackets: ReadonlyMap<number, number>,
): readonly Block[] => (INDENTED.has(language) ? indented(side, language) : braced(side, brackets));

const LONGEST_HEAD = 400;

function braced(side: Side, brackets: ReadonlyMap<number, number>): readonly Block[] {
  const { mask, code } = side;
  const blocks: Block[] = [];
  let boundary = 0;
  for (let i = 0; i < mask.length; i++) {
    const char = mask[i];
    if (char === '{') {
      const headAt = headStart(mask, Math.max(boundary, i - LONGEST_HEAD), i);
      const end = brackets.get(i) ?? mask.length;
      blocks.push({ headAt, start: i + 1, end, head: code.slice(headAt, i).trim() });
    }
    if (char === '{' || char === '}' || char === ';') boundary = i + 1;
  }
  return blocks;
}

/** The last line before the brace, and earlier ones as long as brackets are closed that they open. */
function headStart(mask: string, from: number, brace: number): number {
  let closers = 0;
  let start = brace;
  for (let i = brace - 1; i >= from; i--) {
    const char = mask[i];
    if (char === ')' || char === ']') closers++;
    else if (char === '(' || char === '[') closers--;
    else if (char === '\n' && closers <= 0 && mask.slice(i + 1, brace).trim() !== '') return i + 1;
    start = i;
  }
  return start;
}

const RUBY_HEAD =
  /^(?:if|unless|case|begin|while|until|for|def|class|module|rescue|else|elsif|when|ensure)\b|\bdo(?:\s*\|[^|]*\|)?\s*$|\{(?:\s*\|[^|]*\|)?\s*$/;

const opens = (line: string, language: Language): boolean =>
  language === 'python' ? /:\s*$/.test(line) : RUBY_HEAD.test(line.trim()) || /\b(?:then|do)\s*$/.test(line);

/** A head's block is what follows and is indented more. */
function indented(side: Side, language: Language): readonly Block[] {
  const { mask, code, starts } = side;
  const blocks: { block: Block; indent: number }[] = [];
  const open: { index: number; indent: number }[] = [];
  const done: Block[] = [];
  const close = (indent: number, end: number) => {
    for (let last = open.at(-1); last && last.indent >= indent; last = open.at(-1)) {
      open.pop();
      done[last.index] = { ...(blocks[last.index] as { block: Block }).block, end };
    }
  };
  for (let i = 0; i + 1 < starts.length; i++) {
    const [from, to] = [starts[i] as number, starts[i + 1] as number];
    const line = mask.slice(from, to).replace(/\n$/, '');
    if (line.trim() === '') continue;
    const indent = line.length - line.trimStart().length;
    close(indent, from);
    if (!opens(line, language)) continue;
    const head = code.slice(from, to).trim().slice(0, LONGEST_HEAD);
    open.push({ index: blocks.length, indent });
    blocks.push({ indent, block: { headAt: from, start: to, end: mask.length, head } });
  }
  close(-1, mask.length);
  return done;
}

/** For each offset (ascending) the blocks around it, outermost first. */
export function nesting(blocks: readonly Block[], offsets: readonly number[]): readonly (readonly Block[])[] {
  const around: Block[] = [];
  let next = 0;
  return offsets.map((offset) => {
    for (let block = blocks[next]; block && block.headAt <= offset; block = blocks[++next]) {
      while (around.length > 0 && (around.at(-1) as Block).end <= block.start) around.pop();
      if (around.length < MOST_LEVELS) around.push(block);
    }
    return around.filter((block) => block.start <= offset && offset < block.end);
  });
}

const MOST_LEVELS = 100;
