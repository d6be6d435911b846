import { byCodeUnits } from '../model/index.ts';

/** A file of the base that a model may see. */
interface ShownFile {
  readonly path: string;
  readonly text: string;
}

/** Characters of files in one prompt, some fifty thousand tokens. Our default. */
export const MAX_SHOWN_CHARS = 200_000;
/** Paths in one prompt. */
const MAX_PATHS = 2_000;

/** Not shown as text: large, generated or without meaning for a change. */
const NOT_READ =
  /(?:^|\/)(?:package-lock\.json|pnpm-lock\.yaml|yarn\.lock|Cargo\.lock|poetry\.lock|go\.sum|composer\.lock)$|\.(?:png|jpe?g|gif|webp|ico|pdf|zip|gz|tgz|jar|woff2?|ttf|eot|mp[34]|wasm|so|dylib|dll|exe|bin|snap|min\.js|map)$|(?:^|\/)(?:node_modules|vendor|dist)\//i;

const lowerWords = (text: string): ReadonlySet<string> =>
  new Set((text.toLowerCase().match(/[a-z_][a-z0-9_]{2,}/g) ?? []).slice(0, 2_000));

/**
 * Paths in the order in which their files are read for a prompt: named in the statement first, then by words that path
 * and statement share, then by name. The order depends on nothing else, so the same task is always the same question.
 */
export function pathsByInterest(paths: readonly string[], statement: string): readonly string[] {
  const asked = lowerWords(statement);
  const interest = (path: string): number => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const named = statement.includes(path) ? 1_000 : statement.includes(name) ? 500 : 0;
    return named + [...lowerWords(path.replaceAll(/[/.-]/g, ' '))].filter((word) => asked.has(word)).length;
  };
  const rated = paths.filter((path) => !NOT_READ.test(path)).map((path) => ({ path, by: interest(path) }));
  return rated.toSorted((a, b) => b.by - a.by || byCodeUnits(a.path, b.path)).map(({ path }) => path);
}

interface RepositoryQuestion {
  readonly statement: string;
  readonly paths: readonly string[];
  readonly files: readonly ShownFile[];
  /** The commands that verify the answer, without the hidden ones. */
  readonly verify: readonly string[];
}

/** What a plain model call is asked for a task on a repository. */
export function repositoryPrompt({ statement, paths, files, verify }: RepositoryQuestion): string {
  const listed = paths.slice(0, MAX_PATHS);
  const more = paths.length - listed.length;
  return [
    '# Task',
    statement.trim(),
    '# Answer',
    'Answer with one unified diff against the files below, in one code block, and nothing else: `--- a/path`, `+++ b/path`, hunks with three lines of context, `/dev/null` for a file that is new or deleted. You cannot run anything. Nobody answers questions.',
    `The change is verified with: ${verify.map((command) => `\`${command}\``).join(', ')}. Changes to the settings of the test runner do not count.`,
    `# Files of the repository\n\n${listed.join('\n')}${more > 0 ? `\n(${more} more)` : ''}`,
    ...files.map(({ path, text }) => `## ${path}\n\n${fenced(text)}`),
  ].join('\n\n');
}

function fenced(text: string): string {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text.trimEnd()}\n${fence}`;
}

/** The one more turn of a model whose answer could not be used. */
export const repairPrompt = (why: string): string =>
  `Your answer could not be used: ${why}\n\nAnswer again with the whole corrected diff, in one code block, and nothing else.`;
