const TOKEN = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|\s+|\w+|[\s\S]/g;
/** Longest text that is looked at token by token. */
const MOST = 20_000;

/** White space, kinds of quotes and last commas say nothing. */
export function squeeze(text: string): string {
  let out = '';
  let gap = false;
  for (const token of text.slice(0, MOST).match(TOKEN) ?? []) {
    if (/^\s/.test(token)) {
      gap = true;
      continue;
    }
    if (/^[)\]}]/.test(token) && out.endsWith(',')) out = out.slice(0, -1);
    if (gap && /\w$/.test(out) && /^\w/.test(token)) out += ' ';
    out += /^'[^'"\\]*'$|^`[^`"\\$\n]*`$/.test(token) ? `"${token.slice(1, -1)}"` : token;
    gap = false;
  }
  return out.replace(/[,;]+$/, '');
}

const LITERAL =
  /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|\b(?:true|false|null|none|nil|undefined|NaN|Infinity)\b|(?<![\w.])-?\d[\w.]*/gi;

/** Texts, numbers and such, in order. */
export const literalsOf = (text: string): readonly string[] =>
  (text.slice(0, MOST).match(LITERAL) ?? []).map((one) => one.replace(/^['`]|['`]$/g, '"'));

/** Nothing but literals, brackets and keys. */
export const isLiteral = (text: string): boolean =>
  text.trim() !== '' &&
  /^[\s[\]{}(),:;.+&*!|$-]*$/.test(
    text
      .slice(0, MOST)
      .replace(/\b[bruf]{1,2}(?=["'])/g, '')
      .replace(/(?:"[^"\n]*"|'[^'\n]*'|(?<![\w$])[\w$]{1,100})\s*:(?!:)/g, ' ')
      .replace(LITERAL, ' ')
      .replace(/\bnew\s+[\w.]+|\b(?:Some|Ok|Err|vec|set|tuple|list|dict|String|from)(?=\s*[!(:.[{])/g, ' '),
  );

/** All of the literals stand in the text, each as often. */
export function hasAll(text: string, literals: readonly string[]): boolean {
  const there = new Map<string, number>();
  for (const one of literalsOf(text)) there.set(one, (there.get(one) ?? 0) + 1);
  return literals.every((one) => {
    const left = there.get(one) ?? 0;
    there.set(one, left - 1);
    return left > 0;
  });
}

/** The same text with what stands inside of its quotes blanked out. */
export const maskQuotes = (text: string): string =>
  text.replace(
    /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g,
    (one) => `${one[0]}${'_'.repeat(one.length - 2)}${one[0]}`,
  );
