import { z } from 'zod';
import type { IndependentTestOrigin } from '../evidence/index.ts';
import { importsOf } from './custom.ts';
import type { IndependentTest } from './independent-test.ts';

/** The context in which a generated test is validated. */
export interface AcceptanceContext {
  readonly origin: Exclude<IndependentTestOrigin, 'issue' | 'reviewer'>;
  /** Paths for the tests, in their order. */
  readonly paths: readonly string[];
  /** Texts that define the requirements: quotes must occur in one of them. */
  readonly requirements: readonly string[];
  readonly baseFiles: readonly string[];
  /** The test file that the writer was shown as an example: names in it are known. */
  readonly example: string;
  /** Texts of base files that the tests import from, by path. */
  readonly imported: Readonly<Record<string, string>>;
}

export interface AcceptedTests {
  readonly tests: readonly IndependentTest[];
  /** Tests that are not executed, with one sentence each for people. */
  readonly rejected: readonly { readonly title: string; readonly because: string }[];
}

/** Assigns each generated test a path, and rejects tests that are not worth executing. */
export function acceptTests(written: readonly WrittenTest[], context: AcceptanceContext): AcceptedTests {
  const tests: IndependentTest[] = [];
  const rejected: { title: string; because: string }[] = [];
  const seen = new Set<string>();
  const shown = [...context.requirements, context.example];
  const known = new Set(shown.flatMap((text) => [...identifiersIn(text)]));
  for (const [i, one] of written.entries()) {
    const path = context.paths[i];
    const because =
      path === undefined
        ? 'No folder accepts another test file.'
        : rejectionReason(one, path, context, known, seen);
    if (path === undefined || because !== null) {
      rejected.push({ title: one.title, because: because ?? '' });
      continue;
    }
    tests.push(independentTestFrom(one, path, context.origin, i + 1));
    seen.add(normalizedTest(one.file));
  }
  return { tests, rejected };
}

const independentTestFrom = (
  one: WrittenTest,
  path: string,
  origin: AcceptanceContext['origin'],
  number: number,
): IndependentTest => ({
  id: `${origin}-${number}`,
  origin,
  path,
  text: one.file,
  onBase: one.now,
  votes: 'file',
  title: one.title,
  quote: one.quote,
  ...(one.why.trim() === '' ? {} : { why: one.why }),
});

function rejectionReason(
  one: WrittenTest,
  path: string,
  context: AcceptanceContext,
  known: ReadonlySet<string>,
  seen: ReadonlySet<string>,
): string | null {
  const fault = fileProblem(one.file);
  if (fault) return `Its file ${fault}.`;
  if (seen.has(normalizedTest(one.file))) return 'It is identical to another test.';
  if (!isQuoted(one.quote, context.requirements))
    return 'The words that it is based on do not occur in the task.';
  const invented = inventedNames(path, one.file, context, known);
  return invented.length === 0
    ? null
    : `It uses names that occur neither in the task nor in the code: ${invented.slice(0, 5).join(', ')}.`;
}

