import { distance } from 'fastest-levenshtein';
import { z } from 'zod';
import { receivedType, schemaProblem } from './schema-problem.ts';

export interface SettingsProblem {
  /** Path in the document; empty for the document itself. The path of an unknown key ends with that key. */
  readonly path: readonly (string | number)[];
  /** One sentence that names the key. */
  readonly message: string;
}

interface Checked {
  readonly schema: z.ZodType;
  /** What people call one key: "There is no `kind` …". */
  readonly kind: string;
}

const MAX_SETTINGS_PROBLEMS = 20;

/** What a schema rejects in a document that people write, with a suggestion for each unknown key. At most 20. */
export const problemsOf = ({ issues }: z.ZodError, checked: Checked): readonly SettingsProblem[] =>
  issues.flatMap((issue) => problemsOfIssue(issue, [], checked)).slice(0, MAX_SETTINGS_PROBLEMS);

type Path = readonly (string | number)[];

function problemsOfIssue(issue: z.core.$ZodIssue, above: Path, checked: Checked): readonly SettingsProblem[] {
  const path = [...above, ...issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key))];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: [...path, key], message: unknownKey([...path, key], checked) }));
  }
  if (issue.code === 'invalid_union') {
    const meant = meantOption(issue.errors);
    if (meant) return meant.flatMap((inner) => problemsOfIssue(inner, path, checked));
  }
  if (path.length === 0 && issue.code === 'invalid_type') {
    const received = receivedType(issue);
    const what = received === '' ? '' : `, not ${received}`;
    return [{ path, message: `The ${checked.kind}s must be groups of keys and values${what}.` }];
  }
  return [{ path, message: `${settingName(path)}: ${sentence(schemaProblem(issue))}` }];
}

/** The one form of a union that the value has, although something inside is wrong; undefined if it has none. */
function meantOption(options: readonly (readonly z.core.$ZodIssue[])[]) {
  const close = options.filter(
    (issues) => !issues.some(({ code, path }) => code === 'invalid_type' && path.length === 0),
  );
  return close.length === 1 ? close[0] : undefined;
}

function unknownKey(path: Path, { schema, kind }: Checked): string {
  const known = knownKeys(schema, path.slice(0, -1));
  const meant = suggest(String(path.at(-1)).slice(0, 60), known);
  const hint = meant
    ? `Did you mean \`${meant}\`?`
    : `Known here: ${known.map((key) => `\`${key}\``).join(', ')}.`;
  return `There is no ${kind} \`${settingName(path)}\`. ${hint}`;
}

/** `coders[0].model`, bounded. */
const settingName = (path: Path): string =>
  path
    .map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i > 0 ? '.' : ''}${key.slice(0, 60)}`))
    .join('');

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** Keys that the schema has at a path. */
function knownKeys(schema: unknown, path: Path): readonly string[] {
  let forms = formsOf(schema);
  for (const key of path) forms = forms.flatMap((form) => formsOf(partOf(form, key)));
  return forms.flatMap((form) => (form instanceof z.ZodObject ? Object.keys(form.shape) : []));
}

function partOf(form: unknown, key: string | number): unknown {
  if (form instanceof z.ZodObject) return form.shape[key as string];
  if (form instanceof z.ZodArray) return form.element;
  return form instanceof z.ZodRecord ? form.valueType : undefined;
}

/** The schemas that a schema stands for: those of a union, without defaults. */
function formsOf(schema: unknown): readonly unknown[] {
  let inner = schema;
  while (inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault || inner instanceof z.ZodOptional) {
    inner = inner.def.innerType;
  }
  return inner instanceof z.ZodUnion ? inner.options.flatMap(formsOf) : [inner];
}

/**
 * The known name that was probably intended: an edit distance of at most two and a third of its length; otherwise
 * null.
 */
export function suggest(written: string, known: readonly string[]): string | null {
  let best: { name: string; errors: number } | null = null;
  for (const name of known) {
    const most = Math.min(2, Math.ceil(name.length / 3));
    if (Math.abs(name.length - written.length) > most) continue;
    const errors = distance(written.toLowerCase(), name.toLowerCase());
    if (errors <= most && (best === null || errors < best.errors)) best = { name, errors };
  }
  return best?.name ?? null;
}
