import type { Brief } from '../model/index.ts';
import { PATCH_LIMITS, pathFaults, roleOf } from '../patches/index.ts';

/** What was left out of a planner's answer, and why: a sentence each, for people. */
export interface Checked {
  readonly brief: Brief;
  readonly notes: readonly string[];
}

/**
 * Holds what a planner names against the repository: a file must be tracked, or be a new one in a folder that exists; a
 * test that may change must be a tracked test. A command is one line of printable text: it is shown, never executed (I6).
 */
export function checkBrief(brief: Brief, paths: readonly string[]): Checked {
  const known = new Set(paths);
  const folders = new Set(['', ...paths.map(folderOf)]);
  const notes: string[] = [];
  const drop = (what: string, path: string): false => {
    notes.push(`${what}: ${JSON.stringify(path.slice(0, 120))} was left out.`);
    return false;
  };
  const mayBe = (path: string): boolean =>
    known.has(path) || (pathFaults(path, PATCH_LIMITS).length === 0 && folders.has(folderOf(path)));
  const files = [...new Set(brief.files)].filter(
    (path) => mayBe(path) || drop('No such file or folder in the repository', path),
  );
  const changedTests = (brief.changedTests ?? []).filter(
    // A declaration is matched as a glob: it must stand for one file only.
    (path) =>
      (known.has(path) && roleOf(path) === 'test' && !/[*?]/.test(path)) ||
      drop('Not a test of the repository', path),
  );
  const { testCommand, ...rest } = brief;
  return {
    brief: {
      ...rest,
      files,
      ...(changedTests.length > 0 ? { changedTests } : { changedTests: [] }),
      ...(testCommand && isOneLine(testCommand) ? { testCommand: testCommand.trim() } : {}),
    },
    notes,
  };
}

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

const isOneLine = (text: string): boolean => /^[^\p{Cc}\p{Cf}\u2028\u2029]+$/u.test(text.trim());
