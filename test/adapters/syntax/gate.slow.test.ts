import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWorkspaces } from '../../../src/adapters/git/index.ts';
import { installSyntaxCheck } from '../../../src/adapters/syntax/index.ts';
import type { Task } from '../../../src/core/model/index.ts';
import { type Patch, parsePatch } from '../../../src/core/patches/index.ts';
import type { SourceText } from '../../../src/core/source/index.ts';
import type {
  BaseCheckout,
  ExecResult,
  RepositorySource,
  WorkArea,
  Workspaces,
} from '../../../src/ports/index.ts';
import type { CheckPorts, CheckRunner } from '../../../src/runs/examine/areas.ts';
import { checkRunnerOn } from '../../../src/runs/examine/execute.ts';
import { parseErrors, parseSources } from '../../../src/runs/examine/syntax.ts';
import { patchOf } from '../../contracts/workspaces.suite.ts';
import { silent } from '../../world/silent-log.ts';
import { type GitWorld, openGitWorld } from '../git/world.ts';
import { openWorkbench, shell, type Workbench } from '../sandbox/workbench.ts';

describe('a candidate is held to the syntax that its base parses by', () => {
  let bench: Workbench;
  let repositories: GitWorld;
  let workspaces: Workspaces;
  beforeAll(async () => {
    bench = await openWorkbench();
    repositories = openGitWorld();
    await installSyntaxCheck(bench.options.toolchain);
    const dataDir = join(bench.root, 'data');
    workspaces = openWorkspaces({ dataDir, sandbox: bench.sandbox, owner: bench.owner, log: silent });
  });
  afterAll(() => {
    repositories.close();
    bench.close();
  });

  let areas = 0;
  const prepared = new Map<string, Promise<{ source: RepositorySource; base: BaseCheckout }>>();
  /** A checkout of these files, made once. */
  function checkout(files: Readonly<Record<string, string>>) {
    const key = JSON.stringify(files);
    const made = prepared.get(key) ?? prepare(files);
    prepared.set(key, made);
    return made;
  }
  async function prepare(files: Readonly<Record<string, string>>) {
    const { path, sha } = repositories.repository(files);
    const source = { kind: 'local', path } as const;
    return { source, base: await workspaces.prepare(source, sha) };
  }

  /** What `ask` is told of a change that a shell line makes to these files; `ended` stands for how our programs end. */
  async function changed<T>(
    files: Readonly<Record<string, string>>,
    line: string,
    ask: (place: CheckRunner, area: WorkArea, patch: Patch) => Promise<T>,
    ended?: Partial<ExecResult>,
  ): Promise<T> {
    const { source, base } = await checkout(files);
    const area = await workspaces.open(base, `area-${++areas}`);
    expect(await bench.sandbox.exec(shell(area, line))).toMatchObject({ exitCode: 0 });
    const { raw, text } = patchOf(await workspaces.collect(base, area));
    const parsed = parsePatch(raw, text);
    if (parsed.kind === 'refused') throw new Error(parsed.reasons.join(' '));
    const { sandbox } = bench;
    const result = {
      exitCode: null,
      stopped: null,
      stdout: '',
      stderr: '',
      truncated: false,
      ms: 1,
      ...ended,
    };
    const tools = { workspaces, sandbox: ended ? { ...sandbox, exec: async () => result } : sandbox };
    const task = { settings: { timeout: { check: 60 }, checks: {} }, base: { sha: base.sha } } as Task;
    const signal = new AbortController().signal;
    try {
      return await ask(
        await checkRunnerOn(tools as CheckPorts, { task, source, base, signal }),
        area,
        parsed.patch,
      );
    } finally {
      await workspaces.remove(area);
    }
  }
  /** What the gate says of that change. */
  const judge = (
    files: Readonly<Record<string, string>>,
    line: string,
    ended?: Partial<ExecResult>,
  ): Promise<string | null> =>
    changed(files, line, (place, area, patch) => parseErrors(place, area, patch.files), ended);

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

  test('a component is held to what components of the base parse by', async () => {
    const jsx = 'export const A = () => <p className="a">{x}</p>;\n';
    const typo = "printf 'export const B = (;\\n'";
    expect(await judge({ 'a.js': jsx }, `echo 'export const B = () => <br key={1} />;' > b.js`)).toBeNull();
    expect(await judge({ 'a.js': jsx }, `${typo} > b.js`)).toMatch(/^b\.js:1: /);
    expect(await judge({ 'a.js': jsx.replace('{x}', '{x') }, `${typo} > b.js`)).toBeNull();
  });

  test('a language that only its grammar reads is held to it: modified files and new ones', async () => {
    const go = { 'a.go': 'package a\n\nfunc F() {\n\tg()\n}\n' };
    expect(await judge(go, "sed -i 's/g()/g(/' a.go")).toBe('a.go:4: `(` is never closed');
    expect(await judge(go, "printf 'package a\nfunc {\n' > b.go")).toMatch(/^b\.go:/);
    expect(await judge(go, "printf 'package a\nfunc G() {}\n' > b.go")).toBeNull();
  });

  test('more trouble in a file that had some before is left to the build', async () => {
    const go = { 'a.go': 'package a\n\nvar x = beyond ~~ the grammar\n' };
    expect(await judge(go, "printf 'func f( {\n' >> a.go")).toBeNull();
  });

  test.each([
    ['C++', 'a.cpp', 'int f() {\n  return g(1);\n}\n'],
    ['C#', 'a.cs', 'class A {\n  int F() { return g(1); }\n}\n'],
    ['CSS', 'a.css', 'a { color: g(1); }\n'],
  ])('of %s, only a file that parsed on the base is held to its grammar', async (_, name, text) => {
    const broken = "sed 's/g(1)/g(1/'";
    expect(await judge({ [name]: text }, `${broken} -i ${name}`)).toMatch(new RegExp(`^${name}:\\d: `));
    expect(await judge({ [name]: text }, `${broken} ${name} > new-${name}`)).toBeNull();
  });

  test('macros that the grammar cannot read do not free a file from closing its brackets', async () => {
    const text = 'FOREACH(x, list) {\n  DO_IT(x)\n}\nMODULE("GPL")\nint f() { return g(1); }\n';
    expect(await judge({ 'a.c': text }, "sed -i 's/DO_IT(x)/DO_IT(y) DO_IT(z)/' a.c")).toBeNull();
    expect(await judge({ 'a.c': text }, "sed -i 's/DO_IT(x)/DO_IT(x/' a.c")).toMatch(/^a\.c:/);
  });

  test('a new script without extension is left to the build, whatever else has none', async () => {
    expect(await judge({ LICENSE: 'as is\n' }, `printf '#!/bin/bash\nif\n' > run`)).toBeNull();
    const script = { run: '#!/bin/bash\necho 1\n' };
    expect(await judge(script, "printf 'if true; then\n' >> run")).toMatch(/^run:/);
  });

  test('a check that files made exceed its limits is no trouble, one that did not run is a fault', async () => {
    expect(await judge(python, `${BROKEN} > a.py`, { stopped: 'memory' })).toBeNull();
    const cut = { exitCode: 0, stdout: '[{', truncated: true };
    expect(await judge(python, `${BROKEN} > a.py`, cut)).toBeNull();
    await expect(judge(python, `${BROKEN} > a.py`, { exitCode: 1, stderr: 'no such file' })).rejects.toThrow(
      /did not run \(exit code 1\): no such file/,
    );
  });

  test('troubles of several files are told together, at most three', async () => {
    const said = await judge(python, `for f in a b c d; do ${BROKEN} > $f.py; done`);
    expect(said?.split('; ').map((each) => each.split(':')[0])).toEqual(['a.py', 'b.py', 'c.py']);
  });

  describe('texts of a patch as syntax trees', () => {
    const old = { path: 'a.ts', text: 'test("a", () => {});\n' };
    const read = (patched: readonly SourceText[], ended?: Partial<ExecResult>) =>
      changed(
        python,
        'echo x = 2 > a.py',
        (place) => parseSources(place, `parsed-${++areas}`, { base: [old], patched }),
        ended,
      );

    test('are parsed inside the sandbox, whatever they hold', async () => {
      const go = { path: 'a.go', text: 'package a\n\nfunc f( {\n' };
      const deep = { path: 'b.ts', text: '['.repeat(3_000) + ']'.repeat(3_000) };
      const syntax = await read([go, deep]);
      expect(syntax(old)?.nodes[0]).toMatchObject({ type: 'program', from: 0, to: old.text.length });
      expect(syntax(go)?.nodes.map(({ type }) => type)).toContain('ERROR');
      expect(syntax(deep)).toBeNull();
    });

    test('have none where they made the parser exceed its limits', async () => {
      expect((await read([{ path: 'b.ts', text: 'x' }], { stopped: 'memory' }))(old)).toBeNull();
    });
  });
});
