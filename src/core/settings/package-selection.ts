import { unquoted } from './command-kinds.ts';
import { wordsOf } from './program-words.ts';
import { matchesAnyGlob, matchesName } from './workspace-graph.ts';

/** A package of a workspace, as commands select it. */
export interface NamedPackage {
  /** From the top of the repository. */
  readonly folder: string;
  readonly name: string;
}

interface FilterOptions {
  /** Each takes a value, behind `=` or as the next word. */
  readonly include: RegExp;
  readonly exclude?: RegExp;
}

const FILTER_OPTIONS: Readonly<Record<string, FilterOptions>> = Object.assign(Object.create(null), {
  npm: { include: /^(?:--workspace|-w)$/ },
  pnpm: { include: /^(?:--filter|-F)$/ },
  turbo: { include: /^(?:--filter|-F)$/ },
  lerna: { include: /^--scope$/, exclude: /^--ignore$/ },
  yarn: { include: /^--include$/, exclude: /^--exclude$/ },
});

/** The words without the options that select packages, and without a `--` that nothing follows. */
export function withoutFilters(
  program: string,
  words: readonly string[],
): { readonly left: readonly string[]; readonly filters: readonly string[] } {
  const options = FILTER_OPTIONS[program];
  const left: string[] = [];
  const filters: string[] = [];
  let at = 0;
  for (; at < words.length; at++) {
    const word = words[at] ?? '';
    // What follows is meant for the script: in pnpm also what follows its name.
    if (word === '--' || (program === 'pnpm' && /^(?!run$)\w/.test(word))) break;
    const [option = '', joined] = /^(-[^=]*)=(.*)$/s.exec(word)?.slice(1) ?? [word];
    const sign = options?.include.test(option) ? '' : options?.exclude?.test(option) ? '!' : null;
    if (sign === null) {
      left.push(word);
      continue;
    }
    if (joined === undefined) at += 1;
    filters.push(`${sign}${unquoted(joined ?? words[at] ?? '')}`);
  }
  const behind = words.slice(at);
  if (behind.join(' ') !== '--') left.push(...behind);
  return { left, filters };
}

/** The packages that a command of a package manager selects, as its options name them; patterns are possible. */
export function packagesNamed(command: string): readonly string[] {
  const words = wordsOf(command);
  const at = words.findLastIndex((word) => /^(?:npm|pnpm|yarn|turbo|lerna)$/.test(word));
  const [program = '', ...rest] = words.slice(at);
  const isOne = program === 'yarn' && rest[0] === 'workspace';
  return isOne ? rest.slice(1, 2) : withoutFilters(program, rest).filters;
}

/** Maximum filters of a command. */
const MAX_FILTERS = 30;
/** Maximum characters of a filter, and of the name of a package that it may match: npm's own limit. */
const MAX_PACKAGE_NAME_CHARS = 214;

/**
 * Packages by name (`*` is any text) or by folder (`./packages/*`), without those after `!`. A filter by changes since
 * a commit (`[HEAD^1]`, `...[origin/main]`) is ignored: what a candidate changes is not committed. Null for other filters, such as
 * `name...` with dependencies.
 */
export function selection(
  filters: readonly string[],
): ((all: readonly NamedPackage[]) => readonly NamedPackage[]) | null {
  if (filters.length > MAX_FILTERS || filters.some(({ length }) => length > MAX_PACKAGE_NAME_CHARS))
    return null;
  const known = filters.filter((filter) => !BY_CHANGES.test(filter));
  if (!known.every((filter) => /^!?(?!!|.*\.\.)[\w@./*-]+$/.test(filter))) return null;
  const wanted = known.filter((filter) => !filter.startsWith('!'));
  const refused = known.flatMap((filter) => (filter.startsWith('!') ? [filter.slice(1)] : []));
  return (all) => {
    const chosen = wanted.length === 0 ? all : wanted.flatMap((filter) => matching(filter, all));
    const left = refused.flatMap((filter) => matching(filter, all));
    return all.filter((one) => chosen.includes(one) && !left.includes(one));
  };
}

const BY_CHANGES = /^!?(?:\.\.\.\^?)?\[[^\]]*\](?:\^?\.\.\.)?$/;

function matching(filter: string, all: readonly NamedPackage[]): readonly NamedPackage[] {
  if (filter.startsWith('./')) return all.filter(({ folder }) => matchesAnyGlob([filter], folder));
  const exact = all.filter(
    ({ name, folder }) =>
      folder === filter || (name.length <= MAX_PACKAGE_NAME_CHARS && matchesName(filter, name)),
  );
  if (exact.length > 0 || filter.includes('*')) return exact;
  // The scope may be left out.
  return all.filter(({ name }) => name.endsWith(`/${filter}`));
}
