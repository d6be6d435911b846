import { addsNpmDependency, addsTableDependency } from './dependency-lines.ts';
import type { PatchFile } from './patch.ts';

export type Looked = Pick<PatchFile, 'path'> & Partial<Pick<PatchFile, 'section' | 'binary'>>;

/** A kind of file that deserves a second look, although it is allowed. */
export interface NotableKind {
  /** Text after "it", in a few words. */
  readonly what: string;
  /** Paths of such files; absent: all. */
  readonly path?: RegExp;
  /** A line that the file's part of the patch must contain, among header lines and added lines. */
  readonly line?: RegExp;
  /** Any other condition. */
  readonly when?: (file: Required<Looked>) => boolean;
}

/** A case-insensitive regular expression for names at any depth. */
export const namedFile = (...names: readonly string[]): RegExp =>
  new RegExp(`(?:^|/)(?:${names.join('|')})$`, 'i');

/**
 * Hosts in URLs that a part of a patch adds and that none of its other lines contains. Without context lines, every
 * host is new.
 */
function addsHost(section: string): boolean {
  const hosts = (sign: RegExp) =>
    [...section.matchAll(sign)].flatMap(([line]) => [
      ...line.matchAll(/[a-z+]+:\/\/(?:[^/\s@"']*@)?([^/\s:"')]+)/gi),
    ]);
  const known = new Set(hosts(/^[ -].*$/gm).map(([, host]) => host));
  return hosts(/^\+(?!\+\+ ).*$/gm).some(([, host]) => !known.has(host));
}

const LOCK_FILES = [
  ...['package-lock\\.json', 'npm-shrinkwrap\\.json', 'pnpm-lock\\.yaml', 'yarn\\.lock', 'bun\\.lockb?'],
  ...[
    'deno\\.lock',
    'poetry\\.lock',
    'uv\\.lock',
    'pdm\\.lock',
    'Pipfile\\.lock',
    'Cargo\\.lock',
    'go\\.sum',
  ],
  ...['Gemfile\\.lock', 'composer\\.lock', 'mix\\.lock', 'pubspec\\.lock', 'Podfile\\.lock', 'flake\\.lock'],
  ...['packages\\.lock\\.json', 'gradle\\.lockfile', 'Package\\.resolved', 'conan\\.lock'],
];
/** Files that list package sources and little else. */
const SOURCES = [
  ...[
    '\\.npmrc',
    '\\.yarnrc(?:\\.yml)?',
    '\\.pnpmfile\\.c?js',
    'pnpm-workspace\\.yaml',
    'pip\\.(?:conf|ini)',
  ],
  ...['\\.pypirc', 'uv\\.toml', '\\.cargo/config(?:\\.toml)?', 'nuget\\.config', '\\.bundle/config'],
  ...[
    'gradle-wrapper\\.(?:properties|jar)',
    'maven-wrapper\\.(?:properties|jar)',
    '\\.mvn/.*',
    '(?:gradlew|mvnw)(?:\\.(?:bat|cmd))?',
    '\\.yarn/(?:releases|plugins|sdks|patches|versions)/.*',
    '\\.pnp\\.[\\w.]*[cm]?js',
    'bunfig\\.toml',
    'patches/.*\\.(?:patch|diff)',
    'settings\\.xml',
  ],
  ...['requirements[\\w.-]*\\.(?:txt|in)', 'constraints[\\w.-]*\\.txt', 'go\\.work', '\\.terraformrc'],
];

const FROM_ELSEWHERE = 'takes packages from a place that the lines around it do not name';
const DECIDES = 'decides which packages are installed, and from where';
const DEPENDENCY = 'adds or changes a dependency';

/** Reasons of files that determine the set of packages. */
export const INSTALLED_REASONS: readonly string[] = [FROM_ELSEWHERE, DECIDES, DEPENDENCY];

/** Kinds of files that determine what is installed, from where, and what runs during installation. */
export const PACKAGE_KINDS: readonly NotableKind[] = [
  {
    what: FROM_ELSEWHERE,
    path: namedFile(
      ...LOCK_FILES,
      ...SOURCES,
      'package\\.json',
      'pyproject\\.toml',
      'Pipfile',
      'Cargo\\.toml',
      'go\\.mod',
      'Gemfile',
      '[^/]*\\.gemspec',
      'pom\\.xml',
      '[^/]*\\.gradle(?:\\.kts)?',
      'composer\\.json',
    ),
    when: ({ section }) => addsHost(section),
  },
  {
    what: DECIDES,
    path: namedFile(...LOCK_FILES, ...SOURCES),
  },
  {
    what: DEPENDENCY,
    path: namedFile('package\\.json'),
    when: ({ section }) => addsNpmDependency(section),
  },
  {
    what: DEPENDENCY,
    path: namedFile('Cargo\\.toml', 'pyproject\\.toml', 'Pipfile', 'setup\\.cfg'),
    when: ({ section }) => addsTableDependency(section),
  },
  {
    what: DEPENDENCY,
    path: namedFile('go\\.mod'),
    line: /^\+\s*(?:require\b|replace\b|tool\b|toolchain\b|[\w.-]+\.[\w-]+\/\S+\s+(?:v\d|=>))/m,
  },
  {
    what: DEPENDENCY,
    path: namedFile('Gemfile', 'gems\\.rb', '[^/]*\\.gemspec'),
    line: /^\+.*\b(?:gem|source|git_source|git|add_(?:runtime_|development_)?dependency)\b/m,
  },
  {
    what: DEPENDENCY,
    path: namedFile(
      'pom\\.xml',
      '[^/]*\\.gradle(?:\\.kts)?',
      'libs\\.versions\\.toml',
      'build\\.sbt',
      '[^/]*\\.(?:cs|fs|vb)proj',
      'Directory\\.\\w+\\.props',
    ),
    line: /^\+.*(?:<(?:dependency|repository|pluginRepository|plugin|extension|parent|artifactId|PackageReference|PackageVersion)\b|\b(?:implementation|api|classpath|compileOnly|runtimeOnly|testImplementation|kapt|annotationProcessor|maven|plugins?|apply|id)\b\s*[({"'=]|module\s*=|libraryDependencies|resolvers|addSbtPlugin)/m,
  },
  {
    what: DEPENDENCY,
    path: namedFile(
      'composer\\.json',
      'package\\.(?:ya?ml|json5)',
      'pubspec\\.yaml',
      'mix\\.exs',
      'Podfile',
      'Package\\.swift',
      'deno\\.jsonc?',
      'environment\\.ya?ml',
      'conanfile\\.(?:txt|py)',
      'vcpkg\\.json',
      'build\\.zig\\.zon',
      'rebar\\.config',
      'Chart\\.yaml',
      '[^/]*\\.cabal',
    ),
  },
  {
    what: 'runs when packages are installed or built, or before tests',
    path: namedFile(
      'build\\.rs',
      'setup\\.py',
      'conftest\\.py',
      'binding\\.gyp',
      'extconf\\.rb',
      '(?:site|user)customize\\.py',
      '[^/]*\\.pth',
      'hatch_build\\.py',
      'build\\.zig',
    ),
  },
  {
    what: 'runs when packages are installed or built, or before tests',
    path: namedFile('package\\.json'),
    line: /^\+\s*"(?:(?:pre|post)?(?:install|pack|publish)|prepare|prepublishOnly)"\s*:\s*"/m,
  },
];
