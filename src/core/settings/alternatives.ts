import { checkFiles } from './detected-checks.ts';
import { isPartialBuild, partialBuild } from './last-resorts.ts';
import { firstInstall, type RemovablePackage } from './left-out-packages.ts';
import { missingPythonPackages } from './missing-python-packages.ts';
import { otherInstalls, scriptsMayFail } from './other-installs.ts';
import {
  setupWithMachinePython,
  setupWithoutExtras,
  setupWithoutSelf,
  setupWithSelfLast,
} from './other-python-setups.ts';
import { MAKE_VENV, PYTEST_ALONE, PYTEST_TOO, VENV } from './python-setup.ts';
import { UNITTEST } from './python-tests.ts';
import {
  type CheckCommands,
  COMMAND_NAMES,
  type CommandName,
  type Recipe,
  withoutUndefined,
} from './repository-recipe.ts';
import type { Settings } from './settings.ts';
import { toolchainFiles } from './toolchain.ts';

/** The recipe detected from a commit's settings and files, and its alternatives. */
export interface DetectedRecipe {
  readonly recipe: Recipe;
  /** Commands set by the settings: never replaced, even if disabled there. */
  readonly named: readonly CommandName[];
  /** Complete recipes from other files of the repository, most likely first. */
  readonly others: readonly Recipe[];
  /** Packages of npm that set-up may leave out if they cannot be installed. */
  readonly removable: readonly RemovablePackage[];
}

/** Why a sandbox stopped a command. */
export type StopReason = 'wall' | 'silence' | 'memory' | 'disk' | 'cancelled';

/** An attempt on the base commit that failed. */
export interface FailedTry {
  readonly recipe: Recipe;
  /** `tests`: the command cannot evaluate candidates. */
  readonly step: 'set-up' | 'build' | 'tests';
  /** The command's output, or its end. */
  readonly output: string;
  /** Why it was stopped; null or absent if it ended by itself. */
  readonly stopped?: StopReason | null;
  /** Requested hosts that are not allowed. */
  readonly refusedHosts?: readonly string[];
  /** Python was another one than the sandbox's own. */
  readonly otherPython?: boolean;
}

/** Maximum recipes tried after the detected one. Default. */
export const MAX_ALTERNATIVES = 3;

/** The next recipe to try, after the detected commands and earlier attempts; null if there are no more. */
export function nextRecipe(
  { others, named, removable }: Omit<DetectedRecipe, 'recipe'>,
  tries: readonly FailedTry[],
): Recipe | null {
  const [first] = tries;
  const last = tries.at(-1);
  if (!first || !last || last.stopped === 'wall' || tries.length > MAX_ALTERNATIVES) return null;
  const proposals = [
    ...PROPOSALS[last.step](last, removable),
    ...(last.step === 'tests' ? withPartialBuild(tries) : []),
    ...others.filter((one) => differs(one, first, last.step)).map((one) => withWorkingInstall(one, tries)),
  ];
  const seen = new Set(tries.map(({ recipe }) => keyOf(recipe.commands)));
  const failed = new Set(
    tries.filter(({ step }) => step === 'set-up').map(({ recipe }) => setupKey(recipe.commands)),
  );
  const next = proposals
    .map((proposal) => withNamed(proposal, first.recipe, named))
    .find(({ commands }) => !seen.has(keyOf(commands)) && !failed.has(setupKey(commands)));
  return next === undefined ? null : comparedWith(next, first.recipe);
}

/** Files that define how a repository is set up, at any depth. */
const RECIPE_FILES =
  /(?:^|\/)(?:package\.json|package-lock\.json|npm-shrinkwrap\.json|pnpm-(?:lock|workspace)\.yaml|yarn\.lock|bun\.lockb?|\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmfile\.cjs|pyproject\.toml|setup\.(?:py|cfg)|(?:[\w.-]*requirements[\w.-]*|requirements\/[\w.-]+)\.(?:txt|in)|(?:poetry|pdm|uv|Pipfile|Cargo|composer|Gemfile|packages)\.lock(?:\.json)?|Pipfile|tox\.ini|noxfile\.py|pytest\.ini|Cargo\.toml|go\.(?:mod|sum|work)|pom\.xml|(?:build|settings)\.gradle(?:\.kts)?|gradle\.lockfile|gradle-wrapper\.properties|Gemfile|[\w.-]+\.gemspec|composer\.json|[\w.-]+\.(?:csproj|fsproj|slnx?)|(?:GNUm|m|M)akefile|CMakeLists\.txt|Dockerfile)$/;

/** Paths of the files that determine whether a recipe is still valid. */
export const recipeFiles = (paths: readonly string[]): readonly string[] => {
  const read = new Set([...checkFiles(paths), ...toolchainFiles(paths)]);
  // Sources and tests change more often than what they need; the detected commands are a part of the key, too.
  const isSource = (path: string) => /\.go$|(?:^|\/)test_[^/]*\.py$/.test(path);
  return paths.filter((path) => (read.has(path) && !isSource(path)) || RECIPE_FILES.test(path));
};

