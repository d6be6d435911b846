import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openToolchains, type ToolchainsOptions } from '../../src/adapters/sandbox/index.ts';
import { toolchainFiles, wantedTools } from '../../src/core/settings/index.ts';

/** I1, I2: the texts of a repository that name versions choose versions, and no package, address, file or program. */

let dir: string;
let asked: string[];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'runoff-versions-'));
  asked = [];
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const marker = (): string => join(dir, 'ran-on-the-host');

/** Installs what npm would: for an address, a file or an alias the package of somebody else. */
const install: ToolchainsOptions['install'] = async (folder, spec) => {
  asked.push(spec);
  const [, name = ''] = /^(@?[^@]+)@/.exec(spec) ?? [];
  const bin = join(folder, 'node_modules', name, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, '../package.json'), '{"name":"evil-package","version":"99.0.0","bin":"bin/node"}');
  writeFileSync(join(bin, 'node'), `#!/bin/sh\necho v99.0.0\ntouch '${marker()}'\n`);
  chmodSync(join(bin, 'node'), 0o755);
};

const provide = (files: Readonly<Record<string, string>>) =>
  openToolchains({
    dir: join(dir, 'lent'),
    owner: null,
    host: false,
    environment: {},
    nodeVersion: '24.21.0',
    ask: async () => null,
    install,
  }).provide(wantedTools(Object.keys(files), new Map(Object.entries(files))));

const HOSTILE = [
  'npm:evil-package@99.0.0',
  'https://evil.example/99.0.0.tgz',
  'git+https://evil.example/x.git#v99.0.0',
  'git@evil.example:x/y#99',
  'evil/package#99',
  'file:/home/operator/99.tgz',
  'file:../99',
  '../../99',
  '/home/operator/99',
  '99.0.0-x.tgz',
  '99.0.0 evil-package@99.0.0',
  '99@npm:evil-package',
  '--registry=https://evil.example --99',
  '99; touch x',
  '$(touch x)99',
  'workspace:99',
];

/** Every file in which a repository names versions, with a hostile text in each place. */
const PLACES: readonly (readonly [
  place: string,
  files: (text: string) => Readonly<Record<string, string>>,
])[] = [
  ...['engines', 'volta'].map(
    (key) =>
      [
        key,
        (text: string) => ({
          'package.json': JSON.stringify({ [key]: { node: text, pnpm: text, npm: text } }),
          'pnpm-lock.yaml': "lockfileVersion: '9.0'\n",
        }),
      ] as const,
  ),
  [
    'engines beside a lock file of yarn',
    (text) => ({ 'package.json': JSON.stringify({ engines: { yarn: text } }), 'yarn.lock': '' }),
  ],
  [
    'engines beside a lock file of bun',
    (text) => ({ 'package.json': JSON.stringify({ engines: { bun: text } }), 'bun.lock': '' }),
  ],
  [
    'devEngines',
    (text) => ({
      'package.json': JSON.stringify({
        devEngines: {
          runtime: { name: 'node', version: text },
          packageManager: { name: 'pnpm', version: text },
        },
      }),
    }),
  ],
  ...['pnpm', 'yarn', 'npm', 'bun'].map(
    (name) =>
      [
        `packageManager ${name}`,
        (text: string) => ({ 'package.json': JSON.stringify({ packageManager: `${name}@${text}` }) }),
      ] as const,
  ),
  ...['.nvmrc', '.node-version'].map(
    (file) => [file, (text: string) => ({ 'package.json': '{}', [file]: text })] as const,
  ),
  ['.tool-versions', (text) => ({ 'package.json': '{}', '.tool-versions': `nodejs ${text}\n` })],
  ['mise.toml', (text) => ({ 'package.json': '{}', 'mise.toml': `[tools]\nnode = "${text}"\n` })],
  [
    'a lock file of pnpm',
    (text) => ({ 'package.json': '{}', 'pnpm-lock.yaml': `lockfileVersion: '${text}'\n` }),
  ],
  [
    'a lock file of yarn',
    (text) => ({ 'package.json': '{}', 'yarn.lock': `__metadata:\n  version: ${text}\n` }),
  ],
  [
    'a yarn of the repository',
    (text) => ({ 'package.json': '{}', 'yarn.lock': '', '.yarnrc.yml': `yarnPath: ${text}\n`, [text]: '' }),
  ],
  [
    'the matrix of a workflow',
    (text) => ({
      'package.json': '{"scripts":{"test":"node --test"}}',
      '.github/workflows/ci.yml': workflow(`\${{ matrix.node }}`, text),
    }),
  ],
  [
    'a workflow',
    (text) => ({
      'package.json': '{"scripts":{"test":"node --test"}}',
      '.github/workflows/ci.yml': workflow(JSON.stringify(text), '20'),
    }),
  ],
  [
    '.travis.yml',
    (text) => ({
      'package.json': '{}',
      '.travis.yml': `node_js: [${JSON.stringify(text)}]\nscript: npm test\n`,
    }),
  ],
  ['.python-version', (text) => ({ 'setup.py': '', '.python-version': text })],
  ['pyproject.toml', (text) => ({ 'pyproject.toml': `[project]\nrequires-python = "${text}"\n` })],
  ['rust-toolchain', (text) => ({ 'Cargo.toml': '', 'rust-toolchain': text })],
  ['rust-toolchain.toml', (text) => ({ 'Cargo.toml': '', 'rust-toolchain.toml': `channel = "${text}"\n` })],
  ['go.mod', (text) => ({ 'go.mod': `module x\n\ngo ${text}\ntoolchain ${text}\n` })],
  ['.ruby-version', (text) => ({ Gemfile: '', '.ruby-version': text })],
  ['.java-version', (text) => ({ 'pom.xml': '', '.java-version': text })],
];

