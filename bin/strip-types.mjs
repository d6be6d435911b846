// Loaded before Runoff's sources. Node strips their types by itself, but then keeps the program that does it, which is 25 MB,
// for as long as the process runs; and it strips none below a folder `node_modules`, where Runoff may be installed. So another
// process strips them all, with the same function of Node: lines and columns stay. docs/decisions/0233-memory-of-the-app.md
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('..', import.meta.url);
/** Milliseconds after which what is loaded at a start has been loaded. */
const SETTLED_MS = 5_000;

function printedSources() {
  const program = fileURLToPath(new URL('bin/stripped-sources.mjs', ROOT));
  const { status, stdout } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--', program],
    // Not in the folder of the start, which may be a stranger's.
    { cwd: fileURLToPath(ROOT), env: {}, maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'ignore'] },
  );
  return status === 0 ? stdout : Buffer.alloc(0);
}

/** Texts by address. */
function strippedSources(printed) {
  const sources = new Map();
  for (let at = 0; at < printed.length; ) {
    const text = printed.indexOf('\n', at) + 1;
    const [length, path] = printed.toString('utf8', at, text - 1).split(/ (.*)/s);
    at = text + Number(length);
    sources.set(new URL(path, ROOT).href, printed.subarray(text, at));
  }
  return sources;
}

const sources = strippedSources(printedSources());

// A part of the buffer keeps all of it. What is not loaded by now is a tenth, and most of it never is.
setTimeout(() => {
  for (const [url, text] of sources) sources.set(url, Buffer.from(text));
}, SETTLED_MS).unref();

/** Each source is loaded once. */
function take(url) {
  const text = sources.get(url)?.toString();
  sources.delete(url);
  return text;
}

registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith(ROOT.href) || !url.endsWith('.ts')) return nextLoad(url, context);
    const source = take(url) ?? stripTypeScriptTypes(readFileSync(new URL(url), 'utf8'));
    return { format: 'module', source, shortCircuit: true };
  },
});
