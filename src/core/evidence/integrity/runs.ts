import type { Assertion } from './assertions.ts';
import type { Change, Suspicion } from './finding.ts';
import { squeeze } from './literals.ts';
import type { Matched } from './matching.ts';
import { changedRows } from './rows.ts';
import { changedValues } from './values.ts';
import { lineOf, type Side } from './view.ts';

/** A changed line that no assertion and no lost test accounts for. */
export interface Line {
  /** Squeezed. */
  readonly text: string;
  readonly mask: string;
  readonly change: Change;
  /** Index in its side. */
  readonly index: number;
}

/** Lines of one run of changes, without a line of context between them. */
export interface Run {
  readonly removed: readonly Line[];
  readonly added: readonly Line[];
}

const MOST_NAMED = 3;

/** Data that the tests of the base work with: rows of tables of cases, values in variables. */
export function changedData(
  matched: Matched,
  gone: readonly Range[],
  pairedNow: ReadonlySet<Assertion>,
): readonly Suspicion[] {
  const { view } = matched;
  if (view.file.change !== 'modified') return [];
  const paired = matched.fresh.filter((one) => pairedNow.has(one));
  const runs = runsOf(matched, [...matched.lost, ...gone], paired);
  const texts = (of: 'removed' | 'added') => new Set(runs.flatMap((run) => run[of].map(({ text }) => text)));
  const [came, went] = [texts('added'), texts('removed')];
  return runs
    .map(({ removed, added }) => ({
      removed: removed.filter(({ text }) => !came.has(text)),
      added: added.filter(({ text }) => !went.has(text)),
    }))
    .flatMap((run) => changedRows(run, view.before.side) ?? changedValues(run))
    .slice(0, MOST_NAMED);
}

interface Range {
  readonly at: number;
  readonly end: number;
}

/** Runs of changed lines that stand outside of what is named already. */
function runsOf(
  { view: { look, before, after } }: Matched,
  removedRanges: readonly Range[],
  addedRanges: readonly Range[],
): readonly Run[] {
  const lines = new Map<object, Line>([
    ...linesOutside(before.side, removedRanges),
    ...linesOutside(after.side, addedRanges),
  ]);
  const runs: { removed: Line[]; added: Line[] }[] = [];
  let open = false;
  for (const { line } of look.changes) {
    if (line.kind !== 'context' && !open) runs.push({ removed: [], added: [] });
    open = line.kind !== 'context';
    const known = lines.get(line);
    if (known && line.kind !== 'context') runs.at(-1)?.[line.kind].push(known);
  }
  return runs.filter(({ removed }) => removed.length > 0);
}

function linesOutside(side: Side, ranges: readonly Range[]): readonly (readonly [object, Line])[] {
  const sorted = [...ranges].sort((a, b) => a.at - b.at);
  let next = 0;
  let reach = 0;
  return side.changes.flatMap((change, index) => {
    const [from, to] = [side.starts[index] as number, side.starts[index + 1] as number];
    for (let range = sorted[next]; range && range.at < to; range = sorted[++next])
      reach = Math.max(reach, range.end);
    const text = change && reach <= from ? squeeze(lineOf(side, index)) : '';
    if (!change || text === '') return [];
    return [[change.line, { text, mask: lineOf(side, index, 'mask'), change, index }] as const];
  });
}
