import { resolved, shown } from './names.ts';

/**
 * Git takes a folder for a repository when it has `HEAD` and, in it or in the folder that its file `commondir` names,
 * `objects` and `refs` (`is_git_directory` in git's setup.c). Then `git status` in it, which many shells and editors run
 * unasked, obeys the `config` that lies beside them. Objects and refs need not be folders: git asks only whether they
 * are there and may be entered or executed, which on Windows is always so.
 */
interface Marks {
  head: boolean;
  objects: boolean;
  refs: boolean;
  commondir: boolean;
}

/** What decides whether a folder is a repository, and what git executes or reads as settings there. */
const CONTROL = /^(?:head|commondir|gitdir|objects|refs|config(?:\.worktree)?|hooks(?:\/.*)?)$/;
/** `commondir` as a file system with short names may know it. */
const COMMONDIR = /^(?:commondir|common~\d+)$/;
/** Folders in which other version control systems keep settings that they obey. Git's own is refused by its name. */
const OTHERS: ReadonlySet<string> = new Set(['.hg', '.sl', '.jj', '.bzr']);

/** Is a path inside the control folder of another version control system? Those name programs to run too. */
export const isOtherControl = (path: string): boolean =>
  path.split('/').some((part) => OTHERS.has(resolved(part)));

/** Folders of a tree that git takes for repositories on some file system, as `resolvedPath` writes them. */
export function repositoriesIn(paths: readonly string[]): ReadonlySet<string> {
  const marks = new Map<string, Marks>();
  for (const path of paths) noteMarks(marks, resolvedPath(path).split('/'));
  const found = [...marks].filter(([, { head, objects, refs, commondir }]) => {
    return head && (commondir || (objects && refs));
  });
  return new Set(found.map(([folder]) => folder));
}

function noteMarks(marks: Map<string, Marks>, parts: readonly string[]): void {
  for (const [i, part] of parts.entries()) {
    const last = i === parts.length - 1;
    const mark = markOf(part, last);
    if (mark === null) continue;
    const folder = parts.slice(0, i).join('/');
    const known = marks.get(folder) ?? { head: false, objects: false, refs: false, commondir: false };
    known[mark] = true;
    marks.set(folder, known);
  }
}

/** `HEAD` and `commondir` count as files only, links included. */
function markOf(part: string, last: boolean): keyof Marks | null {
  if (part === 'objects' || part === 'refs') return part;
  if (last && part === 'head') return part;
  return last && COMMONDIR.test(part) ? 'commondir' : null;
}

const resolvedPath = (path: string): string => path.split('/').map(resolved).join('/');

/** The repository of a tree that a path lies in, the innermost one, and the path's name below it; null for none. */
function placeIn(repositories: ReadonlySet<string>, path: string): { folder: string; name: string } | null {
  if (repositories.size === 0) return null;
  const parts = resolvedPath(path).split('/');
  for (let i = parts.length - 1; i >= 0; i--) {
    const folder = parts.slice(0, i).join('/');
    if (repositories.has(folder)) return { folder, name: parts.slice(i).join('/') };
  }
  return null;
}

/**
 * Sentences about folders that a change makes a repository, and about changes to what git obeys in a repository that the
 * base keeps in its tree (as test data). `changed` are all paths of the change, deleted ones too; `before` and `after` all
 * paths of the tree. Other changes in such a repository, and its removal, are accepted.
 */
export function repositoryFaults(
  changed: readonly string[],
  before: readonly string[],
  after: readonly string[],
): readonly string[] {
  const others = changed
    .filter(isOtherControl)
    .map((path) => `${shown(path)} is in the control folder of another version control system.`);
  const now = repositoriesIn(after);
  if (now.size === 0) return others;
  const known = repositoriesIn(before);
  const made = [...now]
    .filter((folder) => !known.has(folder))
    .map(
      (folder) =>
        `${folder === '' ? 'The root' : shown(folder)} would be a Git repository of its own after this: git would obey the settings in it.`,
    );
  const altered = changed.flatMap((path) => {
    const place = placeIn(now, path);
    if (place === null || !known.has(place.folder) || !CONTROL.test(place.name)) return [];
    return [
      `${shown(path)} decides what git does in ${place.folder === '' ? 'the root' : shown(place.folder)}, a Git repository that is kept in the tree.`,
    ];
  });
  return [...others, ...made, ...altered];
}
