import { type Patch, type PatchFile, patchedText } from '../patches/index.ts';

/** Files that are production code, but hold parts that decide how tests and build run. */
const WATCHED = /(?:^|\/)(?:package\.json|pyproject\.toml|setup\.cfg|(?:GNUm|[Mm])akefile)$/;

/** Changed files whose base text `staticGates` wants to see, to compare their parts rather than guess from lines. */
export const watchedFiles = (patch: Patch): readonly string[] =>
  patch.files.filter((file) => WATCHED.test(file.path) && file.change !== 'added').map((file) => file.path);

/** Names of the parts of a watched file that decide about tests or build, and that this patch changes. */
export function changedParts(file: PatchFile, baseText: string | undefined): readonly string[] {
  if (!WATCHED.test(file.path) || file.change === 'added') return [];
  if (file.change !== 'modified') return ['the whole file'];
  const patched = baseText === undefined ? null : patchedText(baseText, file);
  if (baseText === undefined || patched?.kind !== 'text') return guessed(file);
  const before = partsOf(file.path, baseText);
  const after = partsOf(file.path, patched.text);
  if (before === null) return [];
  if (after === null) return ['its syntax: it is not JSON any more'];
  const names = new Set([...before.decisive, ...after.decisive]);
  return [...names].filter((name) => before.parts.get(name) !== after.parts.get(name));
}

/** Without the base text: every changed line that could belong to such a part counts. */
function guessed(file: PatchFile): readonly string[] {
  const changed = file.section.split('\n').filter((line) => /^[+-](?![+-]{2} )/.test(line));
  const suspect = file.path.endsWith('package.json')
    ? /"(?:(?:pre|post)?(?:test|build|check|install|prepare|pack)[^"]*|jest|vitest|mocha|ava|c8|nyc|tap|scripts)"\s*:/
    : /^[+-](?:\[tool[.:]|test|check|build|all)|pytest|testpaths|addopts|python_files/;
  return changed.filter((line) => suspect.test(line)).map((line) => line.slice(1).trim().slice(0, 80));
}

/** A file's parts by name, and which of them decide; the others matter if they decide in the other version. */
interface Parts {
  readonly parts: ReadonlyMap<string, string>;
  readonly decisive: Iterable<string>;
}

function partsOf(path: string, text: string): Parts | null {
  if (path.endsWith('package.json')) return packageParts(text);
  const parts = /akefile$/.test(path) ? makeParts(text) : tableParts(text);
  return { parts, decisive: parts.keys() };
}

const RUNNER_KEYS = ['jest', 'vitest', 'mocha', 'ava', 'c8', 'nyc', 'tap'] as const;
/** Scripts that package managers start by themselves around an installation, a test or a build. */
const HOOK = /^(?:pre|post)?(?:test|build|check|install|prepare|pack)(?:$|[:.-])/;

function packageParts(text: string): Parts | null {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    // The caller tells a base that was broken before from a patch that broke it.
    return null;
  }
  if (!isRecord(value)) return null;
  const manifest = value;
  const scripts = isRecord(manifest.scripts) ? manifest.scripts : {};
  const keys = RUNNER_KEYS.filter((key) => Object.hasOwn(manifest, key));
  const parts = new Map<string, string>([
    ...keys.map((key) => [key, canonical(manifest[key])] as const),
    ...Object.entries(scripts).map(([name, script]) => [`scripts.${name}`, canonical(script)] as const),
  ]);
  return { parts, decisive: [...keys, ...[...decisive(scripts)].map((name) => `scripts.${name}`)] };
}

/** The hooks, and every script that one of them starts. */
function decisive(scripts: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const names = Object.keys(scripts);
  const found = new Set(names.filter((name) => HOOK.test(name)));
  // A set that grows while it is walked: the walk reaches what was added.
  for (const name of found) {
    const words = new Set(String(scripts[name]).split(/[\s;&|"']+/));
    for (const other of names) if (words.has(other)) found.add(other);
  }
  return found;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** JSON with sorted keys: their order says nothing. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  ) ?? '';

/** Tables of TOML or INI that configure a test runner or its coverage, comments left out. */
function tableParts(text: string): ReadonlyMap<string, string> {
  const parts = new Map<string, string>();
  let table: string | null = null;
  for (const line of text.split('\n')) {
    const head = /^\s*\[+\s*([^\]]+?)\s*\]+/.exec(line)?.[1];
    if (head !== undefined)
      table = /^tool[.:](?:pytest|coverage|tox|nox)|^(?:coverage:\w+|aliases)$/.test(head) ? head : null;
    else if (table !== null && !/^\s*(?:#|;|$)/.test(line))
      parts.set(table, `${parts.get(table) ?? ''}${line.trim()}\n`);
  }
  return parts;
}

/** Rules for test, check and build, recipe included, and variables of that name. */
function makeParts(text: string): ReadonlyMap<string, string> {
  const parts = new Map<string, string>();
  let rule: string | null = null;
  for (const line of text.split('\n')) {
    if (rule !== null && (line.startsWith('\t') || line.trim() === '')) {
      if (line.trim() !== '') parts.set(rule, `${parts.get(rule)}${line.trim()}\n`);
      continue;
    }
    rule = /^(?:test|check|build|all)\b[\w.-]*(?=\s*:(?!=))/.exec(line)?.[0] ?? null;
    if (rule !== null) parts.set(rule, `${parts.get(rule) ?? ''}${line.trim()}\n`);
    const variable = /^(?:export\s+)?(\w*TEST\w*|SHELL|\.SHELLFLAGS|MAKEFLAGS)\s*[:?+]?=/.exec(line)?.[1];
    if (variable) parts.set(variable, line.trim());
  }
  return parts;
}
