import type { Sha } from '../../core/model/index.ts';
import { toolchainFiles, wantedTools } from '../../core/settings/index.ts';
import type {
  BaseCheckout,
  ProvidedTools,
  RepositorySource,
  Toolchains,
  Workspaces,
} from '../../ports/index.ts';

/** What finding the toolchains of a repository takes. */
export interface ToolchainPorts {
  readonly workspaces: Pick<Workspaces, 'listFiles'>;
  /** Absent where sandboxes have only what they have. */
  readonly toolchains?: Toolchains;
}

interface Place {
  readonly source: RepositorySource;
  readonly sha: Sha;
  /** Text of a file of the commit; null for none that can be read. */
  readonly read: (path: string) => Promise<string | null>;
  /** The command that sets it up; absent: none. */
  readonly setup?: string | undefined;
}

/** The toolchains that a commit asks for; null where none can be had. */
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

/** A base whose areas have these toolchains, and that says in which versions. */
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
