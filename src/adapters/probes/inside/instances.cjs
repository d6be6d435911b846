'use strict';
// What tests do with instances of the repository's classes: how they were created, what was called on them, and their
// final state. An instance is stored as a recipe, `{ name, args, steps, raw }`, so that it can be created again.

const { membersOf } = require('./members.cjs');
const { copied, isPlainData } = require('./plain.cjs');
const { observedError, observedValue } = require('./serialise.cjs');
const { isLocked } = require('./shims.cjs');

const MAX_REMEMBERED = 40;
const MAX_STATES = 4;

/** @param state `{ inside }`: set during our own calls, which tests must not notice */
function makeInstances(current, state) {
  /** By name of a class: the class itself, and recipes of its instances. */
  const classes = new Map();
  /** By name of a function or `Class#method`: argument lists that the tests used. */
  const history = new Map();
  /** By instance, and by its proxy. */
  const recipes = new WeakMap();
  const recipeOf = (value) => (value !== null && typeof value === 'object' ? recipes.get(value) : undefined);

  /** Arguments that can be used again: plain data, and instances as their recipes; null if that is impossible. */
  function kept(args) {
    const out = [];
    for (const arg of args) {
      const recipe = recipeOf(arg);
      if (recipe) out.push({ recipe: { ...recipe, steps: [...recipe.steps] } });
      else if (isPlainData(arg)) out.push({ value: copied(arg) });
      else return null;
    }
    return out;
  }

  /** Returns what was known before. */
  function remember(name, args) {
    const known = history.get(name) ?? [];
    const again = kept(args);
    if (again && known.length < MAX_REMEMBERED) history.set(name, [...known, again]);
    return known;
  }

  function list(recipe) {
    const known = classes.get(recipe.name)?.recipes;
    if (known && known.length < MAX_REMEMBERED && !known.includes(recipe)) known.push(recipe);
  }

  /** Tests get a proxy of an instance, which records their calls and the results. Hooks create some too. */
  function followed(name, args, instance) {
    const context = current();
    const plain = instance === null || typeof instance !== 'object';
    const again = context?.mode === 'check' || state.inside || plain ? null : kept(args);
    if (!again) return instance;
    const recipe = { name, args: again, steps: [], raw: instance };
    const proxy = new Proxy(instance, {
      get(owner, key) {
        const found = Reflect.get(owner, key, owner);
        if (typeof key === 'symbol' || typeof found !== 'function' || isLocked(owner, key)) return found;
        return (...given) => {
          const result = noted(recipe, key, given, () => Reflect.apply(found, owner, given.map(raw)));
          return result === owner ? proxy : result;
        };
      },
    });
    if (context?.mode === 'calls') list(recipe);
    recipes.set(instance, recipe);
    recipes.set(proxy, recipe);
    return proxy;
  }

  function noted(recipe, key, given, call) {
    const context = current();
    if (state.inside) return call();
    const args = kept(given);
    if (args && context?.mode === 'calls') {
      remember(`${recipe.name}#${key}`, given);
      list(recipe);
    }
    const note = watchStep(context, recipe);
    const step = { key, args };
    if (args) recipe.steps.push(step);
    try {
      const result = call();
      if (isPlainData(result) && result !== undefined) note(observedValue(result));
      return result;
    } catch (error) {
      // A call that throws is not part of the recipe.
      if (recipe.steps.at(-1) === step) recipe.steps.pop();
      note(observedError(error));
      throw error;
    }
  }

  /** Reserves a position among the observations for a step; the returned function records its result. */
  function watchStep(context, recipe) {
    if (context?.mode !== 'look' && context?.mode !== 'change') return () => {};
    const at = context.step();
    context.touched.add(recipe);
    return (seen) => context.stepped(at, seen);
  }

  /** The final state of the instances that a case used: their getters, and methods without arguments. */
  function finalStates(context) {
    const before = state.inside;
    state.inside = true;
    for (const [nth, { raw: instance, name }] of [...context.touched].slice(0, MAX_STATES).entries()) {
      for (const member of membersOf(classes.get(name)?.value)) {
        if (member.arity === 0) context.stepped(`${nth}.${member.key}`, readMember(instance, member));
      }
    }
    state.inside = before;
  }

  const raw = (value) => recipeOf(value)?.raw ?? value;

  return { classes, history, remember, followed, finalStates, raw };
}

function readMember(instance, { key, getter }) {
  try {
    return observedValue(getter ? instance[key] : instance[key]());
  } catch (error) {
    return observedError(error);
  }
}

module.exports = { makeInstances };
