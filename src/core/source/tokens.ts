import { nodesWithin, type SyntaxNode, type SyntaxTree, textOf } from './tree.ts';

/** A piece of code that is not divided further: a text in quotes is one piece. */
export interface Token {
  readonly kind: 'word' | 'number' | 'string' | 'sign';
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** The same text twice, at equal length: what is blanked out became spaces, new lines stay. */
export interface BlankedText {
  /** Comments are blank. */
  readonly code: string;
  /** Comments and what stands inside quotes are blank; the quotes stay. */
  readonly mask: string;
}

const COMMENT = /comment|^uninterpreted$|^text_interpolation$|^hash_bang_line$/;
const STRING =
  /^(?:string|.*_string|string_literal|.*_string_literal|.*string_expression|raw_string_literal|template_string|regex|regex_literal|char_literal|character_literal|rune_literal|heredoc|heredoc_body|nowdoc|string_array|symbol_array|subshell|delimited_symbol|system_lib_string|concatenated_string)$/;
const NUMBER = /^(?:number|integer|float|.*(?:integer|number|float|int|real)_literal)$/;

export const isComment = ({ type }: SyntaxNode): boolean => COMMENT.test(type);
export const isString = ({ type, named }: SyntaxNode): boolean => named && STRING.test(type);
const isPiece = (node: SyntaxNode): boolean => isString(node) || (NUMBER.test(node.type) && node.named);

/** `#if 0` and what follows up to its other branch or its end. */
function isDead(node: SyntaxNode, tree: SyntaxTree): boolean {
  const { parent } = node;
  if (parent?.type !== 'preproc_if' || /^(?:alternative|condition)$/.test(node.field)) return false;
  const condition = parent.children.find(({ field }) => field === 'condition');
  return (
    condition !== undefined &&
    node !== condition &&
    /^(?:0|false)$/.test(textOf(tree, condition)) &&
    !/^#/.test(node.type)
  );
}

/** Comments, dead code and pieces, none of which is looked into; in order. */
function* pieces(tree: SyntaxTree, part: Pick<SyntaxNode, 'from' | 'to'>) {
  let done = part.from;
  for (const node of nodesWithin(tree, part)) {
    if (node.from < done || node.from === node.to) continue;
    const comment = isComment(node) || isDead(node, tree);
    if (!comment && !isPiece(node) && node.children.length > 0) continue;
    done = node.to;
    yield { node, comment };
  }
}

/** The tokens of a text, or of a part of it, in order. Comments are none. */
export function tokensOf(
  tree: SyntaxTree,
  part: Pick<SyntaxNode, 'from' | 'to'> = { from: 0, to: tree.text.length },
): readonly Token[] {
  const found: Token[] = [];
  for (const { node, comment } of pieces(tree, part)) {
    const text = textOf(tree, node);
    if (comment || text.trim() === '') continue;
    const kind = isString(node)
      ? 'string'
      : NUMBER.test(node.type)
        ? 'number'
        : /^[\w$@\p{L}]/u.test(text)
          ? 'word'
          : 'sign';
    found.push({ kind, text, from: node.from, to: node.to });
  }
  return found;
}

const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

export function blankedText(tree: SyntaxTree): BlankedText {
  const code: string[] = [];
  const mask: string[] = [];
  let done = 0;
  for (const { node, comment } of pieces(tree, { from: 0, to: tree.text.length })) {
    if (!comment && !isString(node)) continue;
    const between = tree.text.slice(done, node.from);
    const inside = textOf(tree, node);
    code.push(between, comment ? blank(inside) : inside);
    mask.push(between, comment ? blank(inside) : quotesOf(inside));
    done = node.to;
  }
  const rest = tree.text.slice(done);
  return { code: code.join('') + rest, mask: mask.join('') + rest };
}

const quotesOf = (text: string): string => {
  const inside = blank(text.slice(1, -1));
  return text.length < 2 ? text : `${text[0]}${inside}${text.at(-1)}`;
};

/** What stands in a text between its quotes. */
export const contentOf = (text: string): string =>
  /^[a-zA-Z@$#]*("""|'''|["'`/])([\s\S]*?)\1\w*$/.exec(text)?.[2] ?? text;
