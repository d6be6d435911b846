import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  affectedPackages,
  packageFiles,
  stepFiles,
  testSteps,
  workspaceGraph,
} from '../../../src/core/settings/index.ts';
import { cpuMsSince } from '../../world/cpu-time.ts';

const manifest = (name: string, dependencies: readonly string[] = [], more = {}) =>
  JSON.stringify({
    name,
    dependencies: Object.fromEntries(dependencies.map((one) => [one, 'workspace:*'])),
    ...more,
  });
const SCRIPTS = { scripts: { test: 'node --test' } };
const npm = (...workspaces: readonly string[]) => ({ 'package.json': JSON.stringify({ workspaces }) });

/** core ← api ← app, and a package that nobody needs. */
const PACKAGES = {
  'packages/core/package.json': manifest('@x/core', [], SCRIPTS),
  'packages/api/package.json': manifest('@x/api', ['@x/core', 'left-pad'], SCRIPTS),
  'packages/docs/package.json': manifest('@x/docs', [], SCRIPTS),
  'apps/web/package.json': manifest('web', ['@x/api'], SCRIPTS),
};
const GRAPH = [
  { kind: 'node', folder: 'apps/web', dependsOn: ['packages/api'] },
  { kind: 'node', folder: 'packages/api', dependsOn: ['packages/core'] },
  { kind: 'node', folder: 'packages/core', dependsOn: [] },
  { kind: 'node', folder: 'packages/docs', dependsOn: [] },
];

describe('the packages of a workspace, and who depends on whom', () => {
  test.each([
    ['npm and yarn', npm('packages/*', './apps/web/')],
    ['yarn 1', { 'package.json': '{ "workspaces": { "packages": ["packages/*", "apps/*"] } }' }],
    [
      'pnpm, a glob to a line',
      {
        'pnpm-workspace.yaml':
          "packages:\n  # ours\n  - 'packages/*'\n  - apps/** # all\ncatalog:\n  - no/*\n",
      },
    ],
    ['pnpm, in brackets', { 'pnpm-workspace.yaml': 'packages: ["packages/*", apps/*]\n' }],
    ['pnpm, but for one', { 'pnpm-workspace.yaml': 'packages:\n- "**"\n- "!**/test/**"\n' }],
  ])('are read as %s writes them', (_, top) => {
    const files = {
      ...top,
      ...PACKAGES,
      'packages/core/test/fixture/package.json': manifest('fixture'),
      'packages/core/node_modules/y/package.json': manifest('y'),
    };
    expect(workspaceGraph(files)).toEqual(GRAPH);
  });

  test('are modules with tests below a module that no go.work joins, beside the one at the top', () => {
    const paths = [
      'go.mod',
      'exp/go.mod',
      'exp/a_test.go',
      'sdk/log/go.mod',
      'sdk/log/x/a_test.go',
      'tool/go.mod',
    ];
    const top = { 'go.mod': 'module example.org/x\n' };
    expect(packageFiles(paths, top)).toEqual(['exp/go.mod', 'sdk/log/go.mod']);
    expect(packageFiles([...paths, 'vendor/modules.txt'], top)).toEqual([]);
    const files = {
      ...top,
      'exp/go.mod': 'module example.org/x/exp\nrequire example.org/x/sdk/log v0.1.0\n',
      'sdk/log/go.mod': 'module example.org/x/sdk/log\n',
    };
    expect(workspaceGraph(files)).toEqual([
      { kind: 'go', folder: 'exp', dependsOn: ['sdk/log'] },
      { kind: 'go', folder: 'sdk/log', dependsOn: [] },
    ]);
    expect(testSteps('go test ./...', files)?.map((step) => step.package)).toEqual([
      undefined,
      'exp',
      'sdk/log',
    ]);
    expect(packageFiles([...paths, 'go.work'], { ...top, 'go.work': 'use ./tool\n' })).toEqual([
      'tool/go.mod',
    ]);
  });

  test('are the modules of a go.work', () => {
    const files = {
      'go.work': 'go 1.22\n\nuse (\n\t./api // the server\n\t./lib\n)\nuse ./tool\nuse ../outside\n',
      'api/go.mod': 'module x.org/api\n\nrequire x.org/lib v1.0.0\n',
      'lib/go.mod': 'module x.org/lib\n',
      'tool/go.mod': 'module x.org/tool\n\nrequire (\n\tx.org/library v1.0.0\n)\n',
    };
    expect(workspaceGraph(files)).toEqual([
      { kind: 'go', folder: 'api', dependsOn: ['lib'] },
      { kind: 'go', folder: 'lib', dependsOn: [] },
      { kind: 'go', folder: 'tool', dependsOn: [] },
    ]);
    expect(testSteps('go test -race ./...', files)?.map((step) => step.package)).toEqual([
      'api',
      'lib',
      'tool',
    ]);
  });

  test('are none without a workspace, and with a manifest that cannot be read', () => {
    expect(workspaceGraph(PACKAGES)).toEqual([]);
    expect(workspaceGraph({ ...PACKAGES, 'package.json': '{ "workspaces": 3 }' })).toEqual([]);
    expect(workspaceGraph({ ...PACKAGES, 'package.json': '{' })).toEqual([]);
  });

  test('are read from the manifests that the globs name, and from no others', () => {
    const top = npm('packages/*');
    const paths = ['package.json', ...Object.keys(PACKAGES), 'packages/core/src/index.js'];
    expect(stepFiles(paths)).toEqual(['package.json', ...Object.keys(PACKAGES)]);
    expect(packageFiles(paths, top)).toEqual(Object.keys(PACKAGES).slice(0, 3));
    const projects = ['packages/core/project.json', 'apps/web/project.json'];
    expect(packageFiles([...paths, ...projects], { ...top, 'nx.json': '{}' }).slice(3)).toEqual([
      projects[0],
    ]);
  });
});

