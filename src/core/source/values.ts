import type { Exported } from './exports.ts';
import {
  type ChainLink,
  COMPUTED,
  foldedText,
  isPlain,
  LIST,
  type ValuesOf,
  WRAPPED,
} from './expressions.ts';
import { child, nodeText, type SyntaxNode, type SyntaxTree } from './tree.ts';

/** Resolves chains and values to what they refer to. */
export interface Reader {
  /** All values that a chain may have; without `node:`, and with local names traced back to their origin. */
  readonly pathsOf: (links: readonly ChainLink[], at: number, written: boolean) => readonly string[];
  /**
   * All values that an expression may have: paths, and strings with a quote in front (`"assert`). Empty for computed
   * values.
   */
  readonly valuesOf: ValuesOf;
  /** The same for the items of a list. */
  readonly itemsIn: (node: SyntaxNode) => readonly string[];
  readonly itemsOf: (links: readonly ChainLink[], at: number) => readonly string[];
}

interface ReaderInput {
  readonly tree: SyntaxTree;
  readonly links: ReadonlyMap<SyntaxNode, readonly ChainLink[]>;
  /** The bindings of a name at an offset; empty for a name that refers to nothing else. */
  readonly standsFor: (name: string, at: number) => readonly string[];
  readonly exported: Exported;
}

/** A module that was loaded by an unknown name. */
export const UNKNOWN_MODULE = '[module]';
/** What a parameter or loop variable called `test` holds, besides what the text shows: anything. */
export const UNKNOWN_TEST = '[test]';

export const moduleName = (text: string): string =>
  text
    .replace(/^node:/, '')
    .replace(/\/strict$/, '')
    .replaceAll('::', '.');

const LOADS =
  /^(?:require|import|__import__|import_module|importlib\.import_module|(?:module|process\.mainModule|require\.main)\.require|(?:module\.)?(?:Module\.|constructor\.)?_load|process\.getBuiltinModule|vi\.importActual|jest\.requireActual)$/;
const MAKES_LOADER = /^(?:module\.)?createRequire$/;
const PROTOTYPE_OF = /^(?:Object|Reflect)\.getPrototypeOf$/;
const GLOBALS =
  /^(?:globalThis|global|window|self)\.(?=(?:process|globalThis|global|Object|Function|Reflect|JSON|Math|eval|require|console)\b)/;
/** Methods that return a list with the same items, or some of them. */
const SAME_ITEMS = /^(?:filter|slice|concat|reverse|values|toReversed|flat)$/;
const CHOOSES = /^(?:ternary_expression|conditional_expression|boolean_operator)$/;
const MAX_VALUES = 6;
const MAX_DEPTH = 12;
const MAX_DOTTED = 3;

/** The built-in type of a literal. */
const LITERAL_TYPES: Readonly<Record<string, string>> = {
  array: 'Array',
  object: 'Object',
  number: 'Number',
  regex: 'RegExp',
  arrow_function: 'Function',
  function_expression: 'Function',
  true: 'Boolean',
  false: 'Boolean',
};

