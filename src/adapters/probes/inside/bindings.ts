import { type Edit, type Node, walk } from './syntax.ts';

interface Bindings {
  readonly edits: readonly Edit[];
  /** Statements that declare the names of ES imports again, wrapped. */
  readonly statements: readonly string[];
  readonly esm: boolean;
}

const ASSERT_MODULES =
  /^((node:)?assert(\/strict)?|chai|power-assert|should|uvu\/assert|expect|expect\.js|must)$/;
const FRAMEWORKS = /^(tape|tap|ava|mocha|vitest|jest|uvu|node:test|@jest\/globals|bun:test|japa|qunit)$/;
const TEST_WORDS =
  /^(describe|suite|context|it|test|specify|before|after|beforeEach|afterEach|beforeAll|afterAll|x?test|x?it|xdescribe|fit|vi|jest|mock)$/;

/** How the name of an import is wrapped; null if it stays as it is. */
function wrapOf(specifier: string, name: string, own: string | null): ((value: string) => string) | null {
  const text = JSON.stringify(name);
  if (ASSERT_MODULES.test(specifier)) {
    return name === 'expect'
      ? (value) => `__p.theirs("expect", ${value})`
      : (value) => `__p.theirs(${text}, ${value}, "assert")`;
  }
  if (name === 'expect' || name === 'assert') return (value) => `__p.theirs(${text}, ${value})`;
  if (specifier === 'tap' && name !== '' && !TEST_WORDS.test(name))
    return (value) => `__p.theirs(${text}, ${value}, "t")`;
  if (FRAMEWORKS.test(specifier) || TEST_WORDS.test(name)) return null;
  const ours =
    /^[.#]|^[@~]\//.test(specifier) || specifier === own || (own !== null && specifier.startsWith(`${own}/`));
  return ours ? (value) => `__p.ours(${text}, ${value})` : null;
}

/** Finds the names that a file imports or requires and that must be wrapped; `own` is the package's name. */
export function bindingsOf(root: Node, own: string | null): Bindings {
  const edits: Edit[] = [];
  const statements: string[] = [];
  const values = valueNames(root);
  let esm = false;
  let nth = 0;
  const rename = (node: Node, name: string, specifier: string, asSpecifier: boolean): void => {
    const wrap = values.has(name) ? wrapOf(specifier, name, own) : null;
    if (!wrap) return;
    const fresh = `__i${nth}`;
    nth += 1;
    const imported = asSpecifier ? (node.field('name')?.text ?? name) : '';
    edits.push({
      start: node.startIndex,
      end: node.endIndex,
      open: asSpecifier ? `${imported} as ${fresh}` : fresh,
      close: '',
      replace: true,
    });
    statements.push(`const ${name} = ${wrap(fresh)};`);
  };
  for (const statement of root.children) {
    if (statement.type === 'import_statement') {
      esm = true;
      importNames(statement, rename);
    }
    if (statement.type === 'export_statement') esm = true;
    if (/^(variable|lexical)_declaration$/.test(statement.type)) edits.push(...requireEdits(statement, own));
  }
  if (usesGlobalExpect(root)) statements.push('const expect = __p.theirs("expect", globalThis.expect);');
  return { edits, statements, esm };
}

function importNames(
  statement: Node,
  rename: (node: Node, name: string, specifier: string, asSpecifier: boolean) => void,
): void {
  const source = statement.field('source');
  const clause = statement.children.find((child) => child.type === 'import_clause');
  if (!source || !clause || /^import\s+type\b/.test(statement.text)) return;
  const specifier = source.text.slice(1, -1);
  for (const node of walk(
    clause,
    (each) => each.type !== 'import_specifier' && each.type !== 'namespace_import',
  )) {
    if (node.type === 'identifier') rename(node, node.text, specifier, false);
    if (node.type === 'namespace_import') {
      const name = node.children[0];
      if (name) rename(name, name.text, specifier, false);
    }
    if (node.type === 'import_specifier' && !/^type\s/.test(node.text)) {
      const name = (node.field('alias') ?? node.field('name'))?.text;
      if (name) rename(node, name, specifier, true);
    }
  }
}

/** Names that are used as values outside of imports; in TypeScript an import may be a type only. */
function valueNames(root: Node): ReadonlySet<string> {
  const names = new Set<string>();
  for (const node of walk(root, (each) => each.type !== 'import_statement')) {
    if (node.type === 'identifier' || node.type === 'shorthand_property_identifier') names.add(node.text);
  }
  return names;
}

function requireEdits(declaration: Node, own: string | null): readonly Edit[] {
  return declaration.children.flatMap((declarator) => {
    const value = declarator.field('value');
    const name = declarator.field('name');
    const specifier = value ? requiredBy(value) : null;
    if (!value || !name || specifier === null) return [];
    const wrap = wrapOf(specifier, name.type === 'identifier' ? name.text : '', own);
    if (!wrap) return [];
    const [open = '', close = ''] = wrap('\0').split('\0');
    return [{ start: value.startIndex, end: value.endIndex, open, close }];
  });
}

/** The module in `require('…')`, or in a property of it. */
function requiredBy(value: Node): string | null {
  if (value.type === 'member_expression') {
    const object = value.field('object');
    return object ? requiredBy(object) : null;
  }
  if (value.type !== 'call_expression' || value.field('function')?.text !== 'require') return null;
  const [argument] = (value.field('arguments') ?? value).children;
  return argument?.type === 'string' ? argument.text.slice(1, -1) : null;
}

/** Whether `expect` is called and not declared in the file. */
function usesGlobalExpect(root: Node): boolean {
  let used = false;
  for (const node of walk(root)) {
    if (node.text.length > 60 || node.type !== 'identifier' || node.text !== 'expect') {
      if (node.type === 'shorthand_property_identifier_pattern' && node.text === 'expect') return false;
      continue;
    }
    const { parent } = node;
    const declares =
      /^(variable_declarator|import_specifier|import_clause|formal_parameters|function_declaration|array_pattern|required_parameter)$/;
    if (parent && declares.test(parent.type) && parent.field('value') !== node) return false;
    if (parent?.type === 'call_expression') used = true;
  }
  return used;
}
