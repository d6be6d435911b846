import { dirname, join, normalize, relative } from 'node:path';
import {
  type ExportDeclaration,
  type ImportDeclaration,
  isCallExpression,
  isClassDeclaration,
  isEnumDeclaration,
  isExportAssignment,
  isExportDeclaration,
  isFunctionLikeDeclaration,
  isIdentifier,
  isImportDeclaration,
  isImportTypeNode,
  isLiteralTypeNode,
  isModuleDeclaration,
  isNamedExports,
  isNamedImports,
  isNewExpression,
  isPropertyAccessExpression,
  isStringLiteral,
  isVariableStatement,
  type Node,
  NodeFlags,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';

/** One source file, as far as the rules look at it. Paths are relative to the project's folder, with `/`. */
export interface Source {
  readonly path: string;
  readonly lines: number;
  readonly imports: readonly Import[];
  readonly functions: readonly FunctionSpan[];
  /** What the house rules forbid outright, where it stands. */
  readonly forbidden: readonly { readonly what: Forbidden; readonly line: number }[];
  /** Uses of what Node gives without an import: clock, chance, environment, timers, network, console. */
  readonly ambient: readonly { readonly what: string; readonly line: number }[];
  /** Names of functions, constants, classes and types at the top of the file. */
  readonly names: readonly string[];
}
export interface Import {
  /** A path as in `Source`, or a package as it was written. */
  readonly to: string;
  readonly internal: boolean;
  /** Types only: nothing is loaded when the program runs. */
  readonly types: boolean;
  readonly line: number;
}
export interface FunctionSpan {
  readonly name: string;
  readonly line: number;
  /** From its first line to its last, without what is inside functions in it: those are counted themselves. */
  readonly lines: number;
}
export type Forbidden =
  | 'any'
  | 'default export'
  | 'enum'
  | 'namespace'
  | 'module-level let'
  | 'parameter property';

// Only the syntax matters here: no library and no imported module is read, which takes milliseconds, not seconds.
const SYNTAX_ONLY = JSON.stringify({
  compilerOptions: { module: 'nodenext', noEmit: true, noLib: true, noResolve: true, types: [] },
  include: ['src', 'packages/*/src'],
});

/** Reads all TypeScript files below `src`, and those of the packages of the workspace, with TypeScript's own parser. */
export function readSources(root: string): readonly Source[] {
  const config = join(root, 'tsconfig.json');
  const readFile = (name: string): string | undefined => (name === config ? SYNTAX_ONLY : undefined);
  const api = new API({ cwd: root, fs: { readFile } });
  try {
    const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects();
    if (!project) throw new Error(`TypeScript found no project in ${root}.`);
    const own = project.program
      .getSourceFileNames()
      .filter((name) => /^(?:src|packages\/[^/]+\/src)\//.test(relative(root, name)));
    return own.sort().map((name) => {
      const file = project.program.getSourceFile(name);
      if (!file) throw new Error(`TypeScript did not give the syntax tree of ${name}.`);
      return readSource(root, file);
    });
  } finally {
    api.close();
  }
}

function readSource(root: string, file: SourceFile): Source {
  const path = relative(root, file.fileName);
  const lineOf = (position: number): number => file.getLineAndCharacterOfPosition(position).line + 1;
  const start = (node: Node): number => lineOf(node.getStart(file));
  const source = {
    imports: [] as Import[],
    functions: [] as FunctionSpan[],
    forbidden: [] as Source['forbidden'][number][],
    ambient: [] as Source['ambient'][number][],
  };

  /** Visits what is below a node; returns how many lines in it lie inside functions. */
  const visitBelow = (node: Node): number => {
    const inside = { lines: 0 };
    node.forEachChild((child) => {
      inside.lines += visit(child);
    });
    return inside.lines;
  };
  const visit = (node: Node): number => {
    const specifier = specifierOf(node);
    if (specifier)
      source.imports.push({ ...target(path, specifier.text), types: specifier.types, line: start(node) });
    for (const what of forbiddenIn(node, file)) source.forbidden.push({ what, line: start(node) });
    const ambient = ambientIn(node);
    if (ambient) source.ambient.push({ what: ambient, line: start(node) });
    const inside = visitBelow(node);
    if (!isFunctionLikeDeclaration(node)) return inside;
    const line = start(node);
    const lines = lineOf(node.end) - line + 1;
    source.functions.push({ name: nameOf(node, file), line, lines: lines - inside });
    return Math.max(0, lines - 2);
  };
  visitBelow(file);
  return { path, lines: file.text.replace(/\n$/, '').split('\n').length, names: namesIn(file), ...source };
}

/** An overloaded function has its name once. */
function namesIn(file: SourceFile): readonly string[] {
  const declared = file.statements.flatMap((node: Node): readonly Node[] => {
    if (isVariableStatement(node)) return [...node.declarationList.declarations];
    return DECLARATIONS.has(node.kind) ? [node] : [];
  });
  return [...new Set(declared.map((node) => nameOf(node, file)))];
}

const DECLARATIONS: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.ClassDeclaration,
  SyntaxKind.InterfaceDeclaration,
  SyntaxKind.TypeAliasDeclaration,
]);

