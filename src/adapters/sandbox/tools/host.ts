import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import {
  parseVersion,
  type RuntimeLanguage,
  satisfies,
  type WantedVersion,
} from '../../../core/settings/index.ts';
import { runCommand } from '../processes.ts';
import { credentialIn } from './credentials.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** A program of the operator's outside of the folders that sandboxes see anyway. */
export interface HostTool {
  /** The program itself, with no link or shim in its path. */
  readonly program: string;
  /** Folder or file that it needs, to be mounted at its own path; null: it is in /usr. */
  readonly root: string | null;
  /** Folder with the program, for PATH. */
  readonly bin: string;
}

type Found = HostTool | { readonly refused: string };

const SYSTEM = /^\/(?:usr|bin|sbin|lib\d*)\//;
/** Folders on PATH in every sandbox. */
const ON_PATH: ReadonlySet<string> = new Set(['/usr/local/bin', '/usr/bin', '/bin']);

/**
 * Finds a program on the operator's PATH in a form that a sandbox may see; null if it does not exist, or sandboxes see
 * it anyway. `refused` says why it is not shown. Shims of pyenv, rustup, asdf and mise are resolved to the real
 * toolchain, because they read settings from the operator's home.
 */
export function findHostTool(program: string, environment: Variables): Found | null {
  for (const folder of (environment.PATH ?? '').split(delimiter)) {
    if (!folder.startsWith('/') || !isExecutable(join(folder, program))) continue;
    const real = behindShim(join(folder, program), program, environment);
    if (real !== null) return asTool(real, environment);
  }
  return null;
}

/** A toolchain at a known place, such as another version of Python. */
function asTool(path: string, environment: Variables): Found | null {
  const program = realpathSync(path);
  if (SYSTEM.test(program)) {
    const bin = dirname(program);
    // A link in /usr/bin leads there already.
    return SYSTEM.test(`${dirname(path)}/`) && ON_PATH.has(dirname(path))
      ? null
      : { program, root: null, bin };
  }
  const root = rootOf(program);
  const whole = !isShared(root, environment);
  const credential = whole ? credentialIn(root) : null;
  if (credential !== null) return { refused: `${root} is not shown to sandboxes: ${credential}` };
  // If there is a link to it in a sibling folder, as with `lib/node_modules`, PATH needs the link.
  const bin = whole && isExecutable(join(root, 'bin', basename(path))) ? join(root, 'bin') : dirname(program);
  return { program, root: whole ? root : program, bin };
}

/** The folder that a toolchain consists of. */
function rootOf(program: string): string {
  const packages = program.indexOf('/lib/node_modules/');
  if (packages >= 0) return program.slice(0, packages);
  const folder = dirname(program);
  return basename(folder) === 'bin' ? dirname(folder) : folder;
}

/** Folders below a home that hold programs of various origins, and other things. */
const SHARED_AT_HOME = [
  '.local',
  '.cargo',
  '.config',
  '.bun',
  '.deno',
  '.npm',
  '.cache',
  'bin',
  '.asdf',
  '.volta',
];
const SHARED = ['/', '/opt', '/srv', '/var', '/home', '/root', '/mnt', '/data', '/tmp'];

/** Whether a folder holds more than one toolchain: then only the program itself is shown. */
function isShared(root: string, { HOME = '/root' }: Variables): boolean {
  const home = existsSync(HOME) ? realpathSync(HOME) : HOME;
  const shared = [...SHARED, home, ...SHARED_AT_HOME.map((name) => join(home, name))];
  return shared.includes(root) || home.startsWith(`${root}/`) || /^\/home\/[^/]+$/.test(root);
}

function behindShim(path: string, program: string, environment: Variables): string | null {
  const real = realpathSync(path);
  const pyenv = pyenvRoot(environment);
  if (dirname(path) === join(pyenv, 'shims')) {
    return firstExecutable(pyenvVersions(environment).map((version) => join(version, 'bin', program)));
  }
  if (basename(real) === 'rustup') {
    return firstExecutable(rustToolchains(environment).map((toolchain) => join(toolchain, 'bin', program)));
  }
  if (/\/shims\/[^/]+$/.test(path) || ['mise', 'volta-shim', 'asdf'].includes(basename(real))) {
    return installedBy(path, program, environment);
  }
  return real === path ? real : path;
}

/** Newest version of a program that asdf or mise has installed. */
function installedBy(path: string, program: string, { HOME = '' }: Variables): string | null {
  const data = path.includes('/shims/')
    ? path.slice(0, path.lastIndexOf('/shims/'))
    : join(HOME, '.local/share/mise');
  const installs = join(data, 'installs');
  const candidates = foldersIn(installs).flatMap((tool) =>
    foldersIn(tool).map((version) => join(version, 'bin', program)),
  );
  return firstExecutable(candidates.toSorted(byVersion).toReversed());
}

