import type { Suspicion } from './finding.ts';
import { isLiteral, literalsOf, maskQuotes } from './literals.ts';
import type { Line, Run } from './runs.ts';

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
export function changedValues({ removed, added }: Run): readonly Suspicion[] {
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
