/** What stands in the place of something that was left out. */
export const LEFT_OUT = '(…)';

/** What a text says beyond what its page shows, counted while it is taken out. */
export class Omissions {
  #passages = 0;
  #length = 0;
  #images = 0;
  #invisible = 0;
  readonly #named = new Set<string>();

  /** Counts a passage of so many UTF-16 units; an empty one is none. Returns what stands in its place. */
  leave(length: number): string {
    if (length <= 0) return '';
    this.#passages += 1;
    this.#length += length;
    return LEFT_OUT;
  }

  /** Counts a picture, whose description and address go. */
  image(length: number): string {
    this.#images += 1;
    this.#length += length;
    return '(image)';
  }

  /** Text without characters that nobody sees, which are counted. */
  shown(text: string): string {
    const { text: plain, characters, count } = withoutUnseen(text);
    this.#invisible += count;
    for (const character of characters) this.#named.add(character);
    return plain;
  }

  /** A sentence on what was left out; null where nothing was. */
  note(): string | null {
    const parts = [
      ...(this.#passages + this.#images > 0 ? [this.#pieces()] : []),
      ...(this.#invisible > 0
        ? [`${counted(this.#invisible, 'invisible character')} (${this.#characters()})`]
        : []),
    ];
    return parts.length === 0
      ? null
      : `Left out, because the page does not show it: ${parts.join(', and ')}.`;
  }

  #pieces(): string {
    const kinds = [
      ...(this.#passages > 0 ? [counted(this.#passages, 'passage')] : []),
      ...(this.#images > 0 ? [`the description of ${counted(this.#images, 'image')}`] : []),
    ];
    return `${kinds.join(' and ')} (${counted(this.#length, 'character')}; each place is marked ${LEFT_OUT}${this.#images > 0 ? ' or (image)' : ''})`;
  }

  #characters(): string {
    const named = [...this.#named];
    return `${named.slice(0, MOST_NAMED).join(', ')}${named.length > MOST_NAMED ? ', …' : ''}`;
  }
}

/** Characters that a note names. */
const MOST_NAMED = 5;

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

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
