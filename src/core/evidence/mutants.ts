import { structuredPatch } from 'diff';
import type { PatchFile } from '../patches/index.ts';
import {
  child,
  isScript,
  nodeText,
  type SourceText,
  type SyntaxNode,
  type SyntaxTree,
} from '../source/index.ts';
import type { TestRun } from './evidence.ts';
import { isExitCode, outcomeIn, succeeded } from './test-runs.ts';

/** Base code with one small defect, as a patch. */
export interface Mutant {
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  /** `< → >=`. */
  readonly what: string;
  /** Where the change begins in the text, 0-based. */
  readonly from: number;
  readonly patch: PatchFile;
}

/** Mutants of one examination, as many for each test that is to be judged; our default. */
const MAX_MUTANTS = 20;

const SWAPPED: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '==': '!=',
  '!=': '==',
  '<': '>=',
  '>=': '<',
  '>': '<=',
  '<=': '>',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  and: 'or',
  or: 'and',
  '+=': '-=',
  '-=': '+=',
};
const OPERATIONS =
  /^(?:binary_expression|binary_operator|comparison_operator|boolean_operator|augmented_assignment(?:_expression)?)$/;
const NUMBERS = /^(?:number|integer|int_literal|integer_literal|decimal_integer_literal)$/;
const FUNCTION_NODES = /function|method|class|arrow|impl_item/;

interface Change {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** How a node is mutated; null for most. */
function changeOf(tree: SyntaxTree, node: SyntaxNode): Change | null {
  const { from, to, type, named, parent } = node;
  if (!named) {
    const text = OPERATIONS.test(parent?.type ?? '') ? SWAPPED[type] : undefined;
    return text === undefined ? null : { from, to, text };
  }
  if (type === 'true' || type === 'false') {
    const flipped = { true: 'false', false: 'true', True: 'False', False: 'True' }[nodeText(tree, node)];
    return flipped === undefined ? null : { from, to, text: flipped };
  }
  const written = nodeText(tree, node);
  if (NUMBERS.test(type) && /^\d{1,9}$/.test(written)) return { from, to, text: String(Number(written) + 1) };
  const [value] = type === 'return_statement' ? node.children.filter((one) => one.named) : [];
  if (!value) return null;
  const nothing = tree.grammar === 'python' ? 'None' : isScript(tree.grammar) ? 'undefined' : null;
  return nothing === null ? null : { from: value.from, to: value.to, text: nothing };
}

/** A file of the base and its tree. */
export interface ParsedSource extends SourceText {
  readonly tree: SyntaxTree;
}

/**
 * Mutants of these files: of the functions that the task names if it names one of them, otherwise of all. Distributed
 * evenly over the code, and always the same for the same files.
 */
export function mutantsOf(
  sources: readonly ParsedSource[],
  asked: string,
  most = MAX_MUTANTS,
): readonly Mutant[] {
  const words = new Set(asked.match(/[\p{L}_$][\p{L}\p{N}_$]*/gu) ?? []);
  const all = sources.flatMap((source) => {
    const named = source.tree.nodes.filter((node) => isNamed(source.tree, node, words));
    return source.tree.nodes.flatMap((node) => {
      const change = changeOf(source.tree, node);
      const inside = named.some((one) => one.from <= node.from && node.to <= one.to);
      return change ? [{ source, change, inside }] : [];
    });
  });
  const wanted = all.some(({ inside }) => inside) ? all.filter(({ inside }) => inside) : all;
  const count = Math.min(most, wanted.length);
  return Array.from({ length: count }, (_, at) => wanted[Math.floor((at * wanted.length) / count)]).flatMap(
    (one) => (one ? [mutant(one.source, one.change)] : []),
  );
}

/** Whether a node defines a function or class whose name the task mentions. */
function isNamed(tree: SyntaxTree, node: SyntaxNode, words: ReadonlySet<string>): boolean {
  const isFunction =
    FUNCTION_NODES.test(node.type) || FUNCTION_NODES.test(child(node, 'value', 'right')?.type ?? '');
  const name = isFunction ? child(node, 'name', 'left') : null;
  const text = name ? nodeText(tree, name).replace(/^.*\./s, '') : '';
  return text.length > 1 && words.has(text);
}

function mutant({ path, text }: SourceText, { from, to, text: fresh }: Change): Mutant {
  return {
    path,
    line: text.slice(0, from).split('\n').length,
    what: `${text.slice(from, to).slice(0, 40)} → ${fresh}`,
    from,
    patch: patchOf(path, text, text.slice(0, from) + fresh + text.slice(to)),
  };
}

/**
 * The control of these mutants: the same code with a comment, or in Python and Ruby a space, at the place of each. A test that
 * fails on it compares text and not behaviour.
 */
export function controlOf(
  sources: readonly ParsedSource[],
  mutants: readonly Mutant[],
): readonly PatchFile[] {
  return sources.flatMap(({ path, text, tree }) => {
    // A space ends a word of a shell.
    if (tree.grammar === 'bash') return [patchOf(path, text, `${text}\n# .\n`)];
    const places = new Set(mutants.flatMap((one) => (one.path === path ? [one.from] : [])));
    const added = tree.grammar === 'python' || tree.grammar === 'ruby' ? ' ' : '/* */ ';
    const after = [...places]
      .filter((at) => !/(?:^|\n)[ \t]*$/.test(text.slice(Math.max(0, at - MAX_INDENT), at)))
      .sort((a, b) => b - a)
      .reduce((whole, at) => whole.slice(0, at) + added + whole.slice(at), text);
    return after === text ? [] : [patchOf(path, text, after)];
  });
}

/** Characters before a place in which the start of its line is looked for. */
const MAX_INDENT = 200;

function patchOf(path: string, before: string, after: string): PatchFile {
  const { hunks } = structuredPatch(path, path, before, after, '', '', { context: 3 });
  const body = hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...lines,
  ]);
  const count = (sign: string) => body.filter((line) => line.startsWith(sign)).length;
  return {
    path,
    change: 'modified',
    oldMode: '100644',
    newMode: '100644',
    role: 'production',
    additions: count('+'),
    deletions: count('-'),
    binary: false,
    hunks: [],
    section: `${[`diff --git a/${path} b/${path}`, `--- a/${path}`, `+++ b/${path}`, ...body].join('\n')}\n`,
  };
}

