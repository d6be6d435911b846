import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWorkspaces } from '../../../src/adapters/git/index.ts';
import { installSyntaxCheck } from '../../../src/adapters/syntax/index.ts';
import type { Task } from '../../../src/core/model/index.ts';
import { parsePatch } from '../../../src/core/patches/index.ts';
import { parseTroubles } from '../../../src/pipeline/examine/syntax.ts';
import type { World } from '../../../src/pipeline/world.ts';
import type { Workspaces } from '../../../src/ports/index.ts';
import { patchOf } from '../../contracts/workspaces.suite.ts';
import { type GitWorld, openGitWorld } from '../git/world.ts';
import { openWorkbench, shell, type Workbench } from '../sandbox/workbench.ts';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe('a candidate is held to the syntax that its base parses by', { timeout: 90_000 }, () => {
  let bench: Workbench;
  let repositories: GitWorld;
  let workspaces: Workspaces;
  beforeAll(async () => {
    bench = await openWorkbench();
    repositories = openGitWorld();
    await installSyntaxCheck(join(bench.options.toolchain, 'checks/syntax.mjs'));
    const dataDir = join(bench.root, 'data');
    workspaces = openWorkspaces({ dataDir, sandbox: bench.sandbox, owner: bench.owner, log: silent });
  }, 60_000);
  afterAll(() => {
    repositories.close();
    bench.close();
  });

  let areas = 0;
  /** What the gate says of a change that a shell line makes to these files. */
  async function judge(files: Readonly<Record<string, string>>, line: string): Promise<string | null> {
    const { path, sha } = repositories.repository(files);
    const source = { kind: 'local', path } as const;
    const base = await workspaces.prepare(source, sha);
    const area = await workspaces.open(base, `area-${++areas}`);
    expect(await bench.sandbox.exec(shell(area, line))).toMatchObject({ exitCode: 0 });
    const { raw, text } = patchOf(await workspaces.collect(base, area));
    const parsed = parsePatch(raw, text);
    if (parsed.kind === 'refused') throw new Error(parsed.reasons.join(' '));
    const place = {
      world: { workspaces, sandbox: bench.sandbox } as World,
      task: { settings: { timeout: { check: 60 } } } as Task,
      source,
      base,
      baseFiles: await workspaces.listFiles(source, sha),
      plan: { command: 'true', env: {}, report: null },
      signal: new AbortController().signal,
    };
    try {
      return await parseTroubles(place, area, parsed.patch.files);
    } finally {
      await workspaces.remove(area);
    }
  }
  const python = { 'a.py': 'x = 1\n', 'b.py': 'y = 2\n' };
  const BROKEN = "printf 'def f(:\\n'";

  test('a file that parsed and does not any more is named, whatever the others are like', async () => {
    expect(await judge(python, `${BROKEN} > a.py`)).toMatch(/^a\.py:1: SyntaxError/);
    expect(await judge({ ...python, 'b.py': 'print "x"\n' }, `${BROKEN} > a.py`)).toMatch(/^a\.py:1: /);
  });

  test('a file that never parsed here is left to the build', async () => {
    expect(await judge({ ...python, 'a.py': 'print "x"\n' }, `echo 'print "y"' > a.py`)).toBeNull();
  });

  test('a new file counts where the other files of its kind parse', async () => {
    expect(await judge(python, `${BROKEN} > new.py`)).toMatch(/^new\.py:1: /);
    expect(await judge(python, 'echo z = 3 > new.py; echo x = 4 > a.py; rm b.py')).toBeNull();
  });

  test('a new file of a version that the base is not readable in here is left to the build', async () => {
    const old = { 'a.py': 'print "x"\n', 'b.py': 'x = 1\n' };
    expect(await judge(old, `echo 'print "new"' > new.py`)).toBeNull();
  });

  test('a new file of a kind that the base has none of is left to the build', async () => {
    expect(await judge({ 'a.txt': 'a\n' }, `${BROKEN} > first.py`)).toBeNull();
  });

  test('of many files of a kind, a few from all over stand for it', async () => {
    const names = Array.from({ length: 12 }, (_, at) => `m${String(at).padStart(2, '0')}.py`);
    const old = (...which: readonly number[]) =>
      Object.fromEntries(names.map((name, at) => [name, which.includes(at) ? 'print "x"\n' : 'x = 1\n']));
    expect(await judge(old(), `${BROKEN} > new.py`)).toMatch(/^new\.py/);
    expect(await judge(old(6, 7, 8, 9, 10, 11), `${BROKEN} > new.py`)).toBeNull();
  });

  test('a component in a repository of components is left to the build', async () => {
    const jsx = 'export const A = () => <p className="a">{x}</p>;\n';
    const typo = "printf 'export const B = (;\\n'";
    expect(await judge({ 'a.js': jsx }, `echo 'export const B = () => <br key={1} />;' > b.js`)).toBeNull();
    expect(await judge({ 'a.js': jsx.replace('className="a"', ':x') }, `${typo} > b.js`)).toBeNull();
    expect(await judge({ 'a.js': 'export const a = 1;\n' }, `${typo} > b.js`)).toMatch(/^b\.js/);
  });

  test('troubles of several files are told together, at most three', async () => {
    const said = await judge(python, `for f in a b c d; do ${BROKEN} > $f.py; done`);
    expect(said?.split('; ').map((each) => each.split(':')[0])).toEqual(['a.py', 'b.py', 'c.py']);
  });
});
