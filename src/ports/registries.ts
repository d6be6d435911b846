/** How a set-up command reaches the package registries that this machine uses. */
export interface RegistryAccess {
  /** `host:port` names; none where nobody may be reached. */
  readonly hosts: readonly string[];
  /** Makes the package clients in a sandbox use the same registries and certificates; holds no credentials. */
  readonly env: Readonly<Record<string, string>>;
  /** The same as files of the command's HOME, by relative path. */
  readonly files: Readonly<Record<string, string>>;
}

export const NO_REGISTRIES: RegistryAccess = { hosts: [], env: {}, files: {} };

export interface Registries {
  /**
   * The registries of the package clients that a command names (`npm ci`: those of npm), of all clients where it names
   * none. Each client of this machine is asked once; one that cannot be asked names none. Never rejects.
   */
  of(command: string): Promise<RegistryAccess>;
}
