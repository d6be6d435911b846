import { z } from 'zod';
import {
  DerivedTests,
  isSurvivor,
  ProbeOutput,
  type ProbeRun,
  readProbeRun,
  type Unsteady,
} from '../../core/evidence/index.ts';
import { type Alias, asInUsual, inParallel, USUAL_SURROUNDINGS } from '../../core/model/index.ts';
import { shellQuoted } from '../../core/settings/index.ts';
import type { Limits } from '../../ports/index.ts';
import { checkLimits } from '../context.ts';
import { type CheckRunner, inArea } from './areas.ts';
import type { ExaminationTools, ExaminedCandidate } from './candidate.ts';
import { areaId, runCommand, withTopLayer } from './execute.ts';
import { type BuiltCandidate, compareCandidates, type ProbeResults } from './probe-comparison.ts';
import { probeSources } from './probe-sources.ts';
import { type Elsewhere, unsteadyProbesOf, withUnsteadyProbes } from './steadiness.ts';
import type { Tree } from './trees.ts';

const NODE = '/opt/toolchain/bin/node';
const PROGRAMS = '/opt/toolchain/checks/probes';
const GRAMMARS = '/opt/toolchain/grammars';

/** Runs on the base: differences between them are noise. */
const BASE_RUNS = [1, 2] as const;
/** Milliseconds for one run of all probes on one tree. Our default. */
const RUN_MS = 20_000;
const OUTPUT_BYTES = 24 * 2 ** 20;
/**
 * Runs every candidate that builds on inputs derived from tests and issue, and compares their behaviour; survivors also
 * in other surroundings. No results if no probe could be derived: an unsupported language, no tests, or no changes.
 */
export async function probeCandidates(
  tools: ExaminationTools,
  examined: readonly ExaminedCandidate[],
  elsewhere: Elsewhere | null = null,
): Promise<ProbedCandidates> {
  const { runner, time } = tools;
  const nothing = { examined, results: null };
  const ready = examined.flatMap((one) => (one.tree?.ready ? [{ ...one, tree: one.tree }] : []));
  if (ready.length < 2 || probeSources(runner, ready).count === 0) return nothing;
  if (!(await time.allows('probes', 'all', 'base'))) return nothing;
  time.step('probes', null);
  const onBase = await time.measured('probes of the base', () => probeBase(tools, ready));
  if (onBase === null || !(await time.allows('probes', 'all', 'candidates', onBase.expectedMs)))
    return nothing;
  const runs = new Map<Tree, ProbeRun | null>();
  const done = time.step('probes', ready.length);
  await time.measured('probes', () =>
    inParallel(runner.world.parallelChecks, ready, async ({ candidate, tree }) => {
      if (!runs.has(tree)) {
        runs.set(tree, null);
        const id = areaId(candidate.runId, candidate.alias, 'probe');
        const output = await runProbes(runner, tree, { ...onBase.request, id, skip: onBase.stuck });
        runs.set(tree, output && readProbeRun(output, onBase.derived));
      }
      done();
    }),
  );
  const unsteady = elsewhere ? await probeElsewhere(tools, ready, { elsewhere, onBase, runs }) : null;
  const judged = <T extends ExaminedCandidate>(all: readonly T[]) =>
    elsewhere && unsteady ? withUnsteadyProbes(all, elsewhere, unsteady) : all;
  return {
    examined: judged(examined),
    results: compareCandidates(judged(ready), onBase.derived, onBase.runs, runs),
  };
}

interface ProbedCandidates {
  /** With the gate `steady` for those that behave differently in other surroundings. */
  readonly examined: readonly ExaminedCandidate[];
  /** Null if no probe could be derived or there was no time. */
  readonly results: ProbeResults | null;
}

/** Probes on which survivors differ between the usual and other surroundings although the base does not. */
async function probeElsewhere(
  { runner, trees, time }: ExaminationTools,
  ready: readonly BuiltCandidate[],
  {
    elsewhere,
    onBase,
    runs,
  }: {
    readonly elsewhere: Elsewhere;
    readonly onBase: ProbedBase;
    readonly runs: ReadonlyMap<Tree, ProbeRun | null>;
  },
): Promise<ReadonlyMap<Alias, readonly Unsteady[]>> {
  const found = new Map<Alias, readonly Unsteady[]>();
  if (!(await time.allows('surroundings', 'all', 'probes', onBase.expectedMs))) return found;
  const probed = async (where: 'here' | 'there', tree: Tree, name: string) => {
    const on = where === 'here' ? runner : elsewhere.runner;
    const id = areaId(runner.task.runId, 'probe', where, name);
    const output = await runProbes(on, tree, { ...onBase.request, id, skip: onBase.stuck });
    return output && readProbeRun(output, onBase.derived);
  };
  time.step('surroundings', null);
  await time.measured('probes elsewhere', async () => {
    const there = await probed('there', await trees.of('base', []), 'base');
    if (!there) return;
    const base = { here: onBase.runs, there: [there] };
    const survivors = ready.filter(({ gates }) => isSurvivor(gates));
    await inParallel(runner.world.parallelChecks, survivors, async ({ candidate: { alias }, tree }) => {
      const unsteady = await unsteadyProbesOf(base, (where, attempt) =>
        where === 'here' && attempt === 1
          ? Promise.resolve(runs.get(tree) ?? null)
          : probed(where, tree, `${alias}-${attempt}`),
      );
      found.set(alias, unsteady);
    });
  });
  return found;
}

