import { z } from 'zod';
import { byCodeUnits } from '../model/index.ts';
import { problemsOf, readSettingsText } from '../settings/index.ts';
import { jsonOfLine, numberedLines } from './lines.ts';

/** Version of the files of a contest: `contest.yml`, datasets, samples, bases and votes. */
export const ARENA_VERSION = 1;

/** The name of a contestant or a task. It may look like a path and is never used as one. */
export const ArenaId = z
  .string()
  .regex(/^[\w@][\w.:/@+-]{0,199}$/, 'use letters, digits and . _ - : / @ +, at most 200');

/** A path, relative to the folder of the file that names it. */
export const FilePath = z
  .string()
  .min(1)
  .max(1000)
  .refine((path) => !path.includes('\0'), { error: 'a path cannot contain a NUL' });

/** Characters of a prompt or statement; a context window of the largest models has some four million. */
const MAX_TEXT_CHARS = 1_000_000;
const Text = z.string().min(1).max(MAX_TEXT_CHARS);
/** One line for `/bin/sh`, as in the settings `checks.*`. */
const ShellLine = z.string().min(1).max(10_000);
const ShellLines = z.preprocess(
  (value) => (typeof value === 'string' ? [value] : value),
  z.array(ShellLine).min(1, 'name at least one command').max(50),
);

/**
 * Limits of `contest.yml` and YAML datasets: they hold prompts and about a thousand tasks, which the parser reads in two
 * seconds. Prompts may contain code with many brackets. Our defaults.
 */
export const CONTEST_YAML = {
  bytes: 4 * 2 ** 20,
  tokens: 20_000,
  depth: 64,
  tooMany:
    'The file has more than 20,000 keys and values: put the tasks into a `.jsonl` file, which has no limit.',
} as const;

const common = { version: z.literal(ARENA_VERSION).optional(), id: ArenaId };

/** A question that is answered by a text. Its answers are compared by votes. */
const TextTask = z.strictObject({
  ...common,
  kind: z.literal('text'),
  prompt: Text,
  /** A good answer, shown to voters and judges, never to contestants. */
  reference: Text.optional(),
});

/** Where a task comes from; for people, and for tasks made from a repository's history. */
const TaskOrigin = z.strictObject({
  /** The commit that solved it. */
  commit: z.string().max(100).optional(),
  /** The issue or pull request, as a number or an address. */
  issue: z.string().max(1000).optional(),
  title: z.string().max(1000).optional(),
  /** What `statement` is: the text of the issue, or the message of the commit. */
  statement: z.enum(['issue', 'message']).optional(),
  /** When it was solved, ISO 8601. */
  at: z.iso.datetime({ offset: true }).optional(),
});

/** Work on a repository, answered by a change and verified by execution. */
const RepoTask = z.strictObject({
  ...common,
  kind: z.literal('repo'),
  /** A folder with the files to start from, or a commit of a local repository. */
  base: z.union([
    z.strictObject({ template: FilePath }),
    z.strictObject({
      repository: FilePath,
      // A branch or tag would make another task of it when it moves.
      commit: z.string().regex(/^[0-9a-f]{40}$/, 'write the full name of a commit, 40 hex digits'),
    }),
  ]),
  statement: Text,
  /** Set-up and build of the base, as in the settings; absent: detected; empty: none. */
  setup: z.string().max(10_000).optional(),
  build: z.string().max(10_000).optional(),
  /** Commands that must all succeed once the task is solved. They run in the sandbox, in this order. */
  verify: ShellLines,
  /** A folder whose files are laid over the answer before it is verified. No contestant can read them. */
  hiddenTests: FilePath.optional(),
  /** Commands that run the hidden tests; default: `verify`. */
  hiddenVerify: ShellLines.optional(),
  /** A file with a unified diff that solves the task. */
  reference: FilePath.optional(),
  origin: TaskOrigin.optional(),
});

export type TextTask = Omit<z.infer<typeof TextTask>, 'version'>;
export type RepoTask = Omit<z.infer<typeof RepoTask>, 'version'>;
export type ArenaTask = TextTask | RepoTask;

