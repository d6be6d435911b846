import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installSyntaxCheck } from '../../../src/adapters/syntax/index.ts';
import { openWorkbench, shell, type Workbench } from '../sandbox/workbench.ts';
import { BROKEN, BROKEN_FOR_ITS_BASE, NEWER, VALID } from './samples.ts';

interface Trouble {
  readonly path: string;
  readonly sure: 'always' | 'if-it-parsed' | 'never';
  readonly line?: number;
  readonly message: string;
}

const CHECK = '/opt/toolchain/bin/node --no-warnings --liftoff-only /opt/toolchain/checks/syntax/check.mjs';

describe('the syntax check', () => {
  let bench: Workbench;
  beforeAll(async () => {
    bench = await openWorkbench();
    await installSyntaxCheck(bench.options.toolchain);
  });
  afterAll(() => bench.close());

  async function check(
    files: Readonly<Record<string, string>>,
    more: { readonly paths?: readonly string[]; readonly before?: string } = {},
  ): Promise<readonly Trouble[]> {
    const area = bench.area(files);
    const line = `${more.before ?? 'true'} && exec ${CHECK}`;
    const stdin = JSON.stringify(more.paths ?? Object.keys(files));
    const result = await bench.sandbox.exec(shell(area, line, { stdin }));
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
    return JSON.parse(result.stdout) as Trouble[];
  }

  test('accepts what is valid in any known dialect', async () => {
    expect(await check(VALID)).toEqual([]);
  });

  test.each([
    ['in every file', 'always', BROKEN],
    ['where the base gives no cause', 'if-it-parsed', BROKEN_FOR_ITS_BASE],
  ] as const)('names file, line and what is wrong: %s', async (_, sure, broken) => {
    const files = Object.fromEntries(Object.entries(broken).map(([path, [text]]) => [path, text]));
    const found = await check(files);
    expect(found.map((trouble) => [trouble.path, trouble.sure, trouble.line ?? null])).toEqual(
      Object.entries(broken).map(([path, [, line]]) => [path, sure, line]),
    );
    for (const { path, message } of found) expect(message, path).toMatch(broken[path]?.[2] ?? /never/);
  });

  test('is not sure about a file of a dialect that it cannot read', async () => {
    const files = {
      'flow.js': '// @flow\nfunction f(x: ?string): {| a: 1 |} {}\n',
      'page.js': 'var a = <%= raw %>;\n',
      'cookie.py': 'import {{ cookiecutter.name }}\n',
      'chart.json': '{ "name": {{ .Values.name }} }\n',
      'made.go': 'package {{ .Package }}\n',
      'Made.java': 'class {% name %} {}\n',
      'old.py': 'print "of Python 2"\n',
    };
    const found = await check(files);
    expect(found.map(({ path, sure }) => [path, sure])).toEqual(
      Object.keys(files).map((path) => [path, 'never']),
    );
  });

  test('is not sure about syntax that its grammar does not know yet', async () => {
    const found = await check(NEWER);
    expect(found.map(({ path, sure }) => [path, sure])).toEqual(
      Object.keys(NEWER).map((path) => [path, 'never']),
    );
  });

  test('says nothing of C and C++ that differs from build to build', async () => {
    const text = '#if A\nint f() {\n#else\nint g() {\n#endif\n';
    expect(await check({ 'a.c': text, 'b.hpp': text })).toEqual([]);
  });

  test('uses the grammar for Python without python3, and nothing for shells without bash', async () => {
    const files = { 'a.py': 'def f(:\n', 'good.py': 'x = 1\n', 'a.sh': '#!/bin/bash\nif true; then\n' };
    const found = await check(files, { before: 'export PATH=/nowhere' });
    expect(found).toMatchObject([{ path: 'a.py', sure: 'always', line: 1 }]);
  });

  test('says nothing about files that are not text, and about links', async () => {
    const files = {
      'latin.js': 'replaced below',
      'latin.go': 'replaced below',
      'video.ts': 'G\0@\0',
      'video.rs': 'G\0@\0',
      'big.json': `{${' '.repeat((2 << 20) + 1)}`,
      'big.go': `package a; func f() {${' '.repeat(2 << 20)}`,
      'deep.json': '['.repeat(500_000),
      'deep.py': 'x = '.concat('-'.repeat(500_000), '1'),
      'target.txt': '{',
    };
    const before = [
      "printf 'var \\351 = \"' > latin.js",
      "printf 'package \\351(' > latin.go",
      'ln -s target.txt link.json',
      'ln -s /etc/passwd link.go',
      'mkfifo pipe.go',
      'mkdir folder.js folder.rs',
    ].join(' && ');
    const others = ['link.json', 'link.go', 'pipe.go', 'folder.js', 'folder.rs', 'missing.py'];
    expect(await check(files, { paths: [...Object.keys(files), ...others], before })).toEqual([]);
  });

  // Three seconds of processor time for each, however busy the machine is.
  test('answers for the other files if one is too much for a parser', async () => {
    const files = {
      'memory.rb': '"#{'.repeat(690_000),
      'time.cpp': 'a<'.repeat(1_000_000),
      'after.rb': 'def f(\nend\n',
      'after.py': 'def f(:\n',
    };
    const found = await check(files);
    expect(found.map(({ path }) => path)).toEqual(['after.rb', 'after.py']);
  });

  test('searches text that was made to be slow to search', async () => {
    const lines = '\n'.repeat(2_000_000);
    const files = {
      'lines.js': `${lines}(`,
      'lines.tsx': `${lines}(`,
      'lines.java': `${lines}class A (`,
      'lines.rb': `${lines}(`,
      'impl.rs': `${'impl<'.repeat(20_000)}`,
      'extension.cs': `class A { void F() { ${'extension<'.repeat(20_000)}`,
      'def.rb': 'def a('.repeat(20_000),
      'new.go': `package a\n${'new('.repeat(20_000)}`,
    };
    const found = await check(files);
    expect(found.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['lines.js', 'lines.tsx', 'lines.java', 'lines.rb']),
    );
  });

  test('reads deep nesting like any other', async () => {
    const deep = (open: string, close: string) => open.repeat(20_000) + close.repeat(20_000);
    const files = {
      'right.go': `package a\nvar x = ${deep('(', ')').replace('()', '(1)')}\n`,
      'wrong.go': `package a\nvar x = ${deep('(', ')').replace('()', '(1')}\n`,
    };
    expect((await check(files)).map(({ path }) => path)).toEqual(['wrong.go']);
  });

  test('executes nothing of what it reads', async () => {
    const touch = (quote: string) => `require("fs").writeFileSync(${quote}ran${quote}, "")`;
    const files = {
      'a.js': touch('"'),
      'b.json': `(${touch("'")})`,
      'c.ts': touch('"'),
      'd.py': 'open("ran", "w")',
      'e.sh': '#!/bin/bash\ntouch ran',
      'ast.py': 'open("ran", "w")',
      'tree-sitter.js': touch('"'),
      'f.rb': 'BEGIN { File.write("ran", "") }',
      'g.php': '<?php touch("ran");',
    };
    const area = bench.area(files);
    const line = `${CHECK} > /dev/null; ls`;
    const result = await bench.sandbox.exec(shell(area, line, { stdin: JSON.stringify(Object.keys(files)) }));
    expect(result.stdout.split('\n')).not.toContain('ran');
  });
});
