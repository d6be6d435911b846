/**
 * What a reader cannot see: format, bidirectional and tag characters, variation selectors, fillers, controls, and the
 * private planes, whose characters have no form that all readers share.
 */
const UNSEEN =
  /(?![\n\t])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800\u{f0000}-\u{10ffff}]/gu;

export interface Plain {
  readonly text: string;
  /** The characters that are gone, each once, as `U+200B`, in the order in which they came. */
  readonly characters: readonly string[];
  readonly count: number;
}

/**
 * Text in which every character can be seen: those that cannot be are gone, blanks and line ends of other kinds are
 * plain ones. Naming them in the text would hand on a message that somebody wrote in them.
 */
export function withoutUnseen(text: string): Plain {
  const found: string[] = [];
  const plain = text
    .replace(/\r\n?|[\u2028\u2029\u0085\v\f]/g, '\n')
    .toWellFormed()
    .replace(UNSEEN, (character) => {
      found.push(character);
      return '';
    })
    .replace(/\p{Zs}/gu, ' ');
  return { text: plain, characters: [...new Set(found)].map(named), count: found.length };
}

const named = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
