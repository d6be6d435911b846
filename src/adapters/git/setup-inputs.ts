import { posix } from 'node:path';
import { z } from 'zod';
import { JSON_LIMITS, parseUntrustedJson } from '../../core/model/index.ts';
import type { SetupResult } from './collect.ts';
import type { TreeEntry } from './commit-files.ts';

/**
 * When a layer that setup wrote for one commit may be used for another: docs/decisions/0018. A setup command may read
 * any file, so this applies only to installs that depend on nothing but manifests, lock files and their own settings.
 */
export interface InstallInputs {
  /** Program whose version matters. */
  readonly tool: Tool;
  /** Everything that the install reads of a commit, one line for each file: mode, object name, path. */
  readonly files: readonly string[];
}

type Tool = 'npm' | 'pnpm' | 'yarn';

interface Install {
  readonly tool: Tool;
  readonly command: RegExp;
  readonly lock: readonly string[];
}

const FLAGS =
  '(?: --(?:ignore-scripts|no-audit|no-fund|no-progress|prefer-offline|offline|silent|non-interactive|inline-builds))*';

/** Installs that follow their lock file exactly. */
const INSTALLS: readonly Install[] = [
  { tool: 'npm', command: RegExp(`^npm ci${FLAGS}$`), lock: ['package-lock.json', 'npm-shrinkwrap.json'] },
  {
    tool: 'pnpm',
    command: RegExp(`^pnpm (?:install|i) --frozen-lockfile${FLAGS}$`),
    lock: ['pnpm-lock.yaml'],
  },
  {
    tool: 'yarn',
    command: RegExp(`^yarn(?: install)? --(?:immutable|frozen-lockfile)${FLAGS}$`),
    lock: ['yarn.lock'],
  },
];

/**
 * Files with these names determine what is installed, wherever they are; `.gitignore` determines which of it is a
 * change.
 */
const INPUTS: ReadonlySet<string> = new Set([
  'package.json',
  'package-lock.json',
  'npm-shrinkwrap.json',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'yarn.lock',
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.nvmrc',
  '.node-version',
  '.tool-versions',
  '.gitignore',
]);

/** Programs that an installer starts by itself and that may read anything, and manifests that we cannot parse. */
const SETUP_PROGRAMS: ReadonlySet<string> = new Set([
  'binding.gyp',
  '.pnpmfile.cjs',
  '.pnpmfile.mjs',
  'yarn.config.cjs',
  'package.json5',
  'package.yaml',
]);
const YARN_PLUGINS = /(?:^|\/)\.yarn\/plugins\//;
const OF_YARN = /(?:^|\/)\.yarn\//;

/** Settings that name a file or a program other than these inputs. */
const SETTINGS_FILE = /(?:^|\/)(?:\.npmrc|\.yarnrc|\.yarnrc\.yml|pnpm-workspace\.yaml)$/;
const LEADS_AWAY =
  /^\s*["']?(?:git|cache|cache-?dir|cacheFolder|globalFolder|store-?dir)["']?\s*[=: ]|install-links|offline-mirror|injectEnvironmentFiles|node-options|onload-script|script-shell|userconfig|globalconfig|pnpmfile|patchedDependencies|configDependencies|plugins:|yarn-path|cafile|(?:file|link|portal|exec|patch):|yarnPath:(?!\s*["']?\.yarn\/releases\/)/im;

/** Scripts of the repository's own packages that an install runs. */
const LIFECYCLE = [
  'preinstall',
  'install',
  'postinstall',
  'prepublish',
  'preprepare',
  'prepare',
  'postprepare',
  'dependencies',
  'pnpm:devPreinstall',
];
/** A dependency on files that are not inputs. */
const ON_FILES = /^(?:file|link|portal|exec|patch):|^[.~]{0,2}\//;

/** Lock files of these names are JSON. */
const JSON_LOCKS: ReadonlySet<string> = new Set(['package-lock.json', 'npm-shrinkwrap.json']);
const LOCKS: ReadonlySet<string> = new Set([...JSON_LOCKS, 'pnpm-lock.yaml', 'yarn.lock']);
/**
 * In other lock files: packages from files of the repository, and from git, whose scripts run even if they are not
 * install scripts. Yarn's own patches are part of Yarn.
 */