const pyenvRoot = ({ PYENV_ROOT, HOME = '' }: Variables): string => PYENV_ROOT ?? join(HOME, '.pyenv');

/** Folders of the Pythons of pyenv: the configured ones first, then the newest. */
function pyenvVersions(environment: Variables): readonly string[] {
  const root = pyenvRoot(environment);
  const requested = (environment.PYENV_VERSION ?? textOf(join(root, 'version')))
    .split(/[\s:]+/)
    .filter(isPlainName);
  const chosen = requested.map((version) => join(root, 'versions', version));
  return [
    ...chosen.filter(existsSync),
    ...foldersIn(join(root, 'versions')).toSorted(byVersion).toReversed(),
  ];
}

/** Folders of the toolchains of rustup: its default first. */
function rustToolchains(environment: Variables): readonly string[] {
  const root = environment.RUSTUP_HOME ?? join(environment.HOME ?? '', '.rustup');
  const defaultToolchain =
    environment.RUSTUP_TOOLCHAIN ??
    /^default_toolchain\s*=\s*"([^"]+)"/m.exec(textOf(join(root, 'settings.toml')))?.[1] ??
    'stable';
  const all = foldersIn(join(root, 'toolchains'));
  const isDefault = (folder: string): boolean =>
    basename(folder) === defaultToolchain || basename(folder).startsWith(`${defaultToolchain}-`);
  return [...all.filter(isDefault), ...all.filter((folder) => !isDefault(folder))];
}

const isPlainName = (name: string): boolean => /^[\w.+-]+$/.test(name) && !name.startsWith('.');

const firstExecutable = (paths: readonly string[]): string | null => paths.find(isExecutable) ?? null;

const byVersion = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });

function foldersIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory());
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Missing or unreadable: then there is no default.
    return '';
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The program that represents a language, and the command that prints its version. */
export const VERSION_COMMANDS: Readonly<Record<RuntimeLanguage, readonly [program: string, flag: string]>> = {
  node: ['node', '--version'],
  python: ['python3', '--version'],
  rust: ['cargo', '--version'],
  go: ['go', 'version'],
  java: ['java', '-version'],
  ruby: ['ruby', '--version'],
  php: ['php', '--version'],
  dotnet: ['dotnet', '--version'],
};

/** Names as people write them. */
export const NAMES: Readonly<Record<RuntimeLanguage, string>> = {
  node: 'Node',
  python: 'Python',
  rust: 'Rust',
  go: 'Go',
  java: 'Java',
  ruby: 'Ruby',
  php: 'PHP',
  dotnet: '.NET',
};

/** The operator's toolchains for a language: first the one on PATH, then others of its version manager. */
interface HostChoice {
  readonly tools: readonly HostTool[];
  /** Why some toolchains are not shown to sandboxes, one sentence each. */
  readonly refused: readonly string[];
}

export function hostChoice(language: RuntimeLanguage, environment: Variables): HostChoice {
  const [program] = VERSION_COMMANDS[language];
  const others = ofVersionManager(language, environment);
  const paths = others.map((folder) => join(folder, 'bin', program)).filter(isExecutable);
  const found = [findHostTool(program, environment), ...paths.map((path) => asTool(path, environment))];
  const tools = new Map<string, HostTool>();
  const refused = new Set<string>();
  for (const each of found) {
    if (each === null) continue;
    if ('refused' in each) refused.add(each.refused);
    else tools.set(each.program, each);
  }
  return { tools: [...tools.values()], refused: [...refused] };
}

function ofVersionManager(language: RuntimeLanguage, environment: Variables): readonly string[] {
  if (language === 'python') return pyenvVersions(environment);
  return language === 'rust' ? rustToolchains(environment) : [];
}

/** Version output of an operator's tool; null if it does not start. */
export async function versionTextOf(tool: HostTool, flag: string): Promise<string | null> {
  const end = await runCommand([tool.program, flag], null);
  return end.code === 0 ? `${end.stdout}${end.stderr}`.split('\n')[0]?.trim() || null : null;
}

/** Whether a toolchain has a requested version. `root` is its folder, by which rustup names channels. */
export function fits(
  language: RuntimeLanguage,
  wanted: WantedVersion | undefined,
  text: string | null,
  root: string | null,
): boolean {
  if (text === null) return false;
  if (wanted === undefined) return true;
  const { range } = wanted;
  const version = parseVersion(text);
  if (language === 'rust' && !/^\d/.test(range)) {
    const channel = basename(root ?? '');
    if (channel === range || channel.startsWith(`${range}-`)) return true;
    return range.startsWith('stable') && !/nightly|beta/.test(`${channel} ${text}`);
  }
  return version !== null && satisfies(version, range);
}
