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

/** `sure`: the files in which errors count: all, those whose base version has none, or none. */
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
 * Node and its options for Runoff's own programs. Optimising the parsers' WebAssembly takes longer than parsing fifty
 * files without, and vm modules let Node's own parser check ES modules.
 */
const NODE = [
  '/opt/toolchain/bin/node',
  '--no-warnings',
  '--liftoff-only',
  '--experimental-vm-modules',
] as const;
/** Path of the check programs inside every sandbox, mounted by `compose`. */
const CHECK_FOLDER = '/opt/toolchain/checks/syntax';
/** Number of base files sampled per language; our default, tune on dev data. */
const SAMPLES = 5;

/**
 * Names changed files that do not parse, as one sentence; null if all do. A language is checked only if it parses on
 * the base: a modified file counts if its base version parses, a new one if a sample of base files with its extension
 * does. All other cases are left to the build.
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

/** Base files that must parse for a file to be checked: its own version, or a sample with its extension. */
function standardFor(path: string, modified: ReadonlySet<string>, baseFiles: readonly string[]) {
  if (modified.has(path)) return [path];
  const extension = extensionOf(path);
  const alike = extension === '' ? [] : baseFiles.filter((other) => extensionOf(other) === extension);
  const wanted = Math.min(SAMPLES, alike.length);
  return Array.from({ length: wanted }, (_, at) => alike[Math.floor((at * alike.length) / wanted)] ?? path);
}

const extensionOf = (path: string): string => /\.[^./]+$/.exec(path)?.[0] ?? '';

/** Paths that do not parse on the base, for any reason. */
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

/** Paths that do not parse; null if some file made the check exceed its limits. */
const check = (runner: CheckRunner, area: WorkArea, paths: readonly string[]) =>
  runProgram(runner, area, { program: 'check.mjs', stdin: paths, schema: ParseErrors });

/** Far larger than the trees of reviewable files. Our default. */
const TREE_BYTES = 128 * 2 ** 20;

/**
 * Parses the texts of a patch in a separate area. A text that is too large has no tree; if a candidate's text makes the
 * parser exceed its limits, none of its texts has one, while those of the base keep theirs.
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

/** Output of one of Runoff's programs; null if its input made it exceed its limits or crash. */
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
    own: 'The syntax check',
    ...(limits ? { limits } : {}),
  });
  if (result.stopped || result.truncated || result.exitCode === null) return null;
  const parsed = result.exitCode === 0 ? schema.safeParse(JSON.parse(result.stdout)) : null;
  if (!parsed?.success) {
    throw new Fault(
      'INTERNAL',
      `The syntax check did not run (exit code ${result.exitCode}): ${result.stderr.slice(0, 500)}`,
    );
  }
  return parsed.data;
}
