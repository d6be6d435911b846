/** Files that are right in some dialect of their language. */
export const VALID: Readonly<Record<string, string>> = {
  'module.js':
    '#!/usr/bin/env node\nimport a from "./b.json" with { type: "json" };\nexport default await a;\n',
  'module.mjs': 'export * as x from "y";\n',
  'script.js': 'if (!module.parent) return;\nvar await = 010;\nwith (await) {}\n',
  'script.cjs': '#!/usr/bin/env node\nmodule.exports = require("x");\n',
  'marked.js': '\uFEFFmodule.exports = 1;\n',
  'types.js':
    '// stripped by a bundler\nimport type { B } from "b";\nexport const f = (x: number): B => x;\n',
  'decorated.js': '@foo class A { @bar baz() {} }\nexport { A };\n',
  'view.js': 'export const View = () => <div className="x">{y}</div>;\n',
  'short.js': 'const icon = <Icon name="x" />;\n',
  'angular.ts': '@Component({}) class A { @Input() x: string; constructor(@Inject(X) private y: Y) {} }\n',
  'all.ts':
    'export enum E { A = 1 }\nnamespace N { export const x = 1 }\nconst a = <string>b;\nusing r = open();\n',
  'old.cts': 'import fs = require("fs");\nexport = fs;\n',
  'types.d.ts': 'declare global { interface Window { a: 1 } }\nexport as namespace Foo;\n',
  'values.d.ts': 'export const a: number;\n',
  'view.tsx':
    'const A = <T,>(p: P & Q<T>) => p.a && <a href="?a=1&b=2" style={{ x }}>Terms & Conditions &amp; more</a>;\n',
  'view.jsx': 'export const A = ({}) => (\n  <>\n    <label class="a" for="b">it\'s</label>\n  </>\n);\n',
  'plain.json': '{"a": [1, 2]}\n',
  'marked.json': '\uFEFF{"a": 1}\n',
  'tsconfig.json': '{\n  // as its tools read it\n  "a": 1, /* and */\n  "b": [1,],\n}\n',
  '.eslintrc.json': '/* rules */ { "rules": {} }\n',
  'babel.config.json': "{ presets: ['env'], }\n",
  'tool.py': '#!/usr/bin/env python3\nasync def f(x: int) -> None:\n    print(f"{x!r}")\n',
  'tool.pyi': 'def f(x: int) -> None: ...\n',
  'bash.sh': '#!/usr/bin/env bash\nset -euo pipefail\nfunction f { local a=(1 2); }\ndiff <(a) <(b)\n',
  'flags.sh': '#!/bin/bash -eu\na=(1 2)\n',
  'extended.sh': '#!/bin/bash\nshopt -s extglob\nrm !(a|b)\n',
  'elsewhere.sh': '#!/bin/sh\na=(1 2)\n',
  'posix.sh': '#!/bin/sh\nif true; then echo x; fi\n',
  'zsh.sh': '#!/bin/zsh\nfor i in 1 2; { echo $i }\nif [[ a ]] { echo }\n',
  'library.sh': 'echo ( ;;\n',
  'lib.bash': 'a=(1 2)\n',
  'windows.sh': '#!/bin/bash\r\nif true; then\r\n  echo x\r\nfi\r\n',
  'a.go':
    '//go:build linux\n\npackage a\n\nfunc Map[K comparable, V any](m map[K]V) (n int) {\n\tfor range 3 {\n\t\tn++\n\t}\n\treturn\n}\n\nvar cases = []struct{ n string }{{"a"}, {n: `b`}}\n',
  'a.rs':
    '#![allow(x)]\nmacro_rules! m { ($($x:expr),*) => { [$($x),*] } }\nasync fn f<\'a, const N: usize>(x: &\'a [u8; N]) -> impl Fn() + \'a where u8: Copy {\n    let Some(y) = x.first() else { return || () };\n    let s = r#"}"#;\n    move || println!("{{ {y} {s}")\n}\n',
  'A.java':
    'package a;\nsealed interface S permits R {}\nrecord R(int x) implements S {}\nclass A<T extends S> {\n  @Override String f(Object o) {\n    return switch (o) { case R(var x) when x > 0 -> """\n      text } "a" """; default -> null; };\n  }\n}\n',
  'A.cs':
    'namespace A;\npublic record R(int X);\nclass B<T> where T : notnull {\n  public required string N { get; init; } = $"{{a}} {1 + 1:N2}";\n  int F(object o) => o switch { R { X: > 0 } r => r.X, _ => o is [1, ..] ? 1 : 0 };\n  string raw = """ { """;\n}\n',
  'Conditional.cs': 'class A {\n#if NET\n  void F() {\n#else\n  void G() {\n#endif\n  }\n}\n',
  'kr.c': 'int f(a) int a; { return a; }\nint class = 1, new = sizeof(int[2]);\n',
  'macros.c': 'FOREACH(x, list) {\n  DO_IT(x)\n}\nMODULE_LICENSE("GPL")\n#define OPEN {\n',
  'a.h':
    '#ifndef A_H\n#define A_H\n#ifdef __cplusplus\nextern "C" {\n#endif\nvoid f(int);\n#ifdef __cplusplus\n}\n#endif\n#endif\n',
  'a.cpp':
    'template <typename... Ts> requires (sizeof...(Ts) > 0)\nauto f(Ts&&... ts) -> decltype(auto) { return [=]<class U>(U u) mutable { return (ts + ... + u); }; }\nconst char* s = R"x(})x";\nlong n = 1\'000\'000;\n',
  'a.php':
    '<!doctype html>\n<?php declare(strict_types=1);\n#[A(1)]\nenum E: string { case X = "x"; }\nreadonly class B { public function __construct(private ?int $x = null) {} }\n$f = fn (int|string $x): int => match (true) { default => $x?->y };\necho <<<EOT\n  {$f(1)} }\n  EOT;\n?>\n<p><?= $x ?></p>\n',
  'a.rb':
    '#!/usr/bin/env ruby\nclass A < B\n  def f(a, *, k: 1, **o, &b) = puts("#{a} }")\n  def g\n    x = <<~T\n      ( #{@y} [\n    T\n    case x\n    in {name: String => n} then %w[a b].each { |i| p i }\n    end\n  rescue => e\n    1 if e\n  end\nend\n__END__\n((\n',
  'Tasks.rake': 'task :a => [:b] do |t|\n  sh "x"\nend\n',
  'a.css':
    '@import url("x.css");\n@media (width >= 600px) { .a > .b::before { content: "}"; --x: { }; } }\n.c { &:hover { color: RED } }\n',
  'old.css': '.a { *zoom: 1; filter: progid:X(a=1) }\n',
  'scripts/tool': '#!/usr/bin/env ruby\nputs 1\n',
  'scripts/notes': 'def f(\n',
  'notes.txt': 'if ( {',
  'Main.kt': 'fun (',
  'a.scss': 'a { b: {',
};

