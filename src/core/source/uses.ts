import { type Chain, type ChainLink, chainsOf, pathOf } from './chains.ts';
import {
  blankedText,
  child,
  contentOf,
  firstFrom,
  isString,
  nodesWithin,
  nodeText,
  type SyntaxNode,
  type SyntaxTree,
} from './tree.ts';

/** One place where something is read, called or given another value, by its name as it was imported. */
export interface Use {
  readonly node: SyntaxNode;
  readonly from: number;
  readonly to: number;
  /** `process.exit`, `Runtime.getRuntime().halt`: without `node:`, and with local names traced back to their origin. */
  readonly path: string;
  /** Null where it is not called. */
  readonly args: readonly SyntaxNode[] | null;
  /** It is assigned to, or deleted. */
  readonly written: boolean;
}

/** Local names with what they stand for. */
type Bindings = ReadonlyMap<string, string>;

const LOADS = /^(?:require|import|__import__|import_module|importlib\.import_module)$/;
const GLOBALS =
  /^(?:globalThis|global|window|self)\.(?=(?:process|globalThis|global|Object|Function|Reflect|JSON|Math|eval|require|console)\b)/;
const IMPORTS =
  /^(?:import_statement|import_from_statement|import_declaration|import_spec|use_declaration|using_directive|namespace_use_clause|export_statement)$/;
const WRITES =
  /^(?:assignment_expression|augmented_assignment_expression|assignment|augmented_assignment|operator_assignment|assignment_statement|compound_assignment_expr)$/;
/** Names that stand for themselves: they declare something, or are part of a longer name. */
const DECLARES =
  /^(?:name|alias|key|label|parameters|pattern|method|property|attribute|field|type|module_name)$/;
const MAX_ALIASES = 5;

const moduleName = (text: string): string =>
  text
    .replace(/^node:/, '')
    .replace(/\/strict$/, '')
    .replaceAll('::', '.');

/** Every use of a name in a text, in order; imports of a single name are uses of it, too. */
export function usesOf(tree: SyntaxTree, chains: readonly Chain[] = chainsOf(tree)): readonly Use[] {
  const imported = tree.nodes.flatMap((node) => importsIn(tree, node));
  const bindings = bindingsOf(tree, chains, imported);
  const inChain = new Set(chains.map(({ node }) => node));
  const plain = tree.nodes.flatMap((node): Chain[] => {
    if (inChain.has(node) || !isPlainName(node)) return [];
    return [
      {
        node,
        from: node.from,
        to: node.to,
        links: [{ name: nodeText(tree, node), args: null, to: node.to }],
      },
    ];
  });
  const uses = [...chains, ...plain].map(({ node, from, to, links }) => ({
    node,
    from,
    to,
    // A variable that gets another value is not what it stood for.
    path: links.length === 1 && isWritten(node) ? pathOf(links) : resolved(links, tree, bindings),
    args: links.at(-1)?.args ?? null,
    written: isWritten(node),
  }));
  const named = imported.flatMap(({ node, path }) =>
    path.includes('.') ? [{ node, from: node.from, to: node.to, path, args: null, written: false }] : [],
  );
  return [...uses, ...named, ...usesInErrors(tree, bindings)].sort((a, b) => a.from - b.from || b.to - a.to);
}

const isPlainName = ({ type, field, parent, children }: SyntaxNode): boolean =>
  /^(?:identifier|constant|shorthand_property_identifier_pattern)$/.test(type) &&
  children.length === 0 &&
  !DECLARES.test(field) &&
  !/member|selector|scoped|attribute|import|pattern$/.test(parent?.type ?? '');

function isWritten(node: SyntaxNode): boolean {
  const { parent, field } = node;
  if (!parent) return false;
  if (/^(?:delete_statement|expression_list|left_assignment_list|pattern_list)$/.test(parent.type))
    return parent.type === 'delete_statement' || isWritten(parent);
  if (parent.type === 'unary_expression') return parent.children[0]?.type === 'delete';
  return WRITES.test(parent.type) && (field === 'left' || parent.children[0] === node);
}

/** A chain's path with its first name traced back: through imports, `require`, and variables that stand for it. */
function resolved(links: readonly ChainLink[], tree: SyntaxTree, bindings: Bindings): string {
  const [first, ...rest] = links;
  if (!first) return '';
  const loaded = LOADS.test(pathOf(links.slice(0, first.args ? 1 : 2)))
    ? links.find(({ args }) => args !== null)
    : undefined;
  const [module] = loaded?.args ?? [];
  if (loaded && module && isString(module)) {
    const after = links.slice(links.indexOf(loaded) + 1).filter(({ name }) => name !== 'default');
    return pathOf([{ name: moduleName(contentOf(nodeText(tree, module))), args: null, to: 0 }, ...after]);
  }
  let root = first.name;
  for (let i = 0; i < MAX_ALIASES; i++) {
    const [word = '', ...more] = root.split('.');
    const origin = bindings.get(word);
    if (origin === undefined || origin.split('.')[0] === word) break;
    root = [origin, ...more].join('.');
  }
  const path = pathOf([{ ...first, name: root }, ...rest]).replace(/(^|\.)default(?:\.|$)/, '$1');
  return path
    .replace(GLOBALS, '')
    .replace(GLOBALS, '')
    .replace(/(?<=\w)\.(?:call|apply|bind)$/, '');
}

interface Imported {
  readonly node: SyntaxNode;
  readonly as: string;
  readonly path: string;
}

