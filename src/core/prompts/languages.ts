/**
 * Names of languages that people write behind the bar of a fence. GitHub colours by them and does not show them, so that
 * only names of this list are kept: none of them says anything but how the code is written.
 */
const LANGUAGES: ReadonlySet<string> = new Set(
  (
    'ada apache asm assembly awk bash bat batch bibtex bicep c c# c++ cfg clojure cmake cmd coffee coffeescript commonlisp conf ' +
    'console cpp crystal cs csharp css csv cuda cypher cython d dart diff docker dockerfile dotenv elisp elixir elm ' +
    'erb erlang ex f# fish fortran fs fsharp gdscript gherkin git gitignore gleam glsl go golang gql gradle graphql groovy ' +
    'h haml handlebars haskell hcl hjson hlsl hpp hs html http ini java javascript jinja jinja2 js json json5 jsonc ' +
    'jsonl jsonnet jsx julia kotlin kt kts latex less liquid lisp log lua makefile markdown matlab md mdx mjs nginx nim ' +
    'nix nu objc objective-c objectivec ocaml odin pascal patch perl php pl plain plaintext plsql postgres powershell ' +
    'prisma prolog properties proto protobuf ps1 pug puppet py py3 pycon pyi python python3 pytb q# qml r racket rb ' +
    'react reg regex rego requirements rs rst ruby rust sass scala scheme scss sh shell shell-session shellsession ' +
    'smalltalk sml solidity sparql sql sqlite svelte svg swift systemd systemverilog tcl terraform tex text tf thrift ' +
    'toml traceback ts tsql tsv tsx txt typescript typst vala vb vba vbnet verilog vhdl vim viml vue wasm wat webidl wgsl ' +
    'xaml xml xquery yaml yml zig zsh'
  ).split(' '),
);

export const isLanguage = (name: string): boolean => LANGUAGES.has(name.toLowerCase());
