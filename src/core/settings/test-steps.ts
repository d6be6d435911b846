import {
  chainParts,
  isTypeCheck,
  type StepKind,
  stepKind,
  stepKindByName,
  wordsOf,
} from './command-kinds.ts';
import {
  type PackageFacts,
  type RecursiveCommand,
  readPackage,
  recursiveCommand,
} from './package-scripts.ts';
import { recipeLines } from './recipes.ts';
import { workspaceFolders, workspaceGraph } from './workspace-graph.ts';

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
  /** Expanded from a makefile, tox or nox. */
  readonly recipe?: true;
  /** Folder of the workspace package whose tests it runs or prepares; absent outside of packages. */
  readonly package?: string;
}

/** Maximum steps of a command: outside of packages, and in total. */
const MAX_TEST_STEPS = 30;
const MAX_PACKAGE_STEPS = 800;
/** A script that runs a script that runs …: deeper nesting is a cycle. */
const MAX_STEP_DEPTH = 6;
/** Maximum characters of a command that are read. */
const MAX_STEP_CHARS = 4_000;

/** The location of a command line. */
interface CommandContext {
  readonly files: RepositoryFiles;
  readonly folder: string;
  readonly script: boolean;
  readonly depth: number;
  readonly recipe?: true;
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
  if (!steps || outside.length > MAX_TEST_STEPS || steps.length > MAX_PACKAGE_STEPS) return null;
  return withTests(steps);
}

/** The steps of any command, in order of execution; null for a line that cannot be split. */
export const commandSteps = (command: string, files: RepositoryFiles = {}): readonly TestStep[] | null =>
  stepsIn(command, { files, folder: '', script: false, depth: 0 });

/** If no step is known to run tests, the last one that is not a known other tool does. */
function withTests(steps: readonly TestStep[]): readonly TestStep[] | null {
  if (steps.some(({ kind }) => kind === 'tests')) return steps;
  const named = steps.findLastIndex(
    ({ kind, command }) => kind === 'other' && /\b(?:tests?|spec|unit)\b/i.test(command),
  );
  const at = named >= 0 ? named : steps.findLastIndex(({ kind }) => kind === 'other');
  return at < 0 ? null : steps.map((step, index) => (index === at ? { ...step, kind: 'tests' } : step));
}

/** The steps of a line; null if it is not a plain chain. */
function stepsIn(line: string, place: CommandContext): readonly TestStep[] | null {
  const parts = place.depth > MAX_STEP_DEPTH || line.length > MAX_STEP_CHARS ? null : chainOf(line);
  if (!parts) return null;
  return parts.flatMap((part) => followed(part, place) ?? [stepOf(part, place)]);
}

const stepOf = (command: string, { folder, script, recipe }: CommandContext): TestStep => ({
  kind: stepKind(command),
  command,
  folder,
  script,
  ...(recipe ? { recipe } : {}),
});

/** The steps of a command that starts others; null if it starts none, or in an unknown way. */
function followed(command: string, place: CommandContext): readonly TestStep[] | null {
  const words = wordsOf(command);
  if (/[|<>]/.test(command)) return null;
  return (
    envPrefixedSteps(words, place) ??
    workspaceSteps(words, place) ??
    patternSteps(words, place) ??
    scriptSteps(command, words, place) ??
    gatheredSteps(words, place) ??
    recipeSteps(words, place)
  );
}

/** A script of tests that is started with variables: each of its commands gets them. */
function envPrefixedSteps(words: readonly string[], place: CommandContext): readonly TestStep[] | null {
  const all = words[0] === 'cross-env' || words[0] === 'env' ? words.slice(1) : words;
  const count = all.findIndex((word) => !/^\w+=/.test(word));
  const inner = all.slice(Math.max(0, count));
  const found = count <= 0 ? null : scriptSteps(inner.join(' '), inner, place);
  if (!found?.some(({ kind }) => kind === 'tests')) return null;
  return found.map((step) => ({ ...step, command: `${all.slice(0, count).join(' ')} ${step.command}` }));
}

