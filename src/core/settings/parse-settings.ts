import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml';
import { AUTO } from './contestants.ts';
import { problemsOf, type SettingsProblem } from './problems.ts';
import { Settings } from './settings.ts';
import { hasTooMany, isTooDeep, MAX_YAML_BYTES, MAX_YAML_DEPTH, MAX_YAML_TOKENS } from './toml-and-yaml.ts';

type SettingsText =
  | {
      readonly kind: 'ok';
      readonly value: unknown;
      readonly locate: (path: readonly PropertyKey[]) => string;
    }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] };

/** How large a text may be. */
interface YamlLimits {
  readonly bytes: number;
  /** Tokens of YAML; the parser's time grows with the square of the keys of one map. */
  readonly tokens: number;
  readonly depth: number;
  /** What to do about too many tokens: a sentence. */
  readonly tooMany: string;
}

const SETTINGS_LIMITS: YamlLimits = {
  bytes: MAX_YAML_BYTES,
  tokens: MAX_YAML_TOKENS,
  depth: MAX_YAML_DEPTH,
  tooMany: 'The file has far more keys and values than there are settings.',
};

const MAX_YAML_PROBLEMS = 20;
const MAX_YAML_MESSAGE_CHARS = 200;

const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype', '<<']);

/**
 * Reads YAML 1.2 as plain values: no aliases, tags, merge keys, duplicate keys or second document. Rejects oversized
 * or deeply nested text before creating any value. Problems begin with `file:line:column: `, as does the result of
 * `locate` for a path into the value (for a missing key: of its parent). Never throws.
 */
export function readSettingsText(
  text: string,
  fileName: string,
  limits: YamlLimits = SETTINGS_LIMITS,
): SettingsText {
  const refuse = (why: string): SettingsText => ({ kind: 'invalid', problems: [`${fileName}: ${why}`] });
  if (Buffer.byteLength(text) > limits.bytes)
    return refuse(`The file is bigger than ${limits.bytes / 1024} KiB.`);
  if (text.startsWith('\ufeff'))
    return refuse('The file begins with a byte order mark; save it as UTF-8 without one.');
  if (text.includes('\ufffd') || !text.isWellFormed()) return refuse('The file is not valid UTF-8.');
  if (isTooDeep(text, limits.depth))
    return refuse(`The file is nested more than ${limits.depth} levels deep.`);
  if (hasTooMany(text, limits.tokens)) return refuse(limits.tooMany);
  const lines = new LineCounter();
  const place = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${fileName}:${line}:${col}: `;
  };
  let document: Document.Parsed;
  try {
    document = parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      resolveKnownTags: false,
      schema: 'core',
      strict: true,
      stringKeys: true,
      uniqueKeys: true,
    });
  } catch (thrown) {
    return refuse(
      `The file cannot be read as YAML: ${thrown instanceof Error ? thrown.message : String(thrown)}.`,
    );
  }
  const problems = yamlProblems(document);
  if (problems.length > 0) {
    const shownProblems = problems
      .slice(0, MAX_YAML_PROBLEMS)
      .map(({ offset, message }) => place(offset) + message);
    return { kind: 'invalid', problems: shownProblems };
  }
  return {
    kind: 'ok',
    value: document.toJS({ maxAliasCount: 0 }) as unknown,
    locate: (path) => place(offsetOf(document, path)),
  };
}

interface YamlProblem {
  readonly offset: number;
  readonly message: string;
}

function yamlProblems(document: Document.Parsed): readonly YamlProblem[] {
  const found: YamlProblem[] = [];
  // The parser may name a place twice, the second time for what follows from the first.
  for (const error of [...document.errors, ...document.warnings])
    if (found.at(-1)?.offset !== error.pos[0])
      found.push({ offset: error.pos[0], message: yamlMessage(error) });
  if (found.length > 0) return found;
  visit(document, (_, node, path) => {
    if (path.length > 2 * MAX_YAML_DEPTH) {
      found.push({
        offset: startOf(node),
        message: `The file is nested more than ${MAX_YAML_DEPTH} levels deep.`,
      });
      return visit.BREAK;
    }
    const message = whyRefused(node);
    if (message) found.push({ offset: startOf(isPair(node) ? node.key : node), message });
    return undefined;
  });
  return found;
}

/** YAML features that settings may not use. Tags are reported by the parser itself, which knows none. */
function whyRefused(node: unknown): string | null {
  if (isAlias(node)) return 'Aliases (`*name`) are not accepted; write the value again.';
  if (isPair(node)) {
    const key = isScalar(node.key) ? node.key.value : null;
    if (typeof key !== 'string') return 'Keys must be plain words.';
    return FORBIDDEN_KEYS.has(key) ? `The key \`${key}\` is not accepted.` : null;
  }
  if (!isNode(node)) return null;
  return 'anchor' in node && node.anchor
    ? 'Anchors (`&name`) are not accepted; write the value again.'
    : null;
}

