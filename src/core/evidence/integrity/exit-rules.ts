import {
  contentOf,
  type Grammar,
  nodeText,
  type SyntaxNode,
  type SyntaxTree,
  type Use,
} from '../../source/index.ts';
import { wordSet } from './cases.ts';
import type { TamperingKind } from './finding.ts';

/** A tampering rule that is evaluated on each use of a name. */
export interface CodeRule {
  readonly kind: TamperingKind;
  /** What the code does, as a clause without its subject. */
  readonly what: string;
  /** Normal in stand-alone programs, which read their arguments and exit. */
  readonly normalInPrograms?: boolean;
  /** Normal in tests, which use fakes. */
  readonly onlyInProduction?: boolean;
  /** An honest program may do it as well: its lines are shown, but do not disqualify. */
  readonly isQuestion?: boolean;
  readonly fits: (use: PlacedUse, tree: SyntaxTree, pathsOf: PathsOf) => boolean;
}

/** A use, and the surrounding text that the rule may match. */
interface PlacedUse extends Use {
  readonly around: { readonly from: number; readonly to: number };
}

/** All values that a node may refer to: paths, and the text of string literals. */
export type PathsOf = (node: SyntaxNode) => readonly string[];

const firstArgument = (tree: SyntaxTree, { args }: Use): string =>
  args?.[0] ? nodeText(tree, args[0]).slice(0, 300) : '';
/** The string literal of the first argument. */
export const firstText = (tree: SyntaxTree, use: Use): string => contentOf(firstArgument(tree, use));
/** All arguments as written, bounded. */
export const allArguments = (tree: SyntaxTree, { args }: Use): string =>
  (args ?? []).map((each) => nodeText(tree, each).slice(0, 2_000)).join(',');
const isZero = (text: string): boolean => /^(?:0|true|EXIT_SUCCESS)?$/.test(text);

/** Calls that end the process, unless given a literal exit code for failure. */
const ENDS = wordSet('process.exit process.reallyExit sys.exit os._exit pytest.exit SystemExit');
const ABORTS = wordSet(
  'process.abort runtime.Goexit Runtime.getRuntime().halt Runtime.getRuntime().exit Environment.FailFast posix_kill',
);
/** Calls that end the process successfully when given nothing or zero. */
const ENDS_WELL = wordSet(
  'Deno.exit Bun.exit os.Exit syscall.Exit std.process.exit libc.exit libc._exit System.exit exitProcess Environment.Exit std.exit std._Exit std.quick_exit Kernel.exit Kernel.exit! Process.exit! ExitCode.SUCCESS.exit_process',
);
/** The same for built-in functions. */
const ENDS_BARE: Partial<Readonly<Record<Grammar, ReadonlySet<string>>>> = {
  python: wordSet('exit quit'),
  ruby: wordSet('exit exit!'),
  php: wordSet('exit die'),
  cpp: wordSet('exit _exit _Exit quick_exit'),
};
const EXIT_CODES = wordSet('process.exitCode Environment.ExitCode session.exitstatus');
const EXIT_HOOKS = wordSet(
  'process.on process.once process.prependListener process.addListener atexit.register at_exit register_shutdown_function',
);

const endsProcess = (use: Use, tree: SyntaxTree): boolean => {
  const { path, written, args } = use;
  if (written) return false;
  const given = firstArgument(tree, use);
  if (ENDS.has(path) && tree.grammar !== 'rust') return !(args && /^[1-9]\d*$/.test(given));
  if (ENDS_WELL.has(path) || (path === 'process.exit' && tree.grammar === 'rust'))
    return args !== null && isZero(given);
  if (!ENDS_BARE[tree.grammar]?.has(path)) return false;
  return isZero(given) && (args !== null || tree.grammar === 'ruby');
};

/** Detect statements and functions that end the process in a way that a test runner reports as success. */
export const EXIT_RULES: readonly CodeRule[] = (
  [
    [
      'ends the process',
      (use, tree) => endsProcess(use, tree) || (ABORTS.has(use.path) && use.args !== null),
    ],
    ['accesses `process` by a computed name', ({ path }) => path === 'process.[]'],
    [
      'sets the exit code',
      (use, tree) =>
        (EXIT_CODES.has(use.path) && use.written && isZeroAssigned(tree, use)) ||
        (use.path === 'Object.defineProperty' &&
          /^process\s*,\s*['"`](?:exit|exitCode|reallyExit)\b/.test(allArguments(tree, use))),
    ],
    [
      'kills the process',
      (use, tree) =>
        /^(?:process|os|Process)\.kill$/.test(use.path) &&
        /^(?:process\.p?pid|os\.getp?pid|\$\$|Process\.p?pid)/.test(firstArgument(tree, use)),
    ],
    [
      'runs code when the process exits',
      (use, tree) =>
        EXIT_HOOKS.has(use.path) &&
        (!use.path.startsWith('process.') || /^(?:exit|beforeExit)$/.test(firstText(tree, use))) &&
        ENDS_IN_HOOK.test(allArguments(tree, use) || blockOf(tree, use)),
    ],
    [
      'runs code when the process exits',
      ({ path, node }, tree) =>
        path === 'process.removeAllListeners' ||
        (node.type === 'function_definition' && nodeText(tree, node).startsWith('def pytest_sessionfinish')),
    ],
    [
      'runs code from a string that ends the process',
      (use, tree) =>
        RUNS_TEXT.test(use.path) &&
        [...ENDS, ...ENDS_WELL].some((name) => allArguments(tree, use).includes(name)),
    ],
  ] satisfies [string, CodeRule['fits']][]
).map(([what, fits]) => ({ kind: 'exit-trick', what, fits, normalInPrograms: true }));

/** A hook may make a success a failure, but not the other way round. */
const ENDS_IN_HOOK =
  /\b_?exit(?:Code\s*=(?!\s*(?:process\.exitCode\s*(?:\|\||\?\?)\s*)?[1-9]\d*\s*[;\n}])|!|\b\s*\()|\b_exit\b|\bkill\b/;
const RUNS_TEXT = /^(?:eval|Function|exec|vm\.runIn\w+)$/;
const blockOf = (tree: SyntaxTree, { node }: Use): string => nodeText(tree, node).slice(0, 2_000);
const isZeroAssigned = (tree: SyntaxTree, { node }: Use): boolean =>
  /=\s*(?:0|undefined|null|void 0)\s*;?$/.test(nodeText(tree, node.parent ?? node).slice(0, 300)) ||
  tree.grammar === 'python';
