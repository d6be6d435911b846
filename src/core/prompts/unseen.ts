/**
 * What a reader cannot see: format, bidirectional and tag characters, variation selectors, fillers, controls, and the
 * private planes, in which we keep a place for what is set aside meanwhile.
 */
const UNSEEN =
  /(?![\n\t])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800\u{f0000}-\u{10ffff}]/gu;

/** The same as an entity, as lax as browsers read it. Only inside of HTML and prose: in code it is shown as it stands. */
const ENTITY = /&#(?:x0*([0-9a-f]{1,6})|0*([0-9]{1,7}));?/gi;
const NAMED =
  /&(?:ZeroWidthSpace|Negative(?:VeryThin|Thin|Medium|Thick)Space|NoBreak|zwn?j|[lr]rm|shy|InvisibleTimes|InvisibleComma|ApplyFunction|i[tc]|af);/g;

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

/** Entities of characters that cannot be seen, taken out; a blank stays, so that what stood around them forms no other. */
export const withoutUnseenEntities = (text: string): string =>
  text
    .replace(ENTITY, (entity, hex: string | undefined, decimal: string | undefined) => {
      const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return isUnseen(point) ? ' ' : entity;
    })
    .replace(NAMED, ' ');

function isUnseen(point: number): boolean {
  if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return true;
  return String.fromCodePoint(point).replace(UNSEEN, '') === '';
}

const named = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
