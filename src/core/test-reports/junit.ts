import { XMLParser } from 'fast-xml-parser';
import { z } from 'zod';
import type { TestOutcome } from '../evidence/index.ts';
import { unfinishedInVitest } from './json.ts';
import { Outcomes, relativePath } from './outcomes.ts';

/** Maximum depth of nested `describe`; no real report is deeper. */
const MAX_SUITE_DEPTH = 60;

const JUnitText = z.string().catch('');
/** The parser gives an element without attributes and elements as its text. */
const elementOf = (parsed: unknown): unknown => (typeof parsed === 'string' ? {} : parsed);
const Suites: z.ZodType<JUnitSuite> = z.preprocess(
  elementOf,
  z.lazy(() => JUnitSuite),
);

const JUnitCase = z.object({
  '@name': JUnitText,
  '@classname': JUnitText,
  '@file': JUnitText,
  '@status': JUnitText,
  failure: z.unknown().optional(),
  error: z.unknown().optional(),
  skipped: z.unknown().optional(),
});
type JUnitCase = z.infer<typeof JUnitCase>;

interface JUnitSuite {
  '@name': string;
  '@file': string;
  testsuite: JUnitSuite[];
  testcase: JUnitCase[];
}
const JUnitSuite = z.object({
  '@name': JUnitText,
  '@file': JUnitText,
  testsuite: z.array(Suites).default([]),
  testcase: z.array(z.preprocess(elementOf, JUnitCase)).default([]),
});

const LISTS: ReadonlySet<string> = new Set(['testsuite', 'testcase']);

/** Parses JUnit XML of node:test, vitest, pytest and similar runners. Throws an Error for anything else. */
export function readJUnit(text: string): Outcomes {
  const outcomes = new Outcomes();
  const { cases, suites } = parseJUnit(text);
  for (const one of cases) addCase(one, [], '', outcomes);
  for (const suite of suites) addSuite(suite, [], '', outcomes);
  return outcomes;
}

/**
 * Parses the JUnit XML of vitest, and behind it the output of its reporter `json`. The XML says nothing about a test
 * that did not run or did not end, as about one that passed; such a test is failed. Times do not tell: up to version 1
 * they are whole milliseconds. Throws an Error for anything else, and if the two do not name the same tests.
 */
export function readVitest(text: string): Outcomes {
  const end = text.lastIndexOf(VITEST_END) + VITEST_END.length;
  const { suites } = parseJUnit(text.slice(0, end));
  const unfinished = unfinishedInVitest(text.slice(end));
  const byName = Map.groupBy(unfinished, ({ titles }) => lettersOf(titles.join()));
  const found = new Set<unknown>();
  const outcomes = new Outcomes();
  // Paths in the XML begin at vitest's root, those in the JSON at that of the machine.
  const pathOf = (path: string): string => `/${path.replace(/^(?:\.\.\/)+/, '')}`;
  const paths = suites.flatMap((suite) => [
    suite['@name'],
    ...suite.testcase.map((one) => one['@classname']),
  ]);
  const longestFirst = [...new Set(paths.map(pathOf))].toSorted((a, b) => b.length - a.length);
  const files = [...new Set(unfinished.map(({ file }) => file))];
  const pathIn = new Map(files.map((file) => [file, longestFirst.find((path) => file.endsWith(path))]));
  const withEnd = (one: JUnitCase, suite: string): JUnitCase => {
    const own = byName.get(lettersOf(one['@name'])) ?? [];
    const ends = [one['@classname'], suite].map(pathOf);
    const same = own.filter(({ file }) => ends.some((path) => path === pathIn.get(file)));
    for (const test of same) found.add(test);
    return same.length === 0
      ? one
      : { ...one, error: one.error ?? one.failure ?? 'It did not run to its end.' };
  };
  for (const suite of suites) {
    const testcase = suite.testcase.map((one) => withEnd(one, suite['@name']));
    addSuite({ ...suite, testcase }, [], '', outcomes);
  }
  if (found.size < unfinished.length) throw new Error('it does not name all tests that did not run');
  return outcomes;
}

const VITEST_END = '</testsuites>\n';
/** The XML lacks control characters and more. */
const lettersOf = (title: string): string => title.replace(/[^\p{L}\p{N}]+/gu, '');

const ReportFile = z.tuple([z.string(), z.string()]);
/** Below a module, whose own path may contain a `build` or `target`, too. */
const REPORT_FOLDERS =
  /(?:^|\/)(?:target\/(?:surefire|failsafe)-reports|build\/test-results|[^/]+\/meson-logs)\/.*$/s;

/**
 * Parses report files of Surefire, Gradle or meson, given as one JSON array of path and text per line: their names
 * begin with the module's folder, unless it is the top. Throws an Error if there is none, or if one cannot be parsed.
 */
export function readJUnitFiles(lines: string): Outcomes {
  const outcomes = new Outcomes();
  const files = lines
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [ReportFile.parse(JSON.parse(line))]));
  if (files.length === 0) throw new Error('there is no file');
  for (const [path, text] of files) {
    const module = path.replace(REPORT_FOLDERS, '');
    const { suites } = parseJUnit(text);
    for (const suite of suites)
      for (const one of suite.testcase) {
        outcomes.add(
          [module, one['@classname'] || suite['@name'], one['@name']],
          junitOutcome(one),
          messageOf(one),
        );
      }
  }
  return outcomes;
}

