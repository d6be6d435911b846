import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A public repository, and a commit of its history that fixes something and tests it. The fix's parent is the base. */
export interface Listed {
  /** `owner/name`. */
  readonly name: string;
  readonly fix: string;
  readonly language: string;
}

export interface BenchCandidate {
  readonly name: 'sources' | 'sources-and-tests' | 'almost' | 'breaking';
  readonly right: boolean;
  readonly patch: string;
}

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
 * Four candidates: the fix without its tests, the fix with them, the fix with one line of it changed, and a change that
 * throws in a function that the fix touches. Null where the fix has no line that can be changed so.
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
    { name: 'sources', right: true, patch: patchOf(sources) },
    { name: 'sources-and-tests', right: true, patch: patchOf(paths) },
    { name: 'almost', right: false, patch: almost },
    { name: 'breaking', right: false, patch: withoutLine(repository, fix, source) },
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
  [/\bif (?=\w)/, 'if not '],
  [/ > /, ' <= '],
  [/ < /, ' >= '],
  [/ \+ 1\b/, ' + 2'],
  [/ - 1\b/, ' - 2'],
  [/\btrue\b/, 'false'],
  [/\bfalse\b/, 'true'],
  [/\bTrue\b/, 'False'],
  [/\b0\b/, '1'],
  [/\b1\b/, '2'],
];

const COMMENT = /^\s*(?:\/\/|\*|\/\*|#|"""|'''|import |from |require)/;

/** A line with a mistake in it; null if none fits. */
export function mistaken(line: string): string | null {
  const mistake = COMMENT.test(line) ? undefined : MISTAKES.find(([pattern]) => pattern.test(line));
  return mistake ? line.replace(mistake[0], mistake[1]) : null;
}

/** The sources of a change in the history, without its tests, as a patch; empty for none. */
export function sourcesOf(repository: string, from: string, to: string): string {
  const paths = git(repository, 'diff', '--name-only', from, to).trim().split('\n');
  const sources = paths.filter((path) => SOURCE.test(path) && !TEST.test(path));
  return sources.length === 0 ? '' : git(repository, 'diff', '--no-ext-diff', from, to, '--', ...sources);
}

function mutated(repository: string, fix: string, sources: readonly string[]): string | null {
  for (const path of sources) {
    const text = git(repository, 'show', `${fix}:${path}`);
    const lines = text.split('\n');
    for (const at of addedLines(repository, fix, path)) {
      const changed = mistaken(lines[at] ?? '');
      if (changed === null) continue;
      const wrong = lines.with(at, changed).join('\n');
      return patchTo(
        repository,
        fix,
        new Map([...sources.map((one) => [one, null] as const), [path, wrong]]),
      );
    }
  }
  return null;
}

/** The fix's own lines, by index. */
function addedLines(repository: string, fix: string, path: string): readonly number[] {
  const diff = git(repository, 'diff', '-U0', `${fix}^`, fix, '--', path);
  return [...diff.matchAll(/^@@ -\S+ \+(\d+)(?:,(\d+))? @@/gm)].flatMap(([, from = '0', count = '1']) =>
    Array.from({ length: Number(count) }, (_, n) => Number(from) - 1 + n),
  );
}

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
