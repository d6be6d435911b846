import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A public repository, and a commit of its history that fixes something and tests it. The fix's parent is the base. */
export interface Listed {
  /** `owner/name`. */
  readonly name: string;
  readonly fix: string;
  readonly language: string;
  /**
   * Whether the fix was chosen by the rule of docs/repositories.md, before Runoff had run on it. The others were chosen by
   * hand, and rules of Runoff were changed after runs on some of them.
   */
  readonly byRule?: boolean;
}

export const readList = (): readonly Listed[] =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'list.json'), 'utf8')) as readonly Listed[];

export interface BenchCandidate {
  readonly name: 'sources' | 'sources-and-tests' | 'almost' | 'breaking';
  readonly patch: string;
}

/** Whether a candidate does what its fix does. */
export const isRight = (name: string): boolean => name === 'sources' || name === 'sources-and-tests';

const TEST =
  /(^|\/)(tests?|__tests__|specs?|testing)\/|[._-](test|spec)\.[cm]?[jt]sx?$|_(test|spec)\.(go|py|rs|rb)$|(^|\/)(test|spec)_?[^/]*\.(py|rb|[cm]?[jt]s)$|Test\.(java|php)$|(^|\/)conftest\.py$/;
const SOURCE = /\.(?:[cm]?[jt]sx?|py|go|rs|rb|java|php|[ch])$/;

export const git = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'advice.detachedHead=false', '-c', 'core.hooksPath=/dev/null', ...args], {
    cwd,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });

/** A clone whose history ends at the parent of the fix, without remotes. */
export function cloneBase(from: string, to: string, fix: string): void {
  git('/', 'clone', '-q', '--no-checkout', from, to);
  git(to, 'checkout', '-q', '-b', 'bench', `${fix}^`);
  git(to, 'remote', 'remove', 'origin');
  if (git(to, 'status', '--porcelain') !== '') throw new Error(`the clone of ${from} lacks files`);
}

/**
 * Four candidates: the fix without its tests, the fix with them, the fix with a mistake, and a change that throws in a
 * function that the fix touches. Null where no mistake fits.
 */
export function candidatesFor(repository: string, fix: string): readonly BenchCandidate[] | null {
  const paths = git(repository, 'diff', '--name-only', `${fix}^`, fix).trim().split('\n');
  const sources = paths.filter((path) => SOURCE.test(path) && !TEST.test(path));
  const [source] = sources;
  if (source === undefined) return null;
  const patchOf = (only: readonly string[]): string =>
    git(repository, 'diff', '--binary', '--full-index', `${fix}^`, fix, '--', ...only);
  const almost = mutated(repository, fix, sources);
  if (almost === null) return null;
  return [
    { name: 'sources', patch: patchOf(sources) },
    { name: 'sources-and-tests', patch: patchOf(paths) },
    { name: 'almost', patch: almost },
    { name: 'breaking', patch: withoutLine(repository, fix, source) },
  ];
}

