import { z } from 'zod';
import { shellQuoted } from './last-resorts.ts';
import { FROM_ELSEWHERE, QUOTABLE_NAME, type RemovableDependency, readPackage } from './package-scripts.ts';
import type { RepositorySnapshot } from './repository-recipe.ts';

export const adding = (option: string) => (command: string) =>
  command.includes(option) ? command : `${command} ${option}`;
export const removing = (option: RegExp) => (command: string) => command.replace(option, '');

/** A failed set-up command. */
export interface FailedInstall {
  /** The command's output, or its end. */
  readonly output: string;
  /** Requested `host:port` names that are not allowed. */
  readonly refusedHosts: readonly string[];
}

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

/** A removable package of the manifest in a folder; `''` is the top. */
export interface RemovablePackage extends RemovableDependency {
  readonly folder: string;
}

/** Those of the top and of the packages of a workspace that were read (`filesOfProject`). */
export function removablePackages({ files, read }: RepositorySnapshot): readonly RemovablePackage[] {
  const top = readPackage(read['package.json'] ?? '');
  if (top === null) return [];
  const isWorkspace = top.hasWorkspaces || files.has('pnpm-workspace.yaml');
  return Object.entries(read).flatMap(([path, text]) => {
    const folder = path.replace(/\/?package\.json$/, '');
    const isManifest = path === 'package.json' || (isWorkspace && path === `${folder}/package.json`);
    const own = isManifest ? (readPackage(text)?.removable ?? []) : [];
    return own.map((one) => ({ ...one, folder }));
  });
}

const Wanted = z.record(z.string(), z.unknown()).catch({});
const LockedPackage = z.object({
  dev: z.boolean().catch(false),
  optional: z.boolean().catch(false),
  devOptional: z.boolean().catch(false),
  dependencies: Wanted,
  optionalDependencies: Wanted,
  peerDependencies: Wanted,
});

/**
 * What packages for development and optional ones get from elsewhere than a registry, by package.json and by the packages
 * of npm's lock file (version 2 or 3), whose keys are their folders. Only what no other package wants, because npm
 * overrides it for everything below these packages. None in a workspace: there npm asks the code host all the same.
 */
export function removableInLock(
  manifest: string,
  locked: Readonly<Record<string, unknown>>,
): readonly RemovablePackage[] {
  const { hasWorkspaces = true, overridden = new Set<string>() } = readPackage(manifest) ?? {};
  if (hasWorkspaces) return [];
  const found = Object.entries(locked).flatMap(([path, entry]) => {
    const one = LockedPackage.safeParse(entry).data;
    if (one === undefined) return [];
    const [, holder = ''] = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path) ?? [];
    const isOfUsers = !(one.dev || one.optional || one.devOptional);
    const wanted = { ...one.peerDependencies, ...one.optionalDependencies, ...one.dependencies };
    return Object.entries(wanted).map(([name, from]) => {
      const isFromElsewhere = typeof from === 'string' && FROM_ELSEWHERE.test(from);
      const isPlain = QUOTABLE_NAME.test(holder) && QUOTABLE_NAME.test(name) && !overridden.has(holder);
      return { name, holder, isFromElsewhere, mayBeReplaced: isFromElsewhere && isPlain && !isOfUsers };
    });
  });
  const elsewhere = new Set(found.flatMap((one) => (one.isFromElsewhere ? [one.name] : [])));
  const byName = Map.groupBy(found, ({ name }) => name);
  return [...elsewhere].flatMap((name) => {
    const requests = byName.get(name) ?? [];
    if (!requests.every(({ mayBeReplaced }) => mayBeReplaced)) return [];
    const holders = new Set(requests.map(({ holder }) => holder));
    return [...holders].map((holder) => ({
      name,
      key: `overrides[${holder}][${name}]`,
      folder: '',
      isFromElsewhere: true,
      isOfPackage: true as const,
    }));
  });
}

/** A folder that does not exist, so that what imports the package fails with a message that names it. */
const NOWHERE = 'file:.left-out';

/** The commands before an install that leave packages of one folder out. */
const REMOVAL = [
  "npm pkg delete (?:--force )?(?:--prefix=[@\\w./-]+ )?(?:'?\\w+\\[[@\\w./-]+\\]'? )+&& ",
  `npm pkg set --force (?:'overrides(?:\\[[@\\w./-]+\\]){2}=${RegExp.escape(NOWHERE)}' )+&& `,
].join('|');