/**
 * The tests of the base that must fail on a mutant for the base to catch it; null if only the exit code of all is
 * known, `undefined` if a failure would show nothing.
 */
export function baseTestsThatCount(onBase: TestRun): readonly string[] | null | undefined {
  if (onBase.source === 'exit-code') return succeeded(onBase) ? null : undefined;
  if (onBase.source === 'none') return undefined;
  return Object.keys(onBase.tests).filter(
    (id) => outcomeIn(onBase, id) === 'passed' && !isExitCode(id) && !(onBase.flaky ?? []).includes(id),
  );
}

/** The tests of a candidate that are new and pass on the base's code; null if only the exit code of all is known. */
export function testsThatCount(onBase: TestRun, own: TestRun): readonly string[] | null {
  if (own.source !== 'report') return null;
  return Object.keys(own.tests).filter(
    (id) => outcomeIn(own, id) === 'passed' && outcomeIn(onBase, id) === undefined && !isExitCode(id),
  );
}

/** Whether tests that pass on the base's code fail on a mutant of it. A test that is missing failed to load. */
export const isCaught = (counting: readonly string[] | null, onMutant: TestRun): boolean =>
  counting === null ? !succeeded(onMutant) : counting.some((id) => failsOn(onMutant, id));

const failsOn = (run: TestRun, id: string): boolean =>
  outcomeIn(run, id) !== 'passed' && outcomeIn(run, id) !== 'skipped';

/** The tests that still count after a run on the control, and how many do not; one stands for all without a report. */
export function withoutTextTests(
  counting: readonly string[] | null,
  onControl: TestRun,
): { readonly counting: readonly string[] | null; readonly discarded: number } {
  if (counting === null)
    return succeeded(onControl) ? { counting, discarded: 0 } : { counting: [], discarded: 1 };
  const kept = counting.filter((id) => !failsOn(onControl, id));
  return { counting: kept, discarded: counting.length - kept.length };
}