function target(from: string, specifier: string): Pick<Import, 'to' | 'internal'> {
  if (!specifier.startsWith('.')) return { to: specifier, internal: false };
  return { to: normalize(join(dirname(from), specifier)), internal: true };
}

/** The module that a node loads, or takes types from. */
function specifierOf(node: Node): { readonly text: string; readonly types: boolean } | null {
  if (isImportDeclaration(node)) return literal(node.moduleSpecifier, importsTypes(node));
  if (isExportDeclaration(node) && node.moduleSpecifier)
    return literal(node.moduleSpecifier, exportsTypes(node));
  if (isCallExpression(node) && node.expression.kind === SyntaxKind.ImportKeyword) {
    const [argument] = node.arguments;
    return argument ? literal(argument, false) : null;
  }
  if (isImportTypeNode(node) && isLiteralTypeNode(node.argument)) return literal(node.argument.literal, true);
  return null;
}

const literal = (node: Node, types: boolean) => (isStringLiteral(node) ? { text: node.text, types } : null);

// `import { type A } from` still loads the module when types are stripped, but it takes nothing that a circle could
// leave undefined; what counts here is whether values flow.
function importsTypes({ importClause }: ImportDeclaration): boolean {
  if (!importClause) return false;
  if (importClause.phaseModifier === SyntaxKind.TypeKeyword) return true;
  const { name, namedBindings } = importClause;
  if (name || !namedBindings || !isNamedImports(namedBindings)) return false;
  return namedBindings.elements.length > 0 && namedBindings.elements.every((element) => element.isTypeOnly);
}

function exportsTypes({ isTypeOnly, exportClause }: ExportDeclaration): boolean {
  if (isTypeOnly) return true;
  if (!exportClause || !isNamedExports(exportClause)) return false;
  return exportClause.elements.length > 0 && exportClause.elements.every((element) => element.isTypeOnly);
}

function forbiddenIn(node: Node, file: SourceFile): readonly Forbidden[] {
  if (node.kind === SyntaxKind.AnyKeyword) return ['any'];
  if (isEnumDeclaration(node)) return ['enum'];
  if (isModuleDeclaration(node)) return ['namespace'];
  if (isExportAssignment(node)) return ['default export'];
  if (isClassDeclaration(node)) return node.members.some(hasParameterProperty) ? ['parameter property'] : [];
  if (isVariableStatement(node) && node.parent === file) {
    return node.declarationList.flags & NodeFlags.Let ? ['module-level let'] : [];
  }
  return exportsDefault(node) ? ['default export'] : [];
}

const AMBIENT_OBJECTS: ReadonlySet<string> = new Set([
  'process',
  'performance',
  'crypto',
  'console',
  'globalThis',
]);
const AMBIENT_CALLS: ReadonlySet<string> = new Set([
  'fetch',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'Date',
]);
const AMBIENT_MEMBERS: ReadonlySet<string> = new Set(['Date.now', 'Math.random']);

function ambientIn(node: Node): string | null {
  if (isPropertyAccessExpression(node) && isIdentifier(node.expression)) {
    const member = `${node.expression.text}.${node.name.text}`;
    return AMBIENT_OBJECTS.has(node.expression.text) || AMBIENT_MEMBERS.has(member) ? member : null;
  }
  if (isNewExpression(node) && isIdentifier(node.expression) && node.expression.text === 'Date') {
    return node.arguments?.length ? null : 'new Date()';
  }
  const called = isCallExpression(node) && isIdentifier(node.expression) ? node.expression.text : '';
  return AMBIENT_CALLS.has(called) ? `${called}()` : null;
}

/** `export { x as default }`, or the `default` modifier of a function or class. */
function exportsDefault(node: Node): boolean {
  if (node.kind === SyntaxKind.DefaultKeyword) return node.parent?.kind !== SyntaxKind.DefaultClause;
  if (!isExportDeclaration(node) || !node.exportClause || !isNamedExports(node.exportClause)) return false;
  return node.exportClause.elements.some((element) => element.name.text === 'default');
}

function hasParameterProperty(member: Node): boolean {
  if (member.kind !== SyntaxKind.Constructor || !isFunctionLikeDeclaration(member)) return false;
  return member.parameters.some((parameter) => (parameter.modifiers?.length ?? 0) > 0);
}

function nameOf(node: Node, file: SourceFile): string {
  const named = node as Node & { readonly name?: Node };
  const owner = named.name ?? (node.parent as (Node & { readonly name?: Node }) | undefined)?.name;
  return owner ? file.text.slice(owner.getStart(file), owner.end) : '(anonymous)';
}