const LOCKED_AWAY =
  /(?:^|[\s@"'(])(?:file|portal|exec|git|ssh|git\+[a-z]+):(?=\S)|@patch:(?![^\s,]*builtin<)|#commit=|codeload\.|type: ?["']?(?:directory|git)\b|^\s+"?resolved"?\s+(?!"?https?:\/\/)|\\[ux]/m;
/**
 * Maximum size of a lock file that is read. Our default: those of the largest repositories have a few million bytes.
 */
const LOCK_BYTES = 16 * 2 ** 20;

/** Maximum number of manifests that are read; a commit with more gets its own layer. Our default. */
const MANIFESTS = 500;

const Words = z.record(z.string(), z.string());
const Manifest = z.looseObject({
  scripts: Words.optional(),
  directories: z.looseObject({ bin: z.unknown() }).optional(),
  dependencies: Words.optional(),
  devDependencies: Words.optional(),
  optionalDependencies: Words.optional(),
  peerDependencies: Words.optional(),
});

/** Null if the layer can be used for its own commit only. */
export async function installInputs(
  command: string,
  entries: readonly TreeEntry[],
  /** Null for a file that is too big to be read. `most` is in bytes; default: the maximum for a manifest. */
  read: (entry: TreeEntry, most?: number) => Promise<string | null>,
): Promise<InstallInputs | null> {
  const line = command.trim();
  const install = INSTALLS.find((each) => each.command.test(line));
  if (!install || !entries.some((entry) => install.lock.includes(entry.path))) return null;
  if (entries.some(({ path }) => SETUP_PROGRAMS.has(posix.basename(path)) || YARN_PLUGINS.test(path)))
    return null;
  const inputs = entries.filter(({ path }) => INPUTS.has(posix.basename(path)) || OF_YARN.test(path));
  // An input is a link or a submodule: its content is elsewhere.
  if (inputs.some(({ mode }) => !mode.startsWith('100'))) return null;

  const scripts = !line.includes('--ignore-scripts');
  const manifests = inputs.filter(({ path }) => posix.basename(path) === 'package.json');
  if (manifests.length > MANIFESTS) return null;
  for (const entry of manifests) {
    const text = await read(entry);
    if (text === null || !isPlain(text, scripts)) return null;
  }
  const locks = inputs.filter(({ path }) => LOCKS.has(posix.basename(path)));
  if (locks.length > MANIFESTS) return null;
  for (const entry of locks) {
    const text = await read(entry, LOCK_BYTES);
    if (text === null || !isFromRegistries(posix.basename(entry.path), text)) return null;
  }
  for (const entry of inputs.filter(({ path }) => SETTINGS_FILE.test(path))) {
    const text = await read(entry);
    if (text === null || LEADS_AWAY.test(text)) return null;
  }
  return { tool: install.tool, files: inputs.map(({ mode, oid, path }) => `${mode} ${oid} ${path}`) };
}

/** Whether nothing in the manifest refers to anything but manifests. */
function isPlain(text: string, scripts: boolean): boolean {
  const read = Manifest.safeParse(parsed(text));
  // The content of the folder would be linked, file by file.
  if (!read.success || read.data.directories?.bin !== undefined) return false;
  const {
    scripts: own = {},
    dependencies,
    devDependencies,
    optionalDependencies,
    peerDependencies,
  } = read.data;
  if (scripts && LIFECYCLE.some((name) => name in own)) return false;
  if (/"patchedDependencies"|"(?:file|link|portal|exec|patch):/.test(text)) return false;
  return [dependencies, devDependencies, optionalDependencies, peerDependencies].every((each) =>
    Object.values(each ?? {}).every((wanted) => !ON_FILES.test(wanted)),
  );
}

/**
 * Whether the lock file refers to no file of the repository, whatever the manifests say. Links to the repository's
 * packages are allowed.
 */
function isFromRegistries(name: string, text: string): boolean {
  if (!JSON_LOCKS.has(name)) return !LOCKED_AWAY.test(text);
  const lock = parsed(text);
  return lock !== undefined && isPlainLock(lock);
}

/** npm takes a package from `resolved`; in the first format of its lock file, from `version`. */
function isPlainLock(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return true;
  const { resolved, version, link } = part as Readonly<Record<string, unknown>>;
  if (typeof version === 'string' && /[:/]|\.t(?:ar|gz)/.test(version)) return false;
  if (typeof resolved === 'string' && link !== true && !/^https?:\/\//.test(resolved)) return false;
  return Object.values(part).every(isPlainLock);
}

/** Lock files are long. */
const LOCK_LIMITS = { ...JSON_LIMITS, values: 5_000_000 };

/** Undefined if it is not JSON or nested too deeply; such a manifest does not match any schema. */
function parsed(text: string): unknown {
  const read = parseUntrustedJson(text, LOCK_LIMITS);
  return read.kind === 'json' ? read.value : undefined;
}

/**
 * Packages whose install script reads only its own folder: esbuild's (`install.js` of 0.28.2) checks and links its
 * binary, fsevents declares that it is for macOS only. Any other one may read the repository, as prisma's does.
 */
const HARMLESS = /(?:^|\/)node_modules\/(?:esbuild|fsevents)\/(?:package\.json|binding\.gyp)$/;

/**
 * The topmost paths that a setup added, if that is all it did: it touched no file of the commit, not even by rewriting
 * it unchanged, added nothing that is not ignored, and ran no script of a package that may have read the repository.
 * Null if it did more.
 */
export function rootsOf(
  setup: SetupResult,
  tracked: readonly string[],
  options: { readonly scripts: boolean },
): readonly string[] | null {
  if (setup.brought.length > 0 || setup.raw.length > 0) return null;
  if (options.scripts && words(setup.scripted).some((path) => !HARMLESS.test(path))) return null;
  const files = new Set(tracked);
  const folders = foldersOf(tracked);
  const roots = new Set<string>();
  for (const path of words(setup.wrote)) {
    if (files.has(path)) return null;
    if (!folders.has(path)) roots.add(rootOf(path, folders));
  }
  return [...roots].sort();
}

/** Whether a layer with these roots hides nothing of a commit and covers no file of it. */
export function fits(roots: readonly string[], tracked: readonly string[]): boolean {
  const files = new Set(tracked);
  const folders = foldersOf(tracked);
  return roots.every(
    (root) => !folders.has(root) && !files.has(root) && ancestors(root).every((above) => !files.has(above)),
  );
}

function rootOf(path: string, folders: ReadonlySet<string>): string {
  return ancestors(path).find((above) => !folders.has(above)) ?? path;
}

const foldersOf = (paths: readonly string[]): ReadonlySet<string> => new Set(paths.flatMap(ancestors));

/** `a`, `a/b` of `a/b/c`. */
function ancestors(path: string): readonly string[] {
  const found: string[] = [];
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) found.push(path.slice(0, at));
  return found;
}

const words = (list: Buffer): readonly string[] => list.toString('latin1').split('\0').filter(Boolean);
