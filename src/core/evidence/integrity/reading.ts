import type { Patch, PatchFile } from '../../patches/index.ts';
import { grammarOf } from '../../source/index.ts';
import type { Suspicion } from './finding.ts';
import { firstChange, type InspectedFile, type PatchTexts, textsToParse } from './view.ts';

/**
 * Maximum characters of all texts of a patch that are parsed, and of the lines in them that it changes. To read so many
 * takes about a second of the process that also answers webhooks; a person is asked about further files. Defaults.
 */
const MAX_PARSED_CHARS = 4 * 2 ** 20;
const MAX_CHANGED_CHARS = 200_000;
/** Maximum characters of changed lines that are read without a syntax tree, in all files of a patch. Default. */
const MAX_UNPARSED_CHARS = 100_000;

const changedChars = ({ hunks }: PatchFile): number =>
  hunks
    .flatMap(({ lines }) => lines)
    .reduce((sum, { kind, text }) => (kind === 'context' ? sum : sum + text.length), 0);

export const baseTextOf = (
  { path }: PatchFile,
  texts: Readonly<Record<string, string>>,
): string | undefined => (Object.hasOwn(texts, path) ? texts[path] : undefined);

/** Files of a patch that are parsed, with their texts: as many as the limits allow. Base tests come first. */
export function parsedFiles(
  patch: Patch,
  baseTexts: Readonly<Record<string, string>>,
): ReadonlyMap<PatchFile, PatchTexts> {
  const files = patch.files.filter(({ role, path }) => role !== 'runner' && grammarOf(path) !== null);
  const isOld = ({ role, change }: PatchFile) => role === 'test' && change !== 'added';
  const taken = new Map<PatchFile, PatchTexts>();
  let charsLeft = MAX_PARSED_CHARS;
  let changesLeft = MAX_CHANGED_CHARS;
  for (const file of [...files.filter(isOld), ...files.filter((one) => !isOld(one))]) {
    const changed = changedChars(file);
    if (changed > changesLeft) continue;
    const texts = textsToParse(file, baseTextOf(file, baseTexts));
    const length = [...texts.base, ...texts.patched].reduce((sum, { text }) => sum + text.length, 0);
    if (length > charsLeft) continue;
    charsLeft -= length;
    changesLeft -= changed;
    taken.set(file, texts);
  }
  return taken;
}

/**
 * Texts to parse for comparing the tests of a patch and reading its added code. Base tests come first, so that
 * additions of a patch cannot exhaust the limit.
 */
export function sourcesOf(patch: Patch, baseTexts: Readonly<Record<string, string>>): PatchTexts {
  const taken = [...parsedFiles(patch, baseTexts).values()];
  return { base: taken.flatMap(({ base }) => base), patched: taken.flatMap(({ patched }) => patched) };
}

/** Formats in which no program is written. */
const DATA = /\.(?:jsonl?|geojson|lock|sum|ya?ml|toml|csv|tsv|xml|svg|css|scss|less|po|\w*ignore)$/i;

/** Files whose code is read: with its syntax tree or, as far as the limit allows, without one. */
export function readableFiles(files: readonly InspectedFile[]): ReadonlySet<PatchFile> {
  let left = MAX_UNPARSED_CHARS;
  const isData = ({ file }: InspectedFile) => DATA.test(file.path);
  const inOrder = [...files.filter((one) => !isData(one)), ...files.filter(isData)];
  const found = inOrder.filter(({ file, views }) => {
    if (views.every(({ before, after }) => before.tree && after.tree)) return true;
    const length = changedChars(file);
    const fits = length <= left;
    if (fits) left -= length;
    return fits;
  });
  return new Set(found.map(({ file }) => file));
}

/**
 * A file that is not read, or only without a syntax tree although its language has a grammar: it may contain what no
 * rule has found. `isParsed`: the texts that `sourcesOf` names were parsed.
 */
export function unreadCode(
  inspected: InspectedFile,
  readable: ReadonlySet<PatchFile>,
  isParsed: boolean,
): readonly Suspicion[] {
  const { file, language, views } = inspected;
  const isCode = file.role !== 'runner' && language !== 'prose' && !DATA.test(file.path);
  if (!isCode || file.binary || file.change === 'deleted') return [];
  const hasTree = grammarOf(file.path) === null || views.every(({ after }) => after.tree !== null);
  if (readable.has(file) && (hasTree || !isParsed)) return [];
  const isTest = file.role === 'test';
  return [
    {
      kind: isTest ? 'fixture-changed' : 'environment-detected',
      what: `${isTest ? 'a test file' : 'production code'} is too long or too deeply nested to be read as a whole`,
      at: firstChange(inspected),
      whole: true,
      severity: 'question',
    },
  ];
}
