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
