import { isTestNamed, roleOf } from '../patches/index.ts';
import { grammarOf } from '../source/index.ts';
import type { BaseTests, TestRun } from './evidence.ts';
import type { TamperingFinding } from './integrity/index.ts';
import { isExitCode, isTestOf } from './test-runs.ts';

/** The base tests that execute the original version of what a finding is about. */
interface OriginalTests {
  /** Ids of tests that pass on the base; never empty. */
  readonly ids: readonly string[];
  /**
   * `tests`: exactly those that the finding names. `file`: those of its file. `all`: those of the suite, because a
   * helper or a fixture has no tests of its own and may affect every test.
   */
  readonly of: 'tests' | 'file' | 'all';
}

/** Null if the original version was not executed on this candidate (`own`), or no test of it passes on the base. */
export function originalTests(
  { path, tests }: Pick<TamperingFinding, 'path' | 'tests'>,
  base: TestRun,
  own: BaseTests | undefined,
): OriginalTests | null {
  if (own?.source !== 'report' || own.silent || roleOf(path) === 'production') return null;
  const passing = Object.keys(base.tests).filter((id) => base.tests[id] === 'passed' && !isExitCode(id));
  const inFile = passing.filter((id) => isTestOf(id, path));
  const named = (ids: readonly string[]) => ids.filter((id) => tests?.some((name) => hasName(id, name)));
  if (inFile.length > 0) {
    const ids = named(inFile);
    return ids.length > 0 ? { ids, of: 'tests' } : { ids: inFile, of: 'file' };
  }
  if (tests === undefined && !isTestNamed(path))
    return passing.length > 0 ? { ids: passing, of: 'all' } : null;
  const ids = named(passing.filter((id) => namesNoFile(id) && mayBeOf(id, path)));
  return ids.length > 0 ? { ids, of: 'tests' } : null;
}

/** A test of a table has a number, its values or its own name behind the name in the source. */
const BEHIND_NAME = String.raw`(?:$| > |[\[(/]| #\d)`;

/** Maximum placeholders in a name; a name with more is compared as far as the last of them. */
const MAX_PLACEHOLDERS = 3;

/** Whether an id names this test, or a test of this group, by its name in the source. */
function hasName(id: string, name: string): boolean {
  if (!/\w/.test(name)) return false;
  const pattern = name
    .split(/%[a-z#%]|\$\{[^}]*\}|#\{[^}]*\}|\$\w+(?:\.\w+)*/)
    .slice(0, MAX_PLACEHOLDERS + 1)
    .map((part) => RegExp.escape(part))
    .join('.*');
  return new RegExp(`(?: > |[.:\\\\])${pattern}${BEHIND_NAME}`, 's').test(` > ${id}`);
}

/** Runners that report packages and classes name no file. */
const namesNoFile = (id: string): boolean => id.split(' > ', 2).every((part) => grammarOf(part) === null);

/** Whether an id that names no file may belong to this one: it has the word of the file or of its folder. */
function mayBeOf(id: string, path: string): boolean {
  const parts = path.split('/');
  const stem = (parts.at(-1) ?? '').replace(/\..*$/, '');
  const words = new Set(id.split(/\W+/));
  return parts.length === 1 || words.has(stem) || words.has(parts.at(-2) ?? '');
}
