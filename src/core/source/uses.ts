import { type Bindings, bindingsOf, type Imported } from './bindings.ts';
import { type Exported, NO_EXPORTS } from './exports.ts';
import { type Chain, type ChainLink, chainsOf, pathOf, TOKENS } from './expressions.ts';
import {
  blankedText,
  child,
  contentOf,
  firstFrom,
  nodesWithin,
  nodeText,
  type SyntaxNode,
  type SyntaxTree,
} from './tree.ts';
import { moduleName } from './values.ts';

/** One place where a value is read, called or reassigned, by its imported name. */
export interface Use {
  readonly node: SyntaxNode;
  readonly from: number;
  readonly to: number;
  /** `process.exit`, `Runtime.getRuntime().halt`: without `node:`, and with local names traced back to their origin. */
  readonly path: string;
  /** Null if it is not called. */
  readonly args: readonly SyntaxNode[] | null;
  /** It is assigned to, or deleted. */
  readonly written: boolean;
}

const IMPORTS =
  /^(?:import_statement|import_from_statement|import_declaration|import_spec|use_declaration|using_directive|namespace_use_clause|export_statement)$/;
const WRITES =
  /^(?:assignment_expression|augmented_assignment_expression|assignment|augmented_assignment|operator_assignment|assignment_statement|compound_assignment_expr)$/;
/** Names that refer to nothing else: declarations, or parts of a longer name. */
const DECLARES =
  /^(?:name|alias|key|label|parameters|pattern|method|property|attribute|field|type|module_name)$/;
/** The names of a text, with their meanings. */
export interface TextNames {
  readonly tree: SyntaxTree;
  readonly chains: readonly Chain[];
  readonly imported: readonly Imported[];
  readonly bindings: Bindings;
}

/** `exported`: what the patch's other files export. */
export function textNames(tree: SyntaxTree, exported: Exported = NO_EXPORTS): TextNames {
  const chains = chainsOf(tree);
  const imported = tree.nodes.flatMap((node) => importsIn(tree, node));
  return { tree, chains, imported, bindings: bindingsOf(tree, chains, imported, exported) };
}

/**
 * Every use of a name that begins where it `counts`, in order; imports of a single name are uses of it, too. A name
 * with several possible meanings has a use for each.
 */
export function usesOf(
  { tree, chains: all, imported, bindings }: TextNames,
  counts: (offset: number) => boolean,
): readonly Use[] {
  const inChain = new Set(all.map(({ node }) => node));
  const chains = all.filter(({ from }) => counts(from));
  const plain = tree.nodes.flatMap((node): Chain[] => {
    if (!isPlainName(node) || inChain.has(node) || !counts(node.from)) return [];
    return [
      {
        node,
        from: node.from,
        to: node.to,
        links: [{ name: nodeText(tree, node), args: null, to: node.to }],
      },
    ];
  });
  const uses = [...chains, ...plain].flatMap(({ node, from, to, links }): Use[] => {
    const written = isWritten(node);
    // A variable that is reassigned no longer has its original meaning.
    const paths = links.length === 1 && written ? [pathOf(links)] : bindings.pathsOf(links, from, written);
    const args = links.at(-1)?.args ?? null;
    return [
      ...paths.map((path) => ({ node, from, to, path, args, written })),
      ...calledOnTheWay(links).flatMap((some) =>
        bindings
          .pathsOf(some, from, false)
          .map((path) => ({ node, from, to, path, args: some.at(-1)?.args ?? null, written: false })),
      ),
    ];
  });
  const named = imported.flatMap(({ node, path }) =>
    path.includes('.') && counts(node.from)
      ? [{ node, from: node.from, to: node.to, path, args: null, written: false }]
      : [],
  );
  return [...uses, ...named, ...usesInErrors(tree, bindings, counts)].sort(
    (a, b) => a.from - b.from || b.to - a.to,
  );
}

/** `mock.patch.object(x)` in `mock.patch.object(x).start()`: named calls that are continued. */
const calledOnTheWay = (links: readonly ChainLink[]): readonly (readonly ChainLink[])[] =>
  links.flatMap(({ args }, i) =>
    args !== null && i < links.length - 1 && links[i]?.name !== '' ? [links.slice(0, i + 1)] : [],
  );

const isPlainName = ({ type, field, parent, children }: SyntaxNode): boolean =>
  /^(?:identifier|constant|global_variable|shorthand_property_identifier_pattern)$/.test(type) &&
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

/** Names introduced by an import: modules, and single exports. */
function importsIn(tree: SyntaxTree, node: SyntaxNode): readonly Imported[] {
  if (!node.named || !IMPORTS.test(node.type)) return [];
  const declared = importedByPath(tree, node);
  if (declared.length > 0) return declared;
  const clause = node.children.find(({ type }) => type === 'import_require_clause');
  const source = child(node, 'source', 'module_name', 'path') ?? (clause ? child(clause, 'source') : null);
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
      type === 'identifier' &&
      /^(?:import_clause|namespace_import|namespace_export|import_require_clause)$/.test(parent?.type ?? ''),
  );
  return [...specifiers, ...(whole ? [{ node: whole, as: nodeText(tree, whole), path: module }] : [])];
}