interface ProbedBase {
  readonly derived: DerivedTests;
  readonly request: Omit<ProbeRequest, 'id'>;
  readonly runs: readonly ProbeRun[];
  readonly stuck: readonly ProbeFailure[];
  /** Expected milliseconds to probe all candidates. */
  readonly expectedMs: number;
}

/** Derives probes and runs them on the base. Null if there is none or the base cannot be probed. */
async function probeBase(
  tools: ExaminationTools,
  ready: readonly BuiltCandidate[],
): Promise<ProbedBase | null> {
  const { runner } = tools;
  const { parallelChecks, clock } = runner.world;
  const base = await tools.trees.of('base', []);
  const derived = await deriveTests(runner, base, ready);
  if (derived === null || derived.files.length === 0) return null;
  const request = probeRequestOf(runner, derived);
  const began = clock.elapsed();
  const runs: ProbeRun[] = [];
  const stuck: ProbeFailure[] = [];
  const outputs: (ProbeOutput | null)[] = [];
  await inParallel(parallelChecks, BASE_RUNS, async (attempt) => {
    outputs.push(
      await runProbes(runner, base, { ...request, id: areaId(runner.task.runId, 'probe', `${attempt}`) }),
    );
  });
  for (const output of outputs) {
    if (output === null) return null;
    runs.push(readProbeRun(output, derived));
    stuck.push(...probeFailuresIn(output));
  }
  const expectedMs = ((clock.elapsed() - began) * ready.length) / BASE_RUNS.length;
  return { derived, request, runs, stuck, expectedMs };
}

async function deriveTests(
  runner: CheckRunner,
  base: Tree,
  ready: readonly BuiltCandidate[],
): Promise<DerivedTests | null> {
  const { tests, added } = probeSources(runner, ready);
  const stdin = JSON.stringify({
    issue: runner.asked ?? '',
    root: '.',
    tests,
    added,
    changed: changedCode(ready),
    helper: `${PROGRAMS}/observe.cjs`,
    ...(await packageName(runner)),
  });
  const argv = [NODE, '--no-warnings', `${PROGRAMS}/derive.mjs`, GRAMMARS] as const;
  const id = areaId(runner.task.runId, 'probe', 'derive');
  const result = await inArea(withTopLayer(runner, base.built), id, (area) =>
    runCommand(runner, area, { argv: [...argv], stdin, limits: probeLimits(runner) }),
  );
  return result.exitCode === 0 && !result.truncated ? parsedOutput(DerivedTests, result.stdout) : null;
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

interface ProbeRequest {
  readonly id: string;
  readonly files: readonly { readonly path: string; readonly text: string }[];
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
  readonly skip?: readonly ProbeFailure[];
}

/** The derived files, and the command that runs only them. */
function probeRequestOf(runner: CheckRunner, { files }: DerivedTests): Omit<ProbeRequest, 'id'> {
  const paths = files.map(({ path }) => path);
  const commands = runner.plan.focus(paths);
  return {
    files: files.map(({ path, text }) => ({ path, text })),
    command: (commands ?? runner.plan.commands).map(withArguments).join('; '),
    // Otherwise the order of Python sets differs between runs.
    env: { PYTHONHASHSEED: '0' },
  };
}

const withArguments = ({ command, args }: { readonly command: string; readonly args: readonly string[] }) =>
  args.length === 0 ? command : `set -- ${args.map(shellQuoted).join(' ')}; ${command}`;

async function runProbes(
  runner: CheckRunner,
  tree: Tree,
  { id, ...input }: ProbeRequest,
): Promise<ProbeOutput | null> {
  const { surroundings } = runner;
  const argv = [NODE, '--no-warnings', `${PROGRAMS}/run.mjs`] as const;
  const command = surroundings
    ? input.command.replaceAll(USUAL_SURROUNDINGS.home, surroundings.home)
    : input.command;
  const stdin = JSON.stringify({ ...input, command, limits: { wallMs: RUN_MS } });
  const result = await inArea(withTopLayer(runner, tree.built), id, (area) =>
    runCommand(runner, area, { argv: [...argv], stdin, limits: probeLimits(runner) }),
  );
  if (result.exitCode !== 0 || result.truncated) return null;
  // A value that depends on the surroundings is not behaviour.
  const printed = surroundings ? asInUsual(result.stdout, surroundings) : result.stdout;
  return parsedOutput(ProbeOutput, printed);
}

const probeLimits = (runner: CheckRunner): Limits => ({
  ...checkLimits(runner.task),
  wallMs: Math.min(checkLimits(runner.task).wallMs, 2 * RUN_MS),
  outputBytes: OUTPUT_BYTES,
});

/** Probes that hung or ended the process on the base are not run on candidates. */
interface ProbeFailure {
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
