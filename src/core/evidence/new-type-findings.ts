import type { PatchFile } from '../patches/index.ts';
import type { TypeFinding } from './evidence.ts';

/**
 * Parts of messages that change with code elsewhere: places (`line 7`, `a.go:4:2`, `a.ts(3,7)`), counts of what is not
 * listed, and the properties that TypeScript lists before it counts the rest.
 */
const MOVABLE_PARTS: readonly (readonly [RegExp, string])[] = [
  [/\b(lines?|columns?) \d+/gi, '$1'],
  [/(\.\w{1,10})(?::\d+){1,2}/g, '$1'],
  [/\(\d+,\s?\d+\)/g, '()'],
  [/(missing the following properties from type .{1,200}?'): .*/g, '$1'],
  [/\b\d+ (more|others?|errors?|overloads?)\b/gi, '$1'],
  [/\bOverload \d+ of \d+/g, 'Overload'],
];

const findingKey = (file: string, message: string): string =>
  JSON.stringify([
    file,
    MOVABLE_PARTS.reduce((text, [part, instead]) => text.replaceAll(part, instead), message),
  ]);

/**
 * The findings that the base lacks: lines move, so each file and message may occur as often as there. Also the number
 * of those that are gone. `files` are those that the candidate changes.
 */
export function newFindings(
  base: readonly TypeFinding[],
  own: readonly TypeFinding[],
  files: readonly PatchFile[],
): { readonly added: readonly TypeFinding[]; readonly gone: number } {
  const renamed = renamedFiles(files);
  const left = new Map<string, number>();
  for (const { file, message } of base) {
    const key = findingKey(file, message);
    left.set(key, (left.get(key) ?? 0) + 1);
  }
  const isAbsent = absentOnBase(base, files);
  const added = own.filter((one) => {
    const key = findingKey(formerName(one.file, renamed), one.message);
    const count = left.get(key) ?? 0;
    if (count > 0) left.set(key, count - 1);
    return count === 0 && !isAbsent(one);
  });
  return { added, gone: [...left.values()].reduce((sum, count) => sum + count, 0) };
}

/**
 * Messages about what is not installed where the check runs, by code: packages, their types, and the global names that
 * they declare. The second part is the name in question; none if the message follows from an absent package.
 */
const ABSENCES: readonly RegExp[] = [
  /^(?<code>TS(?:2307|7016|2688)): [^']*'(?<name>[^'.][^']*)'/,
  // Global names of test runners and of Node, for which TypeScript suggests to install their types.
  /^(?<code>TS(?:2580|2582|2584|2591|2592|2593)): [^']*'(?<name>[^']+)'/,
  /^(?<code>TS2304): Cannot find name '(?<name>describe|it|test|suite|expect|assert|vi|jest|(?:before|after)(?:Each|All)?|process|require|module|Buffer|global|__dirname|__filename)'/,
  /"(?<name>[^"]+)".*\[(?<code>import(?:-not-found|-untyped)?)\]$/,
  /"(?<name>[^"]+)".*\((?<code>reportMissing(?:Imports|ModuleSource|TypeStubs))\)$/,
  /^(?<code>Untyped decorator makes function|Class cannot subclass .* \(has type "Any"\))/,
];

function absenceOf(message: string): { readonly code: string; readonly key: string } | null {
  for (const form of ABSENCES) {
    const { code, name = '' } = form.exec(message)?.groups ?? {};
    if (code !== undefined) return { code, key: JSON.stringify([code, name]) };
  }
  return null;
}

/**
 * What is absent on the base is absent for each candidate: a new test file cannot find the test runner's types, either.
 * The same name counts everywhere, other names in added files only.
 */
function absentOnBase(
  base: readonly TypeFinding[],
  files: readonly PatchFile[],
): (one: TypeFinding) => boolean {
  const absences = base.flatMap(({ message }) => absenceOf(message) ?? []);
  const keys = new Set(absences.map(({ key }) => key));
  const codes = new Set(absences.map(({ code }) => code));
  const added = files.filter(({ change }) => change === 'added').map(({ path }) => path);
  return ({ file, message }) => {
    const absence = absenceOf(message);
    if (absence === null) return false;
    return keys.has(absence.key) || (codes.has(absence.code) && added.some((path) => namesPath(file, path)));
  };
}

/** pyright names files from the root. */
const namesPath = (file: string, path: string): boolean =>
  file === path || (file.startsWith('/') && file.endsWith(`/${path}`));

/** The share of an added file's lines that a deleted one had, from which on git calls it renamed. */
const RENAMED_SHARE = 0.5;

/** Deleted files by the added ones that most of their lines moved to. */
function renamedFiles(files: readonly PatchFile[]): ReadonlyMap<string, string> {
  const deleted = files.flatMap(({ change, path, hunks }) =>
    change === 'deleted' ? [{ path, lines: new Set(changedLines(hunks, 'removed')) }] : [],
  );
  const pairs = files.flatMap(({ change, path, hunks }) => {
    const lines = change === 'added' && deleted.length > 0 ? changedLines(hunks, 'added') : [];
    const shares = deleted.map((one) => ({
      path: one.path,
      share: lines.filter((line) => one.lines.has(line)).length / lines.length,
    }));
    const [best] = shares.toSorted((a, b) => b.share - a.share);
    return lines.length > 0 && best && best.share >= RENAMED_SHARE ? [[path, best.path] as const] : [];
  });
  return new Map(pairs);
}

const changedLines = (hunks: PatchFile['hunks'], kind: 'added' | 'removed'): readonly string[] =>
  hunks.flatMap(({ lines }) =>
    lines.flatMap((line) => (line.kind === kind && /\w/.test(line.text) ? [line.text.trim()] : [])),
  );

/** The file's name before the candidate renamed it. */
function formerName(file: string, renamed: ReadonlyMap<string, string>): string {
  for (const [path, former] of renamed)
    if (namesPath(file, path)) return file.slice(0, file.length - path.length) + former;
  return file;
}
