import { fileKindOf } from '../likeness/index.ts';
import type { Patch, PatchFile } from '../patches/index.ts';
import { grammarOf } from '../source/index.ts';

/** What a task asks for, which decides how candidates are judged. */
const TASK_KINDS = ['code', 'tests', 'docs', 'configuration'] as const;
export type TaskKind = (typeof TASK_KINDS)[number];

/**
 * Titles that ask for tests of something and for nothing else. Narrow, since code may be about tests, too: `Add a test
 * page`, `Add a password strength test`.
 */
const TEST_WORDS =
  /(?:(?:a|an|the|some|more|better|missing|new|further|additional|basic|first|unit|integration|end-to-end|e2e|regression|property(?:-based)?)\s+)*(?:tests?(?:\s+(?:cases?|coverage))?|specs)/
    .source;
const ASKS_FOR_TESTS = [
  `^(?:(?:tests?|chore)(?:\\([^()]*\\))?:\\s*)?(?:add|write|create|improve|increase|extend|provide)\\s+${TEST_WORDS}\\s+(?:for|of|that\\s+cover|covering)\\s`,
  `^(?:add|write|create|improve|increase|extend)\\s+${TEST_WORDS}(?<!\\btest)\\.?\\s*$`,
  `^\\S+\\s+(?:(?:is|are)\\s+(?:still\\s+)?untested|(?:has\\s+no|have\\s+no|lacks?|needs?)\\s+${TEST_WORDS}(?<!\\btest))\\.?\\s*$`,
].map((form) => new RegExp(form, 'i'));
const ASKS_FOR_CONFIGURATION =
  /\b(?:ci|pipelines?|config(?:uration|ure)?|settings|linters?|formatters?|eslint|prettier|ruff|editorconfig|dependabot|renovate|\.\w[\w.-]*rc|tsconfig|docker(?:file)?)\b/i;
/** Titles that ask for other code, whatever they say about tests. */
const ASKS_FOR_CODE =
  /\b(?:fix(?:e[sd])?|implement|support|refactor|bug|crash(?:es)?|throws?|fails?|failing|flaky|broken|breaks?|wrong)\b|\bregressions?\b(?!\s+tests?\b)|(?:\band|\bthen|\balso|[,;])\s+(?:make|let|allow|change|rename|remove|enable|disable|reject|accept|handle|return|replace|update)\b/i;

/** Whether every file of a patch is of one of these kinds. */
const isOnly = ({ files }: Patch, kinds: ReadonlySet<string>): boolean =>
  files.length > 0 && files.every(({ path, change }) => kinds.has(fileKindOf(path, change === 'added')));

const FILES_OF = {
  tests: new Set(['test']),
  docs: new Set(['docs']),
  configuration: new Set(['config', 'docs']),
} as const;

/** Whether a candidate may change a file of its patch if tests are asked for. Data of tests counts as tests. */
export const isBesideProduction = ({ path, change, role }: PatchFile): boolean => {
  const kind = fileKindOf(path, change === 'added');
  return role === 'test' || kind === 'docs' || (kind === 'test' && grammarOf(path) === null);
};

/** What a task asks for, and whether some candidates change files that do not belong to that. */
export interface KindOfTask {
  readonly kind: TaskKind;
  readonly isMixed: boolean;
}

/**
 * The kind of a task, from its title (the first line of `asked`) and from what more than half of the patches change.
 * Neither decides alone: a title is short, and candidates that avoid the work also change tests only. Docs need no
 * title, since their kind accepts nothing that is not accepted for code. In doubt a task asks for code.
 */
export function taskKindOf(asked: string, patches: readonly Patch[]): KindOfTask {
  const [first = ''] = asked.trimStart().split('\n', 1);
  const title = first.slice(0, MAX_TITLE_CHARS);
  const of = (kind: keyof typeof FILES_OF) => patches.filter((patch) => isOnly(patch, FILES_OF[kind])).length;
  const most = (kind: keyof typeof FILES_OF): boolean => 2 * of(kind) > patches.length;
  const kindIs = (kind: keyof typeof FILES_OF): KindOfTask => ({ kind, isMixed: of(kind) < patches.length });
  if (most('docs')) return kindIs('docs');
  if (ASKS_FOR_CODE.test(title)) return CODE;
  if (ASKS_FOR_TESTS.some((form) => form.test(title)) && most('tests')) return kindIs('tests');
  return ASKS_FOR_CONFIGURATION.test(title) && most('configuration') ? kindIs('configuration') : CODE;
}

const CODE: KindOfTask = { kind: 'code', isMixed: false };
/** Longer than any title. */
const MAX_TITLE_CHARS = 300;
