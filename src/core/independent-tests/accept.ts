import { z } from 'zod';
import type { IndependentTestOrigin } from '../evidence/index.ts';
import { importsOf } from './custom.ts';
import type { IndependentTest } from './types.ts';

/** What a written test is held against. */
export interface Ground {
  readonly origin: Exclude<IndependentTestOrigin, 'issue' | 'reviewer'>;
  /** Paths for the tests, in their order. */
  readonly places: readonly string[];
  /** Texts that say what is wanted: quotes must stand in one of them. */
  readonly wanted: readonly string[];
  readonly baseFiles: readonly string[];
  /** Texts of base files that the tests import from, by path. */
  readonly imported: Readonly<Record<string, string>>;
}

export interface Accepted {
  readonly tests: readonly IndependentTest[];
  /** Tests that are not executed, each with one sentence for people. */
  readonly left: readonly { readonly title: string; readonly because: string }[];
}

/** Gives each written test its place, and leaves out what is not worth executing. */
export function accept(written: readonly WrittenTest[], ground: Ground): Accepted {
  const tests: IndependentTest[] = [];
  const left: { title: string; because: string }[] = [];
  const seen = new Set<string>();
  const said = new Set(ground.wanted.flatMap((text) => [...wordsOf(text)]));
  for (const [i, one] of written.entries()) {
    const path = ground.places[i];
    const because = path === undefined ? 'There is no place for it.' : whyNot(one, path, ground, said, seen);
    if (path === undefined || because !== null) {
      left.push({ title: one.title, because: because ?? '' });
      continue;
    }
    tests.push(placed(one, path, ground.origin, i + 1));
    seen.add(sameText(one.file));
  }
  return { tests, left };
}