/** Exports that a file's own text does not list: those of another file, or of the result of a call. */
const HIDDEN_EXPORTS =
  /^\s*export\s*\*|\bimport\s+\*|\bmodule\.exports\s*=\s*(?:require\b|[\w$.]{1,100}\s*\()/m;
/** `module.exports = lib;`, where another statement gives `lib` exports of another file. */
const EXPORTED_NAME = /\bmodule\.exports\s*=\s*([\w$]{1,100})\s*(?:;|$)/m;

function hidesExports(text: string): boolean {
  if (HIDDEN_EXPORTS.test(text)) return true;
  const name = EXPORTED_NAME.exec(text)?.[1]?.replaceAll('$', '\\$');
  if (name === undefined) return false;
  return RegExp(`(?:^|[^\\w$.])${name}\\s*=\\s*require\\b|\\bObject\\.assign\\(\\s*${name}\\s*,`).test(text);
}

/** A test must not invent a name for code yet to be written, because candidates could not know it. */
function inventedNames(
  path: string,
  file: string,
  { baseFiles, imported }: AcceptanceContext,
  known: ReadonlySet<string>,
): readonly string[] {
  return importsOf(path, file, baseFiles).flatMap(({ names, paths }) => {
    const from = paths.find((each) => Object.hasOwn(imported, each));
    const text = from === undefined ? '' : (imported[from] ?? '');
    if (hidesExports(text)) return [];
    const words = identifiersIn(text);
    const isModule = (name: string) =>
      paths.some((each) => {
        const at = `${each.replace(/(?:\/__init__)?\.py$/, '')}/${name}`;
        return baseFiles.some((known) => known === `${at}.py` || known.startsWith(`${at}/`));
      });
    return names.filter((name) => !words.has(name) && !known.has(name) && !isModule(name));
  });
}

/** Base files whose text `accept` needs: those that the tests import. */
export function importedFiles(
  written: readonly WrittenTest[],
  places: readonly string[],
  baseFiles: readonly string[],
): readonly string[] {
  const known = new Set(baseFiles);
  const paths = written.flatMap((one, i) =>
    importsOf(places[i] ?? '', one.file, baseFiles).flatMap((each) => each.paths),
  );
  return [...new Set(paths)].filter((path) => known.has(path));
}

/** Why a generated file is rejected, as a clause; null if accepted. Its behaviour is contained by the sandbox. */
export function fileProblem(file: string): string | null {
  if (file.trim() === '') return 'is empty';
  if (file.includes('\0')) return 'holds a NUL';
  if (!file.isWellFormed()) return 'is not valid Unicode';
  return new TextEncoder().encode(file).length > MAX_TEST_BYTES
    ? `has more than ${MAX_TEST_BYTES} bytes`
    : null;
}

/** Shorter quotes occur in any text. */
const MIN_QUOTE_CHARS = 6;

/**
 * Whether a quote occurs in one of the texts. Ignores white space, letter case and emphasis marks; omissions may be
 * marked by `…` or `...`, and all parts must occur in the same text.
 */
export function isQuoted(quote: string, texts: readonly string[]): boolean {
  const parts = quote
    .split(/…|\.{3,}/)
    .map(normalizedQuote)
    .filter((part) => part !== '');
  const length = parts.reduce((total, part) => total + part.length, 0);
  return (
    length >= MIN_QUOTE_CHARS &&
    texts.map(normalizedQuote).some((text) => parts.every((part) => text.includes(part)))
  );
}

const normalizedQuote = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/[`*_>]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^["']+|["'.]+$/g, '');

/** Identical tests are one vote: compares texts without trailing white space and empty lines. */
const normalizedTest = (file: string): string =>
  file
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');

/** Maximum tests that a writer may submit; 6 to 8 are requested (selection notes, S4). */
export const MAX_WRITTEN_TESTS = 8;
/** Maximum UTF-8 bytes of one test file. Default. */
const MAX_TEST_BYTES = 20_000;

/** One test file as submitted by a model. The model does not choose its path (I6). */
export const WrittenTest = z.object({
  title: z.string().min(1).max(200).describe('What the test checks, in one line.'),
  quote: z
    .string()
    .min(1)
    .max(1_000)
    .describe('The words of the task or the brief, copied exactly, that the expected result rests on.'),
  why: z.string().max(600).describe('Why these words mean this expected result. Empty when it is plain.'),
  now: z
    .enum(['fails', 'passes'])
    .describe(
      'What the test does on the code as it is now: `fails` for what is asked for, `passes` for what must stay as it is.',
    ),
  file: z.string().min(1).max(MAX_TEST_BYTES).describe('The whole text of the test file.'),
});
export type WrittenTest = z.infer<typeof WrittenTest>;

const note = z.string().max(600).describe('What could not be tested and why. Empty when nothing.');

/** The answer of the writer of independent tests. */
export const WrittenTests = z.object({
  tests: z.array(WrittenTest).max(MAX_WRITTEN_TESTS).describe('In the order of the paths given.'),
  note,
});
export type WrittenTests = z.infer<typeof WrittenTests>;

/** The answer of the writer of a distinguishing test. */
export const DistinguishingTest = z.object({
  test: WrittenTest.nullable().describe('Null when the brief does not say which behaviour is right.'),
  note,
});
export type DistinguishingTest = z.infer<typeof DistinguishingTest>;

/** Lines with declarations that other files can use, by language. Enough to find names, without parsing. */
const DECLARATION_LINES: Readonly<Record<string, RegExp>> = {
  js: /^(?:export\s+(?:default\s+)?(?:declare\s+)?(?:async\s+)?(?:function|class|const|let|var|interface|type|enum|abstract)\b|export\s*[{*]|module\.exports\b|exports\.\w+\s*=)/,
  py: /^(?: {4})?(?:async\s+)?(?:def\s+[a-zA-Z]|class\s+\w)/,
  go: /^(?:func\s+(?:\([^)]*\)\s*)?[A-Z]|type\s+[A-Z])/,
  rs: /^\s*pub\s+(?:async\s+)?(?:fn|struct|enum|trait|type|const)\b/,
  java: /^\s*public\s/,
  rb: /^\s*(?:def\s+\w|class\s+\w|module\s+\w)/,
  php: /^\s*(?:(?:public|static|final|abstract)\s+)*(?:function\s+\w|class\s+\w|interface\s+\w)/,
};
const LANGUAGE_OF_EXTENSION: Readonly<Record<string, string>> = {
  js: 'js',
  mjs: 'js',
  cjs: 'js',
  jsx: 'js',
  ts: 'js',
  mts: 'js',
  cts: 'js',
  tsx: 'js',
  py: 'py',
  go: 'go',
  rs: 'rs',
  rb: 'rb',
  php: 'php',
  java: 'java',
  kt: 'java',
  cs: 'java',
  scala: 'java',
};
const MAX_DECLARATION_CHARS = 160;
/** Maximum lines of one file. Default. */
const MAX_DECLARATIONS = 60;

/** Declarations of a source file as written, truncated; empty for an unknown language. */
export function declarationsOf(path: string, text: string): readonly string[] {
  const declares = DECLARATION_LINES[LANGUAGE_OF_EXTENSION[path.slice(path.lastIndexOf('.') + 1)] ?? ''];
  if (!declares) return [];
  return text
    .split('\n')
    .filter((line) => declares.test(line.slice(0, 400)))
    .slice(0, MAX_DECLARATIONS)
    .map((line) => line.trim().slice(0, MAX_DECLARATION_CHARS));
}

/** Whether the declaration syntax of this language is known. */
export const knowsDeclarations = (path: string): boolean =>
  Object.hasOwn(LANGUAGE_OF_EXTENSION, path.slice(path.lastIndexOf('.') + 1));

/** Words of a text, for checking which names occur in it. */
const identifiersIn = (text: string): ReadonlySet<string> => new Set(text.match(/[\w$]+/g) ?? []);
