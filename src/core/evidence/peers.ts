import { type Alias, uniqueSorted } from '../model/index.ts';
import type { Patch } from '../patches/index.ts';
import { withNamesOf } from './changing-names.ts';
import type { PeerTests, TestOutput, TestRun } from './evidence.ts';
import { EXIT_CODE, isExitCode, outcomeIn, succeeded } from './test-runs.ts';

/**
 * The result of an author's test files on one tree. `unfit`: they could not be applied, or the tree does not build
 * with them, which is not a test failure. `rewritten`: they are not the author's any more, so none of them passes.
 */
export type TreeTestResult =
  | { readonly kind: 'ran'; readonly run: TestRun }
  | { readonly kind: 'unfit' }
  | { readonly kind: 'rewritten' };

/**
 * The same, but `rewritten` if test files were written while they ran that are not on their author's own code (`own`):
 * by the code of the tree, or by the tests, which may fail there anyway.
 */
export function unlessRewritten(result: TreeTestResult, own: Pick<TestRun, 'rewrites'>): TreeTestResult {
  if (result.kind !== 'ran' || !own.rewrites || result.run.rewrites === undefined) return result;
  const known = new Set(own.rewrites);
  return result.run.rewrites?.every((path) => known.has(path)) ? result : { kind: 'rewritten' };
}

/** An author's test files on its own code and on the base code. */
export interface AuthorRuns {
  readonly own: TestRun;
  readonly onBase: TreeTestResult;
  /** The base versions of the same files. Null: not run, or none exist. */
  readonly before: TestRun | null;
}

/** Ids, sorted. */
export interface AuthorTests {
  /** Pass on their author's code and fail on the base, so they check new behaviour. */
  readonly proven: readonly string[];
  /** New, and pass on both. */
  readonly guards: readonly string[];
}

const NO_TESTS: AuthorTests = { proven: [], guards: [] };

/**
 * The tests that an author contributed, determined by execution: tests that pass on its own code and that the base
 * lacks, or has in a version that passes there while the author's version fails. Tests that are flaky on the base are
 * not used as evidence. Without a report, all its tests together are one, `exit code`.
 */
export function authorTests(runs: AuthorRuns, flaky: readonly string[] = []): AuthorTests {
  const { own, onBase, before } = runs;
  if (own.source === 'exit-code') return testsByExitCode(runs, flaky);
  if (own.source !== 'report') return NO_TESTS;
  const isFlaky = new Set(flaky);
  const there = onBase.kind === 'ran' ? withNamesOf(own, onBase.run) : null;
  const old = (id: string) => (before ? outcomeIn(before, id) : undefined);
  const passes = uniqueSorted(Object.keys(own.tests)).filter(
    (id) => outcomeIn(own, id) === 'passed' && !isFlaky.has(id) && !isExitCode(id),
  );
  const onBoth = (id: string) => there !== null && outcomeIn(there, id) === 'passed';
  return {
    proven: passes.filter((id) => !onBoth(id) && (old(id) === undefined || old(id) === 'passed')),
    guards: passes.filter((id) => onBoth(id) && old(id) === undefined),
  };
}

/**
 * The command succeeds with the author's test files on its code, and fails with them on the base, where it succeeds
 * without them. What its tests ask beyond that is unknown, so they guard nothing.
 */
function testsByExitCode({ own, onBase, before }: AuthorRuns, flaky: readonly string[]): AuthorTests {
  const known = before?.source === 'exit-code' && succeeded(before) && !flaky.includes(EXIT_CODE);
  const fails = onBase.kind === 'ran' && onBase.run.stopped === null && onBase.run.exitCode !== 0;
  return known && fails && succeeded(own) ? { proven: [EXIT_CODE], guards: [] } : NO_TESTS;
}

/** `p` passes, `f` fails, `n` not applicable: the test needs a name that only its author has. */
export type PeerTestResult = 'p' | 'f' | 'n';

/** The result of each test on one tree, in order of id. */
export function resultsOn(
  ids: readonly string[],
  result: TreeTestResult,
  introduces: IntroducesName,
): readonly PeerTestResult[] {
  if (result.kind === 'unfit') return ids.map(() => 'n');
  if (result.kind === 'rewritten') return ids.map(() => 'f');
  const { run } = result;
  const privately = (names: readonly string[]) => names.some(introduces);
  const unloaded = privately(run.missingNames ?? []);
  return ids.map((id) => {
    const outcome = outcomeIn(run, id);
    if (outcome === 'passed' || (id === EXIT_CODE && succeeded(run))) return 'p';
    // A file that failed to load reports no tests; its output shows the reason.
    if (outcome === undefined) return unloaded ? 'n' : 'f';
    const message = run.messages && Object.hasOwn(run.messages, id) ? (run.messages[id] ?? '') : '';
    return privately(missingNamesIn(message)) ? 'n' : 'f';
  });
}

