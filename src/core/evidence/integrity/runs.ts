import type { Assertion } from './assertions.ts';
import { type Change, counted, type Suspicion, was } from './finding.ts';
import { isLiteral, literalsOf, maskQuotes, squeeze } from './matchers.ts';
import type { Matched } from './matching.ts';
import { lineOf, type Side } from './view.ts';

/** A changed line that no assertion and no lost test accounts for. */
interface Line {
  /** Squeezed. */
  readonly text: string;
  readonly mask: string;
  readonly change: Change;
  /** Index in its side. */
  readonly index: number;
}

/** Lines of one run of changes, without a line of context between them. */
interface Run {
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

/** `const name = value`, `name: value`, `"key": value`. */
const VALUE =
  /^\s*(?:(?:const|let|var|final|auto|static|my|val)\s+(?:mut\s+)?)?["'@$]?([\w.$[\]"']{1,80}?)["']?\s*(?::\s*[\w<>[\]&. ]{1,80}?\s*=|:=|=(?!=|>)|:(?!:)|=>)\s*([\s\S]+?)[,;]?\s*$/;
const EXPECTED = /expect|^wants?$|^want[A-Z_]|golden|correct|answer|^output$|^result$|should/i;
/** What a case is called says nothing about what it asks for. */
const LABEL = /^(?:ids?|name|desc|description|title|label|reason|msg|message|comment|note|summary)$/i;
const LONGEST = 2_000;

interface Value {
  readonly name: string;
  readonly value: string;
}

function valueIn({ text }: Line): Value | null {
  const match = VALUE.exec(text.slice(0, LONGEST));
  const [, name = '', value = ''] = match ?? [];
  return match && !LABEL.test(name) ? { name, value } : null;
}

/** A removed value and what stands under its name now. */
interface Replaced {
  readonly line: Line;
  readonly old: Value;
  readonly now: string;
}

/** Values with a name that are other ones now, and lines of mere data. */
function changedValues({ removed, added }: Run): readonly Suspicion[] {
  const still = new Set(added.flatMap(({ text }) => literalsOf(text)));
  const lost = (text: string) => literalsOf(text).some((one) => !still.has(one));
  const replaced = replacedValues(removed, added);
  const computed = replaced.find(({ old, now }) => maskQuotes(old.value).includes('(') && isLiteral(now));
  if (computed) {
    const what = 'a value that was computed is now written down';
    return [{ kind: 'assertion-neutralised', what, at: computed.line.change }];
  }
  const named = replaced.find(({ line }) => lost(line.text));
  if (named) {
    const expected = EXPECTED.test(named.old.name);
    const what = expected ? 'an expected value was changed' : 'a value that a test works with was changed';
    return [{ kind: 'expectation-changed', what, at: named.line.change, slight: !expected }];
  }
  const data = removed.find(({ text }) => isLiteral(text) && lost(text));
  if (!data || !added.some(({ text }) => isLiteral(text))) return [];
  const what = 'data that a test works with was changed';
  return [{ kind: 'expectation-changed', what, at: data.change, slight: true }];
}

function replacedValues(removed: readonly Line[], added: readonly Line[]): readonly Replaced[] {
  const values = new Map(
    added
      .map(valueIn)
      .filter((one) => one !== null)
      .map(({ name, value }) => [name, value] as const),
  );
  return removed.flatMap((line) => {
    const old = valueIn(line);
    const now = old ? values.get(old.name) : undefined;
    return old && now !== undefined && now !== old.value ? [{ line, old, now }] : [];
  });
}

/** Marks of a case that is a line of its own. */
const ROW_MARK =
  /^\s*(?:#\[(?:case|test_case|values)\b|\[(?:InlineData|TestCase|DataRow|Arguments)\b|@(?:CsvSource|ValueSource|testWith|dataProvider)\b|pytest\.param\s*\(|(?:Arguments\.of|arguments|Arguments\.arguments)\s*\()/;
/** What a list of cases is given to. */
const TABLE =
  /\.(?:each|for|cases)\s*\(|\.(?:each|for)\s*`|\bparametrize\s*\(|@(?:CsvSource|ValueSource|EnumSource|data)\b|#\[(?:values|rstest)\b|\b(?:cases|tests|vectors|table|scenarios|examples)\b\s*(?::=|=|:)/i;
/** Lines above a row in which its table is looked for. */
const ABOVE = 40;

/** Whole rows of a table of cases that went or changed; null where the run is something else. */
function changedRows({ removed, added }: Run, before: Side): readonly Suspicion[] | null {
  const [first] = removed;
  const old = rowCount(removed, before);
  if (!first || old === 0) return null;
  const now = rowCount(added, null);
  if (now < old) {
    const what = `${counted(old - now, 'row')} of a table of cases ${was(old - now)} removed`;
    return [{ kind: 'test-deleted', what, at: first.change }];
  }
  const still = new Set(literalsOf(textOf(added)));
  return literalsOf(textOf(removed)).every((one) => still.has(one))
    ? []
    : [{ kind: 'expectation-changed', what: 'a row of a table of cases was changed', at: first.change }];
}

const textOf = (lines: readonly Line[]): string => lines.map(({ text }) => text).join('\n');

/** How many rows the lines are; 0 where there is anything but rows among them. */
function rowCount(lines: readonly Line[], before: Side | null): number {
  const all = (pattern: RegExp) => lines.length > 0 && lines.every(({ text }) => pattern.test(text));
  if (all(ROW_MARK) || all(/^\$\{.*\}\s*\|/)) return lines.length;
  if (literalsOf(textOf(lines)).length === 0) return 0;
  const quoted = all(/^(?:"(?:[^"\\]|\\.)*"|-?[\d.]+)$/);
  if (quoted && (before === null || inTable(before, lines[0] as Line))) return lines.length;
  return groupCount(lines.map(({ mask }) => mask).join('\n'));
}

function inTable(side: Side, { index }: Line): boolean {
  for (let i = index; i >= Math.max(0, index - ABOVE); i--) {
    const line = lineOf(side, i).slice(0, 1_000);
    if (TABLE.test(line)) return true;
    if (i < index && /[;{]\s*$|^\s*[)\]}]/.test(line)) return false;
  }
  return false;
}

/** Words of statements: lines with one of these are no rows. */
const STATEMENT =
  /;\s*$|[^=!<>]=[^=>]|=>|\b(?:const|let|var|return|def|func|fn|if|for|await|import|use|from)\b/m;

/** Bracketed groups that lie next to each other. */
function groupCount(mask: string): number {
  if (STATEMENT.test(mask)) return 0;
  let depth = 0;
  let groups = 0;
  for (let i = 0; i < mask.length; i++) {
    const char = mask[i] as string;
    const opens = '([{'.includes(char);
    const closes = ')]}'.includes(char);
    // Words in front of a bracket make it a call, which is no row.
    const called = opens && depth === 0 && /[\w)\]]\s*$/.test(mask.slice(Math.max(0, i - 40), i));
    if (called || (depth === 0 && (closes || (!opens && !/[\s,"'`:\w]/.test(char))))) return 0;
    depth += opens ? 1 : closes ? -1 : 0;
    if (closes && depth === 0) groups++;
  }
  return depth === 0 ? groups : 0;
}
