import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { CoderLaunch } from '../../ports/index.ts';
import { parseJsonLine } from './progress.ts';

/** An agent that `runoff agents install` can install. */
export interface InstallableAgent {
  readonly name: string;
  /** The package in npm's syntax, without its version: `NAME`, or `FOLDER@npm:NAME`. */
  readonly asked: string;
  /** Suffix of version numbers, for agents whose platform packages are versions of one package. */
  readonly suffix: string;
  /** Folder of the package below `node_modules`. */
  readonly package: string;
  /** The program below the package's folder. */
  readonly program: string;
  /** Whether it is JavaScript, run with the sandbox's own Node; otherwise a native program. */
  readonly script: boolean;
  /** The version that Runoff's tests use and that is installed by default. */
  readonly tested: string;
}

/** All of these packages use Node's name for the processor. */
const ARCH = process.arch;
/** Rust target triples, as in Codex's folder names. */
const RUST_ARCH = ARCH === 'arm64' ? 'aarch64' : 'x86_64';

const native = { suffix: '', script: false } as const;
const script = { suffix: '', script: true } as const;

/**
 * Every agent that can be installed. Wrapper packages, which only choose the package for this platform and copy it in
 * an install script, are not used: the platform's package is installed directly, so that no script ever runs.
 */
export const AGENTS: readonly InstallableAgent[] = [
  {
    ...native,
    name: 'claude-code',
    asked: `@anthropic-ai/claude-code-linux-${ARCH}`,
    package: `@anthropic-ai/claude-code-linux-${ARCH}`,
    program: 'claude',
    tested: '2.1.329',
  },
  {
    ...native,
    name: 'codex',
    asked: `@openai/codex-linux-${ARCH}@npm:@openai/codex`,
    suffix: `-linux-${ARCH}`,
    package: `@openai/codex-linux-${ARCH}`,
    program: `vendor/${RUST_ARCH}-unknown-linux-musl/bin/codex`,
    tested: '0.169.0',
  },
  {
    ...native,
    name: 'opencode',
    asked: `opencode-linux-${ARCH}`,
    package: `opencode-linux-${ARCH}`,
    program: 'bin/opencode',
    tested: '1.18.33',
  },
  {
    ...script,
    name: 'pi',
    asked: '@earendil-works/pi-coding-agent',
    package: '@earendil-works/pi-coding-agent',
    program: 'dist/bundle/cli.js',
    tested: '0.87.1',
  },
  {
    ...script,
    name: 'gemini',
    asked: '@google/gemini-cli',
    package: '@google/gemini-cli',
    program: 'bundle/gemini.js',
    tested: '0.61.0',
  },
  {
    ...native,
    name: 'copilot',
    asked: `@github/copilot-linux-${ARCH}`,
    package: `@github/copilot-linux-${ARCH}`,
    program: 'copilot',
    tested: '1.0.102',
  },
  {
    ...script,
    name: 'qwen',
    asked: '@qwen-code/qwen-code',
    package: '@qwen-code/qwen-code',
    program: 'cli-entry.js',
    tested: '0.24.4',
  },
];

/** Finds an agent's row. Adapters only use names that exist above. */
function catalogued(name: string): InstallableAgent {
  const agent = AGENTS.find((one) => one.name === name);
  if (!agent) throw new Error(`There is no agent ${name} in the catalogue.`);
  return agent;
}

/** The sandbox's own Node. */
export const SANDBOX_NODE = '/opt/toolchain/bin/node';
/** Folder of installed agents inside the sandbox. */
const INSIDE = '/opt/agents';

/** How an installed agent is started, and which version it is. */
interface InstalledAgent {
  /** The words that start its program inside the sandbox; its own arguments follow. */
  readonly start: readonly [string, ...string[]];
  readonly binds: NonNullable<CoderLaunch['binds']>;
  version(): Promise<string | null>;
}

/** An agent of the catalogue, whether or not it is installed: nothing is looked up before `version`. */
export function installedAgent(agentsFolder: string, name: string): InstalledAgent {
  const agent = catalogued(name);
  const to = `${INSIDE}/${name}`;
  const program = `${to}/node_modules/${agent.package}/${agent.program}`;
  return {
    start: agent.script ? [SANDBOX_NODE, program] : [program],
    binds: [{ from: join(agentsFolder, name), to }],
    version: () => installedVersion(agentsFolder, name, agent.package),
  };
}

const PackageFile = z.object({ version: z.string().max(100) });

/** Version of a package below an agent's folder, such as `1.2.3`; null if it is not installed. */
export async function installedVersion(
  agentsFolder: string,
  name: string,
  packageName: string,
): Promise<string | null> {
  const file = join(packageFolder(agentsFolder, name, packageName), 'package.json');
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return '';
    throw error;
  });
  const found = PackageFile.safeParse(parseJsonLine(text));
  return found.success ? found.data.version.replace(/-linux-\w+$/, '') : null;
}

/** Where npm puts a package of an agent. */
const packageFolder = (agentsFolder: string, name: string, packageName: string): string =>
  join(agentsFolder, name, 'node_modules', packageName);

/** The agent's program on the host. */
export const programFile = (agentFolder: string, agent: InstallableAgent): string =>
  join(agentFolder, 'node_modules', agent.package, agent.program);
