/** An export of another file of a patch: `{ file: 'tools', name: 'lib', path: 'assert' }`. */
export interface FileExport {
  /** Without its folder and extension. */
  readonly file: string;
  /** Empty for what the file exports as a whole. */
  readonly name: string;
  readonly path: string;
}

/** What a path such as `./tools.lib.equal` refers to through the exports of other files; null for nothing. */
export type Exported = (path: string) => string | null;

export const NO_EXPORTS: Exported = () => null;

/** Where the name of a file may begin in a path. */
const FILE_STARTS = /(?<=^|[/.])(?=[^/.])/g;
const FOLDER_CHARS = /^[\w@./-]*$/;
const EXTENSION = /^\.[cm]?[jt]sx?(?=$|\.)/;

/** `lib.assert` and `this.lib.assert` are bound by their full name. */
const MAX_NAME_PARTS = 3;

/** Looks exports up by file and name, and does not try each export on each path. */
export function exportsOf(all: readonly FileExport[]): Exported {
  const files = Map.groupBy(all, ({ file }) => file);
  const named = new Map(
    [...files].map(
      ([file, own]) => [file, new Map(own.map((one) => [one.name, one.path] as const))] as const,
    ),
  );
  const sizes = [...new Set(all.map(({ file }) => file.length))];
  const restOf = (names: ReadonlyMap<string, string>, rest: string): string | null => {
    const parts = rest.split('.', MAX_NAME_PARTS + 1).slice(1);
    for (let count = parts.length; count > 0; count--) {
      const own = parts.slice(0, count).join('.');
      const path = names.get(own);
      if (path !== undefined) return `${path}${rest.slice(own.length + 1)}`;
    }
    const whole = names.get('');
    return whole === undefined ? null : `${whole}${rest}`;
  };
  return (path) => {
    for (const { index } of files.size === 0 ? [] : path.matchAll(FILE_STARTS)) {
      if (!FOLDER_CHARS.test(path.slice(0, index))) return null;
      for (const size of sizes) {
        const names = named.get(path.slice(index, index + size));
        const after = path.slice(index + size).replace(EXTENSION, '');
        if (!names || !/^(?:\.|$)/.test(after)) continue;
        const found = restOf(names, after);
        if (found !== null) return found;
      }
    }
    return null;
  };
}