/**
 * Imports of Go under another name, of Rust, of static members of Java, and of PHP: a path, of which the end is the
 * name.
 */
function importedByPath(tree: SyntaxTree, node: SyntaxNode): readonly Imported[] {
  const whole = nodeText(tree, node);
  const text = whole.slice(0, MAX_IMPORT_CHARS);
  const put = (path: string, as: string): Imported => ({ node, as, path });
  switch (node.type) {
    case 'import_spec': {
      const [, as, path] = /^(\w+)\s+"(?:.*\/)?([^"/]+)"/.exec(text) ?? [];
      return as && path ? [put(path, as)] : [];
    }
    case 'use_declaration':
      return usePaths(whole.replace(/^[\s\S]*?\buse\s+/, '').replace(/;$/, '')).map(([path, as]) =>
        put(path, as),
      );
    case 'import_declaration': {
      const [, path, as] = /^import\s+static\s+(?:[a-z]\w*\.)*([\w.]+?\.(\w+))\s*;/.exec(text) ?? [];
      return as && path ? [put(path, as)] : [];
    }
    case 'namespace_use_clause': {
      const [, path, last, as = last] = /^\\?((?:\w+\\)+(\w+))(?:\s+as\s+(\w+))?$/.exec(text) ?? [];
      return as && path ? [put(path, as)] : [];
    }
    default:
      return [];
  }
}
/** Maximum characters of an import of one name. */
const MAX_IMPORT_CHARS = 1_000;

/**
 * `std::{env::var as v, process}`: each path with the name by which it is known. Read from left to right, so that the
 * length and the depth of an import do not matter.
 */
function usePaths(text: string): readonly (readonly [path: string, as: string])[] {
  const found: (readonly [string, string])[] = [];
  const prefixes = [''];
  let own = '';
  const end = () => {
    const [, path, as] = /^\s*([\w:]+?)(?:\s+as\s+(\w+))?\s*$/.exec(own) ?? [];
    own = '';
    const prefix = prefixes.at(-1) ?? '';
    if (!path || prefix.length + path.length > MAX_USE_CHARS) return;
    const whole = `${prefix}${path}`.replace(/::self$/, '').replaceAll('::', '.');
    const name = as ?? whole.split('.').at(-1);
    if (name) found.push([whole, name]);
  };
  for (const piece of text.split(/([{},])/)) {
    if (piece === '{') {
      prefixes.push(`${prefixes.at(-1) ?? ''}${own.trim()}`);
      own = '';
    } else if (piece === '}' || piece === ',') {
      end();
      if (piece === '}') prefixes.pop();
    } else own = piece;
  }
  end();
  return found;
}
/** Longer paths stand for nothing that a rule knows. */
const MAX_USE_CHARS = 1_000;

function bringing(tree: SyntaxTree, name: SyntaxNode, alias: SyntaxNode, module: string): Imported {
  const own = nodeText(tree, name);
  const local = nodeText(tree, alias);
  // `import a.b` introduces the name `a`; `import a.b as c` introduces `c`.
  if (module === '')
    return {
      node: name,
      as: alias === name ? (local.split('.')[0] ?? local) : local,
      path: alias === name ? (local.split('.')[0] ?? local) : own,
    };
  return { node: name, as: local, path: own === 'default' ? module : `${module}.${own}` };
}

/** A path with its arguments, with at most one level of nested brackets. */
const PATH =
  /(?<![\w$.])[A-Za-z_$][\w$]*!?(?:\s*(?:\(\s*\)\s*)?(?:\.|::|->|\?\.)\s*[A-Za-z_$][\w$]*!?){0,20}/g;
const ARGUMENTS = /^\s*\(((?:[^()]|\([^()]*\)){0,300})\)/;

/** In a text that does not parse, nodes are unreliable or missing: paths are then read from the text. */
function usesInErrors(
  tree: SyntaxTree,
  bindings: Bindings,
  counts: (offset: number) => boolean,
): readonly Use[] {
  if (!tree.isBroken) return [];
  const { code } = blankedText(tree);
  return [...code.matchAll(PATH)].flatMap(({ 0: match, index: from }) => {
    if (!counts(from)) return [];
    const to = from + match.length;
    const node = tree.nodes[firstFrom(tree, from)] ?? tree.nodes.at(-1);
    const given = ARGUMENTS.exec(code.slice(to, to + 400));
    const links = match.split(/\s*(?:\.|::|->|\?\.)\s*/).map((name, i, all) => {
      const called = i === all.length - 1 ? given !== null : name.includes('(');
      return { name: name.replace(/[\s()]/g, ''), args: called ? [] : null, to };
    });
    const inside = given ? { from: code.indexOf('(', to) + 1, to: to + given[0].length - 1 } : null;
    const args =
      inside && inside.to > inside.from && node ? [{ ...node, ...TOKENS, ...inside, children: [] }] : [];
    const written = /^\s*=(?![=>])/.test(code.slice(to, to + 20));
    return node
      ? [
          {
            node,
            from,
            to,
            path:
              written && links.length === 1
                ? pathOf(links)
                : (bindings.pathsOf(links, from, written)[0] ?? pathOf(links)),
            args: given && args,
            written,
          },
        ]
      : [];
  });
}
