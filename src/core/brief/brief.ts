import { Brief, type Question, type Usd } from '../model/index.ts';
import { PATCH_LIMITS, pathFaults, roleOf } from '../patches/index.ts';
import { oneLine } from '../prompts/index.ts';
import type { Settings } from '../settings/index.ts';

const TITLES = {
  goal: 'Goal',
  definitionOfDone: 'Done means',
  plan: 'Plan',
  assumptions: 'Assumptions',
  questions: 'Open questions',
} as const;
type SpecSection = keyof typeof TITLES;

/** The brief as a text for critics to debate: fixed sections, one line per statement. */
export function briefSpec(brief: Brief): string {
  const bullets = (lines: readonly string[]) => lines.map((line) => `- ${oneLine(line)}`);
  const parts: Readonly<Record<SpecSection, readonly string[]>> = {
    // A goal may begin with the number of an issue, which must not become a heading.
    goal: [oneLine(brief.goal).replace(/^[\\#]/, '\\$&')],
    definitionOfDone: bullets(brief.definitionOfDone),
    plan: bullets(brief.plan),
    assumptions: bullets(brief.assumptions),
    questions: bullets(brief.questions.map(questionLine)),
  };
  const sections = Object.entries(TITLES).map(([part, title]) => {
    const lines = parts[part as SpecSection];
    return lines.length === 0 ? `## ${title}` : `## ${title}\n\n${lines.join('\n')}`;
  });
  return `${sections.join('\n\n')}\n`;
}

/**
 * Parses a debated spec as a brief. Null if the text is no longer one: a section was removed or added, a statement is
 * outside a list, something is too long, or a question is new. Removed questions are settled.
 */
export function briefFrom(spec: string, brief: Brief): Brief | null {
  const sections = specSections(spec);
  if (sections === null) return null;
  const lists = {
    definitionOfDone: listItems(sections.definitionOfDone),
    plan: listItems(sections.plan),
    assumptions: listItems(sections.assumptions),
    questions: listItems(sections.questions),
  };
  const { definitionOfDone, plan, assumptions } = lists;
  const questions = knownQuestions(lists.questions, brief.questions);
  if (!definitionOfDone || !plan || !assumptions || !questions) return null;
  const goal = oneLine(sections.goal.join(' ')).replace(/^\\([\\#])/, '$1');
  const parsed = Brief.safeParse({ ...brief, goal, definitionOfDone, plan, assumptions, questions });
  return parsed.success ? { ...brief, ...parsed.data } : null;
}

const questionLine = ({ severity, text }: Question): string => `(${severity}) ${text}`;

function knownQuestions(lines: readonly string[] | null, questions: readonly Question[]): Question[] | null {
  const known = new Map(questions.map((question) => [oneLine(questionLine(question)), question]));
  const found = lines?.map((line) => known.get(line));
  return found?.every((question) => question !== undefined) ? (found as Question[]) : null;
}

function specSections(spec: string): Record<SpecSection, string[]> | null {
  const parts = Object.keys(TITLES) as SpecSection[];
  const found: Record<SpecSection, string[]> = {
    goal: [],
    definitionOfDone: [],
    plan: [],
    assumptions: [],
    questions: [],
  };
  let at = -1;
  for (const line of spec.split('\n')) {
    if (line.startsWith('#')) {
      at += 1;
      const part = parts[at];
      if (part === undefined || line.trim() !== `## ${TITLES[part]}`) return null;
    } else if (line.trim() !== '') {
      const part = parts[at];
      if (part === undefined) return null;
      found[part].push(line);
    }
  }
  return at === parts.length - 1 ? found : null;
}

/** A line that begins no item continues the previous one. */
function listItems(lines: readonly string[]): string[] | null {
  const items: string[] = [];
  for (const line of lines) {
    const item = /^\s{0,3}(?:[-*]|\d{1,2}[.)])\s+(.*)$/.exec(line)?.[1];
    if (item !== undefined) items.push(oneLine(item));
    else if (items.length === 0) return null;
    else items.push(oneLine(`${items.pop()} ${line}`));
  }
  return items;
}

/** What was left out of a planner's answer and why, one sentence each for people. */
interface CheckedBrief {
  readonly brief: Brief;
  readonly notes: readonly string[];
}

/**
 * Validates a planner's answer against the repository: a file must be tracked, or be new in an existing folder; a
 * test that may change must be tracked. A command is one line of printable text: it is shown, never executed (I6).
 */
export function checkBrief(brief: Brief, paths: readonly string[]): CheckedBrief {
  const known = new Set(paths);
  const folders = new Set(['', ...paths.flatMap(foldersAbove)]);
  const notes: string[] = [];
  const drop = (what: string, path: string): false => {
    notes.push(`${what}: ${JSON.stringify(path.slice(0, 120))} was left out.`);
    return false;
  };
  const mayBe = (path: string): boolean =>
    known.has(path) || (pathFaults(path, PATCH_LIMITS).length === 0 && folders.has(parentFolder(path)));
  const files = [...new Set(brief.files)].filter(
    (path) => mayBe(path) || drop('No such file or folder in the repository', path),
  );
  const changedTests = (brief.changedTests ?? []).filter(
    // A declaration is matched as a glob, but must match only one file.
    (path) =>
      (known.has(path) && roleOf(path) === 'test' && !/[*?]/.test(path)) ||
      drop('Not a test of the repository', path),
  );
  const { testCommand, ...rest } = brief;
  return {
    brief: {
      ...rest,
      files,
      changedTests,
      ...(testCommand && isOneLine(testCommand) ? { testCommand: testCommand.trim() } : {}),
    },
    notes,
  };
}

/** The folders that a path is in, the top one included. */
function foldersAbove(path: string): readonly string[] {
  const parent = parentFolder(path);
  return parent === '' ? [''] : [parent, ...foldersAbove(parent)];
}

const parentFolder = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

const isOneLine = (text: string): boolean => /^[^\p{Cc}\p{Cf}\u2028\u2029]+$/u.test(text.trim());

interface Triage {
  readonly debate: boolean;
  /** One clause. */
  readonly because: string;
}

/**
 * Whether a debate is worth its cost. No study shows that debating the spec among several personas makes merged code
 * more correct, and it costs several calls, so by default it is held only if the brief indicates a high risk.
 */
export function triage({ questions, risk }: Brief, { debate }: Pick<Settings, 'debate'>): Triage {
  if (debate === 'never') return { debate: false, because: 'debates are off' };
  if (debate === 'always') return { debate: true, because: 'the repository asks for one each time' };
  const blocking = questions.filter(({ severity }) => severity === 'blocking').length;
  if (blocking > 0) {
    const what = blocking === 1 ? 'a blocking question' : `${blocking} blocking questions`;
    return { debate: true, because: `the planner has ${what}` };
  }
  if (risk?.level === 'high') return { debate: true, because: 'the planner sees a high risk' };
  return { debate: false, because: 'nothing blocks and the risk is not high' };
}

/** Maximum paths that are shown. Default: about 10,000 tokens. */
const MAX_PATHS = 600;
const MAX_LANGUAGES = 8;

interface RepositoryMap {
  /** Most frequent file extensions, `.ts 120, .md 14`. */
  readonly languages: string;
  /** One path per line; for a large repository the shallow ones, with the number left out of each folder. */
  readonly tree: string;
}

/** What a planner sees of a repository before it requests files. */
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

/** Tokens that one coder uses on a task of a given size, lower and upper bound. */
interface TokenRange {
  /** In, mostly read from a cache. */
  readonly tokensIn: readonly [least: number, most: number];
  readonly tokensOut: readonly [least: number, most: number];
}

/** Defaults from runs of agents on small repositories, to be tuned on the ledger of real runs. */
export const TOKENS_BY_SIZE: Readonly<Record<NonNullable<Brief['size']>, TokenRange>> = {
  small: { tokensIn: [60_000, 300_000], tokensOut: [3_000, 12_000] },
  medium: { tokensIn: [200_000, 1_200_000], tokensOut: [8_000, 40_000] },
  large: { tokensIn: [800_000, 4_000_000], tokensOut: [30_000, 120_000] },
};

/**
 * Share of a coder's input that providers read from their caches: each turn sends the whole conversation again.
 * Default.
 */
const CACHED_SHARE = 0.8;

/** Additional cost of planning, generated tests and judging, relative to the coders' cost. Default. */
const OVERHEAD_SHARE = 0.15;

interface Forecast {
  /** US dollars. */
  readonly least: Usd;
  readonly most: Usd;
}

/** Cost of tokens for one contestant's model in US dollars; null if unknown. */
type CostOf = (tokens: {
  readonly tokensIn: number;
  /** The part of `tokensIn` read from a provider's cache. */
  readonly tokensCached: number;
  readonly tokensOut: number;
}) => Usd | null;

/**
 * Estimated cost of a run, never above its caps. `first`: contestants that start in any case; default: all. Null if the
 * size of the work or the price of a model is unknown.
 */
export function forecast(
  { size }: Pick<Brief, 'size'>,
  { budget }: Pick<Settings, 'budget'>,
  contestants: readonly CostOf[],
  first = contestants.length,
): Forecast | null {
  if (size === undefined || contestants.length === 0) return null;
  const range = TOKENS_BY_SIZE[size];
  const sum = (end: 0 | 1, of: readonly CostOf[]): number | null =>
    of.reduce<number | null>((total, costOf) => {
      const tokensIn = range.tokensIn[end];
      const usd = costOf({
        tokensIn,
        tokensCached: tokensIn * CACHED_SHARE,
        tokensOut: range.tokensOut[end],
      });
      return total === null || usd === null ? null : total + Math.min(usd, budget.candidate);
    }, 0);
  const [least, most] = [sum(0, contestants.slice(0, first)), sum(1, contestants)];
  if (least === null || most === null) return null;
  const capped = (usd: number) => Math.min(budget.run, usd * (1 + OVERHEAD_SHARE));
  return { least: capped(least), most: capped(most) };
}
