import { roleOf } from '../../patches/index.ts';
import { languageOf } from '../languages.ts';

/** Words in a path that say for whom the file is, though not that it is a test. */
const SUPPORT_WORD =
  /(?:^|[/._-])(?:support|helpers?|utils?|mocks?|stubs?|fakes?|fixtures?|harness|setup|testing|matchers?|assertions?|factor(?:y|ies)|builders?|doubles?)(?=[/._-]|$)/i;
const IMPORTS: Partial<Readonly<Record<ReturnType<typeof languageOf>, RegExp>>> = {
  js: /(?:\bfrom|\bimport|\bimport\(|\brequire\()\s*['"](\.{1,2}\/[^'"\n]{1,300})['"]/g,
  python: /^\s*(?:from\s+([.\w]{1,200})\s+import\b|import\s+([\w.]{1,200}))/gm,
  ruby: /\brequire_relative\s*\(?\s*['"]([^'"\n]{1,300})['"]/g,
};
const ENDINGS = [
  '',
  '.ts',
  '.tsx',
  '.mts',
  '.js',
  '.jsx',
  '.mjs',
  '.cjs',
  '.py',
  '.rb',
  '/index.ts',
  '/index.js',
  '/__init__.py',
];

/**
 * Production files, by their names, that only tests load and that are named for it: `support/db.js`, `lib/fakes.py`.
 * `texts` are texts of the base by path: of its tests, and of as much of its other code as can be had; what is missing
 * may load a file without our seeing it. For `TamperingOptions.support`.
 */
export function supportFiles(texts: Readonly<Record<string, string>>): readonly string[] {
  const loads = new Map(
    Object.entries(texts).map(([path, text]) => [path, loadedBy(path, text, texts)] as const),
  );
  const isTest = (path: string) => roleOf(path) !== 'production';
  const reached = new Set<string>([...loads.keys()].filter(isTest));
  // A set that grows while it is walked: what a helper loads is a helper's helper.
  for (const path of reached) for (const other of loads.get(path) ?? []) reached.add(other);
  const named = [...reached].filter((path) => !isTest(path) && SUPPORT_WORD.test(path));
  const product = new Set(
    [...loads].flatMap(([path, others]) => (isTest(path) || named.includes(path) ? [] : others)),
  );
  return named.filter((path) => !product.has(path)).sort();
}

function loadedBy(path: string, text: string, texts: Readonly<Record<string, string>>): readonly string[] {
  const pattern = IMPORTS[languageOf(path)];
  if (!pattern) return [];
  return [...text.matchAll(pattern)].flatMap((match) => {
    const name = match[1] ?? match[2] ?? '';
    const wanted = languageOf(path) === 'python' ? modulePaths(path, name) : [joined(path, name)];
    const found = wanted
      .flatMap((one) => ENDINGS.map((ending) => one + ending))
      .concat(wanted.map((one) => one.replace(/\.[cm]?js$/, '.ts')))
      .find((one) => Object.hasOwn(texts, one));
    return found === undefined ? [] : [found];
  });
}

/** `./x` and `../x` from the folder of a file. */
function joined(from: string, relative: string): string {
  const parts = from.split('/').slice(0, -1);
  for (const part of relative.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}

/** A module is looked for beside the file, and from the top. */
function modulePaths(from: string, name: string): readonly string[] {
  const ups = /^\.*/.exec(name)?.[0].length ?? 0;
  const rest = name.slice(ups).replaceAll('.', '/');
  if (ups > 0) return [joined(from, `${'../'.repeat(ups - 1)}${rest}`)];
  return [joined(from, rest), rest];
}
