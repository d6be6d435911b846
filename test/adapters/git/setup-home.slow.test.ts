import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withPythonTools } from '../../../src/core/settings/python-setup.ts';
import { type BaseCheckout, NO_REGISTRIES, type RegistryAccess } from '../../../src/ports/index.ts';
import { type GitWorld, LIMITS, openGitWorld } from './world.ts';

describe.each([true, false])('what set-up puts into its HOME (overlays: %s)', (overlay) => {
  let world: GitWorld;
  beforeAll(() => {
    world = openGitWorld({ overlay });
  });
  afterAll(() => world.close());

  let areas = 0;
  async function setUp(
    command: string,
    source = world.repository({ 'a.txt': 'one\n' }),
    registries: RegistryAccess = NO_REGISTRIES,
  ) {
    const base = await world.workspaces.prepare({ kind: 'local', path: source.path }, source.sha);
    const done = await world.workspaces.install(base, { command, egress: [], registries, limits: LIMITS });
    if (done.kind !== 'ready') throw new Error(`${done.why} ${done.tail}`);
    return done.base;
  }
  async function over(base: BaseCheckout, line: string, more = {}): Promise<string> {
    const area = await world.workspaces.open(base, `home-${++areas}`);
    try {
      return (await world.run(area, line, more)).stdout;
    } finally {
      await world.workspaces.remove(area);
    }
  }

  test('is below the HOME of every later command, and its programs are on PATH', async () => {
    const base = await setUp(
      'mkdir -p ~/.cargo/registry ~/.local/bin; echo serde > ~/.cargo/registry/list;' +
        ` printf '#!/bin/sh\\necho tool runs\\n' > ~/.local/bin/tool; chmod +x ~/.local/bin/tool`,
    );
    expect(await over(base, 'cat ~/.cargo/registry/list; tool')).toBe('serde\ntool runs\n');
  });

  test('has a program of the package index that set-up brought along', async () => {
    const folder = world.folder();
    execFileSync('python3', ['-c', MAKE_WHEEL, folder]);
    chmodSync(folder, 0o755);
    const registries = {
      ...NO_REGISTRIES,
      env: { PIP_NO_INDEX: '1', PIP_FIND_LINKS: '/opt/registries/pip-0' },
      folders: [{ from: folder, to: '/opt/registries/pip-0' }],
    };
    const base = await setUp(withPythonTools('pdm sync', ''), undefined, registries);
    expect(await over(base, 'cat synced; pdm run test')).toBe('pdm sync\npdm run test\n');
  });

  test('can be written over by a candidate for itself alone', async () => {
    const base = await setUp('mkdir -p ~/.cargo/registry; echo serde > ~/.cargo/registry/list; echo 2 > ~/b');
    const own = await over(
      base,
      'echo evil > ~/.cargo/registry/list; rm ~/b; echo x > ~/.cargo/c; cat ~/.cargo/registry/list; ls ~',
    );
    expect(own).toBe('evil\n');
    expect(await over(base, 'cat ~/.cargo/registry/list ~/b; ls ~/.cargo')).toBe('serde\n2\nregistry\n');
    expect(await world.workspaces.isWhole(base)).toBe(true);
  });

  test('is hidden by a file that a command is given at the same path', async () => {
    const base = await setUp(
      'mkdir -p ~/.config/tool; echo of set-up > ~/.config/tool/a; echo b > ~/.config/tool/b',
    );
    const files = { '.config/tool/a': 'given\n' };
    expect(await over(base, 'cat ~/.config/tool/a ~/.config/tool/b', { files })).toBe('given\nb\n');
  });

  test('loses whatever tells git, shells, package clients or agents how to behave, and what Yarn 1 unpacked', async () => {
    const gone = [
      '.npmrc',
      '.netrc',
      '.git-credentials',
      '.ssh/id',
      '.bashrc',
      '.profile',
      '.zshenv',
      '.gitconfig',
    ];
    const alsoGone = [
      '.config/git/hooks/pre-commit',
      '.cargo/credentials.toml',
      '.m2/settings.xml',
      '.claude.json',
      '.cache/yarn/v6/npm-x/package.json',
    ];
    const kept = [
      '.cargo/config.toml',
      '.config/tool/x',
      '.m2/repository/settings.xml',
      'go/pkg/mod/.git/x',
      '.cache/x',
    ];
    const all = [...gone, ...alsoGone, '.claude/settings.json', ...kept];
    const base = await setUp(
      all.map((path) => `mkdir -p ~/$(dirname ${path}); echo x > ~/${path}`).join('; '),
    );
    const left = await over(base, 'cd; find . -type f | sort');
    expect(left.trim().split('\n')).toEqual(kept.map((path) => `./${path}`).sort());
  });

  test('cannot make the host remove what a link in it leads to', async () => {
    const outside = join(world.folder(), 'config');
    for (const path of ['git/config', 'gh/hosts.yml']) {
      mkdirSync(dirname(join(outside, path)), { recursive: true });
      writeFileSync(join(outside, path), 'mine\n');
    }
    const ssh = join(world.folder(), 'ssh');
    mkdirSync(ssh);
    writeFileSync(join(ssh, 'id'), 'mine\n');
    await setUp(`ln -s ${outside} ~/.config; ln -s ${ssh} ~/.ssh; ln -s ${outside} ~/.cargo`);
    expect(existsSync(join(outside, 'git/config'))).toBe(true);
    expect(existsSync(join(outside, 'gh/hosts.yml'))).toBe(true);
    expect(existsSync(join(ssh, 'id'))).toBe(true);
  });

  test('belongs to the programs that made it: with others, set-up runs again', async () => {
    const source = world.repository({ 'a.txt': 'one\n' });
    const command = 'command -v sh > ~/which; date +%N >> ~/which';
    const plain = await world.workspaces.prepare({ kind: 'local', path: source.path }, source.sha);
    const bin = world.folder();
    symlinkSync('/bin/true', join(bin, 'sh2'));
    const tools = { mounts: [{ from: bin, to: '/opt/tools/test' }], path: ['/opt/tools/test'] };
    const wish = { command, egress: [], limits: LIMITS };
    const [one, two] = [
      await world.workspaces.install(plain, wish),
      await world.workspaces.install({ ...plain, tools }, wish),
    ];
    if (one.kind !== 'ready' || two.kind !== 'ready') throw new Error('set-up failed');
    expect(two.base.home).not.toBe(one.base.home);
    expect(await over(two.base, 'command -v sh2')).toBe('/opt/tools/test/sh2\n');
    expect(await over(one.base, 'command -v sh2 || echo none')).toBe('none\n');
  });

  test('is checked for damage like its files, and made again', async () => {
    const source = world.repository({ 'a.txt': 'one\n' });
    const base = await setUp('mkdir ~/.cache; date +%N > ~/.cache/stamp', source);
    const home = base.home ?? '';
    expect(readdirSync(home)).toEqual(['.cache']);
    writeFileSync(join(home, '.cache/stamp'), 'changed from outside\n');
    expect(await world.workspaces.isWhole(base)).toBe(false);
    const again = await setUp('mkdir ~/.cache; date +%N > ~/.cache/stamp', source);
    expect(await over(again, 'cat ~/.cache/stamp')).toMatch(/^\d+\n$/);
  });

  test('may hold folders that are closed to their owner, as of a module cache', async () => {
    const base = await setUp(
      'mkdir -p ~/go/pkg/mod/m; echo m > ~/go/pkg/mod/m/go.mod; chmod -R a-w ~/go/pkg/mod; chmod 0 ~/go',
    );
    expect(await over(base, 'cat ~/go/pkg/mod/m/go.mod')).toBe('m\n');
  });

  test('and no link of it leads a later command out of its sandbox', async () => {
    const secret = join(world.folder(), 'secret');
    writeFileSync(secret, 'key\n');
    const base = await setUp(`ln -s ${secret} ~/.token`);
    expect(await over(base, 'cat ~/.token 2> /dev/null || echo unreadable')).toBe('unreadable\n');
  });

  test('cannot bring Runoff down by folders that are nested 12,000 deep', async () => {
    // More than calls can be nested in JavaScript, and all paths together take more than the 512 MiB of a list.
    const script =
      "import os\nos.chdir(os.environ['HOME'])\nfor _ in range(12000):\n  os.mkdir('long name')\n  os.chdir('long name')";
    const { path, sha } = world.repository({ 'a.txt': 'one\n', 'deep.py': script });
    const base = await world.workspaces.prepare({ kind: 'local', path }, sha);
    const command = 'python3 deep.py';
    const done = await world.workspaces.install(base, { command, egress: [], limits: LIMITS });
    expect(done).toMatchObject({
      kind: 'failed',
      why: expect.stringMatching(/^`python3 deep\.py` left too much behind\. .* nested too deeply\.$/),
    });
    expect(await setUp('echo fine > ~/x', { path, sha })).toMatchObject({ sha });
  });
});

/** A package named pdm, whose program repeats its arguments and leaves a file. */
const MAKE_WHEEL = `
import sys, zipfile
info = zipfile.ZipInfo('pdm-1.0.data/scripts/pdm')
info.external_attr = 0o100755 << 16
with zipfile.ZipFile(sys.argv[1] + '/pdm-1.0-py3-none-any.whl', 'w') as wheel:
    wheel.writestr(info, '#!/bin/sh\\n[ "$1" != sync ] || echo "pdm sync" > synced\\necho pdm "$@"\\n')
    wheel.writestr('pdm-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: pdm\\nVersion: 1.0\\n')
    wheel.writestr('pdm-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr('pdm-1.0.dist-info/RECORD', '')
`;
