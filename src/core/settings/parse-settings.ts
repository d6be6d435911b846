import { z } from 'zod';
import { Settings } from './settings.ts';
import { suggest } from './suggest.ts';

interface SettingsProblem {
  /** Path in the document; empty for the document itself. The path of an unknown key ends with that key. */
  readonly path: readonly (string | number)[];
  /** One sentence that names the key. */
  readonly message: string;
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

const MAX_SETTINGS_PROBLEMS = 20;

/** Validates the value of a settings file; an empty file gives all defaults. Never throws, whatever the value is. */
export function parseSettings(value: unknown, defaults: SettingsDefaults = {}): ParsedSettings {
  const parsed = Settings.safeParse(withDefaults(value ?? {}, defaults));
  if (parsed.success) return { kind: 'ok', settings: parsed.data };
  const problems = parsed.error.issues.flatMap((issue) => problemsOf(issue, value));
  return { kind: 'invalid', problems: problems.slice(0, MAX_SETTINGS_PROBLEMS) };
}

function withDefaults(value: unknown, defaults: SettingsDefaults): unknown {
  if (!isPlainObject(value)) return value;
  const { candidates, debate } = defaults;
  return {
    ...(candidates === undefined ? {} : { candidates }),
    ...(debate === undefined ? {} : { debate }),
    ...value,
  };
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function problemsOf(issue: z.core.$ZodIssue, value: unknown): readonly SettingsProblem[] {
  const path = issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key));
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: [...path, key], message: unknownKey([...path, key]) }));
  }
  if (path.length === 0 && issue.code === 'invalid_type') {
    return [{ path, message: `The settings must be a list of keys and values, not ${typeName(value)}.` }];
  }
  const missing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
  return [{ path, message: `${settingName(path)}: ${missing ? 'is missing.' : sentence(issue.message)}` }];
}

function unknownKey(path: readonly (string | number)[]): string {
  const known = knownKeys(path.slice(0, -1));
  const meant = suggest(String(path.at(-1)).slice(0, 60), known);
  const hint = meant
    ? `Did you mean \`${meant}\`?`
    : `Known here: ${known.map((key) => `\`${key}\``).join(', ')}.`;
  return `There is no setting \`${settingName(path)}\`. ${hint}`;
}

/** `coders[0].model`, bounded. */
const settingName = (path: readonly (string | number)[]): string =>
  path
    .map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i > 0 ? '.' : ''}${key.slice(0, 60)}`))
    .join('');

const typeName = (value: unknown): string => {
  if (value === null) return 'nothing';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
};

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** Keys that the schema has at a path. */
function knownKeys(path: readonly (string | number)[]): readonly string[] {
  let schema: unknown = Settings;
  for (const key of path) {
    const inner = unwrap(schema);
    if (inner instanceof z.ZodObject) schema = inner.shape[key as string];
    else if (inner instanceof z.ZodArray) schema = inner.element;
    else return [];
  }
  const inner = unwrap(schema);
  return inner instanceof z.ZodObject ? Object.keys(inner.shape) : [];
}

function unwrap(schema: unknown): unknown {
  let inner = schema;
  while (inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault || inner instanceof z.ZodOptional) {
    inner = inner.def.innerType;
  }
  return inner;
}
