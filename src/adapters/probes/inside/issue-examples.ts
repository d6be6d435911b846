import { asserts, findCases } from './cases.ts';
import { fencesOf, indentedCodeIn, withBackticks } from './code-blocks.ts';
import {
  asserting,
  readSentence,
  SENTENCE,
  same,
  sessionOf,
  withComment,
  withResults,
} from './issue-results.ts';
import { callArguments, type Node, type Parse, walk } from './syntax.ts';

/** A parsed test file. */
export interface Source {
  readonly path: string;
  readonly text: string;
  readonly root: Node;
}

/** A part of the issue that can be the body of a test. */
export interface Example {
  readonly body: string;
  /** Its words say that it is what should be; otherwise it may tell what is wrong. */
  readonly isMeant: boolean;
}

const MAX_EXAMPLES = 16;
const MAX_FENCES = 50;
/** Number of characters after a piece of code in which its result may be. */
const MAX_AFTER = 600;
const EXPECTED =
  /(?<!\bun|\bnot )expect(?:ed|ation)?(?:(?!\b(?:not|never|no|but|got|was)\b)[^:\n`]){0,40}(?::|`)[\s*]*`{0,3}([^`\n]+?)`{0,3}\s*(?:$|\n|,|\.\s)|should (?:be|return|give|print|output|yield)[\s:*]*`([^`\n]+)`/im;

const FENCE_LANGUAGES = /^(|js|javascript|jsx|mjs|cjs|node|ts|typescript|tsx|repl|console)$/i;

/**
 * Examples in the issue: code with assertions, calls followed by their results, sessions, calls followed by the
 * expected value, sentences with both, and tables of inputs and outputs.
 */
export async function examplesOf(
  issue: string,
  sources: readonly { readonly root: Node }[],
  parse: Parse,
): Promise<readonly Example[]> {
  const found: Example[] = [];
  const { fences, prose } = fencesOf(issue);
  for (const { language, code, after } of fences.slice(0, MAX_FENCES)) {
    if (FENCE_LANGUAGES.test(language))
      found.push(...(await examplesInCode(code, after.slice(0, MAX_AFTER), parse)));
  }
  for (const code of indentedCodeIn(prose).slice(0, MAX_FENCES))
    found.push(...(await examplesInCode(code, '', parse)));
  found.push(...inSentences(prose), ...inTables(prose, sources));
  const meant = new Set(found.flatMap(({ body, isMeant }) => (isMeant ? [body] : [])));
  const bodies = [...new Set(found.map(({ body }) => body))].slice(0, MAX_EXAMPLES);
  return bodies.map((body) => ({ body, isMeant: meant.has(body) }));
}

/**
 * The assertions that the code has or says to be meant, and, as another example, the results that it only tells: these
 * may be what is wrong.
 */
async function examplesInCode(code: string, after: string, parse: Parse): Promise<readonly Example[]> {
  const text = sessionOf(code, withComment);
  const root = await parse('example.ts', withResults(text, 'meant'));
  if (!root || root.hasError) return [];
  const cases = findCases(root).cases.filter((each) => each.kind === 'case');
  if (cases.length > 0) {
    return cases.flatMap(({ body }) => {
      const block = body.field('body');
      if (!block) return [];
      const statements = block.type === 'statement_block' ? block.text.slice(1, -1) : `${block.text};`;
      return [{ body: statements, isMeant: true }];
    });
  }
  const kept = statementsOf(root);
  const meant = assertionsIn(kept);
  const said = meant.length > 0 ? [{ body: statementText(kept), isMeant: true }] : [];
  if (meant.some(({ text: call }) => !call.startsWith('__p.'))) return said;
  const told = withResults(text, 'told');
  const other = told === text ? null : await parse('example.ts', told);
  const also = other && !other.hasError ? statementsOf(other) : [];
  if (assertionsIn(also).length > 0) return [...said, { body: statementText(also), isMeant: false }];
  return said.length > 0 ? said : expectedAfter(kept, after);
}

/** The last call of some code, with the expected value that follows the code. */
function expectedAfter(kept: readonly Node[], after: string): readonly Example[] {
  const last = kept.at(-1)?.text.replace(/;$/, '') ?? '';
  const expected = EXPECTED.exec(after)
    ?.slice(1)
    .find((each) => each !== undefined);
  if (
    expected === undefined ||
    /^(?:no|not|never)\s/i.test(expected) ||
    !/\)$/.test(last) ||
    /^(const|let|var|function|class)\b/.test(last)
  )
    return [];
  const call = /^console\.log\((.*)\)$/s.exec(last)?.[1] ?? last;
  return [{ body: `${statementText(kept.slice(0, -1))}\n${same(call, expected)}`, isMeant: true }];
}

const statementsOf = (root: Node): readonly Node[] =>
  root.children.filter(
    (each) => each.type !== 'import_statement' && !/^(const|let|var)[^=]*=\s*require\(/.test(each.text),
  );
const statementText = (nodes: readonly Node[]): string => nodes.map((each) => each.text).join('\n');
const assertionsIn = (nodes: readonly Node[]): readonly Node[] =>
  nodes.flatMap((each) => [...walk(each)].filter((node) => node.type === 'call_expression' && asserts(node)));

const MAX_WORDS = 60;

/** Quoted parts of the issue: inline code, quoted text, table cells; these are likely inputs. */
export function issueConstants(issue: string): readonly unknown[] {
  const { prose } = fencesOf(issue);
  const quoted = [
    ...prose.matchAll(/`([^`\n]{1,80})`|"([^"\n]{1,80})"|(?<!\w)'([^'\n]{1,80})'(?!\w)/g),
  ].flatMap(([, code, double, single]) =>
    code === undefined ? withoutEscapes(double ?? single ?? '') : textsIn(code),
  );
  const cells = [...prose.matchAll(/^\s*\|(.+)\|\s*$/gm)]
    .flatMap(([, row = '']) => row.split('|').map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')))
    .filter((cell) => cell !== '' && cell.length <= 80 && !/^:?-+:?$/.test(cell));
  const numbers = [...prose.matchAll(/(?<![\w.#/-])\d{1,9}(?![\w/-])/g)].map(([number]) => number);
  return [...quoted, ...cells, ...numbers]
    .slice(0, MAX_WORDS)
    .map((word) => (/^-?\d+(\.\d+)?$/.test(word) ? Number(word) : word));
}

/** The texts in a call; other code is a text itself. */
const textsIn = (code: string): readonly string[] =>
  /^[\w$.]+\(.*\)$/.test(code)
    ? [...code.matchAll(/(['"])((?:\\.|(?!\1)[^\\])*)\1/g)].flatMap(([, , text = '']) => withoutEscapes(text))
    : withoutEscapes(code.replace(/^(['"])(.*)\1$/, '$2'));

const CONTROL_ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/** A text as code means it, and as it is written, if that is something else: it may be a path of Windows. */
function withoutEscapes(written: string): readonly string[] {
  const meant = written.replace(/\\([nrt'"`\\])/g, (_, one: string) => CONTROL_ESCAPES[one] ?? one);
  return [...new Set([meant, written])];
}