/** Changes of one line as mistakes make them; the first that fits a line of the fix counts. */
const MISTAKES: readonly (readonly [RegExp, string])[] = [
  [/===/, '!=='],
  [/!==/, '==='],
  [/==(?!=)/, '!='],
  [/!=(?!=)/, '=='],
  [/ >= /, ' < '],
  [/ <= /, ' > '],
  [/ && /, ' || '],
  [/ \|\| /, ' && '],
  [/ and /, ' or '],
  [/ or /, ' and '],
  [/\bnot in\b/, 'in'],
  [/\bis not\b/, 'is'],
  [/\bif \(!/, 'if ('],
  [/\bif \((?=[^!])/, 'if (!'],
  [/\bif not\b/, 'if'],
  [/\bif (?=\w.*:$)/, 'if not '],
  [/ > /, ' <= '],
  [/ < /, ' >= '],
  [/ \+ 1\b/, ' + 2'],
  [/ - 1\b/, ' - 2'],
  [/\btrue\b/, 'false'],
  [/\bfalse\b/, 'true'],
  [/\bTrue\b/, 'False'],
  [/\bFalse\b/, 'True'],
  [/(?<!\.)\b0\b/, '1'],
  [/(?<!\.)\b1\b/, '2'],
];

/** Where none of those fits any line: these change more, and some compilers refuse them. */
const RARER_MISTAKES: typeof MISTAKES = [
  [/\b(\w+)\+\+/, '++$1'],
  [/([=\s])(\w+) \? /, '$1!$2 ? '],
  [/\braise \w.*/, 'pass'],
  [/(?<=[=(,] ?)(?!(?:if|for|while|switch|catch)\b)\w+\((\w+)\)/, '$1'],
];

const COMMENT = /^\s*(?:\/\/|\*|\/\*|#|"""|'''|import |from |require)/;
const TEXTS = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g;

/** A line with a mistake in it, outside of its texts in quotes; null if none fits. */
export function mistaken(line: string, mistakes = MISTAKES): string | null {
  if (COMMENT.test(line)) return null;
  const code = line.replace(TEXTS, (text) => '\u0000'.repeat(text.length));
  for (const [pattern, wrong] of mistakes) {
    const found = pattern.exec(code);
    if (!found) continue;
    const after = found.index + found[0].length;
    const changed = code.replace(pattern, wrong);
    const part = changed.slice(found.index, changed.length - (code.length - after));
    return line.slice(0, found.index) + part + line.slice(after);
  }
  return null;
}

/** The sources of a change in the history, without its tests, as a patch; empty for none. */
export function sourcesOf(repository: string, from: string, to: string): string {
  const paths = git(repository, 'diff', '--name-only', from, to).trim().split('\n');
  const sources = paths.filter((path) => SOURCE.test(path) && !TEST.test(path));
  return sources.length === 0 ? '' : git(repository, 'diff', '--no-ext-diff', from, to, '--', ...sources);
}

/** Beginning and end of what is said over several lines and not executed. */
const blockMarks = (path: string): readonly [string, string] =>
  path.endsWith('.py') ? ['"""', '"""'] : ['/*', '*/'];

/** Whether each line lies in a comment or docstring of several lines, or begins one. */
function inComment(lines: readonly string[], [begin, end]: readonly [string, string]): readonly boolean[] {
  let inside = false;
  return lines.map((line) => {
    const was = inside;
    for (let at = line.indexOf(inside ? end : begin); at >= 0; ) {
      inside = !inside;
      at = line.indexOf(inside ? end : begin, at + begin.length);
    }
    return was || inside;
  });
}

/**
 * The fix with a mistake in one line; where none fits, with two of its lines in the wrong order or with one of its changes
 * left out. Null where it has nothing of that kind: a text alone, for example.
 */
function mutated(repository: string, fix: string, sources: readonly string[]): string | null {
  const code = sources.filter(
    (path) => !/\.d\.ts$|(?:^|\/)(?:examples?|fuzz|docs?|bench(?:marks?)?)\//.test(path),
  );
  for (const wrongIn of [withMistake, withoutPart, outOfOrder]) {
    for (const path of code) {
      const wrong = wrongIn(repository, fix, path);
      if (wrong === null) continue;
      return patchTo(
        repository,
        fix,
        new Map([...sources.map((one) => [one, null] as const), [path, wrong]]),
      );
    }
  }
  return null;
}

/** Rust has tests at the end of its sources: the index of the line where they begin, or the number of lines. */
function endOfCode(lines: readonly string[], path: string): number {
  const tests = path.endsWith('.rs') ? lines.findLastIndex((line) => /^#\[cfg\(test\)\]/.test(line)) : -1;
  return tests < 0 ? lines.length : tests;
}

function withMistake(repository: string, fix: string, path: string): string | null {
  const lines = git(repository, 'show', `${fix}:${path}`).split('\n');
  const commented = inComment(lines, blockMarks(path));
  const end = endOfCode(lines, path);
  const added = addedLines(repository, fix, path).filter((at) => at < end && !commented[at]);
  for (const mistakes of [MISTAKES, RARER_MISTAKES])
    for (const at of added) {
      const changed = mistaken(lines[at] ?? '', mistakes);
      if (changed !== null) return lines.with(at, changed).join('\n');
    }
  return null;
}

/** The fix without its last change, where it changes a file at several places. */
function withoutPart(repository: string, fix: string, path: string): string | null {
  const before = git(repository, 'show', `${fix}^:${path}`).split('\n');
  const lines = git(repository, 'show', `${fix}:${path}`).split('\n');
  const end = endOfCode(lines, path);
  const hunks = changesOf(repository, fix, path).filter(({ to }) => to < end);
  const last = hunks.at(-1);
  if (last === undefined || hunks.length < 2) return null;
  return lines
    .toSpliced(last.to, last.added, ...before.slice(last.from, last.from + last.removed))
    .join('\n');
}

/** An added line of the fix after the line that follows it. */
function outOfOrder(repository: string, fix: string, path: string): string | null {
  const lines = git(repository, 'show', `${fix}:${path}`).split('\n');
  const statement = /^\s+\w[\w.]* = .+\)[;,]?$/;
  for (const at of addedLines(repository, fix, path)) {
    const [line = '', next = ''] = lines.slice(at, at + 2);
    if (statement.test(line) && statement.test(next)) return lines.toSpliced(at, 2, next, line).join('\n');
  }
  return null;
}

interface Change {
  /** Index of the first line that is removed, and of the first that is added. */
  readonly from: number;
  readonly removed: number;
  readonly to: number;
  readonly added: number;
}

function changesOf(repository: string, fix: string, path: string): readonly Change[] {
  const diff = git(repository, 'diff', '-U0', `${fix}^`, fix, '--', path);
  // A side without lines is named by the line before it.
  const start = (line: string, count: number): number => (count === 0 ? Number(line) : Number(line) - 1);
  return [...diff.matchAll(/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/gm)].map(
    ([, from = '0', removed = '1', to = '0', added = '1']) => ({
      from: start(from, Number(removed)),
      removed: Number(removed),
      to: start(to, Number(added)),
      added: Number(added),
    }),
  );
}

/** The fix's own lines, by index. */
const addedLines = (repository: string, fix: string, path: string): readonly number[] =>
  changesOf(repository, fix, path).flatMap(({ to, added }) =>
    Array.from({ length: added }, (_, n) => to + n),
  );

/** The base with the first statement of the file that looks like a `return` gone wrong. */
function withoutLine(repository: string, fix: string, path: string): string {
  const lines = git(repository, 'show', `${fix}^:${path}`).split('\n');
  const returns = lines.flatMap((line, at) => (/^\s+return\s+[^;{(]+;?\s*$/.test(line) ? [at] : []));
  const broken = lines.filter((_, at) => !returns.slice(0, 3).includes(at) || returns.length === 0);
  return patchTo(
    repository,
    fix,
    new Map([
      [
        path,
        broken.length < lines.length
          ? broken.join('\n')
          : `${lines.slice(0, -Math.ceil(lines.length / 3)).join('\n')}\n`,
      ],
    ]),
  );
}

/** The patch from the base to the base with these files; a null text is the fix's. */
function patchTo(repository: string, fix: string, files: ReadonlyMap<string, string | null>): string {
  for (const [path, text] of files) {
    mkdirSync(join(repository, path, '..'), { recursive: true });
    writeFileSync(join(repository, path), text ?? git(repository, 'show', `${fix}:${path}`));
  }
  git(repository, 'add', '--intent-to-add', '--', ...files.keys());
  const patch = git(repository, 'diff', '--binary', '--full-index', '--', ...files.keys());
  git(repository, 'reset', '-q', '--hard');
  git(repository, 'clean', '-fdq');
  return patch;
}
