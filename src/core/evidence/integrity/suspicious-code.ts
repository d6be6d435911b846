import {
  ancestors,
  child,
  contentOf,
  type Exported,
  exportsOf,
  type FileExport,
  isString,
  NO_EXPORTS,
  nodeText,
  type SyntaxNode,
  type SyntaxTree,
  type TextNames,
  textNames,
  type Use,
  unparsed,
  usesOf,
} from '../../source/index.ts';
import { besideIn } from './beside.ts';
import { CODE_RULES, declarationRule, LIBRARIES } from './code-rules.ts';
import type { CodeRule } from './exit-rules.ts';
import type { Change, Suspicion } from './finding.ts';
import { ownNames } from './own-names.ts';
import { CARRIER_RULE, carriersOf } from './question-rules.ts';
import { type InspectedFile, lineIndexAt, type Side, type View } from './view.ts';

/** Stand-alone programs exit with an exit code; tests do not load them. */
const ENTRY_POINT =
  /(?:^|\/)(?:bin|scripts?|_?tools|ci)\/|(?:^|\/)(?:cli|main|__main__|manage|setup)\.\w+$|(?:^|\/)(?:cli|cmd|commands?)\//;
/** Folders of tests that contain programs and data, not tests. */
const SAMPLES = /(?:^|\/)(?:fixtures?|__fixtures__|testdata|samples?|examples?|resources|data|assets)\//;

const MINIFIED = /[.-]min\.[cm]?js$/;
/** Maximum findings reported for one file. */
const MAX_FINDINGS_PER_FILE = 3;

/** Finds added code that detects tests, ends the process, or replaces what tests depend on. */
export function suspiciousCode(
  inspected: InspectedFile,
  moved: (text: string) => boolean,
  exports: PatchExports,
): readonly Suspicion[] {
  const { file, language, views } = inspected;
  const production = file.role === 'production';
  const isRead = file.change !== 'deleted' && language !== 'prose' && file.role !== 'runner';
  if (!isRead || (!production && SAMPLES.test(file.path))) return [];
  const subject = production ? 'production code' : 'a test support file';
  return views
    .flatMap((view) =>
      newHits(view, file.path, production, exports).filter(({ change }) => !moved(change.line.text)),
    )
    .sort((a, b) => Number(a.rule.isQuestion ?? false) - Number(b.rule.isQuestion ?? false))
    .slice(0, MAX_FINDINGS_PER_FILE)
    .map(({ rule, name, change, known }) => ({
      kind: rule.kind,
      what: `${subject} ${rule.what}${name}`,
      at: change,
      // In unparsed text a comment cannot be distinguished from code; names of minified code mean nothing.
      ...(!known || rule.isQuestion === true || MINIFIED.test(file.path)
        ? { severity: 'question' as const }
        : {}),
    }));
}

/** Test libraries that production files of a patch re-export under other names, and the names that show it. */
interface PatchExports {
  readonly exported: Exported;
  /** Names of these texts as they are without what other files export. */
  readonly names: ReadonlyMap<SyntaxTree, TextNames>;
}

export function exportedLibraries(files: readonly InspectedFile[]): PatchExports {
  const names = new Map<SyntaxTree, TextNames>();
  const found = files.flatMap(({ file, views }) => {
    if (file.role !== 'production') return [];
    const stem =
      /([^/]+)\/(?:index|__init__)\.\w+$/.exec(file.path)?.[1] ?? /([^/]+?)\.\w+$/.exec(file.path)?.[1];
    return views.flatMap(({ after: { tree } }) => {
      if (!tree || stem === undefined) return [];
      const own = textNames(tree);
      names.set(tree, own);
      return own.bindings
        .named()
        .flatMap(([name, path]): FileExport[] =>
          LIBRARIES.test(path) && name !== path
            ? [{ file: stem, name: name.replace(/^(?:module\.)?exports\.?/, ''), path }]
            : [],
        );
    });
  });
  return found.length === 0
    ? { exported: NO_EXPORTS, names }
    : { exported: exportsOf(found), names: new Map() };
}

/** Matches on added lines, except those that only replace a match of the same rule on a removed line. */
function newHits(
  { before, after }: View,
  path: string,
  production: boolean,
  exports: PatchExports,
): readonly RuleHit[] {
  const entry = ENTRY_POINT.test(path) || after.tree?.text.startsWith('#!') === true;
  const counts = ({ normalInPrograms, onlyInProduction }: CodeRule) =>
    !(entry && normalInPrograms) && (production || !onlyInProduction);
  // A line that made the same check before was only reformatted; a moved line is recognized by its text.
  const texts = new Set(after.changes.flatMap((change) => (change ? [change.line.text.trim()] : [])));
  const was = new Map<string, number>();
  for (const { rule, change } of hitsIn(before, counts, production, exports))
    if (!texts.has(change.line.text.trim())) was.set(rule.what, (was.get(rule.what) ?? 0) + 1);
  return hitsIn(after, counts, production, exports).filter(({ rule }) => {
    const left = was.get(rule.what) ?? 0;
    was.set(rule.what, left - 1);
    return left <= 0;
  });
}

interface RuleHit {
  readonly rule: CodeRule;
  /** What it uses, for sentences. */
  readonly name: string;
  readonly change: Change;
  /** Its text was parsed, and it is not about a name that the file declares itself. */
  readonly known: boolean;
}