interface ParsedTasks {
  readonly tasks: readonly ArenaTask[];
  /** Each begins with `file:line` and says what is wrong. */
  readonly problems: readonly string[];
}

/** Maximum number of problems that are listed; the others appear when these are fixed. */
const MAX_PROBLEMS = 20;

/**
 * Reads a dataset: one task a line (`.jsonl`), or YAML with `version: 1` and `tasks:`. Ids are unique; an empty dataset
 * is a problem. Never throws.
 */
export function readTasks(text: string, fileName: string): ParsedTasks {
  const read = /\.ya?ml$/i.test(fileName) ? yamlTasks(text, fileName) : jsonTasks(text, fileName);
  return read.problems.length === 0 && read.tasks.length === 0
    ? { tasks: [], problems: [`${fileName}: The dataset has no tasks.`] }
    : { tasks: read.tasks, problems: read.problems.slice(0, MAX_PROBLEMS) };
}

const Dataset = z.strictObject({ version: z.literal(ARENA_VERSION), tasks: z.array(z.unknown()) });

function yamlTasks(text: string, fileName: string): ParsedTasks {
  const read = readSettingsText(text, fileName, CONTEST_YAML);
  if (read.kind === 'invalid') return { tasks: [], problems: read.problems };
  const { value, locate } = read;
  const parsed = Dataset.safeParse(value ?? {});
  if (parsed.success) return tasksFrom(parsed.data.tasks, (at, path) => locate(['tasks', at, ...path]));
  const found = problemsOf(parsed.error, { schema: Dataset, kind: 'field' });
  return { tasks: [], problems: found.map(({ path, message }) => locate(path) + message) };
}

function jsonTasks(text: string, fileName: string): ParsedTasks {
  const problems: string[] = [];
  const values: { readonly value: unknown; readonly line: number }[] = [];
  for (const { text: one, line } of numberedLines(text)) {
    const read = jsonOfLine(one);
    if (read.kind === 'json') values.push({ value: read.value, line });
    else problems.push(`${fileName}:${line}: ${read.why}`);
  }
  const read = tasksFrom(
    values.map(({ value }) => value),
    (at) => `${fileName}:${values[at]?.line ?? 0}: `,
  );
  return { tasks: read.tasks, problems: [...problems, ...read.problems] };
}

/** Checks tasks from a file; `locate` gives the place of a task's field, as the start of a sentence. */
export function tasksFrom(
  values: readonly unknown[],
  locate: (at: number, path: readonly PropertyKey[]) => string,
): ParsedTasks {
  const problems: string[] = [];
  const tasks = values.flatMap((value, at) => {
    const schema = kindOf(value) === 'text' ? TextTask : kindOf(value) === 'repo' ? RepoTask : null;
    if (!schema) {
      problems.push(`${locate(at, [])}A task needs \`kind: text\` or \`kind: repo\`.`);
      return [];
    }
    const parsed = schema.safeParse(value);
    if (parsed.success) {
      const { version: _, ...task } = parsed.data;
      return [{ task: task as ArenaTask, at }];
    }
    const found = problemsOf(parsed.error, { schema, kind: 'field' });
    problems.push(...found.map(({ path, message }) => locate(at, path) + message));
    return [];
  });
  const ids = tasks.map(({ task }) => task.id);
  for (const id of repeated(ids)) {
    const last = tasks.findLast(({ task }) => task.id === id);
    problems.push(`${locate(last?.at ?? 0, ['id'])}Two tasks have the id \`${id}\`.`);
  }
  return { tasks: tasks.map(({ task }) => task), problems };
}

const kindOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'kind' in value ? value.kind : undefined;

/** One line of a dataset, with its line end. */
export const taskLine = (task: ArenaTask): string =>
  `${JSON.stringify({ version: ARENA_VERSION, ...task })}\n`;

/** Each text that occurs more than once, in order of code units. */
export function repeated(ids: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const id of ids) (seen.has(id) ? twice : seen).add(id);
  return [...twice].toSorted(byCodeUnits);
}
