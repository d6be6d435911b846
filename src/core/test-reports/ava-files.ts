/** Between the parts of a name: those of the file, and the title. */
const SEPARATOR = ' › ';

/** A test of AVA: its file, and its title, which alone is its name where only this file runs. */
export interface AvaTest {
  readonly file: string;
  readonly title: string;
}

/**
 * Finds the file of a test that AVA names by a part of its path (`lib/reporters/prefix-title.js` of AVA 1 to 7: without
 * the folders that all files share, `__tests__`, `test-`, `.test` and the extension). Null if it names no file or several.
 */
export function avaTests(files: readonly string[]): (id: string) => AvaTest | null {
  const all = files.map((file) => ({ file, parts: nameParts(file) }));
  const byName = Map.groupBy(all, ({ parts }) => parts.at(-1));
  return (id) => {
    const words = id.split(SEPARATOR);
    // A title may contain the separator too, so the longest name of a file counts.
    for (let length = words.length - 1; length > 0; length--) {
      const name = words.slice(0, length);
      const found = (byName.get(name.at(-1)) ?? []).filter(({ parts }) => endsWith(parts, name));
      const [only, ...others] = found;
      if (only)
        return others.length > 0 ? null : { file: only.file, title: words.slice(length).join(SEPARATOR) };
    }
    return null;
  };
}

function nameParts(file: string): readonly string[] {
  const parts = file.split('/').filter((part) => part !== '__tests__');
  const name = (parts.pop() ?? '')
    .replace(/\.spec\./, '.')
    .replace(/\.test\./, '.')
    .replace(/test-/, '')
    .replace(/\.\w+$/, '');
  return [...parts, name];
}

const endsWith = (whole: readonly string[], end: readonly string[]): boolean =>
  end.every((part, at) => whole[whole.length - end.length + at] === part);
