import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installSyntaxCheck } from '../../../src/adapters/syntax/index.ts';
import { openWorkbench, shell, type Workbench } from '../sandbox/workbench.ts';

interface Trouble {
  readonly path: string;
  readonly sure: boolean;
  readonly line?: number;
  readonly message: string;
}

describe('the syntax check', { timeout: 90_000 }, () => {
  let bench: Workbench;
  beforeAll(async () => {
    bench = await openWorkbench();
    await installSyntaxCheck(join(bench.options.toolchain, 'checks/syntax.mjs'));
  }, 60_000);
  afterAll(() => bench.close());

  async function check(
    files: Readonly<Record<string, string>>,
    paths = Object.keys(files),
    before = 'true',
  ): Promise<readonly Trouble[]> {
    const area = bench.area(files);
    const line = `${before} && exec /opt/runoff/bin/node --no-warnings /opt/runoff/checks/syntax.mjs`;
    const result = await bench.sandbox.exec(shell(area, line, { stdin: JSON.stringify(paths) }));
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
    return JSON.parse(result.stdout) as Trouble[];
  }

  const VALID: Readonly<Record<string, string>> = {
    'module.js':
      '#!/usr/bin/env node\nimport a from "./b.json" with { type: "json" };\nexport default await a;\n',
    'module.mjs': 'export * as x from "y";\n',
    'script.js': 'if (!module.parent) return;\nvar await = 010;\nwith (await) {}\n',
    'script.cjs': '#!/usr/bin/env node\nmodule.exports = require("x");\n',
    'marked.js': '\uFEFFmodule.exports = 1;\n',
    'types.js':
      '// stripped by a bundler\nimport type { B } from "b";\nexport const f = (x: number): B => x;\n',
    'decorated.js': '@foo class A { @bar baz() {} }\nexport { A };\n',
    'angular.ts': '@Component({}) class A { @Input() x: string; constructor(@Inject(X) private y: Y) {} }\n',
    'all.ts':
      'export enum E { A = 1 }\nnamespace N { export const x = 1 }\nconst a = <string>b;\nusing r = open();\n',
    'old.cts': 'import fs = require("fs");\nexport = fs;\n',
    'types.d.ts': 'declare global { interface Window { a: 1 } }\nexport as namespace Foo;\n',
    'view.tsx': 'const a = <div>;',
    'view.jsx': 'const a = <div>;',
    'plain.json': '{"a": [1, 2]}\n',
    'marked.json': '\uFEFF{"a": 1}\n',
    'tsconfig.json': '{\n  // as its tools read it\n  "a": 1, /* and */\n  "b": [1,],\n}\n',
    '.eslintrc.json': '/* rules */ { "rules": {} }\n',
    'babel.config.json': "{ presets: ['env'], }\n",
    'tool.py': '#!/usr/bin/env python3\nasync def f(x: int) -> None:\n    print(f"{x!r}")\n',
    'bash.sh': '#!/usr/bin/env bash\nset -euo pipefail\nfunction f { local a=(1 2); }\ndiff <(a) <(b)\n',
    'flags.sh': '#!/bin/bash -eu\na=(1 2)\n',
    'extended.sh': '#!/bin/bash\nshopt -s extglob\nrm !(a|b)\n',
    'elsewhere.sh': '#!/bin/sh\na=(1 2)\n',
    'posix.sh': '#!/bin/sh\nif true; then echo x; fi\n',
    'zsh.sh': '#!/bin/zsh\nfor i in 1 2; { echo $i }\nif [[ a ]] { echo }\n',
    'library.sh': 'echo ( ;;\n',
    'lib.bash': 'a=(1 2)\n',
    'windows.sh': '#!/bin/bash\r\nif true; then\r\n  echo x\r\nfi\r\n',
    'notes.txt': 'if ( {',
    'Main.kt': 'fun (',
  };

  test('takes what is valid in any dialect that it knows', async () => {
    expect(await check(VALID)).toEqual([]);
  });

  const BROKEN: Readonly<Record<string, readonly [text: string, line: number | null]>> = {
    'script.js': ['const a = {\n  b: 1\n\nfunction x() {\n', 4],
    'module.js': ['import a from "b";\n\nexport const c = (;\n', 3],
    'module.mjs': ['export const a = {\n', 1],
    'script.cjs': ['module.exports = {\n', 2],
    'a.ts': ['const a: number = 1;\nfunction f( {\n}\n', 3],
    'a.mts': ['export const = 1;\n', 1],
    'a.json': ['{"a": 1\n', null],
    'conflict.json': ['{\n<<<<<<< HEAD\n"a": 1\n=======\n"a": 2\n>>>>>>> x\n}\n', null],
    'a.py': ['def f():\n    x = (1,\n    return x\n', 2],
    'indented.py': ['def f():\n  x = 1\n   y = 2\n', 3],
    'a.sh': ['#!/bin/bash\nif true; then\n  echo x\n', 4],
    'b.sh': ['#!/bin/sh -e\nif true; then\n', 3],
    'c.bash': ['for i in 1 2; do\n', 2],
  };

  test('names file and line of what does not parse', async () => {
    const files = Object.fromEntries(Object.entries(BROKEN).map(([path, [text]]) => [path, text]));
    const found = await check(files);
    expect(found.map(({ path, sure, line }) => [path, sure, line ?? null])).toEqual(
      Object.entries(BROKEN).map(([path, [, line]]) => [path, true, line]),
    );
    for (const { message } of found) expect(message).toMatch(/^\S.*$/);
  });

  test('is not sure where the file may be of a dialect that it cannot read', async () => {
    const files = {
      'view.js': 'export const View = () => <div className="x">{y}</div>;\n',
      'short.js': 'const icon = <Icon name="x" />;\n',
      'flow.js': '// @flow\nfunction f(x: ?string): {| a: 1 |} {}\n',
      'page.js': 'var a = <%= raw %>;\n',
      'cookie.py': 'import {{ cookiecutter.name }}\n',
      'chart.json': '{ "name": {{ .Values.name }} }\n',
    };
    const found = await check(files);
    expect(found.filter(({ sure }) => sure)).toEqual([]);
    expect(found.map(({ path }) => path)).toEqual(Object.keys(files));
  });

  test('says nothing of what it cannot read as text, and of links', async () => {
    const files = {
      'latin.js': 'replaced below',
      'video.ts': 'G\0@\0',
      'big.json': `{${' '.repeat((2 << 20) + 1)}`,
      'deep.json': '['.repeat(500_000),
      'target.txt': '{',
    };
    const before = `printf 'var \\351 = "' > latin.js && ln -s target.txt link.json && mkdir folder.js`;
    const paths = [...Object.keys(files), 'link.json', 'folder.js', 'missing.py'];
    expect(await check(files, paths, before)).toEqual([]);
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
    };
    const area = bench.area(files);
    const line = 'node --no-warnings /opt/runoff/checks/syntax.mjs > /dev/null; ls';
    const result = await bench.sandbox.exec(shell(area, line, { stdin: JSON.stringify(Object.keys(files)) }));
    expect(result.stdout.split('\n')).not.toContain('ran');
  });
});
