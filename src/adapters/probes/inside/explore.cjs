'use strict';
// Runs after all cases and calls what no test called. Functions and methods that the tests did not call get arguments
// of their siblings; those that they called get known arguments in new combinations.

const { membersOf } = require('./members.cjs');
const { copied } = require('./plain.cjs');
const { hashOf, similarValues } = require('./mutate.cjs');
const { observedValue } = require('./serialise.cjs');
const { varied } = require('./vary.cjs');

const MOST = 900;
const MAX_TUPLES = 4;
const MAX_RECIPES = 10;
const MAX_STEPS = 30;
const MAX_FOLLOWED = 4;
const MAX_INSTANCES = 60;
const MAX_PER_FUNCTION = 400;
const MIN_PER_FUNCTION = 16;
const MAX_TRIES = 3;
/** Weight of an observation; 2 means that it was made here. */
const EXPLORED = 2;

/** @param targets the result of makeTargets */
function explore(context, { observeOnce, history, classes, functions }, pool) {
  let made = 0;
  const observe = (shown, call) => {
    if (made < MOST && observeOnce(context, shown, EXPLORED, call)) made += 1;
  };
  function given(args) {
    return args.map((arg) => (arg.recipe ? rebuilt(arg.recipe) : copied(arg.value)));
  }

  function rebuilt({ name, args, steps }) {
    const instance = Reflect.construct(classes.get(name).value, given(args));
    for (const step of steps) instance[step.key](...given(step.args));
    return instance;
  }

  const shownArgs = (args) =>
    args.map((arg) => (arg.recipe ? shownRecipe(arg.recipe) : observedValue(arg.value).text)).join(', ');
  const shownRecipe = ({ name, args, steps }) =>
    `new ${name}(${shownArgs(args)})${steps.map(({ key, args: given }) => `.${key}(${shownArgs(given)})`).join('')}`;

  function exploreFunction(name, { value, self }) {
    const known = history.get(name) ?? [];
    const tuples = known.length > 0 ? combined(known) : borrowed([...functions.keys()], value.length);
    const most = Math.max(MIN_PER_FUNCTION, Math.floor(MAX_PER_FUNCTION / functions.size));
    const seen = new Set();
    for (const args of chained(tuples, mixtures(tuples, most, name))) {
      const shown = `${name}(${shownArgs(args)})`;
      if (seen.size >= most || made >= MOST) return;
      if (seen.has(shown)) continue;
      seen.add(shown);
      observe(shown, () => Reflect.apply(value, self, given(args)));
    }
  }

  function exploreClass(name, { value, recipes }) {
    const bare = distinct(recipes.map((recipe) => ({ ...recipe, steps: [] })));
    const lived = recipes.filter(({ steps }) => steps.length > 0 && steps.length <= MAX_STEPS);
    const full = distinct(lived.sort((a, b) => b.steps.length - a.steps.length));
    const members = membersOf(value);
    const siblings = members.map(({ key }) => `${name}#${key}`);
    const argumentsOf = (key, arity) => {
      const own = history.get(`${name}#${key}`) ?? [];
      return own.length > 0 ? combined(own) : borrowed(siblings, arity, bare);
    };
    const chosen = [...bare.slice(0, MAX_RECIPES / 2), ...full.slice(0, MAX_RECIPES / 2)];
    for (const [nth, recipe] of chosen.entries()) {
      exploreMembers(recipe, members, (key, arity) => rotated(argumentsOf(key, arity), nth));
      if (nth < MAX_FOLLOWED) exploreAfter(recipe, members, argumentsOf);
    }
    exploreLives(name, full, members);
  }

  function exploreMembers(recipe, members, argumentsOf) {
    for (const { key, getter, arity } of members) {
      const tuples = arity === 0 ? [[]] : argumentsOf(key, arity).slice(0, MAX_TUPLES);
      for (const args of tuples) {
        observe(`${shownRecipe(recipe)}.${key}${getter ? '' : `(${shownArgs(args)})`}`, () => {
          const instance = rebuilt(recipe);
          const result = getter ? instance[key] : instance[key](...given(args));
          return result === instance ? 'itself' : result;
        });
      }
    }
  }

  /** After a call: everything that can be called without arguments. */
  function exploreAfter(recipe, members, argumentsOf) {
    const asked = members.filter(({ arity }) => arity === 0);
    for (const { key, arity } of members) {
      const [args] = arity === 0 ? [] : argumentsOf(key, arity);
      if (!args) continue;
      for (const { key: other, getter } of asked) {
        const shown = `${shownRecipe(recipe)}.${key}(${shownArgs(args)}).${other}${getter ? '' : '()'}`;
        observe(shown, () => {
          const instance = rebuilt(recipe);
          instance[key](...given(args));
          return getter ? instance[other] : instance[other]();
        });
      }
    }
  }

  function distinct(recipes) {
    const seen = new Set();
    return recipes.filter((recipe) => !seen.has(shownRecipe(recipe)) && seen.add(shownRecipe(recipe)));
  }

  /** Argument lists of siblings with the same number of parameters, then values of the pool. */
  function borrowed(names, arity, instances = []) {
    const lists = names.flatMap((name) => history.get(name) ?? []).filter((args) => args.length === arity);
    const own = arity === 1 ? instances.map((recipe) => [{ recipe }]) : [];
    const values = pool.filter((value) => typeof value !== 'boolean').slice(0, MAX_TUPLES + arity);
    const plain = values
      .slice(0, MAX_TUPLES)
      .map((_, at) =>
        Array.from({ length: arity }, (_, nth) => ({ value: values[(at + nth) % values.length] })),
      );
    return unique([...lists, ...own, ...plain]);
  }

  /** Known lists, then combinations of two of them, then those with one value changed. */
  function combined(lists) {
    const mixed = lists.flatMap((args, at) =>
      args.length < 2
        ? []
        : args.map((_, nth) =>
            args.map((arg, place) => (place === nth ? (lists[(at + 1) % lists.length][place] ?? arg) : arg)),
          ),
    );
    const changed = lists.slice(0, 3).flatMap((args) =>
      args.flatMap((arg, nth) =>
        arg.recipe
          ? []
          : similarValues(arg.value, pool, 'explore')
              .slice(0, 2)
              .map(({ value }) => Object.assign([...args], { [nth]: { value } })),
      ),
    );
    return unique([...lists, ...mixed, ...changed]);
  }

  /** Lists with arguments from known lists, most of them changed. Yields one at a time, because each takes time. */
  function* mixtures(lists, most, seed) {
    for (let nth = 0; nth < most * MAX_TRIES && lists.length > 0; nth += 1) {
      const some = lists[hashOf(`${seed}|${nth}`) % lists.length];
      yield some.map((own, place) => otherArgument(own, lists, place, `${seed}|${nth}|${place}`));
    }
  }

  function otherArgument(own, lists, place, seed) {
    const dice = hashOf(seed);
    const arg = dice % 4 === 0 ? own : (lists[(dice >>> 2) % lists.length][place] ?? own);
    if (arg.recipe || dice % 4 === 1) return arg;
    const others = lists.flatMap((list) => (list[place] && !list[place].recipe ? [list[place].value] : []));
    return { value: varied(arg.value, others, pool, seed) };
  }

  /**
   * Sequences of calls that no instance had: the start of one, the end of another, with other arguments. Observes the
   * result.
   */
  function exploreLives(name, recipes, members) {
    const asked = members.filter(({ arity }) => arity === 0);
    for (let nth = 0; nth < MAX_INSTANCES && recipes.length > 0; nth += 1) {
      const dice = hashOf(`${name}|${nth}`);
      const [first, second] = [recipes[dice % recipes.length], recipes[(dice >>> 5) % recipes.length]];
      const at = (dice >>> 10) % (Math.min(first.steps.length, second.steps.length) + 1);
      const steps = [...first.steps.slice(0, at), ...second.steps.slice(at)].map((step, place) => {
        const known = history.get(`${name}#${step.key}`) ?? [];
        if (hashOf(`${dice}|${place}`) % 3 !== 0 || known.length === 0) return step;
        return {
          key: step.key,
          args: step.args.map((arg, which) => otherArgument(arg, known, which, `${dice}|${place}|${which}`)),
        };
      });
      const recipe = { name, args: first.args, steps };
      for (const { key, getter } of asked) {
        observe(`${shownRecipe(recipe)}.${key}${getter ? '' : '()'}`, () => {
          const instance = rebuilt(recipe);
          return getter ? instance[key] : instance[key]();
        });
      }
    }
  }

  function unique(lists) {
    const seen = new Set();
    return lists.filter((args) => !seen.has(shownArgs(args)) && seen.add(shownArgs(args)));
  }

  for (const [name, entry] of classes) exploreClass(name, entry);
  for (const [name, entry] of functions) exploreFunction(name, entry);
}

function* chained(...parts) {
  for (const part of parts) yield* part;
}

const rotated = (items, by) => items.map((_, at) => items[(at + by) % items.length]);

module.exports = { explore };