/** Lines that are comments in most languages. */
const COMMENT_LINE = /^[ \t]*(?:\/\/|#|--|\*).*$/gm;

/** Rules that know what is replaced by its name alone. */
const BY_NAME = /^replaces (?:functions of a test library|a built-in function)$/;

/** Marks on the lines that the patch touches, at most one for each line. */
function hitsIn(
  side: Side,
  counts: (rule: CodeRule) => boolean,
  production: boolean,
  { exported, names }: PatchExports,
): readonly RuleHit[] {
  if (!side.changes.some((change) => change !== null)) return [];
  const tree = side.tree ?? unparsed(side.code.replace(COMMENT_LINE, (line) => ' '.repeat(line.length)));
  const rules = CODE_RULES.filter(counts);
  const certain = rules.filter(({ isQuestion }) => !isQuestion);
  const isTouched = (offset: number) => side.changes[lineIndexAt(side, offset)] != null;
  const own = names.get(tree) ?? textNames(tree, exported);
  const { valuesOf: pathsOf, named } = own.bindings;
  const uses = usesOf(own, isTouched);
  const beside = besideIn(tree);
  const bound = new Set(named().map(([name]) => name));
  const carriers = carriersOf(
    tree,
    (node) => bound.has(nodeText(tree, node)) && pathsOf(node).some((path) => LIBRARIES.test(path)),
  );
  // A name that the file declares itself is probably no library, but it may be given one: it is asked about.
  const isOwn = ownNames(tree, new Set([...bound].map((name) => name.split('.', 1)[0] ?? name)));
  const wordAt = (node: SyntaxNode) => /^[\w$]+/.exec(nodeText(tree, node).slice(0, 100))?.[0];
  const isDoubtful = ({ what }: CodeRule, node: SyntaxNode, from: number) =>
    BY_NAME.test(what) && isOwn(wordAt(node), from);
  const hits = new Map<number, RuleHit>();
  const see = (
    { node, from, path }: Pick<Use, 'node' | 'from' | 'path'>,
    find: (rules: readonly CodeRule[]) => CodeRule | undefined | null,
  ) => {
    const line = lineIndexAt(side, from);
    const change = side.changes[line];
    const old = hits.get(line);
    // What may be honest does not hide what stands beside it and cannot be.
    const rule = change && (!old || old.rule.isQuestion) ? find(old ? certain : rules) : null;
    if (!change || !rule || !counts(rule) || (old && rule.isQuestion)) return;
    if (rule.kind === 'exit-trick' && (runsOnlyOnDemand(tree, node) || (!production && !isStatement(node))))
      return;
    const name = rule.kind === 'exit-trick' && /^[\w.!]{1,40}$/.test(path) ? ` (\`${path}\`)` : '';
    hits.set(line, { rule, name, change, known: side.tree !== null && !isDoubtful(rule, node, from) });
  };
  for (const use of [...uses, ...quotedUses(tree, isTouched)])
    see(
      use,
      (asked) =>
        asked.find(({ fits }) => fits(use, tree, pathsOf, beside)) ??
        (asked === rules &&
        use.written &&
        use.path.includes('.') &&
        carriers.has(/^\w+/.exec(nodeText(tree, use.node))?.[0] ?? '')
          ? CARRIER_RULE
          : null),
    );
  for (const node of tree.nodes)
    see({ node, from: node.from, path: '' }, () => (node.named ? declarationRule(tree, node) : null));
  return [...hits].sort(([a], [b]) => a - b).map(([, hit]) => hit);
}

/** Texts in quotes, as if each were a name. */
const quotedUses = (tree: SyntaxTree, counts: (offset: number) => boolean): readonly Use[] =>
  tree.nodes
    .filter((node) => isString(node) && counts(node.from))
    .map((node) => ({
      node,
      from: node.from,
      to: node.to,
      path: `"${contentOf(nodeText(tree, node)).slice(0, 200)}`,
      args: null,
      written: false,
    }));

/** In a test, passing on or faking an exit does not end the process. */
function isStatement(node: SyntaxNode): boolean {
  const above = ancestors(node).find(
    ({ type }) => !/^(?:await_expression|parenthesized_expression|argument_list|arguments)$/.test(type),
  );
  return (
    above !== undefined &&
    /statement|arrow_function|^(?:block|body_statement|program|module|do_block|block_body)$/.test(above.type)
  );
}

/** Whether the code runs only as a program, on a signal, or when `main` is called. */
const runsOnlyOnDemand = (tree: SyntaxTree, node: SyntaxNode): boolean =>
  ancestors(node).some((outer) => {
    const condition = child(outer, 'condition');
    if (
      condition &&
      /__name__|\brequire\.main\b|\bimport\.meta\.main\b/.test(nodeText(tree, condition).slice(0, 300))
    )
      return true;
    const name = child(outer, 'name');
    if (name && /^(?:main|cli)$/.test(nodeText(tree, name))) return true;
    return (
      /^(?:call_expression|call)$/.test(outer.type) &&
      /^[\w.]{1,60}\(\s*(?:['"`]SIG|(?:signal\.|syscall\.)?SIG)/.test(nodeText(tree, outer).slice(0, 100))
    );
  });
