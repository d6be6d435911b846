'use strict';
// Loaded by load.cjs before any other code, in other surroundings only. Keeps the functions of assertion
// libraries what they are: a write to one by code of the repository has no effect and is recorded, with its place. Of
// built-in functions that assertions rest on, replacements are recorded. One file of JSON lines per process or thread:
// `["changed", name, text, places, locked]`, `["wrote", name, text]` by installed packages alone, `["source", library,
// hash]`, `["used", library, file]`, `["ended", program]`, `["capped", kind]` if records of a kind are not complete
// (core/evidence/assertion-records.ts). Whatever goes wrong here must not reach the program: it is a record less.

const { createHash } = require('node:crypto');
const { appendFileSync } = require('node:fs');
const Module = require('node:module');
// Older versions of Node have no global one.
const { performance } = require('node:perf_hooks');
const { threadId } = require('node:worker_threads');

// The code under test can replace all of these, so they are kept from the start.
const { apply, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
const { stringify } = JSON;
const { captureStackTrace } = Error;
const { setPrototypeOf } = Object;
const toText = String;
const now = performance.now.bind(performance);
const ErrorClass = Error;
const textOf = Function.prototype.toString;
const { slice, split, includes } = String.prototype;
const { exec } = RegExp.prototype;

const LOADER = `${__dirname}/load.cjs`;
const MAX_TEXT = 300;
/** Records of each kind. */
const MAX_RECORDS = 200;
/** Milliseconds between two comparisons while assertions are used. */
const PAUSE_MS = 20;
const PROGRAM = process.argv[1] ?? 'node';
/** Made before the tests: another home folder, of a program that a test starts, stays as it is. */
const FOLDER = `${process.env.HOME}/.cache/checks`;
const FILE = `${FOLDER}/${process.pid}-${threadId}-${Math.random().toString(36).slice(2)}.jsonl`;

// Plain objects and counting loops: the methods of lists, maps and sets may be replaced, too.
const written = { __proto__: null };
const counts = { __proto__: null };
/** A record could not be written. */
let isLost = false;
function record(...line) {
  let text = '';
  for (let i = 0; i < line.length; i += 1)
    text += `${i === 0 ? '' : ','}${typeof line[i] === 'object' ? listed(line[i]) : stringify(line[i])}`;
  if (text in written) return;
  const count = counts[line[0]] ?? 0;
  if (count >= MAX_RECORDS) {
    if (line[0] !== 'capped') record('capped', line[0]);
    return;
  }
  try {
    appendFileSync(FILE, `[${text}]\n`);
    written[text] = true;
    counts[line[0]] = count + 1;
  } catch {
    isLost = true;
  }
}

function listed(list) {
  let text = '';
  for (let i = 0; i < list.length; i += 1) text += `${i === 0 ? '' : ','}${stringify(list[i])}`;
  return `[${text}]`;
}

function shown(value) {
  try {
    return apply(slice, apply(textOf, value, []), [0, MAX_TEXT]);
  } catch {
    return typeof value;
  }
}

const FRAME = /(?:\(|at |async )(?:file:\/\/)?(\/[^()]*):(\d+):\d+\)?$/;

/** The files on the stack, innermost first, without these two. */
function frames() {
  const holder = {};
  const { prepareStackTrace, stackTraceLimit } = ErrorClass;
  try {
    ErrorClass.prepareStackTrace = undefined;
    ErrorClass.stackTraceLimit = 60;
    captureStackTrace(holder, frames);
    const found = [];
    const lines = apply(split, `${holder.stack}`, ['\n']);
    for (let i = 0; i < lines.length; i += 1) {
      const match = apply(exec, FRAME, [lines[i]]);
      if (match && match[1] !== __filename && match[1] !== LOADER)
        found[found.length] = { path: match[1], number: match[2] };
    }
    return found;
  } finally {
    ErrorClass.prepareStackTrace = prepareStackTrace;
    ErrorClass.stackTraceLimit = stackTraceLimit;
  }
}

const isPackage = ({ path }) => apply(includes, path, ['/node_modules/']);

const MAX_PLACES = 8;
const FILE_OF = /^(.*):\d+$/;

/** The places in the repository from which a write comes; null if installed packages write on their own. */
function writers() {
  let found;
  try {
    found = frames();
  } catch {
    // The code under test may have frozen `Error`.
    record('capped', 'used');
    return [];
  }
  const places = [];
  for (let i = 0; i < found.length && places.length < MAX_PLACES; i += 1)
    if (!isPackage(found[i])) places[places.length] = `${found[i].path}:${found[i].number}`;
  return found.length > 0 && places.length === 0 ? null : places;
}

/** How often the stack is read to learn which files of the repository use a library. */
const MAX_LOOKS = 1_000;
const looks = { __proto__: null };
let last = 0;
function use(library) {
  const looked = looks[library] ?? 0;
  if (looked < MAX_LOOKS) {
    looks[library] = looked + 1;
    const places = writers();
    if (places !== null && places.length > 0) record('used', library, apply(exec, FILE_OF, [places[0]])[1]);
  } else if (looked === MAX_LOOKS) {
    looks[library] = looked + 1;
    record('capped', 'used');
  }
  if (now() - last < PAUSE_MS) return;
  compare();
  last = now();
}

/** What the key of an object holds now; of a getter, the getter. */
function held(object, key) {
  const found = getOwnPropertyDescriptor(object, key);
  return found && ('value' in found ? found.value : found.get);
}

const watched = [];
function watch(name, object, key) {
  const value = held(object, key);
  if (typeof value === 'function') watched[watched.length] = { name, object, key, value };
}

function compare() {
  for (let i = 0; i < watched.length; i += 1) {
    const { name, object, key, value } = watched[i];
    try {
      const current = held(object, key);
      if (current !== value) record('changed', name, shown(current), [], false);
    } catch {
      record('capped', 'changed');
    }
  }
}

/** Replaces a property by one that only installed packages can write. */
function lock(library, object, key, value) {
  const name = `${library}.${toText(key)}`;
  let current = value;
  defineProperty(object, key, {
    enumerable: getOwnPropertyDescriptor(object, key)?.enumerable ?? true,
    configurable: false,
    get() {
      try {
        use(library);
      } catch {
        isLost = true;
      }
      return current;
    },
    set(next) {
      // An object that inherits from this one gets a property of its own.
      if (this !== object && this !== undefined)
        return void defineProperty(this, key, {
          value: next,
          writable: true,
          enumerable: true,
          configurable: true,
        });
      if (next === current) return;
      const places = writers();
      if (places === null) {
        current = next;
        record('wrote', name, shown(next));
      } else record('changed', name, shown(next), places, true);
    },
  });
}

const NOT_LOCKED = new Set(['prototype', 'constructor', 'length', 'name', 'arguments', 'caller', 'super_']);

function lockAll(library, object, depth) {
  if (seen.has(object)) return;
  seen.add(object);
  for (const key of ownKeys(object)) {
    const found = getOwnPropertyDescriptor(object, key);
    if (NOT_LOCKED.has(key) || !found) continue;
    if ('value' in found && typeof found.value === 'function') {
      if (found.configurable) lock(library, object, key, found.value);
      if (depth > 0) lockFunction(`${library}.${toText(key)}`, found.value, depth - 1);
    } else if (found.get && found.configurable) watch(`${library}.${toText(key)}`, object, key);
  }
}
const seen = new Set();

function lockFunction(name, value, depth) {
  lockAll(name, value, depth);
  if (value.prototype && typeof value.prototype === 'object') lockAll(name, value.prototype, 0);
}

/** What installed packages add to these assertions later is locked, too. */
function lockAdditions(library, prototype) {
  const above = new Proxy(getPrototypeOf(prototype), {
    set(_, key, value, receiver) {
      const isAddition = receiver === prototype && typeof value === 'function' && writers() === null;
      if (isAddition) lock(library, prototype, key, value);
      else defineProperty(receiver, key, { value, writable: true, enumerable: true, configurable: true });
      return true;
    },
  });
  setPrototypeOf(prototype, above);
}

/** Called at the end of a library's own source. */
function library(name, exported) {
  try {
    lockLibrary(name, exported);
  } catch {
    isLost = true;
  }
}

function lockLibrary(name, exported) {
  const value = exported?.default && ownKeys(exported).length <= 2 ? exported.default : exported;
  if (typeof value === 'function') lockFunction(name, value, 1);
  else if (typeof value === 'object' && value !== null) {
    // The names of an ES module cannot be written; what they hold can.
    if (value[Symbol.toStringTag] === 'Module') {
      for (const key of ownKeys(value))
        if (typeof value[key] === 'function') lockFunction(`${name}.${toText(key)}`, value[key], 1);
    } else lockAll(name, value, 1);
  }
  const matchers = globalThis[Symbol.for('$$jest-matchers-object')]?.matchers;
  if (matchers) lockAll('expect.matchers', matchers, 0);
  const { Assertion } = value;
  if (name === 'chai' && typeof Assertion === 'function')
    lockAdditions(`${name}.Assertion`, Assertion.prototype);
}

const LIBRARIES =
  /\/node_modules\/(chai|expect|tape|uvu|jasmine-core|power-assert|should|must|expect\.js|ava|tap|@tapjs\/asserts|unexpected|referee)\/(?!.*\/node_modules\/)/;
const ENTRIES =
  /\/(?:chai\/(?:index|chai|lib\/chai)\.[cm]?js|expect\/(?:build\/)?index\.js|tape\/lib\/test\.js|uvu\/assert\/index\.m?js|power-assert\/index\.js|should\/(?:cjs\/should|index)\.js|must\/must\.js|expect\.js\/index\.js|ava\/lib\/assert\.js|@tapjs\/asserts\/dist\/(?:commonjs|esm)\/index\.js|unexpected\/lib\/index\.js)$/;

const JEST = /\/node_modules\/jest-circus\/(?:build\/)?runner\.js$/;

/** jest loads its assertions anew for each test file, in a context of its own: they are locked once they are there. */
function jestRunner(exported) {
  const run = exported?.default ?? exported;
  if (typeof run !== 'function') return exported;
  const running = (globalConfig, config, environment, ...more) => {
    const { handleTestEvent } = environment;
    environment.handleTestEvent = (event, state) => {
      try {
        const matchers = environment.global[Symbol.for('$$jest-matchers-object')]?.matchers;
        if (event.name === 'setup' && matchers) lockAll('expect', matchers, 0);
      } catch {
        isLost = true;
      }
      return handleTestEvent?.call(environment, event, state);
    };
    return run(globalConfig, config, environment, ...more);
  };
  if (exported === run) return running;
  exported.default = running;
  return exported;
}

/** The line that is added to the source of an assertion library; null for another module. */
function lineFor(path, url, format) {
  const me = stringify(__filename);
  if (JEST.test(path)) return ['jest', `;module.exports = require(${me}).jestRunner(module.exports);`];
  const [, name] = LIBRARIES.exec(path) ?? [];
  if (!name || !ENTRIES.test(path)) return null;
  const own = stringify(name);
  return format === 'module'
    ? [
        name,
        `import * as $own from ${stringify(url)}; import $locked from ${me}; $locked.library(${own}, $own);`,
      ]
    : [name, `;require(${me}).library(${own}, module.exports);`];
}

/** Adds a line to the source of assertion libraries, as far as this version of Node can. */
function hookLibraries() {
  Module.registerHooks?.({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      try {
        return withLine(loaded, url);
      } catch {
        isLost = true;
        return loaded;
      }
    },
  });
}

