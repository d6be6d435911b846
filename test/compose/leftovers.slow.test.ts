import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/adapters/system/index.ts';
import { openPreparing } from '../../src/compose/index.ts';
import { openLog } from '../../src/compose/instrumentation.ts';
import { readOperator } from '../../src/compose/operator-settings.ts';
import { openSandbox, registriesOf, toolchainsOf } from '../../src/compose/sandbox.ts';
import { wantedTools } from '../../src/core/settings/index.ts';
import type { ExecResult, Sandbox } from '../../src/ports/index.ts';
import { prepareRepository, sweepEnded } from '../../src/runs/index.ts';
import { memoryLog } from '../server/delivery.ts';
import { furnish } from '../world/data-folder.ts';
import { tried } from '../world/tried.ts';

const SCRATCH = new URL('../../src/adapters/sandbox/scratch.ts', import.meta.url).href;

let home: string;
let data: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'runoff-left-'));
  // Sandboxes of a root process run as another user.
  await chmod(home, 0o755);
  data = join(home, 'data');
  await mkdir(data);
  await furnish(data);
});
afterAll(() => rm(home, { recursive: true, force: true }));

const operatorOf = () =>
  readOperator({ env: { RUNOFF_DATA: data, PATH: process.env.PATH }, cwd: home, installation: home });

/** The names that a process would give its own folders there, after it has ended. */
function namesOfDead(parents: readonly string[], kind = 'left'): readonly string[] {
  const program = `
    import { ownFolder } from ${JSON.stringify(SCRATCH)};
    for (const parent of ${JSON.stringify(parents)}) console.log(ownFolder(parent, ${JSON.stringify(kind)}));`;
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', program]).toString();
  return said.trim().split('\n');
}

async function make(path: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await mkdir(join(path, 'inside'), { recursive: true });
  return path;
}

test('a start removes what processes that were killed left in the data folder', async () => {
  tried({
    id: 'leftovers',
    part: 'The App is killed',
    what: 'Folders and files of killed processes lie in every place where Runoff works.',
    held: 'The next start removes them, and nothing that is in use.',
  });
  const toolchain = join(
    data,
    'toolchain',
    execFileSync('ls', [join(data, 'toolchain')])
      .toString()
      .trim(),
  );
  const scratch = join(data, 'scratch');
  const shared = ['tmp', 'egress', 'containers', 'etc', 'container-files'].map((name) => join(scratch, name));
  const owned = [
    ...namesOfDead([scratch, ...shared, join(data, 'toolchain'), join(data, 'toolchain/lent')]),
    ...namesOfDead([join(data, 'runoff-agents')], 'agent'),
    ...namesOfDead([join(data, 'runoff-agents')], 'removed'),
  ];
  const longAgo = new Date(Date.now() - 25 * 60 * 60_000);
  const drafts = [
    join(scratch, 'copies', `${'ab'.repeat(32)}.0123456789ab`),
    join(toolchain, 'syntax-x.0123456789ab'),
    join(toolchain, 'coders/builtin.mjs.0123456789ab.tmp'),
  ];
  const young = join(toolchain, 'probes-x.0123456789ab');
  // The operator may keep other files where agents are installed.
  const foreign = [
    join(data, 'runoff-agents/backup.0123456789ab'),
    join(data, 'runoff-agents/backup.0123456789ab.tmp'),
    ...namesOfDead([join(data, 'runoff-agents')], 'backup'),
  ];
  for (const path of [...owned, ...drafts, ...foreign, young]) await make(path);
  for (const path of [...drafts, ...foreign]) await utimes(path, longAgo, longAgo);
  const agent = await make(join(data, 'runoff-agents/pi'));
  await symlink(agent, join(toolchain, 'link.0123456789ab'));
  await openSandbox(await operatorOf());
  expect([...owned, ...drafts].filter((path) => existsSync(path))).toEqual([]);
  const kept = [agent, young, join(toolchain, 'link.0123456789ab'), ...foreign];
  expect(kept.filter((path) => !existsSync(path))).toEqual([]);
});

const ENDED: ExecResult = { exitCode: 0, stopped: null, stdout: '', stderr: '', truncated: false, ms: 1 };

/** A sandbox whose commands end as a list says, the last one again and again. */
function scriptedSandbox(...ends: readonly Partial<ExecResult>[]) {
  const left = [...ends];
  const asked: string[] = [];
  const sandbox: Sandbox = {
    probe: async () => ({ kind: 'ready', backend: 'none', detail: '', weaker: [] }),
    async exec({ argv }) {
      asked.push(argv.join(' '));
      return { ...ENDED, ...(left.length > 1 ? left.shift() : left[0]) };
    },
  };
  return { sandbox, asked };
}

test('a tool whose question was killed is asked again, and never taken for missing', async () => {
  const operator = await operatorOf();
  const wanted = wantedTools(['package.json'], new Map([['package.json', '{"engines":{"node":"20"}}']]));
  const killed = { exitCode: null };
  const once = scriptedSandbox(killed, { stdout: 'v20.1.0\n' });
  expect(await toolchainsOf(operator, once.sandbox, memoryLog()).provide(wanted)).toMatchObject({
    found: [{ name: 'Node 20.1.0' }],
    missing: [],
  });
  expect(once.asked).toEqual(['node --version', 'node --version']);
  const stopped = scriptedSandbox({ exitCode: null, stopped: 'wall' }, { stdout: 'v20.1.0\n' });
  const toolchains = toolchainsOf(operator, stopped.sandbox, memoryLog());
  await expect(toolchains.provide(wanted)).rejects.toMatchObject({ code: 'PROGRAM_KILLED' });
  expect((await toolchains.provide(wanted)).found).toEqual([{ name: 'Node 20.1.0', from: 'sandbox' }]);
  const always = scriptedSandbox(killed);
  await expect(toolchainsOf(operator, always.sandbox, memoryLog()).provide(wanted)).rejects.toMatchObject({
    code: 'PROGRAM_KILLED',
  });
});

test('package clients are asked in a folder of the data folder, which is removed', async () => {
  const { registries } = registriesOf(await operatorOf(), openLog(await operatorOf()));
  expect((await registries?.of('npm ci'))?.hosts.length).toBeGreaterThan(0);
  expect(execFileSync('find', [join(data, 'scratch'), '-name', 'registries-*']).toString()).toBe('');
});

test('areas of `runoff prepare` stay while the App deletes those of runs that are over', async () => {
  const path = join(home, 'repository');
  await mkdir(path);
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=R', '-c', 'user.email=r@example.org', ...args], { cwd: path });
  git('init', '-q');
  await writeFile(join(path, 'package.json'), '{ "type": "module", "scripts": { "test": "node --test" } }');
  const waits =
    "import { test } from 'node:test';\ntest('waits', () => new Promise((end) => setTimeout(end, 2000)));\n";
  await writeFile(join(path, 'a.test.js'), waits);
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  const tools = await openPreparing(await operatorOf());
  const app = { workspaces: tools.workspaces, clock: systemClock, store: { run: async () => null } };
  const over = new AbortController();
  const sweeping = (async () => {
    while (!over.signal.aborted) {
      await sweepEnded(app);
      await wait(100);
    }
  })();
  const silent = { onSurvey: () => {}, onStep: () => {}, onNext: () => {} };
  const origin = { kind: 'local', path } as const;
  try {
    const { tests } = await prepareRepository(tools, origin, { ...silent, trust: true, signal: over.signal });
    expect(Object.values(tests.tests)).toEqual(['passed']);
  } finally {
    over.abort();
    await sweeping;
  }
});
