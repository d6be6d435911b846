import { counted } from '../../model/index.ts';
import { assertedValues } from './asserted-values.ts';
import type { Assertion } from './assertions.ts';
import { type Change, type Suspicion, wasOrWere } from './finding.ts';
import { isLiteral, literalsOf, maskQuotes, squeeze } from './matchers.ts';
import type { MatchedView } from './matching.ts';
import { lineText, type Side } from './view.ts';

/** A changed line that belongs to no matched assertion and no removed test. */
interface UnexplainedLine {
  /** Without white space. */
  readonly text: string;
  readonly mask: string;
  readonly change: Change;
  /** Index of the line in its side. */
  readonly index: number;
}

/** Consecutive changed lines. */
interface ChangeBlock {
  readonly removed: readonly UnexplainedLine[];
  readonly added: readonly UnexplainedLine[];
}

/** Changed data used by base tests: rows of test tables, values of variables. */
export function changedData(
  matched: MatchedView,
  removedTests: readonly OffsetRange[],
  pairedNow: ReadonlySet<Assertion>,
): readonly Suspicion[] {
  const { view } = matched;
  if (view.file.change !== 'modified') return [];
  const paired = matched.added.filter((one) => pairedNow.has(one));
  const blocks = changeBlocksOf(matched, [...matched.missing, ...removedTests], paired);
  const texts = (of: 'removed' | 'added') =>
    new Set(blocks.flatMap((block) => block[of].map(({ text }) => text)));
  const [came, went] = [texts('added'), texts('removed')];
  const reaches = assertedValues(view.before);
  return blocks
    .map(({ removed, added }) => ({
      removed: removed.filter(({ text }) => !came.has(text)),
      added: added.filter(({ text }) => !went.has(text)),
    }))
    .flatMap((block) => {
      const change = `${joinedText(block.removed)}\n${joinedText(block.added)}`;
      const found = changedRows(block, view.before.side) ?? changedValues(block, reaches);
      return found.map((one) => ({ ...one, change }));
    });
}

interface OffsetRange {
  readonly at: number;
  readonly end: number;
}

/** Blocks of changed lines outside the given ranges. */
function changeBlocksOf(
  { view: { inspected, before, after } }: MatchedView,
  removedRanges: readonly OffsetRange[],
  addedRanges: readonly OffsetRange[],
): readonly ChangeBlock[] {
  const lines = new Map<object, UnexplainedLine>([
    ...linesOutside(before.side, removedRanges),
    ...linesOutside(after.side, addedRanges),
  ]);
  const blocks: { removed: UnexplainedLine[]; added: UnexplainedLine[] }[] = [];
  let open = false;
  for (const { line } of inspected.changes) {
    if (line.kind !== 'context' && !open) blocks.push({ removed: [], added: [] });
    open = line.kind !== 'context';
    const known = lines.get(line);
    if (known && line.kind !== 'context') blocks.at(-1)?.[line.kind].push(known);
  }
  return blocks.filter(({ removed }) => removed.length > 0);
}

function linesOutside(
  side: Side,
  ranges: readonly OffsetRange[],
): readonly (readonly [object, UnexplainedLine])[] {
  const sorted = [...ranges].sort((a, b) => a.at - b.at);
  let next = 0;
  let reach = 0;
  return side.changes.flatMap((change, index) => {
    const [from, to] = [side.starts[index] as number, side.starts[index + 1] as number];
    for (let range = sorted[next]; range && range.at < to; range = sorted[++next])
      reach = Math.max(reach, range.end);
    const text = change && reach <= from ? squeeze(lineText(side, index)) : '';
    if (!change || text === '') return [];
    return [[change.line, { text, mask: lineText(side, index, 'mask'), change, index }] as const];
  });
}

/** `const name = value`, `name: value`, `"key": value`. */
const NAMED_VALUE =
  /^\s*(?:(?:const|let|var|final|auto|static|my|val)\s+(?:mut\s+)?)?["'@$]?([\w.$[\]"']{1,80}?)["']?\s*(?::\s*[\w<>[\]&. ]{1,80}?\s*=|:=|=(?!=|>)|:(?!:)|=>)\s*([\s\S]+?)[,;]?\s*$/;
const EXPECTATION_NAME = /expect|^wants?$|^want[A-Z_]|golden|correct|answer|^output$|^result$|should/i;
/** The name of a test case has no effect on what it checks. */
const LABEL_NAME = /^(?:ids?|name|desc|description|title|label|reason|msg|message|comment|note|summary)$/i;
const MAX_VALUE_CHARS = 2_000;

interface NamedValue {
  readonly name: string;
  readonly value: string;
}

function valueIn({ text }: UnexplainedLine): NamedValue | null {
  const match = NAMED_VALUE.exec(text.slice(0, MAX_VALUE_CHARS));
  const [, name = '', value = ''] = match ?? [];
  return match && !LABEL_NAME.test(name) ? { name, value } : null;
}

/** A removed value and its replacement under the same name. */
interface ReplacedValue {
  readonly line: UnexplainedLine;
  readonly old: NamedValue;
  readonly now: string;
}

