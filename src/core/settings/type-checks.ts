import { isTypeCheck } from './command-kinds.ts';
import type { FoundCommand } from './last-resorts.ts';
import { nodeManager } from './node-managers.ts';
import { type PackageFacts, readPackage } from './package-scripts.ts';
import { programWords } from './program-words.ts';
import { pythonProject } from './python-project.ts';
import { sectionsOf } from './recipes.ts';
import type { RepositorySnapshot } from './repository-recipe.ts';
import { shellCommand } from './step-commands.ts';
import { commandSteps, type TestStep } from './test-steps.ts';
import { readPlainToml } from './toml-and-yaml.ts';
import { inVenv, venvFolders } from './virtual-environment.ts';

/** A command that checks types. Its findings count, not its exit code alone. */
export interface TypeCheck {
  /** As people know it; unique within a repository. */
  readonly name: string;
  /** For `sh -c` at the top of the repository. */
  readonly command: string;
  /** Where the checker runs, from the top of the repository; its findings name files from there. */
  readonly folder?: string;
  /** A line that cannot be split: its exit code may be that of its last part, so findings count with any. */
  readonly unsplit?: true;
  /** Nobody asked for it: neither settings nor test command nor CI contain it. New findings do not eliminate. */
  readonly advisory?: true;
}

/** Maximum characters of a name. */
const MAX_NAME_CHARS = 80;

/** Whether a step's findings are judged by the gate `types`. In packages of a workspace it remains one test. */
export const isTypeCheckStep = ({ kind, command, package: folder }: TestStep): boolean =>
  kind === 'types' && folder === undefined && isTypeCheck(command);

/**
 * The type checks of a repository: `checks.types`, and those among the steps of its test command, each once. None if
 * the settings disable them. `files` are texts of the base commit (`stepFiles`). `isAdvisory`: what `types` says was
 * detected, and CI does not run it.
 */
export function typeChecks(
  { types, test = '' }: { readonly types?: string | undefined; readonly test?: string | undefined },
  files: Readonly<Record<string, string>>,
  isAdvisory = false,
): readonly TypeCheck[] {
  if (types === '') return [];
  const own = types ? commandSteps(types, files) : [];
  const given = new Set((own ?? []).map(programOf));
  const steps = (commandSteps(test, files) ?? []).filter(isTypeCheckStep);
  const others = new Map(
    steps.filter((step) => !given.has(programOf(step))).map((step) => [programOf(step), step]),
  );
  const first = own ?? [];
  const [only] = first;
  const whole =
    own === null && types ? [{ name: types, command: isolated(types), unsplit: true as const }] : [];
  const split =
    types && only && first.length === 1 ? [checkOf(only, types)] : first.map((step) => checkOf(step));
  return withOwnNames([
    ...[...whole, ...split].map((one) => (isAdvisory ? { ...one, advisory: true as const } : one)),
    ...[...others.values()].map((step) => checkOf(step)),
  ]);
}

/** A step of its own: the exit code of a chain would say nothing about the others. */
const checkOf = (step: TestStep, name?: string): TypeCheck => ({
  name: name ?? `${step.folder === '' ? '' : `${step.folder} `}${step.command}`,
  command: shellCommand({ step, before: [], needs: [] }, isolated(step.command)),
  ...(step.folder === '' ? {} : { folder: step.folder }),
});

/** Equal names, also of those that are cut, get ` #2`, ` #3`. */
function withOwnNames(checks: readonly TypeCheck[]): readonly TypeCheck[] {
  const seen = new Map<string, number>();
  return checks.map((check) => {
    const name = check.name.slice(0, MAX_NAME_CHARS);
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return { ...check, name: count === 1 ? name : `${name} #${count}` };
  });
}

/**
 * `python -m` searches the current folder first, where a candidate could put a `mypy.py`. `-P` would prevent that, but
 * exists since Python 3.11 only. Nothing is imported before the folder is removed.
 */
const isolated = (command: string): string =>
  command.includes("'")
    ? command
    : command.replaceAll(
        /(?<![\w$-])(\S*python[\d.]*) -m (mypy|pyright|basedpyright)(?=[\s;&|)]|$)/g,
        (_, python: string, module: string) =>
          `${python} -c 'import sys; sys.path[:] = [p for p in sys.path if p]; import runpy; runpy.run_module("${module}", run_name="__main__", alter_sys=True)'`,
      );

/** Maximum lines of a workflow that are read. */
const MAX_WORKFLOW_LINES = 2_000;

