import type { ValuesOf } from './expressions.ts';
import { functionsByName, functionsIn, parametersOf } from './functions.ts';
import { child, nodeText, type SyntaxNode, type SyntaxTree } from './tree.ts';

/** Maximum meanings of a name; more are not followed. */
export const MAX_BOUND_PATHS = 6;
/** Maximum characters of a name, and of what it refers to. */
export const MAX_PATH_CHARS = 300;

/** The functions of a name, and what calls by this name have given them. */
export interface CalledFunctions {
  /** The parameters that get an argument, by its place: a number, after the object of a method, or a name. */
  readonly targets: ReadonlyMap<string, readonly Parameter[]>;
  /** What each place has got: all functions of the name get the same. */
  readonly given: Map<string, Set<string>>;
}

interface Parameter {
  /** Null for `this`. */
  readonly target: SyntaxNode | null;
  readonly of: SyntaxNode;
}

const THIS = 'this';
const argumentPlace = (index: number, method: boolean): string => `${index} ${method}`;

function calledFunctions(tree: SyntaxTree, nodes: readonly SyntaxNode[]): CalledFunctions {
  const targets = new Map<string, Parameter[]>();
  const put = (place: string, parameter: Parameter) => {
    const all = targets.get(place) ?? [];
    targets.set(place, all);
    all.push(parameter);
  };
  for (const of of nodes) {
    const parameters = parametersOf(of);
    const [first] = parameters;
    const hasSelf = first !== undefined && /^(?:self|cls)$/.test(nodeText(tree, first));
    put(THIS, { target: null, of });
    for (const [i, target] of parameters.entries()) {
      put(argumentPlace(i, false), { target, of });
      put(argumentPlace(hasSelf ? i - 1 : i, true), { target, of });
      put(`=${nodeText(tree, child(target, 'name') ?? target.children[0] ?? target)}`, { target, of });
    }
  }
  return { targets, given: new Map() };
}

export const calledByName = (tree: SyntaxTree): ReadonlyMap<string, CalledFunctions> =>
  new Map([...functionsByName(tree)].map(([name, nodes]) => [name, calledFunctions(tree, nodes)] as const));

export const calledIn = (tree: SyntaxTree, node: SyntaxNode): CalledFunctions =>
  calledFunctions(tree, functionsIn(node));

/** As many as a name can have. */
export const distinctPaths = (paths: readonly string[]): readonly string[] =>
  [...new Set(paths.filter((path) => path.length < MAX_PATH_CHARS))].slice(0, MAX_BOUND_PATHS);

interface CallOptions {
  readonly method: boolean;
  readonly valuesOf: ValuesOf;
  /** What `this` is in the function. */
  readonly object?: SyntaxNode | undefined;
}

/**
 * What the arguments of a call give the parameters of the functions that may be called. A path is new for all functions
 * of a name or for none, so that many calls of many functions cost no more than their sum.
 */
export function givenParameters(
  tree: SyntaxTree,
  called: CalledFunctions | undefined,
  args: readonly SyntaxNode[],
  { method, valuesOf, object }: CallOptions,
): readonly (Parameter & { readonly paths: readonly string[] })[] {
  if (!called) return [];
  const { targets, given } = called;
  const give = (place: string, value: SyntaxNode) => {
    const parameters = targets.get(place);
    const known = given.get(place) ?? new Set<string>();
    if (!parameters || known.size >= MAX_BOUND_PATHS) return [];
    given.set(place, known);
    const paths = distinctPaths(valuesOf(value)).filter((path) => !known.has(path));
    for (const path of paths) known.add(path);
    return paths.length === 0 ? [] : parameters.map((parameter) => ({ ...parameter, paths }));
  };
  const own = args.flatMap((arg, i) => {
    const [key, value] = [child(arg, 'name'), child(arg, 'value')];
    return arg.type === 'keyword_argument' && key && value
      ? give(`=${nodeText(tree, key)}`, value)
      : give(argumentPlace(i, method), arg);
  });
  return [...(object ? give(THIS, object) : []), ...own];
}