/** Named values that changed, and lines of pure data. */
function changedValues(
  { removed, added }: ChangeBlock,
  reaches: (line: UnexplainedLine) => boolean,
): readonly Suspicion[] {
  const still = new Set(added.flatMap(({ text }) => literalsOf(text)));
  const isMissing = (text: string) => literalsOf(text).some((one) => !still.has(one));
  const replaced = replacedValues(removed, added);
  const computed = replaced.find(
    ({ old, now }) => maskQuotes(old.value).includes('(') && isComputed(old.value) && !isComputed(now),
  );
  if (computed) {
    const what = 'a computed value was replaced by a literal';
    return [{ kind: 'assertion-neutralised', what, at: computed.line.change, severity: 'question' }];
  }
  const named = replaced.find(({ line }) => isMissing(line.text));
  if (named) {
    const expected = EXPECTATION_NAME.test(named.old.name);
    const at = named.line.change;
    if (expected) return [{ kind: 'expectation-changed', what: 'an expected value was changed', at }];
    if (reaches(named.line)) return [{ kind: 'expectation-changed', what: ASSERTED, at }];
    const what = 'a value that a test uses was changed';
    return [{ kind: 'expectation-changed', what, at, severity: 'note' }];
  }
  const data = removed.find(({ text }) => isLiteral(text) && isMissing(text));
  if (!data || !added.some(({ text }) => isLiteral(text))) return [];
  if (reaches(data)) return [{ kind: 'expectation-changed', what: ASSERTED, at: data.change }];
  const what = 'data that a test uses was changed';
  return [{ kind: 'expectation-changed', what, at: data.change, severity: 'note' }];
}

/** A template may have code in it. */
const isComputed = (text: string): boolean => !isLiteral(text) || /\$\{/.test(text);

const ASSERTED = 'a value that an assertion uses was changed';

function replacedValues(
  removed: readonly UnexplainedLine[],
  added: readonly UnexplainedLine[],
): readonly ReplacedValue[] {
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

/** Marks a test case that takes one line. */
const ROW_MARK =
  /^\s*(?:#\[(?:case|test_case|values)\b|\[(?:InlineData|TestCase|DataRow|Arguments)\b|@(?:CsvSource|ValueSource|testWith|dataProvider)\b|pytest\.param\s*\(|(?:Arguments\.of|arguments|Arguments\.arguments)\s*\()/;
/** Calls that take a list of test cases. */
const TABLE_START =
  /\.(?:each|for|cases)\s*\(|\.(?:each|for)\s*`|\bparametrize\s*\(|@(?:CsvSource|ValueSource|EnumSource|data)\b|#\[(?:values|rstest)\b|\b(?:cases|tests|vectors|table|scenarios|examples)\b\s*(?::=|=|:)/i;
/** Maximum lines above a row that are searched for its table. */
const MAX_LINES_ABOVE = 40;

/** Removed or changed rows of a test table; null if the block contains anything else. */
function changedRows({ removed, added }: ChangeBlock, before: Side): readonly Suspicion[] | null {
  const [first] = removed;
  const old = rowCount(removed, before);
  if (!first || old === 0) return null;
  const now = rowCount(added, null);
  if (now < old) {
    const what = `${counted(old - now, 'row')} of a table of cases ${wasOrWere(old - now)} removed`;
    return [{ kind: 'test-deleted', what, at: first.change }];
  }
  const still = new Set(literalsOf(joinedText(added)));
  return literalsOf(joinedText(removed)).every((one) => still.has(one))
    ? []
    : [{ kind: 'expectation-changed', what: 'a row of a table of cases was changed', at: first.change }];
}

const joinedText = (lines: readonly UnexplainedLine[]): string => lines.map(({ text }) => text).join('\n');

/** The number of rows; 0 if any line is not a row. */
function rowCount(lines: readonly UnexplainedLine[], before: Side | null): number {
  const all = (pattern: RegExp) => lines.length > 0 && lines.every(({ text }) => pattern.test(text));
  if (all(ROW_MARK) || all(/^\$\{.*\}\s*\|/)) return lines.length;
  if (literalsOf(joinedText(lines)).length === 0) return 0;
  const quoted = all(/^(?:"(?:[^"\\]|\\.)*"|-?[\d.]+)$/);
  if (quoted && (before === null || inTable(before, lines[0] as UnexplainedLine))) return lines.length;
  return groupCount(lines.map(({ mask }) => mask).join('\n'));
}

function inTable(side: Side, { index }: UnexplainedLine): boolean {
  for (let i = index; i >= Math.max(0, index - MAX_LINES_ABOVE); i--) {
    const line = lineText(side, i).slice(0, 1_000);
    if (TABLE_START.test(line)) return true;
    if (i < index && /[;{]\s*$|^\s*[)\]}]/.test(line)) return false;
  }
  return false;
}

/** Statement keywords: a line that contains one is not a row. */
const STATEMENT_TEXT =
  /;\s*$|[^=!<>]=[^=>]|=>|\b(?:const|let|var|return|def|func|fn|if|for|await|import|use|from)\b/m;

/** Number of adjacent bracketed groups. */
function groupCount(mask: string): number {
  if (STATEMENT_TEXT.test(mask)) return 0;
  let depth = 0;
  let groups = 0;
  for (let i = 0; i < mask.length; i++) {
    const char = mask[i] as string;
    const opens = '([{'.includes(char);
    const closes = ')]}'.includes(char);
    // A word in front of a bracket makes it a call, not a row.
    const called = opens && depth === 0 && /[\w)\]]\s*$/.test(mask.slice(Math.max(0, i - 40), i));
    if (called || (depth === 0 && (closes || (!opens && !/[\s,"'`:\w]/.test(char))))) return 0;
    depth += opens ? 1 : closes ? -1 : 0;
    if (closes && depth === 0) groups++;
  }
  return depth === 0 ? groups : 0;
}
