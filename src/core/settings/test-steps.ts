import { withAllTests } from './chosen-tests.ts';
import { chainParts, isTypeCheck, type StepKind, stepKind, stepKindByName } from './command-kinds.ts';
import { folderParts } from './folder-parts.ts';
import type { PackageFacts } from './package-scripts.ts';
import { wordsOf } from './program-words.ts';
import { recipeLines } from './recipes.ts';
import { type RecursiveCommand, recursiveCommand } from './recursive-commands.ts';
import { ASSIGNMENT, gatheredCommands, prefixesOf, scriptCall, startsSeveral } from './script-calls.ts';
import { dependenciesOf, PLAIN_NAME, type StepFacts, stepFacts } from './step-facts.ts';

/** Texts of the base commit, by path from the top of the repository. */
type RepositoryFiles = Readonly<Record<string, string>>;

/** One part of a test command. */
export interface TestStep {
  readonly kind: StepKind;
  /** For `sh -c` in `folder`. */
  readonly command: string;
  /** The program that the command finally starts, if not visible in it: options reach it by the environment only. */
  readonly inner?: string;
  /** From the top of the repository; empty for the top itself. */
  readonly folder: string;
  /** Expanded from a script of package.json: its programs are in `node_modules/.bin`. */
  readonly script: boolean;
  /** Expanded from a makefile, tox, nox, a task of Deno, or a script of Composer, with programs in `vendor/bin`. */
  readonly recipe?: 'composer' | 'other';
  /** Started by a script of tests through an unknown program: later tests do not wait for it, as for other steps. */
  readonly alone?: true;
  /** Folder of the workspace package whose tests it runs or prepares; absent outside of packages. */
  readonly package?: string;
  /** Another command than the repository's: without what lets it run some tests or succeed in any case. What is said. */
  readonly taken?: readonly string[];
}

/** Maximum steps of a command: different ones outside of packages, and in total. */
const MAX_TEST_STEPS = 30;
const MAX_PACKAGE_STEPS = 800;
/** A script that runs a script that runs …: deeper nesting is a cycle. */
const MAX_STEP_DEPTH = 8;
/**
 * Maximum commands that are read, since scripts may start each other many times: 800 steps, each behind as many scripts
 * as may be nested, are fewer. What takes as long as several commands counts as these.
 */
const MAX_COMMANDS = 10_000;
/** A makefile or tox.ini is parsed for each command that starts it. */
const COMMANDS_PER_RECIPE = 100;
/** Names that are compared with names of scripts in about the time of one command. */
const NAMES_PER_COMMAND = 10;
/** Maximum characters of a command that are read. */
const MAX_STEP_CHARS = 4_000;

/** The location of a command line. */
interface CommandContext {
  readonly files: RepositoryFiles;
  readonly facts: StepFacts;
  readonly folder: string;
  readonly script: boolean;
  readonly depth: number;
  /** Counts down, for all scripts of a command together; below zero, the command cannot be split. */
  readonly left: { commands: number };
  readonly recipe?: 'composer' | 'other';
}

/**
 * Splits a test command into steps in order of execution: a chain by `&&`, followed through scripts of package.json
 * with their hooks, `run-s` and similar tools, workspaces, makefiles, tox and nox. A command that starts several
 * things in an unknown way remains one step. Null for a line that cannot be split without changing its effect (other
 * operators, `cd`, variables that later commands need), or if no remaining step can be the tests.
 */
export function testSteps(command: string, files: RepositoryFiles = {}): readonly TestStep[] | null {
  const steps = commandSteps(command, files);
  const outside = steps?.filter((step) => step.package === undefined) ?? [];
  // Hooks and builds may be repeated before each part of the tests.
  const different = new Set(outside.map(({ folder, command }) => `${folder} ${command}`));
  if (!steps || different.size > MAX_TEST_STEPS || steps.length > MAX_PACKAGE_STEPS) return null;
  return withTests(steps);
}

/**
 * The steps of any command, in order of execution; null for a line that cannot be split, and for one that starts too
 * many commands: after some of its packages, the others would be split differently.
 */
