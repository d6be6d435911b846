import { truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { openArtifacts } from '../../src/adapters/artifacts/index.ts';
import { openWorkspaces } from '../../src/adapters/git/index.ts';
import { installAssertionLock, installProbes } from '../../src/adapters/probes/index.ts';
import { installSyntaxCheck } from '../../src/adapters/syntax/index.ts';
import { systemClock } from '../../src/adapters/system/index.ts';
import type { Evidence, TestRun, TestTable } from '../../src/core/evidence/index.ts';
import type { ArtifactRef } from '../../src/core/model/index.ts';
import type { ExaminationStep } from '../../src/core/reports/index.ts';
import { Settings } from '../../src/core/settings/index.ts';
import {
  type BaseCheckout,
  type Clock,
  DEFAULT_LIMITS,
  type ExecSpec,
  type Registries,
  type Sandbox,
  type Workspaces,
} from '../../src/ports/index.ts';
import type { Remember } from '../../src/runs/context.ts';
import { storePatch } from '../../src/runs/context.ts';
import {
  type CandidateEntry,
  type CheckRunner,
  checkRunnerOn,
  gatherEvidence,
  testBase,
} from '../../src/runs/examine/index.ts';
import { type Files, type GitWorld, openGitWorld } from '../adapters/git/world.ts';
import { openWorkbench, shell, type Workbench } from '../adapters/sandbox/workbench.ts';
import { silent } from '../world/silent-log.ts';

/** The Node of the toolchain, which is the same on every machine. */
export const NODE_TEST = '/opt/toolchain/bin/node --test';

export interface FixtureOptions {
  readonly files: Files;
  /** Default `NODE_TEST`. Null: the repository has no test command. */
  readonly test?: string | null;
  readonly build?: string;
  /** `checks.types`. */
  readonly types?: string;
  /** `checks.setup`, which is run on the base. */
  readonly setup?: string;
  /** `checks.candidateSetup`. */
  readonly candidateSetup?: boolean;
  readonly registries?: Registries;
  /** Host folders for every command. */
  readonly binds?: ExecSpec['binds'];
  readonly asked?: string;
  /** Test files that the brief says must change. */
  readonly declared?: readonly string[];
  readonly remember?: Remember;
  /** Default: the machine's, but waits are over at once. */
  readonly clock?: Partial<Pick<Clock, 'elapsed' | 'sleep'>>;
  /** `checks.packages`. */
  readonly packages?: readonly string[];
  /** `timeout.examine`. */
  readonly examine?: string;
  /** Checks at a time; default 2. */
  readonly parallel?: number;
  /** Asked at the beginning of each examination: what cancels it. */
  readonly signal?: () => AbortSignal;
  /** Stands in front of the real sandbox. */
  readonly exec?: (spec: ExecSpec, real: Sandbox['exec']) => ReturnType<Sandbox['exec']>;
  /** Awaited before a candidate is examined; `steps` as they are reported. */
  readonly begins?: (alias: string, steps: readonly ExaminationStep[]) => Promise<void>;
}

/** A repository whose candidates are examined in a real sandbox, and a list of what was executed. */
export interface Fixture {
  readonly bench: CheckRunner;
  /** Tests the base. */
  base(): Promise<TestRun>;
  /** Candidates by alias: the files that each of them writes, and the family of its model. */
  examine(
    onBase: TestRun,
    candidates: Readonly<Record<string, Files>>,
    families?: Readonly<Record<string, string>>,
  ): Promise<Readonly<Record<string, Evidence>>>;
  /** All results of the last examination. */
  table(): TestTable | null;
  /** Makes the checkout again where it is damaged. */
  prepare(): Promise<unknown>;
  /** Cuts off all of an artifact but its first byte. */
  truncate(artifact: ArtifactRef): Promise<void>;
  /** Ids of the areas in which tests ran, without the run's, in order. */
  readonly tested: readonly string[];
  /** What was reported to whoever watches, in order. */
  readonly steps: readonly ExaminationStep[];
}

export interface SharedFixture {
  fixture(options: FixtureOptions): Promise<Fixture>;
  close(): void;
}

export async function openSharedFixture({
  locks = false,
  probes = false,
}: {
  /** Also installs what locks assertion libraries. */
  readonly locks?: boolean;
  /** Also installs what derives and runs probes. */
  readonly probes?: boolean;
} = {}): Promise<SharedFixture> {
  const workbench = await openWorkbench();
  await installSyntaxCheck(workbench.options.toolchain);
  if (locks) await installAssertionLock(workbench.options.toolchain);
  if (probes) await installProbes(workbench.options.toolchain);
  const repositories = openGitWorld();
  let fixtures = 0;
  return {
    fixture(options) {
      fixtures += 1;
      return openFixture(workbench, repositories, `r${fixtures}`, options);
    },
    close() {
      repositories.close();
      workbench.close();
    },
  };
}

async function openFixture(
  workbench: Workbench,
  repositories: GitWorld,
  runId: string,
  options: FixtureOptions,
): Promise<Fixture> {
  const { path, sha } = repositories.repository(options.files);
  const source = { kind: 'local', path } as const;
  const tested: string[] = [];
  const steps: ExaminationStep[] = [];
  const { exec = (spec, real) => real(spec) } = options;
  const inFront: Sandbox = {
    probe: () => workbench.sandbox.probe(),
    exec: (spec) => exec(spec, (given) => workbench.sandbox.exec(given)),
  };
  const sandbox = watching(inFront, (area) => tested.push(area.slice(`${runId}-x-`.length)));
  const { owner, root } = workbench;
  const workspaces = openWorkspaces({ dataDir: join(root, 'data'), sandbox, owner, log: silent });
  const folder = join(root, 'artifacts');
  const artifacts = openArtifacts(folder);
  const { test = NODE_TEST } = options;
  const checks = {
    ...(test === null ? {} : { test }),
    ...(options.build ? { build: options.build } : {}),
    ...(options.setup ? { setup: options.setup } : {}),
    ...(options.candidateSetup ? { candidateSetup: true } : {}),
    ...(options.types === undefined ? {} : { types: options.types }),
    ...(options.packages ? { packages: options.packages } : {}),
  };
  const timeout = options.examine === undefined ? {} : { examine: options.examine };
  const bench = await checkRunnerOn(
    {
      workspaces,
      sandbox,
      artifacts,
      parallelChecks: options.parallel ?? 2,
      clock: { elapsed: systemClock.elapsed, sleep: async () => {}, ...options.clock },
      ...(options.registries ? { registries: options.registries } : {}),
    },
    {
      task: { runId, base: { ref: 'main', sha }, settings: Settings.parse({ checks, timeout, protect: [] }) },
      source,
      base: await installed(workspaces, await workspaces.prepare(source, sha), options.setup),
      signal: new AbortController().signal,
      ...(options.binds ? { binds: options.binds } : {}),
      ...(options.asked === undefined ? {} : { asked: options.asked }),
      ...(options.declared ? { declared: options.declared } : {}),
      ...(options.remember ? { remember: options.remember } : {}),
    },
  );
  let table: TestTable | null = null;
  return {
    bench,
    tested,
    steps,
    table: () => table,
    prepare: () => workspaces.prepare(source, sha),
    truncate: ({ sha256 }) => truncate(join(folder, sha256.slice(0, 2), sha256.slice(2)), 1),
    base: () => testBase(bench),
    async examine(onBase, candidates, families = {}) {
      const entries: CandidateEntry[] = [];
      for (const [ordinal, [alias, files]] of Object.entries(candidates).entries()) {
        const family = families[alias];
        entries.push({
          ...(await entryOf(bench, workspaces, alias, files)),
          ordinal,
          ...(family ? { family } : {}),
        });
      }
      const runner = { ...bench, signal: options.signal?.() ?? bench.signal };
      const { evidence, results } = await gatherEvidence(runner, entries, onBase, {
        onStep: (step) => steps.push(step),
        begins: async ({ alias }) => options.begins?.(alias, steps),
      });
      table = results.table;
      return Object.fromEntries(evidence.map((one) => [one.alias, one]));
    },
  };
}

async function installed(workspaces: Workspaces, base: BaseCheckout, command: string | undefined) {
  if (command === undefined) return base;
  const done = await workspaces.install(base, { command, egress: [], limits: DEFAULT_LIMITS });
  if (done.kind === 'failed') throw new Error(done.why);
  return done.base;
}

/** A candidate that wrote these files into its own clone. */
export async function entryOf(
  bench: CheckRunner,
  workspaces: Workspaces,
  alias: string,
  files: Files,
): Promise<Omit<CandidateEntry, 'ordinal'>> {
  const area = await workspaces.open(bench.base, `${bench.task.runId}-${alias}`);
  const result = await bench.world.sandbox.exec(
    shell(area, `node -e '${WRITE}'`, { stdin: JSON.stringify(files) }),
  );
  if (result.exitCode !== 0) throw new Error(result.stderr);
  const collected = await workspaces.collect(bench.base, area);
  if (collected.kind !== 'patch') throw new Error(`${alias} left ${collected.kind}.`);
  const patch = await storePatch(bench.world.artifacts, collected.patch);
  await workspaces.remove(area);
  return { runId: bench.task.runId, alias, patch, ms: 1_000, note: 'wrote a patch' };
}

const WRITE =
  'const fs = require("fs"), path = require("path"); for (const [file, text] of Object.entries(JSON.parse(fs.readFileSync(0, "utf8")))) { fs.mkdirSync(path.dirname(file), { recursive: true }); fs.writeFileSync(file, text); }';

/** Tells the areas in which a test command is started, and tells the tests in which they run. */
function watching(sandbox: Sandbox, onTests: (area: string) => void): Sandbox {
  const isTests = ({ argv }: ExecSpec) => argv[0] === 'sh' && argv[3] === 'sh';
  return {
    probe: () => sandbox.probe(),
    exec(spec) {
      if (!isTests(spec)) return sandbox.exec(spec);
      onTests(spec.area.id);
      return sandbox.exec({ ...spec, env: { ...spec.env, AREA: spec.area.id } });
    },
  };
}
