import {
  type DiffLine,
  type Hunk,
  hunksOf,
  isSnapshot,
  type Patch,
  type PatchFile,
} from '../patches/index.ts';
import { isComment, languageOf } from './languages.ts';
import { suspicionOf } from './production-marks.ts';
import { countAsserts, declaresTest, focusesTest, skipsTest } from './test-marks.ts';
import { changedParts } from './watched.ts';

/** One place where a patch makes its own examination easier. */
export interface Finding {
  readonly path: string;
  /** 1-based, in the patched file; of a removed line, in the base. Absent where the whole file is meant. */
  readonly line?: number;
  /** What was done, as a clause. */
  readonly what: string;
  /** The lines around it, bounded. */
  readonly hunk?: string;
}

/**
 * All such places. Base versions of test files stand in during the examination anyway; a finding says that the
 * patch as it would be published weakens the tests, or that its production code tells tests from real use.
 */
export function findTampering(patch: Patch, baseTexts: Readonly<Record<string, string>>): readonly Finding[] {
  return patch.files.flatMap((file) => {
    const baseText = Object.hasOwn(baseTexts, file.path) ? baseTexts[file.path] : undefined;
    return [...wholeFile(file), ...partly(file, baseText), ...lineByLine(file)];
  });
}

function wholeFile(file: PatchFile): readonly Finding[] {
  const { path, change, role } = file;
  const found = (what: string): readonly Finding[] => [{ path, what, ...headOf(file) }];
  if (role === 'production') return [];
  if (isSnapshot(path)) {
    const onlyAdds = change === 'added' || (change === 'modified' && !file.binary && file.deletions === 0);
    return onlyAdds ? [] : found('a recorded snapshot was changed or removed');
  }
  if (role === 'runner') return found(`configuration of the tests or of CI was ${VERBS[change]}`);
  if (change === 'deleted') return found('a test file was removed');
  if (change === 'type-changed') return found('a test file became something else');
  return change === 'modified' && file.binary ? found('a binary file of the tests was changed') : [];
}

const VERBS = {
  added: 'added',
  modified: 'changed',
  deleted: 'removed',
  'type-changed': 'replaced',
} as const;

function partly(file: PatchFile, baseText: string | undefined): readonly Finding[] {
  return changedParts(file, baseText).map((part) => ({
    path: file.path,
    what: `it decides how tests or build run, and this part was changed: ${part}`,
    ...headOf(file),
  }));
}

interface Change {
  readonly line: DiffLine;
  readonly hunk: Hunk;
}

function lineByLine(file: PatchFile): readonly Finding[] {
  if (file.binary || file.role === 'runner' || file.change === 'deleted') return [];
  const language = languageOf(file.path);
  const changes = hunksOf(file)
    .flatMap((hunk) => hunk.lines.map((line) => ({ line, hunk })))
    .filter(({ line }) => line.kind !== 'context' && !isComment(line.text, language));
  const { added, removed } = withoutMoved(changes);
  if (file.role === 'test')
    return [...focused(file, added), ...(file.change === 'modified' ? weakened(file, added, removed) : [])];
  return [
    ...suspicious(file, added),
    ...(file.change === 'modified' ? (holdsTests(file) ? weakened : lost)(file, added, removed) : []),
  ];
}

/** Rust and some others keep unit tests inside production files. */
const holdsTests = (file: PatchFile): boolean =>
  languageOf(file.path) === 'rust' && /\bmod tests\b|#\[(?:\w+::)?test\b|#\[cfg\(test\)\]/.test(file.section);

/** A line that was removed in one place and stands unchanged in another is neither new nor lost. */
function withoutMoved(changes: readonly Change[]): { added: readonly Change[]; removed: readonly Change[] } {
  const removedTexts = new Map<string, number>();
  for (const { line } of changes) {
    if (line.kind === 'removed')
      removedTexts.set(line.text.trim(), (removedTexts.get(line.text.trim()) ?? 0) + 1);
  }
  const moved = new Map<string, number>();
  const added = changes.filter(({ line }) => {
    const text = line.text.trim();
    const left = line.kind === 'added' ? (removedTexts.get(text) ?? 0) - (moved.get(text) ?? 0) : 0;
    if (left > 0) moved.set(text, (moved.get(text) ?? 0) + 1);
    return line.kind === 'added' && left <= 0;
  });
  const removed = changes.filter(({ line }) => {
    const left = line.kind === 'removed' ? (moved.get(line.text.trim()) ?? 0) : 0;
    if (left > 0) moved.set(line.text.trim(), left - 1);
    return line.kind === 'removed' && left <= 0;
  });
  return { added, removed };
}

