// Walks trees of any depth.

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
