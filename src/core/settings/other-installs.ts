import { chainParts } from './command-kinds.ts';
import { folderParts, inFolder } from './folder-parts.ts';
import {
  adding,
  assigned,
  type FailedInstall,
  PACKAGE_REFUSED,
  type RemovablePackage,
  removalBefore,
  removing,
  unlocked,
  withUnlockedStart,
} from './left-out-packages.ts';

/** Uses other options of a package manager if its output matches. */
interface Rule {
  readonly of: RegExp;
  readonly when: RegExp;
  readonly becomes: (command: string) => string;
}

/** Failing lifecycle scripts of packages: browser downloads, missing compilers, git hooks. */
const SCRIPT_FAILED =
  /\bELIFECYCLE\b|npm (?:ERR!|error) command (?:failed|sh -c)|\bgyp ERR!|\bnode-gyp\b|\bYN0009\b|\b(?:pre|post)?install(?:: | script)[^\n]{0,80}(?:fail|exit)|error: (?:post|pre)?install script|Exit (?:status|code):? \d{1,9}\s{0,20}Command: /i;

const RULES: readonly Rule[] = [
  {
    of: /^npm ci\b/,
    when: /can only install (?:with an existing|packages when your)|\bEUSAGE\b|lock ?file[^\n]{0,80}not (?:in sync|satisfy)/i,
    becomes: unlocked,
  },
  {
    of: /^pnpm install\b/,
    when: /\bERR_PNPM_(?:OUTDATED_LOCKFILE|NO_LOCKFILE|BROKEN_LOCKFILE|LOCKFILE_\w+|FROZEN_LOCKFILE\w*)/,
    becomes: unlocked,
  },
  {
    // pnpm 11 fails if packages have scripts that the repository neither allows nor refuses.
    of: /^pnpm install\b/,
    when: /\bERR_PNPM_IGNORED_BUILDS\b/,
    becomes: adding('--config.strict-dep-builds=false'),
  },
  {
    of: /^yarn\b.*--immutable\b/,
    when: /\bYN0028\b|lockfile would have been (?:modified|created)/,
    becomes: unlocked,
  },
  {
    of: /^yarn\b.*--frozen-lockfile\b/,
    when: /lockfile needs to be updated|frozen-lockfile|No lockfile found/i,
    becomes: unlocked,
  },
  { of: /^bun install\b/, when: /lockfile/i, becomes: unlocked },
  {
    of: /^cargo fetch\b/,
    when: /--locked|lock file[^\n]{0,120}(?:needs to be updated|cannot be updated)|failed to parse lock file/,
    becomes: removing(/ --locked\b/),
  },
  { of: /^uv sync\b/, when: /lockfile|uv\.lock/i, becomes: removing(/ --(?:frozen|locked)\b/) },
  {
    of: /^poetry install\b/,
    when: /changed significantly since poetry\.lock|poetry\.lock is not up to date/i,
    becomes: (command) => `poetry lock && ${command}`,
  },
  {
    of: /^composer install\b/,
    when: /requires (?:php|ext-)|platform requirements/i,
    becomes: adding('--ignore-platform-reqs'),
  },
  // A version in the lock file that the registry does not have, or not yet: another one of the same range.
  {
    of: /^npm (?:ci|install)\b/,
    when: /npm (?:ERR!|error) 404 .*\.tgz\b|\bETARGET\b/,
    becomes: (command) => adding('--no-package-lock')(unlocked(command)),
  },
  {
    of: /^pnpm install\b/,
    when: /\bERR_PNPM_(?:FETCH_404|NO_MATCHING_VERSION|MINIMUM_RELEASE_AGE_VIOLATION)\b/,
    becomes: (command) => adding('--no-lockfile')(removing(/ --(?:no-)?frozen-lockfile\b/)(command)),
  },
  {
    of: /^yarn install(?!.*--(?:no-)?immutable)/,
    when: /\.tgz: Request failed \\?"404 Not Found/,
    becomes: (command) => adding('--no-lockfile')(unlocked(command)),
  },
  { of: /^npm (?:ci|install)\b/, when: /\bERESOLVE\b/, becomes: adding('--legacy-peer-deps') },
  { of: /^npm (?:ci|install)\b/, when: /\bEBADENGINE\b/, becomes: adding('--no-engine-strict') },
  {
    of: /^pnpm install\b/,
    when: /\bERR_PNPM_UNSUPPORTED_ENGINE\b/,
    becomes: adding('--config.engine-strict=false'),
  },
  {
    of: /^yarn install\b/,
    when: /The engine "\w+" is incompatible/,
    becomes: adding('--ignore-engines'),
  },
];

