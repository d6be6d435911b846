import {
  ancestors,
  contentOf,
  type Grammar,
  nodeText,
  type SyntaxNode,
  type SyntaxTree,
  type Use,
} from '../../source/index.ts';
import type { Beside } from './beside.ts';
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
  readonly fits: (use: Use, tree: SyntaxTree, pathsOf: PathsOf, beside: Beside) => boolean;
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
const isInteger = (text: string): boolean => /^-?\d+$/.test(text);
/** A literal exit code for failure. Systems keep its last eight bits, so that 256 is a success. */
const isFailure = (text: string): boolean => isInteger(text) && Number(text) % 256 !== 0;
const isZero = (text: string): boolean =>
  /^(?:true|EXIT_SUCCESS)?$/.test(text) || (isInteger(text) && !isFailure(text));
/** Python prints a text that it exits with, and its exit code is 1. */
const PRINTS_TEXT = wordSet('sys.exit SystemExit');
function exitsWithText(tree: SyntaxTree, { type, children }: SyntaxNode): boolean {
  if (/^(?:string|concatenated_string)$/.test(type)) return true;
  const first = children.find(({ named }) => named);
  if (!first) return false;
  if (/^(?:parenthesized_expression|binary_operator)$/.test(type)) return exitsWithText(tree, first);
  return type === 'call' && /^(['"])[^'"]*\1\.(?:format|join)$/.test(nodeText(tree, first).slice(0, 300));
}

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

/** A handler of `SystemExit`, or a check for it, ends nothing. Where it is called, the call itself is a use. */
function isCaught(tree: SyntaxTree, node: SyntaxNode): boolean {
  const [outer, next, last] = ancestors(node);
  if (tree.grammar === 'ruby')
    return ![outer, next, last].some(
      (each) => each?.type === 'call' && /^(?:raise|fail)\b/.test(nodeText(tree, each).slice(0, 10)),
    );
  const isHead = [node, outer, next].some(
    (each) => each?.parent?.type === 'except_clause' && each.type !== 'block',
  );
  const isAsked = [outer, next, last].some(
    (each) =>
      each?.type === 'call' &&
      /^(?:isinstance|issubclass|(?:contextlib\.)?suppress)\(/.test(nodeText(tree, each).slice(0, 40)),
  );
  return node.field === 'function' || isHead || isAsked;
}
/** The exit codes of sysexits.h that report a failure. */
const FAILURE_CODE =
  /^os\.EX_(?:USAGE|DATAERR|NOINPUT|NOUSER|NOHOST|UNAVAILABLE|SOFTWARE|OSERR|OSFILE|CANTCREAT|IOERR|TEMPFAIL|PROTOCOL|NOPERM|CONFIG|NOTFOUND)$/;

function failsInPython(tree: SyntaxTree, { args }: Use, pathsOf: PathsOf): boolean {
  const [given] = args ?? [];
  if (!given) return false;
  const paths = pathsOf(given);
  const isCode = paths.length > 0 && paths.every((one) => FAILURE_CODE.test(one)) && isModule(tree, 'os');
  return isCode || exitsWithText(tree, given);
}

/** The name is that of an imported module everywhere, and nothing in it is replaced. */
function isModule(tree: SyntaxTree, name: string): boolean {
  const all = tree.nodes.filter((node) => node.type === 'identifier' && nodeText(tree, node) === name);
  const isImport = ({ parent }: SyntaxNode): boolean => parent?.parent?.type === 'import_statement';
  const isRead = ({ parent, field }: SyntaxNode): boolean =>
    parent?.type === 'attribute' && field === 'object' && parent.field !== 'left';
  return all.some(isImport) && all.every((node) => isImport(node) || isRead(node));
}

const endsProcess = (use: Use, tree: SyntaxTree, pathsOf: PathsOf): boolean => {
  const { path, written, args } = use;
  if (written || (path === 'SystemExit' && args === null && isCaught(tree, use.node))) return false;
  const given = firstArgument(tree, use);
  if (ENDS.has(path) && tree.grammar !== 'rust')
    return (
      args === null || !(isFailure(given) || (PRINTS_TEXT.has(path) && failsInPython(tree, use, pathsOf)))
    );
  if (ENDS_WELL.has(path) || (path === 'process.exit' && tree.grammar === 'rust'))
    return args !== null && isZero(given);
  if (!ENDS_BARE[tree.grammar]?.has(path)) return false;
  return isZero(given) && (args !== null || tree.grammar === 'ruby');
};

const isExitHook = (use: Use, tree: SyntaxTree): boolean =>
  EXIT_HOOKS.has(use.path) &&
  (!use.path.startsWith('process.') || /^(?:exit|beforeExit)$/.test(firstText(tree, use)));

/** The process itself, the one that started it, or its group. */
const OWN_ID = /^-?(?:process\.p?pid|os\.getp?p(?:id|grp)|\$\$|Process\.p?pid|0$)/;
const killsItself: CodeRule['fits'] = ({ path, args }, tree, pathsOf) => {
  // Ruby names the signal first.
  const id = args?.[tree.grammar === 'ruby' ? 1 : 0];
  if (!id || !/^(?:process\.kill|os\.kill(?:pg)?|Process\.kill)$/.test(path)) return false;
  return [nodeText(tree, id).slice(0, 300), ...pathsOf(id)].some((one) => OWN_ID.test(one));
};
const MAY_KILL = 'may kill the process when it exits';
const COMPUTED_NAME = 'accesses `process` or `os` by a computed name';

/** Detect statements and functions that end the process in a way that a test runner reports as success. */
export const EXIT_RULES: readonly CodeRule[] = (
  [
    [
      'ends the process',
      // An abort of Rust is a failure.
      (use, tree, pathsOf) =>
        endsProcess(use, tree, pathsOf) ||
        (ABORTS.has(use.path) && use.args !== null && tree.grammar !== 'rust'),
    ],
    [
      'calls or changes something of `process` by a computed name',
      ({ path, args, written }) => path === 'process.[]' && (args !== null || written),
    ],
    [
      COMPUTED_NAME,
      // Systems differ in what `os` has.
      ({ path, args }) => path === 'process.[]' || (path === 'os.[]' && args !== null),
    ],
    [
      'sets the exit code',
      (use, tree) =>
        (EXIT_CODES.has(use.path) && use.written && isZeroAssigned(tree, use)) ||
        (use.path === 'Object.defineProperty' &&
          /^process\s*,\s*['"`](?:exit|exitCode|reallyExit)\b/.test(allArguments(tree, use))),
    ],
    ['kills the process', killsItself],
    [
      'runs code when the process exits',
      (use, tree) =>
        isExitHook(use, tree) && ENDS_IN_HOOK.test(allArguments(tree, use) || blockOf(tree, use)),
    ],
    [
      MAY_KILL,
      (use, tree) =>
        isExitHook(use, tree) && MAY_KILL_IN_HOOK.test(allArguments(tree, use) || blockOf(tree, use)),
    ],
    [
      'runs code when the process exits',
      ({ path, node }, tree) =>
        path === 'process.removeAllListeners' ||
        (node.type === 'function_definition' && nodeText(tree, node).startsWith('def pytest_sessionfinish')),
    ],
    [
      'runs code from a string that ends the process',
      (use, tree) => RUNS_TEXT.test(use.path) && endsIn(allArguments(tree, use)),
    ],
  ] satisfies [string, CodeRule['fits']][]
).map(([what, fits]) => ({
  kind: 'exit-trick',
  what,
  fits,
  normalInPrograms: true,
  isQuestion: what === MAY_KILL || what === COMPUTED_NAME,
}));

/** A hook may make a success a failure, but not the other way round. */
const ENDS_IN_HOOK =
  /\b_?exit(?:Code\s*=(?!\s*(?:process\.exitCode\s*(?:\|\||\?\?)\s*)?[1-9]\d*\s*[;\n}])|!|\b\s*\()|\b_exit\b|\bkill(?:pg)?\b[\s(,-]*(?:process\.p?pid|(?:os\.)?getp?p(?:id|grp)\b|Process\.p?pid)/;
/** Ends a process by a number that may be its own, unlike `child.kill()`, `proc.kill` and `process.kill(child.pid)`. */
const MAY_KILL_IN_HOOK =
  /(?:(?<![\w$.)\]])|\b(?:process|os|Process)\.)kill(?:pg)?\b(?!\s*\(\s*-?(?!process\b)\w+(?:\.\w+)*\.pid\b)/;
const endsIn = (text: string): boolean => [...ENDS, ...ENDS_WELL].some((name) => text.includes(name));
const RUNS_TEXT = /^(?:eval|Function|exec|vm\.runIn\w+)$/;
const blockOf = (tree: SyntaxTree, { node }: Use): string => nodeText(tree, node).slice(0, 2_000);
const isZeroAssigned = (tree: SyntaxTree, { node }: Use): boolean =>
  /=\s*(?:0|undefined|null|void 0)\s*;?$/.test(nodeText(tree, node.parent ?? node).slice(0, 300)) ||
  tree.grammar === 'python';
