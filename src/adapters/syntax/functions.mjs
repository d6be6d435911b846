// Runs inside the sandbox: names the functions and types that lines of a file belong to. Never executes the files.
// stdin: JSON array of { path, ranges: [[first, last], …] }, lines from 1, both ends included; stdout: JSON array of
// { path, functions }, without files that no grammar reads. A line belongs to the innermost one around it, named with
// those around that one: `Server.listen`.
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { openGrammars } from './grammars.mjs';
import { COMPONENT, extensionByProgram, GRAMMARS, PYTHON, TYPESCRIPT } from './languages.mjs';
import { textOf } from './texts.mjs';
import { walk } from './trees.mjs';

const MOST_DEFINITIONS = 10_000;
const MOST_NAMES = 500;
const MOST_CHARACTERS = 200;
/** Names in any script; other text in a name's place is an expression. */
const NAME = /^[\p{L}\p{N}_$#~?!]+(?:\.[\p{L}\p{N}_$#~?!]+)*$/u;

const LANGUAGES = {
  ...GRAMMARS,
  '.js': COMPONENT,
  '.mjs': COMPONENT,
  '.cjs': COMPONENT,
  '.ts': TYPESCRIPT,
  '.mts': TYPESCRIPT,
  '.cts': TYPESCRIPT,
  '.py': PYTHON,
  '.pyi': PYTHON,
};

/** Nodes of all the grammars that give their `name` to what stands in them. */
const DEFINITIONS = new Set(
  `function_declaration generator_function_declaration function_definition function_item function_signature_item
  method_declaration method_definition method singleton_method constructor_declaration property_declaration
  compact_constructor_declaration local_function_statement class_declaration abstract_class_declaration
  class_definition class_specifier class interface_declaration enum_declaration enum_item enum_specifier
  struct_declaration struct_item struct_specifier record_declaration union_item union_specifier trait_declaration
  trait_item mod_item module internal_module macro_definition type_spec type_alias_declaration`.split(/\s+/),
);
/** Nodes that name a function without a name of its own: which child is the name. */
const HOLDERS = {
  variable_declarator: 'name',
  pair: 'key',
  assignment_expression: 'left',
  field_definition: 'property',
  public_field_definition: 'name',
};
const FUNCTIONS = new Set(['arrow_function', 'function_expression', 'generator_function', 'class']);

const textOfName = (node) => (node && node.endIndex - node.startIndex <= MOST_CHARACTERS ? node.text : null);

/** What a declarator of C or C++ is inside: `*a(int b)` and `&a(int b)` are an `a(int b)`, and that is an `a`. */
const inside = (node) =>
  node.childForFieldName('declarator') ??
  (node.type === 'reference_declarator' ? node.firstNamedChild : null);

/** The name that a definition in C or C++ declares. */
function declared(node) {
  let inner = node.childForFieldName('declarator');
  for (let next = inner && inside(inner); next; next = inside(inner)) inner = next;
  return textOfName(inner);
}

/** The type in `(s *Server[T])`. */
const receiver = (text) => /(\w+)\s*(?:\[[^\]]*\])?\s*\)$/.exec(text)?.[1] ?? '';

function rawName(node) {
  const { type } = node;
  const child = (field) => textOfName(node.childForFieldName(field));
  if (type === 'impl_item') return child('type')?.replace(/<.*/s, '') ?? null;
  if (Object.hasOwn(HOLDERS, type)) {
    const value = node.childForFieldName('value') ?? node.childForFieldName('right');
    return value && FUNCTIONS.has(value.type)
      ? (child(HOLDERS[type])?.replace(/^["']|["']$/g, '') ?? null)
      : null;
  }
  if (!DEFINITIONS.has(type)) return null;
  const name = child('name') ?? declared(node);
  const on = child('receiver');
  return name && on ? `${receiver(on)}.${name}` : name;
}

function nameOf(node) {
  const name = rawName(node)?.replaceAll('::', '.').replace('.prototype.', '.') ?? null;
  return name !== null && NAME.test(name) ? name : null;
}

/** `{ name, first, last }` of each definition, outer ones first, rows from 0; null when there was not the time. */
function definitionsIn(tree, isOver) {
  const found = [];
  const around = [''];
  const isWhole = walk(tree, {
    enter(cursor) {
      const outer = around.at(-1);
      const node = cursor.nodeIsNamed ? cursor.currentNode : null;
      // Deeper nesting than a name can hold is nobody's code; it would cost a step for every line and level.
      const own = node && outer.length < MOST_CHARACTERS ? nameOf(node) : null;
      const name = own && outer ? `${outer}.${own}`.slice(0, MOST_CHARACTERS) : (own ?? outer);
      if (own) found.push({ name, first: node.startPosition.row, last: node.endPosition.row });
      around.push(name);
      return isOver() || found.length > MOST_DEFINITIONS ? 'stop' : 'in';
    },
    leave: () => around.pop(),
  });
  return isWhole ? found : null;
}

/** Names of the innermost definitions around the rows of the ranges, in alphabetical order. */
function namesAt(definitions, ranges) {
  const names = new Set();
  for (const [first, last] of ranges) {
    const owners = new Map();
    for (const { name, ...rows } of definitions) {
      const to = Math.min(last - 1, rows.last);
      for (let row = Math.max(first - 1, rows.first); row <= to; row += 1) owners.set(row, name);
    }
    for (const name of owners.values()) names.add(name);
  }
  return [...names].sort().slice(0, MOST_NAMES);
}

const grammars = openGrammars();
const answers = [];
for (const { path, ranges } of JSON.parse(readFileSync(0, 'utf8'))) {
  const text = textOf(path);
  const language = text === null ? undefined : LANGUAGES[extname(path) || extensionByProgram(text)];
  if (!language) continue;
  const { grammar, prepare = (same) => same } = language;
  const definitions = await grammars.read(grammar, prepare(text), definitionsIn);
  if (definitions) answers.push({ path, functions: namesAt(definitions, ranges) });
}
process.stdout.write(JSON.stringify(answers));