/** One author's tests, and their results on each of the other survivors. */
export interface AuthorResults {
  readonly author: Alias;
  readonly tests: AuthorTests;
  readonly onPeers: readonly {
    readonly peer: Alias;
    readonly proven: readonly PeerTestResult[];
    readonly guards: readonly PeerTestResult[];
    /** Of the execution; absent if there was none. */
    readonly output?: TestOutput;
  }[];
}

/** Maximum failing ids and results that are kept; all are counted. */
const MAX_FAILING_IDS = 50;
const MAX_RESULTS = 300;

/**
 * The other survivors' tests as evidence on one survivor. A name is private only if no third candidate has it: if a
 * test passes on the code of another peer, a candidate on which it is not applicable lacks the required name and
 * fails the test.
 */
export function peerTestsOn(peer: Alias, authors: readonly AuthorResults[]): readonly PeerTests[] {
  return authors.flatMap((one) => {
    const here = one.onPeers.find((other) => other.peer === peer);
    if (!here || one.tests.proven.length + one.tests.guards.length === 0) return [];
    const proven = resolvedResults(
      here.proven,
      one.onPeers.map((other) => other.proven),
    );
    const guards = resolvedResults(
      here.guards,
      one.onPeers.map((other) => other.guards),
    );
    const guarding = peerCounts(one.tests.guards, guards);
    return [
      {
        author: one.author,
        ...peerCounts(one.tests.proven, proven),
        ...(proven.length > 0 ? { results: proven.slice(0, MAX_RESULTS).join('') } : {}),
        ...(guarding.total > 0 ? { guards: guarding } : {}),
      },
    ];
  });
}

/** A test that is not applicable here fails here if it passes on another peer. */
export const resolvedResults = (
  results: readonly PeerTestResult[],
  all: readonly (readonly PeerTestResult[])[],
): readonly PeerTestResult[] =>
  results.map((result, at) => (result === 'n' && all.some((other) => other[at] === 'p') ? 'f' : result));

function peerCounts(ids: readonly string[], results: readonly PeerTestResult[]) {
  const failing = ids.filter((_, at) => results[at] === 'f');
  const passed = results.filter((result) => result === 'p').length;
  return { passed, total: passed + failing.length, failing: failing.slice(0, MAX_FAILING_IDS) };
}

/**
 * Messages of compilers, loaders and interpreters about undefined names: V8 and node, esbuild and Vite, TypeScript,
 * Python, Go, Rust, Java. Each pattern captures the name, or the path of a module.
 */
