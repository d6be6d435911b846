import { isTestNamed, matchesAny, type Patch, type PatchFile } from '../patches/index.ts';
import { grammarOf, NO_SYNTAX_TREES, type SyntaxTrees } from '../source/index.ts';
import {
  attributeTricks,
  baseTextOf,
  type Change,
  changedRunner,
  changedSupport,
  comparedTests,
  EXPECTATION_KINDS,
  excerpt,
  exportedLibraries,
  firstChange,
  holdsTests,
  type InspectedFile,
  ignoredTests,
  inspectFile,
  isCode,
  isStillRun,
  isSupport,
  parsedFiles,
  readableFiles,
  readTests,
  SEVERITY_OF_KIND,
  type Suspicion,
  setVariables,
  shadowingFile,
  suspiciousCode,
  type TamperingFinding,
  type TamperingKind,
  type TestView,
  testNameStyle,
  unreadCode,
  wholeFileChanges,
} from './integrity/index.ts';
import { changedParts } from './watched.ts';

export interface TamperingOptions {
  /** Parsed texts of the files that `sourcesOf` names; by default none, and tests are then compared by lines only. */
  readonly syntax?: SyntaxTrees;
  /** Globs of test files that the brief says must change. Changed expectations in them are notes. */
  readonly declared?: readonly string[];
  /** Paths of all files of the base commit; used to check ignore rules against its tests. */
  readonly baseFiles?: readonly string[];
  /** Production files known to be used by tests only; files that define assertions are detected anyway. */
  readonly support?: readonly string[];
}

/**
 * Kinds of change that a brief can declare. Skips, exit tricks, test detection and changes of the runner are never
 * excused.
 */
const DECLARABLE: ReadonlySet<TamperingKind> = new Set([
  'test-deleted',
  'assertion-removed',
  'assertion-weakened',
  'expectation-changed',
  'snapshot-changed',
  'fixture-changed',
]);

/**
 * All places where a patch tampers with its own examination, or may do so, in the order of the files. The examination
 * uses base versions of test files in any case; a finding means that the published patch may weaken the tests, or that
 * its production code may detect them. `baseTexts` holds base texts by path for the files that
 * `filesToCompare` names; without them findings rely on hunks alone.
 */
export function findTampering(
  patch: Patch,
  baseTexts: Readonly<Record<string, string>>,
  options: TamperingOptions = {},
): readonly TamperingFinding[] {
  const parsed = parsedFiles(patch, baseTexts);
  // Another file with the same text has a tree, too, but reading it takes as long.
  const treesOf = (file: PatchFile) => (parsed.has(file) && options.syntax) || NO_SYNTAX_TREES;
  const files = patch.files.map((file) => inspectFile(file, baseTextOf(file, baseTexts), treesOf(file)));
  const moves = movedLines(files);
  const exports = exportedLibraries(files);
  const readable = readableFiles(files);
  const tests = compareTestFiles(files, options.baseFiles ?? []);
  return files.flatMap((inspected) => {
    const { file } = inspected;
    const own = tests.compared.filter((one) => one.file === file).flatMap(({ suspicions }) => suspicions);
    const unread = unreadTests(inspected);
    const isKnown = matchesAny(options.support ?? [], file.path);
    const rests = isKnown || isSupport(inspected) || isFixture(file);
    const all = [
      ...changedRunner(inspected),
      ...changedManifestParts(inspected),
      ...attributeTricks(inspected),
      ...ignoredTests(inspected, options.baseFiles ?? []),
      ...shadowingFile(inspected),
      ...setVariables(inspected),
      ...wholeFileChanges(inspected, own, moves.added),
      ...own,
      ...unread,
      ...(rests && !tests.held.has(file) && unread.length === 0
        ? changedSupport(inspected, (text) => moves.added.has(text), isKnown)
        : []),
      ...(readable.has(file) ? suspiciousCode(inspected, moves.isMoved, exports) : []),
      ...(unread.length > 0 ? [] : unreadCode(inspected, readable, options.syntax !== undefined)),
    ];
    return withoutDuplicates(all).map((one) => findingOf(inspected, one, options));
  });
}

/**
 * Compares test files and production files with tests, all together, so that what moves between them is not missing.
 */
function compareTestFiles(
  all: readonly InspectedFile[],
  baseFiles: readonly string[],
): {
  readonly compared: ReturnType<typeof comparedTests>;
  /** Files that contain tests, unlike data and helpers. */
  readonly held: ReadonlySet<PatchFile>;
} {
  const files = all.filter(
    ({ file }) =>
      (file.role === 'test' && !file.binary && file.change !== 'type-changed') || holdsTests(file),
  );
  const views = files.flatMap(readTests);
  const held = new Set(
    views
      .filter(
        ({ file, inspected, before, after }) =>
          holdsTests(file) ||
          isTestNamed(file.path) ||
          before.tests.length + after.tests.length > 0 ||
          (inspected.baseText === undefined && before.assertions.length > 0),
      )
      .map(({ file }) => file),
  );
  const styles = new Set(
    [
      ...files.filter(({ file }) => file.change !== 'added').map(({ file }) => file.path),
      ...baseFiles.filter(isTestNamed),
    ].map(testNameStyle),
  );
  const compared = comparedTests(
    views.filter(({ file }) => held.has(file)),
    (view) => isStillRun(view, styles),
  );
  return { compared, held };
}

