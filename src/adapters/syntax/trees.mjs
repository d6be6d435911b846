// Walks trees of any depth, and prints them.
import { openGrammars } from './grammars.mjs';

/**
 * Calls `enter(cursor)` for every node in the order of the text, and `leave()` when all that is in it was seen; `enter`
 * answers 'in', 'over' (the node) or 'stop'. Returns false when it was stopped.
 */
export function walk(tree, { enter, leave = () => undefined }) {
  const cursor = tree.walk();
  try {
    for (;;) {
      const next = enter(cursor);
      if (next === 'stop') return false;
      if (next === 'in' && cursor.gotoFirstChild()) continue;
      leave();
      while (!cursor.gotoNextSibling()) {
        if (!cursor.gotoParent()) return true;
        leave();
      }
    }
  } finally {
    cursor.delete();
  }
}

/** Nodes of one text and of all, and how deep they may nest. Our defaults. */
const MAX_NODES = 400_000;
const MAX_TOTAL_NODES = 2_000_000;
const MAX_DEPTH = 2_000;

/** Prints a tree as numbers; null when it is too big, too deep, or there was not the time. */
function print(tree, isOver) {
  const kinds = new Map();
  const nodes = [];
  let depth = 0;
  let last = 0;
  const isWhole = walk(tree, {
    enter(cursor) {
      if ((nodes.length % 1_024 === 0 && isOver()) || depth > MAX_DEPTH || nodes.length > MAX_NODES * 4)
        return 'stop';
      const kind = JSON.stringify([
        cursor.nodeType,
        cursor.currentFieldName ?? '',
        cursor.nodeIsNamed ? 1 : 0,
      ]);
      if (!kinds.has(kind)) kinds.set(kind, kinds.size);
      const { startIndex, endIndex } = cursor;
      nodes.push(kinds.get(kind), depth, startIndex - last, endIndex - startIndex);
      last = startIndex;
      depth += 1;
      return 'in';
    },
    leave() {
      depth -= 1;
    },
  });
  return isWhole ? { kinds: [...kinds.keys()].map((kind) => JSON.parse(kind)), nodes } : null;
}

/** Trees of { grammar, text }, each with null where it was too much; a grammar that is missing is a fault. */
export async function parseAll(sources, grammars = openGrammars()) {
  const printed = [];
  let left = MAX_TOTAL_NODES * 4;
  for (const { grammar, text } of sources) {
    const tree = left > 0 ? await grammars.read(grammar, text, print) : null;
    left -= tree?.nodes.length ?? 0;
    printed.push(tree);
  }
  return printed;
}
