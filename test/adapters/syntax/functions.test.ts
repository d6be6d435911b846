import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installSyntaxCheck } from '../../../src/adapters/syntax/index.ts';
import { openWorkbench, shell, type Workbench } from '../sandbox/workbench.ts';

type Range = readonly [first: number, last: number];
interface Touched {
  readonly path: string;
  readonly ranges: readonly Range[];
}

describe('naming the functions that lines belong to', { timeout: 90_000 }, () => {
  let bench: Workbench;
  beforeAll(async () => {
    bench = await openWorkbench();
    await installSyntaxCheck(bench.options.toolchain);
  }, 60_000);
  afterAll(() => bench.close());

  async function ask(files: Readonly<Record<string, string>>, touched: readonly Touched[]) {
    const line =
      'exec /opt/runoff/bin/node --no-warnings --liftoff-only /opt/runoff/checks/syntax/functions.mjs';
    const stdin = JSON.stringify(touched);
    const result = await bench.sandbox.exec(shell(bench.area(files), line, { stdin }));
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
    return JSON.parse(result.stdout) as readonly { path: string; functions: readonly string[] }[];
  }

  /** Each line that names something says so in a comment at its end. */
  const MARK = /(?:\/\/|#) @(\S*)$/;
  const FILES = {
    'a.ts': `export class Server {
  listen(x: number): void { // @Server.listen
    const inner = () => {
      return 1; // @Server.listen.inner
    };
  }
  handler = async () => {
    x(); // @Server.handler
  };
  port = 1; // @Server
}
module.exports.g = () => {
  z(); // @module.exports.g
};
call(() => {
  q(); // @
});
const o = { 'k': () => {
  x(); // @k
} };
namespace N {
  export function h() {
    x(); // @N.h
  }
}
`,
    'a.js': `class A {
  #p() {
    x(); // @A.#p
  }
}
A.prototype.s = function () {
  x(); // @A.s
};
`,
    'view.tsx': `export function View({ a }: P & Q) {
  return <p onClick={() => b()}>x & y</p>; // @View
}
`,
    'a.py': `class A(B):
    x = 1  # @A
    @d
    async def f(self):
        return 1  # @A.f

if x:
    y = 2  # @
`,
    'a.go': `package a

func (s *Server[T]) Listen() {
	x() // @Server.Listen
}

func F[T any]() {
	x() // @F
}

type S struct {
	x int // @S
}
`,
    'a.rs': `impl<T> Tr for Foo<T> {
    fn bar(&self) {
        x() // @Foo.bar
    }
}
mod m {
    fn baz() {
        x() // @m.baz
    }
}
`,
    'A.java': `class A {
  A() {
    x(); // @A.A
  }
  record R(int x) {
    int f() {
      return 1; // @A.R.f
    }
  }
}
`,
    'A.cs': `namespace X;
class A {
  int P { get {
    return 1; // @A.P
  } }
  void F() {
    x(); // @A.F
  }
}
`,
    'a.php': `<?php
trait T {
  function g() {
    x(); // @T.g
  }
}
`,
    'a.rb': `module M
  class A
    def self.f?
      x # @M.A.f?
    end
  end
end
`,
    'a.cpp': `template <class T> T &k() {
  x(); // @k
}
int *S::g(int a) const {
  x(); // @S.g
}
struct S {
  int f() {
    return 1; // @S.f
  }
};
`,
  };

  test('each line belongs to the innermost one around it', async () => {
    const marked = Object.entries(FILES).flatMap(([path, text]) =>
      text.split('\n').flatMap((line, at) => {
        const name = MARK.exec(line)?.[1];
        return name === undefined ? [] : [{ path, ranges: [[at + 1, at + 1]] as const, name }];
      }),
    );
    expect(marked.length).toBeGreaterThan(20);
    const found = await ask(FILES, marked);
    expect(found.map(({ path, functions }) => `${path} ${functions.join()}`)).toEqual(
      marked.map(({ path, name }) => `${path} ${name}`),
    );
  });

  test('lines of several functions name each of them once', async () => {
    const text = 'def b():\n    x = 1\n    y = 2\n\n\ndef a():\n    z = 3\n';
    const ranges: readonly Range[] = [
      [2, 3],
      [3, 7],
      [90, 99],
    ];
    expect(await ask({ 'a.py': text }, [{ path: 'a.py', ranges }])).toEqual([
      { path: 'a.py', functions: ['a', 'b'] },
    ]);
  });

  test('a script without extension is read as what its first line says', async () => {
    const text = '#!/usr/bin/env python3\ndef f():\n    x = 1\n';
    expect(await ask({ tool: text }, [{ path: 'tool', ranges: [[3, 3]] }])).toEqual([
      { path: 'tool', functions: ['f'] },
    ]);
  });

  test('a file that does not parse still has names where it does', async () => {
    const text = 'package a\n\nfunc F() {\n\tx()\n}\n\nvar x = = 1\n';
    expect(await ask({ 'a.go': text }, [{ path: 'a.go', ranges: [[4, 4]] }])).toEqual([
      { path: 'a.go', functions: ['F'] },
    ]);
  });

  test('what is no name does not become one', async () => {
    const text = `x["</p> @you"] = () => {\n  a();\n};\nclass ${'A'.repeat(300)} {\n  f() {\n    b();\n  }\n}\n`;
    expect(await ask({ 'a.js': text }, [{ path: 'a.js', ranges: [[1, 9]] }])).toEqual([
      { path: 'a.js', functions: ['f'] },
    ]);
  });

  test('leaves out what it cannot read, and names of a hostile file stay bounded', async () => {
    const files = {
      'x.md': '# x\n',
      'video.go': 'G\0@\0',
      'deep.py': Array.from({ length: 600 }, (_, at) => `${' '.repeat(at)}def f${at}():`).join('\n'),
      'many.js': Array.from({ length: 3000 }, (_, at) => `function f${at}() {}`).join('\n'),
      'endless.js': Array.from({ length: 20_000 }, (_, at) => `function f${at}() {}`).join('\n'),
    };
    const ranges: readonly Range[] = [[1, 1_000_000]];
    const found = await ask(
      files,
      [...Object.keys(files), 'missing.ts'].map((path) => ({ path, ranges })),
    );
    expect(found.map(({ path }) => path)).toEqual(['deep.py', 'many.js']);
    const [deep, many] = found;
    expect(Math.max(...(deep?.functions ?? []).map((name) => name.length))).toBeLessThanOrEqual(200);
    expect(many?.functions).toHaveLength(500);
  });
});
