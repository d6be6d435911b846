import { type Alias, uniqueSorted } from '../model/index.ts';
import type { Patch } from '../patches/index.ts';
import type { PeerTests, TestRun } from './evidence.ts';
import { isExitCode, outcomeIn } from './test-runs.ts';

/**
 * What an author's test files gave on one tree. `unfit`: they could not be put onto it, or it does not build with them: they
 * do not fit its code, which is no failure of a test.
 */
export type TreeTestResult = { readonly kind: 'ran'; readonly run: TestRun } | { readonly kind: 'unfit' };

/** An author's test files on its own code, and on the base's. */
interface AuthorRuns {
  readonly own: TestRun;
  readonly onBase: TreeTestResult;
  /** The same files as they stand on the base. Null: they were not run, or there are none. */
  readonly before: TestRun | null;
}

/** Ids, sorted. */
export interface AuthorTests {
  /** Pass on their author's code and not on the base: they ask for what the base lacks. */
  readonly proven: readonly string[];
  /** New, and pass on both. */
  readonly guards: readonly string[];
}

const NO_TESTS: AuthorTests = { proven: [], guards: [] };

/**
 * Which tests an author wrote, determined by execution: those that pass on its own code and that the base does not have, or has
 * in a form that passes there while the author's does not. What is flaky on the base is nobody's evidence.
 */
export function authorTests({ own, onBase, before }: AuthorRuns, flaky: readonly string[] = []): AuthorTests {
  if (own.source !== 'report') return NO_TESTS;
  const unsteady = new Set(flaky);
  const there = onBase.kind === 'ran' ? onBase.run : null;
  const old = (id: string) => (before ? outcomeIn(before, id) : undefined);
  const passes = uniqueSorted(Object.keys(own.tests)).filter(
    (id) => outcomeIn(own, id) === 'passed' && !unsteady.has(id) && !isExitCode(id),
  );
  const onBoth = (id: string) => there !== null && outcomeIn(there, id) === 'passed';
  return {
    proven: passes.filter((id) => !onBoth(id) && (old(id) === undefined || old(id) === 'passed')),
    guards: passes.filter((id) => onBoth(id) && old(id) === undefined),
  };
}

/** `p` passes, `f` fails, `n` cannot be asked: it needs a name that only its author has. */
export type PeerTestResult = 'p' | 'f' | 'n';

/** What each test says of one tree, in order of the ids. */
export function resultsOn(
  ids: readonly string[],
  result: TreeTestResult,
  introduces: IntroducesName,
): readonly PeerTestResult[] {
  if (result.kind === 'unfit') return ids.map(() => 'n');
  const { run } = result;
  const privately = (names: readonly string[]) => names.some(introduces);
  const unloaded = privately(run.missingNames ?? []);
  return ids.map((id) => {
    const outcome = outcomeIn(run, id);
    if (outcome === 'passed') return 'p';
    // A file that was not loaded has no tests to report; the output says why.
    if (outcome === undefined) return unloaded ? 'n' : 'f';
    const message = run.messages && Object.hasOwn(run.messages, id) ? (run.messages[id] ?? '') : '';
    return privately(missingNamesIn(message)) ? 'n' : 'f';
  });
}

/** One author's tests, and what they say of each of the other survivors. */
export interface AuthorResults {
  readonly author: Alias;
  readonly tests: AuthorTests;
  readonly onPeers: readonly {
    readonly peer: Alias;
    readonly proven: readonly PeerTestResult[];
    readonly guards: readonly PeerTestResult[];
  }[];
}

/** Failing ids that are kept by name, and results that are kept; all are counted. */
const MAX_FAILING_IDS = 50;
const MAX_RESULTS = 300;

/**
 * The others' tests as evidence on one survivor. A name that a third candidate has as well is no private one: where a
 * test passes on some other peer's code, a candidate on which it cannot be asked lacks what the test asks for, and
 * fails it.
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

const resolvedResults = (
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
 * How compilers, loaders and interpreters say that a name is not there: V8 and node, esbuild and Vite, TypeScript,
 * Python, Go, Rust, Java. Each captures the name, or the path of a module.
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

/** Names that are kept of one output. */
const MAX_MISSING_NAMES = 30;
/** Characters at each end of an output that are looked at. */
const MAX_OUTPUT_END_CHARS = 65_536;

/** Names of which a runner's or a compiler's output says that they are not there, in order of the sentences above. */
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

/** `crate::a::b`, `pkg.mod` and `../src/b.js` are all known by `b`. */
const unqualifiedName = (name: string): string =>
  name
    .replace(/^.*(?:\/|::)/s, '')
    .replace(/\.(?:[cm]?[jt]sx?|json|vue|svelte)$/, '')
    .replace(/^.*\./s, '');

/** Names that a patch introduces: what others cannot be asked to have. */
export type IntroducesName = (name: string) => boolean;

/** Characters of added production code that are searched. */
const MAX_CODE_CHARS = 2 ** 20;

/**
 * Does a patch bring a name along? It does with a new production file of that name, and where the name stands in an added
 * line by itself or is assigned to; a call of what something else has (`list.map(`) brings nothing along.
 */
export function introducedBy(patch: Patch): IntroducesName {
  const files = patch.production;
  const paths = files.filter((file) => file.change === 'added').map((file) => unqualifiedName(file.path));
  const fresh = new Set(paths);
  const code = files
    .flatMap((file) => file.hunks.flatMap((hunk) => hunk.lines))
    .flatMap((line) => (line.kind === 'added' ? [line.text] : []))
    .join('\n')
    .slice(0, MAX_CODE_CHARS);
  return (name) => {
    if (fresh.has(name)) return true;
    if (!/^[\w$]{1,100}$/.test(name)) return false;
    const word = name.replaceAll('$', '\\$');
    return new RegExp(`(?<![\\w$.])${word}(?![\\w$])|\\.${word}\\s*=(?!=)`).test(code);
  };
}