function parseJUnit(text: string): {
  readonly cases: readonly JUnitCase[];
  readonly suites: readonly JUnitSuite[];
} {
  // A document type is the only way to define entities; no runner writes one.
  if (/^[^<]*(?:<\?[^>]*>[^<]*|<!--[\s\S]*?-->[^<]*)*<!DOCTYPE/i.test(text.slice(0, 4_096))) {
    throw new Error('it has a document type');
  }
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    parseAttributeValue: false,
    parseTagValue: false,
    processEntities: {
      enabled: true,
      maxEntityCount: 0,
      maxTotalExpansions: 10_000_000,
      maxExpandedLength: 64 * 2 ** 20,
    },
    htmlEntities: true,
    maxNestedTags: MAX_SUITE_DEPTH,
    stopNodes: ['*.system-out', '*.system-err', '*.failure', '*.error', '*.properties'],
    isArray: (name) => LISTS.has(name),
  });
  const root = z
    .object({
      testsuites: z.preprocess(elementOf, JUnitSuite.partial()).optional(),
      testsuite: z.array(Suites).optional(),
    })
    .safeParse(parser.parse(text, true));
  if (!root.success || (root.data.testsuites === undefined && root.data.testsuite === undefined)) {
    throw new Error('it has no <testsuites>');
  }
  const top = root.data.testsuites ?? {};
  return {
    cases: top.testcase ?? [],
    suites: [...(top.testsuite ?? []), ...(root.data.testsuite ?? [])],
  };
}

function addSuite(suite: JUnitSuite, above: readonly string[], file: string, outcomes: Outcomes): void {
  const path = [...above, suite['@name']];
  const own = suite['@file'] || file;
  for (const one of suite.testcase) addCase(one, path, own, outcomes);
  for (const inner of suite.testsuite) addSuite(inner, path, own, outcomes);
}

function addCase(one: JUnitCase, suites: readonly string[], suiteFile: string, outcomes: Outcomes): void {
  const file = relativePath(one['@file'] || suiteFile || fileLike(one['@classname']));
  const within = suites.map(relativePath).filter((name) => name !== file && name !== 'pytest');
  const inClass = within.length === 0 ? classOf(one['@classname'], file) : [];
  outcomes.add([file, ...within, ...inClass, relativePath(one['@name'])], junitOutcome(one), messageOf(one));
}

/** vitest writes the file's path in the attribute for the class. */
const fileLike = (name: string): string => (/[/\\]|\.[cm]?[jt]sx?$|\.(?:vue|svelte)$/.test(name) ? name : '');

/** pytest's `tests.test_a.TestX` in tests/test_a.py is the class TestX; node:test says `test` for no class. */
function classOf(name: string, file: string): readonly string[] {
  if (name === '' || name === 'test' || relativePath(name) === file) return [];
  const module = file.replace(/\.\w+$/, '').replaceAll('/', '.');
  if (name === module) return [];
  return [module !== '' && name.startsWith(`${module}.`) ? name.slice(module.length + 1) : name];
}

/** The parser does not parse the text of these elements, only their attributes. */
const Failure = z.object({ '@message': JUnitText, '#text': z.string().catch('') });

/** What stands in `<skipped>` counts only if the test counts as failed. */
const messageOf = (one: JUnitCase): string =>
  [one.failure, one.error, one.skipped].flatMap(failureTexts).join('\n');

/** Message and text of all elements of a kind. */
function failureTexts(element: unknown): readonly string[] {
  if (Array.isArray(element)) return element.slice(0, 3).flatMap(failureTexts);
  if (typeof element === 'string') return [unescaped(element)];
  const found = Failure.safeParse(element);
  return found.success ? [found.data['@message'], unescaped(found.data['#text'])] : [];
}

const XML_ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };
const XML_TEXT = /<!\[CDATA\[([\s\S]*?)\]\]>|&(lt|gt|quot|apos|amp);|&#(\d{1,7}|x[\da-f]{1,6});/gi;

/** Text of XML, with its sections of character data and its entities resolved. */
const unescaped = (text: string): string =>
  text.replace(XML_TEXT, (whole, section?: string, name?: string, code?: string) => {
    if (section !== undefined) return section;
    if (name !== undefined) return XML_ENTITIES[name] ?? whole;
    const point = Number(code?.replace(/^x/i, '0x'));
    return point > 0 && point <= 0x10_ff_ff ? String.fromCodePoint(point) : whole;
  });

/**
 * A test marked as to-do may fail: it counts as skipped, as in the runner's own count. CMake's ctest marks a test that
 * it could not start like one that was skipped, and counts it as failed; a disabled one it marks by its status alone.
 */
function junitOutcome(one: JUnitCase): TestOutcome {
  if (one['@status'] === 'disabled') return 'skipped';
  if (one.skipped !== undefined) {
    const [why = ''] = failureTexts(one.skipped);
    return one['@status'] === 'notrun' && !/^(?:SKIP_|$)/.test(why) ? 'failed' : 'skipped';
  }
  return one.failure !== undefined || one.error !== undefined ? 'failed' : 'passed';
}