/** What an import brings: modules, and single names of them. */
function importsIn(tree: SyntaxTree, node: SyntaxNode): readonly Imported[] {
  if (!node.named || !IMPORTS.test(node.type)) return [];
  const source = child(node, 'source', 'module_name', 'path');
  const module = source ? moduleName(contentOf(nodeText(tree, source))) : '';
  const own = [...nodesWithin(tree, node)];
  const specifiers = own.flatMap((each): Imported[] => {
    if (!/^(?:import_specifier|export_specifier|aliased_import)$/.test(each.type))
      return each.type === 'dotted_name' && each.field === 'name' && each.parent === node
        ? [bringing(tree, each, each, module)]
        : [];
    const name = child(each, 'name');
    return name ? [bringing(tree, name, child(each, 'alias') ?? name, module)] : [];
  });
  const whole = own.find(
    ({ type, parent }) =>
      type === 'identifier' && /^(?:import_clause|namespace_import)$/.test(parent?.type ?? ''),
  );
  return [...specifiers, ...(whole ? [{ node: whole, as: nodeText(tree, whole), path: module }] : [])];
}

function bringing(tree: SyntaxTree, name: SyntaxNode, alias: SyntaxNode, module: string): Imported {
  const own = nodeText(tree, name);
  const local = nodeText(tree, alias);
  // `import a.b` gives the name `a`; `import a.b as c` gives `c`.
  if (module === '')
    return {
      node: name,
      as: alias === name ? (local.split('.')[0] ?? local) : local,
      path: alias === name ? (local.split('.')[0] ?? local) : own,
    };
  return { node: name, as: local, path: own === 'default' ? module : `${module}.${own}` };
}

function bindingsOf(tree: SyntaxTree, chains: readonly Chain[], imported: readonly Imported[]): Bindings {
  const bindings = new Map(imported.map(({ as, path }) => [as, path] as const));
  const byNode = new Map(chains.map(({ node, links }) => [node, links] as const));
  for (const node of tree.nodes) {
    if (!/^(?:variable_declarator|assignment|assignment_expression)$/.test(node.type)) continue;
    const target = child(node, 'name', 'left');
    const given = child(node, 'value', 'right');
    const value = assignedIn(given);
    if (!target || !given || !value) continue;
    const links =
      byNode.get(given) ??
      byNode.get(value) ??
      (isName(value) ? [{ name: nodeText(tree, value), args: null, to: 0 }] : null);
    if (!links || links.slice(1).some(({ args }) => args !== null)) continue;
    const path = resolved(links, tree, bindings);
    if (links[0]?.args && path.includes('()')) continue;
    for (const [as, name] of targetsOf(tree, target))
      bindings.set(as, name === '' ? path : `${path}.${name}`);
  }
  return bindings;
}

const isName = ({ type }: SyntaxNode): boolean => /^(?:identifier|constant|this)$/.test(type);
const assignedIn = (node: SyntaxNode | null): SyntaxNode | null =>
  node &&
  /^(?:await_expression|await|parenthesized_expression|as_expression|satisfies_expression)$/.test(node.type)
    ? assignedIn(node.children.find(({ named }) => named) ?? null)
    : node;

/** The names that a declaration gives, each with the property that it takes: `{ exit: q }` gives `q` from `exit`. */
function targetsOf(tree: SyntaxTree, target: SyntaxNode): readonly (readonly [as: string, name: string])[] {
  if (isName(target)) return [[nodeText(tree, target), '']];
  if (target.type !== 'object_pattern') return [];
  return target.children.flatMap((each): [string, string][] => {
    if (each.type === 'shorthand_property_identifier_pattern')
      return [[nodeText(tree, each), nodeText(tree, each)]];
    const [key, value] = [child(each, 'key'), child(each, 'value')];
    return key && value && isName(value) ? [[nodeText(tree, value), contentOf(nodeText(tree, key))]] : [];
  });
}

/** A path with its arguments, as far as they hold no further brackets than one level. */
const PATH =
  /(?<![\w$.])[A-Za-z_$][\w$]*!?(?:\s*(?:\(\s*\)\s*)?(?:\.|::|->|\?\.)\s*[A-Za-z_$][\w$]*!?){0,20}/g;
const ARGUMENTS = /^\s*\(((?:[^()]|\([^()]*\)){0,300})\)/;

/** Where a text does not parse, nodes are guesses, and some of it is in none: there paths are read from the text. */
function usesInErrors(tree: SyntaxTree, bindings: Bindings): readonly Use[] {
  if (!tree.isBroken) return [];
  const { code } = blankedText(tree);
  return [...code.matchAll(PATH)].flatMap(({ 0: match, index: from }) => {
    const to = from + match.length;
    const node = tree.nodes[firstFrom(tree, from)] ?? tree.nodes.at(-1);
    const given = ARGUMENTS.exec(code.slice(to, to + 400));
    const links = match.split(/\s*(?:\.|::|->|\?\.)\s*/).map((name, i, all) => {
      const called = i === all.length - 1 ? given !== null : name.includes('(');
      return { name: name.replace(/[\s()]/g, ''), args: called ? [] : null, to };
    });
    const inside = given ? { from: code.indexOf('(', to) + 1, to: to + given[0].length - 1 } : null;
    const args =
      inside && inside.to > inside.from && node ? [{ ...node, ...inside, type: 'tokens', children: [] }] : [];
    const written = /^\s*=(?![=>])/.test(code.slice(to, to + 20));
    return node
      ? [
          {
            node,
            from,
            to,
            path: resolved(links, tree, written && links.length === 1 ? new Map() : bindings),
            args: given && args,
            written,
          },
        ]
      : [];
  });
}
