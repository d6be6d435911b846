import { z } from 'zod';
import { ciJob } from './ci-workflow.ts';
import { goFolders, nestedGoModules } from './go-modules.ts';
import { wordsOf } from './program-words.ts';
import type { Ecosystem, RepositorySnapshot } from './repository-recipe.ts';
import { readPlainToml } from './toml-and-yaml.ts';

/** Maximum seconds for filling compiler caches in set-up; the rest is compiled by each candidate. */
const FILL_SECONDS = 600;

/** Compiles code and tests into caches during set-up; failures are left to build and tests. */
export const fillCaches = (...commands: readonly string[]): string =>
  `{ ${commands.map((command) => `timeout ${FILL_SECONDS} ${command}`).join(' && ')} || true; }`;

/** Texts that may name the import path of Go code from before modules, by what writes it there. */
const PATH_TEXTS: readonly (readonly [file: RegExp, path: RegExp])[] = [
  [/^\.travis\.yml$/, /^go_import_path:\s*['"]?([^\s'"]+)/m],
  [/\.go$/, /^package \w+ +(?:\/\/|\/\*) *import "([^"\n]+)"/m],
  [/^readme/i, /\bgo get (?:-\w+ )*([^\s`'"]+)/],
  [/^readme/i, /\b(?:godoc\.org|pkg\.go\.dev)\/([^\s)\]`'"?#]+)/],
];

/** Without its own path, code that does not import itself still compiles as a module of any name. */
const ANY_PATH = 'example.com/repository';

/** Files at the top that show the import path of Go code without modules; few. */
export const goPathFiles = (paths: readonly string[]): readonly string[] => {
  if (!isWithoutModules(paths)) return [];
  const top = paths.filter((path) => !path.includes('/'));
  const sources = top.filter((path) => path.endsWith('.go') && !path.endsWith('_test.go')).toSorted();
  return [
    ...top.filter((path) => path === '.travis.yml'),
    ...top.filter((path) => /^readme(?:\.\w+)?$/i.test(path)).slice(0, 1),
    ...sources.slice(0, 3),
  ];
};

/** Go code from before modules: at the top, with tests, and without packages that it keeps in a folder of its own. */
function isWithoutModules(paths: readonly string[]): boolean {
  const isGo = (path: string) => path.endsWith('.go');
  return (
    paths.some((path) => isGo(path) && !path.includes('/')) &&
    paths.some((path) => path.endsWith('_test.go')) &&
    !paths.some((path) => /(?:^|\/)go\.(?:mod|work)$|^vendor\//.test(path))
  );
}

/** The file that shows Go code without modules; null if there is no such code. */
export const goFileWithoutModules = (paths: readonly string[]): string | null =>
  isWithoutModules(paths) ? (paths.filter((path) => /^[^/]+\.go$/.test(path)).toSorted()[0] ?? null) : null;

function importPath(read: RepositorySnapshot['read']): string {
  for (const [file, pattern] of PATH_TEXTS)
    for (const [name, text] of Object.entries(read)) {
      const path = (file.test(name) ? pattern.exec(text)?.[1] : undefined)?.replace(/\/(?:\.{3})?$/, '');
      // The path becomes a word of a shell command.
      if (path !== undefined && /^[a-z0-9-]+(?:\.[a-z0-9-]+)+(?:\/[\w.~-]+)+$/.test(path)) return path;
    }
  return ANY_PATH;
}

export function go({ files, read }: RepositorySnapshot): Ecosystem | null {
  const file = ['go.mod', 'go.work'].find((one) => files.has(one));
  if (file === undefined) return goWithoutModules({ files, read });
  // The top of a workspace may have no module, so each is named.
  const folders = file === 'go.mod' ? ['.'] : goFolders(read).map((folder) => `./${folder}`);
  const all = folders.map((folder) => `${folder}/...`).join(' ');
  if (all === '') return null;
  const needs =
    (file === 'go.work' || /^\s*require\b/m.test(read['go.mod'] ?? '')) && !files.has('vendor/modules.txt');
  const { tags, short } = goOptionsOf(read);
  return {
    file,
    setup: [
      ...(needs ? ['go mod download'] : []),
      goCaches(`${tags}${all}`),
      ...(file === 'go.mod' ? nestedCaches(nestedGoModules([...files])) : []),
    ].join(' && '),
    build: `go build ${tags}${all}`,
    test: `go test ${tags}${short}./...`,
  };
}

/**
 * Build tags with which CI tests all packages: files behind a tag are otherwise not even compiled. `-short`, if CI says so:
 * tests that it leaves out may take hours, or need a network. Of the first such command; not those of one value of a
 * matrix.
 */
function goOptionsOf(read: RepositorySnapshot['read']): { readonly tags: string; readonly short: string } {
  const job = ciJob(read);
  const isOfAll = /^(?:\w+=\S+ )*go test\b.* \.\/\.\.\.(?= |$)/;
  const command =
    job?.commands.find((one) => one.part === 'test' && isOfAll.test(one.command))?.command ?? '';
  const [option, ...lists] =
    / --?tags(?: |=)(?:"([\w., -]+)"|'([\w., -]+)'|([\w.,-]+))(?= )/.exec(command) ?? [];
  const workflow = read[job?.file ?? ''] ?? '';
  const isWritten = option !== undefined && workflow.includes(option);
  return {
    tags: isWritten ? `-tags=${lists.join('').split(/[ ,]+/).join(',')} ` : '',
    short: / -short(?= |$)/.test(command) && /(?<![-\w])-short\b/.test(workflow) ? '-short ' : '',
  };
}

/** The first prints what it compiles, so that it does not appear to hang. */
const goCaches = (all: string): string => fillCaches(`go build -v ${all}`, `go test -run RunoffNone ${all}`);

/**
 * Modules of which a package cannot be had are left to the tests, which are those of the others then. It prints what it
 * compiles, too.
 */
const nestedCaches = (folders: readonly string[]): readonly string[] =>
  folders.length === 0
    ? []
    : [
        fillCaches(
          `sh -c 'for one in ${folders.join(' ')}; do (cd $one && go mod download && go build -v ./... && go test -run RunoffNone ./...); done'`,
        ),
      ];

/** Set-up writes the go.mod that the repository lacks; a candidate may add its own. */
function goWithoutModules({ files, read }: RepositorySnapshot): Ecosystem | null {
  const file = goFileWithoutModules([...files]);
  if (file === null) return null;
  return {
    file,
    setup: `{ test -f go.mod || go mod init ${importPath(read)}; } && go mod tidy && ${goCaches('./...')}`,
    build: 'go build ./...',
    test: 'go test ./...',
  };
}

export function cargo({ files, read }: RepositorySnapshot): Ecosystem | null {
  if (!files.has('Cargo.toml')) return null;
  const manifest = read['Cargo.toml'] ?? '';
  const needs =
    files.has('Cargo.lock') ||
    /^\[workspace\]/m.test(manifest) ||
    /^\[(?:[\w.'"()-]+\.)?(?:dev-|build-)?dependencies\b/m.test(manifest);
  const locked = files.has('Cargo.lock') ? ' --locked' : '';
  const ci = cargoOptionsOf(read);
  const features = [...new Set([...featuresOfTests(manifest), ...ci.features])];
  const some = features.length > 0 ? [` --features ${features.join(',')}`] : [];
  const options = [
    ...(ci.hasAllFeatures ? [' --all-features'] : some),
    ...(ci.isWorkspace || hasOtherCrates(manifest) ? [' --workspace'] : []),
  ].join('');
  const caches = fillCaches(`cargo build${options}`, `cargo test${options} --no-run`);
  return {
    file: 'Cargo.toml',
    setup: `${needs ? `cargo fetch${locked} && ` : ''}${caches}`,
    build: `cargo build${options}`,
    test: `cargo test${options}`,
  };
}

/** Options of `cargo test` that do not change which code the tests contain. */
const SAME_CODE = /^(?:-v|-q|--(?:verbose|quiet|locked|no-fail-fast|all-targets|release))$/;

const OWN_MANIFEST = / --manifest-path (?:\.\/)?Cargo\.toml(?= |$)/;

interface CargoOptions {
  readonly features: readonly string[];
  readonly hasAllFeatures: boolean;
  readonly isWorkspace: boolean;
}

/**
 * Features and crates with which CI tests: code behind a feature is otherwise not even compiled. Of the first command at
 * the top that needs nothing else. `--all-targets` is left out, because it leaves out the tests in documentation.
 */
function cargoOptionsOf(read: RepositorySnapshot['read']): CargoOptions {
  const job = ciJob(read);
  const workflow = read[job?.file ?? ''] ?? '';
  for (const one of job?.commands ?? []) {
    const command = one.command.replace(OWN_MANIFEST, '');
    // Those of one value of a matrix, or beside flags of the compiler, may need what only that job has.
    const isWritten = workflow.includes(command) && !/\bRUSTFLAGS\b[^\n]{0,200}--cfg/.test(workflow);
    const rest =
      one.part === 'test' && isWritten
        ? /^cargo (?:test|t|nextest run)\b(.*)$/.exec(command)?.[1]
        : undefined;
    const options = rest === undefined ? null : readCargoOptions(rest);
    if (options !== null) return options;
  }
  return { features: [], hasAllFeatures: false, isWorkspace: false };
}

/** Null if there are others, such as a crate by its name, which the command for all of them cannot have. */
function readCargoOptions(rest: string): CargoOptions | null {
  const named = / (?:--features|-F)(?: |=)(?:"([\w./, -]+)"|'([\w./, -]+)'|([\w./,-]+))(?= |$)/g;
  const features = [...rest.matchAll(named)].flatMap(([, ...lists]) => lists.join('').split(/[ ,]+/));
  const words = wordsOf(rest.replace(named, ''));
  const isAll = (word: string): boolean => word === '--workspace' || word === '--all';
  if (words.some((word) => !isAll(word) && word !== '--all-features' && !SAME_CODE.test(word))) return null;
  const hasAllFeatures = words.includes('--all-features');
  return { features: features.filter((one) => one !== ''), hasAllFeatures, isWorkspace: words.some(isAll) };
}

const TestTargets = z.object({
  test: z.array(
    z.object({ 'required-features': z.array(z.string()).catch([]) }).catch({ 'required-features': [] }),
  ),
});

/** Features without which cargo leaves out test targets of the crate at the top, without a word. */
function featuresOfTests(manifest: string): readonly string[] {
  const targets = TestTargets.safeParse(readPlainToml(manifest)).data?.test ?? [];
  const names = targets.flatMap((target) => target['required-features']);
  return [...new Set(names)].filter((name) => /^\w[\w./-]{0,60}$/.test(name));
}

/** Where the top of a workspace is a crate, cargo selects only that one, unless the manifest names others. */
const hasOtherCrates = (manifest: string): boolean =>
  /^\[workspace\]/m.test(manifest) &&
  /^\[package\]/m.test(manifest) &&
  !/^\s*default-members\s*=/m.test(manifest);

/**
 * Set-up configures, because that may fetch dependencies, and compiles once: candidates compile what they change. The
 * build folder is not among the repository's own.
 */
export function cmake({ files, read }: RepositorySnapshot): Ecosystem | null {
  const file = 'CMakeLists.txt';
  if (!/^\s*(?:enable_testing\s*\(|include\s*\(\s*CTest\s*\)|add_test\s*\()/im.test(read[file] ?? ''))
    return null;
  const folder = ['build', 'build-tests'].find(
    (name) => ![...files].some((path) => path.startsWith(`${name}/`)),
  );
  if (folder === undefined) return null;
  const build = `cmake --build ${folder}`;
  const options = ['BUILD_TESTING', ...testOptions(read)].map((name) => ` -D${name}=ON`).join('');
  return {
    file,
    setup: `cmake -S . -B ${folder}${options} && ${fillCaches(build)}`,
    build,
    test: `ctest --test-dir ${folder} --output-on-failure`,
  };
}

/** Names of options that build the tests of a project: `X_BUILD_TESTS`, `ENABLE_TESTING`, `X_TEST`. */
const TESTS_OPTION =
  /^(?:[a-z\d]+_+){0,2}(?:build|enable|with)_?(?:unit_?)?test(?:s|ing)?$|^(?!(?:disable|exclude|no|skip|without)_)(?:[a-z\d]+_+)?(?:unit_?)?tests?$/i;

const OPTION = /^[ \t]*(?:cmake_dependent_)?option\s*\(\s*(\w+)\s+"[^"]{0,500}"([^)]{0,500})\)/gim;

/**
 * Options without which a project builds no tests, so that `ctest` finds none: those that it defines at its top and that
 * are off, with what they depend on, and those that a workflow switches on.
 */
function testOptions(read: RepositorySnapshot['read']): readonly string[] {
  const defined = [...(read['CMakeLists.txt'] ?? '').matchAll(OPTION)].map(([, name = '', rest = '']) => ({
    name,
    isOff: !/^\s*(?:ON|TRUE|YES|1|\$)/i.test(rest),
    needs: /"([^"]*)"/.exec(rest)?.[1]?.split(/\s*;\s*/) ?? [],
  }));
  const tests = defined.filter(({ name }) => TESTS_OPTION.test(name));
  const needed = new Set(tests.flatMap(({ needs }) => needs));
  const off = defined.filter(({ name, isOff }) => isOff && (TESTS_OPTION.test(name) || needed.has(name)));
  const ofWorkflows = Object.entries(read).flatMap(([path, text]) =>
    path.startsWith('.github/workflows/')
      ? [...text.matchAll(/\s-D\s?(\w{1,60})(?::BOOL)?=(?:ON|TRUE|YES|1)\b/gi)].map(([, name = '']) => name)
      : [],
  );
  const names = [...off.map(({ name }) => name), ...ofWorkflows.filter((name) => TESTS_OPTION.test(name))];
  return [...new Set(names)].filter((name) => name !== 'BUILD_TESTING');
}
