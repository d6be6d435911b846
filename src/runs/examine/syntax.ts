import { z } from 'zod';
import type { PatchTexts } from '../../core/evidence/index.ts';
import { Fault } from '../../core/model/index.ts';
import type { PatchFile } from '../../core/patches/index.ts';
import {
  grammarOf,
  NO_SYNTAX_TREES,
  PrintedTree,
  parsedText,
  type SourceText,
  type SyntaxTrees,
  syntaxTrees,
} from '../../core/source/index.ts';
import type { Limits, WorkArea } from '../../ports/index.ts';
import { checkLimits } from '../context.ts';
import { type CheckRunner, inArea } from './areas.ts';
import { runCommand } from './execute.ts';

/** `sure` says in which files trouble counts: in all, in those whose own base version has none, or in none. */
const ParseErrors = z.array(
  z.object({
    path: z.string(),
    sure: z.enum(['always', 'if-it-parsed', 'never']),
    line: z.number().optional(),
    message: z.string(),
  }),
);
type ParseError = z.infer<typeof ParseErrors>[number];

/**
 * How Node runs our programs: it takes longer to optimise a parser than to read fifty files without, and modules are read
 * by the parser that is there already.
 */
const NODE = [
  '/opt/runoff/bin/node',
  '--no-warnings',
  '--liftoff-only',
  '--experimental-vm-modules',
] as const;
/** Where `compose` puts them inside every sandbox. */
const CHECK_FOLDER = '/opt/runoff/checks/syntax';
/** Files of the base that stand for a language; our default, tune on dev data. */
const SAMPLES = 5;

/**
 * Changed files that do not parse, as one sentence; null when all is well. A language is judged only by what parses on
 * the base: a modified file counts when its own base version parses, a new one when a sample of the base's files with
 * its extension does. The rest is left to the build.
 */
export async function parseErrors(
  runner: CheckRunner,
  area: WorkArea,
  files: readonly PatchFile[],
): Promise<string | null> {
  const paths = files.filter((file) => file.change !== 'deleted').map((file) => file.path);
  if (paths.length === 0) return null;
  const modified = new Set(files.filter((file) => file.change === 'modified').map((file) => file.path));
  const counts = ({ sure, path }: ParseError) =>
    sure === 'always' || (sure === 'if-it-parsed' && modified.has(path));
  const found = (await check(runner, area, paths))?.filter(counts) ?? [];
  if (found.length === 0) return null;
  const standard = new Map(found.map(({ path }) => [path, standardFor(path, modified, runner.baseFiles)]));
  const unread = await unreadOnBase(runner, area.id, [...new Set([...standard.values()].flat())]);
  const theirs = found.filter(({ path }) => {
    const base = standard.get(path) ?? [];
    return base.length > 0 && base.every((each) => !unread.has(each));
  });
  return theirs.length === 0 ? null : theirs.slice(0, 3).map(parseErrorText).join('; ');
}

const parseErrorText = ({ path, line, message }: ParseError): string =>
  `${path}${line === undefined ? '' : `:${line}`}: ${message.slice(0, 200)}`;

/** Files of the base that must parse for a file to be held to it: itself, or a sample spread over its extension. */
function standardFor(path: string, modified: ReadonlySet<string>, baseFiles: readonly string[]) {
  if (modified.has(path)) return [path];
  const extension = extensionOf(path);
  const alike = extension === '' ? [] : baseFiles.filter((other) => extensionOf(other) === extension);
  const wanted = Math.min(SAMPLES, alike.length);
  return Array.from({ length: wanted }, (_, at) => alike[Math.floor((at * alike.length) / wanted)] ?? path);
}

const extensionOf = (path: string): string => /\.[^./]+$/.exec(path)?.[0] ?? '';

/** Those of the paths that do not parse on the base, for whatever reason. */
async function unreadOnBase(
  runner: CheckRunner,
  id: string,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  return inArea(runner, `${id}-syntax`, async (area) => {
    const found = await check(runner, area, paths);
    return new Set(found?.map((trouble) => trouble.path) ?? paths);
  });
}

/** What does not parse among these files; null when some of them made the check exceed its limits. */
const check = (runner: CheckRunner, area: WorkArea, paths: readonly string[]) =>
  runProgram(runner, area, { program: 'check.mjs', stdin: paths, schema: ParseErrors });

/** Far above the trees of what people review. Our default. */
const TREE_BYTES = 128 * 2 ** 20;

/**
 * Parses the texts of a patch in an area of their own. A text that is too much for the parser has no tree; where what the
 * candidate wrote makes the parser exceed its limits, none of its texts has one, and those of the base have theirs.
 */
export async function parseSources(
  runner: CheckRunner,
  id: string,
  { base, patched }: PatchTexts,
): Promise<SyntaxTrees> {
  if (patched.length === 0) return NO_SYNTAX_TREES;
  return inArea(runner, id, async (area) => {
    const all = [...base, ...patched];
    const printed = await parse(runner, area, all);
    return syntaxTrees(all, printed ?? (await parse(runner, area, base)) ?? []);
  });
}

const parse = (runner: CheckRunner, area: WorkArea, sources: readonly SourceText[]) =>
  runProgram(runner, area, {
    program: 'parse.mjs',
    stdin: sources.map((source) => ({ grammar: grammarOf(source.path), text: parsedText(source) })),
    limits: { ...checkLimits(runner.task), outputBytes: TREE_BYTES },
    schema: z.array(PrintedTree),
  });

/** What one of our programs prints; null when its input made it exceed its limits. */
async function runProgram<T>(
  runner: CheckRunner,
  area: WorkArea,
  {
    program,
    stdin,
    schema,
    limits,
  }: {
    readonly program: string;
    readonly stdin: readonly unknown[];
    readonly schema: z.ZodType<T>;
    readonly limits?: Limits;
  },
): Promise<T | null> {
  const result = await runCommand(runner, area, {
    argv: [...NODE, `${CHECK_FOLDER}/${program}`],
    stdin: JSON.stringify(stdin),
    ...(limits ? { limits } : {}),
  });
  if (result.stopped || result.truncated) return null;
  const parsed = result.exitCode === 0 ? schema.safeParse(JSON.parse(result.stdout)) : null;
  if (!parsed?.success) {
    throw new Fault(
      'INTERNAL',
      `The syntax check did not run (exit code ${result.exitCode ?? 'none'}): ${result.stderr.slice(0, 500)}`,
    );
  }
  return parsed.data;
}
