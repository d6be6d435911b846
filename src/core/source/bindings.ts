import type { Exported } from './exports.ts';
import { type Chain, type ChainLink, COMPUTED } from './expressions.ts';
import { FUNCTION, introducesName, isName, parametersOf } from './functions.ts';
import { type NestedParts, nestedParts } from './nested-parts.ts';
import {
  type CalledFunctions,
  calledByName,
  calledIn,
  distinctPaths,
  givenParameters,
  MAX_BOUND_PATHS,
  MAX_PATH_CHARS,
} from './parameters.ts';
import { ancestors, child, contentOf, isString, nodeText, type SyntaxNode, type SyntaxTree } from './tree.ts';
import { type Reader, readerOf, UNKNOWN_TEST } from './values.ts';

/** A name introduced by an import, and what it refers to. */
export interface Imported {
  readonly node: SyntaxNode;
  readonly as: string;
  readonly path: string;
}

/** What the names of one text refer to, as far as the text shows. */
export interface Bindings extends Pick<Reader, 'pathsOf' | 'valuesOf'> {
  /** Names of the whole file, with their meanings. */
  readonly named: () => readonly (readonly [name: string, path: string])[];
}

/** The meaning of a name in a part of a text. */
interface Bound {
  readonly from: number;
  readonly to: number;
  readonly paths: Set<string>;
}

/** A binding may depend on others that follow later. */
const ROUNDS = 3;
/** Methods that pass their items, or their receiver, to a callback. */
const HANDS_ON = /^(?:then|finally|tap|pipe|let|also)$/;

export function bindingsOf(
  tree: SyntaxTree,
  chains: readonly Chain[],
  imported: readonly Imported[],
  exported: Exported,
): Bindings {
  const whole = new Map<string, Set<string>>();
  const parts = new Map<string, NestedParts<Bound>>();
  const boundIn = (name: string, { from, to }: Scope): Set<string> => {
    const all = parts.get(name) ?? nestedParts<Bound>();
    parts.set(name, all);
    return all.put({ from, to, paths: new Set<string>() }).paths;
  };
  const boundInAll = (name: string): Set<string> => {
    const all = whole.get(name) ?? new Set<string>();
    whole.set(name, all);
    return all;
  };
  const put: Put = (name, paths, scope) => {
    if (paths.length === 0 || name === '' || name.length > MAX_PATH_CHARS) return;
    const into = scope ? boundIn(name, scope) : boundInAll(name);
    for (const path of paths) if (into.size < MAX_BOUND_PATHS && path.length < MAX_PATH_CHARS) into.add(path);
  };
  const standsFor = (name: string, at: number): readonly string[] => {
    const paths = parts.get(name)?.around(at)?.paths ?? whole.get(name);
    return paths ? [...paths] : NOTHING;
  };
  const links = new Map(chains.map((chain) => [chain.node, chain.links] as const));
  const reader = readerOf({ tree, links, standsFor, exported });
  for (const { as, path } of imported) put(as, [path]);
  for (const scope of scopesOfTest(tree)) put('test', [UNKNOWN_TEST], scope);
  const functions = calledByName(tree);
  const binding = tree.nodes.filter(({ type }) => BINDS.test(type));
  const calls = chains.filter(({ links: own }) => own.some(({ args }) => args));
  for (let round = 0; round < ROUNDS; round++) {
    for (const node of binding) bindAt(tree, node, reader, put);
    for (const call of calls) bindArguments(tree, call, functions, reader, put);
  }
  return {
    pathsOf: reader.pathsOf,
    valuesOf: reader.valuesOf,
    named: () => [...whole].flatMap(([name, paths]) => [...paths].map((path) => [name, path] as const)),
  };
}

type Scope = Pick<SyntaxNode, 'from' | 'to'>;
type Put = (name: string, paths: readonly string[], scope?: Scope) => void;
const NOTHING: readonly string[] = [];

const BINDS =
  /^(?:variable_declarator|assignment|assignment_expression|named_expression|let_declaration|short_var_declaration|export_statement|public_field_definition|for_in_statement|for_statement|for_in_clause|required_parameter|optional_parameter|default_parameter|typed_default_parameter)$/;

