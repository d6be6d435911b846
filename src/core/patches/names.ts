/**
 * Blank or unseen wherever it stands: control and format characters, line and paragraph separators, code points that
 * Unicode says to ignore when there is no glyph (variation selectors, fillers, joiners), and the empty Braille cell.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** U+FE0E and U+FE0F only choose how the emoji before them is drawn; between a digit and U+20E3 they make a keycap. */
const EMOJI_STYLE = /(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3)/gu;
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Has a name something that its reader cannot see? How an emoji is drawn does not count. */
export const hasUnseen = (text: string): boolean => UNSEEN.test(text.replace(EMOJI_STYLE, ''));

/** A path as a reader may see it: quoted, with escapes for what cannot be seen. */
export const shown = (path: string): string =>
  JSON.stringify(path.slice(0, 200)).replace(/[^\x20-\x7e]/gu, (char) =>
    UNSEEN.test(char) ? `\\u{${(char.codePointAt(0) as number).toString(16)}}` : char,
  );

/**
 * A path as file systems compare it that do not tell case from case: full case folding, canonical form, and without the
 * code points that HFS+ and case-folding ext4 ignore.
 */
export function folded(path: string): string {
  if (/^[\x20-\x7e]*$/.test(path)) return path.toLowerCase();
  const plain = path.normalize('NFC').replace(IGNORABLE, '');
  return plain.toUpperCase().toLowerCase().normalize('NFC');
}

/** `folded`, and without what NTFS drops from one component of a path: streams, and dots and spaces at its end. */
export function resolved(component: string): string {
  const [beforeStream = ''] = folded(component).split(':', 1);
  let end = beforeStream.length;
  while (end > 0 && (beforeStream[end - 1] === '.' || beforeStream[end - 1] === ' ')) end--;
  return beforeStream.slice(0, end);
}