const startOf = (node: unknown): number => (isNode(node) ? (node.range?.[0] ?? 0) : 0);

/** The position of a path's last key or list item; if missing, that of the nearest parent. */
function offsetOf(document: Document.Parsed, path: readonly PropertyKey[]): number {
  let node: unknown = document.contents;
  let offset = startOf(node);
  for (const key of path) {
    const pair = isMap(node)
      ? node.items.find((item) => isScalar(item.key) && item.key.value === String(key))
      : undefined;
    const next: unknown = pair ? pair.value : isSeq(node) ? node.get(key, true) : undefined;
    if (!pair && !isNode(next)) return offset;
    offset = startOf(pair ? pair.key : next);
    node = next;
  }
  return offset;
}

/** What to do about the parser's most frequent errors, whose own words are those of its grammar. */
const YAML_ADVICE: Partial<Record<YAMLError['code'], string>> = {
  BAD_INDENT:
    'A bracket or brace is not closed, or this line does not begin in the column that its group asks for.',
  BAD_SCALAR_START: 'A value that begins with this character needs quotes.',
  BLOCK_AS_IMPLICIT_KEY:
    'A value with `: ` in it needs quotes; a key below another one must begin in the same column, or further to the right below a key without a value.',
  DUPLICATE_KEY: 'This key is given twice.',
  MISSING_CHAR: 'A quote, bracket or brace that was opened earlier is not closed, or a colon is missing.',
  MULTILINE_IMPLICIT_KEY:
    'A key and its colon must be on one line; check how far this line and the one before it are indented.',
  TAB_AS_INDENT: 'Tabs are not allowed as indentation; use spaces.',
};

function yamlMessage({ code, message }: YAMLError): string {
  const advice = YAML_ADVICE[code];
  if (advice !== undefined) return advice;
  const line = message.split('\n', 1)[0] ?? '';
  if (line.length > MAX_YAML_MESSAGE_CHARS) return `${line.slice(0, MAX_YAML_MESSAGE_CHARS)}….`;
  return /[.!?]$/.test(line) ? line : `${line}.`;
}

type ParsedSettings =
  | { readonly kind: 'ok'; readonly settings: Settings }
  | { readonly kind: 'invalid'; readonly problems: readonly SettingsProblem[] };

/** The operator's defaults for values that a repository's file does not set. */
export interface SettingsDefaults {
  /** MULTI_AGENT_COUNT. */
  readonly candidates?: number;
  /** ENABLE_PRE_EXECUTION_DEBATE=true. */
  readonly debate?: Settings['debate'];
}

/** Validates the value of a settings file; an empty file gives all defaults. Never throws, whatever the value is. */
export function parseSettings(value: unknown, defaults: SettingsDefaults = {}): ParsedSettings {
  const parsed = Settings.safeParse(withDefaults(value ?? {}, defaults));
  if (parsed.success) return { kind: 'ok', settings: parsed.data };
  return {
    kind: 'invalid',
    problems: problemsOf(parsed.error, { schema: Settings, kind: 'setting' }),
  };
}

function withDefaults(value: unknown, defaults: SettingsDefaults): unknown {
  if (!isPlainObject(value)) return value;
  const { candidates, debate } = defaults;
  return {
    ...(candidates === undefined ? {} : { candidates }),
    ...(debate === undefined ? {} : { debate }),
    ...value,
    ...(value.coders === AUTO ? { coders: [{ agent: AUTO }] } : {}),
  };
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
