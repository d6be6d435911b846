import { parseUntrustedJson } from '../model/index.ts';

/**
 * The parts of a file by name, and which of them affect tests or build. The others matter if they do so in the other
 * version.
 */
export interface ManifestParts {
  readonly parts: ReadonlyMap<string, string>;
  readonly decisive: Iterable<string>;
}

const RUNNER_KEYS = [
  'jest',
  'vitest',
  'mocha',
  'ava',
  'c8',
  'nyc',
  'tap',
  'jasmine',
  'qunit',
  'tsd',
] as const;
/** Scripts that package managers run by themselves on installation, test or build. */
const LIFECYCLE_SCRIPT = /^(?:pre|post)?(?:test|build|check|install|prepare|pack)(?:$|[:.-])/;
/** Packages with test runners or assertions. */
const TEST_PACKAGE =
  /^(?:vitest|jest|mocha|chai|ava|tap|tape|c8|nyc|sinon|expect|uvu|qunit|should|assert|power-assert|cypress|playwright|(?:ts|babel)-jest|jasmine[\w-]*|karma[\w-]*|@(?:jest|vitest|playwright|testing-library)\/.*|phpunit\/phpunit|pestphp\/pest|mockery\/mockery)$/;
/** A package that does not come from its registry, or is an alias of another package. */
const NOT_FROM_REGISTRY = /^(?:file|link|portal|patch|npm|git|github|https?|workspace):|^\.|\//;

/** `package.json`; null if the text is not a JSON object. */
export function packageParts(text: string): ManifestParts | null {
  const manifest = parsedObject(text);
  if (!manifest) return null;
  const scripts = recordOf(manifest.scripts);
  const keys = RUNNER_KEYS.filter((key) => Object.hasOwn(manifest, key));
  const packages = testPackages(manifest);
  const parts = new Map<string, string>([
    ...keys.map((key) => [key, sortedJson(manifest[key])] as const),
    ...Object.entries(scripts).map(([name, script]) => [`scripts.${name}`, sortedJson(script)] as const),
    ...packages,
  ]);
  const started = [...lifecycleScripts(scripts)].map((name) => `scripts.${name}`);
  // An added package affects nothing unless it is an alias or comes from elsewhere.
  const replaced = packages
    .filter(([, version]) => NOT_FROM_REGISTRY.test(version.replace(/^"/, '')))
    .map(([name]) => name);
  return { parts, decisive: [...keys, ...started, ...replaced] };
}

const DEPENDENCY_SECTIONS = [
  'dependencies',
  'devDependencies',
  'overrides',
  'resolutions',
  'require-dev',
] as const;

function testPackages(manifest: Readonly<Record<string, unknown>>): readonly (readonly [string, string])[] {
  return DEPENDENCY_SECTIONS.flatMap((section) =>
    Object.entries(recordOf(manifest[section]))
      .filter(([name]) => TEST_PACKAGE.test(name))
      .map(([name, version]) => [`${section}.${name}`, sortedJson(version)] as const),
  );
}

/** Test packages of the base: another version of one is another runner. */
export const testPackageNames = (text: string): readonly string[] => {
  const manifest = parsedObject(text);
  return manifest ? testPackages(manifest).map(([name]) => name) : [];
};

/** Other JSON (`composer.json`, `deno.json`, `turbo.json`, `nx.json`, …): the values of test-related keys. */
export function jsonParts(text: string): ManifestParts | null {
  const value = parsedObject(text.replace(/^\s*\/\/.*$/gm, ''));
  if (!value) return null;
  const parts = new Map<string, string>();
  const walk = (one: unknown, path: readonly string[]) => {
    for (const [key, inner] of Object.entries(recordOf(one))) {
      const here = [...path, key];
      if (/^(?:pre|post)?(?:tests?|check|ci|phpunit|pest|coverage)(?:$|[:.-])/i.test(key))
        parts.set(here.join('.'), sortedJson(inner));
      else if (here.length < 5) walk(inner, here);
    }
  };
  walk(value, []);
  return { parts, decisive: parts.keys() };
}

function parsedObject(text: string): Readonly<Record<string, unknown>> | null {
  const read = parseUntrustedJson(text.replace(/^\ufeff/, ''));
  // The caller distinguishes a base that was already broken from one that the patch broke.
  return read.kind === 'json' && isRecord(read.value) ? read.value : null;
}

/** Lifecycle hooks and all scripts that they run. */
function lifecycleScripts(scripts: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const names = Object.keys(scripts);
  const found = new Set(names.filter((name) => LIFECYCLE_SCRIPT.test(name)));
  // The set grows during the loop, which then also visits the new elements.
  for (const name of found) {
    const words = new Set(String(scripts[name]).split(/[\s;&|"']+/));
    for (const other of names) if (words.has(other)) found.add(other);
  }
  return found;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const recordOf = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {});

/** JSON with sorted keys, because their order is irrelevant. */
const sortedJson = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  ) ?? '';

/** TOML or INI tables with matching names, without comments. */
export function tableParts(text: string, names: RegExp): ManifestParts {
  const parts = new Map<string, string>();
  let table: string | null = null;
  for (const line of text.split('\n')) {
    const head = /^\s*\[+\s*([^\]]+?)\s*\]+/.exec(line)?.[1];
    if (head !== undefined) table = names.test(head) ? head : null;
    else if (table !== null && !/^\s*(?:#|;|$)/.test(line))
      parts.set(table, `${parts.get(table) ?? ''}${line.trim()}\n`);
  }
  return { parts, decisive: parts.keys() };
}

/** Make rules for test, check and build with their recipes, and variables of those names. */
export function makeParts(text: string): ManifestParts {
  const parts = new Map<string, string>();
  let rule: string | null = null;
  for (const line of text.split('\n')) {
    if (rule !== null && (/^[\t ]/.test(line) || line.trim() === '')) {
      if (line.trim() !== '') parts.set(rule, `${parts.get(rule)}${line.trim()}\n`);
      continue;
    }
    rule = /^(?:test|check|build|all)\b[\w.-]*(?=\s*(?:[\w ='"]*)?:(?!=))/.exec(line)?.[0] ?? null;
    if (rule !== null) parts.set(rule, `${parts.get(rule) ?? ''}${line.trim()}\n`);
    const variable = /^(?:export\s+)?(\w*TEST\w*|SHELL|\.SHELLFLAGS|MAKEFLAGS)\s*[:?+]?=/.exec(line)?.[1];
    if (variable) parts.set(variable, line.trim());
  }
  return { parts, decisive: parts.keys() };
}

/** Single lines with an effect, in order. */
export function lineParts(text: string, decides: RegExp): ManifestParts {
  const parts = new Map<string, string>();
  for (const line of text.split('\n')) {
    const plain = line.trim().slice(0, 300);
    if (!decides.test(plain) || /^(?:#|\/\/|<!--)/.test(plain)) continue;
    const name = plain.slice(0, 80);
    parts.set(name, `${parts.get(name) ?? ''}${plain}\n`);
  }
  return { parts, decisive: parts.keys() };
}
