import { type FoundCommand, shellQuoted } from './last-resorts.ts';
import { readPackage } from './package-scripts.ts';

export const adding = (option: string) => (command: string) =>
  command.includes(option) ? command : `${command} ${option}`;
export const removing = (option: RegExp) => (command: string) => command.replace(option, '');

/** An install that may differ from its lock file. */
export const unlocked = (command: string): string =>
  / --no-lockfile\b/.test(command)
    ? command
    : /^pnpm\b/.test(command)
      ? adding('--no-frozen-lockfile')(removing(/ --(?:no-)?frozen-lockfile\b/)(command))
      : command
          .replace(/^npm (?:ci|i)(?= |$)/, 'npm install')
          .replace(/ --frozen-lockfile\b/, '')
          .replace(/--immutable\b/, '--no-immutable');

/** The assignments in front of a command, and the command. */
export function assigned(part: string): readonly [before: string, command: string] {
  const [before = ''] = /^(?:[A-Za-z_]\w*=[\w./:-]* +)+/.exec(part) ?? [];
  return [before, part.slice(before.length)];
}

/** The command before an install that leaves packages out. */
const REMOVAL = "npm pkg delete (?:'?\\w+\\[[@\\w./-]+\\]'? )+&& ";
const REMOVES = RegExp(`^${REMOVAL}`);

/** Whether a set-up leaves packages out that package.json names. */
export const removesPackages = (setup = ''): boolean => REMOVES.test(setup);

/** Installs the packages of the whole repository, with no others. */
const WHOLE_INSTALL = RegExp(
  `^((?:${REMOVAL})?(?:[A-Z_]\\w*=\\S* )*(?:(npm) (?:ci|install|i)|(pnpm|bun) (?:install|i)|(yarn)(?: install)?)(?: --(?!prefix|cwd|dir|filter|global|workspace)[\\w-]+(?:=[\\w./:-]*)?)*)(?= && |$)`,
);

/** The first command of a set-up if it is one, its program, and what follows. */
export function firstInstall(setup = '') {
  const [, install = '', ...programs] = WHOLE_INSTALL.exec(setup) ?? [];
  const program = programs.find((one) => one !== undefined) ?? '';
  return { install, program, rest: setup.slice(install.length) };
}

/**
 * The same set-up without packages for development, and optional ones, that come from code hosts, which may not be
 * reached. Null if package.json has none.
 */
export function setupFromRegistries(
  packageJson: string | undefined,
  setup: FoundCommand | null,
): FoundCommand | null {
  const packages = readPackage(packageJson ?? '')?.dispensable ?? [];
  const { install, rest } = firstInstall(setup?.command);
  if (setup === null || install === '' || packages.length === 0) return null;
  const [variables, command] = assigned(install);
  const removal = `npm pkg delete ${packages.map(shellQuoted).join(' ')}`;
  return { ...setup, command: `${removal} && ${variables}${unlocked(command)}${rest}` };
}

/** Words of npm, pnpm and Yarn for a package itself that they may not fetch, such as one of a code host. */
export const PACKAGE_REFUSED =
  /npm (?:ERR!|error) (?:code E403\b|An unknown git error occurred)|exit code 128: git ls-remote |\bERR_PNPM_FETCH_403\b|\bYN0001: .{0,20}Fatal Error: unable to access '|^error (?:Error: |An unexpected error occurred: ")https:\/\/\S{1,500}: tunneling socket could not be established, statusCode=403/m;

/** Whether it was a package itself: an installation without it may succeed. */
export const isPackageRefused = (output: string, refusedHosts: readonly string[]): boolean =>
  refusedHosts.length > 0 && PACKAGE_REFUSED.test(output);

/** What package managers say of a package whose range no version of their registry is in; npm and pnpm, of an unknown one. */
const NO_VERSION: readonly RegExp[] = [
  /No matching version found for ((?:@[\w.-]+\/)?[\w.-]+)@/,
  /Couldn't find any versions for "((?:@[\w.-]+\/)?[\w.-]+)"/,
  // Not in the middle of a word: each of its letters would be a search to its end.
  /(?<![\w.@/-])((?:@[\w.-]+\/)?[\w.-]+)@npm:[^\s:]{0,100}: No candidates found/,
  /'((?:@[\w.-]+\/)?[\w.-]+)@[^'\n]{0,100}' is not in this registry/,
  /(?<![\w.@/-])((?:@[\w.-]+\/)?[\w.-]+) is not in the npm registry/,
];

/**
 * The same set-up without the package that the registry lacks, in case it is one for development; null if the output
 * names none, or one that is left out already.
 */
export function withoutMissing(setup: string, output: string): string | null {
  const name = NO_VERSION.flatMap((said) => said.exec(output)?.[1] ?? [])[0];
  const { install, rest } = firstInstall(setup);
  if (name === undefined || install === '') return null;
  const [before = 'npm pkg delete && '] = REMOVES.exec(install) ?? [];
  const key = shellQuoted(`devDependencies[${name}]`);
  if (before.includes(key)) return null;
  const [variables, command] = assigned(install.replace(REMOVES, ''));
  return `${before.slice(0, -' && '.length)} ${key} && ${variables}${unlocked(command)}${rest}`;
}
