import { isSnapshot } from '../../patches/index.ts';
import type { Change, Severity, Suspicion } from './finding.ts';
import { squeeze } from './matchers.ts';
import { firstChange, type InspectedFile, lineText, type Side, type View } from './view.ts';

const CHANGE_VERBS = {
  added: 'added',
  modified: 'changed',
  deleted: 'removed',
  'type-changed': 'replaced',
} as const;

/** Finds changes of snapshots and of test configuration, judged by the whole file. */
export function changedRunner(inspected: InspectedFile): readonly Suspicion[] {
  const { file } = inspected;
  const { path, change } = file;
  if (file.role !== 'runner') return [];
  if (isSnapshot(path)) {
    const onlyAdds = change === 'added' || (change === 'modified' && !file.binary && file.deletions === 0);
    return onlyAdds
      ? []
      : [
          {
            kind: 'snapshot-changed',
            what: 'a recorded snapshot was changed or removed',
            at: firstChange(inspected),
            whole: true,
          },
        ];
  }
  const lower = loweredThreshold(inspected);
  if (lower)
    return [{ kind: 'threshold-lowered', what: 'a coverage threshold was lowered or removed', at: lower }];
  const what = `configuration of the tests or of CI was ${CHANGE_VERBS[change]}`;
  return [{ kind: 'runner-configured', what, at: firstChange(inspected), whole: true }];
}

const COVERAGE_THRESHOLD =
  /["']?\b(branches|functions|lines|statements|fail[_-]under|cov-fail-under|coverage|target|threshold|minimum\w*|min[_-]?\w*|check-coverage|perFile|global|autoUpdate)\b["']?\s*[:=]?\s*["']?([\d.]+|true|false)?/i;

/** A coverage threshold that is smaller now, or removed. */
function loweredThreshold({ changes }: InspectedFile): Change | null {
  const found = (kind: 'added' | 'removed') =>
    changes.flatMap((change) => {
      const match =
        change.line.kind === kind ? COVERAGE_THRESHOLD.exec(change.line.text.slice(0, 400)) : null;
      const value = match?.[2] === 'true' ? 1 : match?.[2] === 'false' ? 0 : Number(match?.[2] ?? Number.NaN);
      return match && !Number.isNaN(value)
        ? [{ change, name: (match[1] as string).toLowerCase(), value }]
        : [];
    });
  const now = Map.groupBy(found('added'), ({ name }) => name);
  const most = new Map([...now].map(([name, all]) => [name, Math.max(...all.map(({ value }) => value))]));
  const lowered = found('removed').find(({ name, value }) => (most.get(name) ?? -1) < value);
  if (!lowered) return null;
  return now.get(lowered.name)?.[0]?.change ?? lowered.change;
}

/** Files that are loaded instead of a library that tests import, or programs found before those of the machine. */
const SHADOWING_PATH =
  /(?:^|\/)node_modules\/|(?:^|\/)(?:site|dist)-packages\/|(?:^|\/)\.venv(?:\/|$)|(?:^|\/)venv\/(?:bin|lib)\/|^(?:src\/)?(?:pytest|_pytest|unittest|nose|hypothesis|assert|doctest)(?:\.py|\/__init__\.py)$|^vendor\/(?:github\.com\/(?:stretchr\/testify|onsi\/(?:gomega|ginkgo)|google\/go-cmp)|gotest\.tools)\/|(?:^|\/)(?:org\/junit|org\/assertj|org\/hamcrest)\/|(?:^|\/)__mocks__\/(?:node:)?(?:assert|chai|vitest|expect|mocha|tape|ava|@jest)\b|^(?:minitest|rspec|test-unit)\.rb$/;

/** Names of plug-ins: pytest loads what it finds in a folder of Python's path, as that of the repository is. */
const ENTRY_POINTS = /(?:^|[/.])(?:egg|dist)-info\/entry_points\.txt$/i;

/** New files that Python may start instead of a type checker; a checker's own repository has them already. */
const SHADOWED_CHECKER = /^(?:mypy|pyright|basedpyright)(?:\.py|\/__(?:init|main)__\.py)$/;
/** New modules that `python -m` finds before those that pytest is made of. */
const SHADOWED_PARTS =
  /^(?:pluggy|iniconfig|pygments|exceptiongroup|tomli|colorama|packaging|py)(?:\.py|\/__init__\.py)$/;