/** Variables, fields, loops, and parameters with a default value. */
function bindAt(tree: SyntaxTree, node: SyntaxNode, reader: Reader, put: Put): void {
  switch (node.type) {
    case 'variable_declarator':
    case 'assignment':
    case 'assignment_expression':
    case 'named_expression':
    case 'let_declaration':
    case 'short_var_declaration': {
      // Of several values in Go, the first is that of the call, and the others say whether it failed.
      const [target, value] = [child(node, 'name', 'left', 'pattern'), child(node, 'value', 'right')].map(
        (each) => (each?.type === 'expression_list' ? (each.children[0] ?? null) : each),
      );
      // In Go and Rust, functions call their variables alike.
      const block = /^let|^short/.test(node.type)
        ? ancestors(node).find(({ type }) => type === 'block')
        : undefined;
      if (target && value) bindTarget(tree, target, value, reader, (n, p) => put(n, p, block));
      return;
    }
    case 'export_statement': {
      const value = child(node, 'value');
      if (value) put('module.exports', reader.valuesOf(value));
      return;
    }
    case 'public_field_definition': {
      const [name, value] = [child(node, 'name'), child(node, 'value')];
      if (name && value) put(`this.${nodeText(tree, name)}`, reader.valuesOf(value));
      return;
    }
    case 'for_in_statement':
    case 'for_statement':
    case 'for_in_clause': {
      const [left, right] = [child(node, 'left'), child(node, 'right')];
      const scope = node.type === 'for_in_clause' ? (node.parent ?? node) : node;
      if (left && right) bindPattern(tree, left, reader.itemsIn(right), (n, p) => put(n, p, scope));
      return;
    }
    case 'required_parameter':
    case 'optional_parameter':
    case 'default_parameter':
    case 'typed_default_parameter': {
      const [target, value] = [child(node, 'pattern', 'name'), child(node, 'value')];
      const scope = ancestors(node).find(({ type }) => FUNCTION.test(type));
      if (target && value && scope)
        bindPattern(tree, target, reader.valuesOf(value), (n, p) => put(n, p, scope));
    }
  }
}

function bindTarget(tree: SyntaxTree, target: SyntaxNode, value: SyntaxNode, reader: Reader, put: Put): void {
  const name = /^(?:this|self|exports|module\.exports)(?:\.\w+)?$/.test(nodeText(tree, target).slice(0, 100))
    ? nodeText(tree, target)
    : isName(target)
      ? nodeText(tree, target)
      : null;
  if (name === null) {
    bindPattern(tree, target, reader.valuesOf(value), put);
    return;
  }
  put(name, reader.valuesOf(value));
  put(`${name}.${COMPUTED}`, reader.itemsIn(value));
  for (const [key, own] of propertiesOf(tree, value)) put(`${name}.${key}`, reader.valuesOf(own));
}

/** The values of an object literal, by key. */
const propertiesOf = (tree: SyntaxTree, { type, children }: SyntaxNode) =>
  /^(?:object|dictionary)$/.test(type)
    ? children.flatMap((each): [string, SyntaxNode][] => {
        if (each.type === 'shorthand_property_identifier') return [[nodeText(tree, each), each]];
        const [key, value] = [child(each, 'key'), child(each, 'value')];
        return key && value ? [[contentOf(nodeText(tree, key)), value]] : [];
      })
    : [];

/**
 * The names that a declaration introduces, each with the property that it takes: `{ exit: q }` gives `q` from `exit`.
 */
function bindPattern(tree: SyntaxTree, target: SyntaxNode, paths: readonly string[], put: Put): void {
  const values = paths.filter((path) => path !== '');
  if (isName(target)) {
    put(nodeText(tree, target), values);
    return;
  }
  const inner = child(target, 'pattern', 'name');
  if (inner) {
    bindPattern(tree, inner, values, put);
    return;
  }
  if (target.type === 'typed_parameter' && target.children[0]) {
    bindPattern(tree, target.children[0], values, put);
    return;
  }
  if (target.type !== 'object_pattern') return;
  const at = (key: string) => values.map((path) => (key === 'default' ? path : `${path}.${key}`));
  for (const each of target.children) {
    if (each.type === 'shorthand_property_identifier_pattern')
      put(nodeText(tree, each), at(nodeText(tree, each)));
    const [key, value] = [child(each, 'key'), child(each, 'value')];
    if (key && value) bindPattern(tree, value, at(keyName(tree, key)), put);
  }
}