export function commandSteps(command: string, files: RepositoryFiles = {}): readonly TestStep[] | null {
  const left = { commands: MAX_COMMANDS };
  const facts = stepFacts(files);
  const steps = stepsIn(command, { files, facts, folder: '', script: false, depth: 0, left });
  return left.commands < 0 ? null : steps;
}

/** If no step is known to run tests, the last one that is not a known other tool does. */
function withTests(steps: readonly TestStep[]): readonly TestStep[] | null {
  if (steps.some(({ kind }) => kind === 'tests')) return steps;
  const named = steps.findLastIndex(
    ({ kind, command }) => kind === 'other' && /\b(?:tests?|spec|unit)\b/i.test(command),
  );
  const at = named >= 0 ? named : steps.findLastIndex(({ kind }) => kind === 'other');
  return at < 0 ? null : steps.map((step, index) => (index === at ? { ...step, kind: 'tests' } : step));
}

/** The steps of a line; null if it is not a plain chain of commands and of `(cd FOLDER && …)`. */
function stepsIn(line: string, place: CommandContext): readonly TestStep[] | null {
  if (place.depth > MAX_STEP_DEPTH || line.length > MAX_STEP_CHARS) return null;
  const found = folderParts(line).map((part) => {
    const folder = [place.folder, part.folder].filter((one) => one !== '').join('/');
    return chainSteps(part.line, { ...place, folder });
  });
  return found.includes(null) ? null : found.flatMap((steps) => steps ?? []);
}

/** The end of a line that succeeds whatever its commands do. */
const ALWAYS_SUCCEEDS = /\s*(?:\|\|\s*(?:true|:|exit 0)|;\s*(?:true|exit 0))\s*$/;

function chainSteps(line: string, place: CommandContext): readonly TestStep[] | null {
  const tests = ALWAYS_SUCCEEDS.test(line) ? chainSteps(line.replace(ALWAYS_SUCCEEDS, ''), place) : null;
  if (tests?.some(({ kind }) => kind === 'tests')) return tests.map((step) => ({ taken: [], ...step }));
  const commands = chainParts(line);
  // Nothing may change the state of the shell for later commands.
  if (!commands || commands.some((part) => part === '' || CHANGES_SHELL.test(part))) return null;
  if (!allows(place, commands.length)) return null;
  return commands.flatMap((part) => {
    const { command, taken } = withAllTests(part);
    const steps = followed(command, place) ?? [stepOf(command, place)];
    return command === part ? steps : steps.map((step) => ({ ...step, taken }));
  });
}

/** Takes this many commands off those that may still be read. */
function allows({ left }: CommandContext, commands: number): boolean {
  left.commands -= commands;
  return left.commands >= 0;
}

const stepOf = (command: string, place: CommandContext): TestStep => ({
  kind: stepKind(command),
  command,
  folder: place.folder,
  script: place.script,
  ...(place.recipe ? { recipe: place.recipe } : {}),
  ...(startsTestScript(command, place) ? { alone: true } : {}),
});

/** Whether it starts a script of tests, which does not prepare other tests as far as its name and text say. */
function startsTestScript(command: string, place: CommandContext): boolean {
  const name = scriptCall(prefixesOf(wordsOf(command)).inner)?.name ?? '';
  if (!RUNS_TESTS.test(name)) return false;
  return !PREPARING_PROGRAM.test(packageOf(place)?.scripts.get(name)?.slice(0, MAX_STEP_CHARS) ?? '');
}

