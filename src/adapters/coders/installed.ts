import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { CoderLaunch } from '../../ports/index.ts';
import { catalogued, type InstallableAgent } from './catalogue.ts';
import { json } from './lines.ts';

/** The sandbox's own Node. */
export const NODE = '/opt/runoff/bin/node';
/** Where installed agents are seen inside the sandbox. */
const INSIDE = '/opt/agents';

/** How an installed agent is started, and which version it is. */
export interface InstalledAgent {
  /** The words that start its program inside the sandbox; its own arguments follow. */
  readonly start: readonly [string, ...string[]];
  readonly binds: NonNullable<CoderLaunch['binds']>;
  version(): Promise<string | null>;
}

/** An agent of the catalogue, whether it is installed or not: nothing is looked up before `version`. */
export function installedAgent(agentsFolder: string, name: string): InstalledAgent {
  const agent = catalogued(name);
  const to = `${INSIDE}/${name}`;
  const program = `${to}/node_modules/${agent.package}/${agent.program}`;
  return {
    start: agent.script ? [NODE, program] : [program],
    binds: [{ from: join(agentsFolder, name), to }],
    version: () => installedVersion(agentsFolder, name, agent.package),
  };
}

const PackageFile = z.object({ version: z.string().max(100) });

/** Version of a package below an agent's folder, such as `1.2.3`; null when it is not installed. */
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
  const found = PackageFile.safeParse(json(text));
  return found.success ? found.data.version.replace(/-linux-\w+$/, '') : null;
}

/** Where npm puts a package of an agent. */
export const packageFolder = (agentsFolder: string, name: string, packageName: string): string =>
  join(agentsFolder, name, 'node_modules', packageName);

/** The agent's program on the host. */
export const programFile = (agentFolder: string, agent: InstallableAgent): string =>
  join(agentFolder, 'node_modules', agent.package, agent.program);
