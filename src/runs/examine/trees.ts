import { z } from 'zod';
import type { GateReport, TestRun } from '../../core/evidence/index.ts';
import { Fault } from '../../core/model/index.ts';
import { joinSections, type PatchFile } from '../../core/patches/index.ts';
import type { TestCommand } from '../../core/settings/index.ts';
import type { WorkArea } from '../../ports/index.ts';
import { type CheckRunner, inArea, inReusedArea } from './areas.ts';
import { applyPatch, areaId, type BuildFailure, build, onTopOf, runCommand, runTests } from './execute.ts';

/** The base with one production patch on it, built: one for all candidates whose production patches are equal. */
export interface Tree {
  /** The production patch; empty for the base itself. */
  readonly patch: string;
  readonly built: WorkArea;
  /** It applied, parses and builds: tests can be run on it. */
  readonly ready: boolean;
  /** What the gates `collected`, `parses` and `builds` say, as far as they were asked. */
  readonly gates: readonly GateReport[];
}

export interface Trees {
  /** `name` goes into the area's id, and must be of this run's own. */
  of(name: string, production: readonly PatchFile[]): Promise<Tree>;
  /** Removes the areas. */
  close(): Promise<void>;
}

export function openTrees(runner: CheckRunner): Trees {
  const grown = new Map<string, Promise<Tree>>();
  const areas: WorkArea[] = [];
  const grow = async (name: string, patch: string, production: readonly PatchFile[]): Promise<Tree> => {
    const id = areaId(runner.task.runId, name, 'built');
    const { area, result } = await inReusedArea(runner, id, (built) =>
      prepare(runner, built, patch, production),
    );
    areas.push(area);
    return { patch, built: area, ...result };
  };
  return {
    of(name, production) {
      const patch = joinSections(production);
      const known = grown.get(patch);
      if (known) return known;
      const tree = grow(name, patch, production);
      grown.set(patch, tree);
      return tree;
    },
    async close() {
      await Promise.allSettled(grown.values());
      for (const area of areas) await runner.world.workspaces.remove(area);
    },
  };
}

async function prepare(
  runner: CheckRunner,
  built: WorkArea,
  patch: string,
  production: readonly PatchFile[],
): Promise<Pick<Tree, 'ready' | 'gates'>> {
  const refused = await applyPatch(runner, built, patch);
  if (refused) return { ready: false, gates: [fail('collected', `does not apply: ${refused}`)] };
  const troubles = await parseErrors(runner, built, production);
  if (troubles) return { ready: false, gates: [fail('parses', troubles)] };
  const parses = pass('parses', 'every changed file whose language we can check parses');
  const broken = await build(runner, built);
  if (broken) return { ready: false, gates: [parses, unbuilt('the build ends', broken)] };
  const command = runner.task.settings.checks.build;
  const builds = pass('builds', command ? 'exit code 0' : 'there is no build command');
  return { ready: true, gates: [parses, builds] };
}

export const pass = (gate: GateReport['gate'], because: string): GateReport => ({
  gate,
  passed: true,
  because,
});
export const fail = (gate: GateReport['gate'], because: string, hunk?: string): GateReport =>
  hunk === undefined ? { gate, passed: false, because } : { gate, passed: false, because, hunk };
export const unbuilt = (what: string, broken: BuildFailure): GateReport =>
  fail('builds', `${what} with exit code ${broken.exitCode ?? 'none'}`, broken.tail);

/** What is executed on a tree. */
export interface TreeRunOptions {
  /** Of the area; it must be of this run's own. */
  readonly id: string;
  /** Test files of a candidate, put over the tree; none: the base's own tests. */
  readonly tests?: readonly PatchFile[];
  /** Absent: the whole suite. */
  readonly commands?: readonly TestCommand[];
  /** 1 for the first time. Another number is another execution, even of the same. */
  readonly attempt?: number;
}

type WithTests =
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'unbuilt'; readonly broken: BuildFailure }
  | { readonly kind: 'ran'; readonly run: TestRun };

/** Runs tests in a fresh area over a built tree, once for each (tree, tests, commands, environment, attempt). */
export function runOn(runner: CheckRunner, tree: Tree, wish: TreeRunOptions): Promise<WithTests> {
  const { id, attempt = 1 } = wish;
  const tests = joinSections(wish.tests ?? []);
  const commands = wish.commands ?? [runner.plan];
  const { base, task } = runner;
  const key = JSON.stringify([
    'tests',
    [base.sha, base.layers, runner.binds ?? [], task.settings.checks.build ?? '', task.settings.network],
    [tree.patch, tests],
    commands.map(({ command, args, env }) => [command, args, env]),
    [task.settings.timeout.check, attempt],
  ]);
  return runner.remember(key, () =>
    inArea(onTopOf(runner, tree.built), id, async (area): Promise<WithTests> => {
      const why = await applyPatch(runner, area, tests);
      if (why) return { kind: 'refused', why };
      // Compiled languages keep tests in the build's output, so it is made again with them.
      const broken = tests === '' ? null : await build(runner, area);
      if (broken) return { kind: 'unbuilt', broken };
      return { kind: 'ran', run: await runTests(runner, area, commands) };
    }),
  );
}

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
/** Where `compose` puts it inside every sandbox. */
const PROGRAM = '/opt/runoff/checks/syntax/check.mjs';
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
  return theirs.length === 0 ? null : theirs.slice(0, 3).map(sentence).join('; ');
}

const sentence = ({ path, line, message }: ParseError): string =>
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
async function check(
  runner: CheckRunner,
  area: WorkArea,
  paths: readonly string[],
): Promise<readonly ParseError[] | null> {
  const result = await runCommand(runner, area, { argv: [...NODE, PROGRAM], stdin: JSON.stringify(paths) });
  if (result.stopped || result.truncated) return null;
  const parsed = result.exitCode === 0 ? ParseErrors.safeParse(JSON.parse(result.stdout)) : null;
  if (!parsed?.success) {
    throw new Fault(
      'INTERNAL',
      `The syntax check did not run (exit code ${result.exitCode ?? 'none'}): ${result.stderr.slice(0, 500)}`,
    );
  }
  return parsed.data;
}
