import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readSources } from './architecture/read-sources.ts';
import { LIMITS, OWNERS, violations } from './architecture/rules.ts';

const ROOT = join(import.meta.dirname, '..');

describe('this source tree', () => {
  test('follows its layers, package owners, entry points, sizes and house rules, without cycles', () => {
    const sources = readSources(ROOT);
    expect(sources.length).toBeGreaterThan(50);
    expect(violations(sources)).toEqual([]);
  });

  test('has an owner for every dependency, and no other owner', async () => {
    const dependenciesOf = async (path: string): Promise<readonly string[]> => {
      const text = await readFile(join(ROOT, path, 'package.json'), 'utf8');
      return Object.keys((JSON.parse(text) as { dependencies: Record<string, string> }).dependencies);
    };
    const all = [
      ...new Set([...(await dependenciesOf('.')), ...(await dependenciesOf('packages/local-github'))]),
    ];
    expect(Object.keys(OWNERS).sort()).toEqual(all.sort());
  });
});

describe('the rules', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'runoff-architecture-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  /** What the rules say about a tree of these files. */
  async function judge(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
    return violations(readSources(root));
  }
  const one = 'export const one = 1;\n';

  test('a layer may not import a higher one, not even for a type', async () => {
    const said = await judge({
      'src/core/model/index.ts':
        "import type { one } from '../../ports/index.ts';\nexport type One = typeof one;\n",
      'src/ports/index.ts': one,
      'src/server/index.ts': "export { one } from '../adapters/git/index.ts';\n",
      'src/adapters/git/index.ts': one,
    });
    expect(said).toEqual([
      'src/core/model/index.ts:1: core may not import ports (src/ports/index.ts)',
      'src/server/index.ts:1: server may not import adapters (src/adapters/git/index.ts)',
    ]);
  });

  test('a program is started only where one that was killed is started again', async () => {
    const said = await judge({
      'src/adapters/git/index.ts': "export { spawn } from 'node:child_process';\n",
      'src/adapters/git/trees.ts': "export { spawn } from 'node:child_process';\n",
      'src/adapters/coders/index.ts': "export { execa } from 'execa';\n",
    });
    expect(said).toEqual([
      'src/adapters/coders/index.ts:1: only listed files start programs (STARTS_PROGRAMS)',
      'src/adapters/git/index.ts:1: only listed files start programs (STARTS_PROGRAMS)',
    ]);
  });

  test('neither adapters nor stages import each other, however it is written', async () => {
    const said = await judge({
      'src/adapters/git/index.ts': one,
      'src/adapters/store/index.ts': "export const lazily = () => import('../git/index.ts');\n",
      'src/runs/code/index.ts': one,
      'src/runs/judge/index.ts': "export type One = typeof import('../code/index.ts');\n",
      'src/runs/questions/index.ts': 'export const asked = 1;\n',
      'src/runs/brief/index.ts': "export * from '../questions/index.ts';\n",
      'src/runs/local/index.ts': "export * from '../brief/index.ts';\n",
      'src/runs/index.ts': "export * from './code/index.ts';\nexport * from './judge/index.ts';\n",
    });
    expect(said).toEqual([
      'src/adapters/store/index.ts:1: an adapter may not import another one (adapters/git)',
      'src/runs/judge/index.ts:1: the stage judge may not import the stage code',
    ]);
  });

  test('core, ports, runs and commands have no files, clock, randomness or network of Node', async () => {
    const said = await judge({
      'src/core/model/index.ts':
        "import { readFileSync } from 'node:fs';\nexport const read = readFileSync;\n",
      'src/runs/index.ts':
        'export const a = () => Date.now() + Math.random();\nexport const b = () => [new Date(), new Date(0)];\n' +
        'export const c = () => process.env.HOME;\nexport const d = (world: { fetch(): void }) => world.fetch();\n',
      'src/adapters/git/index.ts':
        "import { readFileSync } from 'node:fs';\nexport const read = () => readFileSync(String(Date.now()));\n",
    });
    expect(said).toEqual([
      'src/core/model/index.ts:1: core may not import node:fs; that is for an adapter behind a port',
      'src/runs/index.ts:1: runs may not use Date.now; take it through a port',
      'src/runs/index.ts:1: runs may not use Math.random; take it through a port',
      'src/runs/index.ts:2: runs may not use new Date(); take it through a port',
      'src/runs/index.ts:3: runs may not use process.env; take it through a port',
    ]);
  });

  test('a package is imported by its owner only, and one without an owner by nobody', async () => {
    const said = await judge({
      'src/adapters/github/index.ts':
        "import { Octokit } from '@octokit/rest';\nimport 'left-pad/x';\nexport const o = Octokit;\n",
      'src/adapters/git/index.ts':
        "import type { Octokit } from '@octokit/rest';\nexport type O = Octokit;\n",
      'src/app.ts':
        "import type { Probot } from 'probot';\nimport { run } from 'probot';\nexport const go = (_: Probot) => run;\n",
    });
    expect(said).toEqual([
      'src/adapters/git/index.ts:1: adapters/git may not import @octokit/rest; it belongs to adapters/github',
      'src/adapters/github/index.ts:2: adapters/github may not import left-pad; it belongs to nobody',
      'src/app.ts:2: app may not import probot; it belongs to compose, demo',
    ]);
  });

  test('a folder is imported through its index.ts', async () => {
    const said = await judge({
      'src/core/model/index.ts': "export * from './run.ts';\n",
      'src/core/model/run.ts': one,
      'src/core/reports/index.ts':
        "export { one } from '../model/run.ts';\nexport { two } from './words.ts';\n",
      'src/core/reports/words.ts': "export { one as two } from '../model/index.ts';\n",
    });
    expect(said).toEqual([
      'src/core/reports/index.ts:1: import src/core/model/run.ts through src/core/model/index.ts',
    ]);
  });

  test('imports have no cycles, including types', async () => {
    const said = await judge({
      'src/core/model/index.ts': "export * from './b.ts';\n",
      'src/core/model/b.ts': "import { c } from './c.ts';\nexport const b = () => c;\n",
      'src/core/model/c.ts': "import { b } from './index.ts';\nexport const c = () => b;\n",
      'src/core/settings/index.ts': "import type { P } from './p.ts';\nexport const p: P | null = null;\n",
      'src/core/settings/p.ts':
        "import type { p } from './index.ts';\nexport interface P { readonly p: typeof p }\n",
    });
    expect(said).toEqual([
      'src/core/model/b.ts:1: a circle of imports: src/core/model/b.ts → src/core/model/c.ts → src/core/model/index.ts → src/core/model/b.ts',
      'src/core/settings/index.ts:1: a circle of imports: src/core/settings/index.ts → src/core/settings/p.ts → src/core/settings/index.ts',
    ]);
  });

  test('files and functions have a maximum length', async () => {
    const lines = (count: number) => '  void 0;\n'.repeat(count);
    const said = await judge({
      'src/core/a.ts': `export function fits() {\n${lines(LIMITS.functionLines - 2)}}\n`,
      'src/core/b.ts': `/** Not counted. */\nexport const tooLong = () => {\n${lines(LIMITS.functionLines - 1)}};\n`,
      'src/core/c.ts': `export {};\n${'\n'.repeat(LIMITS.fileLines)}`,
      'src/core/d.ts': `export function holds() {\n  const x = () => {\n${lines(40)}  };\n  return () => {\n${lines(40)}    x();\n  };\n}\n`,
    });
    expect(said).toEqual([
      'src/core/b.ts:2: the function tooLong has 51 lines',
      'src/core/c.ts:1: the file has 301 lines',
    ]);
  });

  test('some language features are not used', async () => {
    const said = await judge({
      'src/core/a.ts': 'export const a = (x: any) => x as any;\nexport let b = 1;\nexport enum C { D }\n',
      'src/core/b.ts':
        'export namespace N { export const x = 1 }\nexport class K { constructor(readonly x: string) {} }\n',
      'src/core/c.ts': 'export default 1;\n',
      'src/core/d.ts': 'export default function f() {}\n',
      'src/core/e.ts': 'const x = 1;\nexport { x as default };\n',
      'src/core/utils/index.ts': one,
      'src/core/helpers.ts': one,
      'src/core/fine.ts':
        "// any\nexport const s = 'any';\nexport function f(x: number) {\n  let y = x;\n  switch (y) {\n    default:\n      y += 1;\n  }\n  return y;\n}\n",
    });
    expect(said).toEqual([
      'src/core/a.ts:1: any is not used here',
      'src/core/a.ts:1: any is not used here',
      'src/core/a.ts:2: module-level let is not used here',
      'src/core/a.ts:3: enum is not used here',
      'src/core/b.ts:1: namespace is not used here',
      'src/core/b.ts:2: parameter property is not used here',
      'src/core/c.ts:1: default export is not used here',
      'src/core/d.ts:1: default export is not used here',
      'src/core/e.ts:2: default export is not used here',
      'src/core/helpers.ts:1: "helpers" says nothing; name it after what it does',
      'src/core/utils/index.ts:1: "utils" says nothing; name it after what it does',
    ]);
  });

  test('a name is declared in at most two files', async () => {
    const said = await judge({
      'src/core/a.ts':
        'export const label = 1;\ntype Row = string;\nexport const row: Row = label.toString();\n',
      'src/core/b.ts':
        'export function label() {}\ninterface Row { readonly a: 1 }\nexport const b = (r: Row) => r;\n',
      'src/ports/c.ts': 'export class label {}\n',
      'packages/local-github/src/d.ts': 'export const label = 1;\nexport class Row {}\n',
    });
    expect(said).toEqual(['src/core/a.ts:1: label is also declared in src/core/b.ts, src/ports/c.ts']);
  });

  test('a file outside the layers is rejected', async () => {
    expect(await judge({ 'src/stuff/a.ts': one })).toEqual([
      'src/stuff/a.ts:1: stuff is not a layer; give it a row in the table or move the file',
    ]);
  });
});