/** Test files whose tests cannot be identified; a finding reports that their changes are unknown. */
function unreadTests(inspected: InspectedFile): readonly Suspicion[] {
  const { file } = inspected;
  if (file.role !== 'test' || file.binary || file.change !== 'modified') return [];
  const views = readTests(inspected);
  const wholeFile = { at: firstChange(inspected), whole: true } as const;
  const becameUnreadable = ({ before, after }: TestView) =>
    before.tests.length + before.assertions.length > 0 && !after.side.tree && /\w/.test(after.side.code);
  if (views.some(becameUnreadable))
    return [
      {
        kind: 'test-deleted',
        what: 'the tests of a file are now too long or too deeply nested to analyse',
        ...wholeFile,
        severity: 'gate',
      },
    ];
  const isKnown = views.some(({ before }) => before.tests.length + before.assertions.length > 0);
  // Without a grammar a helper cannot be distinguished from a test.
  const isTest = isTestNamed(file.path) || (isCode(inspected) && grammarOf(file.path) === null);
  return isKnown || !isTest
    ? []
    : [
        {
          kind: 'fixture-changed',
          what: 'a test file whose tests cannot be compared was changed',
          ...wholeFile,
          severity: 'question',
        },
      ];
}

/** Data and code next to the tests, in test folders. */
const isFixture = (file: PatchFile): boolean =>
  file.role === 'test' && !file.binary && file.change === 'modified' && !isTestNamed(file.path);

interface Moves {
  /** Trimmed lines that some file of the patch adds. */
  readonly added: ReadonlySet<string>;
  /** Whether this added line is removed elsewhere in the patch. Each removed line can be used once. */
  readonly isMoved: (text: string) => boolean;
}

function movedLines(files: readonly InspectedFile[]): Moves {
  const lines = files.filter(({ file }) => file.role !== 'runner').flatMap(({ changes }) => changes);
  const of = (kind: Change['line']['kind']) =>
    lines.filter(({ line }) => line.kind === kind).map(({ line }) => line.text.trim());
  const removed = new Map<string, number>();
  for (const text of of('removed')) removed.set(text, (removed.get(text) ?? 0) + 1);
  const isMoved = (text: string) => {
    const left = removed.get(text.trim()) ?? 0;
    removed.set(text.trim(), left - 1);
    return left > 0;
  };
  return { added: new Set(of('added')), isMoved };
}

function changedManifestParts(inspected: InspectedFile): readonly Suspicion[] {
  return changedParts(inspected.file, inspected.baseText).map(({ name, severity }) => ({
    kind: 'runner-configured',
    what: `it controls how tests or the build run, and this part was changed: ${name}`,
    at: firstChange(inspected),
    whole: true,
    severity,
  }));
}

/** Reports each finding once per place. */
function withoutDuplicates(all: readonly Suspicion[]): readonly Suspicion[] {
  const seen = new Set<string>();
  return all.filter(({ kind, what, at, whole }) => {
    const key = `${kind} ${what} ${whole ? '' : `${at?.line.kind} ${at?.line.line}`}`;
    return seen.has(key) ? false : seen.add(key);
  });
}

/** Maximum characters of a change that is compared with those of others. Default. */
const MAX_CHANGE_CHARS = 4_000;

const changedText = ({ changes }: InspectedFile): string =>
  changes
    .filter(({ line }) => line.kind !== 'context')
    .map(({ line }) => `${line.kind} ${line.text.replaceAll(/\s+/g, '')}`)
    .join('\n');

/** Maximum tests named by one finding: one that affects more counts for the whole file. Default. */
const MAX_TESTS_NAMED = 50;

function findingOf(
  inspected: InspectedFile,
  suspicion: Suspicion,
  { declared = [] }: TamperingOptions,
): TamperingFinding {
  const { file } = inspected;
  const { kind, what, at, whole = false, tests = [] } = suspicion;
  const { severity = SEVERITY_OF_KIND[kind] } = suspicion;
  const change = EXPECTATION_KINDS.has(kind) ? (suspicion.change ?? changedText(inspected)) : null;
  const isDeclared = severity === 'question' && DECLARABLE.has(kind) && matchesAny(declared, file.path);
  return {
    kind,
    path: file.path,
    ...(at && !whole ? { line: at.line.line } : {}),
    what,
    ...(at ? { hunk: excerpt(at.hunk, at.hunk.lines.indexOf(at.line)) } : {}),
    ...(tests.length > 0 && tests.length <= MAX_TESTS_NAMED ? { tests: [...new Set(tests)] } : {}),
    ...(change !== null && change.length <= MAX_CHANGE_CHARS ? { change } : {}),
    // That a file must change does not say that it may go.
    severity: isDeclared && !(whole && kind === 'test-deleted') ? 'note' : severity,
    ...(isDeclared ? { declared: true, settled: 'The brief says that this file must change.' } : {}),
  };
}

export {
  type PatchTexts,
  SEVERITIES,
  type Severity,
  sourcesOf,
  TAMPERING_KINDS,
  type TamperingFinding,
  type TamperingKind,
} from './integrity/index.ts';