/**
 * What install scripts download from hosts that are not registries, and the variables with which they do without. Tests
 * that need no browser then pass, and the scripts of other packages run.
 */
const DOWNLOADS: readonly (readonly [named: RegExp, variables: string])[] = [
  [/\bcypress\b(?!-)/i, 'CYPRESS_INSTALL_BINARY=0'],
  [
    /\bpuppeteer\b(?!-)|chrome-for-testing|\bstorage\.googleapis\.com\b/i,
    'PUPPETEER_SKIP_DOWNLOAD=1 PUPPETEER_SKIP_CHROMIUM_DOWNLOAD=1',
  ],
  [/\bplaywright\b(?!-)/i, 'PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1'],
  [/\belectron\b(?!-)/i, 'ELECTRON_SKIP_BINARY_DOWNLOAD=1'],
  [/\bchromedriver\b(?!-)|\bstorage\.googleapis\.com\b/i, 'CHROMEDRIVER_SKIP_DOWNLOAD=true'],
];
const INSTALLS = /^(?:npm (?:ci|install|i)|pnpm (?:install|i)|yarn|bun (?:install|i))\b/;

/**
 * An install without the downloads that these lines name, tried once. npm's own lines name packages that download
 * nothing.
 */
function withoutDownloads(part: string, { output, refusedHosts }: FailedInstall): string {
  const [before, command] = assigned(part);
  if (!INSTALLS.test(OWN_YARN.exec(command)?.[2] ?? command)) return part;
  const lines = [...refusedHosts, output.replace(/^npm (?:http|warn|notice) .*$/gim, '')].join('\n');
  const variables = DOWNLOADS.filter(([named]) => named.test(lines)).flatMap(([, own]) => own.split(' '));
  const isTried = DOWNLOADS.some(([, own]) => before.includes(own));
  return isTried ? part : `${before}${[...variables, command].join(' ')}`;
}

const IGNORE_SCRIPTS: readonly Omit<Rule, 'when'>[] = [
  { of: /^yarn\b.*--(?:no-)?immutable\b/, becomes: adding('--mode=skip-build') },
  {
    of: /^(?:npm (?:ci|install)|pnpm install|yarn install|bun install)\b/,
    becomes: adding('--ignore-scripts'),
  },
];

/**
 * The same installation with packages of this machine's registry, where the lock file names hosts that were refused: npm
 * and Yarn 1 compare every package with the checksum in the lock file.
 */
function fromOwnRegistry(part: string, hosts: readonly string[]): string {
  if (hosts.length === 0) return part;
  return /^npm (?:ci|install)\b/.test(part)
    ? npmFromOwnRegistry(part, hosts)
    : yarnFromOwnRegistry(part, hosts);
}

/** One host as npm is told to replace it; of several, each. */
function npmFromOwnRegistry(part: string, hosts: readonly string[]): string {
  const option = / --replace-registry-host=(\S+)/;
  const before = option.exec(part)?.[1];
  const names = new Set([...(before ? [before] : []), ...hosts.map((host) => host.replace(/:\d+$/, ''))]);
  const [name = '', ...more] = names;
  if (before === 'always' || (before !== undefined && more.length === 0)) return part;
  return adding(`--replace-registry-host=${more.length > 0 ? 'always' : name}`)(part.replace(option, ''));
}

const YARN_1 = /^yarn(?: install)?(?: --(?!cwd|version|help|(?:no-)?immutable)[a-z][a-z-]*(?:=[\w.]+)?)*$/;

/** The form of such a command: its hosts as rules of `sed`, and what it starts. */
const OWN_YARN =
  /^sh -uc 'sed -i\.before "([^"]*)" yarn\.lock && \{ ([^';]*); ended=\$\?; mv yarn\.lock\.before yarn\.lock; exit \$ended; \}'$/;

