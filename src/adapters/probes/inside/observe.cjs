'use strict';
// Loaded by derived test files. Runs each of their cases several times: unchanged (`check`), recording values instead
// of asserting (`look`), with further calls (`calls`), and with one literal changed (`l<literal>.<choice>`). The
// results go to the recorder; the test runner sees every case pass.

const { AsyncLocalStorage } = require('node:async_hooks');
const { isDeepStrictEqual } = require('node:util');
const { Context } = require('./context.cjs');
const { explore } = require('./explore.cjs');
const { makeGuards } = require('./guards.cjs');
const { similarValues } = require('./mutate.cjs');
const { openRecorder } = require('./recorder.cjs');
const { observedValue } = require('./serialise.cjs');
const { assertShim, expectShim, isThenable, look, looksLikeT } = require('./shims.cjs');
const { makeTargets } = require('./targets.cjs');

/** Variants with a changed literal: for all registrations of one case together, and for each after the first. */
const MAX_CHANGES = 80;
const MAX_CHANGES_AGAIN = 12;
/** Registrations of one case, as in a loop over a table, that are followed by further calls. */
const MAX_FOLLOWED = 40;
const TEST_WORDS =
  /^(describe|suite|context|it|test|specify|before|after|beforeEach|afterEach|beforeAll|afterAll|x?test|x?it|xdescribe|fit|vi|jest|sinon|mock)$/;

const isSame = (actual, expected) =>
  isDeepStrictEqual(actual, expected) || observedValue(actual).text === observedValue(expected).text;

/** The variants of a case, according to the plan that derive made for its literals. */
function makeVariants(file, cases) {
  const registrations = new Map();
  const spent = new Map();
  return (id) => {
    if (id === 'explore') return [{ key: `${file}.explore.0.explore`, mode: 'explore' }];
    const nth = registrations.get(id) ?? 0;
    registrations.set(id, nth + 1);
    const used = spent.get(id) ?? 0;
    const most = nth === 0 ? MAX_CHANGES : Math.min(MAX_CHANGES_AGAIN, MAX_CHANGES - used);
    const changes = (cases[id]?.changes ?? []).slice(0, Math.max(0, most));
    spent.set(id, used + changes.length);
    const key = `${file}.${id}.${nth}`;
    return [
      { key: `${key}.check`, mode: 'check' },
      { key: `${key}.look`, mode: 'look' },
      ...(nth < MAX_FOLLOWED ? [{ key: `${key}.calls`, mode: 'calls' }] : []),
      ...changes.map(([literal, choice]) => ({
        key: `${key}.l${literal}.${choice}`,
        mode: 'change',
        change: { literal, choice },
      })),
    ];
  };
}

/**
 * Replaces randomness and the exit of the process for the cases: the first differs between runs, the second would end
 * the run.
 */
function tame(current) {
  const { random } = Math;
  Math.random = () => {
    const context = current();
    return context?.observes ? context.random() : random();
  };
  const { exit } = process;
  process.exit = (code) => {
    if (current()) throw Object.assign(new Error(`exit code ${code}`), { name: 'ProcessExit' });
    return exit.call(process, code);
  };
}

/** The environment of cases: contexts are found again in asynchronous code. */
function makeHarness(recorder, storage, finalStates) {
  const times = new Map();
  return {
    /** Null if nothing is recorded, and for what was started in a process that has ended. */
    begin(variant) {
      // Rows of a table run one case several times: each time has its own key.
      const nth = times.get(variant.key) ?? 0;
      times.set(variant.key, nth + 1);
      const key = nth === 0 ? variant.key : `${variant.key}~${nth}`;
      if (!recorder.on || recorder.begun.has(key)) return null;
      if (recorder.onlyUnchanged && variant.mode !== 'check' && variant.mode !== 'look') return null;
      recorder.write(['b', key, Date.now(), variant.mode]);
      recorder.flush();
      return new Context(key, variant, recorder);
    },
    run: (context, call) => storage.run(context, call),
    end(context, outcome, error) {
      if (outcome === 'ok' && !context.over) finalStates(context);
      context.end(outcome, error);
      recorder.flush();
    },
  };
}

/**
 * `file` is the first part of all keys; `together`: no hook has to run between the variants of a case; `journal`: the
 * folder of the observations.
 */
