// The parsers that languages have of their own: Node's for JavaScript, TypeScript and JSON, python3, bash and sh.
import { spawnSync } from 'node:child_process';
import { stripTypeScriptTypes } from 'node:module';
import { extname } from 'node:path';
import vm from 'node:vm';
import { interpreter } from './languages.mjs';

const COMMAND_MS = 20_000;
/** Starts of python3, which a hostile file may end. */
const MAX_RUNS = 3;
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

export const asTypeScript = (text) =>
  said(() => stripTypeScriptTypes(text, { mode: 'transform', sourceUrl: 'text' }));
const asExpression = (text) => said(() => new vm.Script(`(${text}\n)`, { filename: 'text' }));
function asCommonJs(text) {
  const body = text.replace(/^#!/, '//');
  return said(() => vm.compileFunction(body, COMMONJS, { filename: 'text' }));
}

export function asJavaScript(text) {
  const trouble = asCommonJs(text);
  if (trouble === null) return null;
  // Without the flag for it there is no such class, and the next parser, which takes longer to start, is asked.
  if (vm.SourceTextModule && said(() => new vm.SourceTextModule(text)) === null) return null;
  // A superset of modules, and of most of what bundlers strip.
  const asModule = asTypeScript(text);
  if (asModule === null) return null;
  return /^[ \t]*(import|export)\b/m.test(text) ? asModule : trouble;
}

// Many tools read comments and trailing commas in files named .json; all such dialects are JavaScript expressions.
export function asJson(text) {
  const trouble = said(() => JSON.parse(text));
  return trouble && asExpression(text) ? trouble : null;
}

/** Answers line by line, so that what was said before a file that it cannot survive counts. */
const PYTHON = `
import ast, json, sys, warnings
warnings.simplefilter('ignore')
for path in json.load(sys.stdin):
    answer = {'path': path}
    try:
        with open(path, 'rb') as file:
            ast.parse(file.read(), path)
    except SyntaxError as error:
        answer['trouble'] = {'message': f'{type(error).__name__}: {error.msg}'}
        if error.lineno:
            answer['trouble']['line'] = error.lineno
    except Exception:
        pass
    print(json.dumps(answer), flush=True)
`;

/** What python3 says of each path, null when it takes the file; a path is missing where there was no answer. */
export function asPython(paths) {
  const answers = new Map();
  let left = paths;
  for (let run = 0; run < MAX_RUNS && left.length > 0; run += 1) {
    const { stdout } = spawnSync('python3', ['-I', '-c', PYTHON], {
      input: JSON.stringify(left),
      encoding: 'utf8',
      timeout: COMMAND_MS,
      maxBuffer: 2 ** 26,
    });
    const lines = stdout?.split('\n').slice(0, -1) ?? [];
    for (const { path, trouble = null } of lines.map((line) => JSON.parse(line))) answers.set(path, trouble);
    // One that it did not survive gets no answer.
    left = left.slice(lines.length + 1);
  }
  return answers;
}

/** What a shell says: null when it takes the file, is missing, or did not come to an end by itself. */
function syntaxErrorOf(command, args) {
  const result = spawnSync(command, args, { encoding: 'utf8', timeout: COMMAND_MS });
  if (result.error || !result.status) return null;
  const message = result.stderr
    .split('\n')
    .find((line) => /syntax error|unexpected|unterminated/i.test(line));
  if (message === undefined) return null;
  const line = /: (?:line )?(\d+): /.exec(message);
  return { message, ...(line ? { line: Number(line[1]) } : {}) };
}

export function asShell({ path, text }) {
  const dialect = interpreter(text) ?? (extname(path) === '.bash' ? 'bash' : null);
  // Shells on Windows take line ends that those on Linux do not.
  if (!['bash', 'sh', 'dash'].includes(dialect) || text.includes('\r\n')) return null;
  const asBash = syntaxErrorOf('bash', ['-n', '--', path]);
  // A script can turn on extended patterns while it runs, and on many systems sh is bash.
  const trouble = asBash && syntaxErrorOf('bash', ['-O', 'extglob', '-n', '--', path]);
  return trouble && dialect !== 'bash' ? syntaxErrorOf('sh', ['-n', '--', path]) : trouble;
}
