import { basename, join } from 'node:path';
import {
  parseVersion,
  type RuntimeLanguage,
  satisfies,
  type WantedVersion,
} from '../../../core/settings/index.ts';
import { runCommand } from '../processes.ts';
import { asTool, findHostTool, type HostTool, isExecutable, pyenvVersions, rustToolchains } from './host.ts';

type Variables = Readonly<Record<string, string | undefined>>;

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
export interface HostChoice {
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