function open({ file, pool, cases, together, journal }) {
  const storage = new AsyncLocalStorage();
  const current = () => storage.getStore();
  tame(current);
  const targets = makeTargets({ current, pool, binding, cases: Object.keys(cases).length });
  const harness = makeHarness(openRecorder(journal), storage, targets.finalStates);
  const { guarded, inTurn, limited } = makeGuards(harness);
  const variantsOf = makeVariants(file, cases);

  /** The value of a name in the test file, wrapped according to its name and source. */
  function binding(name, value, key = name, ours = true) {
    if (key === 'expect' && typeof value === 'function') return expectShim(value, current);
    if (/^(assert|should|chai)$/i.test(key)) return assertShim(value, current, key);
    if (TEST_WORDS.test(key)) return value;
    return ours ? targets.target(name, value) : value;
  }

  return {
    /** Registers a case for its variants; returns the result of the first registration. */
    each(id, register) {
      const variants = variantsOf(id);
      let bundled = false;
      const title = ({ key }) => ({ title: (text) => `${String(text)} [${key}]` });
      const first = register({
        ...title(variants[0]),
        run(fn) {
          bundled = together && fn.length === 0;
          return bundled ? inTurn(variants, fn) : guarded(variants[0], fn);
        },
      });
      const rest = bundled ? [] : variants.slice(1);
      for (const variant of rest) register({ ...title(variant), run: (fn) => guarded(variant, fn) });
      return first;
    },
    /** A statement outside of any case. */
    top(id, statement) {
      for (const variant of variantsOf(id)) guarded(variant, () => void statement())();
    },
    async topAsync(id, statement) {
      for (const variant of variantsOf(id)) {
        const context = harness.begin(variant);
        if (context) await limited(context, harness.run(context, statement));
      }
    },
    /**
     * The function of something that contains cases: its `t` plans nothing, because there are more cases than it knows
     * of.
     */
    group(fn) {
      const wrapper = function (...args) {
        const [real] = args;
        if (!looksLikeT(real) || typeof real.end !== 'function') return fn.apply(this, args);
        let planned = false;
        const plan = () => {
          planned = true;
        };
        const shim = new Proxy(assertShim(real, current, 't', true), {
          get: (shimmed, name) => (name === 'plan' ? plan : Reflect.get(shimmed, name)),
        });
        const result = fn.call(this, shim, ...args.slice(1));
        if (planned && !isThenable(result)) real.end();
        return result;
      };
      Object.defineProperty(wrapper, 'length', { value: fn.length });
      return wrapper;
    },
    /** A literal of the source. */
    lit(id, value) {
      const context = current();
      if (context?.change?.literal !== id) return value;
      const other = similarValues(value, pool, `${file}.${id}`)[context.change.choice];
      if (!other) return value;
      const shown = observedValue(other.value).text;
      if (context.avoidsValueIn(shown)) {
        context.end('lost');
        return value;
      }
      if (!context.described) context.changed(other.how, other.light, observedValue(value).text, shown);
      return other.value;
    },
    /** Asserts that a value is the one that the issue names. */
    same(actual, expected) {
      const context = current();
      if (context?.observes) return context.saw(context.next(), actual);
      if (isSame(actual, expected)) return undefined;
      throw new Error(`gave ${observedValue(actual).text}, and ${observedValue(expected).text} was expected`);
    },
    /** Asserts that a call throws, as the issue says. */
    throws(call) {
      const context = current();
      if (context?.observes) return look(context, 'throws', [call]);
      let result;
      try {
        result = call();
      } catch {
        return undefined;
      }
      throw new Error(`gave ${observedValue(result).text}, and an error was expected`);
    },
    /** The body of the last case of a file. */
    explore() {
      const context = current();
      if (context) explore(context, targets, pool);
    },
    ours: (name, value) => binding(name, value, name.split('.').at(-1)),
    /** A name of a third-party module; `kind` says that it asserts: a module, or a `t`. */
    theirs(name, value, kind) {
      if (kind === 'assert') return assertShim(value, current, name);
      if (kind === 't') return assertShim(value, current, name, true);
      return binding(name, value, name, false);
    },
  };
}

module.exports = { open };
