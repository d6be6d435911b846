import type { PatchLimits } from './patch.ts';

/** Any name that some file system resolves to `.git`. */
const isDotGit = (component: string): boolean => /^(?:\.git|git~\d+)$/.test(resolvedComponent(component));

const isGitModules = (component: string): boolean =>
  /^(?:\.gitmodules|gitmod~\d+|gi7eb[0-9a-f]~\d+)$/.test(resolvedComponent(component));

const byteLength = (text: string): number => new TextEncoder().encode(text).length;

/** Why a path is not allowed in a patch, as clauses; empty if it is allowed. */
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
 * Why the target of a symbolic link is not allowed; null if it is. `..` is allowed only at the start: after a name
 * that is itself a link it would resolve elsewhere.
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
 * Changed paths that some file system would treat as equal to another one, changed or kept; also a file and a folder
 * with the same name. A base may have such pairs: `changed` are files that a patch adds, and its links, because a file
 * of the same name would be written through one.
 */
export function collisions(changed: readonly string[], kept: readonly string[]): readonly string[] {
  const owners = new Map<string, string>();
  const folders = new Map<string, string>();
  const blamed = new Set(changed);
  const faults: string[] = [];
  const canCollide = collidesWithAny(changed);
  for (const path of [...kept.filter(canCollide), ...changed]) {
    const key = caseFolded(path);
    const other =
      owners.get(key) ??
      folders.get(key) ??
      parentFolders(key)
        .map((one) => owners.get(one))
        .find(Boolean);
    if (other !== undefined && blamed.has(path)) {
      faults.push(
        `${quotedPath(path)} is the same file as ${quotedPath(other)} if case or Unicode form is ignored.`,
      );
    }
    owners.set(key, path);
    for (const folder of parentFolders(key)) folders.set(folder, path);
  }
  return faults;
}

/** Whether a path equals one of these, or is above or below one; in a large repository, few do. */
function collidesWithAny(paths: readonly string[]): (path: string) => boolean {
  const keys = new Set(paths.map(caseFolded));
  const above = new Set([...keys].flatMap(parentFolders));
  return (path) => {
    const key = caseFolded(path);
    return keys.has(key) || above.has(key) || parentFolders(key).some((folder) => keys.has(folder));
  };
}

function parentFolders(path: string): readonly string[] {
  const folders: string[] = [];
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) folders.push(path.slice(0, at));
  return folders;
}

/**
 * Always blank or invisible: control and format characters, line and paragraph separators, code points that Unicode
 * says to ignore without a glyph (variation selectors, fillers, joiners), and the empty Braille cell.
 */
const UNSEEN_IN_PATH = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** U+FE0E and U+FE0F only choose the style of the preceding emoji; between a digit and U+20E3 they make a keycap. */
const EMOJI_STYLE = /(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3)/gu;
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Whether a name contains invisible characters. Emoji styles do not count. */
const hasUnseen = (text: string): boolean => UNSEEN_IN_PATH.test(text.replace(EMOJI_STYLE, ''));

/** A path for display: quoted, with escapes for invisible characters. */
export const quotedPath = (path: string): string =>
  JSON.stringify(path.slice(0, 200)).replace(/[^\x20-\x7e]/gu, (char) =>
    UNSEEN_IN_PATH.test(char) ? `\\u{${(char.codePointAt(0) as number).toString(16)}}` : char,
  );

/**
 * A path as compared by case-insensitive file systems: full case folding, canonical form, and without the code points
 * that HFS+ and case-folding ext4 ignore.
 */
function caseFolded(path: string): string {
  if (ASCII_PATH.test(path)) return path.toLowerCase();
  const plain = path.normalize('NFC').replace(IGNORABLE, '');
  return plain.toUpperCase().toLowerCase().normalize('NFC');
}

/** `folded`, without what NTFS drops from a path component: streams, and trailing dots and spaces. */
function resolvedComponent(component: string): string {
  const [beforeStream = ''] = caseFolded(component).split(':', 1);
  let end = beforeStream.length;
  while (end > 0 && (beforeStream[end - 1] === '.' || beforeStream[end - 1] === ' ')) end--;
  return beforeStream.slice(0, end);
}

/**
 * Git treats a folder as a repository if it contains `HEAD` and, in it or in the folder named by its file
 * `commondir`, `objects` and `refs` (`is_git_directory` in git's setup.c). `git status` in it, which many shells and
 * editors run automatically, then applies the `config` next to them. Objects and refs need not be folders: git only
 * checks that they exist and may be entered or executed, which is always true on Windows.
 */
interface Marks {
  head: boolean;
  objects: boolean;
  refs: boolean;
  commondir: boolean;
}

/** Files that make a folder a repository, and files that git executes or reads as settings in one. */
const GIT_CONTROL_PATHS = /^(?:head|commondir|gitdir|objects|refs|config(?:\.worktree)?|hooks(?:\/.*)?)$/;
/** `commondir` on a file system with short names. */
const COMMONDIR = /^(?:commondir|common~\d+)$/;
/** Settings folders of other version control systems. Git's own is rejected by name. */
const OTHER_VCS_FOLDERS: ReadonlySet<string> = new Set(['.hg', '.sl', '.jj', '.bzr']);

/**
 * Whether a path is inside the control folder of another version control system. Its settings can name programs to
 * run, too.
 */
const isOtherControl = (path: string): boolean =>
  path.split('/').some((part) => OTHER_VCS_FOLDERS.has(resolvedComponent(part)));

/** Quick test for the names of `repositoryMark` among the components of a path, also where a file system drops an end. */
const REPOSITORY_NAMES = /(?:^|\/)(?:head|objects|refs|commondir|common~\d+)[. ]*(?::[^/]*)?(?:\/|$)/i;
/** Where components are compared as they stand, apart from case. */
const ASCII_PATH = /^[\x20-\x7e]*$/;

/** Folders of a tree that git treats as repositories on some file system, in the form of `resolvedPath`. */
function repositoriesIn(paths: readonly string[]): ReadonlySet<string> {
  const marks = new Map<string, Marks>();
  for (const path of paths)
    if (!ASCII_PATH.test(path) || REPOSITORY_NAMES.test(path))
      noteMarks(marks, resolvedPath(path).split('/'));
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

/** `HEAD` and `commondir` count only as files, including links. */
function repositoryMark(part: string, last: boolean): keyof Marks | null {
  if (part === 'objects' || part === 'refs') return part;
  if (last && part === 'head') return part;
  return last && COMMONDIR.test(part) ? 'commondir' : null;
}

const resolvedPath = (path: string): string => path.split('/').map(resolvedComponent).join('/');

/** The innermost repository that contains a path, and the path below it; null for none. */
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
 * Sentences about folders that a change turns into a repository, and about changes to git settings in a repository
 * that is part of the base tree (as test data). `changed` are all paths of the change, including deleted ones;
 * `before` and `after` all paths of the tree. Other changes in such a repository, and its removal, are allowed.
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
