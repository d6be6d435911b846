import type { PatchLimits } from './patch.ts';

/** `.git` under any name that a file system resolves to it. */
const isDotGit = (component: string): boolean => /^(?:\.git|git~\d+)$/.test(resolvedComponent(component));

const isGitModules = (component: string): boolean =>
  /^(?:\.gitmodules|gitmod~\d+|gi7eb[0-9a-f]~\d+)$/.test(resolvedComponent(component));

const byteLength = (text: string): number => new TextEncoder().encode(text).length;

/** Why a path may not be in a patch, as clauses; empty when it may. */
export function pathFaults(path: string, limits: PatchLimits): readonly string[] {
  const parts = path.split('/');
  const faults: string[] = [];
  const add = (wrong: boolean, why: string) => {
    if (wrong) faults.push(why);
  };
  add(path === '' || path.startsWith('/'), 'is not a relative path');
  add(parts.slice(path.startsWith('/') ? 1 : 0).includes(''), 'has an empty component');
  add(parts.includes('.') || parts.includes('..'), 'has a `.` or `..` component');
  add(path.includes('\\'), 'has a backslash');
  add(hasUnseen(path), 'has a control, invisible or direction-changing character');
  add(path.includes('\ufffd') || !path.isWellFormed(), 'is not valid UTF-8');
  add(parts.some(isDotGit), 'reaches into `.git`');
  add(parts.some(isGitModules), 'is `.gitmodules`: submodules are not accepted');
  add(isWorkflow(parts), 'is a GitHub Actions workflow, which candidates may never change');
  add(
    parts.some((part) => byteLength(part) > limits.componentBytes),
    `has a component of more than ${limits.componentBytes} bytes`,
  );
  add(byteLength(path) > limits.pathBytes, `is longer than ${limits.pathBytes} bytes`);
  return faults;
}

const isWorkflow = (parts: readonly string[]): boolean =>
  parts.length > 2 && parts[0]?.toLowerCase() === '.github' && parts[1]?.toLowerCase() === 'workflows';

/**
 * Why a symbolic link may not point where it points; null when it may. `..` is accepted only in front: after a name
 * that is itself a link it would climb from somewhere else.
 */
export function linkFault(path: string, target: string): string | null {
  if (target === '' || hasUnseen(target) || target.includes('\ufffd') || target.includes('\\')) {
    return 'is a symbolic link with an unreadable target';
  }
  if (target.startsWith('/') || /^[a-zA-Z]:/.test(target)) return 'is a symbolic link to an absolute path';
  const parts = target.split('/').filter((part) => part !== '' && part !== '.');
  const climbs = parts.findIndex((part) => part !== '..');
  const ups = climbs < 0 ? parts.length : climbs;
  if (ups > path.split('/').length - 1 || parts.slice(ups).includes('..')) {
    return 'is a symbolic link to a path outside the repository';
  }
  if (parts.some(isDotGit)) return 'is a symbolic link into `.git`';
  return null;
}

/**
 * Paths that one file system would take for each other: two of the changed ones, or a changed and a standing one;
 * also a file and a folder of one name. `present` are the changed paths that exist afterwards.
 */
export function collisions(present: readonly string[], standing: readonly string[] = []): readonly string[] {
  const owners = new Map<string, string>();
  const folders = new Map<string, string>();
  const changed = new Set(present);
  const faults: string[] = [];
  for (const path of [...standing.filter((one) => !changed.has(one)), ...present]) {
    const key = caseFolded(path);
    const other =
      owners.get(key) ??
      folders.get(key) ??
      parentFolders(key)
        .map((one) => owners.get(one))
        .find(Boolean);
    if (other !== undefined && changed.has(path)) {
      faults.push(
        `${quotedPath(path)} is the same file as ${quotedPath(other)} if case or Unicode form is ignored.`,
      );
    }
    owners.set(key, path);
    for (const folder of parentFolders(key)) folders.set(folder, path);
  }
  return faults;
}

function parentFolders(path: string): readonly string[] {
  const folders: string[] = [];
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) folders.push(path.slice(0, at));
  return folders;
}

/**
 * Blank or unseen wherever it stands: control and format characters, line and paragraph separators, code points that
 * Unicode says to ignore when there is no glyph (variation selectors, fillers, joiners), and the empty Braille cell.
 */