/** The settings with a recipe's commands. */
export const withRecipe = (settings: Settings, { commands }: Recipe): Settings => {
  const { setup: _setup, build: _build, test: _test, ...others } = settings.checks;
  return { ...settings, checks: { ...others, ...commands } };
};

/** A recipe in which commands named by the settings are taken from another recipe. */
function withNamed(recipe: Recipe, settled: Recipe, named: readonly CommandName[]): Recipe {
  const pick = (of: (one: Recipe) => CheckCommands): CheckCommands =>
    withoutUndefined(
      Object.fromEntries(
        COMMAND_NAMES.map((name) => [name, of(named.includes(name) ? settled : recipe)[name]]),
      ),
    );
  return { commands: pick(({ commands }) => commands), from: pick(({ from }) => from) };
}

/** A recipe with the list of detected commands that it replaces. */
export function comparedWith(recipe: Recipe, detected: Recipe): Recipe {
  const replaced = COMMAND_NAMES.filter(
    (name) => detected.commands[name] !== undefined && detected.commands[name] !== recipe.commands[name],
  );
  const { instead: _before, ...own } = recipe;
  return replaced.length === 0
    ? own
    : { ...own, instead: Object.fromEntries(replaced.map((name) => [name, detected.commands[name]])) };
}

const keyOf = (commands: CheckCommands): string =>
  JSON.stringify(COMMAND_NAMES.map((name) => commands[name] ?? ''));

/** A set-up command without npm's options that do not change which packages are installed. */
const setupKey = ({ setup = '' }: CheckCommands): string =>
  setup.replace(/ --(?:no-(?:audit|fund|progress)|(?:audit|fund|progress)=false)(?= |$)/g, '');

/** Whether a recipe has another command for the failed step, or needs none for other tests; otherwise it cannot help. */
function differs({ commands }: Recipe, { recipe }: FailedTry, step: FailedTry['step']): boolean {
  const name = step === 'set-up' ? 'setup' : step === 'tests' ? 'test' : 'build';
  if (commands[name] !== undefined) return commands[name] !== recipe.commands[name];
  return commands.test !== undefined && commands.test !== recipe.commands.test;
}

/**
 * A recipe whose packages are installed as they could be after the same manager had failed: it would fail again without
 * these options.
 */
function withWorkingInstall(recipe: Recipe, tries: readonly FailedTry[]): Recipe {
  const own = firstInstall(recipe.commands.setup);
  const worked = firstInstall(tries.find(({ step }) => step !== 'set-up')?.recipe.commands.setup);
  const hasFailed = ({ step, recipe: { commands } }: FailedTry) =>
    step === 'set-up' && firstInstall(commands.setup).program === own.program;
  return own.program !== '' && worked.program === own.program && tries.some(hasFailed)
    ? withCommand(recipe, 'setup', `${worked.install}${own.rest}`)
    : recipe;
}

const PROPOSALS: Readonly<
  Record<FailedTry['step'], (failed: FailedTry, removable: readonly RemovablePackage[]) => readonly Recipe[]>
> = {
  'set-up': setupProposals,
  build: buildProposals,
  tests: toolProposals,
};

/** Webpack 4 and other tools of its time need a hash that OpenSSL 3 supports only on request. */
const OLD_HASH = /digital envelope routines::(?:unsupported|initialization error)/;
const WITH_OLD_HASH = 'NODE_OPTIONS=--openssl-legacy-provider';

function buildProposals({ recipe, output }: FailedTry): readonly Recipe[] {
  const { build = '' } = recipe.commands;
  const old =
    OLD_HASH.test(output) && !build.startsWith(WITH_OLD_HASH)
      ? [withCommand(recipe, 'build', `${WITH_OLD_HASH} ${build}`)]
      : [];
  return [...old, ...fewerOptions(recipe), without(recipe, 'build')];
}

/** Where tests say nothing without it, a build that failed in part. */
function withPartialBuild(tries: readonly FailedTry[]): readonly Recipe[] {
  const { recipe, output = '' } = tries.find((one) => one.step === 'build' && isPartialBuild(one)) ?? {};
  const build = partialBuild(recipe?.commands.build ?? '', output);
  return recipe && build !== null ? [withCommand(recipe, 'build', build)] : [];
}

/**
 * Crates of a workspace may need another system or compiler than the one at the top, and features of its tests, or files
 * of Go behind a build tag, may need a library or a service.
 */
function fewerOptions(recipe: Recipe): readonly Recipe[] {
  const without = (option: RegExp): Recipe =>
    (['build', 'test'] as const).reduce((on, name) => {
      const command = on.commands[name];
      return command && /^(?:cargo|go) /.test(command)
        ? withCommand(on, name, command.replace(option, ''))
        : on;
    }, recipe);
  // All crates without features is what would be tested if no test target required any.
  return [/ --(?:all-features|features \S+)/, / --workspace$/, / -tags=\S+/]
    .map(without)
    .filter((one) => keyOf(one.commands) !== keyOf(recipe.commands));
}

function without({ commands, from }: Recipe, name: CommandName): Recipe {
  const { [name]: _command, ...others } = commands;
  const { [name]: _file, ...files } = from;
  return { commands: others, from: files };
}