export function readerOf({ tree, links, standsFor, exported }: ReaderInput): Reader {
  let depth = 0;
  /** Names may refer to one another in a cycle. */
  const bounded = <T>(work: () => T, otherwise: T): T => {
    if (depth >= MAX_DEPTH) return otherwise;
    depth++;
    try {
      return work();
    } finally {
      depth--;
    }
  };
  const text = (node: SyntaxNode): string | null => bounded(() => foldedText(node, tree, valuesOf), null);
  /** `this.lib`, and properties of object literals, are bound by their full name. */
  const dotted = (all: readonly ChainLink[], at: number, most: number): Start | null => {
    for (let length = Math.min(most, MAX_DOTTED); length > 1; length--) {
      const own = all.slice(0, length);
      const paths = own.some(({ args }) => args) ? [] : standsFor(own.map(({ name }) => name).join('.'), at);
      if (paths.length > 0) return { paths, next: length };
    }
    return null;
  };
  const start = (all: readonly ChainLink[], at: number, written: boolean): Start => {
    const whole = dotted(all, at, written ? all.length - 1 : all.length);
    const [first] = all;
    if (whole || !first) return whole ?? { paths: [], next: 0 };
    const next = first.args ? 0 : 1;
    if (first.name === '' && first.value) return { paths: instanceOr(first.value, valuesOf), next };
    const paths = standsFor(first.name, at).filter((path) => !path.startsWith('"') || all.length === 1);
    const isItself = (path: string) => path.split('.')[0] === first.name && path !== first.name;
    return paths.length === 0 || paths.some(isItself)
      ? { paths: [''], next: 0 }
      : { paths, next, named: true };
  };
  const pathsOf: Reader['pathsOf'] = (all, at, written) =>
    bounded(() => {
      const { paths, next, named } = start(all, at, written);
      const walk: Walk = { tree, text, valuesOf, last: all.length - 1 };
      let states = paths.length > 0 ? paths : [''];
      for (let i = next; i < all.length; i++) {
        const link = all[i] as ChainLink;
        const isOwnName = i === 0 && (named || (link.name === '' && link.value !== undefined));
        const step = { ...link, name: isOwnName ? '' : link.name };
        // Each state of a nested call would otherwise read the arguments again, and so would theirs.
        const read = { ...walk, ...readOnce(walk) };
        states = states.flatMap((state) => stepped(state, step, i, read)).slice(0, MAX_VALUES);
      }
      return [...new Set(states.map((path) => finished(path, exported)))];
    }, []);
  const boundItems = (all: readonly ChainLink[], at: number) =>
    all.some(({ args }) => args) ? [] : standsFor([...all.map(({ name }) => name), COMPUTED].join('.'), at);
  const calledItems = (
    before: readonly ChainLink[],
    name: string,
    given: SyntaxNode | undefined,
    at: number,
  ) => {
    if (SAME_ITEMS.test(name))
      return before[0]?.name === 'Object' && given ? propertyValues(given, valuesOf) : itemsOf(before, at);
    const loads = name === 'map' && given !== undefined && valuesOf(given).some(isLoader);
    return loads ? itemsOf(before, at).flatMap(loadedModule) : [];
  };
  const itemsOf: Reader['itemsOf'] = (all, at) =>
    bounded(() => {
      const last = all.at(-1);
      if (!last) return [];
      if (last.args) return calledItems(all.slice(0, -1), last.name, last.args[0], at);
      return last.name === '' && last.value ? itemsIn(last.value) : boundItems(all, at);
    }, []);
  const itemsIn: Reader['itemsIn'] = (node) => {
    if (LIST.test(node.type)) return node.children.filter(({ named }) => named).flatMap(valuesOf);
    if (WRAPPED.test(node.type)) return node.children.slice(0, 2).flatMap(itemsIn);
    const own = links.get(node);
    if (own) return itemsOf(own, node.from);
    return isPlain(node) ? standsFor(`${nodeText(tree, node)}.${COMPUTED}`, node.from) : [];
  };
  const named = (node: SyntaxNode): readonly string[] => {
    const name = nodeText(tree, node);
    const paths = standsFor(name, node.from);
    return paths.length > 0 ? paths.map((path) => finished(path, exported)) : [name];
  };
  const valuesOf: ValuesOf = (node) =>
    bounded(() => {
      if (isChoice(node)) return node.children.filter(isNamed).flatMap(valuesOf).slice(0, MAX_VALUES);
      if (isPlain(node)) return named(node);
      const own = links.get(node);
      if (WRAPPED.test(node.type) && !own) return node.children.filter(isNamed).slice(0, 1).flatMap(valuesOf);
      const folded = text(node);
      if (folded !== null) return [`"${folded}`];
      return own ? pathsOf(own, node.from, false).flatMap((path) => chainValue(path, own)) : [];
    }, []);
  return { pathsOf: (...given) => pathsOf(...given).map(withoutMark), valuesOf, itemsIn, itemsOf };
}

interface Start {
  readonly paths: readonly string[];
  /** The first link that they do not include. */
  readonly next: number;
  /** They are the meanings of the first link's name. */
  readonly named?: boolean;
}

/** Marks the end of a path that is the result of a call rather than a call. */
const VALUE = '\u0000';
const withoutMark = (path: string): string => path.replaceAll(VALUE, '');
const isLoader = (path: string): boolean => LOADS.test(path);
const isNamed = ({ named }: SyntaxNode): boolean => named;
const isChoice = ({ type, children }: SyntaxNode): boolean =>
  CHOOSES.test(type) ||
  (type === 'binary_expression' && children.some((each) => /^(?:\?\?|\|\||&&)$/.test(each.type)));
const loadedModule = (item: string): readonly string[] =>
  item.startsWith('"') ? [moduleName(item.slice(1))] : [];

/** The value of a chain; a string is continued as a string only if the result is one. */
function chainValue(path: string, links: readonly ChainLink[]): readonly string[] {
  if (path.startsWith('"')) return [];
  if (path.endsWith(VALUE)) return [path.slice(0, -1)];
  return [links.at(-1)?.args ? `${path}()` : path];
}