/** Yarn 1 has no such option. In set-up, the variable has the machine's registry. */
function yarnFromOwnRegistry(part: string, hosts: readonly string[]): string {
  const [, before = '', command = part] = OWN_YARN.exec(part) ?? [];
  if (!YARN_1.test(command)) return part;
  const rules = hosts.map(
    (host) => `s#https://${host.replaceAll('.', '[.]')}/#\${YARN_NPM_REGISTRY_SERVER%/}/#`,
  );
  const all = [...new Set([...before.split(';').filter(Boolean), ...rules])].join(';');
  return `sh -uc 'sed -i.before "${all}" yarn.lock && { ${command}; ended=$?; mv yarn.lock.before yarn.lock; exit $ended; }'`;
}

/** Another option for the command that such a set-up starts. */
function withOption({ of, becomes }: Omit<Rule, 'when'>, part: string): string {
  const command = OWN_YARN.exec(part)?.[2];
  if (command === undefined) return of.test(part) ? becomes(part) : part;
  return of.test(command) ? part.replace(`{ ${command};`, `{ ${becomes(command)};`) : part;
}

/** Refused hosts that a package was requested of, as addresses name them. */
const packageHosts = ({ output, refusedHosts }: FailedInstall): readonly string[] =>
  refusedHosts
    .map((host) => host.replace(/:443$/, ''))
    .filter((host) => /^[a-z\d.-]+(?::\d+)?$/.test(host) && hasPackageOf(host, output));

/** Maximum addresses of a host that are looked at, and characters of each. A program of the repository wrote the output. */
const MAX_ADDRESSES = 200;
const MAX_ADDRESS_LENGTH = 500;

function hasPackageOf(host: string, output: string): boolean {
  const start = `https://${host}/`;
  let at = output.indexOf(start);
  for (let seen = 0; at >= 0 && seen < MAX_ADDRESSES; seen += 1) {
    const [address = ''] = output.slice(at, at + MAX_ADDRESS_LENGTH).split(/[\s"'`]/, 1);
    const file = address.indexOf('/-/');
    if (file >= 0 && address.includes('.tgz', file)) return true;
    at = output.indexOf(start, at + start.length);
  }
  return false;
}

/** Whether lifecycle scripts of packages may be what failed: they did, or they were refused a host. */
export const scriptsMayFail = (output: string, refusedHosts: readonly string[]): boolean =>
  SCRIPT_FAILED.test(output) || (refusedHosts.length > 0 && !PACKAGE_REFUSED.test(output));

/**
 * Other forms of a failed set-up command whose package managers may succeed, most likely first; `removable` are packages
 * that may be left out.
 */
export function otherInstalls(
  setup: string,
  failed: FailedInstall,
  removable: readonly RemovablePackage[],
): readonly string[] {
  const { output, refusedHosts } = failed;
  const inTop = chainParts(setup)?.map((part) => ({ folder: '', part }));
  const parts =
    inTop ??
    folderParts(setup).flatMap(({ folder, line }) =>
      (chainParts(line) ?? [line]).map((part) => ({ folder, part })),
    );
  const joined = (becomes: (part: string) => string): string =>
    parts.map(({ folder, part }) => inFolder(folder, becomes(part))).join(' && ');
  const rewrite = (becomes: (part: string) => string): readonly string[] => {
    const fresh = joined(becomes);
    return fresh === joined((part) => part) ? [] : [fresh];
  };
  const behindVariables = (becomes: (command: string) => string) =>
    rewrite((part) => {
      const [before, command] = assigned(part);
      const after = becomes(command);
      return (chainParts(after) ?? [after]).map((one) => `${before}${one}`).join(' && ');
    });
  const hosts = packageHosts(failed);
  const using = (rules: readonly Omit<Rule, 'when'>[]) =>
    rules.flatMap((rule) => behindVariables((command) => withOption(rule, command)));
  const otherOptions = using(RULES.filter(({ when }) => when.test(output)));
  const removal = removalBefore(setup, failed, removable);
  const unlockedSetup = () =>
    withUnlockedStart(setup) ?? using([{ of: INSTALLS, becomes: unlocked }])[0] ?? setup;
  return [
    ...behindVariables((command) => fromOwnRegistry(command, hosts)),
    ...otherOptions,
    ...(removal === '' ? [] : [`${removal}${unlockedSetup()}`]),
    ...(scriptsMayFail(output, refusedHosts)
      ? [...rewrite((part) => withoutDownloads(part, failed)), ...using(IGNORE_SCRIPTS)]
      : []),
  ];
}
