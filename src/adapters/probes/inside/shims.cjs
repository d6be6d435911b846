'use strict';
// Replacements for `expect`, assertion modules and the `t` of tape, tap and ava. In the mode `check` they behave like
// the originals; otherwise they only record the value that would have been asserted, and let everything pass.

const EQUALITIES = /equal|same|^is$|^not$|like|match|include|close|approx|contain|above|below|least|most/i;
const THROWING = /throw|reject/i;
const ASSERTIONS = new Set(
  `ok true assert notOk notok false equal equals isEqual strictEqual strictEquals is not notEqual notEquals isNot isNotEqual
  isNotDeepEqual notStrictEqual notStrictEquals doesNotEqual deepEqual deepEquals isEquivalent same strictSame notSame
  strictNotSame deepLooseEqual looseEqual looseEquals notLooseEqual notDeepEqual notDeepLooseEqual notDeeply throws
  throwsAsync doesNotThrow notThrows notThrowsAsync rejects doesNotReject resolves resolveMatch match matches notMatch
  doesNotMatch has notHas hasStrict type isa error ifError ifErr truthy falsy like regex notRegex assertion fail pass
  deepStrictEqual notDeepStrictEqual`.split(/\s+/),
);

function isThenable(value) {
  try {
    return value !== null && typeof value === 'object' && typeof value.then === 'function';
  } catch {
    return false;
  }
}

/** Calls the argument of an assertion about throwing, and records how the call ended. */
function observeCall(context, call) {
  const at = context.next();
  try {
    const result = call();
    if (!isThenable(result)) return context.saw(at, result);
    return context.wait(
      result.then(
        (value) => context.saw(at, value),
        (error) => context.failed(at, error),
      ),
    );
  } catch (error) {
    context.failed(at, error);
  }
}

/** Replaces `expect(actual)`: any chain of properties and calls, as in jest, vitest and chai. */
function matcher(context, actual) {
  const state = { throwing: false, seen: false, async: false };
  const deferred = typeof actual === 'function' || isThenable(actual);
  if (!deferred) context.saw(context.next(), actual);
  const chain = new Proxy(() => {}, {
    get(_, name) {
      if (typeof name === 'symbol' || name === 'then') return undefined;
      if (THROWING.test(name)) state.throwing = true;
      if (/^(resolves|rejects|eventually)/.test(name)) state.async = true;
      return chain;
    },
    apply() {
      if (!deferred || state.seen) return chain;
      state.seen = true;
      if (typeof actual === 'function' && !state.throwing && !state.async) {
        context.saw(context.next(), actual);
        return chain;
      }
      const done = observeCall(context, typeof actual === 'function' ? actual : () => actual);
      return isThenable(done) ? done : chain;
    },
  });
  return chain;
}

function expectShim(real, current) {
  return new Proxy(real, {
    apply(target, self, args) {
      const context = current();
      if (!context?.observes) return Reflect.apply(target, self, args);
      return matcher(context, args[0]);
    },
    get(target, name) {
      const context = current();
      if (context?.observes && /^(assertions|hasAssertions)$/.test(String(name))) return () => {};
      return Reflect.get(target, name);
    },
  });
}

/** Records an assertion's arguments instead of asserting. */
function look(context, name, args) {
  if (THROWING.test(name)) {
    const [call] = args;
    const done = observeCall(context, typeof call === 'function' ? call : () => call);
    return isThenable(done) ? done : true;
  }
  if (isThenable(args[0])) return observeCall(context, () => args[0]);
  context.saw(context.next(), args[0]);
  if (EQUALITIES.test(name) && args.length > 1) context.saw(context.next(), args[1]);
  return true;
}

const isLocked = (target, name) => {
  const own = Object.getOwnPropertyDescriptor(target, name);
  return own !== undefined && !own.configurable && !own.writable;
};

/** Replaces an assertion module or one of its functions. `known` limits it to names that are certainly assertions. */
function assertShim(real, current, name, known = false) {
  if (typeof real !== 'function' && (typeof real !== 'object' || real === null)) return real;
  const cache = new Map();
  return new Proxy(real, {
    apply(target, self, args) {
      const context = current();
      if (!context?.observes || (known && !ASSERTIONS.has(name))) return Reflect.apply(target, self, args);
      return look(context, name, args);
    },
    get(target, key) {
      const value = Reflect.get(target, key);
      if (typeof key === 'symbol' || isLocked(target, key)) return value;
      if (key === 'expect' && typeof value === 'function') return expectShim(value, current);
      if (key === 'plan' && known) return () => {};
      if (typeof value !== 'function' || /^[A-Z]/.test(key)) return value;
      if (known && !ASSERTIONS.has(key)) return typeof target === 'function' ? value : value.bind(target);
      if (!cache.has(key)) cache.set(key, assertShim(bound(value, target), current, key, known));
      return cache.get(key);
    },
  });
}

function bound(method, owner) {
  const call = (...args) => Reflect.apply(method, owner, args);
  return Object.assign(call, method);
}

const looksLikeT = (value) =>
  value !== null &&
  typeof value === 'object' &&
  ['ok', 'is', 'equal', 'truthy'].some((name) => typeof value[name] === 'function');

/**
 * Replaces the `t` of one case. `finish` is called once, when the case has ended: by `end`, or after as many assertions
 * as it planned.
 */
function tShim(real, context, finish) {
  const state = { planned: null, count: 0 };
  if (typeof real.on === 'function')
    real.on('result', (result) => result && result.ok === false && context.broke(result.name));
  const counted = () => {
    state.count += 1;
    if (state.planned !== null && state.count >= state.planned) finish();
  };
  const shim = new Proxy(real, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (name === 'plan') {
        return (most) => {
          state.planned = most;
          if (most === 0) finish();
        };
      }
      if (name === 'end' && typeof value === 'function') return () => finish();
      if (name === 'assert' && looksLikeT(value)) return assertShim(value, () => context, 'assert');
      if (typeof value !== 'function') return value;
      if (!ASSERTIONS.has(name)) return value.bind(target);
      return (...args) => {
        const result = context.observes ? look(context, name, args) : value.apply(target, args);
        if (!context.observes && result === false) context.broke(name);
        counted();
        return result;
      };
    },
  });
  return { shim, planned: () => state.planned !== null };
}

module.exports = { assertShim, expectShim, look, tShim, looksLikeT, isThenable, isLocked };
