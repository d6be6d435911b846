import { fileKindOf } from '../likeness/index.ts';
import type { Patch } from '../patches/index.ts';

/** What a task asks for, which decides how candidates are judged. */
export const TASK_KINDS = ['code', 'tests', 'docs', 'configuration'] as const;
export type TaskKind = (typeof TASK_KINDS)[number];

/** Titles that ask for tests. */
const ASKS_FOR_TESTS =
  /\b(?:add|write|create|improve|increase|extend|more|missing|need|needs|lacks?|cover)\b.*\b(?:tests?|test cases?|coverage|specs?)\b|\b(?:tests?|coverage)\b.*\b(?:missing|lacking|needed)\b|^tests?\b|\buntested\b/i;
const ASKS_FOR_CONFIGURATION =
  /\b(?:ci|pipelines?|config(?:uration|ure)?|settings|linters?|formatters?|eslint|prettier|ruff|editorconfig|dependabot|renovate|\.\w[\w.-]*rc|tsconfig|docker(?:file)?)\b/i;
/** Titles that ask for other code, whatever they say about tests. */
const ASKS_FOR_CODE =
  /\b(?:fix(?:e[sd])?|implement|support|refactor|bug|crash(?:es)?|throws?|fails?|failing|flaky|broken|wrong|regression)\b/i;

/** Whether every file of a patch is of one of these kinds. */
const isOnly = ({ files }: Patch, kinds: ReadonlySet<string>): boolean =>
  files.length > 0 && files.every(({ path, change }) => kinds.has(fileKindOf(path, change === 'added')));

const FILES_OF = {
  tests: new Set(['test']),
  docs: new Set(['docs']),
  configuration: new Set(['config', 'docs']),
} as const;

/**
 * The kind of a task, from its title (the first line of `asked`) and from what more than half of the patches change.
 * Neither decides alone: a title is short, and candidates that avoid the work also change tests only. Docs need no
 * title, since their kind adds checks and relaxes none.
 */
export function taskKindOf(asked: string, patches: readonly Patch[]): TaskKind {
  const [title = ''] = asked.trimStart().split('\n', 1);
  const most = (kind: keyof typeof FILES_OF): boolean =>
    2 * patches.filter((patch) => isOnly(patch, FILES_OF[kind])).length > patches.length;
  if (most('docs')) return 'docs';
  if (ASKS_FOR_CODE.test(title)) return 'code';
  if (ASKS_FOR_TESTS.test(title) && most('tests')) return 'tests';
  return ASKS_FOR_CONFIGURATION.test(title) && most('configuration') ? 'configuration' : 'code';
}
