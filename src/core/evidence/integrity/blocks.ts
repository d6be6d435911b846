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

/** What keeps code from running, or its failure from being seen. */
export type Guard = 'condition' | 'swallow' | 'never' | 'later' | 'function';

const NEVER =
  /^(?:\}?\s*else\s+)?(?:if|while|unless)\s*\(?\s*(?:false|0|False|!1|!true|not True|nil|None|unless true)\s*\)?\s*:?$|^unless\s+true\b|^for\b.*\bof\s*\[\s*\]|^for\s+\w+\s+in\s+(?:\[\s*\]|\(\s*\)|range\(0\))\s*:/;
const CONDITION =
  /^(?:\}?\s*else\b|\}?\s*else\s+if\b|if\b|elif\b|elsif\b|unless\b|switch\b|match\b|case\b|when\b|while\b|guard\b)/;
const LATER =
  /\b(?:setTimeout|setImmediate|setInterval|queueMicrotask|process\.nextTick|requestAnimationFrame|requestIdleCallback)\s*\(|^go\s+func\b|\batexit\.register|\bat_exit\b/;
const SUPPRESSES = /\bsuppress\s*\(|\bcatch_unwind\b|\bTry\s*\(/;
const FUNCTION =
  /^(?:export\s+)?(?:async\s+)?function\s*\*?\s+\w+|^(?:const|let|var)\s+\w+\s*=\s*(?:async\s*)?(?:function\b|\([^)]*\)\s*=>|\w+\s*=>)|^(?:async\s+)?def\s+(?!test)\w+/;

/** What a block does to the code inside of it, if anything. */
export function guardOf(block: Block, side: Side, blocks: readonly Block[]): Guard | null {
  const { head } = block;
  if (NEVER.test(head)) return 'never';
  if (CONDITION.test(head)) return 'condition';
  if (/^(?:\}\s*)?(?:catch|except|rescue)\b/.test(head)) return 'condition';
  if (SUPPRESSES.test(head)) return 'swallow';
  if (/^(?:try|begin|do)\b/.test(head) && swallows(block, side, blocks)) return 'swallow';
  if (LATER.test(head)) return 'later';
  return FUNCTION.test(head) ? 'function' : null;
}

/** Is a failure inside caught by what follows, and not passed on? */
function swallows({ end }: Block, { mask }: Side, blocks: readonly Block[]): boolean {
  const handler = blocks.find(
    ({ headAt, head }) =>
      Math.abs(headAt - end) <= 4 && headAt >= end - 1 && /^(?:\}\s*)?(?:catch|except|rescue)\b/.test(head),
  );
  if (!handler) return false;
  const inside = mask.slice(handler.start, handler.end);
  return !/\b(?:throw|raise|fail\w*|reject\w*|expect|assert\w*|done|panic|rethrow|Errorf?|Fatalf?)\b/.test(
    inside,
  );
}

/** What stands on the same line in front of a statement and decides whether it runs. */
export function inlineGuard({ mask, starts }: Side, line: number, at: number): Guard | null {
  const before = mask
    .slice(starts[line], at)
    .replace(/\b(?:await|return|void|yield)\s*$/, '')
    .trimEnd();
  if (/\bif\s*\(\s*(?:false|0)\s*\)$|\bif\s+False\s*:$|(?:^|\W)(?:false|0)\s*&&$/.test(before))
    return 'never';
  return /&&$|\|\|$|[^?]\?$|\b(?:if|while)\s*\(.*\)$|\b(?:if|elif|else|except)\b.*:$|\belse$/.test(before)
    ? 'condition'
    : null;
}
