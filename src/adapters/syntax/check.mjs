// Runs inside the sandbox: parses each named file and prints what does not parse. Never executes them.
// stdin: JSON array of paths relative to the current directory; stdout: JSON array of { path, sure, line?, message }.
// `sure` says where trouble counts: `always`, `if-it-parsed` (where the file's own base version has none), `never`. The
// rule is to call no valid file broken: whatever one parser of its language accepts is fine, and trouble of ours is no
// answer.
import { lstatSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { openGrammars } from './grammars.mjs';
import { ALWAYS, COMPONENT, extensionByProgram, GRAMMARS, NEVER, PYTHON, TYPESCRIPT } from './languages.mjs';
import { asJavaScript, asJson, asPython, asShell, asTypeScript } from './parsers.mjs';
import { troubleIn } from './troubles.mjs';

const MAX_CHARACTERS = 300;
const MAX_BYTES = 2 << 20;
/** Marks of templates, whose files are of no language yet; `{{` alone is common in some. */
const TEMPLATE = /\{\{|\{%|<%/;
const TEMPLATE_OF_CODE = /\{\{ |\{%|<%/;
const TEMPLATE_OF_COMPONENTS = /\{%|<%/;

const grammars = openGrammars();

async function byGrammar(language, text) {
  const { grammar, sure, newer, counts, prepare = (same) => same } = language;
  const trouble = await grammars.read(grammar, prepare(text), troubleIn);
  if (trouble === null || !counts(text, trouble.loose)) return null;
  const template = language === COMPONENT ? TEMPLATE_OF_COMPONENTS : TEMPLATE_OF_CODE;
  const { line, message } = trouble;
  return { line, message, sure: template.test(text) || newer.test(text) ? NEVER : sure };
}

const byParser = (text, trouble) => trouble && { ...trouble, sure: TEMPLATE.test(text) ? NEVER : ALWAYS };

async function javascript(text) {
  const trouble = byParser(text, asJavaScript(text));
  if (trouble === null) return null;
  if (/@flow/.test(text)) return { ...trouble, sure: NEVER };
  return /<\/|\/>/.test(text) ? byGrammar(COMPONENT, text) : trouble;
}

async function python(text, answer) {
  if (answer === null) return null;
  const second = await byGrammar(PYTHON, text);
  if (answer === undefined) return second;
  const trouble = byParser(text, answer);
  // What one version of Python rejects may be right in another one; how code is indented is the same in all.
  return second || /^(Indentation|Tab)Error/.test(trouble.message) ? trouble : { ...trouble, sure: NEVER };
}

/** Declarations of types may leave out values, which Node's parser asks for. */
async function typescript(path, text) {
  const trouble = byParser(text, asTypeScript(text));
  return trouble && /\.d\.[cm]?ts$/.test(path) && !(await byGrammar(TYPESCRIPT, text)) ? null : trouble;
}

/** What is wrong with a file, `{ line?, message, sure }`, or null. */
async function troubleOf({ path, extension, text }, answers) {
  switch (extension) {
    case '.js':
    case '.mjs':
    case '.cjs':
      return javascript(text);
    case '.ts':
    case '.mts':
    case '.cts':
      return typescript(path, text);
    case '.json':
      return byParser(text, asJson(text));
    case '.py':
    case '.pyi':
      return python(text, answers.get(path));
    case '.sh':
    case '.bash':
      return byParser(text, asShell({ path, text }));
    default:
      return Object.hasOwn(GRAMMARS, extension) ? byGrammar(GRAMMARS[extension], text) : null;
  }
}

/** The text of a file that is worth parsing; null for links, big files, and what is no UTF-8 text. */
function textOf(path) {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat?.isFile() || stat.size > MAX_BYTES) return null;
  const text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  return /[\0\uFFFD]/.test(text) ? null : text;
}

/** Without an extension, the first line says what the file is. */
function fileAt(path) {
  const text = textOf(path);
  return text === null ? null : { path, text, extension: extname(path) || extensionByProgram(text) };
}

const paths = JSON.parse(readFileSync(0, 'utf8'));
const isPython = (path) => /^\.pyi?$/.test(fileAt(path)?.extension ?? '');
const answers = asPython(paths.filter(isPython));
const found = [];
for (const path of paths) {
  const file = fileAt(path);
  const trouble = file && (await troubleOf(file, answers));
  if (!trouble) continue;
  const message = /^<{7} /m.test(file.text) ? 'marks of a merge conflict' : trouble.message;
  found.push({ path, ...trouble, message: message.slice(0, MAX_CHARACTERS) });
}
process.stdout.write(JSON.stringify(found));