const instanceOr = (node: SyntaxNode, valuesOf: ValuesOf): readonly string[] => {
  const type = literalType(node);
  return type === null ? valuesOf(node) : [`${type}()`];
};

function literalType(node: SyntaxNode): string | null {
  if (/^parenthesized/.test(node.type)) {
    const inner = node.children.find(({ named }) => named);
    return inner ? literalType(inner) : null;
  }
  return LITERAL_TYPES[node.type] ?? (node.type === 'string' ? 'String' : null);
}

const propertyValues = (node: SyntaxNode, valuesOf: ValuesOf): readonly string[] =>
  node.children.flatMap((each) => {
    const value = each.type === 'shorthand_property_identifier' ? each : child(each, 'value');
    return value ? valuesOf(value) : [];
  });

interface Walk {
  readonly tree: SyntaxTree;
  readonly text: (node: SyntaxNode) => string | null;
  readonly valuesOf: ValuesOf;
  readonly last: number;
}

/** What a node is, read once for all that ask for it in one step. */
function readOnce({ text, valuesOf }: Pick<Walk, 'text' | 'valuesOf'>): Pick<Walk, 'text' | 'valuesOf'> {
  const texts = new Map<SyntaxNode, string | null>();
  const values = new Map<SyntaxNode, readonly string[]>();
  return {
    text: (node) => {
      const known = texts.get(node);
      const found = known === undefined ? text(node) : known;
      texts.set(node, found);
      return found;
    },
    valuesOf: (node) => {
      const found = values.get(node) ?? valuesOf(node);
      values.set(node, found);
      return found;
    },
  };
}

/** One link further. */
function stepped(before: string, link: ChainLink, index: number, walk: Walk): readonly string[] {
  const state = entered(withoutMark(before));
  const known = link.name === COMPUTED && link.value ? walk.text(link.value) : null;
  const name = known ?? link.name;
  const skipped = state !== '' && (name === 'default' || name === '__dict__');
  const joined = inType(skipped || name === '' ? state : state === '' ? name : `${state}.${name}`);
  if (!link.args) return [joined];
  const given = calledValue(joined, link.args, walk);
  if (given) return given.map((path) => (index === walk.last ? `${path}${VALUE}` : path));
  return [index === walk.last ? joined : `${joined}()`];
}

/** `sys.modules.pytest`, from which something is taken, is `pytest`. */
const entered = (state: string): string => /^sys\.modules\.([\w.]+)$/.exec(state)?.[1] ?? state;

const inType = (path: string): string =>
  path
    .replace(/^(\w+)\(\)\.(?:__proto__|constructor\.prototype)/, (all, type: string) =>
      Object.values(LITERAL_TYPES).includes(type) || type === 'String' ? `${type}.prototype` : all,
    )
    .replace(GLOBALS, '');

/** The result of a call to a known function; null for any other call. */
function calledValue(
  path: string,
  [first, second]: readonly SyntaxNode[],
  { tree, text, valuesOf }: Walk,
): readonly string[] | null {
  if (LOADS.test(path)) {
    const module = first ? text(first) : null;
    if (module !== null) return [moduleName(module)];
    const several = first ? valuesOf(first).filter((value) => value.startsWith('"')) : [];
    return several.length > 0 ? several.map((value) => moduleName(value.slice(1))) : [UNKNOWN_MODULE];
  }
  if (MAKES_LOADER.test(path)) return ['require'];
  if (PROTOTYPE_OF.test(path) && first)
    return instanceOr(first, valuesOf).map((value) => inType(`${value}.__proto__`));
  if (path === 'vars' && tree.grammar === 'python' && first) return valuesOf(first);
  if (/^(?:getattr|Reflect\.get)$/.test(path) && first && second)
    return valuesOf(first).map((value) => `${value}.${text(second) ?? COMPUTED}`);
  if (path === 'sys.modules.get' && first) {
    const module = text(first);
    return module === null ? null : [module];
  }
  return null;
}

/** A path in the form that rules use: other files' exports are resolved, and a final `.call` is dropped. */
function finished(path: string, exported: Exported): string {
  const marked = path.endsWith(VALUE) ? VALUE : '';
  const plain = withoutMark(path)
    .replace(/^default\.|\.default$/, '')
    .replace(/(?<=[\w\]])(?<!^Reflect)\.(?:call|apply|bind)$/, '');
  return `${exported(plain) ?? plain}${marked}`;
}
