import { z } from 'zod';
import { Fault } from '../../core/model/index.ts';
import type { PatchFile } from '../../core/patches/index.ts';
import type { WorkArea } from '../../ports/index.ts';
import { type Bench, runCommand } from './execute.ts';
import { inArea } from './in-area.ts';

/** `sure` says in which files trouble counts: in all, in those whose own base version has none, or in none. */
const Troubles = z.array(
  z.object({
    path: z.string(),
    sure: z.enum(['always', 'if-it-parsed', 'never']),
    line: z.number().optional(),
    message: z.string(),
  }),
);
type Trouble = z.infer<typeof Troubles>[number];

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
/** Where `compose` puts it inside every sandbox. */
const PROGRAM = '/opt/runoff/checks/syntax/check.mjs';
/** Files of the base that stand for a language; our default, tune on dev data. */
const SAMPLES = 5;

/**
 * Changed files that do not parse, as one sentence; null when all is well. A language is judged only by what parses on
 * the base: a modified file counts when its own base version parses, a new one when a sample of the base's files with
 * its extension does. The rest is left to the build.
 */
export async function parseTroubles(
  bench: Bench,
  area: WorkArea,
  files: readonly PatchFile[],
): Promise<string | null> {
  const paths = files.filter((file) => file.change !== 'deleted').map((file) => file.path);
  if (paths.length === 0) return null;
  const modified = new Set(files.filter((file) => file.change === 'modified').map((file) => file.path));
  const counts = ({ sure, path }: Trouble) =>
    sure === 'always' || (sure === 'if-it-parsed' && modified.has(path));
  const found = (await check(bench, area, paths))?.filter(counts) ?? [];
  if (found.length === 0) return null;
  const standard = new Map(found.map(({ path }) => [path, standardFor(path, modified, bench.baseFiles)]));
  const unread = await unreadOnBase(bench, area.id, [...new Set([...standard.values()].flat())]);
  const theirs = found.filter(({ path }) => {
    const base = standard.get(path) ?? [];
    return base.length > 0 && base.every((each) => !unread.has(each));
  });
  return theirs.length === 0 ? null : theirs.slice(0, 3).map(sentence).join('; ');
}

const sentence = ({ path, line, message }: Trouble): string =>
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
  bench: Bench,
  id: string,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  return inArea(bench, `${id}-syntax`, async (area) => {
    const found = await check(bench, area, paths);
    return new Set(found?.map((trouble) => trouble.path) ?? paths);
  });
}

/** What does not parse among these files; null when some of them made the check exceed its limits. */
async function check(
  bench: Bench,
  area: WorkArea,
  paths: readonly string[],
): Promise<readonly Trouble[] | null> {
  const result = await runCommand(bench, area, { argv: [...NODE, PROGRAM], stdin: JSON.stringify(paths) });
  if (result.stopped || result.truncated) return null;
  const parsed = result.exitCode === 0 ? Troubles.safeParse(JSON.parse(result.stdout)) : null;
  if (!parsed?.success) {
    throw new Fault(
      'INTERNAL',
      `The syntax check did not run (exit code ${result.exitCode ?? 'none'}): ${result.stderr.slice(0, 500)}`,
    );
  }
  return parsed.data;
}
