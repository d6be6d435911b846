import { z } from 'zod';
import {
  admitExamples,
  type Behaviour,
  compareBehaviour,
  DerivedTests,
  type IssueExamples,
  isSurvivor,
  type ProbedCandidate,
  ProbeOutput,
  type ProbeRun,
  readProbeRun,
} from '../../core/evidence/index.ts';
import { comparePatches } from '../../core/likeness/index.ts';
import { type Alias, inParallel } from '../../core/model/index.ts';
import { joinSections } from '../../core/patches/index.ts';
import { shellQuoted } from '../../core/settings/index.ts';
import type { Limits } from '../../ports/index.ts';
import { checkLimits } from '../context.ts';
import { type CheckRunner, inArea } from './areas.ts';
import type { ExaminationTools, ExaminedCandidate } from './candidate.ts';
import { areaId, runCommand, withTopLayer } from './execute.ts';
import { probeSources } from './probe-sources.ts';
import type { Tree } from './trees.ts';

/** What inputs derived from tests and issue tell of the candidates. */
export interface ProbeResults {
  readonly behaviour: ReadonlyMap<Alias, Omit<Behaviour, 'id'>>;
  readonly examples: IssueExamples;
}

const NODE = '/opt/runoff/bin/node';
const PROGRAMS = '/opt/runoff/checks/probes';
const GRAMMARS = '/opt/runoff/grammars';

/** Runs on the base: what differs between them says nothing. */
const BASE_RUNS = [1, 2] as const;
/** One run of all probes on one tree. Our default. */
const RUN_MS = 20_000;
const OUTPUT_BYTES = 24 * 2 ** 20;
/**
 * Runs every candidate that builds on inputs derived from tests and issue, and compares what they do. Null where no probe
 * could be derived: another language, no tests, nothing to change.
 */
export async function probeCandidates(
  tools: ExaminationTools,
  examined: readonly ExaminedCandidate[],
): Promise<ProbeResults | null> {
  const { runner, time } = tools;
  const ready = examined.flatMap((one) => (one.tree?.ready ? [{ ...one, tree: one.tree }] : []));
  if (ready.length < 2) return null;
  if (probeSources(runner, ready).count === 0 || !(await time.allows('probes', 'all', 'base'))) return null;
  const onBase = await time.measured('probes of the base', () => probeBase(tools, ready));
  if (onBase === null || !(await time.allows('probes', 'all', 'candidates', onBase.expectedMs))) return null;
  const runs = new Map<Tree, ProbeRun | null>();
  await time.measured('probes', () =>
    inParallel(runner.world.parallelChecks, ready, async ({ candidate, tree }) => {
      if (runs.has(tree)) return;
      runs.set(tree, null);
      const id = areaId(candidate.runId, candidate.alias, 'probe');
      const output = await runProbes(runner, tree, { ...onBase.request, id, skip: onBase.stuck });
      runs.set(tree, output && readProbeRun(output));
    }),
  );
  return compareCandidates(ready, onBase.derived, onBase.runs, runs);
}

interface ProbedBase {
  readonly derived: DerivedTests;
  readonly request: Omit<ProbeRequest, 'id'>;
  readonly runs: readonly ProbeRun[];
  readonly stuck: readonly ProbeFailure[];
  /** What probing all candidates will take, milliseconds. */
  readonly expectedMs: number;
}

/** Derives probes, and runs them on the base. Null where there is none, or the base cannot be probed. */
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
    runs.push(readProbeRun(output));
    stuck.push(...probeFailuresIn(output));
  }
  const expectedMs = ((clock.elapsed() - began) * ready.length) / BASE_RUNS.length;
  return { derived, request, runs, stuck, expectedMs };
}

type BuiltCandidate = ExaminedCandidate & { readonly tree: Tree };

function compareCandidates(
  ready: readonly BuiltCandidate[],
  derived: DerivedTests,
  onBase: readonly ProbeRun[],
  runs: ReadonlyMap<Tree, ProbeRun | null>,
): ProbeResults {
  const runOf = ({ tree }: BuiltCandidate) => runs.get(tree) ?? null;
  const survivors = ready.filter(({ gates }) => isSurvivor(gates));
  const examples = admitExamples(
    derived,
    onBase,
    survivors.map((one) => ({ alias: one.candidate.alias, run: runOf(one) })),
  );
  const behaving = ready.map((one): ProbedCandidate => {
    const asked = examples.byAlias.get(one.candidate.alias);
    const passesTests =
      isSurvivor(one.gates) &&
      (one.baseTests?.regressions.length ?? 0) === 0 &&
      (asked === undefined || asked.passed === asked.total);
    return {
      id: one.candidate.alias,
      run: runOf(one),
      passesTests,
      hasNoEffect: hasNoSourceEffect(productionText(one)),
      ...(one.candidate.family === undefined ? {} : { family: one.candidate.family }),
    };
  });
  const texts = ready.map(productionText);
  const likeness = (a: number, b: number) => patchLikeness(texts[a] ?? '', texts[b] ?? '');
  const compared = compareBehaviour(onBase, behaving, likeness, derived.files);
  return {
    behaviour: new Map(compared.map(({ id, ...behaviour }) => [id, behaviour])),
    examples,
  };
}

const productionText = ({ patch }: BuiltCandidate): string => joinSections(patch ? patch.production : []);

/** A patch that leaves the source as it is behaves as the base whatever is right. */
function hasNoSourceEffect(text: string): boolean {
  const [own] = comparePatches([{ id: 'one', text }]);
  return own?.flaws.some((guard) => guard === 'no-effective-change' || guard === 'no-source-change') ?? true;
}

/** How much two production patches are alike, 0 to 1. */
function patchLikeness(one: string, other: string): number {
  const [own] = comparePatches([
    { id: 'one', text: one },
    { id: 'other', text: other },
  ]);
  return own ? (own.alike.length > 1 ? 1 : own.text) : 0;
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

/** Characters of changed code that are read. */
const MAX_CHANGED_CHARS = 400_000;

/** What candidates changed, with the lines around it, in an order that does not depend on theirs. */
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

/** The derived files, and how this project runs just them. */
function probeRequestOf(runner: CheckRunner, { files }: DerivedTests): Omit<ProbeRequest, 'id'> {
  const paths = files.map(({ path }) => path);
  const commands = runner.plan.focus(paths);
  return {
    files: files.map(({ path, text }) => ({ path, text })),
    command: (commands ?? runner.plan.commands).map(withArguments).join('; '),
    // What Python keeps in sets comes in another order each time otherwise.
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
  const argv = [NODE, '--no-warnings', `${PROGRAMS}/run.mjs`] as const;
  const stdin = JSON.stringify({ ...input, limits: { wallMs: RUN_MS } });
  const result = await inArea(withTopLayer(runner, tree.built), id, (area) =>
    runCommand(runner, area, { argv: [...argv], stdin, limits: probeLimits(runner) }),
  );
  return result.exitCode === 0 && !result.truncated ? parsedOutput(ProbeOutput, result.stdout) : null;
}

const probeLimits = (runner: CheckRunner): Limits => ({
  ...checkLimits(runner.task),
  wallMs: Math.min(checkLimits(runner.task).wallMs, 2 * RUN_MS),
  outputBytes: OUTPUT_BYTES,
});

/** What hung or ended the process on the base is not asked of candidates. */
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

/** Printed beside code that nobody trusts: what is malformed is no answer. */
function parsedOutput<T>(schema: { safeParse(value: unknown): { data?: T } }, text: string): T | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