describe('a change affects', () => {
  const affected = (...changed: readonly string[]) => [
    ...affectedPackages(workspaceGraph({ ...npm('packages/*', 'apps/*'), ...PACKAGES }), changed),
  ];

  test('the package that it is in and all that depend on it', () => {
    expect(affected('packages/core/src/index.js')).toEqual(['packages/core', 'packages/api', 'apps/web']);
    expect(affected('apps/web/package.json')).toEqual(['apps/web']);
    expect(affected('packages/docs/README.md')).toEqual(['packages/docs']);
  });

  test('every package where it is outside of all of them, unless it is text for people', () => {
    expect(affected('tsconfig.json')).toHaveLength(4);
    expect(affected('packages/shared.js', 'fixtures/list.txt')).toHaveLength(4);
    expect(affected('README.md', '.changeset/new.md', 'docs/index.html', 'LICENSE')).toEqual([]);
  });

  test('every package of the other kind where only one kind has the file', () => {
    const files = {
      ...npm('packages/*'),
      ...PACKAGES,
      'go.work': 'use ./packages/core/native\n',
      'packages/core/native/go.mod': 'module n\n',
    };
    expect([...affectedPackages(workspaceGraph(files), ['packages/core/native/n.go'])].sort()).toEqual([
      'packages/api',
      'packages/core',
      'packages/core/native',
    ]);
    expect(affectedPackages(workspaceGraph(files), ['packages/docs/index.js']).size).toBe(2);
  });

  test('each package of a circle, once', () => {
    const files = {
      ...npm('*'),
      'a/package.json': manifest('a', ['c', 'a']),
      'b/package.json': manifest('b', ['a']),
      'c/package.json': manifest('c', ['b']),
    };
    expect([...affectedPackages(workspaceGraph(files), ['b/index.js'])]).toEqual(['b', 'c', 'a']);
  });
});

describe('a hostile workspace', () => {
  test('of thousands of packages is not taken apart, so none of them is forgotten', () => {
    const paths = Array.from({ length: 5_000 }, (_, at) => `packages/p${at}/package.json`);
    const found = packageFiles(paths, npm('packages/*'));
    expect(found.length).toBeLessThan(300);
    const files = {
      ...npm('packages/*'),
      ...Object.fromEntries(found.map((path) => [path, manifest(path, [], SCRIPTS)])),
    };
    expect(workspaceGraph(files)).toEqual([]);
    expect(testSteps('npm test --workspaces', files)?.map(({ command }) => command)).toEqual([
      'npm test --workspaces',
    ]);
  });

  test('with globs of stars costs no time', () => {
    const glob = `${'*a'.repeat(90)}b`;
    const folder = `${'a'.repeat(5_000)}/c`;
    const files = { ...npm(glob, `${'**/'.repeat(60)}x`), [`${folder}/package.json`]: manifest('a') };
    const began = process.cpuUsage();
    expect(workspaceGraph(files)).toEqual([]);
    expect(cpuMsSince(began)).toBeLessThan(2_000);
  });

  test('with folders that a shell would read otherwise has no such package', () => {
    const odd = ['$(id)', 'a b', "a'b", '-rf', 'a;b', '../up', 'a/../../up', '.', '..'];
    const files = Object.fromEntries(odd.map((folder) => [`${folder}/package.json`, manifest('a')]));
    expect(workspaceGraph({ ...npm('**'), ...files })).toEqual([]);
    const modules = Object.fromEntries(odd.map((folder) => [`${folder}/go.mod`, 'module a\n']));
    const work = odd.map((folder) => `use ${folder}`).join('\n');
    expect(workspaceGraph({ 'go.work': work, ...modules })).toEqual([]);
  });

  test('never throws, and names folders of its own manifests only', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 12 })),
        fc.string(),
        fc.string(),
        fc.dictionary(fc.string({ maxLength: 12 }), fc.string()),
        (workspaces, pnpm, work, others) => {
          const manifests = Object.fromEntries(
            Object.entries(others).map(([folder, text]) => [`${folder}/package.json`, text]),
          );
          const files = { ...npm(...workspaces), 'pnpm-workspace.yaml': pnpm, 'go.work': work, ...manifests };
          const graph = workspaceGraph(files);
          for (const { folder, dependsOn } of graph) {
            expect(Object.hasOwn(files, `${folder}/package.json`)).toBe(true);
            for (const one of dependsOn) expect(graph.some((other) => other.folder === one)).toBe(true);
          }
        },
      ),
    );
  });
});

