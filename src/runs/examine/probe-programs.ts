import { z } from 'zod';
import { DerivedTests, ProbeOutput, type ProbeRun, readProbeRun } from '../../core/evidence/index.ts';
import { asInUsual, USUAL_SURROUNDINGS } from '../../core/model/index.ts';
import { shellQuoted, type TestCommand } from '../../core/settings/index.ts';
import type { Limits } from '../../ports/index.ts';
import { checkLimits } from '../context.ts';
import { type CheckRunner, inArea } from './areas.ts';
import { areaId, runCommand, withTopLayer } from './execute.ts';
import type { BuiltCandidate } from './probe-comparison.ts';
import { probeSources } from './probe-sources.ts';
import type { Tree } from './trees.ts';

const NODE = '/opt/toolchain/bin/node';
const PROGRAMS = '/opt/toolchain/checks/probes';
const GRAMMARS = '/opt/toolchain/grammars';

/** Milliseconds for one run of all probes on one tree. Our default. */
const RUN_MS = 20_000;
const OUTPUT_BYTES = 24 * 2 ** 20;

/** The derived test files; without those of candidates if the program fails on them. Null if it fails anyway. */
export async function deriveTests(
  runner: CheckRunner,
  base: Tree,
  ready: readonly BuiltCandidate[],
): Promise<DerivedTests | null> {
  const { tests, added } = probeSources(runner, ready);
  const name = await packageName(runner);
  const derive = async (step: string, some: typeof added): Promise<DerivedTests | null> => {
    const stdin = JSON.stringify({
      issue: runner.asked ?? '',
      root: '.',
      tests,
      added: some,
      changed: changedCode(ready),
      helper: `${PROGRAMS}/observe.cjs`,
      ...name,
    });
    const argv = [NODE, '--no-warnings', `${PROGRAMS}/derive.mjs`, GRAMMARS] as const;
    const id = areaId(runner.task.runId, 'probe', step);
    const result = await inArea(withTopLayer(runner, base.built), id, (area) =>
      runCommand(runner, area, { argv: [...argv], stdin, limits: probeLimits(runner) }),
    );
    return result.exitCode === 0 && !result.truncated ? parsedOutput(DerivedTests, result.stdout) : null;
  };
  const all = await derive('derive', added);
  return all === null && added.length > 0 ? derive('derive-base', []) : all;
}

/** Maximum length of changed code that is read, in characters. */
const MAX_CHANGED_CHARS = 400_000;

/** The candidates' changed code with surrounding lines, in an order independent of the candidates'. */
function changedCode(ready: readonly BuiltCandidate[]): string {
  const files = ready.flatMap(({ patch }) => (patch ? patch.production : []));
  const texts = files.map((file) =>
    file.hunks.flatMap(({ lines }) => lines.map(({ text }) => text)).join('\n'),
  );
  return [...new Set(texts)].sort().join('\n').slice(0, MAX_CHANGED_CHARS);
}

/** Tests may import the package by its own name. */
async function packageName({ world, source, task }: CheckRunner): Promise<{ readonly packageName?: string }> {
  const text = await world.workspaces.readFile(source, task.base.sha, 'package.json');
  const found = text === null ? null : parsedOutput(Manifest, text);
  return found ? { packageName: found.name } : {};
}

const Manifest = z.object({ name: z.string().max(300) });

/** What is run on a tree: derived files, by a command that runs only them. */
export interface ProbeRequest {
  readonly derived: DerivedTests;
  readonly command: string;
}

/** As the test command of the repository runs test files. */
export function probeRequestOf({ plan }: CheckRunner, derived: DerivedTests): ProbeRequest {
  const paths = derived.files.map(({ path }) => path);
  return { derived, command: inSequence(plan.focus(paths) ?? plan.commands) };
}

/** Maximum number of files that share processes: they run one after the other, within `RUN_MS`. Our default. */
const MAX_FILES_IN_FEW = 16;

