import { isSnapshot, roleOf } from '../patches/index.ts';
import { type ReadFile, readDiff } from './read.ts';
import type { FileUse } from './types.ts';

const CODE =
  /\.(?:[cm]?[jt]sx?|vue|svelte|astro|pyi?|pyx|pxd|rs|go|java|kts?|scala|groovy|c|h|cc|cpp|cxx|hpp|hh|m|mm|cs|fs|vb|swift|dart|rb|php|pl|pm|lua|r|jl|exs?|erl|clj[cs]?|hs|elm|ml|nim|zig|sh|bash|css|scss|less|html?|sql|graphql|proto)$/i;
const PROSE = /\.(?:md|mdx|markdown|rst|txt|adoc|changes)$/i;
const DOC_FOLDERS = /(?:^|\/)(?:docs?|documentation|changelogs?|newsfragments|\.changesets?)\//i;
const SETTINGS =
  /\.(?:lock|toml|ya?ml|json[c5]?|cfg|ini|xml|gradle|properties|env|conf)$|^(?:package-lock\.json|go\.(?:mod|sum)|gemfile|rakefile|makefile|dockerfile|\.[\w.-]+)$/i;
const TEST_FOLDERS =
  /(?:^|\/)(?:testing|specs?|fixtures?|test-?data|ui[-_]tests?|test[-_]suite|testsuite|testcases?)\//i;
const TEST_NAMES = /^tests?[-_]|[-_.]tests?\./i;
const LEFTOVERS = /\.(?:orig|rej|bak|backup|old|swp|log|tmp|pyc|class|o|rlib)$|~$/i;
const BUILT = /(?:^|\/)(?:node_modules|target|__pycache__|\.pytest_cache|dist|build)\//;
/** How agents name what they write to try something out. */
const TRIALS =
  /^(?:repro|reproduc|debug|demo|example_?test|test_?fix|check_|verify|tmp|temp|scratch|run_|fix_|simple_|final_|validate)/i;

/**
 * What a changed file is for, by its name. Scratch is what an agent made on its way and left behind, so only a created
 * file can be it; code at the top of a repository is taken for it too, and `usedFiles` takes back what other source
 * speaks of.
 */
export function useOf(path: string, created: boolean): FileUse {
  const parts = path.split('/');
  const name = parts.at(-1) ?? '';
  if (created && (LEFTOVERS.test(name) || BUILT.test(path))) return 'scratch';
  if (created && parts.length <= 2 && TRIALS.test(name)) return 'scratch';
  const role = roleOf(path);
  if (role === 'test' || isSnapshot(path)) return 'test';
  if (created && parts.length === 1 && CODE.test(name)) return 'scratch';
  if (role === 'runner') return 'config';
  if (TEST_FOLDERS.test(path) || TEST_NAMES.test(name)) return 'test';
  if (PROSE.test(name) || (DOC_FOLDERS.test(path) && !CODE.test(name))) return 'docs';
  return SETTINGS.test(name) ? 'config' : 'source';
}

export interface UsedFile extends ReadFile {
  readonly use: FileUse;
}

/** Scratch files of a patch that are looked for in its source. */
const MOST_SOUGHT = 20;
const SHORTEST_STEM = 3;

/** The files of a patch and what each is for. */
export function usedFiles(text: string): readonly UsedFile[] {
  const files = readDiff(text).map((file) => ({ ...file, use: useOf(file.path, file.created) }));
  const sought = files.filter(({ path, use }) => use === 'scratch' && CODE.test(path)).slice(0, MOST_SOUGHT);
  const spokenOf = new Set(
    sought.filter((file) => files.some((other) => other.use === 'source' && mentions(other, stemOf(file)))),
  );
  return files.map((file) => (spokenOf.has(file) ? { ...file, use: 'source' } : file));
}

/** `helper` of `lib/helper.test.js`: how an import names it in most languages. */
const stemOf = ({ path }: ReadFile): string => path.slice(path.lastIndexOf('/') + 1).replace(/\..*$/s, '');

const mentions = ({ hunks }: ReadFile, stem: string): boolean =>
  stem.length >= SHORTEST_STEM &&
  hunks.some(({ lines }) => lines.some(({ kind, text }) => kind === 'added' && text.includes(stem)));
