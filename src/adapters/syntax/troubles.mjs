// What a tree says of a text that does not parse.
import { walk } from './trees.mjs';

const CLOSES = { '(': ')', '[': ']', '{': '}' };
const CLOSING = new Set(Object.values(CLOSES));
const MAX_CHARACTERS = 40;

/** The first token that is missing or text that fits nowhere; null when there was not the time to find it. */
function firstError(tree, isOver) {
  let found = null;
  walk(tree, {
    enter(cursor) {
      if (isOver()) return 'stop';
      const node = cursor.currentNode;
      if (!node.isError && !node.isMissing) return node.hasError ? 'in' : 'over';
      found = node;
      return 'stop';
    },
  });
  return found;
}

/** Of code that only some builds see, the first branch counts. */
function branches() {
  const open = [];
  return {
    read(type) {
      if (/^#if/.test(type)) open.push('first');
      else if (/^#el/.test(type) && open.length > 0) open[open.length - 1] = 'other';
      else if (/^#end/.test(type)) open.pop();
    },
    isOther: () => open.includes('other'),
  };
}

/** What is wrong with a closing bracket where these are open; null when it closes the last of them. */
function mismatch(type, row, open) {
  const last = open.pop();
  if (last?.closes === type) return null;
  const isLater = open.some(({ closes }) => closes === type);
  return last && isLater ? unclosed(last) : { line: row + 1, message: `unexpected \`${type}\`` };
}

const unclosed = ({ type, row }) => ({ line: row + 1, message: `\`${type}\` is never closed` });

/** `{ bracket }`: the first bracket without its counterpart, or null; null itself when there was not the time. */
function looseBracket(tree, isOver) {
  const open = [];
  const conditions = branches();
  let found = null;
  const read = (cursor) => {
    const type = cursor.nodeType;
    if (type.startsWith('#')) conditions.read(type);
    if (cursor.nodeIsNamed || cursor.nodeIsMissing || conditions.isOther()) return;
    const closes = CLOSES[type.at(-1)];
    if (closes) open.push({ type, closes, row: cursor.startPosition.row });
    else if (CLOSING.has(type)) found = mismatch(type, cursor.startPosition.row, open);
  };
  const isWhole = walk(tree, {
    enter(cursor) {
      if (isOver()) return 'stop';
      read(cursor);
      return found ? 'stop' : 'in';
    },
  });
  if (!isWhole && !found) return null;
  return { bracket: found ?? (open[0] ? unclosed(open[0]) : null) };
}

function unexpected(node) {
  const text = node.text.trim();
  const line = text.split('\n')[0].slice(0, MAX_CHARACTERS);
  const to = node.endPosition.row + 1;
  return text === line ? `unexpected \`${line}\`` : `does not parse from \`${line}\` to line ${to}`;
}

/**
 * `{ line, message, loose }` of the first place that does not parse, `loose` saying whether a bracket lacks its
 * counterpart; null when all parses or there was not the time to say.
 */
export function troubleIn(tree, isOver) {
  if (!tree.rootNode.hasError) return null;
  const error = firstError(tree, isOver);
  const brackets = error && looseBracket(tree, isOver);
  if (!error || !brackets) return null;
  const { bracket } = brackets;
  const line = error.startPosition.row + 1;
  if (error.isMissing) return { line, message: `missing \`${error.type}\``, loose: bracket !== null };
  return { line, message: unexpected(error), ...bracket, loose: bracket !== null };
}
