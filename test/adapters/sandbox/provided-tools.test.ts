import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openToolchains, type ToolchainsOptions } from '../../../src/adapters/sandbox/index.ts';
import { Fault } from '../../../src/core/model/index.ts';
import { wantedTools } from '../../../src/core/settings/index.ts';
import { tried } from '../../world/tried.ts';

describe('toolchains for a repository', () => {
  let dir: string;
  let asked: string[];
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'runoff-tools-'));
    asked = [];
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  /** A registry that has every package in the version that a range begins with. */
  async function install(folder: string, spec: string): Promise<void> {
    asked.push(spec);
    const [, name = '', range = ''] = /^(@?[^@]+)@(.*)$/.exec(spec) ?? [];
    if (range === '99') throw new Fault('AGENT_INSTALL_FAILED', `The package registry has no ${spec}.`);
    const version = `${/\d+/.exec(range)?.[0] ?? '1'}.7.0`;
    const put = (path: string, text: string): void => {
      const file = join(folder, 'node_modules', name, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    };
    const program = name.replace(/^.*\//, '').replace('cli-dist', 'yarn');
    const bin = { [program]: `bin/${program}.js`, '../evil': 'x' };
    const engines = /^pnpm@11/.test(spec) ? { engines: { node: '>=22.5' } } : {};
    put('package.json', JSON.stringify({ name, version, bin, ...engines }));
    put(`bin/${program}.js`, '');
    put('bin/node', `#!/bin/sh\necho v${version}\n`);
    chmodSync(join(folder, 'node_modules', name, 'bin/node'), 0o755);
  }
  /** A sandbox with some programs, in which the Node of a package starts. */
  const answers =
    (own: Readonly<Record<string, string>>): ToolchainsOptions['ask'] =>
    async ([program], tools) =>
      own[program] ?? (tools && /^\/opt\/tools\/node-\w+\/bin\/node$/.test(program) ? 'v18.7.0' : null);
  const open = (more: Partial<ToolchainsOptions> = {}) =>
    openToolchains({
      dir,
      owner: null,
      host: false,
      environment: {},
      nodeVersion: '24.21.0',
      ask: answers({ node: 'v20.20.2' }),
      install,
      ...more,
    });
  const provide = (files: Readonly<Record<string, string>>, more: Partial<ToolchainsOptions> = {}) =>
    open(more).provide(wantedTools(Object.keys(files), new Map(Object.entries(files))));
  const manifest = (value: object) => ({ 'package.json': JSON.stringify(value) });

  test('are what the sandbox has where that is enough', async () => {
    const provided = await provide(manifest({ engines: { node: '>=18' } }));
    expect(provided).toEqual({
      tools: { mounts: [], path: [] },
      found: [{ name: 'Node 20.20.2', from: 'sandbox' }],
      missing: [],
    });
  });

  test('are the Node that Runoff itself runs on where only that one is of the wanted version', async () => {
    const provided = await provide(manifest({ engines: { node: '>=22' } }));
    expect(provided).toMatchObject({
      tools: { mounts: [], path: ['/opt/toolchain/bin'] },
      found: [{ name: 'Node 24.21.0', from: 'runoff' }],
    });
    expect(asked).toEqual([]);
  });

  test('are removed after they were not used for long, and made again where they are needed', async () => {
    const [here, elsewhere] = [open(), open()];
    const wanted = (version: string) =>
      wantedTools(
        ['.nvmrc', 'package.json'],
        new Map(Object.entries({ ...manifest({}), '.nvmrc': version })),
      );
    const [old] = (await here.provide(wanted('18'))).tools.mounts;
    const used = (await here.provide(wanted('22'))).tools.mounts.map(({ from }) => from);
    mkdirSync(join(dir, 'building-1-1-1-aaaaaaaaaaaa'));
    const WEEK = 7 * 24 * 3600;
    for (const name of readdirSync(dir)) utimesSync(join(dir, name), 1_000, Date.now() / 1000 - 3 * WEEK);
    // Known already, and used all the same.
    await here.provide(wanted('22'));
    const { tools, bytes } = await elsewhere.prune(Date.now() - 2 * WEEK * 1000);
    expect([tools, bytes > 0]).toEqual([2, true]);
    expect(existsSync(old?.from ?? '')).toBe(false);
    expect(used.every((path) => existsSync(path))).toBe(true);
    expect(existsSync(join(dir, 'building-1-1-1-aaaaaaaaaaaa'))).toBe(true);
    const again = await here.provide(wanted('18'));
    expect(again.tools.mounts.every(({ from }) => existsSync(from))).toBe(true);
    expect(asked.filter((spec) => spec.endsWith('@18'))).toHaveLength(2);
    expect(await open({ dir: join(dir, 'none') }).prune(Date.now())).toEqual({ tools: 0, bytes: 0 });
  });

  /** Tools in the folder that nobody has used since 1970. */
  function unusedTools(count: number): readonly string[] {
    return Array.from({ length: count }, (_, at) => {
      const folder = join(dir, `node-${String(at).padStart(12, '0')}`);
      mkdirSync(join(folder, 'bin'), { recursive: true });
      utimesSync(folder, 1_000, 1_000);
      return folder;
    });
  }

  test('are removed once where two processes do that at the same time', async () => {
    const folders = unusedTools(10);
    const both = await Promise.all([open().prune(Date.now()), open().prune(Date.now())]);
    expect(both[0].tools + both[1].tools).toBe(10);
    expect(folders.filter((path) => existsSync(path))).toEqual([]);
  });

  test('that were used and made again while they were being removed stay as they are now', async () => {
    const [folder = ''] = unusedTools(1);
    const pruned = open().prune(Date.now() - 1000);
    const trash = await movedAway();
    mkdirSync(join(folder, 'made-again'), { recursive: true });
    utimesSync(trash, new Date(), new Date());
    expect(await pruned).toEqual({ tools: 0, bytes: 0 });
    expect(readdirSync(folder)).toEqual(['made-again']);
    await expect.poll(() => existsSync(trash)).toBe(false);
  });

  /** Waits without letting this thread go on, so that it sees the move before the one who moved does. */
  async function movedAway(): Promise<string> {
    for (;;) {
      for (const until = Date.now() + 300; Date.now() < until; ) {
        const moved = readdirSync(dir).find((name) => name.startsWith('removed-'));
        if (moved !== undefined) return join(dir, moved);
      }
      await setImmediate();
    }
  }

  test('come from the registry else: Node with an npm that runs on it, once for each version', async () => {
    const files = { ...manifest({}), '.nvmrc': '18' };
    const { tools, found, missing } = await provide(files);
    expect({ found, missing }).toEqual({ found: [{ name: 'Node 18.7.0', from: 'registry' }], missing: [] });
    expect(asked).toEqual([expect.stringMatching(/^node-linux-(x64|arm64)@18$/), 'npm@8']);
    const [node] = tools.mounts;
    expect(execFileSync(join(node?.from ?? '', 'bin/node'), { encoding: 'utf8' })).toBe('v18.7.0\n');
    expect(tools.path).toEqual(tools.mounts.map(({ to }) => `${to}/bin`));
    await provide(files);
    expect(asked).toHaveLength(2);
  });

  test.each([
    ['pnpm of the pinned version', manifest({ packageManager: 'pnpm@9.1.0' }), 'pnpm@9.1.0', 'pnpm'],
    ['yarn 1', { ...manifest({}), 'yarn.lock': '# yarn lockfile v1\n' }, 'yarn@1', 'yarn'],
    ['yarn 4', manifest({ packageManager: 'yarn@4.1.0' }), '@yarnpkg/cli-dist@4.1.0', 'yarn'],
    ['npm of the pinned version', manifest({ packageManager: 'npm@10.2.0' }), 'npm@10.2.0', 'npm'],
  ])('have %s, which looks for no other version of itself', async (_, files, spec, program) => {
    const { tools } = await provide(files);
    expect(asked).toEqual([spec]);
    const script = readFileSync(join(tools.mounts[0]?.from ?? '', 'bin', program), 'utf8');
    expect(script).toMatch(/manage_package_manager_versions=false[\s\S]*\nexec node \/opt\/tools\//);
    expect(existsSync(join(dir, 'evil'))).toBe(false);
  });

  test('are another patch of the wanted version of a package manager where the registry lacks that one', async () => {
    const without = (folder: string, spec: string) =>
      spec.endsWith('@4.10.0')
        ? Promise.reject(new Fault('AGENT_INSTALL_FAILED', `The package registry has no ${spec}.`))
        : install(folder, spec);
    const { found, missing } = await provide(manifest({ packageManager: 'yarn@4.10.0' }), {
      install: without,
    });
    expect(found).toContainEqual({ name: 'yarn 4.7.0', from: 'registry' });
    expect([asked, missing]).toEqual([['@yarnpkg/cli-dist@~4.10'], []]);
  });

  test.each([
    ['Runoff has', '^20 || >=24', 'Node 24.21.0 runoff'],
    ['the registry has', '20 || 22', 'Node 22.7.0 registry'],
    ['is wanted, where there is none for both', '^20', 'Node 20.20.2 sandbox'],
  ])('have the Node that %s for a package manager that asks for a newer one', async (_, node, expected) => {
    const registry = (folder: string, spec: string) => install(folder, spec.replace('@20 || 22', '@22'));
    const ask: ToolchainsOptions['ask'] = async ([program], tools) =>
      program === 'node' ? 'v20.20.2' : tools ? 'v22.7.0' : null;
    const files = manifest({ packageManager: 'pnpm@11.2.0', engines: { node } });
    const { found, missing } = await provide(files, { install: registry, ask });
    expect(found.map(({ name, from }) => `${name} ${from}`)).toEqual(['pnpm 11.7.0 registry', expected]);
    expect(missing).toEqual([]);
  });

  test('have the yarn of the repository where it has one', async () => {
    const release = '.yarn/releases/yarn-4.1.0.cjs';
    const files = {
      ...manifest({}),
      'yarn.lock': '',
      '.yarnrc.yml': `yarnPath: ${release}\n`,
      [release]: '',
    };
    const { tools, found } = await provide(files);
    expect(readFileSync(join(tools.mounts[0]?.from ?? '', 'bin/yarn'), 'utf8')).toContain(
      `exec node /repo/${release}`,
    );
    expect([asked, found]).toEqual([
      [],
      [
        { name: 'yarn 4.1.0', from: 'repository' },
        { name: 'Node 20.20.2', from: 'sandbox' },
      ],
    ]);
  });

  test('that cannot be had are named, with both ways to get them', async () => {
    const { missing } = await provide({ ...manifest({ engines: { node: '99' } }), 'Cargo.toml': '' });
    expect(missing).toEqual([
      expect.stringMatching(
        /^The repository asks for Node 99 \(package\.json\), and sandboxes here have v20\.20\.2, which is used instead\. The package registry has no node-linux-\w+@99\. Install it on this machine, .* or set RUNOFF_SANDBOX=container with an image that has it\.$/,
      ),
      expect.stringMatching(
        /^The repository needs Rust \(Cargo\.toml\), and sandboxes here have none\. Install it/,
      ),
    ]);
  });

  test('are for an old repository those nearest to what it was tested with, and others where these cannot be had', async () => {
    const old = { ...manifest({}), '.travis.yml': 'language: node_js\nnode_js: [8, 10]\n' };
    const ask = answers({ node: 'v24.1.0' });
    expect((await provide(old, { ask })).found).toEqual([{ name: 'Node 18.7.0', from: 'registry' }]);
    const none: ToolchainsOptions['install'] = async (_, spec) => {
      throw new Fault('AGENT_INSTALL_FAILED', `The package registry has no ${spec}.`);
    };
    // In a folder of its own: what was installed before is used again.
    const other = join(dir, 'other');
    mkdirSync(other);
    expect(await provide(old, { ask, dir: other, install: none })).toEqual({
      tools: { mounts: [], path: [] },
      found: [{ name: 'Node 24.1.0', from: 'sandbox' }],
      missing: [],
    });
    const python = { 'setup.py': '', '.travis.yml': 'language: python\npython: ["2.7", "3.6"]\n' };
    expect(await provide(python, { ask: answers({ python3: '3.13.1' }) })).toMatchObject({
      found: [{ name: 'Python 3.13.1', from: 'sandbox' }],
      missing: [],
    });
  });

  test('that were missing are looked for again, and an aborted search is no missing one', async () => {
    const toolchains = open();
    const wanted = wantedTools(['package.json'], new Map([['package.json', '{"engines":{"node":"99"}}']]));
    await toolchains.provide(wanted);
    await toolchains.provide(wanted);
    expect(asked).toHaveLength(2);
    const controller = new AbortController();
    controller.abort();
    await expect(toolchains.provide(wanted, controller.signal)).rejects.toThrow(/abort/i);
  });

  test('that nobody could look for, because programs are killed, are not taken for missing', async () => {
    tried({
      id: 'tool-question-killed',
      part: 'Child processes are killed',
      what: 'The program that says the version of a tool, or the npm that installs it, again and again.',
      held: 'The tool is not taken for missing: the stage waits, and nothing of it is remembered.',
    });
    const killed = new Fault('PROGRAM_KILLED', 'It was killed.');
    const outage = { code: 'PROGRAM_KILLED' };
    let kills = 1;
    const toolchains = open({
      install: (folder, spec) => (kills-- > 0 ? Promise.reject(killed) : install(folder, spec)),
    });
    const wanted = wantedTools(['package.json'], new Map([['package.json', '{"engines":{"node":"18"}}']]));
    await expect(toolchains.provide(wanted)).rejects.toMatchObject(outage);
    expect((await toolchains.provide(wanted)).missing).toEqual([]);
    let questions = 0;
    const ask = async () => {
      questions += 1;
      if (questions === 1) throw killed;
      return 'v18.0.0';
    };
    const asking = open({ ask });
    await expect(asking.provide(wanted)).rejects.toMatchObject(outage);
    expect((await asking.provide(wanted)).found).toEqual([{ name: 'Node 18.0.0', from: 'sandbox' }]);
  });

  test('of the operator that may hold a credential are not lent, and the reason is said', async () => {
    const go = join(dir, 'go1.22/bin/go');
    for (const [path, text] of [
      [go, '#!/bin/sh\necho go version go1.22.1 linux/amd64\n'],
      [join(dir, 'go1.22/.netrc'), ''],
    ] as const) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text, { mode: 0o755 });
    }
    const environment = { PATH: dirname(go), HOME: dir };
    const { tools, missing } = await provide({ 'go.mod': 'go 1.20\n' }, { host: true, environment });
    expect(tools.mounts).toEqual([]);
    expect(missing[0]).toContain('.netrc in it may hold a credential.');
    rmSync(join(dir, 'go1.22/.netrc'));
    const lent = await provide({ 'go.mod': 'go 1.20\n' }, { host: true, environment });
    expect(lent).toMatchObject({ found: [{ name: 'Go 1.22.1', from: 'machine' }], missing: [] });
  });
});