const UNSEEN_IN_PATH = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** U+FE0E and U+FE0F only choose how the emoji before them is drawn; between a digit and U+20E3 they make a keycap. */
const EMOJI_STYLE = /(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3)/gu;
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Has a name something that its reader cannot see? How an emoji is drawn does not count. */
const hasUnseen = (text: string): boolean => UNSEEN_IN_PATH.test(text.replace(EMOJI_STYLE, ''));

/** A path as a reader may see it: quoted, with escapes for what cannot be seen. */
export const quotedPath = (path: string): string =>
  JSON.stringify(path.slice(0, 200)).replace(/[^\x20-\x7e]/gu, (char) =>
    UNSEEN_IN_PATH.test(char) ? `\\u{${(char.codePointAt(0) as number).toString(16)}}` : char,
  );

/**
 * A path as file systems compare it that do not tell case from case: full case folding, canonical form, and without the
 * code points that HFS+ and case-folding ext4 ignore.
 */
function caseFolded(path: string): string {
  if (/^[\x20-\x7e]*$/.test(path)) return path.toLowerCase();
  const plain = path.normalize('NFC').replace(IGNORABLE, '');
  return plain.toUpperCase().toLowerCase().normalize('NFC');
}

/** `folded`, and without what NTFS drops from one component of a path: streams, and dots and spaces at its end. */
function resolvedComponent(component: string): string {
  const [beforeStream = ''] = caseFolded(component).split(':', 1);
  let end = beforeStream.length;
  while (end > 0 && (beforeStream[end - 1] === '.' || beforeStream[end - 1] === ' ')) end--;
  return beforeStream.slice(0, end);
}

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
const GIT_CONTROL_PATHS = /^(?:head|commondir|gitdir|objects|refs|config(?:\.worktree)?|hooks(?:\/.*)?)$/;
/** `commondir` as a file system with short names may know it. */
const COMMONDIR = /^(?:commondir|common~\d+)$/;
/** Folders in which other version control systems keep settings that they obey. Git's own is refused by its name. */
const OTHER_VCS_FOLDERS: ReadonlySet<string> = new Set(['.hg', '.sl', '.jj', '.bzr']);

/** Is a path inside the control folder of another version control system? Those name programs to run too. */
const isOtherControl = (path: string): boolean =>
  path.split('/').some((part) => OTHER_VCS_FOLDERS.has(resolvedComponent(part)));

/** Folders of a tree that git takes for repositories on some file system, as `resolvedPath` writes them. */
function repositoriesIn(paths: readonly string[]): ReadonlySet<string> {
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
    const mark = repositoryMark(part, last);
    if (mark === null) continue;
    const folder = parts.slice(0, i).join('/');
    const known = marks.get(folder) ?? { head: false, objects: false, refs: false, commondir: false };
    known[mark] = true;
    marks.set(folder, known);
  }
}

/** `HEAD` and `commondir` count as files only, links included. */
function repositoryMark(part: string, last: boolean): keyof Marks | null {
  if (part === 'objects' || part === 'refs') return part;
  if (last && part === 'head') return part;
  return last && COMMONDIR.test(part) ? 'commondir' : null;
}

const resolvedPath = (path: string): string => path.split('/').map(resolvedComponent).join('/');

/** The repository of a tree that a path lies in, the innermost one, and the path's name below it; null for none. */
function enclosingRepository(
  repositories: ReadonlySet<string>,
  path: string,
): { folder: string; name: string } | null {
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
    .map((path) => `${quotedPath(path)} is in the control folder of another version control system.`);
  const now = repositoriesIn(after);
  if (now.size === 0) return others;
  const known = repositoriesIn(before);
  const made = [...now]
    .filter((folder) => !known.has(folder))
    .map(
      (folder) =>
        `${folder === '' ? 'The root' : quotedPath(folder)} would become a Git repository of its own, and git would apply its settings.`,
    );
  const altered = changed.flatMap((path) => {
    const place = enclosingRepository(now, path);
    if (place === null || !known.has(place.folder) || !GIT_CONTROL_PATHS.test(place.name)) return [];
    return [
      `${quotedPath(path)} controls what git does in ${place.folder === '' ? 'the root' : quotedPath(place.folder)}, a Git repository inside the tree.`,
    ];
  });
  return [...others, ...made, ...altered];
}
