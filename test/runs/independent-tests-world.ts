import { join } from 'node:path';
import { openWorkspaces } from '../../src/adapters/git/index.ts';
import { openModel } from '../../src/adapters/models/index.ts';
import { systemClock, systemRandom } from '../../src/adapters/system/index.ts';
import type { TestRun } from '../../src/core/evidence/index.ts';
import type { Brief } from '../../src/core/model/index.ts';
import { Settings } from '../../src/core/settings/index.ts';
import type { WorkArea } from '../../src/ports/index.ts';
import type { TestedSurvivor } from '../../src/runs/examine/admit.ts';
import { type CheckRunner, inArea } from '../../src/runs/examine/areas.ts';
import { build, checkRunnerOn, writeFiles } from '../../src/runs/examine/execute.ts';
import type { TestWriter } from '../../src/runs/examine/independent-tests.ts';
import { runTests } from '../../src/runs/examine/run-tests.ts';
import { json, openRig, type Provider, type Rig, startProvider } from '../adapters/gateway/rig.ts';
import { type Files, type GitWorld, openGitWorld } from '../adapters/git/world.ts';
import { openWorkbench, type Workbench } from '../adapters/sandbox/workbench.ts';
import { rememberedIn } from '../world/remember.ts';
import { silent } from '../world/silent-log.ts';

/** The Node of the toolchain, which is the same on every machine. */
export const NODE_TEST = '/opt/toolchain/bin/node --test';

/** A repository of one small function, with what is asked for in `TASK`. */
export const REPOSITORY: Readonly<Record<string, string>> = {
  'package.json': '{ "type": "module" }\n',
  'src/csv.js': "export function splitLine(line) {\n  return line.split(',');\n}\n",
  'test/csv.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitLine } from '../src/csv.js';

test('cells are split at commas', () => {
  assert.deepEqual(splitLine('a,b'), ['a', 'b']);
});
`,
};

export const TASK = {
  title: 'Cells keep white space around them',
  body: 'White space around a cell should be removed. An empty line should give no cells. Anything else stays as it is.',
};
export const BRIEF: Brief = {
  goal: 'White space around a cell is removed, and an empty line gives no cells.',
  definitionOfDone: ['`splitLine(" a , b ")` gives `["a", "b"]`'],
  plan: [],
  files: ['src/csv.js'],
  assumptions: [],
  questions: [],
};

/** Production code of the candidates that stories need. */
export const csv = (body: string) => ({ 'src/csv.js': `export function splitLine(line) {\n${body}\n}\n` });
export const RIGHT = csv("  return line === '' ? [] : line.split(',').map((cell) => cell.trim());");
/** An empty line gives one empty cell. */
export const HASTY = csv("  return line.split(',').map((cell) => cell.trim());");
/** Does nothing that was asked for. */
export const IDLE = csv('  return line.split(/,/);');

/** A test file as a writer would hand it in. */
export const testFile = (...lines: readonly string[]): string =>
  [
    "import assert from 'node:assert/strict';",
    "import { test } from 'node:test';",
    "import { splitLine } from '../src/csv.js';",
    '',
    ...lines,
    '',
  ].join('\n');
export const expecting = (line: string, cells: readonly string[]): string =>
  testFile(
    `test('line ${cells.length}', () => {`,
    `  assert.deepEqual(splitLine(${JSON.stringify(line)}), ${JSON.stringify(cells)});`,
    '});',
  );

/** One repository with a real sandbox, and survivors made from files. */
export interface Fixture {
  readonly bench: CheckRunner;
  readonly onBase: TestRun;
  survivor(alias: string, files: Readonly<Record<string, string>>): Promise<TestedSurvivor>;
}

/** Everything real but the models; `close` it. */
export interface SharedFixture {
  fixture(how?: {
    readonly files?: Files;
    readonly test?: string;
    readonly build?: string;
    /** Seconds. */
    readonly check?: number;
    readonly signal?: AbortSignal;
  }): Promise<Fixture>;
  /** A desk whose models answer one thing after the other; the last again and again. */
  desk(
    answers: readonly unknown[],
    more?: Partial<TestWriter>,
  ): Promise<TestWriter & { readonly provider: Provider; readonly rig: Rig }>;
  close(): Promise<void>;
}

export async function openSharedFixture(): Promise<SharedFixture> {
  const workbench = await openWorkbench();
  const repositories = openGitWorld();
  const closers: (() => PromiseLike<unknown>)[] = [];
  let fixtures = 0;
  return {
    async fixture(how = {}) {
      fixtures += 1;
      return openFixture(workbench, repositories, `r${fixtures}`, how, closers);
    },
    async desk(answers, more = {}) {
      const provider = await startProvider((_, response) => {
        const answer = answers[Math.min(provider.seen.length, answers.length) - 1];
        const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
        json(response, 200, {
          id: 'c1',
          choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 1_000, completion_tokens: 1_000 },
        });
      });
      const rig = await openRig(provider.url);
      closers.push(
        () => provider.close(),
        () => rig[Symbol.asyncDispose](),
      );
      return { ...deskOn(rig), ...more, provider, rig };
    },
    async close() {
      for (const each of closers.toReversed()) await each();
      repositories.close();
      workbench.close();
    },
  };
}

function deskOn(rig: Rig): TestWriter {
  return {
    gateway: rig.gateway,
    model: openModel(),
    random: systemRandom,
    models: ['openai/m'],
    task: {
      runId: 'r1',
      origin: { kind: 'local', path: '/somewhere' },
      ...TASK,
      comments: [],
      settings: Settings.parse({ budget: { run: 2 } }),
    },
    brief: BRIEF,
    remember: rememberedIn(new Map()),
    signal: new AbortController().signal,
  };
}

async function openFixture(
  workbench: Workbench,
  repositories: GitWorld,
  runId: string,
  how: Parameters<SharedFixture['fixture']>[0] & {},
  closers: (() => PromiseLike<unknown>)[],
): Promise<Fixture> {
  const { path, sha } = repositories.repository(how.files ?? REPOSITORY);
  const source = { kind: 'local', path } as const;
  const { sandbox, owner } = workbench;
  const workspaces = openWorkspaces({ dataDir: join(workbench.root, 'data'), sandbox, owner, log: silent });
  const checks = { test: how.test ?? NODE_TEST, ...(how.build ? { build: how.build } : {}) };
  const settings = Settings.parse({ checks, timeout: { check: `${how.check ?? 60}s` } });
  const bench = await checkRunnerOn(
    // Nothing here is kept as an artifact.
    { workspaces, sandbox, parallelChecks: 2, clock: systemClock, artifacts: undefined as never },
    {
      task: { runId, base: { ref: 'main', sha }, settings },
      source,
      base: await workspaces.prepare(source, sha),
      signal: how.signal ?? new AbortController().signal,
    },
  );
  const onBase = await inArea(bench, `${runId}-base`, async (area) => {
    await build(bench, area);
    return runTests(bench, area);
  });
  const opened: WorkArea[] = [];
  closers.push(async () => {
    for (const area of opened) await workspaces.remove(area);
  });
  return {
    bench,
    onBase,
    async survivor(alias, files) {
      const built = await workspaces.open(bench.base, `${runId}-${alias}-built`);
      opened.push(built);
      const fault = (await writeFiles(bench, built, files)) ?? (await build(bench, built));
      if (fault) throw new Error(JSON.stringify(fault));
      return { alias, tree: { patch: JSON.stringify(files), built }, passesBaseTests: true };
    },
  };
}
