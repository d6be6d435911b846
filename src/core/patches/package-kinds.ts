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

/**
 * Recognizes lines of a manifest that add or change a dependency. A patch shows only a few lines around a change, so
 * if a line's section is not visible, its syntax decides, and doubtful lines count: the cost is only a second look.
 */

interface Line {
  /** Added by the patch, and not present before. */
  readonly added: boolean;
  readonly text: string;
}

/** Lines of the file after the change, by hunk. */
function hunksOf(section: string): readonly (readonly Line[])[] {
  const hunks: Line[][] = [[]];
  for (const line of section.split('\n')) {
    if (line.startsWith('@@')) hunks.push([]);
    else if (/^[+ ](?!\+\+ )/.test(line))
      hunks.at(-1)?.push({ added: line.startsWith('+'), text: line.slice(1) });
  }
  return hunks;
}

/** Fields of `package.json` that control what is installed or which program installs it (npm, Yarn, pnpm and Bun). */
const NPM_FIELDS =
  /^(?:\w*dependenc\w*|overrides|resolutions|catalogs?|packageManager|devEngines|workspaces|pnpm|allowedDeprecatedVersions|allowScripts)$/i;
/** Objects of `package.json` whose entries are not dependencies. */
const NPM_OTHER =
  /^(?:scripts|engines|exports|imports|bin|config|repository|author|bugs|funding|publishConfig|directories|browser|man|volta|contributes|configuration|properties|babel|eslintConfig|jest|prettier|browserslist|typesVersions)$/;
/** Other fields, and engines, whose values look like those of dependencies. */
const NPM_METADATA =
  /^(?:name|version|description|license|main|module|types|typings|type|homepage|author|email|url|repository|directory|bugs|browser|unpkg|jsdelivr|access|tag|registry|style|sass|source|react-native|import|require|default|node|npm|yarn|pnpm|bun|vscode|\$schema|preset|test|build|lint|start|dev|format|check|typecheck|watch|clean|coverage|docs|bench)$/;
/** A version, a range, a tag, `owner/repository`, a URL, a path, or nothing: what npm accepts as a version. */
const NPM_SPEC = /^(?:[\^~<>=*].*|v?\d.*|[\w.-]*|[\w.-]+\/[\w.-]+(?:#.*)?|git@.*|[a-z+]+:.*|\.{0,2}\/.*)$/i;

/** Whether a part of a patch of `package.json` adds or changes a dependency. */
const addsNpmDependency = (section: string): boolean =>
  hunksOf(section).some((lines) => {
    let within: string | null = null;
    return lines.some(({ added, text: raw }) => {
      const text = raw.replace(/\\u([0-9a-f]{4})/gi, (_, hex: string) =>
        String.fromCharCode(parseInt(hex, 16)),
      );
      const found = added && isNpmDependency(text, within);
      const opened = /"([^"]+)"\s*:\s*[[{]\s*$/.exec(text)?.[1];
      if (opened !== undefined) within = opened;
      else if (/^\s*[\]}],?\s*$/.test(text)) within = null;
      return found;
    });
  });

function isNpmDependency(text: string, within: string | null): boolean {
  if ([...text.matchAll(/"([^"]+)"\s*:/g)].some(([, key = '']) => NPM_FIELDS.test(key))) return true;
  if (within !== null && NPM_OTHER.test(within)) return false;
  if (within !== null && NPM_FIELDS.test(within)) return /\S/.test(text.replace(/[[\]{},]/g, ''));
  // A value on a line of its own.
  if (/^\s*"[^"]+"\s*:\s*$/.test(text)) return true;
  return [...text.matchAll(/"([^"]+)"\s*:\s*"([^"]*)"/g)].some(
    ([, key = '', value = '']) => !NPM_METADATA.test(key) && NPM_SPEC.test(value),
  );
}

/** Sections of TOML and INI manifests in which every line is a dependency or a package source. */
const TABLE =
  /dependenc|requires|extras|overrides|^(?:source|patch|replace|registries|registry|build-system|packages|dev-packages)\b|\b(?:source|sources|index|indexes|pipenv)$/i;
/** Keys of the same kind, also with dots, in any section. */
const KEY = /^\s*["']?[\w."'-]*(?:dependenc|requires?\b|extras|build-backend|backend-path)[\w."'-]*\s*=/i;
const OTHER_KEY = /^["']?(?:version|edition|python|rust-version|requires-python|python_requires)["']?\s*=/i;
const VERSION =
  /^["']?[\w.-]+["']?\s*=\s*(?:["'](?:[\^~<>=*]|\d|latest)|\{\s*["']?(?:git|version|path|url|file|index|registry|editable|workspace)\b)/i;

/** Whether a part of a patch of a `pyproject.toml`, `Pipfile`, `Cargo.toml` or `setup.cfg` adds or changes a dependency. */
const addsTableDependency = (section: string): boolean =>
  hunksOf(section).some((lines) => {
    let table: string | null = null;
    let key: string | null = null;
    return lines.some(({ added, text }) => {
      const header = /^\s*\[+\s*([^\]]+?)\s*\]+\s*(?:#.*)?$/.exec(text)?.[1];
      if (header !== undefined) {
        [table, key] = [header.replace(/["']/g, ''), null];
        return added && TABLE.test(table);
      }
      if (!/\S/.test(text) || /^\s*[#;]/.test(text)) return false;
      const named = /^(\s*["']?[\w][\w."'-]*\s*=)/.exec(text)?.[1];
      // An item of a list whose key is on an earlier line.
      const entry = named === undefined && !/^\s*[\])}]/.test(text);
      if (named !== undefined) key = named;
      return added && isTableDependency(text.trim(), { table, key, entry });
    });
  });

function isTableDependency(
  text: string,
  {
    table,
    key,
    entry,
  }: { readonly table: string | null; readonly key: string | null; readonly entry: boolean },
): boolean {
  if (OTHER_KEY.test(text)) return false;
  if (table !== null && TABLE.test(table)) return /[\w]/.test(text);
  if (key !== null && KEY.test(key) && !OTHER_KEY.test(key.trim())) return /[\w]/.test(text);
  if (entry) return key === null && !text.includes('::') && /^["']?[a-z@][\w.-]*/i.test(text);
  // In a visible section without dependencies, a version belongs to something else.
  return table === null && VERSION.test(text);
}