/** `exit` in `{ exit: q }` and `{ ['exit']: q }`. */
function keyName(tree: SyntaxTree, key: SyntaxNode): string {
  const computed = key.type === 'computed_property_name' ? key.children.find(({ named }) => named) : key;
  return computed && (computed === key || isString(computed))
    ? contentOf(nodeText(tree, computed))
    : COMPUTED;
}

/** Functions of this text that are passed as arguments, and arguments that calls pass to a function literal. */
function bindArguments(
  tree: SyntaxTree,
  { links }: Chain,
  functions: ReadonlyMap<string, CalledFunctions>,
  reader: Reader,
  put: Put,
): void {
  const functionsOf = ({ name, value }: Pick<ChainLink, 'name' | 'value'>): CalledFunctions | undefined =>
    value ? calledIn(tree, value) : functions.get(name);
  for (const [i, { name, args, value }] of links.entries()) {
    if (!args) continue;
    const before = links.slice(0, i);
    const last = before.at(-1);
    // `((lib) => …)(assert)`, `f.call(object, assert)`: the function precedes the call.
    const front = name === '' ? (value ?? last?.value) : undefined;
    const called = functionsOf(front ? { name, value: front } : { name });
    const lent = last && /^(?:call|apply|bind)$/.test(name) ? functionsOf(last) : undefined;
    const how = { method: before.length > 0, valuesOf: reader.valuesOf };
    for (const { target, of, paths } of [
      ...givenParameters(tree, called, args, how),
      ...givenParameters(tree, lent, args.slice(1), { ...how, object: args[0] }),
    ]) {
      if (target === null) put('this', paths, of);
      else {
        const isDefault = /^(?:typed_)?default_parameter$/.test(target.type);
        bindPattern(tree, (isDefault && child(target, 'name')) || target, paths, (n, p) => put(n, p, of));
      }
    }
    bindCallbacks(tree, args, before, { name, reader, put });
  }
}

/** Function literals passed as arguments receive the items of the receiver, and the other arguments. */
function bindCallbacks(
  tree: SyntaxTree,
  args: readonly SyntaxNode[],
  before: readonly ChainLink[],
  { name, reader, put }: { readonly name: string; readonly reader: Reader; readonly put: Put },
): void {
  const callbacks = args.filter(({ type }) => FUNCTION.test(type));
  // A function itself has no value.
  const others = callbacks.length > 0 ? distinctPaths(args.flatMap(reader.valuesOf)) : [];
  for (const arg of callbacks) {
    const handed = HANDS_ON.test(name)
      ? reader.pathsOf(before, arg.from, false)
      : reader.itemsOf(before, arg.from);
    for (const target of parametersOf(arg))
      bindPattern(tree, target, [...handed, ...others], (n, p) => put(n, p, arg));
  }
}

/**
 * Where a parameter, a loop or a function of this text is called `test`. An exam, a laboratory or a matcher calls its
 * data so; without this such a name would stand for the module `test`.
 */
const scopesOfTest = (tree: SyntaxTree): readonly Scope[] =>
  tree.nodes.flatMap((node): readonly Scope[] => {
    if (introducesName(tree, node, 'test'))
      return [node.type === 'for_in_clause' ? (node.parent ?? node) : node];
    const name = child(node, 'name');
    const own = node.type === 'variable_declarator' ? child(node, 'value') : node;
    const isFunction = name && own && FUNCTION.test(own.type) && node.type !== 'method_definition';
    if (!isFunction || nodeText(tree, name) !== 'test') return [];
    const block = ancestors(node).find(({ type }) => /^(?:statement_block|block|program|module)$/.test(type));
    return block ? [block] : [];
  });