/**
 * The same with all files of the base in one process, and those of each candidate in another: code of two authors never
 * shares a process. Null if the test runner cannot do that, or if there are too many files.
 */
export function requestInFewProcesses({ plan }: CheckRunner, derived: DerivedTests): ProbeRequest | null {
  if (derived.files.length > MAX_FILES_IN_FEW) return null;
  const byAuthors = Map.groupBy(derived.files, ({ by }) => JSON.stringify(by));
  const commands: ShellCommand[] = [];
  for (const files of byAuthors.values()) {
    const focused = plan.focus(files.map(({ path }) => path));
    if (focused === null) return null;
    for (const { inOneProcess, args } of focused) {
      if (inOneProcess === undefined) return null;
      commands.push({ command: inOneProcess, args });
    }
  }
  return { derived, command: inSequence(commands) };
}

type ShellCommand = Pick<TestCommand, 'command' | 'args'>;

const inSequence = (commands: readonly ShellCommand[]): string => commands.map(withArguments).join('; ');

const withArguments = ({ command, args }: ShellCommand): string =>
  args.length === 0 ? command : `set -- ${args.map(shellQuoted).join(' ')}; ${command}`;

export interface ProbeResult {
  readonly run: ProbeRun;
  /** What hung or ended the process. */
  readonly stuck: readonly ProbeFailure[];
  /** Milliseconds of the command. */
  readonly ms: number;
}

/** Runs the probes on a tree, in the area `id`, without those to skip. Null if the program failed. */
export async function runProbes(
  runner: CheckRunner,
  tree: Tree,
  {
    id,
    derived,
    command,
    skip = [],
  }: ProbeRequest & { readonly id: string; readonly skip?: readonly ProbeFailure[] },
): Promise<ProbeResult | null> {
  const { surroundings } = runner;
  const argv = [NODE, '--no-warnings', `${PROGRAMS}/run.mjs`] as const;
  const stdin = JSON.stringify({
    files: derived.files.map(({ path, text }) => ({ path, text })),
    command: surroundings ? command.replaceAll(USUAL_SURROUNDINGS.home, surroundings.home) : command,
    // Otherwise the order of Python sets differs between runs.
    env: { PYTHONHASHSEED: '0' },
    skip,
    limits: { wallMs: RUN_MS },
  });
  const result = await inArea(withTopLayer(runner, tree.built), id, (area) =>
    runCommand(runner, area, { argv: [...argv], stdin, limits: probeLimits(runner) }),
  );
  if (result.exitCode !== 0 || result.truncated) return null;
  // A value that depends on the surroundings is not behaviour.
  const printed = surroundings ? asInUsual(result.stdout, surroundings) : result.stdout;
  const output = parsedOutput(ProbeOutput, printed);
  return output && { run: readProbeRun(output, derived), stuck: probeFailuresIn(output), ms: result.ms };
}

const probeLimits = (runner: CheckRunner): Limits => ({
  ...checkLimits(runner.task),
  wallMs: Math.min(checkLimits(runner.task).wallMs, 2 * RUN_MS),
  outputBytes: OUTPUT_BYTES,
});

/** A probe that hung or ended the process. */
export interface ProbeFailure {
  readonly key: string;
  readonly call?: string;
}

function probeFailuresIn({ lines }: ProbeOutput): readonly ProbeFailure[] {
  return lines.flatMap((line) => {
    const [type, key, call] = Array.isArray(line) ? (line as unknown[]) : [];
    const stuck = (type === 'h' || type === 'q') && typeof key === 'string' && !/\.(?:check|look)$/.test(key);
    return stuck ? [{ key, ...(typeof call === 'string' && call !== '' ? { call } : {}) }] : [];
  });
}

/** The output is untrusted: malformed output counts as none. */
function parsedOutput<T>(schema: { safeParse(value: unknown): { data?: T } }, text: string): T | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
