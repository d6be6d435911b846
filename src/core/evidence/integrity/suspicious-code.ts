import {
  ancestors,
  child,
  contentOf,
  isString,
  type SyntaxNode,
  type SyntaxTree,
  textOf,
  type Use,
  unparsed,
  usesOf,
} from '../../source/index.ts';
import { CODE_MARKS, declaredMark } from './code-marks.ts';
import type { Mark, PathsOf } from './exit-marks.ts';
import type { Change, Suspicion } from './finding.ts';
import { type Look, lineAt, type Side, type View } from './view.ts';

/** Programs of their own end themselves with an exit code; tests do not load them. */
const ENTRY =
  /(?:^|\/)(?:bin|scripts|tools)\/|(?:^|\/)(?:cli|main|__main__|manage|setup)\.\w+$|(?:^|\/)(?:cli|cmd|commands?)\//;
/** Folders of tests that hold programs and data, not tests. */
const SAMPLES = /(?:^|\/)(?:fixtures?|__fixtures__|testdata|samples?|examples?|resources|data|assets)\//;

/** At most this many are named of one file. */
const MOST_NAMED = 3;
/** Lines that are read together: a trick may stand on several. */
const TOGETHER = 4;

/** What was added to a file that tells tests from real use, ends the process, or replaces what tests rest on. */
export function suspiciousCode(look: Look, moved: (text: string) => boolean): readonly Suspicion[] {
  const { file, language, views } = look;
  const production = file.role === 'production';
  const isRead = file.change !== 'deleted' && language !== 'prose' && file.role !== 'runner';
  if (!isRead || (!production && SAMPLES.test(file.path))) return [];
  const subject = production ? 'production code' : 'a file of the tests';
  return views
    .flatMap((view) => newHits(view, file.path, production).filter(({ change }) => !moved(change.line.text)))
    .slice(0, MOST_NAMED)
    .map(({ mark, name, change, known }) => ({
      kind: mark.kind,
      what: `${subject} ${mark.what}${name}`,
      at: change,
      // In a text that nobody parsed, a comment cannot be told from code.
      slight: !known,
    }));
}

/** Marks that stand on added lines, but for those that only took the place of the same on removed ones. */
function newHits({ before, after }: View, path: string, production: boolean): readonly Hit[] {
  const entry = ENTRY.test(path) || after.tree?.text.startsWith('#!') === true;
  const counts = ({ usual, onlyInProduction }: Mark) =>
    !(entry && usual) && (production || !onlyInProduction);
  // A line that asked for the same before is only written in another way; one that moved is known by its text.
  const texts = new Set(after.changes.flatMap((change) => (change ? [change.line.text.trim()] : [])));
  const was = hitsIn(before, counts, production)
    .filter(({ change }) => !texts.has(change.line.text.trim()))
    .map(({ mark }) => mark.what);
  return hitsIn(after, counts, production).filter(({ mark }) => {
    const old = was.indexOf(mark.what);
    if (old >= 0) was.splice(old, 1);
    return old < 0;
  });
}

interface Hit {
  readonly mark: Mark;
  /** What it uses, for sentences. */
  readonly name: string;
  readonly change: Change;
  /** Its text was parsed. */
  readonly known: boolean;
}

/** Lines that are comments in most languages. */
const COMMENT_LINE = /^[ \t]*(?:\/\/|#|--|\*).*$/gm;

/** Marks on the lines that the patch touches, at most one for each line. */
function hitsIn(side: Side, counts: (mark: Mark) => boolean, production: boolean): readonly Hit[] {
  if (!side.changes.some((change) => change !== null)) return [];
  const tree = side.tree ?? unparsed(side.code.replace(COMMENT_LINE, (line) => ' '.repeat(line.length)));
  const marks = CODE_MARKS.filter(counts);
  const uses = usesOf(tree);
  const paths = new Map(uses.map(({ node, path }) => [node, path] as const));
  const pathsOf: PathsOf = (node) => paths.get(node) ?? '';
  const hits = new Map<number, Hit>();
  const see = (
    { node, from, path }: Pick<Use, 'node' | 'from' | 'path'>,
    find: () => Mark | undefined | null,
  ) => {
    const line = lineAt(side, from);
    const change = side.changes[line];
    const mark = change && !hits.has(line) ? find() : null;
    if (!change || !mark || !counts(mark)) return;
    if (mark.kind === 'exit-trick' && (isAskedFor(tree, node) || (!production && !isStatement(node)))) return;
    const name = mark.kind === 'exit-trick' && /^[\w.!]{1,40}$/.test(path) ? ` (\`${path}\`)` : '';
    hits.set(line, { mark, name, change, known: side.tree !== null });
  };
  for (const use of [...uses, ...literals(tree)])
    see(use, () => marks.find(({ fits }) => fits({ ...use, around: around(side, use) }, tree, pathsOf)));
  for (const node of tree.nodes)
    see({ node, from: node.from, path: '' }, () => (node.named ? declaredMark(tree, node) : null));
  return [...hits].sort(([a], [b]) => a - b).map(([, hit]) => hit);
}

/** Texts in quotes, as if each were a name. */
const literals = (tree: SyntaxTree): readonly Use[] =>
  tree.nodes.filter(isString).map((node) => ({
    node,
    from: node.from,
    to: node.to,
    path: `"${contentOf(textOf(tree, node)).slice(0, 200)}`,
    args: null,
    written: false,
  }));

const STATEMENT = /statement|declaration|declarator|^(?:assignment|match_arm)$/;

/** From the beginning of the statement to the end of the added lines that follow. */
function around(
  side: Side,
  { node, from }: Pick<Use, 'node' | 'from'>,
): { readonly from: number; readonly to: number } {
  const statement = ancestors(node).find(({ type }) => STATEMENT.test(type));
  const line = lineAt(side, from);
  let last = line;
  while (last - line + 1 < TOGETHER && side.changes[last + 1]) last++;
  return { from: Math.min(statement?.from ?? from, from), to: side.starts[last + 1] ?? node.to };
}

/** In a test, what only hands on or fakes an exit ends nothing. */
function isStatement(node: SyntaxNode): boolean {
  const above = ancestors(node).find(
    ({ type }) => !/^(?:await_expression|parenthesized_expression|argument_list|arguments)$/.test(type),
  );
  return (
    above !== undefined &&
    /statement|arrow_function|^(?:block|body_statement|program|module|do_block|block_body)$/.test(above.type)
  );
}

/** Is this only run as a program, on a signal, or when somebody calls `main`? */
const isAskedFor = (tree: SyntaxTree, node: SyntaxNode): boolean =>
  ancestors(node).some((outer) => {
    const condition = child(outer, 'condition');
    if (
      condition &&
      /__name__|\brequire\.main\b|\bimport\.meta\.main\b/.test(textOf(tree, condition).slice(0, 300))
    )
      return true;
    const name = child(outer, 'name');
    if (name && /^(?:main|cli)$/.test(textOf(tree, name))) return true;
    return (
      /^(?:call_expression|call)$/.test(outer.type) &&
      /^[\w.]{1,60}\(\s*(?:['"`]SIG|(?:signal\.|syscall\.)?SIG)/.test(textOf(tree, outer).slice(0, 100))
    );
  });