function withLine(loaded, url) {
  const [name, line] = (loaded.source && lineFor(url.replace(/[?#].*$/, ''), url, loaded.format)) || [];
  if (!name) return loaded;
  const source = Buffer.from(loaded.source).toString();
  record('source', name, createHash('sha256').update(source).digest('hex'));
  return { ...loaded, source: `${source}\n${line}\n` };
}

/** Functions on which assertions and runners rest. */
function watchBuiltIns() {
  const classes = { Array, Object, Function, String, Number, Boolean, Symbol, RegExp, Map, Set, Promise };
  const errors = { Error, TypeError, RangeError, SyntaxError };
  for (const [name, value] of Object.entries({ ...classes, ...errors })) {
    watch(name, globalThis, name);
    const key = Symbol.hasInstance;
    if (!held(value, key))
      watched[watched.length] = { name: `${name}[Symbol.hasInstance]`, object: value, key, value: undefined };
    for (const key of ownKeys(value))
      if (key !== 'prepareStackTrace') watch(`${name}.${toText(key)}`, value, key);
    for (const key of ownKeys(value.prototype))
      watch(`${name}.prototype.${toText(key)}`, value.prototype, key);
  }
  for (const [name, value] of Object.entries({ JSON, Reflect })) {
    for (const key of ownKeys(value)) watch(`${name}.${toText(key)}`, value, key);
  }
  for (const key of ['exit', 'reallyExit', 'abort', 'kill']) watch(`process.${key}`, process, key);
  for (const key of ['Proxy', 'globalThis']) watch(key, globalThis, key);
  for (const key of ['_load', '_resolveFilename', '_compile', 'register', 'registerHooks'])
    watch(`Module.${key}`, Module, key);
  for (const key of ['require', '_compile', 'load']) watch(`Module.prototype.${key}`, Module.prototype, key);
}

function begin() {
  watchBuiltIns();
  const assert = require('node:assert');
  lockFunction('assert', assert, 0);
  lockFunction('assert.strict', assert.strict, 0);
  if (assert.AssertionError) lockAll('assert.AssertionError', assert.AssertionError.prototype, 0);
  const util = require('node:util');
  lock('util', util, 'isDeepStrictEqual', util.isDeepStrictEqual);
  hookLibraries();
  process.on('exit', () => {
    compare();
    if (isLost) record('capped', 'all');
    if (threadId === 0) record('ended', PROGRAM);
  });
}

module.exports = { jestRunner, library };
begin();