const MISSING_NAME_PATTERNS: readonly RegExp[] = [
  /does not provide an export named '?([\w$]{1,100})/g,
  /Named export '([\w$]{1,100})' not found/g,
  /No matching export in "[^"\n]{1,300}" for import "([\w$]{1,100})"/g,
  /"([\w$]{1,100})" is not exported by/g,
  /Cannot find (?:module|package) '([^'\n]{1,300})'/g,
  /Failed to resolve import "([^"\n]{1,300})"/g,
  /([\w$]{1,100})(?:\)|\]|\s)? is not a (?:function|constructor)\b/g,
  /\b([\w$]{1,100}) is not defined\b/g,
  /has no exported member(?: named)? '([\w$]{1,100})'/g,
  /Property '([\w$]{1,100})' does not exist on/g,
  /Cannot find name '([\w$]{1,100})'/g,
  /cannot import name '([\w.]{1,100})'/g,
  /No module named '([\w.]{1,200})'/g,
  /has no attribute '(\w{1,100})'/g,
  /name '(\w{1,100})' is not defined/g,
  /got an unexpected keyword argument '(\w{1,100})'/g,
  /undefined: (?:\w{1,100}\.)?(\w{1,100})/g,
  /has no field or method (\w{1,100})/g,
  /cannot find [\w, ]{1,60} `([\w:]{1,200})`/g,
  /no [\w ]{1,60} named `(\w{1,100})` found/g,
  /unresolved imports? `([\w:]{1,200})`/g,
  /no `(\w{1,100})` in `/g,
  /symbol: {1,10}\w{1,20} (\w{1,100})/g,
];

/** Maximum names kept of one output. */
const MAX_MISSING_NAMES = 30;
/** Characters at each end of an output that are searched. */
const MAX_OUTPUT_END_CHARS = 65_536;

/** Undefined names in the output of a test runner or compiler, in the order of the patterns above. */
export function missingNamesIn(output: string): readonly string[] {
  const text =
    output.length <= 2 * MAX_OUTPUT_END_CHARS
      ? output
      : `${output.slice(0, MAX_OUTPUT_END_CHARS)}\n${output.slice(-MAX_OUTPUT_END_CHARS)}`;
  const names = new Set<string>();
  for (const sentence of MISSING_NAME_PATTERNS) {
    for (const found of text.matchAll(sentence)) {
      if (names.size >= MAX_MISSING_NAMES) return [...names];
      names.add(unqualifiedName(found[1] as string));
    }
  }
  return [...names];
}

/** `b` for `crate::a::b`, `pkg.mod.b` and `../src/b.js`. */
const unqualifiedName = (name: string): string =>
  name
    .replace(/^.*(?:\/|::)/s, '')
    .replace(/\.(?:[cm]?[jt]sx?|json|vue|svelte)$/, '')
    .replace(/^.*\./s, '');

/** Whether a patch introduces a name, which other candidates then cannot be expected to have. */
export type IntroducesName = (name: string) => boolean;

/** Maximum characters of added code that are searched. */
const MAX_CODE_CHARS = 2 ** 20;

/**
 * Whether a patch introduces a name that its tests need: by a new production file of that name, or by an added line
 * that makes it reachable from elsewhere, as an export, a declaration or a member; and its test files mention it. A
 * local variable is no such name: if another candidate lacks it, the failure is that candidate's own.
 */
export function introducedBy(patch: Patch): IntroducesName {
  const files = patch.production;
  const paths = files.filter((file) => file.change === 'added').map((file) => unqualifiedName(file.path));
  const fresh = new Set(paths);
  const [code, before] = [textOfLines(files, 'added'), textOfLines(files, 'removed')];
  const tests = textOfLines(patch.tests, 'added');
  return (name) => {
    if (!fresh.has(name) && !/^[\w$]{1,100}$/.test(name)) return false;
    const word = name.replaceAll(/[^\w]/g, '\\$&');
    const declares = fresh.has(name) ? null : declarationOf(word);
    if (declares && (!declares.test(code) || declares.test(before))) return false;
    const mentions = new RegExp(`(?<![\\w$])${word}(?![\\w$])`);
    return mentions.test(tests) && !ownVariable(word).test(tests);
  };
}

const textOfLines = (files: Patch['files'], kind: 'added' | 'removed'): string =>
  files
    .flatMap((file) => file.hunks.flatMap((hunk) => hunk.lines))
    .flatMap((line) => (line.kind === kind ? [line.text] : []))
    .join('\n')
    .slice(0, MAX_CODE_CHARS);

const DECLARING =
  'function\\*?|class|interface|type|enum|struct|trait|union|def|func|fn|fun|mod|module|namespace|record|object|macro_rules!|protocol|constructor';

/** Characters of a line that are searched after a word: a minified file is one line. */
const MAX_AHEAD = 500;

/** A line that makes a name reachable from other files, in the languages of `MISSING_NAME_PATTERNS`. */
function declarationOf(word: string): RegExp {
  const name = `(?<![\\w$])${word}(?![\\w$])`;
  const forms = [
    // Exports, and public members.
    `^[ \\t]*(?:export|pub|public|protected|internal|static|module\\.exports|__all__)\\b.{0,${MAX_AHEAD}}${name}`,
    // What is declared, and the parameters and members on the same line.
    `(?<![\\w$.])(?:${DECLARING})(?![\\w$]).{0,${MAX_AHEAD}}${name}`,
    // Without indentation: variables of a module, functions of C and Java.
    `^(?:[\\w$<>[\\]:*&.]+[ \\t]+)*${name}[ \\t]*(?:[:=(,]|$)`,
    // Members.
    `\\.${word}[ \\t]*=(?!=)`,
    `["'\`{,][ \\t]*["']?${name}["']?\\??[ \\t]*[:}]`,
    `^[ \\t]+(?:(?:async|get|set|readonly|override|private|abstract|final|declare|@\\w+)[ \\t]+)*["'*#]?${name}["']?\\??(?:[ \\t]*(?:[:,]|=(?![=>])|$)|[ \\t]+[\\w*[\\].]+[ \\t]*[;,\`]?$|[ \\t]*\\(.{0,${MAX_AHEAD}}\\{[ \\t]*$)`,
  ];
  return new RegExp(forms.join('|'), 'm');
}

/** Tests that declare a variable of this name mean that one, unless it is what they import. */
const ownVariable = (word: string): RegExp =>
  new RegExp(
    `(?<![\\w$.])(?:const|let|var|val|auto|final|mut)[ \\t]+${word}[ \\t]*(?::[^=\\n]{0,${MAX_AHEAD}})?=(?![ \\t]*(?:await[ \\t]+import|require)\\b)|(?<![\\w$.])${word}[ \\t]*:=|^[ \\t]+${word}[ \\t]*=(?!=)`,
    'm',
  );