/** Whether a line of one of these workflows starts one of the same checkers, or the same script. */
export function isRunByCi(
  types: string,
  workflows: readonly string[],
  files: Readonly<Record<string, string>>,
): boolean {
  const wanted = new Set((commandSteps(types, files) ?? []).map(checkerOf));
  const lines = workflows.flatMap((text) => text.split('\n').slice(0, MAX_WORKFLOW_LINES));
  return lines.some((line) => {
    const command = line
      .trim()
      .replace(/^(?:- +)?(?:run: *)?/, '')
      .replace(/^(['"])(.*)\1$/s, '$2');
    return (commandSteps(command, files) ?? []).some((step) => wanted.has(checkerOf(step)));
  });
}

/** Equal for two commands that start the same checker or script, whatever their options and package manager. */
function checkerOf({ command }: TestStep): string {
  const [program = '', second = ''] = programWords(command);
  if (/^(?:tsc|vue-tsc|tsgo|mypy|pyright|basedpyright)$/.test(program)) return program;
  if (/^(?:go vet|cargo check)$/.test(`${program} ${second}`)) return `${program} ${second}`;
  return command.replace(/^(?:npm|pnpm|yarn|bun) (?:run )?/, 'run ');
}

const programOf = ({ folder, command }: TestStep): string => JSON.stringify([folder, programWords(command)]);

/**
 * The type check that a repository's files define; null for none, or if the test command already contains one. Whether
 * its program is installed shows on the base commit.
 */
export function detectTypeCheck(
  repository: RepositorySnapshot,
  { setup = '', test = '' }: { readonly setup?: string | undefined; readonly test?: string | undefined },
): FoundCommand | null {
  if (commandSteps(test, repository.read)?.some(isTypeCheckStep)) return null;
  const facts = readPackage(repository.read['package.json'] ?? '');
  return (
    (facts && (scriptCheck(facts, repository) ?? compilerCheck(facts, repository))) ??
    pythonCheck(repository, setup) ??
    languageCheck(repository, `${setup} ${test}`)
  );
}

/** Scripts that check types by their name, and those that do if their text says so. */
const CHECK_SCRIPTS = ['typecheck', 'type-check', 'check-types', 'check:types', 'types:check'] as const;
const SCRIPTS_IN_DOUBT = ['tsc', 'types'] as const;

function scriptCheck(facts: PackageFacts, repository: RepositorySnapshot): FoundCommand | null {
  const texts = (name: string) => facts.scripts.get(name) ?? '';
  const isEndless = (text: string) => /(?:^|\s)(?:--watch|-w)(?:\s|$)/.test(text);
  const name =
    CHECK_SCRIPTS.find((one) => texts(one) !== '' && !isEndless(texts(one))) ??
    SCRIPTS_IN_DOUBT.find((one) => isTypeCheck(texts(one)) && !isEndless(texts(one)));
  if (name === undefined) return null;
  return { command: `${nodeManager(facts, repository.files)} run ${name}`, file: 'package.json' };
}

/** A configuration without files of its own checks nothing: those that it refers to would have to be built. */
const CHECKS_NOTHING = /"files"\s*:\s*\[\s*\]/;

const compilerCheck = (facts: PackageFacts, { files, read }: RepositorySnapshot): FoundCommand | null =>
  files.has('tsconfig.json') &&
  facts.packages.has('typescript') &&
  !CHECKS_NOTHING.test(read['tsconfig.json'] ?? '')
    ? {
        command: `${hasPlugAndPlay(facts, { files, read }) ? 'yarn ' : 'node_modules/.bin/'}tsc --noEmit`,
        file: 'tsconfig.json',
      }
    : null;

/** Since version 2, Yarn makes no `node_modules` unless it is told to. */
const hasPlugAndPlay = (facts: PackageFacts, { files, read }: RepositorySnapshot): boolean =>
  nodeManager(facts, files) === 'yarn' &&
  files.has('.yarnrc.yml') &&
  !/^nodeLinker:\s*["']?(?:node-modules|pnpm)\b/m.test(read['.yarnrc.yml'] ?? '');

function pythonCheck({ files, read }: RepositorySnapshot, setup: string): FoundCommand | null {
  const tools = toolTables(read['pyproject.toml'] ?? '');
  const ini = sectionsOf(read['setup.cfg'] ?? '').get('mypy');
  const own = ['mypy.ini', '.mypy.ini'].find((file) => files.has(file));
  const { uv } = pythonProject(files, read);
  const inPlace = (command: string) => inVenv(command, venvFolders(setup, uv.hasWorkspace));
  if (own !== undefined || ini || tools.has('mypy')) {
    const file = own ?? (ini ? 'setup.cfg' : 'pyproject.toml');
    const section = own === undefined ? ini : sectionsOf(read[own] ?? '').get('mypy');
    const keys = section ? [...section.keys()] : (tools.get('mypy') ?? []);
    const target = keys.some((key) => /^(?:files|packages|modules)$/.test(key)) ? '' : ' .';
    return { command: inPlace(`python3 -m mypy${target}`), file };
  }
  const pyright = files.has('pyrightconfig.json') ? 'pyrightconfig.json' : 'pyproject.toml';
  return files.has('pyrightconfig.json') || tools.has('pyright')
    ? { command: inPlace('python3 -m pyright'), file: pyright }
    : null;
}

/** Keys of each `[tool.…]` table. */
function toolTables(text: string): ReadonlyMap<string, readonly string[]> {
  const { tool } = readPlainToml(text);
  if (tool === null || typeof tool !== 'object') return new Map();
  return new Map(Object.entries(tool).map(([name, table]) => [name, Object.keys(Object(table))]));
}

function languageCheck({ files }: RepositorySnapshot, commands: string): FoundCommand | null {
  if (files.has('go.mod')) return { command: 'go vet ./...', file: 'go.mod' };
  // Crates of an extension for another language are not fetched.
  return files.has('Cargo.toml') && /\bcargo\b/.test(commands)
    ? { command: 'cargo check', file: 'Cargo.toml' }
    : null;
}
