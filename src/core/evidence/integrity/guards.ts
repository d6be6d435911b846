import type { Block } from './blocks.ts';
import type { Side } from './view.ts';

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
