import type { PatchLimits } from './limits.ts';
import { folded, hasUnseen, resolved, shown } from './names.ts';

/** `.git` under any name that a file system resolves to it. */
export const isDotGit = (component: string): boolean => /^(?:\.git|git~\d+)$/.test(resolved(component));

const isGitModules = (component: string): boolean =>
  /^(?:\.gitmodules|gitmod~\d+|gi7eb[0-9a-f]~\d+)$/.test(resolved(component));

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
  add(isWorkflow(parts), 'is a workflow of GitHub Actions: those are never changed by a candidate');
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
    return 'is a symbolic link that leads out of the repository';
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
    const key = folded(path);
    const other =
      owners.get(key) ??
      folders.get(key) ??
      foldersOf(key)
        .map((one) => owners.get(one))
        .find(Boolean);
    if (other !== undefined && changed.has(path)) {
      faults.push(
        `${shown(path)} is the same file as ${shown(other)} where case or Unicode form do not count.`,
      );
    }
    owners.set(key, path);
    for (const folder of foldersOf(key)) folders.set(folder, path);
  }
  return faults;
}

function foldersOf(path: string): readonly string[] {
  const folders: string[] = [];
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) folders.push(path.slice(0, at));
  return folders;
}
