/** A part of a text. */
interface TextPart {
  readonly from: number;
  readonly to: number;
}

interface Entry<P> {
  readonly part: P;
  /** The innermost other part that contains it. */
  outer: Entry<P> | null;
}

/** Parts of a text, any two of which are apart or one within the other, as those of a syntax tree's nodes are. */
export interface NestedParts<P extends TextPart> {
  /** Adds a part; the same part is added once, and the one that is there is returned. */
  readonly put: (part: P) => P;
  /** The innermost part that contains an offset and fits. */
  readonly around: (offset: number, fits?: (part: P) => boolean) => P | null;
  /** The last part that begins before an offset and ends after another one. */
  readonly last: (before: number, after: number) => P | null;
}

/**
 * Finds the part around an offset by bisection, and not by reading all parts before it: of many parts with many
 * offsets, these would be too many pairs.
 */
export function nestedParts<P extends TextPart>(parts: Iterable<P> = []): NestedParts<P> {
  const entries: Entry<P>[] = [];
  /** The number of entries that begin before, or with the same start are not shorter. */
  const countBefore = (from: number, to: number): number => {
    let low = 0;
    let high = entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const { part } = entries[middle] as Entry<P>;
      if (part.from < from || (part.from === from && part.to >= to)) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const put = (part: P): P => {
    const at = countBefore(part.from, part.to);
    const last = entries[at - 1] ?? null;
    if (last && last.part.from === part.from && last.part.to === part.to) return last.part;
    let outer = last;
    while (outer && outer.part.to < part.to) outer = outer.outer;
    const entry = { part, outer };
    for (let i = at; i < entries.length; i++) {
      const inner = entries[i] as Entry<P>;
      if (inner.part.from >= part.to) break;
      if (inner.outer === outer) inner.outer = entry;
    }
    if (at === entries.length) entries.push(entry);
    else entries.splice(at, 0, entry);
    return part;
  };
  const around = (offset: number, fits: (part: P) => boolean = () => true): P | null => {
    let entry = entries[countBefore(offset, Number.NEGATIVE_INFINITY) - 1] ?? null;
    while (entry && (entry.part.to <= offset || !fits(entry.part))) entry = entry.outer;
    return entry?.part ?? null;
  };
  const last = (before: number, after: number): P | null => {
    let entry = entries[countBefore(before, Number.POSITIVE_INFINITY) - 1] ?? null;
    while (entry && entry.part.to <= after) entry = entry.outer;
    return entry?.part ?? null;
  };
  for (const part of parts) put(part);
  return { put, around, last };
}
