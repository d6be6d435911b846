import type { Sha } from '../../core/model/index.ts';
import { toolchainFiles, wantedTools } from '../../core/settings/index.ts';
import type {
  BaseCheckout,
  ProvidedTools,
  RepositorySource,
  Toolchains,
  Workspaces,
} from '../../ports/index.ts';

/** Dependencies of finding a repository's toolchains. */
export interface ToolchainPorts {
  readonly workspaces: Pick<Workspaces, 'listFiles'>;
  /** Absent: only the sandbox's own tools are available. */
  readonly toolchains?: Toolchains;
}

interface Place {
  readonly source: RepositorySource;
  readonly sha: Sha;
  /** Reads a file of the commit; null if it does not exist or is unreadable. */
  readonly read: (path: string) => Promise<string | null>;
  /** The set-up command; absent: none. */
  readonly setup?: string | undefined;
}

/** The toolchains that a commit requires; null if none is available. */
export async function toolsAt(
  { workspaces, toolchains }: ToolchainPorts,
  { source, sha, read, setup }: Place,
  signal?: AbortSignal,
): Promise<ProvidedTools | null> {
  if (!toolchains) return null;
  const paths = await workspaces.listFiles(source, sha);
  const texts = new Map<string, string>();
  for (const file of toolchainFiles(paths)) {
    const text = await read(file);
    if (text !== null) texts.set(file, text);
  }
  return toolchains.provide(wantedTools(paths, texts, setup), signal);
}

/** A base whose areas have these toolchains, with their versions. */
export function withTools(base: BaseCheckout, provided: ProvidedTools | null): BaseCheckout {
  if (provided === null) return base;
  const { tools, found } = provided;
  const toolVersions = found.map(({ name, from }) => `${name} (${from})`);
  return {
    ...base,
    toolVersions,
    ...(tools.path.length === 0 && tools.services === undefined ? {} : { tools }),
  };
}