const placed = (
  one: WrittenTest,
  path: string,
  origin: Ground['origin'],
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

function whyNot(
  one: WrittenTest,
  path: string,
  ground: Ground,
  said: ReadonlySet<string>,
  seen: ReadonlySet<string>,
): string | null {
  const fault = formFault(one.file);
  if (fault) return `Its file ${fault}.`;
  if (seen.has(sameText(one.file))) return 'It is the same as another one.';
  if (!isQuoted(one.quote, ground.wanted)) return 'The words that it rests on do not stand in the task.';
  const invented = inventedNames(path, one.file, ground, said);
  return invented.length === 0
    ? null
    : `It uses names that neither the task nor the code has: ${invented.slice(0, 5).join(', ')}.`;
}

/** A test may not choose a name for what is yet to be written: candidates could not know it. */
function inventedNames(
  path: string,
  file: string,
  { baseFiles, imported }: Ground,
  said: ReadonlySet<string>,
): readonly string[] {
  return importsOf(path, file, baseFiles).flatMap(({ names, paths }) => {
    const from = paths.find((each) => Object.hasOwn(imported, each));
    const text = from === undefined ? '' : (imported[from] ?? '');
    // What it hands on cannot be told from its own text.
    if (/^\s*export\s*\*|\bimport\s+\*/m.test(text)) return [];
    const words = wordsOf(text);
    const isModule = (name: string) =>
      paths.some((each) => {
        const at = `${each.replace(/(?:\/__init__)?\.py$/, '')}/${name}`;
        return baseFiles.some((known) => known === `${at}.py` || known.startsWith(`${at}/`));
      });
    return names.filter((name) => !words.has(name) && !said.has(name) && !isModule(name));
  });
}

/** Base files whose text `accept` wants to see: what the tests import from. */
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

/** Why a written file is not laid at all, as a clause; null when it may be. What it does is the sandbox's matter. */
export function formFault(file: string): string | null {
  if (file.trim() === '') return 'is empty';
  if (file.includes('\0')) return 'holds a NUL';
  if (!file.isWellFormed()) return 'is not valid Unicode';
  return new TextEncoder().encode(file).length > MOST_BYTES ? `has more than ${MOST_BYTES} bytes` : null;
}

/** Shorter quotes stand in every text. */
const LEAST_QUOTED = 6;

/**
 * Does a quote really stand in one of the texts? White space, letter case and marks of emphasis do not count; parts
 * left out may be marked by `…` or `...`, each part must stand in the same text.
 */
export function isQuoted(quote: string, texts: readonly string[]): boolean {
  const parts = quote
    .split(/…|\.{3,}/)
    .map(plain)
    .filter((part) => part !== '');
  const length = parts.reduce((total, part) => total + part.length, 0);
  return (
    length >= LEAST_QUOTED && texts.map(plain).some((text) => parts.every((part) => text.includes(part)))
  );
}

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/[`*_>]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^["']+|["'.]+$/g, '');

/** The same test twice is one vote: text without white space at line ends and empty lines. */
const sameText = (file: string): string =>
  file
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');

/** Tests that a writer may hand in; 6 to 8 are asked for (selection notes, S4). */
export const MOST_TESTS = 8;
/** UTF-8 bytes of one test file. Our default. */
export const MOST_BYTES = 20_000;

/** One test file as a model hands it in. It says nothing about where the file stands (I6). */
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
  file: z.string().min(1).max(MOST_BYTES).describe('The whole text of the test file.'),
});
export type WrittenTest = z.infer<typeof WrittenTest>;

const note = z.string().max(600).describe('What could not be tested and why. Empty when nothing.');

/** What the writer of independent tests answers. */
export const WrittenTests = z.object({
  tests: z.array(WrittenTest).max(MOST_TESTS).describe('In the order of the paths given.'),
  note,
});
export type WrittenTests = z.infer<typeof WrittenTests>;

/** What the writer of a distinguishing test answers. */
export const DistinguishingTest = z.object({
  test: WrittenTest.nullable().describe('Null when the brief does not say which behaviour is right.'),
  note,
});
export type DistinguishingTest = z.infer<typeof DistinguishingTest>;

/** Lines that declare what other files can use, by language. Enough to name it: nothing is parsed. */
const DECLARES: Readonly<Record<string, RegExp>> = {
  js: /^(?:export\s+(?:default\s+)?(?:declare\s+)?(?:async\s+)?(?:function|class|const|let|var|interface|type|enum|abstract)\b|export\s*[{*]|module\.exports\b|exports\.\w+\s*=)/,
  py: /^(?: {4})?(?:async\s+)?(?:def\s+[a-zA-Z]|class\s+\w)/,
  go: /^(?:func\s+(?:\([^)]*\)\s*)?[A-Z]|type\s+[A-Z])/,
  rs: /^\s*pub\s+(?:async\s+)?(?:fn|struct|enum|trait|type|const)\b/,
  java: /^\s*public\s/,
  rb: /^\s*(?:def\s+\w|class\s+\w|module\s+\w)/,
  php: /^\s*(?:(?:public|static|final|abstract)\s+)*(?:function\s+\w|class\s+\w|interface\s+\w)/,
};
const LANGUAGE: Readonly<Record<string, string>> = {
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
const LONGEST_LINE = 160;
/** Lines of one file. Our default. */
const MOST_LINES = 60;

/** Declarations of a source file as they stand there, cut; empty for a language that is not known. */
export function surfaceOf(path: string, text: string): readonly string[] {
  const declares = DECLARES[LANGUAGE[path.slice(path.lastIndexOf('.') + 1)] ?? ''];
  if (!declares) return [];
  return text
    .split('\n')
    .filter((line) => declares.test(line.slice(0, 400)))
    .slice(0, MOST_LINES)
    .map((line) => line.trim().slice(0, LONGEST_LINE));
}

/** Whether we know how this language declares things. */
export const hasSurface = (path: string): boolean =>
  Object.hasOwn(LANGUAGE, path.slice(path.lastIndexOf('.') + 1));

/** Words of a text, to tell names that occur in it from those that do not. */
export const wordsOf = (text: string): ReadonlySet<string> => new Set(text.match(/[\w$]+/g) ?? []);
