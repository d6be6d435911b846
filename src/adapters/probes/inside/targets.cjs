'use strict';
// Wraps what a test file imports from the repository. In the mode `calls`, each call with plain arguments is followed
// by calls of the same function with other arguments.

const { makeInstances } = require('./instances.cjs');
const { similarValues } = require('./mutate.cjs');
const { copied, isPlainData } = require('./plain.cjs');
const { observedError, observedValue } = require('./serialise.cjs');
const { isLocked, isThenable } = require('./shims.cjs');
const { changedTogether } = require('./together.cjs');

const MAX_CALLS_PER_CASE = 40;
const MIN_LIKE_A_CALL = 8;
const MAX_LIKE_A_CALL = 32;
const MAX_PER_FILE = 1200;
const MAX_ELSEWHERE = 8;
const MAX_SHOWN = 160;

/** @param probe the object that `open` in observe.cjs created: `current()`, `pool`, `cases`, `binding()` */
function makeTargets(probe) {
  const wrapped = new WeakMap();
  /** By name: functions of the repository, with the objects that they are called on. */
  const functions = new Map();
  const state = { inside: false };
  const { classes, history, remember, followed, finalStates, raw } = makeInstances(probe.current, state);
  const done = new Set();
  const fair = Math.floor(MAX_PER_FILE / 2 / Math.max(1, probe.cases));
  const likes = Math.max(MIN_LIKE_A_CALL, Math.min(MAX_LIKE_A_CALL, fair));
  let made = 0;

  /**
   * Similar arguments: first with related values changed together, then with one of them changed, preferably to what
   * the same function got elsewhere.
   */
  function* argumentsLike(name, args, known) {
    for (const changed of changedTogether(args)) yield { args: changed, light: true };
    const others = args.map((value, at) => {
      const elsewhere = known.map((each) => each[at]?.value).filter((each) => each !== undefined);
      const alike = similarValues(value, probe.pool, `${name}|${at}`);
      return [...elsewhere.slice(-MAX_ELSEWHERE).map((other) => ({ value: other, light: true })), ...alike];
    });
    const longest = Math.max(0, ...others.map((each) => each.length));
    for (let nth = 0; nth < longest; nth += 1) {
      for (let at = 0; at < args.length; at += 1) {
        const other = others[at][nth];
        if (other) yield { args: Object.assign([...args], { [at]: other.value }), light: other.light };
      }
    }
  }

  function callOthers(context, name, call, args, known) {
    if (made >= MAX_PER_FILE || context.calls >= MAX_CALLS_PER_CASE) return;
    context.calls += 1;
    let count = 0;
    for (const other of argumentsLike(name, args, known)) {
      if (count >= likes || made >= MAX_PER_FILE) return;
      const shown = `${name}(${other.args.map((each) => observedValue(each).text).join(', ')})`;
      if (!observeOnce(context, shown, other.light ? 1 : 0, () => call(copied(other.args)))) continue;
      count += 1;
      made += 1;
    }
  }

  /** Makes one further call and records its result, unless the same call was made before. */
  function observeOnce(context, shown, weight, call) {
    if (done.has(shown) || context.avoids(shown)) return false;
    done.add(shown);
    const text = shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}…` : shown;
    const note = (seen) => context.called(shown, text, seen, weight);
    const failed = (error) => note(observedError(error));
    const value = (result) => note(observedValue(result));
    context.mark(shown);
    const before = state.inside;
    state.inside = true;
    try {
      const result = call();
      if (isThenable(result)) context.wait(Promise.resolve(result).then(value, failed));
      else value(result);
    } catch (error) {
      failed(error);
    } finally {
      state.inside = before;
    }
    return true;
  }

  /** Makes the real call, then, in the mode `calls`, similar ones. Calls that these make in turn are not followed. */
  function around(name, args, real, other) {
    const context = probe.current();
    if (context?.mode !== 'calls' || state.inside) return real();
    const known = remember(name, args);
    if (!isPlainData(args)) return real();
    const before = copied(args);
    try {
      return real();
    } finally {
      callOthers(context, name, other, before, known);
    }
  }

  function instance(name, fn, args, newTarget) {
    if (!classes.has(name)) classes.set(name, { value: fn, recipes: [] });
    const make = () => Reflect.construct(fn, args.map(raw), newTarget);
    const others = (given) => described(Reflect.construct(fn, given));
    return followed(name, args, around(`new ${name}`, args, make, others));
  }

  function target(name, value) {
    if (!isTarget(value)) return value;
    const known = wrapped.get(value);
    if (known) return known;
    list(name, value);
    const proxy = new Proxy(value, {
      apply(fn, self, args) {
        const real = () => Reflect.apply(fn, self, args.map(raw));
        return around(name, args, real, (others) => Reflect.apply(fn, self, others));
      },
      construct(fn, args, newTarget) {
        if (newTarget !== proxy) return Reflect.construct(fn, args.map(raw), newTarget);
        return instance(name, fn, args, fn);
      },
      get(owner, key, receiver) {
        const found = Reflect.get(owner, key, receiver === proxy ? owner : receiver);
        const plain = typeof key === 'symbol' || key === 'prototype' || typeof found !== 'function';
        if (plain || isLocked(owner, key)) return found;
        return probe.binding(name === '' ? key : `${name}.${key}`, found, key);
      },
    });
    wrapped.set(value, proxy);
    return proxy;
  }

  /** Records a function, a class, or the functions of a module that no test may have called. */
  function list(name, value) {
    if (isClass(value)) classes.set(name, { value, recipes: [] });
    else if (typeof value === 'function') functions.set(name, { value });
    else
      for (const key of functionsOf(value))
        functions.set(name === '' ? key : `${name}.${key}`, { value: value[key], self: value });
  }

  return { target, finalStates, observeOnce, history, classes, functions };
}

const isClass = (fn) => typeof fn === 'function' && /^class\b/.test(Function.prototype.toString.call(fn));

/** Names of a module's functions that are not classes, without getters. */
const functionsOf = (owner) =>
  Object.keys(owner)
    .sort()
    .filter((key) => {
      if (isLocked(owner, key) || Object.getOwnPropertyDescriptor(owner, key).get) return false;
      return typeof owner[key] === 'function' && !isClass(owner[key]);
    });

/** An instance's own text representation; its fields are private. */
function described(instance) {
  const own = Object.getPrototypeOf(instance)?.toString;
  return typeof own === 'function' && own !== Object.prototype.toString ? String(instance) : 'made';
}

/** Functions, and exports of a module: plain objects and ES namespaces that contain functions. */
function isTarget(value) {
  if (typeof value === 'function') return true;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  if (Object.prototype.toString.call(value) === '[object Module]') return true;
  const prototype = Object.getPrototypeOf(value);
  const plain = prototype === null || Object.getPrototypeOf(prototype) === null;
  return plain && Object.values(value).some((each) => typeof each === 'function');
}

module.exports = { makeTargets };
