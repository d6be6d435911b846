import type { NeutralOrigin } from '../evidence/index.ts';
import { formFault, isQuoted, sameText } from './form.ts';
import { importsOf } from './imports.ts';
import { wordsOf } from './surface.ts';
import type { NeutralTest } from './types.ts';
import type { WrittenTest } from './written.ts';

/** What a written test is held against. */
export interface Ground {
  readonly origin: Exclude<NeutralOrigin, 'issue' | 'reviewer'>;
  /** Paths for the tests, in their order. */
  readonly places: readonly string[];
  /** Texts that say what is wanted: quotes must stand in one of them. */
  readonly wanted: readonly string[];
  readonly baseFiles: readonly string[];
  /** Texts of base files that the tests import from, by path. */
  readonly imported: Readonly<Record<string, string>>;
}

export interface Accepted {
  readonly tests: readonly NeutralTest[];
  /** Tests that are not executed, each with one sentence for people. */
  readonly left: readonly { readonly title: string; readonly because: string }[];
}

/** Gives each written test its place, and leaves out what is not worth executing. */
export function accept(written: readonly WrittenTest[], ground: Ground): Accepted {
  const tests: NeutralTest[] = [];
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

const placed = (one: WrittenTest, path: string, origin: Ground['origin'], number: number): NeutralTest => ({
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