/** `pnpm run /^test:/`: every script whose name matches, except the one that starts it. */
function patternSteps(words: readonly string[], place: CommandContext): readonly TestStep[] | null {
  const [manager, verb, pattern = '', ...more] = words;
  const [, part] = /^['"]?\/\^?([\w:-]+)(?:\.\*)?\/['"]?$/.exec(pattern) ?? [];
  if (manager !== 'pnpm' || verb !== 'run' || part === undefined || more.length > 0) return null;
  const names = [...(packageOf(place)?.scripts.keys() ?? [])].filter((name) =>
    /^['"]?\/\^/.test(pattern) ? name.startsWith(part) : name.includes(part),
  );
  const steps = names.map((name) => scriptOrCommand(`pnpm run ${name}`, place));
  return names.length === 0 || steps.includes(null) ? null : steps.flatMap((found) => found ?? []);
}

/** The steps of a script, or the command that starts it; null if the scripts start each other. */
function scriptOrCommand(command: string, place: CommandContext): readonly TestStep[] | null {
  const deeper = { ...place, depth: place.depth + 1 };
  return deeper.depth > MAX_STEP_DEPTH ? null : (followed(command, deeper) ?? [stepOf(command, place)]);
}

const packageOf = ({ files, folder }: CommandContext): PackageFacts | null =>
  readPackage(files[folder === '' ? 'package.json' : `${folder}/package.json`] ?? '');

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
  const lines = [hook('pre'), [text, ...call.more].join(' '), hook('post')].flat();
  const within: CommandContext = { ...place, script: true, depth: place.depth + 1 };
  const steps: TestStep[] = [];
  const kind = stepKindByName(call.name);
  for (const line of lines) {
    const found = stepsIn(line, within);
    // A script that cannot be taken apart still has a name, under which its package manager runs it.
    if (!found) return kind ? [{ ...stepOf(command, place), kind }] : null;
    steps.push(...found);
  }
  const isKnown =
    steps.some((step) => step.kind === 'tests') || steps.every((step) => isTypeCheck(step.command));
  return kind && !isKnown ? [{ ...stepOf(command, place), kind }] : steps;
}

interface ScriptCall {
  readonly name: string;
  /** Words for the end of the script. */
  readonly more: readonly string[];
  readonly hooks: boolean;
}

/** The script of package.json that a command starts; null for another command, and with options that are not known. */
function scriptCall([manager = '', ...words]: readonly string[]): ScriptCall | null {
  if (manager === 'node') {
    const [run, name, end, ...more] = words;
    return run === '--run' && name && (end === undefined || end === '--')
      ? { name, more, hooks: false }
      : null;
  }
  if (!['npm', 'pnpm', 'yarn', 'bun'].includes(manager)) return null;
  const end = words.indexOf('--');
  const own = (end < 0 ? words : words.slice(0, end)).filter(
    (word) => !/^(?:-s|--silent|--if-present)$/.test(word),
  );
  const behind = end < 0 ? [] : words.slice(end + 1);
  const [verb, ...rest] = own;
  const runs = verb === 'run' || verb === 'run-script';
  const [name, ...more] = runs ? rest : shortCall(manager, own);
  if (!name || name.startsWith('-')) return null;
  // npm reads options that stand in front of `--` itself.
  if (manager === 'npm' && more.length > 0) return null;
  return { name, more: [...more, ...behind], hooks: true };
}

function shortCall(manager: string, [verb = '', ...more]: readonly string[]): readonly string[] {
  if (manager === 'bun') return [];
  if (verb === 'test' || (verb === 't' && manager !== 'yarn')) return ['test', ...more];
  return manager === 'npm' ? [] : [verb, ...more];
}

/** `run-s lint test:*` and `npm-run-all`, of the package npm-run-all and its successors. */
function gatheredSteps(
  [program = '', ...words]: readonly string[],
  place: CommandContext,
): readonly TestStep[] | null {
  if (!/^(?:run-s|run-p|npm-run-all2?)$/.test(program)) return null;
  const facts = packageOf(place);
  const names = words.filter(
    (word) =>
      !/^(?:-[slncp]+|--(?:silent|sequential|parallel|serial|aggregate-output|continue-on-error|print-label|print-name))$/.test(
        word,
      ),
  );
  if (!facts || names.some((name) => name.startsWith('-'))) return null;
  const steps: TestStep[] = [];
  for (const name of names) {
    const wanted = patternOf(name.replace(/^(['"])(.*)\1$/s, '$2'));
    const found = wanted ? [...facts.scripts.keys()].filter((one) => wanted.test(one)) : [];
    if (found.length === 0) return null;
    for (const one of found) {
      const own = scriptOrCommand(`npm run -s ${one}`, place);
      if (own === null) return null;
      steps.push(...own);
    }
  }
  return steps;
}

/** A name of a script, with `*` for all but `:` and `**` for anything; null for arguments and placeholders. */
function patternOf(name: string): RegExp | null {
  if (!/^[\w:@./*-]+$/.test(name)) return null;
  const text = name
    .split(/(\*\*?)/)
    .map((part) => (part === '*' ? '[^:]*' : part === '**' ? '.*' : RegExp.escape(part)))
    .join('');
  return new RegExp(`^${text}$`);
}

/** The same script of every package of a workspace, or the tests of every module of a go.work. */
function workspaceSteps(words: readonly string[], place: CommandContext): readonly TestStep[] | null {
  if (place.folder !== '') return null;
  const found = recursiveCommand(words, place.files);
  // `npm run build --workspaces` is one step: nothing in it is a package's tests.
  if (found && !TEST_SCRIPT_NAME.test(found.script)) return null;
  const steps = found ? scriptsOfPackages(found, place) : goSteps(words, place);
  return steps.length > 0 ? steps : null;
}

const TEST_SCRIPT_NAME = /(?:^|[:_-])(?:tests?|specs?|unit|check|ci|cov(?:erage)?)(?:$|[:_-])/i;

function scriptsOfPackages({ script, before }: RecursiveCommand, place: CommandContext): readonly TestStep[] {
  const pnpm = place.files['pnpm-workspace.yaml'] === undefined ? 'npm' : 'pnpm';
  const manager = packageOf(place)?.manager ?? pnpm;
  return workspaceFolders(place.files).flatMap((folder) => {
    const within: CommandContext = { ...place, folder, depth: place.depth + 1 };
    const facts = packageOf(within);
    if (!facts?.scripts.has(script)) return [];
    const command = `${manager} run ${script}`;
    const needed = before && /^[@\w./-]+$/.test(facts.name) ? [stepOf(before(facts.name), place)] : [];
    const steps = [...needed, ...(followed(command, within) ?? [stepOf(command, within)])];
    return (withTests(steps) ?? steps).map((step) => ({ ...step, package: folder }));
  });
}

/** `go test ./...` at the top of a workspace, where there is no module. */
function goSteps(words: readonly string[], place: CommandContext): readonly TestStep[] {
  const command = words.join(' ');
  if (!/^go test(?: -[\w=.-]+)* \.\/\.\.\.$/.test(command) || place.files['go.mod'] !== undefined) return [];
  return workspaceGraph(place.files).flatMap(({ kind, folder }) =>
    kind === 'go' ? [{ ...stepOf(command, { ...place, folder }), package: folder }] : [],
  );
}

/** What a makefile, tox or nox starts at the top of the repository. */
function recipeSteps(words: readonly string[], place: CommandContext): readonly TestStep[] | null {
  const lines = place.folder === '' ? recipeLines(words, place.files) : null;
  const within: CommandContext = { ...place, depth: place.depth + 1, recipe: true };
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

/** The commands of a chain by `&&`; null for a line with other operators, groups or substitutions, or state for later ones. */
function chainOf(line: string): readonly string[] | null {
  const commands = chainParts(line);
  return commands?.some((part) => part === '' || CHANGES_SHELL.test(part)) ? null : commands;
}