type Expected = readonly [text: string, line: number | null, message: RegExp];

/** Files that are right in no dialect, wherever they are. */
export const BROKEN: Readonly<Record<string, Expected>> = {
  'script.js': ['const a = {\n  b: 1\n\nfunction x() {\n', 4, /Unexpected/],
  'module.js': ['import a from "b";\n\nexport const c = (;\n', 3, /./],
  'module.mjs': ['export const a = {\n', 1, /./],
  'script.cjs': ['module.exports = {\n', 2, /./],
  'view.js': ['export const A = () => (\n  <div>\n    <p>\n  </div>\n);\n', 1, /never closed/],
  'view.jsx': ['export const A = () => <div>;\n', 1, /^unexpected/],
  'view.tsx': ['export const A = (p: P) => (\n  <div id="x">{p.y</div>\n);\n', 2, /^`\{` is never closed$/],
  'a.ts': ['const a: number = 1;\nfunction f( {\n}\n', 3, /./],
  'a.mts': ['export const = 1;\n', 1, /./],
  'a.json': ['{"a": 1\n', null, /./],
  'conflict.json': [
    '{\n<<<<<<< HEAD\n"a": 1\n=======\n"a": 2\n>>>>>>> x\n}\n',
    null,
    /^marks of a merge conflict$/,
  ],
  'a.py': ['def f():\n    x = (1,\n    return x\n', 2, /^SyntaxError: /],
  'indented.py': ['def f():\n  x = 1\n   y = 2\n', 3, /^IndentationError: /],
  'stub.pyi': ['def f(x: int -> None: ...\n', 1, /^SyntaxError: /],
  'a.sh': ['#!/bin/bash\nif true; then\n  echo x\n', 4, /syntax error/],
  'b.sh': ['#!/bin/sh -e\nif true; then\n', 3, /./],
  'c.bash': ['for i in 1 2; do\n', 2, /syntax error/],
  'a.go': ['package a\n\nfunc f() {\n\tx := []int{1, 2\n}\n', 6, /^missing `}`$/],
  'conflict.go': [
    'package a\n<<<<<<< HEAD\nvar x = 1\n=======\nvar x = 2\n>>>>>>> b\n',
    2,
    /^marks of a merge conflict$/,
  ],
  'left-out.go': ['package a\n\n... rest of the code unchanged ...\n', 3, /^unexpected `\.\.\. rest/],
  'a.rs': ['fn f() {\n    let x = (1;\n}\n', 2, /^missing `\)`$/],
  'semicolon.rs': ['fn f() {\n    let x = 1\n    let y = 2;\n}\n', 2, /^missing `;`$/],
  'A.java': ['class A {\n  void f() {\n    int x = ;\n  }\n}\n', 3, /^unexpected `=`$/],
  'B.java': ['class A {\n  void f() {\n', 2, /^missing `}`$/],
  'a.php': ['<?php\nfunction f( {\n}\n', 2, /^missing `\)`$/],
  'semicolon.php': ['<?php\n$x = 1\n$y = 2;\n', 2, /^unexpected/],
  'a.rb': ['def f(\nend\n', 1, /^`\(` is never closed$/],
  'end.rb': ['def f\n  if x\n  1\nend\n', 1, /^does not parse from `def f` to line 4$/],
  'a.rake': ['task :a do\n  x = [1\nend\n', 2, /^`\[` is never closed$/],
  'scripts/python': ['#!/usr/bin/python3\ndef f(:\n', 2, /^SyntaxError/],
  'scripts/ruby': ['#!/usr/bin/env ruby\ndef f(\nend\n', 2, /^`\(` is never closed$/],
};

/** Files of languages whose grammars lag behind: they count only where the base's own version gives no cause. */
export const BROKEN_FOR_ITS_BASE: Readonly<Record<string, Expected>> = {
  'A.cs': ['class A {\n  void F() {\n    int x = 1\n  }\n}\n', 3, /^missing `;`$/],
  'Conditional.cs': ['class A {\n#if NET\n  int x;\n#endif\n  void F() {\n}\n', 1, /^`\{` is never closed$/],
  'a.c': ['int f(void) {\n  return (1;\n}\n', 2, /^missing `\)`$/],
  'a.h': ['#ifndef A_H\nstruct a {\n#endif\n', 2, /^/],
  'a.cpp': ['class A {\n  void f() { g()) }\n};\n', 2, /^unexpected `\)`$/],
  'a.css': ['a { color: red;\nb { x: y }\n', 2, /^missing `}`$/],
};

/** Valid files with what this version of a grammar does not know yet: when one starts to pass, its row can go. */
export const NEWER: Readonly<Record<string, string>> = {
  'module.tsx': 'const m = f<typeof import("x")>();\n',
  'signatures.tsx': 'interface A {\n  a: B\n  <T>(x: T): T\n  <U>(x: U): U\n}\n',
  'new.go': 'package a\n\nvar x = new(f(1))\n',
  'safe.rs': 'unsafe extern "C" {\n    safe fn f();\n}\n',
  'macro.rs': 'fn f() {\n    str!["x"];\n}\n',
  'Module.java': 'import module java.base;\nclass A {}\n',
  'Super.java': 'class A extends B {\n  A(int x) {\n    check(x);\n    super(x);\n  }\n}\n',
  'set.php': '<?php\nclass A { public function __construct(public protected(set) int $x) {} }\n',
  'clone.php': '<?php\n$y = clone($x, ["a" => 1]);\n',
  'command.rb': 'def f(a) = puts "a"\n',
  'lines.rb': 'a\n  && b\n  || c\n',
  'symbol.rb': 'x = [:$", :$!]\n',
  'Parameters.cs': 'class A { void F(params List<int> x) {} }\n',
  'Extension.cs': 'static class A { extension(string s) { public int L => s.Length; } }\n',
  'Assigned.cs': 'class A { void F() { a?.b = 1; } }\n',
};