/** The same for Python's own modules that pytest and unittest use. */
const SHADOWED_MODULES =
  /^(?:abc|argparse|ast|atexit|bdb|builtins|collections|contextlib|copy|dataclasses|datetime|difflib|dis|enum|errno|faulthandler|fnmatch|functools|gc|glob|importlib|inspect|io|itertools|json|linecache|locale|logging|math|operator|os|pathlib|pdb|pkgutil|platform|pprint|random|re|reprlib|runpy|shlex|shutil|signal|site|stat|string|struct|subprocess|sys|sysconfig|tempfile|textwrap|threading|time|timeit|token|tokenize|traceback|types|typing|unicodedata|warnings|weakref|zipimport)(?:\.py|\/__init__\.py)$/;

/** Finds new files that shadow a test's library, a type checker, or another program, or that plug into pytest. */
export function shadowingFile(inspected: InspectedFile): readonly Suspicion[] {
  const { file } = inspected;
  const { path } = file;
  const isNew = file.change === 'added';
  const place = { kind: 'assertions-patched', at: firstChange(inspected), whole: true } as const;
  if (file.change === 'deleted') return [];
  if (SHADOWING_PATH.test(path) || (isNew && SHADOWED_PARTS.test(path)))
    return [{ ...place, what: 'it replaces a program or library that tests use' }];
  const namesPlugIn = inspected.changes.some(
    ({ line }) => line.kind === 'added' && line.text.includes('pytest11'),
  );
  if (ENTRY_POINTS.test(path) && namesPlugIn)
    return [{ ...place, what: 'it names plug-ins that pytest loads by itself' }];
  if (isNew && SHADOWED_CHECKER.test(path)) return [{ ...place, what: 'it replaces a type checker' }];
  if (isNew && SHADOWED_MODULES.test(path))
    return [{ ...place, what: "it may replace a module of Python's library", severity: 'question' }];
  return [];
}

