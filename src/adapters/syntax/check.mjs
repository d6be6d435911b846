// Runs inside the sandbox: parses each named file and prints what does not parse. Never executes them.
// stdin: JSON array of paths relative to the current directory; stdout: JSON array of { path, line?, message }.
import { spawnSync } from 'node:child_process';
import { lstatSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { extname } from 'node:path';

const MOST_BYTES = 2 << 20;
const read = (path) => readFileSync(path, 'utf8');

function byCommand(command, args) {
  const result = spawnSync(command, args, { encoding: 'utf8', timeout: 20_000 });
  if (result.error?.code === 'ENOENT' || result.status === 0) return null;
  const text = `${result.stderr}${result.stdout}`;
  const line = /:(\d+)(?::|$)|line (\d+)/m.exec(text);
  const message = text.split('\n').find((l) => /error|Error/.test(l)) ?? text.split('\n')[0];
  return { message, line: line ? Number(line[1] ?? line[2]) : undefined };
}

const javascript = (path) => byCommand(process.execPath, ['--check', path]);
const typescript = (path) => {
  stripTypeScriptTypes(read(path), { mode: 'transform' });
  return null;
};
const json = (path) => {
  // Editors' configuration files allow comments; a tool that minds will say so when it runs.
  if (!/(^|\/)(tsconfig|jsconfig|\.vscode|devcontainer)/.test(path)) JSON.parse(read(path));
  return null;
};
const python = (path) =>
  byCommand('python3', [
    '-I',
    '-c',
    'import ast,sys; ast.parse(open(sys.argv[1],"rb").read(), sys.argv[1])',
    path,
  ]);
const shell = (path) => byCommand('sh', ['-n', path]);

const PARSERS = {
  '.js': javascript,
  '.mjs': javascript,
  '.cjs': javascript,
  '.ts': typescript,
  '.mts': typescript,
  '.cts': typescript,
  '.json': json,
  '.py': python,
  '.sh': shell,
};

const found = [];
for (const path of JSON.parse(readFileSync(0, 'utf8'))) {
  const parse = PARSERS[extname(path)];
  try {
    const stat = lstatSync(path);
    if (!parse || !stat.isFile() || stat.size > MOST_BYTES) continue;
    const trouble = parse(path);
    if (trouble) found.push({ path, ...trouble });
  } catch (thrown) {
    found.push({ path, message: String(thrown?.message ?? thrown).split('\n')[0] });
  }
}
process.stdout.write(JSON.stringify(found));
