/** A folder of the host, and what stands for it in public. */
export interface HostFolder {
  readonly path: string;
  readonly name: string;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** A character as our Markdown may write it: as it is, behind a backslash, as an entity, or parted from the next one. */
function written(character: string): string {
  if (/[A-Za-z0-9]/.test(character)) return character;
  const literal = character.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');
  const entities = [`&#${character.codePointAt(0)};`, ...(ENTITIES[character] ? [ENTITIES[character]] : [])];
  return `(?:\\\\?${literal}|${entities.join('|')})(?:&#8203;)?`;
}

/**
 * Takes folders of the host out of texts that everybody may read: a message that names a file of ours says so much about
 * the machine. Longer paths first; a folder that is only a part of a longer name is another one.
 */
export function withoutHostPaths(folders: readonly HostFolder[]): (text: string) => string {
  const forms = folders
    .filter(({ path }) => /^\/[^/]+\/[^/]/.test(path))
    .sort((one, other) => other.path.length - one.path.length)
    .map(({ path, name }) => {
      const letters = [...path.replace(/\/+$/, '')].map(written).join('');
      return { name, form: new RegExp(`(?<![A-Za-z0-9_.~])${letters}(?![A-Za-z0-9_-])`, 'g') };
    });
  return (text) => forms.reduce((kept, { form, name }) => kept.replace(form, name), text);
}