/** Variables that affect every program started with them. */
const STARTUP_VARIABLES =
  /\bNODE_OPTIONS\b.{0,200}(?:--?(?:r|require|import|loader|experimental-loader|test\b[\w-]*)\b)|\b(?:PYTEST_ADDOPTS|PYTEST_PLUGINS|PYTHONOPTIMIZE|PYTHONSTARTUP|RUBYOPT|JAVA_TOOL_OPTIONS|LD_PRELOAD|DYLD_INSERT_LIBRARIES|GOFLAGS|CARGO_BUILD_RUSTFLAGS|PERL5OPT)\b\s*(?:['"\]]{1,2}\s*)?(?::|=(?!=))/;
/** The same without a value; one that goes on in the next line is not read. */
const EMPTIED =
  /\b[A-Z_]+\b\s*(?:['"\]]{1,2}\s*)?[:=]\s*(?:''|""|null|undefined|None|nil)(?=\s*(?:$|[,;})#]|\/\/))/g;

/** Files of containers and of deployment: nothing of them runs when tests do, unless a test deploys. */
const DEPLOYMENT =
  /(?:^|\/)(?:(?:Docker|Container)file(?:\.[\w.-]+)?|[\w.-]+\.(?:dockerfile|service|tf|tfvars)|(?:docker-)?compose[\w.-]*\.ya?ml|Procfile)$|(?:^|\/)(?:deploy(?:ment)?s?|k8s|kubernetes|helm|charts|kustomize|terraform|ansible)\/(?:.+\/)?[\w.-]+\.(?:ya?ml|json|toml|tpl)$/i;

/** Finds lines that set such a variable, in any file. */
export function setVariables({ file, changes }: InspectedFile): readonly Suspicion[] {
  if (file.change === 'deleted' || /\.(?:md|mdx|rst|txt|adoc|html?)$/i.test(file.path)) return [];
  const removed = new Set(changes.flatMap(({ line }) => (line.kind === 'removed' ? [line.text.trim()] : [])));
  const isSet = (text: string) => STARTUP_VARIABLES.test(text);
  const set = changes.flatMap((change) => {
    const { kind, text } = change.line;
    const own = text.slice(0, 2_000);
    if (kind !== 'added' || removed.has(text.trim()) || !isSet(own)) return [];
    return [{ change, hasValue: isSet(own.replace(EMPTIED, '')) }];
  });
  const found = set.find(({ hasValue }) => hasValue) ?? set[0];
  return found
    ? [
        {
          kind: 'runner-configured',
          what: 'it sets a variable that changes how programs, including tests, start',
          at: found.change,
          severity: found.hasValue && !DEPLOYMENT.test(file.path) ? 'gate' : 'question',
        },
      ]
    : [];
}

/** Folders of product code: assertions defined there are the product itself. */
const PRODUCT_FOLDER = /(?:^|\/)(?:src|lib|app|pkg|internal|cmd|source|main|packages|crates)\//;
/** Folders of examples, which tests of the repository itself do not load. */
const EXAMPLE_FOLDER = /(?:^|\/)(?:examples?|demos?|docs?|bench(?:marks?)?)\//;
/** Matches files that define functions for tests. */
const TEST_SUPPORT_CODE =
  /\bexport\s+(?:default\s+)?(?:const|let|var|(?:async\s+)?function|class)\s+(?:expect|assert\w*|it|test|describe|suite|(?:before|after)(?:Each|All))\b|\bexport\s*\{[^}]*\b(?:expect|assert|it|test|describe)\b[^}]*\}|\bmodule\.exports\s*=\s*\{[^}]*\b(?:expect|assert|it|test|describe)\b|\bexports\.(?:expect|assert|it|test|describe)\s*=|(?:from|require\()\s*['"](?:node:test|vitest|@jest\/globals|mocha|chai|tape|ava|tap|expect|uvu)(?:\/[^'"]*)?['"]|^\s*(?:import|from)\s+(?:pytest|unittest|_pytest|hypothesis)\b|^\s*require\s+['"](?:rspec|minitest|test\/unit)|^\s*import\s+(?:static\s+)?org\.(?:junit|assertj|hamcrest|testng)|^\s*using\s+(?:Xunit|NUnit)|"testing"\s*$|"github\.com\/stretchr\/testify/m;

/** Whether a production file is test support, judged by its base text. */
export const isSupport = ({ file, language, baseText }: InspectedFile): boolean =>
  file.role === 'production' &&
  file.change !== 'added' &&
  baseText !== undefined &&
  !PRODUCT_FOLDER.test(file.path) &&
  !EXAMPLE_FOLDER.test(file.path) &&
  language !== 'prose' &&
  TEST_SUPPORT_CODE.test(baseText);

/** Finds changes of data and code that tests depend on. Additions are allowed. */
export function changedSupport(
  inspected: InspectedFile,
  isMoved: (text: string) => boolean,
  isKnown: boolean,
): readonly Suspicion[] {
  const code = isCode(inspected);
  for (const view of inspected.views) {
    const { missing, known } = missingLines(view, code);
    const missingLine = missing.find(({ text }) => !isMoved(text))?.change;
    const found = missingLine ?? (code ? insertedLine(view, known) : null);
    if (!found) continue;
    const what = code ? 'code that tests depend on was changed' : 'data that tests read was changed';
    // Hunks alone do not show whether code belongs to a test or to its support code.
    return [
      { kind: 'fixture-changed', what, at: found, severity: supportSeverity(inspected, code, isKnown) },
    ];
  }
  return [];
}

/** Folders and files that hold helpers of tests, by the names that they have in most projects. */
const NAMED_SUPPORT =
  /(?:^|\/)(?:support|helpers?|testing|(?:\w+[-_.])?(?:tests?|specs?)[-_.]?(?:utils?|utilities|helpers?|support|setup|kit|lib|cases?|base))(?:\/|\.\w+$)/i;

/**
 * Helpers that count as production code are not replaced by their base version when tests run. Where no name says that
 * code is a helper of tests, it may be the product: a plugin for a runner, a library of assertions, or a function that
 * is called `test`. Hunks alone do not show whether code belongs to a test or to its helpers.
 */
function supportSeverity({ file, baseText }: InspectedFile, code: boolean, isKnown: boolean): Severity {
  if (code && baseText === undefined) return 'note';
  return file.role === 'production' && (isKnown || NAMED_SUPPORT.test(file.path)) ? 'gate' : 'question';
}

/** Source code of any language, not data or prose. */
export const isCode = ({ file, language }: InspectedFile): boolean =>
  language !== 'prose' && language !== 'other' && !/\.(?:ya?ml|toml|ini|cfg)$/i.test(file.path);

type ChangedLine = NonNullable<Side['changes'][number]>;

/** Base lines that the patched file lacks, and new lines that replace others. */
function missingLines(
  { before, after }: View,
  code: boolean,
): {
  readonly missing: readonly { text: string; change: ChangedLine }[];
  readonly known: ReadonlySet<string>;
} {
  const plain = (side: Side, index: number) =>
    code
      ? squeeze(lineText(side, index))
      : (side.changes[index]?.line.text ?? '').trimEnd().replace(/,$/, '');
  const added = after.changes.flatMap((change, index) => (change ? [plain(after, index)] : []));
  const left = new Map<string, number>();
  for (const text of added) left.set(text, (left.get(text) ?? 0) + 1);
  const names = new Set(before.code.match(/[A-Za-z_$][\w$]*/g));
  const wordsOf = (line: string): readonly string[] => line.match(/[\w$]+|[^\w$]/g) ?? [];
  const lines = (code ? added : []).map((line) => ({ line, words: wordsOf(line) }));
  const alike = Map.groupBy(lines, ({ line }) => shapeOf(line));
  const known = new Set<string>();
  const missing = before.changes.flatMap((change, index) => {
    const text = change ? plain(before, index) : '';
    if (!change || text === '') return [];
    const same = left.get(text) ?? 0;
    left.set(text, same - 1);
    const others = same > 0 ? [] : (alike.get(shapeOf(text))?.slice(0, MAX_SIMILAR_LINES) ?? []);
    const own = others.length > 0 ? wordsOf(text) : [];
    const renamed = others.find(({ line, words }) => line !== text && onlyNewNames(own, words, names));
    const successor = same > 0 ? text : renamed?.line;
    if (successor !== undefined) known.add(successor);
    return successor === undefined ? [{ text, change }] : [];
  });
  return { missing, known };
}

/** Maximum lines of the same shape that a line is compared with. */
const MAX_SIMILAR_LINES = 50;
/** A line without its names. */
const shapeOf = (text: string): string => text.replace(/(?<![\w$])[A-Za-z_$][\w$]*/g, 'a');

/** The same line with a name that is new in the file: the called function was renamed. */
const onlyNewNames = (old: readonly string[], now: readonly string[], names: ReadonlySet<string>): boolean =>
  now.length === old.length &&
  now.every((word, i) => word === old[i] || (/^[A-Za-z_$][\w$]*$/.test(word) && !names.has(word)));

/** Marks a line that begins a new part of a file instead of extending an existing one. */
const PART_START =
  /^\s*(?:@|#\[|(?:export|public|private|protected|static|async|final|pub|override|open|internal)\b|(?:function|class|interface|type|enum|def|fn|func|fun|mod|module|struct|trait|impl|use|import|from|require|include|using|package|namespace|describe|it|test|macro_rules|context|let!?\(|subject|shared_examples)\b|[\w$'"-]+\s*(?::(?!:)|=>|\([^)]*\)\s*(?::[^={}();]{1,80})?\{))|^(?:(?:const|let|var|my)\b|[A-Za-z_]\w*\s*:?=(?!=))/;
const PART_END = /^\s*(?:[)\]}>,;][)\]}>,;\s]*|(?:end|fi|done)[\s,;]*)$/;

