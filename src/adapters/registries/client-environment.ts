type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Variables for a package client that is queried for its registries: those of every program, and its own. The prefixes
 * are those that the clients document (npm, pip, uv, Poetry, PDM, Go, Cargo, Maven, RubyGems, Composer, NuGet).
 */
const CLIENT_VARIABLES =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|TMPDIR|TMP|TEMP|TZ|LANG|LANGUAGE|LC_[A-Z]+|XDG_[A-Z]+_(?:HOME|DIRS)|(?:HTTPS?|ALL|NO)_PROXY|SSL_CERT_(?:FILE|DIR)|NODE_EXTRA_CA_CERTS|NODE_USE_SYSTEM_CA|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|JAVA_HOME|JDK_HOME|M2_HOME|VIRTUAL_ENV|(?:NPM_CONFIG|YARN|PNPM|COREPACK|PIP|UV|POETRY|PDM|CARGO|RUSTUP|MAVEN|GEM|BUNDLE|COMPOSER|NUGET|DOTNET)_\w.*|GO(?:PROXY|SUMDB|NOSUMDB|NOPROXY|PRIVATE|INSECURE|FLAGS|ENV|PATH|ROOT|CACHE|MODCACHE|TOOLCHAIN|VCS))$/i;
/**
 * The part of an environment that clients get; everything else, above all keys, is withheld. npm keeps compiled code in
 * the folder for temporary files unless it is told not to, and nobody would remove that.
 */
export const clientEnvironment = (env: Environment): Environment => ({
  ...Object.fromEntries(Object.entries(env).filter(([name]) => CLIENT_VARIABLES.test(name))),
  NODE_DISABLE_COMPILE_CACHE: '1',
});