/** The steps of a command that starts others; null if it starts none, or in an unknown way. */
function followed(command: string, place: CommandContext): readonly TestStep[] | null {
  const words = wordsOf(command);
  if (/[|<>]/.test(command.replace(/'[^']*'|"[^"]*"/g, ''))) return null;
  return (
    prefixedSteps(words, place) ??
    workspaceSteps(words, place) ??
    gatheredSteps(words, place) ??
    scriptSteps(command, words, place) ??
    recipeSteps(words, place)
  );
}

/**
 * Scripts of tests that are started with variables, which each of their commands gets, or by a program that measures
 * coverage, which starts their tests.
 */
function prefixedSteps(words: readonly string[], place: CommandContext): readonly TestStep[] | null {
  const { variables, coverage, inner } = prefixesOf(words);
  const within = { ...place, depth: place.depth + 1 };
  const found = inner.length === words.length ? null : followed(inner.join(' '), within);
  if (!found?.some(({ kind }) => kind === 'tests')) return null;
  return found.map((step) => {
    const own = wordsOf(step.command);
    const start = own.findIndex((word) => !ASSIGNMENT.test(word));
    const command =
      step.kind === 'tests' && coverage.length > 0 && start >= 0
        ? [...own.slice(0, start), ...coverage, ...own.slice(start)].join(' ')
        : step.command;
    return { ...step, command: [...variables, command].join(' ') };
  });
}

const packageOf = ({ facts, folder }: CommandContext): PackageFacts | null => facts.packageOf(folder);

function scriptSteps(
  command: string,
  words: readonly string[],
  place: CommandContext,
): readonly TestStep[] | null {
  const call = scriptCall(words);
  const facts = call && packageOf(place);
  const text = facts?.scripts.get(call?.name ?? '');
  if (!call || !facts || !text || /\$\{?npm_/.test(text)) return null;
  const hook = (when: string) => (call.hooks ? (facts.scripts.get(`${when}${call.name}`) ?? []) : []);
  const main = [text, ...call.more].join(' ');
  const lines = [hook('pre'), main, hook('post')].flat();
  const within: CommandContext = { ...place, script: true, depth: place.depth + 1 };
  const steps: TestStep[] = [];
  const kind = stepKindByName(call.name);
  for (const line of lines) {
    const found = stepsIn(line, within);
    // A script that cannot be taken apart still has a name, under which its package manager runs it.
    if (!found) return kind ? [{ ...stepOf(command, place), kind }] : null;
    steps.push(...(line === main && RUNS_TESTS.test(call.name) ? withAlone(found) : found));
  }
  const isKnown =
    steps.some((step) => step.kind === 'tests') || steps.every((step) => isTypeCheck(step.command));
  return kind && !isKnown ? [{ ...stepOf(command, place), kind }] : steps;
}

const PREPARES =
  /build|bundle|compile|transpile|instrument|prepare|setup|install|clean|generate|fixture|copy|link|migrat|seed|serve|start/i;
/** Compilers, bundlers and tools of databases. */
const PREPARING_PROGRAM =
  /(?:^|[\s/'"])(?:v?tsc|vue-tsc|tsgo|babel|swc|esbuild|rollup|rolldown|webpack|rspack|vite|parcel|tsup|tsdown|unbuild|microbundle|browserify|sass|knex|prisma|sequelize|typeorm|drizzle-kit|db-migrate)(?=$|[\s'"])/;
/** Names of scripts that run tests, and prepare none. */
const RUNS_TESTS = RegExp(`^(?!.*(?:${PREPARES.source}))(?:tests?|specs?|unit)(?:$|[:_-])`, 'i');

/** If none of the steps of a script of tests is known to run tests, its last command is no preparation of other tests. */
function withAlone(steps: readonly TestStep[]): readonly TestStep[] {
  if (steps.some(({ kind, alone }) => kind === 'tests' || alone)) return steps;
  const at = steps.findLastIndex(({ kind }) => kind === 'other');
  return steps.map((step, index) =>
    index === at && !PREPARES.test(step.command) && !PREPARING_PROGRAM.test(step.command)
      ? { ...step, alone: true }
      : step,
  );
}

/** The commands that a runner of several scripts starts; null if the scripts start each other. */
function gatheredSteps(words: readonly string[], place: CommandContext): readonly TestStep[] | null {
  const scripts = startsSeveral(words) ? [...(packageOf(place)?.scripts.keys() ?? [])] : [];
  if (!allows(place, Math.floor((words.length * scripts.length) / NAMES_PER_COMMAND))) return null;
  const commands = gatheredCommands(words, scripts);
  const within = { ...place, depth: place.depth + 1 };
  const steps = commands?.map((command) => stepsIn(command, within)) ?? [null];
  return steps.includes(null) ? null : steps.flatMap((found) => found ?? []);
}

/** The same script of packages of a workspace, or the tests of every module of a go.work. */
function workspaceSteps(words: readonly string[], place: CommandContext): readonly TestStep[] | null {
  if (place.folder !== '') return null;
  const found = recursiveCommand(words, place.facts.tasks);
  // `npm run build --workspaces` is one step: nothing in it is a package's tests.
  if (found && !TEST_SCRIPT_NAME.test(found.script)) return null;
  const steps = found ? scriptsOfPackages(found, place) : goSteps(words, place);
  return steps.length > 0 ? steps : null;
}

const TEST_SCRIPT_NAME = /(?:^|[:_-])(?:tests?|specs?|unit|check|ci|cov(?:erage)?)(?:$|[:_-])/i;

function scriptsOfPackages(command: RecursiveCommand, place: CommandContext): readonly TestStep[] {
  const { script, before, select } = command;
  const pnpm = place.files['pnpm-workspace.yaml'] === undefined ? 'npm' : 'pnpm';
  const start = `${packageOf(place)?.manager ?? pnpm} run ${script}`;
  const all = place.facts.packages();
  if (!allows(place, all.length)) return [];
  const chosen = new Set(select ? select(all) : all);
  return all.flatMap((one) => {
    const within: CommandContext = { ...place, folder: one.folder, depth: place.depth + 1 };
    if (!chosen.has(one) || !packageOf(within)?.scripts.has(script)) return [];
    const needed = PLAIN_NAME.test(one.name) ? before?.(one.name, dependenciesOf(one, all)) : null;
    const steps = followed(start, within) ?? [stepOf(start, within)];
    return [...(needed ? [stepOf(needed, place)] : []), ...(withTests(steps) ?? steps)].map((step) => ({
      ...step,
      package: one.folder,
    }));
  });
}

function goSteps(words: readonly string[], place: CommandContext): readonly TestStep[] {
  const command = words.join(' ');
  if (place.folder !== '' || !/^go test(?: -[\w=.,-]+)* \.\/\.\.\.$/.test(command)) return [];
  return place.facts.goFolders().map((folder) => ({
    ...stepOf(command, { ...place, folder }),
    ...(folder === '' ? {} : { package: folder }),
  }));
}

const STARTS_RECIPE = /^(?:g?make|deno task|composer|(?:(?:[\w.-]+\/)*python[\d.]* -m )?(?:tox|nox))(?: |$)/;

/** What a makefile, tox, nox, a task of Deno or Composer starts at the top of the repository. */
function recipeSteps(words: readonly string[], place: CommandContext): readonly TestStep[] | null {
  if (place.folder !== '' || !STARTS_RECIPE.test(words.join(' '))) return null;
  if (!allows(place, COMMANDS_PER_RECIPE)) return null;
  const lines = recipeLines(words, place.files);
  const recipe = place.recipe === 'composer' || words[0] === 'composer' ? 'composer' : 'other';
  const within: CommandContext = { ...place, depth: place.depth + 1, recipe };
  const steps: TestStep[] = [];
  for (const { command, kind, inner } of lines ?? []) {
    const known = kind && { ...stepOf(command, within), kind, ...(inner === undefined ? {} : { inner }) };
    const found = known ? [known] : stepsIn(command, within);
    if (!found) return null;
    steps.push(...found);
  }
  return steps.length > 0 ? steps : null;
}

/** Commands that change what those after them see. */
const CHANGES_SHELL =
  /^(?:cd|pushd|popd|export|unset|source|\.|set|alias|eval|exec|trap|exit|if|for|while|until|case|!|\{|function)(?:\s|$)|^(?:\w+=\S*\s*)+$/;