/** Finds added lines that extend a part of the base or redefine one of its names. */
function insertedLine({ before, after }: View, known: ReadonlySet<string>): ChangedLine | null {
  let depth = 0;
  const parts = addedParts();
  const isKnownName = definedIn(before);
  for (const [index, change] of after.changes.entries()) {
    if (!change) depth = 0;
    const mask = lineText(after, index, 'mask');
    const isIndented = parts(mask, change !== null);
    if (!change || mask.trim() === '' || known.has(squeeze(lineText(after, index)))) continue;
    const top = depth <= 0;
    depth += (mask.match(/[([{]/g)?.length ?? 0) - (mask.match(/[)\]}]/g)?.length ?? 0);
    const inside = /^\s/.test(mask) && after.changes[index - 1] && !top;
    if (inside || PART_END.test(mask)) continue;
    if (!isIndented && (!PART_START.test(mask) || isKnownName(lineText(after, index)))) return change;
  }
  return null;
}

/**
 * Whether an added line begins the block that contains the next added line, judged by indentation. Called for each line
 * in order; keeps only the lines that may still contain others.
 */
function addedParts(): (mask: string, added: boolean) => boolean {
  const open: { readonly depth: number; readonly begins: boolean }[] = [];
  return (mask, added) => {
    if (!added) open.length = 0;
    if (!added || mask.trim() === '') return false;
    const depth = mask.length - mask.trimStart().length;
    while ((open.at(-1)?.depth ?? -1) >= depth) open.pop();
    const isInside = open.at(-1)?.begins ?? false;
    open.push({ depth, begins: PART_START.test(mask) });
    return isInside;
  };
}

const DEFINED_NAME =
  /^\s*(?:export\s+)?(?:async\s+)?(?:function\s+|const\s+|let\s+|var\s+|def\s+|class\s+)?([\w$]+)\s*(?:[:=(])/;

/** Whether a line defines a name that the base also defines: the later definition wins. */
function definedIn({ code }: Side): (line: string) => boolean {
  const nameIn = (line: string) => DEFINED_NAME.exec(line)?.[1];
  const names = new Set(code.split('\n').map(nameIn));
  return (line) => {
    const name = nameIn(line);
    return name !== undefined && names.has(name);
  };
}
