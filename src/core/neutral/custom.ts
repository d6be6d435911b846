import { isSnapshot, roleOf } from '../patches/index.ts';

/** How a repository names its test files, told by one of them. */
export interface TestCustom {
  /** Path of the test file that is shown as an example. */
  readonly sample: string;
  /** With its trailing slash; empty for the top. */
  readonly folder: string;
  readonly before: string;
  /** With the extension. */
  readonly after: string;
  readonly words: 'kebab' | 'snake' | 'pascal';
}

type Form = Pick<TestCustom, 'before' | 'after' | 'words'>;

const FORMS: readonly (readonly [RegExp, TestCustom['words'] | null])[] = [
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
/** In a folder of tests any name may do: test/csv.js, tests/csv.rs. */
const PLAIN = /^(?<stem>[\w-]+)(?<after>\.(?:[cm]?[jt]sx?|py|rb|rs|php|exs|lua|dart|t))$/;
/** Such names stand for what tests need, or for a whole suite whose name must stay. */
const NO_TEST =
  /^(?:index|main|mod|common|setup|global-?setup|teardown|helpers?|utils?|fixtures?|mocks?|conftest|__init__|run|runner|support|shared|types?)$/i;
const NO_TEST_FOLDERS =
  /(?:^|\/)(?:__mocks__|__fixtures__|fixtures?|testdata|data|mocks?|helpers?|support|e2e|node_modules|vendor|examples?|benchmarks?|types?)\//i;

/** Files that are looked at for an example. Our default. */
const MOST_SAMPLES = 5;

/**
 * Customs that a new test may follow: those of the test files nearest to what the task is about, best first. `near` are
 * paths that will probably change, and that the test command names. Empty where the base has no file whose name tells.
 */
export function customsOf(baseFiles: readonly string[], near: readonly string[]): readonly TestCustom[] {
  const known = baseFiles.flatMap((path) => {
    const form = isTestFile(path) ? formOf(path) : null;
    return form ? [{ sample: path, folder: folderOf(path), ...form }] : [];
  });
  const group = (one: TestCustom) => `${one.folder}\0${one.before}\0${one.after}`;
  const sizes = new Map<string, number>();
  for (const one of known) sizes.set(group(one), (sizes.get(group(one)) ?? 0) + 1);
  const names = new Set(near.map(plainStem));
  const folders = near.map((path) => path.split('/').slice(0, -1));
  const score = (one: TestCustom): readonly number[] => [
    Number(near.includes(one.sample)),
    Number(names.has(plainStem(one.sample))),
    nearness(one.sample, folders),
    sizes.get(group(one)) ?? 0,
  ];
  const scored = known.map((one) => ({ one, score: score(one) }));
  scored.sort((a, b) => compare(b.score, a.score) || byText(a.one.sample, b.one.sample));
  return scored.slice(0, MOST_SAMPLES).map(({ one }) => one);
}

/** Has the text of a file the words of a test? One in a folder of tests may hold only data. */
export const looksLikeTest = (text: string): boolean =>
  /\b(?:test|it|describe|context|suite|assert\w*|expect|should|t)\b[.\w]*\s*[({]|\bdef test|\bfunc Test|@Test\b|#\[(?:\w+::)?test\]|\bassert\s/.test(
    text,
  );

const isTestFile = (path: string): boolean =>
  roleOf(path) === 'test' && !isSnapshot(path) && !NO_TEST_FOLDERS.test(path);

/**
 * Free paths for `count` new test files beside the sample: `neutral-1.test.ts`, `test_neutral_1.py`, `Neutral1Test.java`.
 * Empty where such a file would not count as a test.
 */
export function placesFor(
  custom: TestCustom,
  taken: readonly string[],
  stem: 'neutral' | 'distinguishing' | 'review',
  count: number,
): readonly string[] {
  const known = new Set(taken.map((path) => path.toLowerCase()));
  const places: string[] = [];
  for (let number = 1; places.length < count; number += 1) {
    const path = `${custom.folder}${custom.before}${worded(custom.words, stem, number)}${custom.after}`;
    if (roleOf(path) !== 'test') return [];
    if (!known.has(path.toLowerCase())) places.push(path);
  }
  return places;
}

function worded(words: TestCustom['words'], stem: string, number: number): string {
  switch (words) {
    case 'kebab':
      return `${stem}-${number}`;
    case 'snake':
      return `${stem}_${number}`;
    case 'pascal':
      return `${(stem[0] ?? '').toUpperCase()}${stem.slice(1)}${number}`;
  }
}

function formOf(path: string): Form | null {
  const name = nameOf(path);
  for (const [form, words] of FORMS) {
    const groups = form.exec(name)?.groups;
    if (groups) return formFrom(groups, words);
  }
  const groups = PLAIN.exec(name)?.groups;
  return groups && !NO_TEST.test(groups.stem ?? '') ? formFrom(groups, null) : null;
}

function formFrom(groups: Readonly<Record<string, string>>, words: TestCustom['words'] | null): Form {
  const { before = '', after = '' } = groups;
  const snake = /_/.test(before + after) || /\.(?:py|go|rs|rb|exs|lua|dart|php)$/.test(after);
  return { before, after, words: words ?? (snake ? 'snake' : 'kebab') };
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);

/** A file's name without affixes, extension and what joins its words. */
function plainStem(path: string): string {
  const name = nameOf(path);
  const stem = FORMS.map(([form]) => form.exec(name)?.groups?.stem).find(Boolean);
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

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at < 0 ? 0 : (a[at] as number) - (b[at] as number);
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
