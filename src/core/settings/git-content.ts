/** Maximum submodules named in a sentence, and maximum files checked for Git LFS. Defaults. */
const MAX_NAMED = 3;
const MAX_LOOKED_AT = 8;

const LFS_POINTER = /^version https:\/\/git-lfs\.github\.com\/spec\/v1\r?\n/;

/** Paths that `.gitattributes` assigns to Git LFS; a few of each pattern, to be checked. */
export function lfsPaths(attributes: string, paths: readonly string[]): readonly string[] {
  const patterns = attributes
    .split('\n')
    .flatMap((line) => (/\sfilter=lfs\b/.test(line) ? [line.trim().split(/\s+/, 1)[0] ?? ''] : []))
    .slice(0, 50);
  const found = new Set<string>();
  for (const pattern of patterns) {
    const matches = matcherOf(pattern);
    if (matches === null) continue;
    const own = paths.filter(matches);
    for (const path of own.slice(0, 2)) found.add(path);
  }
  return [...found].slice(0, MAX_LOOKED_AT);
}

/** Only the forms that `git lfs track` writes: `*.png`, `dir/**`, a path. */
function matcherOf(pattern: string): ((path: string) => boolean) | null {
  const suffix = /^(?:\*\*\/)?\*(\.[\w.-]+)$/.exec(pattern)?.[1];
  if (suffix !== undefined) return (path) => path.endsWith(suffix);
  const folder = /^\/?([\w./-]+)\/\*\*?(?:\/\*)?$/.exec(pattern)?.[1];
  if (folder !== undefined) return (path) => path.startsWith(`${folder}/`);
  return /^[\w./-]+$/.test(pattern) ? (path) => path === pattern.replace(/^\//, '') : null;
}

/**
 * Content that a commit contains only as a reference, and that is not there; one sentence for each cause. `submodules`:
 * those that were not fetched, with the reason as a clause. `texts`: by path, of `lfsPaths`. `isLocal`: a person has the
 * repository on this machine, and can fetch them there.
 */
export function absentContent(
  submodules: readonly { readonly path: string; readonly why: string }[],
  texts: Readonly<Record<string, string>>,
  isLocal = false,
): readonly string[] {
  const pointers = Object.entries(texts).flatMap(([path, text]) => (LFS_POINTER.test(text) ? [path] : []));
  const causes = [...new Set(submodules.map(({ why }) => why))];
  return [
    ...causes.map((why) =>
      submodulesText(
        submodules.flatMap((one) => (one.why === why ? [one.path] : [])),
        why,
        isLocal,
      ),
    ),
    ...(pointers.length === 0
      ? []
      : [
          `The content of ${named(pointers)} is in Git LFS, which Runoff does not fetch: the files are pointers to it, and what reads them fails. Commit what build and tests need without LFS, or leave out the tests that need it (\`checks.test\`).`,
        ]),
  ];
}

function submodulesText(paths: readonly string[], why: string, isLocal: boolean): string {
  const [noun, folders, them] =
    paths.length === 1 ? ['submodule', 'its folder is', 'it'] : ['submodules', 'their folders are', 'them'];
  const isOff = why.startsWith('`checks.submodules`');
  const fetching =
    isLocal && !isOff ? ` To fetch ${them} yourself: \`git submodule update --init --recursive\`.` : '';
  return `The ${noun} ${named(paths)} ${paths.length === 1 ? 'is' : 'are'} missing, so ${folders} empty, and what needs ${them} fails: ${why}.${fetching}`;
}

function named(names: readonly string[]): string {
  const rest = names.length - MAX_NAMED;
  return `${names.slice(0, MAX_NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** Files at the top of a repository that refer to packages by git repository. */
const NAMING_FILES = [
  'package.json',
  'package-lock.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'requirements.txt',
  'requirements-dev.txt',
  'pyproject.toml',
  'poetry.lock',
  'uv.lock',
  'Pipfile',
  'Cargo.toml',
  'Gemfile',
  'Gemfile.lock',
  'composer.json',
];
/** Hosts for which `git@host:` is rewritten. Default. */
const MAX_HOSTS = 10;

export const gitDependencyFiles = (paths: readonly string[]): readonly string[] =>
  NAMING_FILES.filter((path) => paths.includes(path));

/**
 * Environment of a set-up command in which git uses https for packages that manifests and lock files reference by ssh
 * or the git protocol: a sandbox has no keys, and its proxy passes only https. The hosts must be allowed like any
 * other. `texts`: those of `gitDependencyFiles`.
 */
export function gitEnvironment(texts: readonly string[]): Readonly<Record<string, string>> {
  const hosts = new Set(
    texts.flatMap((text) =>
      // A host with a dot, followed by a colon without a port.
      [...text.matchAll(/\bgit@((?:[a-z\d-]{1,63}\.){1,8}[a-z]{2,63}):(?!\d+\/)/gi)].map(([, host = '']) =>
        host.toLowerCase(),
      ),
    ),
  );
  const rules: readonly (readonly [to: string, from: string])[] = [
    ['https://', 'ssh://git@'],
    ['https://', 'git://'],
    ...[...hosts].slice(0, MAX_HOSTS).map((host) => [`https://${host}/`, `git@${host}:`] as const),
  ];
  return {
    GIT_CONFIG_COUNT: String(rules.length),
    ...Object.fromEntries(
      rules.flatMap(([to, from], i) => [
        [`GIT_CONFIG_KEY_${i}`, `url.${to}.insteadOf`],
        [`GIT_CONFIG_VALUE_${i}`, from],
      ]),
    ),
    GIT_TERMINAL_PROMPT: '0',
    // Its built-in git reads none of this.
    CARGO_NET_GIT_FETCH_WITH_CLI: 'true',
  };
}

/** What stands in the output of a command that fetches from a source repository. */
const FETCHES_SOURCES =
  /\bgit [a-z-]|\b(?:ssh|git):\/\/|\.git(?![\w.])|\/(?:legacy\.)?(?:tar(?:\.gz|ball)|zip(?:ball)?)\b/;

/**
 * That set-up needs packages from source repositories on these hosts, as a sentence with at most three of them; null if
 * its output names none.
 */
export function sourceRepositoriesNote(output: string, hosts: readonly string[]): string | null {
  const found = output
    .split('\n')
    .filter((line) => line.length < 2000 && FETCHES_SOURCES.test(line))
    .flatMap((line) => [
      ...line.matchAll(
        /\b(?:ssh|https|git):\/\/(?:git@)?([\w.-]+)\/(?:repos\/)?([\w.-]{1,100}\/[\w.-]{1,100}?)(?:\.git)?(?=[\s'"`)/#?@]|$)/g,
      ),
    ])
    .flatMap(([, host = '', name = '']) => (hosts.includes(host) ? [name] : []));
  const names = [...new Set(found)].slice(0, 3).map((name) => `\`${name}\``);
  if (names.length === 0) return null;
  return `A dependency comes from sources there, not from a package registry: ${names.join(', ')}.`;
}

/**
 * Further hosts that are asked for packages from one: npm, pnpm and yarn ask that of the archives after they found a
 * commit, Composer is sent there, and clones the repository if it gets no archive. This allows nothing: the message
 * only names all of them.
 */
const RELATED_HOSTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['github.com', ['codeload.github.com']],
  ['api.github.com', ['codeload.github.com', 'github.com']],
]);

/** These hosts of source repositories, each with those that are asked after it, so that all are allowed at once. */
export const withArchiveHosts = (hosts: readonly string[]): readonly string[] => [
  ...new Set(hosts.flatMap((host) => [host, ...(RELATED_HOSTS.get(host) ?? [])])),
];
