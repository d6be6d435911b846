import { byCodeUnits } from '../model/index.ts';
import { isSnapshot, roleOf } from '../patches/index.ts';

/** How a repository names its test files, derived from one of them. */
export interface TestNaming {
  /** Path of the test file that is shown as an example. */
  readonly sample: string;
  /** With its trailing slash; empty for the top folder. */
  readonly folder: string;
  readonly prefix: string;
  /** With the extension. */
  readonly suffix: string;
  readonly wordCase: 'kebab' | 'snake' | 'pascal';
}

type NamePattern = Pick<TestNaming, 'prefix' | 'suffix' | 'wordCase'>;

const NAME_PATTERNS: readonly (readonly [RegExp, TestNaming['wordCase'] | null])[] = [
  // csv.test.ts, csv_test.go, csv-spec.rb
  [/^(?<stem>.+?)(?<after>[._-](?:test|tests|spec|specs)\.\w{1,8})$/i, null],
  // test_csv.py, test-csv.js
  [/^(?<before>tests?[_-])(?<stem>.+)(?<after>\.\w{1,8})$/, null],
  // CsvTest.java, CsvTests.cs, CsvSpec.kt
  [
    /^(?<stem>[A-Z]\w*?)(?<after>(?:Tests?|TestCase|Specs?)\.(?:java|kt|scala|groovy|cs|fs|swift|php))$/,
    'pascal',
  ],
  // TestCsv.java
  [/^(?<before>Test)(?<stem>[A-Z]\w*)(?<after>\.(?:java|kt|scala|groovy))$/, 'pascal'],
];
/** In a test folder any name is possible: test/csv.js, tests/csv.rs. */
const PLAIN_NAME = /^(?<stem>[\w-]+)(?<after>\.(?:[cm]?[jt]sx?|py|rb|rs|php|exs|lua|dart|t))$/;
/** Names of test support files, or of a whole suite whose name must not change. */
const NON_TEST_NAME =
  /^(?:index|main|mod|common|setup|global-?setup|teardown|helpers?|utils?|fixtures?|mocks?|conftest|__init__|run|runner|support|shared|types?)$/i;
const NON_TEST_FOLDER =
  /(?:^|\/)(?:__mocks__|__fixtures__|fixtures?|testdata|data|mocks?|helpers?|support|e2e|node_modules|vendor|examples?|benchmarks?|types?)\//i;

/** Maximum files considered as an example. Default. */
const MAX_SAMPLES = 5;

/**
 * Naming conventions for a new test: those of the test files nearest to the task, best first. `near` are paths that
 * will probably change and paths in the test command. Empty if no file name of the base shows a convention.
 */
export function testNamings(baseFiles: readonly string[], near: readonly string[]): readonly TestNaming[] {
  const known = baseFiles.flatMap((path) => {
    const form = isTestFile(path) ? namePatternOf(path) : null;
    return form ? [{ sample: path, folder: folderPrefix(path), ...form }] : [];
  });
  const group = (one: TestNaming) => `${one.folder}\0${one.prefix}\0${one.suffix}`;
  const sizes = new Map<string, number>();
  for (const one of known) sizes.set(group(one), (sizes.get(group(one)) ?? 0) + 1);
  const names = new Set(near.map(comparableStem));
  const folders = near.map((path) => path.split('/').slice(0, -1));
  const score = (one: TestNaming): readonly number[] => [
    Number(near.includes(one.sample)),
    Number(names.has(comparableStem(one.sample))),
    nearness(one.sample, folders),
    sizes.get(group(one)) ?? 0,
  ];
  const scored = known.map((one) => ({ one, score: score(one) }));
  scored.sort((a, b) => compareScores(b.score, a.score) || byCodeUnits(a.one.sample, b.one.sample));
  return scored.slice(0, MAX_SAMPLES).map(({ one }) => one);
}