describe('the test command of a workspace is taken apart by package', () => {
  const files = (more: Record<string, string> = {}) => ({
    ...npm('packages/*', 'apps/*'),
    ...PACKAGES,
    ...more,
  });
  const steps = (command: string, more: Record<string, string> = {}) =>
    testSteps(command, files(more))?.map((step) => [step.package ?? '', step.command]) ?? null;
  const EACH = ['apps/web', 'packages/api', 'packages/core', 'packages/docs'].map((folder) => [
    folder,
    'node --test',
  ]);

  test.each([
    'npm test --workspaces',
    'npm run test -ws --if-present',
    'pnpm -r test',
    'pnpm run -r test',
    'pnpm test --recursive --no-bail --workspace-concurrency=1',
    'yarn workspaces run test',
    'yarn workspaces foreach -Apt run test',
    'npx lerna run test --stream --concurrency=2',
    'yarn lerna run test',
  ])('%s', (command) => {
    expect(steps(command)).toEqual(EACH);
  });

  test('turbo, with what its tasks depend on before each package', () => {
    const turbo = (test: object) => ({ 'turbo.json': JSON.stringify({ tasks: { test } }) });
    expect(steps('turbo run test', turbo({}))).toEqual(EACH);
    expect(steps('npx turbo test --no-daemon', turbo({ dependsOn: ['^build'] }))?.slice(0, 2)).toEqual([
      ['apps/web', 'npx --no-install turbo run build --filter=web^...'],
      ['apps/web', 'node --test'],
    ]);
    expect(steps('pnpm exec turbo run test', turbo({ dependsOn: ['build'] }))?.[0]?.[1]).toBe(
      'npx --no-install turbo run build --filter=web...',
    );
    const tasks = { test: { dependsOn: ['^build'] }, 'web#test': { passThroughEnv: ['KEY'] } };
    expect(steps('turbo run test', { 'turbo.json': JSON.stringify({ tasks }) })?.slice(0, 3)).toEqual([
      ['apps/web', 'node --test'],
      ['packages/api', 'npx --no-install turbo run build --filter=@x/api^...'],
      ['packages/api', 'node --test'],
    ]);
    const ofOne = ['@x/core#build', 'docs#codegen', '^build'];
    expect(steps('turbo run test --color', turbo({ dependsOn: ofOne }))?.[0]).toEqual([
      'apps/web',
      [
        'npx --no-install turbo run build --filter=@x/core',
        'npx --no-install turbo run codegen --filter=docs',
        'npx --no-install turbo run build --filter=web^...',
      ].join(' && '),
    ]);
    const ofTop = { 'turbo.json': JSON.stringify({ tasks: { test: {}, '//#test': {} } }) };
    expect(steps('turbo run test', ofTop)).toEqual([['', 'turbo run test']]);
  });

  test('nx, where targets are scripts', () => {
    const nx = (text: object) => ({ 'nx.json': JSON.stringify(text) });
    expect(steps('nx run-many -t test', nx({}))).toEqual(EACH);
    expect(steps('npx nx run-many --target=test --parallel', nx({}))).toEqual(EACH);
    expect(steps('nx affected --target=test --base=origin/main', nx({}))).toEqual(EACH);
    const whole = [['', 'nx run-many -t test']];
    expect(steps('nx run-many -t test', nx({ plugins: ['@nx/vite'] }))).toEqual(whole);
    expect(steps('nx run-many -t test', { ...nx({}), 'apps/web/project.json': '{}' })).toEqual(whole);
    const needs = (...dependsOn: unknown[]) => nx({ targetDefaults: { test: { dependsOn } } });
    expect(steps('nx run-many -t test', needs({ target: 'build' }))).toEqual(whole);
  });

  test('palantir/blueprint: nx compiles what a package depends on', () => {
    const more = { 'nx.json': JSON.stringify({ targetDefaults: { test: { dependsOn: ['^compile'] } } }) };
    const found = steps('nx run-many -t test', more)?.map(([folder, command]) => `${folder}: ${command}`);
    expect(found).toContain('packages/core: node --test');
    expect(found).toContain('packages/api: npx --no-install nx run-many -t compile -p @x/core');
    expect(found?.filter((one) => one.startsWith('packages/core: '))).toHaveLength(1);
  });

  test.each([
    // jaredpalmer/formik and nextauthjs/next-auth
    ["turbo run test --filter='./packages/*' --", ['packages/api', 'packages/core', 'packages/docs']],
    [
      'turbo run test --concurrency=1 --filter=[HEAD^1] --filter=./packages/* --filter=!*oc*',
      ['packages/api', 'packages/core'],
    ],
    ['turbo run test --affected --filter=!web', ['packages/api', 'packages/core', 'packages/docs']],
    [
      "pnpm --filter '...[origin/main]' --filter !web test",
      ['packages/api', 'packages/core', 'packages/docs'],
    ],
    ['pnpm --filter ./packages/core test', ['packages/core']],
    ['pnpm --filter core test', ['packages/core']],
    ['pnpm -F web --filter @x/c* run test', ['apps/web', 'packages/core']],
    ['pnpm --filter !web -F=!docs run test', ['packages/api', 'packages/core']],
    ['npm test --workspace=web', ['apps/web']],
    ['npm run test -w packages/core -w web', ['apps/web', 'packages/core']],
    [
      "yarn workspaces foreach -Apti --include '@x/*' --exclude @x/docs run test",
      ['packages/api', 'packages/core'],
    ],
    ['yarn workspaces foreach -A --exclude web run test', ['packages/api', 'packages/core', 'packages/docs']],
    ['lerna run test --scope web', ['apps/web']],
    ['lerna run test --ignore web', ['packages/api', 'packages/core', 'packages/docs']],
  ])('where it selects packages: %s', (command, folders) => {
    const found = steps(command, { 'turbo.json': '{}' })?.map(([folder]) => folder);
    expect(found).toEqual(folders);
  });

  test.each([
    'pnpm --filter core... test',
    'pnpm --filter ...core test',
    'pnpm test --filter core',
    'turbo run test --filter=web^...',
    'lerna run test --scope web --include-dependencies',
    'npm test -- -w web',
    'turbo run lint test',
    'nx run-many -t test -p web',
    'pnpm -r exec node --test',
  ])('but not where it is not understood: %s', (command) => {
    const more = { 'turbo.json': '{}', 'nx.json': '{}' };
    expect(steps(command, more)?.every(([folder]) => folder === '') ?? true).toBe(true);
  });

  test('whose name is compared with a filter that has many stars', () => {
    const filter = `${'*a'.repeat(40)}*b`;
    const found = testSteps(`turbo run test --filter=${filter}`, {
      ...npm('*'),
      'turbo.json': '{}',
      'a/package.json': JSON.stringify({ name: 'a'.repeat(200), scripts: { test: 'mocha' } }),
    });
    expect(found?.map((step) => step.package)).toEqual([undefined]);
  });

  test('all of which are taken apart, also with many commands behind several scripts', () => {
    const parts = ['a', 'b', 'c', 'd'].map((name) => ({
      [`test:${name}`]: `npm run ${name}`,
      [name]: `npm run ${name}${name}`,
      [name + name]: `mocha ${name}`,
    }));
    const manifest = JSON.stringify({ scripts: Object.assign({ test: 'run-s test:*' }, ...parts) });
    const folders = Array.from({ length: 190 }, (_, at) => `p${at}`);
    const all = Object.fromEntries(folders.map((folder) => [`${folder}/package.json`, manifest]));
    const found = testSteps('npm test --workspaces', { ...npm('*'), ...all });
    expect(found?.filter(({ command }) => /^mocha [a-d]$/.test(command))).toHaveLength(760);
  });

  test('each with its own steps: what one needs is none of another’s', () => {
    const script = (test: string) => JSON.stringify({ scripts: { test } });
    const found = testSteps('npm test -ws', {
      ...npm('*'),
      'a/package.json': script('node scripts/test.js'),
      'b/package.json': script('tsc && mocha && eslint .'),
    });
    expect(found?.map((step) => [step.package, step.kind])).toEqual([
      ['a', 'tests'],
      ['b', 'other'],
      ['b', 'tests'],
      ['b', 'lint'],
    ]);
  });
});
