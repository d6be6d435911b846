/** The ordinary user that every sandbox process belongs to when Runoff itself runs as root. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Options for `spawn`: it sets both ids and, as root, drops all supplementary groups before the program starts. */
export const asOwner = (owner: Owner | null): { uid?: number; gid?: number } =>
  owner === null ? {} : { uid: owner.uid, gid: owner.gid };
