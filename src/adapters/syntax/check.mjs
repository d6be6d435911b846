// Runs inside the sandbox: parses each named file and prints what does not parse. Never executes them.
// stdin: JSON array of paths relative to the current directory; stdout: JSON array of { path, sure, line?, message }.
// `sure` is false where the file may be of a dialect that we have no parser for (JSX, Flow, templates): the rule is to
// call no valid file broken, so whatever one parser of its language accepts is fine, and trouble of ours is no answer.
import { spawnSync } from 'node:child_process';
import { lstatSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { basename, extname } from 'node:path';
import { compileFunction, Script } from 'node:vm';

const MOST_BYTES = 2 << 20;
const COMMAND_MS = 20_000;
const MOST_CHARACTERS = 300;
const COMMONJS = ['exports', 'require', 'module', '__filename', '__dirname'];

/** What a parser in this process says: null when it takes the text. Its own limits, such as depth, are no answer. */
function said(parse) {
  try {
    parse();
    return null;
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) return null;
    const line = /^text:(\d+)/.exec(thrown.stack ?? '');
    return { message: thrown.message.split('\n')[0], ...(line ? { line: Number(line[1]) } : {}) };
  }
}

/** What a command says: null when it takes the file, is missing, or did not come to an end by itself. */
function saidBy(command, args, complaint) {
  const result = spawnSync(command, args, { encoding: 'utf8', timeout: COMMAND_MS });
  if (result.error || !result.status) return null;
  const message = result.stderr.split('\n').find((line) => complaint.test(line));
  if (message === undefined) return null;
  // Python names the place last, after its own calls; shells name it in the message.
  const line = /: (?:line )?(\d+): /.exec(message) ?? [...result.stderr.matchAll(/, line (\d+)/g)].at(-1);
  return { message, ...(line ? { line: Number(line[1]) } : {}) };
}

const asTypeScript = (text) =>
  said(() => stripTypeScriptTypes(text, { mode: 'transform', sourceUrl: 'text' }));
const asExpression = (text) => said(() => new Script(`(${text}\n)`, { filename: 'text' }));
function asCommonJs(text) {
  const body = text.replace(/^#!/, '//');
  return said(() => compileFunction(body, COMMONJS, { filename: 'text' }));
}

function javascript({ text }) {
  const trouble = asCommonJs(text);
  if (trouble === null) return null;
  // A superset of modules, and of most of what bundlers strip.
  const asModule = asTypeScript(text);
  if (asModule === null) return null;
  const sure = !/<\/|\/>|@flow/.test(text);
  return { ...(/^\s*(import|export)\b/m.test(text) ? asModule : trouble), sure };
}

// Many tools read comments and trailing commas in files named .json; all such dialects are JavaScript expressions.
const json = ({ text }) => {
  const trouble = said(() => JSON.parse(text));
  return trouble && asExpression(text) ? trouble : null;
};

const PARSE_PYTHON = 'import ast,sys; ast.parse(open(sys.argv[1],"rb").read(), sys.argv[1])';
const python = ({ path }) =>
  saidBy('python3', ['-I', '-c', PARSE_PYTHON, path], /^(Syntax|Indentation|Tab)Error/);

/** Name of the program in the first line, without its folder and options; null when there is none. */
function interpreter(text) {
  const [, words] = /^#!(.*)/.exec(text) ?? [];
  const last = words
    ?.trim()
    .split(/\s+/)
    .findLast((word) => !word.startsWith('-'));
  return last ? basename(last) : null;
}

function shell({ path, text }) {
  const dialect = interpreter(text) ?? (extname(path) === '.bash' ? 'bash' : null);
  // Shells on Windows take line ends that those on Linux do not.
  if (!['bash', 'sh', 'dash'].includes(dialect) || text.includes('\r\n')) return null;
  const complaint = /syntax error|unexpected|unterminated/i;
  const asBash = saidBy('bash', ['-n', '--', path], complaint);
  // A script can turn on extended patterns while it runs, and on many systems sh is bash.
  const trouble = asBash && saidBy('bash', ['-O', 'extglob', '-n', '--', path], complaint);
  return trouble && dialect !== 'bash' ? saidBy('sh', ['-n', '--', path], complaint) : trouble;
}

const PARSERS = {
  '.js': javascript,
  '.mjs': javascript,
  '.cjs': javascript,
  '.ts': ({ text }) => asTypeScript(text),
  '.mts': ({ text }) => asTypeScript(text),
  '.cts': ({ text }) => asTypeScript(text),
  '.json': json,
  '.py': python,
  '.sh': shell,
  '.bash': shell,
};

/** The text of a file that is worth parsing; null for links, big files, and what is no UTF-8 text. */
function textOf(path) {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat?.isFile() || stat.size > MOST_BYTES) return null;
  const text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  return /[\0\uFFFD]/.test(text) ? null : text;
}

const found = [];
for (const path of JSON.parse(readFileSync(0, 'utf8'))) {
  const parse = PARSERS[extname(path)];
  const text = parse ? textOf(path) : null;
  const trouble = text === null ? null : parse({ path, text });
  if (trouble === null) continue;
  const template = /\{\{|\{%|<%/.test(text);
  found.push({
    path,
    ...trouble,
    message: trouble.message.slice(0, MOST_CHARACTERS),
    sure: trouble.sure !== false && !template,
  });
}
process.stdout.write(JSON.stringify(found));