const focused = (file: PatchFile, added: readonly Change[]): readonly Finding[] =>
  first(added, (text) => focusesTest(text, file.path)).map((change) =>
    at(file, change, 'a test was focused, which silences the others'),
  );

function weakened(file: PatchFile, added: readonly Change[], removed: readonly Change[]): readonly Finding[] {
  const skips = (text: string) => skipsTest(text, file.path) && !focusesTest(text, file.path);
  const skipped = first(added, skips);
  const moreSkips = count(added, skips) > count(removed, skips);
  const asserts = sum(removed, countAsserts) - sum(added, countAsserts);
  const lostAssert = asserts > 0 ? first(removed, (text) => countAsserts(text) > 0) : [];
  return [
    ...(moreSkips
      ? skipped.map((change) => at(file, change, 'a test was skipped or marked as not to be done'))
      : []),
    ...lost(file, added, removed),
    ...lostAssert.map((change) =>
      at(
        file,
        change,
        `${asserts} ${asserts === 1 ? 'assertion was' : 'assertions were'} removed from a test`,
      ),
    ),
  ];
}

function lost(file: PatchFile, added: readonly Change[], removed: readonly Change[]): readonly Finding[] {
  const declares = (text: string) => declaresTest(text, file.path);
  const gone = count(removed, declares) - count(added, declares);
  if (gone <= 0) return [];
  const what = `${gone} ${gone === 1 ? 'test was' : 'tests were'} removed`;
  return first(removed, declares).map((change) => at(file, change, what));
}

/** At most this many are named of one file. */
const MOST_SUSPICIONS = 3;

function suspicious(file: PatchFile, added: readonly Change[]): readonly Finding[] {
  const found: Finding[] = [];
  for (const change of added) {
    const what = pieces(change.line.text)
      .map((piece) => suspicionOf(piece, file.path))
      .find((one) => one !== null);
    if (what) found.push(at(file, change, `production code ${what}`));
    if (found.length === MOST_SUSPICIONS) break;
  }
  return found;
}

const PIECE = 4_000;
const OVERLAP = 400;

/** A long line in overlapping pieces: our patterns take at worst the square of a piece's length. */
function pieces(text: string): readonly string[] {
  if (text.length <= PIECE) return [text];
  const count = Math.ceil((text.length - OVERLAP) / (PIECE - OVERLAP));
  return Array.from({ length: count }, (_, i) =>
    text.slice(i * (PIECE - OVERLAP), i * (PIECE - OVERLAP) + PIECE),
  );
}

const matches = (change: Change, test: (text: string) => boolean): boolean =>
  pieces(change.line.text).some(test);
const count = (changes: readonly Change[], test: (text: string) => boolean): number =>
  changes.filter((change) => matches(change, test)).length;
const sum = (changes: readonly Change[], measure: (text: string) => number): number =>
  changes.reduce(
    (total, change) => total + pieces(change.line.text).reduce((n, piece) => n + measure(piece), 0),
    0,
  );

function first(changes: readonly Change[], test: (text: string) => boolean): readonly Change[] {
  const found = changes.find((change) => matches(change, test));
  return found ? [found] : [];
}

const at = (file: PatchFile, { line, hunk }: Change, what: string): Finding => ({
  path: file.path,
  line: line.line,
  what,
  hunk: excerpt(hunk, hunk.lines.indexOf(line)),
});

const SIGNS = { context: ' ', added: '+', removed: '-' } as const;
const AROUND = 5;
const LONGEST_LINE = 200;

function excerpt(hunk: Hunk, index: number): string {
  const from = Math.max(0, index - AROUND);
  return hunk.lines
    .slice(from, index + AROUND + 1)
    .map((line) => SIGNS[line.kind] + line.text.slice(0, LONGEST_LINE))
    .join('\n');
}

function headOf(file: PatchFile): { hunk?: string } {
  const [hunk] = hunksOf(file);
  return hunk ? { hunk: excerpt(hunk, 0) } : {};
}
