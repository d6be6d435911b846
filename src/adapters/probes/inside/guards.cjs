'use strict';
// Wraps a case's function: it never throws, it ends in time, and it does nothing if it hung before.

const { isThenable, looksLikeT, tShim } = require('./shims.cjs');

const ASYNC_MS = 400;
const CHECK_ASYNC_MS = 5000;
/** Milliseconds for the rest of the planned assertions after the function has returned. */
const AFTER_PLAN_MS = 30;

const limitOf = (context) => (context.mode === 'check' ? CHECK_ASYNC_MS : ASYNC_MS);

/** @param harness `begin(variant)`, `run(context, call)` and `end(context, outcome, error)` of observe.cjs */
function makeGuards({ begin, run, end }) {
  /** Ends with the promise, or when its time is up. */
  function limited(context, promise) {
    let timer;
    const late = new Promise((resolve) => {
      timer = setTimeout(() => resolve('pending'), limitOf(context));
    });
    return Promise.race([promise.then(() => 'ok'), late]).then(
      (outcome) => {
        clearTimeout(timer);
        end(context, outcome);
      },
      (error) => {
        clearTimeout(timer);
        end(context, 'threw', error);
      },
    );
  }

  function afterReturn(context, result) {
    if (isThenable(result)) {
      return limited(
        context,
        Promise.resolve(result).then(() => Promise.all(context.pending)),
      );
    }
    if (context.pending.length > 0) return limited(context, Promise.all(context.pending));
    end(context, 'ok');
    return undefined;
  }

  function guarded(variant, fn) {
    const wrapper = function (...args) {
      const context = begin(variant);
      const [first] = args;
      if (looksLikeT(first) && typeof first.end === 'function') return underT(this, context, fn, args);
      if (fn.length > 0 && typeof args.at(-1) === 'function') return withDone(this, context, fn, args);
      if (!context) return undefined;
      const given = looksLikeT(first) ? [tShim(first, context, () => {}).shim, ...args.slice(1)] : args;
      try {
        return afterReturn(
          context,
          run(context, () => fn.apply(this, given)),
        );
      } catch (error) {
        end(context, 'threw', error);
        return undefined;
      }
    };
    // Test runners check the number of parameters.
    Object.defineProperty(wrapper, 'length', { value: fn.length });
    return wrapper;
  }

  /** All variants in one registered case: registering a case takes longer than most cases. */
  function inTurn(variants, fn) {
    const left = variants.map((variant) => guarded(variant, fn));
    return function (...args) {
      const next = () => {
        while (left.length > 0) {
          const result = left.shift().apply(this, args);
          if (isThenable(result)) return result.then(next);
        }
        return undefined;
      };
      return next();
    };
  }

  /** tape and tap: a case is over when it calls `end`. */
  function underT(self, context, fn, args) {
    const [real] = args;
    // Not at once: tape runs the next test inside of `end`, and the many variants would overflow the stack.
    const over = () => setImmediate(() => real.end());
    if (!context) {
      over();
      return undefined;
    }
    const finish = once((outcome, error) => {
      end(context, outcome, error);
      over();
    });
    const { shim, planned } = tShim(real, context, () => finish('ok'));
    try {
      const result = run(context, () => fn.call(self, shim, ...args.slice(1)));
      if (isThenable(result)) {
        finish.in(limitOf(context), 'pending');
        return result.then(
          () => finish('ok'),
          (error) => finish('threw', error),
        );
      }
      finish.in(planned() ? AFTER_PLAN_MS : ASYNC_MS, 'pending');
    } catch (error) {
      finish('threw', error);
    }
    return undefined;
  }

  function withDone(self, context, fn, args) {
    const done = args.at(-1);
    if (!context) return done();
    const finish = once((outcome, error) => {
      end(context, outcome, error);
      done();
    });
    finish.in(limitOf(context), 'pending');
    const shim = Object.assign((error) => (error ? finish('threw', error) : finish('ok')), done);
    shim.fail = (error) => finish('threw', error);
    try {
      run(context, () => fn.call(self, ...args.slice(0, -1), shim));
    } catch (error) {
      finish('threw', error);
    }
    return undefined;
  }

  return { guarded, inTurn, limited };
}

/** Runs `finish` only once; `in` runs it after a number of milliseconds. */
function once(finish) {
  let timer;
  let ended = false;
  const call = (...args) => {
    if (ended) return;
    ended = true;
    clearTimeout(timer);
    finish(...args);
  };
  call.in = (ms, ...args) => {
    if (!ended) timer = setTimeout(() => call(...args), ms);
  };
  return call;
}

module.exports = { makeGuards };