/** Whether the text of a file contains tests. A file in a test folder may contain only data. */
export const looksLikeTest = (text: string): boolean =>
  /\b(?:test|it|describe|context|suite|assert\w*|expect|should|t)\b[.\w]*\s*[({]|\bdef test|\bfunc Test|@Test\b|#\[(?:\w+::)?test\]|\bassert\s/.test(
    text,
  );

const isTestFile = (path: string): boolean =>
  roleOf(path) === 'test' && !isSnapshot(path) && !NON_TEST_FOLDER.test(path);

/**
 * Free paths for `count` new test files next to the sample: `independent-1.test.ts`, `test_independent_1.py`,
 * `Independent1Test.java`. Empty if such a file would not count as a test.
 */
export function newTestPaths(
  custom: TestNaming,
  taken: readonly string[],
  stem: 'independent' | 'distinguishing' | 'review',
  count: number,
): readonly string[] {
  const known = new Set(taken.map((path) => path.toLowerCase()));
  const places: string[] = [];
  for (let number = 1; places.length < count; number += 1) {
    const path = `${custom.folder}${custom.prefix}${numberedName(custom.wordCase, stem, number)}${custom.suffix}`;
    if (roleOf(path) !== 'test') return [];
    if (!known.has(path.toLowerCase())) places.push(path);
  }
  return places;
}

function numberedName(words: TestNaming['wordCase'], stem: string, number: number): string {
  switch (words) {
    case 'kebab':
      return `${stem}-${number}`;
    case 'snake':
      return `${stem}_${number}`;
    case 'pascal':
      return `${(stem[0] ?? '').toUpperCase()}${stem.slice(1)}${number}`;
  }
}

function namePatternOf(path: string): NamePattern | null {
  const name = fileNameOf(path);
  for (const [form, words] of NAME_PATTERNS) {
    const groups = form.exec(name)?.groups;
    if (groups) return namePatternFrom(groups, words);
  }
  const groups = PLAIN_NAME.exec(name)?.groups;
  return groups && !NON_TEST_NAME.test(groups.stem ?? '') ? namePatternFrom(groups, null) : null;
}

function namePatternFrom(
  groups: Readonly<Record<string, string>>,
  words: TestNaming['wordCase'] | null,
): NamePattern {
  const { before = '', after = '' } = groups;
  const snake = /_/.test(before + after) || /\.(?:py|go|rs|rb|exs|lua|dart|php)$/.test(after);
  return { prefix: before, suffix: after, wordCase: words ?? (snake ? 'snake' : 'kebab') };
}

const fileNameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
const folderPrefix = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);

/** A file's name without affixes, extension and word separators. */
function comparableStem(path: string): string {
  const name = fileNameOf(path);
  const stem = NAME_PATTERNS.map(([form]) => form.exec(name)?.groups?.stem).find(Boolean);
  return (stem ?? name.replace(/\..*$/, '')).toLowerCase().replace(/[-_.]/g, '');
}

/** Leading folders shared with the nearest changed file. */
function nearness(sample: string, near: readonly (readonly string[])[]): number {
  const folders = sample.split('/').slice(0, -1);
  const shared = (others: readonly string[]) => {
    const end = folders.findIndex((folder, i) => others[i] !== folder);
    return end < 0 ? folders.length : end;
  };
  return Math.max(0, ...near.map(shared));
}

function compareScores(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at < 0 ? 0 : (a[at] as number) - (b[at] as number);
}

/** Names that a file imports from another one of its repository. */
interface Import {
  /** As written: `../src/csv.js`, `pkg.csv`. */
  readonly from: string;
  readonly names: readonly string[];
  /** Possible paths of the module, best first. */
  readonly paths: readonly string[];
}