const withCommand = (recipe: Recipe, name: CommandName, command: string): Recipe => ({
  ...recipe,
  commands: { ...recipe.commands, [name]: command },
});

/** An unreachable registry: other options do not help. */
const AWAY =
  /\b(?:ECONNRESET|ETIMEDOUT|EAI_AGAIN|ECONNREFUSED)\b|Temporary failure in name resolution|\b50[234] (?:Bad Gateway|Service Unavailable|Gateway Time-?out)/i;

/** pip's words for the project in the folder of the sandbox, and packages that require another version of it. */
const OWN_CONFLICT = /\(from (?:file:\/\/)?\/repo\).{0,2000}conflicting dependencies/;

/** pip's words for a package of an extra that no index has for this Python. */
const EXTRA_MISSING = /satisfies the requirement [^\n]{0,300}; extra == /;

/** pip's words for a package that the index has not, or not for this Python. */
const NOT_FOR_PYTHON = /No matching distribution found for|requires a different Python/;

const needsNoRegistry = ({ commands }: Recipe): boolean =>
  [MAKE_VENV, `${MAKE_VENV}${PYTEST_TOO}`].includes(commands.setup ?? '');

function setupProposals(failed: FailedTry, removable: readonly RemovablePackage[]): readonly Recipe[] {
  const { recipe, output, refusedHosts = [] } = failed;
  const { setup } = recipe.commands;
  if (setup === undefined) return [];
  // Without a registry, only what needs none can help.
  if (AWAY.test(output) && !scriptsMayFail(output, refusedHosts))
    return withoutSelf(recipe, setup).filter(needsNoRegistry);
  const rewritten = otherInstalls(setup, { output, refusedHosts }, removable).map((fresh) =>
    withCommand(recipe, 'setup', fresh),
  );
  const self = OWN_CONFLICT.test(output) ? setupWithSelfLast(setup) : null;
  const others = [...(self === null ? [] : [withCommand(recipe, 'setup', self)]), ...otherPackages(failed)];
  const unittest = setup === PYTEST_ALONE ? [withCommand(without(recipe, 'setup'), 'test', UNITTEST)] : [];
  return [...rewritten, ...others, ...withoutSelf(recipe, setup), ...unittest];
}

/** Without extras that the index lacks, or with another Python that it may have the packages for. */
function otherPackages({ recipe, output, otherPython }: FailedTry): readonly Recipe[] {
  const { setup = '' } = recipe.commands;
  return [
    EXTRA_MISSING.test(output) ? setupWithoutExtras(setup, output) : null,
    otherPython && NOT_FOR_PYTHON.test(output) ? setupWithMachinePython(setup) : null,
  ].flatMap((fresh) => (fresh === null ? [] : [withCommand(recipe, 'setup', fresh)]));
}

/**
 * A Python project that cannot be installed is tested in place, with the packages in its requirement lists, or if it
 * has none, with those of the machine.
 */
function withoutSelf(recipe: Recipe, setup: string): readonly Recipe[] {
  const fresh = setupWithoutSelf(setup);
  if (fresh === null) return [];
  const { test } = recipe.commands;
  const lists = withCommand(recipe, 'setup', fresh);
  return [
    test === undefined || test.startsWith('PYTHONPATH=')
      ? lists
      : withCommand(lists, 'test', `PYTHONPATH=.:src ${test}`),
  ];
}

function toolProposals(failed: FailedTry): readonly Recipe[] {
  const { recipe, output } = failed;
  const { setup, test = '' } = recipe.commands;
  if (setup === undefined || !test.includes(VENV)) return fewerOptions(recipe);
  // If pip could not install the project and another set-up succeeded, the tests do not find the project.
  const uninstalled = /No module named|\bImportError\b/.test(output) ? withoutSelf(recipe, setup) : [];
  const complete = withMissingTools(recipe, output);
  return [...otherPackages(failed), ...(complete === null ? [] : [complete]), ...uninstalled];
}

/** The same with packages that its tests lack, of a fixed list; null if none is known. */
function withMissingTools(recipe: Recipe, output: string): Recipe | null {
  const { setup, test = '' } = recipe.commands;
  const missing = missingPythonPackages(output);
  if (setup === undefined || !test.includes(VENV) || missing.length === 0) return null;
  const list = missing.map((name) => (/[<>]/.test(name) ? `'${name}'` : name)).join(' ');
  return withCommand(recipe, 'setup', `${setup} && ${VENV} -m pip install ${list}`);
}

/** pytest's words for a file of tests that it could not import. */
const NOT_COLLECTED = /\bERROR collecting |\bcollection failure\b|^ImportError while importing test module /m;

/**
 * The recipe to try where tests give results, but some files of tests could not be imported for lack of a package;
 * null if it is not known which, or the settings name the set-up command.
 */
export function morePackages(
  { named, recipe: detected }: Pick<DetectedRecipe, 'named' | 'recipe'>,
  recipe: Recipe,
  output: string,
): Recipe | null {
  if (named.includes('setup') || !NOT_COLLECTED.test(output)) return null;
  const complete = withMissingTools(recipe, output);
  return complete === null ? null : comparedWith(complete, detected);
}
