import { counted, type Suspicion, was } from './finding.ts';
import { literalsOf } from './literals.ts';
import type { Line, Run } from './runs.ts';
import { lineOf, type Side } from './view.ts';

/** Marks of a case that is a line of its own. */
const ROW_MARK =
  /^\s*(?:#\[(?:case|test_case|values)\b|\[(?:InlineData|TestCase|DataRow|Arguments)\b|@(?:CsvSource|ValueSource|testWith|dataProvider)\b|pytest\.param\s*\(|(?:Arguments\.of|arguments|Arguments\.arguments)\s*\()/;
/** What a list of cases is given to. */
const TABLE =
  /\.(?:each|for|cases)\s*\(|\.(?:each|for)\s*`|\bparametrize\s*\(|@(?:CsvSource|ValueSource|EnumSource|data)\b|#\[(?:values|rstest)\b|\b(?:cases|tests|vectors|table|scenarios|examples)\b\s*(?::=|=|:)/i;
/** Lines above a row in which its table is looked for. */
const ABOVE = 40;

/** Whole rows of a table of cases that went or changed; null where the run is something else. */
export function changedRows({ removed, added }: Run, before: Side): readonly Suspicion[] | null {
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
