import type { CiJob } from './ci-workflow.ts';

/**
 * Variables that do not describe the tests: those of the CI service; those that the sandbox, its services or a report
 * need unchanged; those that change how a shell, a language or a loader starts, or where it looks for programs; those of
 * tools that install, compile, measure coverage or colour what they print; and those that repeat tests more often.
 */
const NOT_PASSED_ON = RegExp(
  `^(?:${[
    String.raw`CI|GITHUB_\w+|RUNNER_\w+|ACTIONS_\w+|RUNOFF_\w+|\w+_proxy`,
    String.raw`PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TEMP|TMP|TERM|LANG|LANGUAGE|LC_\w+|XDG_\w+`,
    String.raw`_?PYTEST_\w+|SPEC_OPTS|TESTOPTS|MINITEST_REPORTER|MT_CPU|PARALLEL_WORKERS|JEST_\w+|VITEST_\w*REPORTER\w*`,
    String.raw`LD_\w+|DYLD_\w+|GLIBC_\w+|MALLOC_\w+|GCONV_PATH|LOCPATH|ENV|IFS|PS4|CDPATH|GLOBIGNORE|SHELLOPTS|BASH\w*`,
    String.raw`NODE_(?!ENV$|CONFIG\w*$)\w+|BUN_\w+|DENO_\w+|PYTHON(?!PATH$|DEVMODE$|HASHSEED$|UTF8$|UNBUFFERED$)\w+|VIRTUAL_ENV`,
    String.raw`RUBY(?:OPT|LIB|SHELL)|GEM_\w+|BUNDLE\w*|PERL\w+|PHPRC|PHP_INI\w*|JAVA_\w+|_JAVA\w+|JDK_\w+|\w+_OPTS`,
    String.raw`GIT_(?!(?:AUTHOR|COMMITTER)_)\w+|SSL_\w+|OPENSSL_\w+|\w+_CA_\w+`,
    String.raw`(?:C|CXX|CPP|LD)FLAGS|CC|CXX|CMAKE_\w+|RUST\w+|CARGO\w*|GO[A-Z0-9]+|CGO_\w+`,
    String.raw`DOTNET_\w+|NUGET_\w+|MSBUILD\w*|GRADLE_\w+|MAVEN_\w+|COMPOSER_\w+`,
    String.raw`UV_\w+|PIP_\w+|PIPENV_\w+|POETRY_\w+|PDM_\w+|HATCH_\w+|TOX\w*|NOX\w*|NPM_\w+|PNPM_\w+|YARN_\w+|COREPACK_\w+|CCACHE\w*`,
    String.raw`\w*COLORS?|CLICOLOR_\w+|COVERAGE\w*|COVERALLS\w*|CODECOV\w*|\w*_?DIST|QUICKCHECK_\w+|PROPTEST_\w+`,
  ].join('|')})$`,
  'i',
);
const MAX_VALUE_CHARS = 500;
const CONTROL_CHARACTERS = /[^\P{Cc}\n\t]/u;
/** A database or another server of the CI service's machine; not a file, and not a website, which tests seldom ask. */
const SERVER = /\blocalhost\b|\b127\.0\.0\.1\b|^(?!https?:)[\w+]+:\/\/[^/]/i;
const WEBSITE = /^https?:/;

/**
 * The variables of a CI job that its tests see here: literal ones, also those that are named like a secret, since what
 * is written in a workflow is none. `ports` are those of the services that run here, by their names. Without one,
 * addresses of servers are left out, and all variables if CI has services: the tests may do without when they are not
 * told of any.
 */
export function passedVariables(
  { env, commands, services }: CiJob,
  ports: readonly (readonly [name: string, port: string])[],
): Readonly<Record<string, string>> {
  if (ports.length === 0 && (services.length > 0 || commands.length === 0)) return {};
  const known = [...env].flatMap(([name, value]) => {
    const text = value.replace(
      /\$\{\{\s*job\.services\.([\w-]+)\.ports\[['"]?\d+['"]?\]\s*\}\}/g,
      (all, service: string) => ports.find(([one]) => one === service)?.[1] ?? all,
    );
    const passed =
      /^[A-Za-z_]\w*$/.test(name) &&
      !NOT_PASSED_ON.test(name) &&
      !text.includes('${{') &&
      text.length <= MAX_VALUE_CHARS &&
      !CONTROL_CHARACTERS.test(text) &&
      (ports.length > 0 || WEBSITE.test(text) || !SERVER.test(text));
    return passed ? [[name, text] as const] : [];
  });
  return Object.fromEntries(known);
}