const workflow = (version: string, entry: string): string => `on: push
jobs:
  test:
    runs-on: ubuntu-latest
    strategy:
      matrix:
        node: [${JSON.stringify(entry)}]
    steps:
      - uses: actions/setup-node@v4
        with:
          node-version: ${version}
      - run: npm test
`;

/** One of the packages that Runoff knows, in a range of numbers. */
const KNOWN =
  /^(?:node-linux-(?:x64|arm64)|npm|pnpm|yarn|@yarnpkg\/cli-dist|@oven\/bun-linux-(?:x64|aarch64))@(?:latest|[\d.^~<>=| ]+)$/;

test.each(PLACES)('a version in %s names no package, address, file or program', async (_, filesFor) => {
  for (const text of HOSTILE) {
    const files = filesFor(text);
    const read = [...toolchainFiles(Object.keys(files))];
    expect(read.length, text).toBeGreaterThan(0);
    const { found } = await provide(files);
    for (const spec of asked) expect.soft([text, spec]).toEqual([text, expect.stringMatching(KNOWN)]);
    expect.soft([text, found.filter(({ name }) => name.includes('99'))]).toEqual([text, []]);
  }
  expect(existsSync(marker())).toBe(false);
});

test('a package that is another one than it was asked for is refused, and nothing of it starts', async () => {
  const { found, missing } = await provide({ 'package.json': '{"engines":{"node":"99"}}' });
  expect(asked).toEqual([expect.stringMatching(/^node-linux-\w+@99$/)]);
  expect(found).toEqual([]);
  expect(missing[0]).toContain('npm installed another package instead of node-linux-');
  expect(existsSync(marker())).toBe(false);
});

test('the Node of a package is started in a sandbox with its folder alone, and never on the host', async () => {
  const started: unknown[] = [];
  const { found, tools } = await openToolchains({
    dir: join(dir, 'lent'),
    owner: null,
    host: false,
    environment: {},
    nodeVersion: '24.21.0',
    async ask([program, ...args], given) {
      if (given === undefined) return null;
      started.push({ program, args, given });
      return 'v18.1.0';
    },
    async install(folder, spec, signal) {
      await install(folder, spec, signal);
      const file = join(folder, 'node_modules', spec.replace(/@.*/, ''), 'package.json');
      const text = readFileSync(file, 'utf8').replace('evil-package', spec.replace(/@.*/, ''));
      writeFileSync(file, text.replace('99.0.0', '18.1.0'));
    },
  }).provide(wantedTools(['package.json'], new Map([['package.json', '{"engines":{"node":"18"}}']])));
  const [mount] = tools.mounts;
  expect(started).toEqual([
    {
      program: `${mount?.to}/bin/node`,
      args: ['--version'],
      given: { mounts: [mount], path: [`${mount?.to}/bin`] },
    },
  ]);
  expect(found).toEqual([{ name: 'Node 18.1.0', from: 'registry' }]);
  expect(existsSync(marker())).toBe(false);
});
