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
/** Share of the memory limit at which a variant ends. Our default: at the limit, all observations would be lost. */
const MEMORY_SHARE = 0.75;

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

/** Maximum length of changed code that is read, in characters; each candidate has a share. */
const MAX_CHANGED_CHARS = 400_000;

/** Each candidate's changed code with surrounding lines, equal ones once. */
function changedCode(ready: readonly BuiltCandidate[]): readonly string[] {
  const texts = ready.map(({ patch }) =>
    (patch ? patch.production : [])
      .flatMap(({ hunks }) => hunks.flatMap(({ lines }) => lines.map(({ text }) => text)))
      .join('\n'),
  );
  const distinct = [...new Set(texts)];
  return distinct.map((text) => text.slice(0, Math.floor(MAX_CHANGED_CHARS / distinct.length)));
}

/** Tests may import the package by its own name. */
async function packageName({ world, source, task }: CheckRunner): Promise<{ readonly packageName?: string }> {
  const text = await world.workspaces.readFile(source, task.base.sha, 'package.json');
  const found = text === null ? null : parsedOutput(Manifest, text);
  return found ? { packageName: found.name } : {};
}

const Manifest = z.object({ name: z.string().max(300) });

/** Derived files whose code shares a sandbox: all of the base, or all that the same candidates added. */
export interface ProbeGroup extends Pick<DerivedTests, 'files' | 'values'> {
  readonly isOfBase: boolean;
  /** Runs only these files, as the test command of the repository runs test files. */
  readonly apart: string;
  /** Runs them in one process; null if the test runner cannot do that, or if there are too many. */
  readonly inFew: string | null;
}

/** Maximum number of files that share processes: they run one after the other, within `RUN_MS`. Our default. */
const MAX_FILES_IN_FEW = 16;

/**
 * The groups of derived files; first the base's. Where the test runner cannot run single files, candidates' files are
 * left out: each group of them would be a run of the whole suite.
 */
export function probeGroupsOf({ plan }: CheckRunner, { files, values }: DerivedTests): readonly ProbeGroup[] {
  const byAuthors = Map.groupBy(files, ({ by }) => JSON.stringify(by.toSorted()));
  const groups = [...byAuthors.values()].flatMap((group): readonly ProbeGroup[] => {
    const isOfBase = group.every(({ by }) => by.length === 0);
    const focused = plan.focus(group.map(({ path }) => path));
    if (focused === null && !isOfBase) return [];
    const few = (focused ?? []).flatMap(({ inOneProcess, args }) =>
      inOneProcess === undefined ? [] : [{ command: inOneProcess, args }],
    );
    const canShare = focused?.length === few.length && group.length <= MAX_FILES_IN_FEW;
    const apart = inSequence(focused ?? plan.commands);
    return [{ files: group, values, isOfBase, apart, inFew: canShare ? inSequence(few) : null }];
  });
  return groups.toSorted((a, b) => Number(b.isOfBase) - Number(a.isOfBase));
}

type ShellCommand = Pick<TestCommand, 'command' | 'args'>;

const inSequence = (commands: readonly ShellCommand[]): string => commands.map(withArguments).join('; ');

const withArguments = ({ command, args }: ShellCommand): string =>
  args.length === 0 ? command : `set -- ${args.map(shellQuoted).join(' ')}; ${command}`;

export interface ProbeResult {
  readonly run: ProbeRun;
  /** What hung or ended the process. */
  readonly stuck: readonly ProbeFailure[];
  /** Values that were not used any more for that. */
  readonly avoided: readonly string[];
  /** Milliseconds of the command. */
  readonly ms: number;
}

export interface ProbeRequest extends Pick<ProbeGroup, 'files' | 'values'> {
  /** Of the area. */
  readonly id: string;
  readonly command: string;
  /** What hung or ended the process on the base, and the values that were not used any more there. */
  readonly skip?: readonly ProbeFailure[];
  readonly avoid?: readonly string[];
}

/**
 * Runs derived files on a tree, without the probes and values to skip. Null if the program failed. Code in any of the files can
 * write what is observed of all of them: the place of the observations stands in each.
 */
export async function runProbes(
  runner: CheckRunner,
  tree: Tree,
  { id, files, values, command, skip = [], avoid = [] }: ProbeRequest,
): Promise<ProbeResult | null> {
  const { surroundings } = runner;
  const argv = [NODE, '--no-warnings', `${PROGRAMS}/run.mjs`] as const;
  const stdin = JSON.stringify({
    files: files.map(({ path, text }) => ({ path, text })),
    command: surroundings ? command.replaceAll(USUAL_SURROUNDINGS.home, surroundings.home) : command,
    // Otherwise the order of Python sets differs between runs.
    env: { PYTHONHASHSEED: '0' },
    ...{ skip, avoid, values },
    limits: { wallMs: RUN_MS, memoryBytes: MEMORY_SHARE * probeLimits(runner).memoryBytes },
  });
  const result = await inArea(withTopLayer(runner, tree.built), id, (area) =>
    runCommand(runner, area, { argv: [...argv], stdin, limits: probeLimits(runner) }),
  );
  if (result.exitCode !== 0 || result.truncated) return null;
  // A value that depends on the surroundings is not behaviour.
  const printed = surroundings ? asInUsual(result.stdout, surroundings) : result.stdout;
  const output = parsedOutput(ProbeOutput, printed);
  if (!output) return null;
  const run = readProbeRun(output, { files });
  return { run, stuck: probeFailuresIn(output), avoided: output.avoided, ms: result.ms };
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
