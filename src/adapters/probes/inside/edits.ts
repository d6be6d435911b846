/** Text put into a source: `open` before and `close` behind a span, or `open` in place of it. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly open: string;
  readonly close: string;
  readonly replace?: boolean;
}

interface Insertion {
  readonly at: number;
  readonly text: string;
  /** Of what stands at the same place, the lower comes first. */
  readonly rank: readonly [number, number];
  readonly until: number;
}

/** The source with all edits made. Spans may nest; replaced ones hold no other edit. */
export function edited(source: string, edits: readonly Edit[]): string {
  const insertions = edits.flatMap((edit): Insertion[] => {
    const { start, end, open, close } = edit;
    if (edit.replace) return [{ at: start, text: open, rank: [1, -end], until: end }];
    return [
      { at: start, text: open, rank: [1, -end], until: start },
      { at: end, text: close, rank: [0, -start], until: end },
    ];
  });
  insertions.sort((a, b) => a.at - b.at || a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1]);
  let out = '';
  let from = 0;
  for (const { at, text, until } of insertions) {
    out += source.slice(from, at) + text;
    from = Math.max(at, until, from);
  }
  return out + source.slice(from);
}
