import { asserts, findCases } from './cases.ts';
import { fencesOf, indentedCodeIn } from './code-blocks.ts';
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
}

const MAX_EXAMPLES = 16;
const MAX_FENCES = 50;
/** Number of characters after a piece of code in which its result may be. */
const MAX_AFTER = 600;
const EXPECTED =
  /expect(?:ed|ation)?[^:\n`]{0,40}(?::|`)[\s*]*`{0,3}([^`\n]+?)`{0,3}\s*(?:$|\n|,|\.\s)|should (?:be|return|give|print|output|yield)[\s:*]*`([^`\n]+)`/im;

/** An assertion of Runoff's: `__p.same` can compare values whatever library the tests use. */
function same(call: string, words: string): string {
  const value = asValue(words);
  return value === null ? `__p.throws(() => ${call});` : `__p.same(${call}, ${value});`;
}

/** The source of a value in prose: the text itself if it parses as a literal, else a string; null for an error. */
function asValue(words: string): string | null {
  const text = words.trim().replace(/;$/, '');
  if (/^(?:throws?\b|an? (?:error|exception)\b|(?:Uncaught )?(?:\w*Error|Exception)\b)/.test(text))
    return null;
  if (/^(-?\d[\d_]*(\.\d+)?n?|true|false|null|undefined|NaN|-?Infinity)$/.test(text)) return text;
  if (/^(['"`]).*\1$|^\[.*\]$|^\{.*\}$|^new \w+\(|^\//s.test(text))
    return text.startsWith('{') ? `(${text})` : text;
  return JSON.stringify(text);
}

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
  const seen = new Set<string>();
  return found.filter(({ body }) => !seen.has(body) && seen.add(body)).slice(0, MAX_EXAMPLES);
}

async function examplesInCode(code: string, after: string, parse: Parse): Promise<readonly Example[]> {
  const text = withResults(sessionOf(code, withComment));
  const root = await parse('example.ts', text);
  if (!root || root.hasError) return [];
  const cases = findCases(root).cases.filter((each) => each.kind === 'case');
  if (cases.length > 0) {
    return cases.flatMap(({ body }) => {
      const block = body.field('body');
      if (!block) return [];
      return [{ body: block.type === 'statement_block' ? block.text.slice(1, -1) : `${block.text};` }];
    });
  }
  const kept = root.children.filter(
    (each) => each.type !== 'import_statement' && !/^(const|let|var)[^=]*=\s*require\(/.test(each.text),
  );
  const says = kept.some((each) =>
    [...walk(each)].some((node) => node.type === 'call_expression' && asserts(node)),
  );
  const body = kept.map((each) => each.text).join('\n');
  if (says) return [{ body }];
  const last = kept.at(-1)?.text.replace(/;$/, '') ?? '';
  const expected = EXPECTED.exec(after)
    ?.slice(1)
    .find((each) => each !== undefined);
  if (expected === undefined || !/\)$/.test(last) || /^(const|let|var|function|class)\b/.test(last))
    return [];
  const call = /^console\.log\((.*)\)$/s.exec(last)?.[1] ?? last;
  return [
    {
      body: `${kept
        .slice(0, -1)
        .map((each) => each.text)
        .join('\n')}\n${same(call, expected)}`,
    },
  ];
}

/** Calls of a session, `> f(1)` or `>>> f(1)`, each with the next line if that is a result. */
export function sessionOf(code: string, joined: (call: string, result: string) => string): string {
  if (!/^\s*>{1,3} /m.test(code)) return code;
  const lines = code.split('\n');
  return lines
    .flatMap((line, at) => {
      const [, call] = /^\s*>{1,3} (.*)$/.exec(line) ?? [];
      if (call === undefined) return [];
      const next = lines[at + 1] ?? '';
      return next.trim() === '' || /^\s*>/.test(next) ? [call] : [joined(call, next.trim())];
    })
    .join('\n');
}

const withComment = (call: string, result: string): string => `${call.replace(/;$/, '')} // => ${result}`;

const RESULT =
  /^((?:const|let|var)\s+\w+\s*=\s*)?(.+?);?\s*\/\/\s*(?:=>|->|→|⇒|returns?:?|gives?:?|results?(?: in)?:?|output:?|logs?:?|prints?:?|should (?:be|return|equal|give):?|expected:?)\s*(.+?)\s*$/;

/** The same with two results, of which the second is meant: "f(1) // was 1, expected 2". */
const TWO_RESULTS =
  /^((?:const|let|var)\s+\w+\s*=\s*)?(.+?);?\s*\/\/\s*(?:=>|->|(?:was|is|got|gave|gives?|returns?|returned|prints?|printed|logs?|logged|currently|now|actual|actually)\b).*?[\s,;(](?:expected|should (?:be|return|give|equal|print|output)):?\s+(.+?)\s*$/;
/**
 * Longer lines, and those with wider gaps, are read as they are: the patterns take time that grows with the square of the
 * length, and once more with that of a gap.
 */
const MAX_LINE = 1_000;
const WIDE_GAP = /\S\s{20}/;

/** Turns a call with its result in a comment into an assertion. */
function withResults(code: string): string {
  return code
    .split('\n')
    .map((line) => {
      const text = line.trimStart();
      if (line.length > MAX_LINE || !text.includes('//') || WIDE_GAP.test(text)) return line;
      const indent = line.slice(0, line.length - text.length);
      // "returns 1 (should be 2)" is read like "returns 1, should be 2".
      const plain = text.replace(/\(((?:expected|should) .*)\)\s*$/, '$1');
      const found = TWO_RESULTS.exec(plain) ?? RESULT.exec(text) ?? [];
      const [, declaration, call = '', result = ''] = found;
      if (call === '' || asserting(call)) return line;
      const value = result.replace(/\s+(?:\(.*\)|but .*|instead .*|not .*)$/, '');
      const name = /^(?:const|let|var)\s+(\w+)/.exec(declaration ?? '')?.[1];
      const logged = /^console\.log\((.*)\)$/.exec(call)?.[1];
      if (name) return `${indent}${declaration}${call};\n${indent}${same(name, value)}`;
      return `${indent}${same(logged ?? call, value)}`;
    })
    .join('\n');
}

const asserting = (call: string): boolean => /^(assert|expect|t\.|should)/.test(call.trim());

const MAX_WORDS = 60;

/** Quoted parts of the issue: inline code, quoted text, table cells; these are likely inputs. */
export function issueConstants(issue: string): readonly unknown[] {
  const { prose } = fencesOf(issue);
  const quoted = [...prose.matchAll(/`([^`\n]{1,80})`|"([^"\n]{1,80})"|(?<!\w)'([^'\n]{1,80})'(?!\w)/g)].map(
    ([, code, double, single]) => code?.replace(/^(['"])(.*)\1$/, '$2') ?? double ?? single ?? '',
  );
  const cells = [...prose.matchAll(/^\s*\|(.+)\|\s*$/gm)]
    .flatMap(([, row = '']) => row.split('|').map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')))
    .filter((cell) => cell !== '' && cell.length <= 80 && !/^:?-+:?$/.test(cell));
  const numbers = [...prose.matchAll(/(?<![\w.#/-])\d{1,9}(?![\w/-])/g)].map(([number]) => number);
  return [...quoted, ...cells, ...numbers]
    .slice(0, MAX_WORDS)
    .map((word) => (/^-?\d+(\.\d+)?$/.test(word) ? Number(word) : word));
}

/** Matches "`f(1)` returns `2` but should return `3`": the call, the verb, the first value and the rest. */
export const SENTENCE =
  /`([^`\n]{1,200}?\([^`\n]{0,200}\)[^`\n]{0,80})`(?:(?!\.\s)[^`\n]){0,60}?(→|=>|->|⇒|returns?|gives?|yields?|equals?|evaluates? to|becomes?|throws?|should(?: \w+)?|must(?: \w+)?|expected)(?:(?!\.\s)[^`\n]){0,20}`([^`\n]{1,200})`([^`\n]{0,60}`[^`\n]{1,200}`)?/g;
const RATHER =
  /(?:instead of|rather than|but (?:it |this )?(?:should|must)|should|expected|not)[^`\n]*`([^`\n]+)`/;

/** For a match of `SENTENCE`: the call, and its intended value. */
export function meantBy([, call = '', verb = '', first = '', rest = '']: RegExpExecArray) {
  const named = /^(should|must|expected)/.test(verb);
  return { call: call.replace(/;$/, ''), meant: named ? first : (RATHER.exec(rest)?.[1] ?? first) };
}

function inSentences(prose: string): readonly Example[] {
  return [...prose.matchAll(SENTENCE)].flatMap((match) => {
    const { call, meant } = meantBy(match);
    if (asserting(call) || /^(const|let|var|import|function)\b/.test(call)) return [];
    return [{ body: same(call, meant) }];
  });
}

const INPUT = /input|value|phrase|given|number|arg|before|call|string|text|word|from|source/i;
const OUTPUT = /output|result|expect|return|after|should|becomes|answer|^to$/i;

/** Rows of tables with inputs and an output, applied to the function that the tests call with as many literals. */
function inTables(prose: string, sources: readonly { readonly root: Node }[]): readonly Example[] {
  const tables = [...prose.matchAll(/(?:^[ \t]*\|.*\|[ \t]*$\n?){3,}/gm)].map(([table]) =>
    table.trim().split('\n').map(cellsOf),
  );
  return tables.flatMap(([header = [], rule = [], ...rows]) => {
    if (!rule.every((cell) => /^:?-+:?$/.test(cell))) return [];
    const output = header.findIndex((cell) => OUTPUT.test(cell));
    if (output < 0 || output === 0) return [];
    const inputs = header.flatMap((cell, at) =>
      at !== output && (INPUT.test(cell) || header.length === 2) ? [at] : [],
    );
    return rows.flatMap((row): readonly Example[] => {
      const cells = inputs.map((at) => row[at] ?? '');
      const value = row[output];
      if (cells.length === 0 || value === undefined) return [];
      const [call = ''] = cells;
      if (cells.length === 1 && /^`[\w.]+\(.*\)`$/.test(call))
        return [{ body: same(bare(call), bare(value)) }];
      const made = callWith(cells.map(bare), sources);
      return made === null ? [] : [{ body: same(made, bare(value)) }];
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
