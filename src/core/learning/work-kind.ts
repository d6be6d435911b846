import { languageOf, type TaskKind } from '../evidence/index.ts';
import type { PatchFile } from '../patches/index.ts';

/** What a run was about, by which candidate outcomes are compared. */
export const WORK_KINDS = ['bug', 'feature', 'refactoring', 'tests', 'docs', 'configuration'] as const;
export type WorkKind = (typeof WORK_KINDS)[number];

/** Sizes of a change by its production lines, added plus removed. Our defaults. */
const CHANGE_SIZES = ['small', 'medium', 'large'] as const;
export type ChangeSize = (typeof CHANGE_SIZES)[number];
const MAX_SMALL_LINES = 25;
const MAX_MEDIUM_LINES = 150;

export const changeSize = (productionLines: number): ChangeSize => {
  if (productionLines <= MAX_SMALL_LINES) return 'small';
  return productionLines <= MAX_MEDIUM_LINES ? 'medium' : 'large';
};

/** `fix(parser)!: …`, after Conventional Commits. */
const PREFIX =
  /^(fix|bug|bugfix|hotfix|feat|feature|refactor|perf|style|docs?|tests?|chore|ci|build)(?:\([^()]*\))?!?:/i;
const KIND_OF_PREFIX: Readonly<Record<string, WorkKind>> = {
  fix: 'bug',
  bug: 'bug',
  bugfix: 'bug',
  hotfix: 'bug',
  feat: 'feature',
  feature: 'feature',
  refactor: 'refactoring',
  perf: 'refactoring',
  style: 'refactoring',
  doc: 'docs',
  docs: 'docs',
  test: 'tests',
  tests: 'tests',
  chore: 'configuration',
  ci: 'configuration',
  build: 'configuration',
};

/** Words of titles, in the order in which they decide. */
const WORDS: readonly (readonly [WorkKind, RegExp])[] = [
  [
    'bug',
    /\b(?:bugs?|fix(?:e[sd])?|crash(?:es|ed)?|errors?|wrong(?:ly)?|broken|breaks|fails?|failing|incorrect(?:ly)?|regression|exceptions?|leaks?|hangs?|does(?:n't| not)|should not|shouldn't)\b/i,
  ],
  [
    'refactoring',
    /\b(?:refactor(?:ing)?|renam(?:e|ing)|clean[ -]?up|simplify|restructure|reorgani[sz]e|dedup(?:licate)?|extract|migrate|modernize|speed up)\b/i,
  ],
  [
    'feature',
    /^(?:please\s+)?(?:add|support|implement|allow|introduce|provide|enable|create|let|make|offer|accept)\b/i,
  ],
];
const TITLES_OF_OTHER_KINDS: readonly (readonly [WorkKind, RegExp])[] = [
  ['docs', /\b(?:docs?|documentation|readme|typos?|changelog|docstrings?)\b/i],
  ['tests', /\b(?:tests?|test coverage|specs)\s+(?:for|of|that)\b|\buntested\b/i],
];

const isBesideCode = (kind: WorkKind): boolean =>
  kind === 'tests' || kind === 'docs' || kind === 'configuration';

/**
 * The kind of work, from the title of the task, then from the goal of the brief. `task`: the kind that title and
 * patches showed together; null before there are patches, when a title alone may say that it is not about code. A
 * title that says nothing counts as a bug: it usually describes what is wrong.
 */
export function workKindOf(texts: readonly string[], task: TaskKind | null): WorkKind {
  if (task !== null && task !== 'code') return task;
  for (const text of texts) {
    const kind = kindInTitle(text.trim(), task === null);
    if (kind) return kind;
  }
  return 'bug';
}

function kindInTitle(title: string, mayBeBesideCode: boolean): WorkKind | null {
  const prefix = KIND_OF_PREFIX[PREFIX.exec(title)?.[1]?.toLowerCase() ?? ''];
  if (prefix && (mayBeBesideCode || !isBesideCode(prefix))) return prefix;
  const words = mayBeBesideCode ? [...WORDS.slice(0, 1), ...TITLES_OF_OTHER_KINDS, ...WORDS.slice(1)] : WORDS;
  return words.find(([, words]) => words.test(title))?.[0] ?? null;
}

/** The language with the most changed lines among production files; null if none is known. */
export function mainLanguageOf(
  files: readonly Pick<PatchFile, 'path' | 'role' | 'additions' | 'deletions'>[],
) {
  const production = files.filter(({ role }) => role === 'production');
  const lines = new Map<ReturnType<typeof languageOf>, number>();
  for (const { path, additions, deletions } of production.length > 0 ? production : files) {
    const language = languageOf(path);
    if (language !== 'other') lines.set(language, (lines.get(language) ?? 0) + additions + deletions);
  }
  const [most] = [...lines].toSorted(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  return most?.[0] ?? null;
}