/** Characters of test code that are searched, and files that are mutated. */
const MAX_TEST_CHARS = 2 ** 20;
const MAX_MUTATED_FILES = 6;

/** Code of the base that a task's tests are about: files that the task names, else those that the tests import. */
export function filesUnderTest(
  production: readonly string[],
  asked: string,
  tests: readonly SourceText[],
): readonly string[] {
  const words = fileNamesIn(asked);
  const named = production.filter((path) => pathEnds(path).some((end) => words.has(end)));
  if (named.length > 0) return named.slice(0, MAX_MUTATED_FILES);
  const imports = tests.map(importsOf);
  return production
    .filter((path) => imports.some((imported) => isImported(imported, path)))
    .slice(0, MAX_MUTATED_FILES);
}

/** Names of files in a text, with or without folders. */
const fileNamesIn = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .split(/[\s`'"()[\]<>,;:]+/)
      .map((word) => word.replace(/^\.?\//, '').replace(/[.?!]$/, ''))
      .filter((name) => name.includes('.')),
  );

/** `a/b/c.js`, `b/c.js`, `c.js`. */
const pathEnds = (path: string): readonly string[] => {
  const parts = path.split('/');
  return parts.map((_, at) => parts.slice(at).join('/'));
};

/** What one test imports, collected once: a candidate determines how many references a test has. */
interface Imports {
  /** Folder of the package, for a test of Go. */
  readonly folder?: string;
  /** Paths as written, and without an extension of JavaScript. */
  readonly paths: ReadonlySet<string>;
  readonly stems: ReadonlySet<string>;
  /** Dotted, of Python. */
  readonly modules: ReadonlySet<string>;
}

/** Maximum parts of a dotted name. Our default. */
const MAX_MODULE_PARTS = 20;

function importsOf({ path, text }: SourceText): Imports {
  const code = text.slice(0, MAX_TEST_CHARS);
  const [paths, stems, modules] = [new Set<string>(), new Set<string>(), new Set<string>()];
  if (path.endsWith('_test.go')) return { folder: folderOf(path), paths, stems, modules };
  for (const [, given = ''] of code.matchAll(/['"](\.{1,2}\/[^'"\n]{1,200})['"]/g)) {
    const target = joinedPath(folderOf(path), given);
    paths.add(target);
    stems.add(target.replace(/\.[cm]?[jt]sx?$/, '')).add(`${target}/index`);
  }
  for (const [, module = '', names = ''] of code.matchAll(PYTHON_IMPORT)) {
    const parts = module.split('.').slice(0, MAX_MODULE_PARTS);
    for (const at of parts.keys()) modules.add(parts.slice(0, at + 1).join('.'));
    for (const [name] of names.matchAll(/\w+/g)) modules.add(`${module}.${name}`);
  }
  return { paths, stems, modules };
}

/** The module, and the rest of the line with the names that are imported from it. */
const PYTHON_IMPORT = /^[ \t]*(?:from|import)[ \t]+(\w[\w.]{0,300})(?:[ \t]+import\b([^\n]*))?/gm;

/** Whether a file is among them: by a relative path, by a Python module, or as the neighbour in a package of Go. */
function isImported({ folder, paths, stems, modules }: Imports, path: string): boolean {
  if (folder !== undefined) return path.endsWith('.go') && folder === folderOf(path);
  const stem = path.replace(/\.\w+$/, '');
  if (!/\.pyi?$/.test(path)) return paths.has(path) || stems.has(stem);
  const parts = stem.replace(/\/__init__$/, '').split('/');
  return [parts, parts.slice(1)].some((some) => modules.has(some.join('.')));
}

const folderOf = (path: string): string => (path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '');

function joinedPath(folder: string, relative: string): string {
  const parts = folder === '' ? [] : folder.split('/');
  for (const part of relative.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}
