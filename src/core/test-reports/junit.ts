import { XMLParser } from 'fast-xml-parser';
import { z } from 'zod';
import type { TestOutcome } from '../evidence/index.ts';
import { Outcomes, relativePath } from './outcomes.ts';

/** Maximum depth of nested `describe`; no real report is deeper. */
const MAX_SUITE_DEPTH = 60;

const JUnitText = z.string().catch('');
const Suites: z.ZodType<JUnitSuite> = z.lazy(() => JUnitSuite);

const JUnitCase = z.object({
  '@name': JUnitText,
  '@classname': JUnitText,
  '@file': JUnitText,
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
  testcase: z.array(JUnitCase).default([]),
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

const ReportFile = z.tuple([z.string(), z.string()]);

/**
 * Parses report files of Surefire or Gradle, given as one JSON array of path and text per line: their names begin
 * with the module's folder, unless it is the top. Throws an Error if there is none, or if one cannot be parsed.
 */
export function readJUnitFiles(lines: string): Outcomes {
  const outcomes = new Outcomes();
  const files = lines
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [ReportFile.parse(JSON.parse(line))]));
  if (files.length === 0) throw new Error('there is no file');
  for (const [path, text] of files) {
    const module = path.replace(/(?:^|\/)(?:target|build)\/.*$/s, '');
    const { suites } = parseJUnit(text);
    for (const suite of suites)
      for (const one of suite.testcase) {
        const message = [one.failure, one.error].flatMap(failureTexts).join('\n');
        outcomes.add([module, one['@classname'] || suite['@name'], one['@name']], junitOutcome(one), message);
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
      testsuites: z.union([z.literal(''), JUnitSuite.partial()]).optional(),
      testsuite: z.array(JUnitSuite).optional(),
    })
    .safeParse(parser.parse(text, true));
  if (!root.success || (root.data.testsuites === undefined && root.data.testsuite === undefined)) {
    throw new Error('it has no <testsuites>');
  }
  const top = root.data.testsuites === '' ? {} : (root.data.testsuites ?? {});
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
  const message = [one.failure, one.error].flatMap(failureTexts).join('\n');
  outcomes.add([file, ...within, ...inClass, relativePath(one['@name'])], junitOutcome(one), message);
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

/** Message and text of all `<failure>` and `<error>` elements. */
function failureTexts(element: unknown): readonly string[] {
  if (Array.isArray(element)) return element.slice(0, 3).flatMap(failureTexts);
  if (typeof element === 'string') return [unescaped(element)];
  const found = Failure.safeParse(element);
  return found.success ? [found.data['@message'], unescaped(found.data['#text'])] : [];
}

const XML_ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };
const unescaped = (text: string): string =>
  text.replace(/&(lt|gt|quot|apos|amp);/g, (_, name: string) => XML_ENTITIES[name] ?? '');

/** A test marked as to-do may fail: it counts as skipped, as in the runner's own count. */
function junitOutcome(one: JUnitCase): TestOutcome {
  if (one.skipped !== undefined) return 'skipped';
  return one.failure !== undefined || one.error !== undefined ? 'failed' : 'passed';
}
