/** Compares by code units, because the order of a locale depends on the machine. */
export const byCodeUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Compares for a sort by alias. */
export const byAlias = (one: { readonly alias: string }, other: { readonly alias: string }): number =>
  byCodeUnits(one.alias, other.alias);

/** Unique texts, ordered by code units. */
export const uniqueSorted = (texts: Iterable<string>): readonly string[] =>
  [...new Set(texts)].sort(byCodeUnits);

/** `1 file`, `2 files`. */
export const counted = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

const LIST = new Intl.ListFormat('en-GB');

/** `A, B and C`; `none` without texts. */
export const formatList = (texts: readonly string[], none = ''): string =>
  texts.length === 0 ? none : LIST.format(texts);

/** For a sentence that continues another one: `Adds a test` as `adds a test`; `JSON` and names like `x` stay as they are. */
export const lowerFirst = (text: string): string =>
  /^[A-Z][a-z]/.test(text) ? `${text.charAt(0).toLowerCase()}${text.slice(1)}` : text;

/** For a heading that begins with a word of ours: `run failed` as `Run failed`. */
export const upperFirst = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** Length of the longest sequence of backticks: Markdown code needs a longer delimiter. */
export const longestBackticks = (text: string): number =>
  (text.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);

/** Maximum size of an untrusted JSON text. */
interface JsonLimits {
  /** Maximum nesting depth of arrays and objects. */
  readonly depth: number;
  /** Maximum number of values, array items and object members. */
  readonly values: number;
}

/**
 * Schemas of tools nest about 20 levels; `JSON.stringify` and every recursive function on a value fail at a few
 * thousand. A long conversation has some ten thousand values of some forty bytes each. Defaults.
 */
export const JSON_LIMITS: JsonLimits = { depth: 100, values: 250_000 };

type ParsedJson =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'too-deep' }
  | { readonly kind: 'too-many-values' }
  | { readonly kind: 'invalid' };

/**
 * Parses untrusted JSON. Measures it first, without recursion: 16 MiB of empty arrays would take 200 MB and block the
 * process for a second. Never throws.
 */
export function parseUntrustedJson(text: string, limits: JsonLimits = JSON_LIMITS): ParsedJson {
  const exceeded = exceedsLimits(text, limits);
  if (exceeded) return { kind: exceeded };
  try {
    return { kind: 'json', value: JSON.parse(text) };
  } catch {
    return { kind: 'invalid' };
  }
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

function exceedsLimits(text: string, limits: JsonLimits): 'too-deep' | 'too-many-values' | null {
  let [values, depth, quoted] = [0, 0, false];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) quoted = !quoted;
    else if (quoted) at += code === BACKSLASH ? 1 : 0;
    else if (code === COMMA) values += 1;
    else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) depth -= 1;
    else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      values += 1;
      depth += 1;
      if (depth > limits.depth) return 'too-deep';
    }
  }
  return values > limits.values ? 'too-many-values' : null;
}

/** Whether GitHub treats two names as the same label: labels are case-insensitive. */
export const isSameLabel = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** Whether the list contains a label of this name, compared as GitHub does. */
export const hasLabel = (labels: readonly string[], name: string): boolean =>
  labels.some((one) => isSameLabel(one, name));
