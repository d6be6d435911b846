import type { WantedTools } from '../core/settings/index.ts';
import type { Tools } from './sandbox.ts';

/** What a repository's commands get besides the programs that every sandbox has. */
export interface ProvidedTools {
  /** To be set as `tools` of the repository's base checkout. */
  readonly tools: Tools;
  /** What its commands will find, for people: `node 22.14.0`, `python 3.11.7`. */
  readonly versions: readonly string[];
  /** What it asks for and cannot have here, a sentence each, with both ways to get it. */
  readonly missing: readonly string[];
}

export interface Toolchains {
  /**
   * The toolchains that a repository asks for: of the sandbox, of the operator, or from the package registry that npm
   * on this machine is set to. Installs and copies happen once for each version. What cannot be had is in `missing`;
   * rejects only when the signal is aborted, or with DISK_FULL.
   */
  provide(wanted: WantedTools, signal?: AbortSignal): Promise<ProvidedTools>;
}