const NAMED_IMPORTS = '\\{([^{}]{0,2000})\\}';
const JS_IMPORTS: readonly RegExp[] = [
  new RegExp(
    `\\bimport\\s+(?:[\\w$]+\\s*,\\s*)?${NAMED_IMPORTS}\\s*from\\s*['"](\\.[^'"\\n]{0,300})['"]`,
    'g',
  ),
  new RegExp(
    `\\b(?:const|let|var)\\s+${NAMED_IMPORTS}\\s*=\\s*(?:await\\s+import|require)\\s*\\(\\s*['"](\\.[^'"\\n]{0,300})['"]`,
    'g',
  ),
];
const PYTHON_IMPORTS =
  /^[ \t]*from[ \t]+([\w.]{1,300})[ \t]+import[ \t]+(?:\(([^()]{0,2000})\)|([^\n#(]{1,2000}))/gm;

/** Named imports from files of the repository itself; empty for other languages and other kinds of import. */
export function importsOf(path: string, text: string, baseFiles: readonly string[]): readonly Import[] {
  if (/\.[cm]?[jt]sx?$/.test(path)) {
    return JS_IMPORTS.flatMap((form) => [...text.matchAll(form)]).map(([, names = '', from = '']) => ({
      from,
      names: importedNames(names.replace(/\btype\s+/g, ''), /\s+as\s+|\s*:\s*/),
      paths: relativeModulePaths(path, from),
    }));
  }
  if (!path.endsWith('.py')) return [];
  return [...text.matchAll(PYTHON_IMPORTS)].flatMap(([, from = '', within, plain = '']) => {
    const paths = pythonModulePaths(path, from, baseFiles);
    return paths.length > 0 ? [{ from, names: importedNames(within ?? plain, /\s+as\s+/), paths }] : [];
  });
}

/** `a, b as c` → `a`, `b`. */
const importedNames = (names: string, alias: RegExp): readonly string[] =>
  names
    .split(',')
    .map((name) => (name.trim().split(alias)[0] ?? '').trim())
    .filter((name) => /^[\w$]+$/.test(name) && name !== 'default');

const JS_SUFFIXES = [
  '',
  '.ts',
  '.js',
  '.tsx',
  '.jsx',
  '.mts',
  '.cts',
  '.mjs',
  '.cjs',
  '/index.ts',
  '/index.js',
];

function relativeModulePaths(path: string, from: string): readonly string[] {
  const at = joinedPath(path.split('/').slice(0, -1), from.split('/'));
  if (at === null) return [];
  // TypeScript sources are imported under their compiled name.
  const source = /\.([cm]?)jsx?$/.exec(at);
  const typed = source ? [at.replace(/\.([cm]?)js(x?)$/, '.$1ts$2'), at.replace(/\.jsx?$/, '.tsx')] : [];
  return [...JS_SUFFIXES.map((end) => `${at}${end}`.replace(/^\//, '')), ...typed];
}

/** Null if it leads outside the repository. */
function joinedPath(folder: readonly string[], parts: readonly string[]): string | null {
  const at = [...folder];
  for (const part of parts) {
    if (part === '..') {
      if (at.pop() === undefined) return null;
    } else if (part !== '.' && part !== '') at.push(part);
  }
  return at.join('/');
}

/** Empty for a module outside this repository. */
function pythonModulePaths(path: string, from: string, baseFiles: readonly string[]): readonly string[] {
  const dots = /^\.*/.exec(from)?.[0].length ?? 0;
  const folder = path.split('/').slice(0, -1);
  const parts = from.slice(dots).split('.').filter(Boolean);
  const roots = dots > 0 ? [folder.slice(0, Math.max(0, folder.length - dots + 1))] : [[], ['src'], ['lib']];
  const ends = ['.py', '/__init__.py'];
  return roots.flatMap((root) => {
    const at = [...root, ...parts].join('/');
    const first = [...root, parts[0] ?? ''].join('/');
    const ours = dots > 0 || baseFiles.some((file) => file === `${first}.py` || file.startsWith(`${first}/`));
    return ours ? ends.map((end) => `${at}${end}`) : [];
  });
}