function inSentences(prose: string): readonly Example[] {
  return [...withBackticks(prose).matchAll(SENTENCE)].flatMap((match) => {
    const found = readSentence(match);
    if (!found || asserting(found.call) || /^(const|let|var|import|function)\b/.test(found.call)) return [];
    return [{ body: same(found.call, found.value), isMeant: found.isMeant }];
  });
}

const INPUT = /input|value|phrase|given|number|arg|before|call|string|text|word|from|source/i;
const OUTPUT = /output|result|expect|return|after|should|becomes|answer|^to$/i;
/** A column that says what is the case, and not what should be. */
const ACTUAL = /actual|current|observed|wrong|today|\b(?:now|got)\b/i;

/** Rows of tables with inputs and an output, applied to the function that the tests call with as many literals. */
function inTables(prose: string, sources: readonly { readonly root: Node }[]): readonly Example[] {
  const tables = [...prose.matchAll(/(?:^[ \t]*\|.*\|[ \t]*$\n?){3,}/gm)].map(([table]) =>
    table.trim().split('\n').map(cellsOf),
  );
  return tables.flatMap(([header = [], rule = [], ...rows]) => {
    if (!rule.every((cell) => /^:?-+:?$/.test(cell))) return [];
    const isOutput = (cell: string) => OUTPUT.test(cell) && !ACTUAL.test(cell);
    const expected = header.findIndex((cell) => isOutput(cell) && /expect|should/i.test(cell));
    const output = expected >= 0 ? expected : header.findIndex(isOutput);
    if (output <= 0) return [];
    const inputs = header.flatMap((cell, at) =>
      at !== output && !ACTUAL.test(cell) && (INPUT.test(cell) || header.length === 2) ? [at] : [],
    );
    return rows.flatMap((row): readonly Example[] => {
      const cells = inputs.map((at) => row[at] ?? '');
      const value = row[output];
      if (cells.length === 0 || value === undefined) return [];
      const [call = ''] = cells;
      if (cells.length === 1 && /^`[\w.]+\(.*\)`$/.test(call))
        return [{ body: same(bare(call), bare(value)), isMeant: true }];
      const made = callWith(cells.map(bare), sources);
      return made === null ? [] : [{ body: same(made, bare(value)), isMeant: true }];
    });
  });
}

const cellsOf = (row: string): readonly string[] =>
  row
    .trim()
    .replace(/^\||\|$/g, '')
    .split('|')
    .map((cell) => cell.trim());
const bare = (cell: string): string => cell.replace(/^`(.*)`$/, '$1');

/** A call of the function that the tests call most often with as many literals, with these literals instead. */
function callWith(cells: readonly string[], sources: readonly { readonly root: Node }[]): string | null {
  const calls = new Map<string, { readonly kinds: readonly string[]; readonly count: number }>();
  for (const { root } of sources) {
    for (const node of walk(root)) {
      const callee = node.type === 'call_expression' ? node.field('function') : null;
      if (
        !callee ||
        !/^[\w.]+$/.test(callee.text) ||
        asserts(node) ||
        /^(t|test|it|describe|require|console)\b/.test(callee.text)
      )
        continue;
      const kinds = callArguments(node).map(({ type }) => (type === 'template_string' ? 'string' : type));
      if (kinds.length !== cells.length || !kinds.every((kind) => kind === 'string' || kind === 'number'))
        continue;
      calls.set(callee.text, { kinds, count: (calls.get(callee.text)?.count ?? 0) + 1 });
    }
  }
  const [best] = [...calls].toSorted((a, b) => b[1].count - a[1].count);
  if (!best) return null;
  const [name, { kinds }] = best;
  if (cells.some((cell, at) => kinds[at] === 'number' && !/^-?\d+(\.\d+)?$/.test(cell))) return null;
  const args = cells.map((cell, at) =>
    kinds[at] === 'number' ? cell : /^(['"]).*\1$/.test(cell) ? cell : JSON.stringify(cell),
  );
  return `${name}(${args.join(', ')})`;
}