const REMOVES = RegExp(`^(?:${REMOVAL})+`);
/** Maximum characters of the commands that leave packages out: they are arguments of one program. Our default. */
const MAX_REMOVAL = 4_000;

/** `--force`: npm refuses to edit a package.json that asks for another package manager (`devEngines`). */
const removalOf = (packages: readonly RemovablePackage[]): string => {
  const own = packages.filter(({ isOfPackage }) => !isOfPackage);
  const removals = [...Map.groupBy(own, ({ folder }) => folder)].map(([folder, ones]) => {
    const prefix = folder === '' ? [] : [`--prefix=${folder}`];
    return `${['npm pkg delete --force', ...prefix, ...ones.map(({ key }) => shellQuoted(key))].join(' ')} && `;
  });
  const replaced = packages.flatMap(({ key, isOfPackage }) =>
    isOfPackage ? [shellQuoted(`${key}=${NOWHERE}`)] : [],
  );
  return [
    ...removals,
    ...(replaced.length > 0 ? [`npm pkg set --force ${replaced.join(' ')} && `] : []),
  ].join('');
};

/** Installs the packages of the whole repository, with no others. */
const WHOLE_INSTALL = RegExp(
  `^((?:${REMOVAL})*(?:[A-Z_]\\w*=\\S* )*(?:(npm) (?:ci|install|i)|(pnpm|bun) (?:install|i)|(yarn)(?: install)?)(?: --(?!prefix|cwd|dir|filter|global|workspace)[\\w-]+(?:=[\\w./:-]*)?)*)(?= && |$)`,
);

/** The first command of a set-up if it is one, its program, and what follows. */
export function firstInstall(setup = '') {
  const [, install = '', ...programs] = WHOLE_INSTALL.exec(setup) ?? [];
  const program = programs.find((one) => one !== undefined) ?? '';
  return { install, program, rest: setup.slice(install.length) };
}

/** Words of npm, pnpm and Yarn for a package itself that they may not fetch, such as one of a code host. */
export const PACKAGE_REFUSED =
  /npm (?:ERR!|error) (?:code E403\b|An unknown git error occurred)|exit code 128: git ls-remote |\bERR_PNPM_FETCH_403\b|\bYN0001: .{0,20}Fatal Error: unable to access '|^error (?:Error: |An unexpected error occurred: ")https:\/\/\S{1,500}: tunneling socket could not be established, statusCode=403/m;

/** Whether it was a package itself: an installation without it may succeed. */
const isPackageRefused = (output: string, refusedHosts: readonly string[]): boolean =>
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
 * The command that leaves out, before a set-up that failed, the package that the registry lacks, and, if one was refused,
 * those that do not come from a registry. Empty if there are none, too many, or if they are left out already.
 */
export function removalBefore(
  setup: string,
  { output, refusedHosts }: FailedInstall,
  removable: readonly RemovablePackage[],
): string {
  const missing = NO_VERSION.flatMap((said) => said.exec(output)?.[1] ?? [])[0];
  const isRefused = isPackageRefused(output, refusedHosts);
  const isNpm = INSTALLS_BY_NPM.test(setup);
  const left = removable.filter(
    (one) => (one.name === missing && !one.isOfPackage) || (isRefused && one.isFromElsewhere),
  );
  const removals = [left.filter((one) => isNpm || !one.isOfPackage), left.filter((one) => !one.isOfPackage)];
  const removal = removals.map(removalOf).find(({ length }) => length <= MAX_REMOVAL) ?? '';
  return setup.includes(removal) ? '' : removal;
}

const INSTALLS_BY_NPM = /(?<![\w-])npm (?:ci|install|i)(?![\w-])/;

/** The set-up with an install at its start that may differ from its lock file; null if it starts with none. */
export function withUnlockedStart(setup: string): string | null {
  const { install, rest } = firstInstall(setup);
  if (install === '') return null;
  const [before = ''] = REMOVES.exec(install) ?? [];
  const [variables, command] = assigned(install.slice(before.length));
  return `${before}${variables}${unlocked(command)}${rest}`;
}
