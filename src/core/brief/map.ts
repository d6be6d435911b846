import { roleOf } from '../patches/index.ts';

/** Paths that are shown. Our default: about 10,000 tokens. */
const MAX_PATHS = 600;
const MAX_LANGUAGES = 8;

export interface RepositoryMap {
  /** Most frequent endings of file names, `.ts 120, .md 14`. */
  readonly languages: string;
  /** One path in a line; of a big repository the shallow ones, and how many are left out of which folder. */
  readonly tree: string;
}

/** What a planner sees of a repository before it asks for a file. */
export function repositoryMap(paths: readonly string[]): RepositoryMap {
  return { languages: languages(paths), tree: tree(paths) };
}

function languages(paths: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const ending = /(\.[a-z0-9]{1,8})$/i.exec(path)?.[1]?.toLowerCase();
    if (ending) counts.set(ending, (counts.get(ending) ?? 0) + 1);
  }
  return [...counts]
    .toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .slice(0, MAX_LANGUAGES)
    .map(([ending, count]) => `${ending} ${count}`)
    .join(', ');
}

function tree(paths: readonly string[]): string {
  if (paths.length <= MAX_PATHS) return paths.join('\n');
  const depth = (path: string) => path.split('/').length;
  const weight = (path: string) => (roleOf(path) === 'production' ? 0 : 1);
  const kept = new Set(
    paths
      .toSorted((a, b) => weight(a) - weight(b) || depth(a) - depth(b) || (a < b ? -1 : 1))
      .slice(0, MAX_PATHS),
  );
  const left = new Map<string, number>();
  for (const path of paths) {
    if (kept.has(path)) continue;
    const [top = ''] = path.split('/');
    left.set(top, (left.get(top) ?? 0) + 1);
  }
  return [
    ...paths.filter((path) => kept.has(path)),
    ...[...left].map(([top, count]) => `(${count} more under ${top})`),
  ].join('\n');
}
