/** Text as a reader takes it: look-alike letters are plain ones, unseen characters are gone. Case is kept. */
export interface Folded {
  readonly text: string;
  /** For each UTF-16 unit of `text` where its origin begins, and at the end the length of the origin; null: the same. */
  readonly at: readonly number[] | null;
}

/** Letters of other scripts that look like Latin ones, after Unicode's `confusables.txt` (UTS 39), the common part. */
const LOOK_ALIKES: ReadonlyMap<string, string> = new Map(
  (
    [
      ['аӑɑα', 'a'],
      ['АΑ', 'A'],
      ['ВΒ', 'B'],
      ['сϲ', 'c'],
      ['СϹ', 'C'],
      ['ԁ', 'd'],
      ['еёҽε', 'e'],
      ['ЕΕ', 'E'],
      ['ɡԍ', 'g'],
      ['һ', 'h'],
      ['НΗ', 'H'],
      ['іӏıι', 'i'],
      ['ІΙӀ', 'I'],
      ['ј', 'j'],
      ['Ј', 'J'],
      ['кκ', 'k'],
      ['КΚ', 'K'],
      ['ⅼ', 'l'],
      ['МΜ', 'M'],
      ['Ν', 'N'],
      ['оοօσ', 'o'],
      ['ОΟ', 'O'],
      ['рρ', 'p'],
      ['РΡ', 'P'],
      ['ԛ', 'q'],
      ['ѕ', 's'],
      ['Ѕ', 'S'],
      ['тτ', 't'],
      ['ТΤ', 'T'],
      ['υս', 'u'],
      ['νѵ', 'v'],
      ['ԝω', 'w'],
      ['хχ', 'x'],
      ['ХΧ', 'X'],
      ['уγ', 'y'],
      ['УΥ', 'Y'],
    ] as const
  ).flatMap(([looks, letter]) => [...looks].map((look) => [look, letter] as const)),
);

/** Letters in circles, squares and flags, which have no compatibility form: first code point and how many. */
const ENCLOSED: readonly (readonly [first: number, last: number])[] = [
  [0x1f130, 0x1f149],
  [0x1f150, 0x1f169],
  [0x1f170, 0x1f189],
  [0x1f1e6, 0x1f1ff],
];
/** Tags repeat ASCII at this distance: a whole message can be written in them, and nothing is seen of it. */
const TAGS = 0xe0000;
const UNSEEN = /^[\p{Cf}\p{Default_Ignorable_Code_Point}\p{M}\p{Cs}\u2800]$/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII
const ASCII = /^[\u0000-\u007f]*$/;

export function fold(text: string): Folded {
  if (ASCII.test(text)) return { text, at: null };
  const at: number[] = [];
  let folded = '';
  let from = 0;
  for (const character of text) {
    const plain = plainOf(character);
    for (let i = 0; i < plain.length; i++) at.push(from);
    folded += plain;
    from += character.length;
  }
  at.push(from);
  return { text: folded, at };
}

function plainOf(character: string): string {
  const point = character.codePointAt(0) as number;
  if (point < 0x80) return character;
  for (const [first, last] of ENCLOSED) {
    if (point >= first && point <= last) return String.fromCharCode(65 + (point - first));
  }
  if (point > TAGS + 0x1f && point < TAGS + 0x7f) return String.fromCharCode(point - TAGS);
  return [...character.normalize('NFKD')]
    .filter((part) => !UNSEEN.test(part))
    .map((part) => LOOK_ALIKES.get(part) ?? part)
    .join('');
}

/** As `matchAll`, which copies and so compiles the pattern anew each time; ours are large. The pattern must be global. */
export function allOf(text: string, pattern: RegExp): readonly RegExpExecArray[] {
  const all: RegExpExecArray[] = [];
  pattern.lastIndex = 0;
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    all.push(found);
    if (found[0] === '') pattern.lastIndex += 1;
  }
  return all;
}

/**
 * Replaces what the pattern finds in the folded text by what `by` makes of it (null: leave it), in the original. The
 * pattern must be global.
 */
export function replaceFolded(
  text: string,
  pattern: RegExp,
  by: (found: RegExpExecArray, folded: string) => string | null,
): string {
  const folded = fold(text);
  const origin = (at: number): number => folded.at?.[at] ?? at;
  let result = '';
  let kept = 0;
  for (const found of allOf(folded.text, pattern)) {
    const replacement = found[0] === '' ? null : by(found, folded.text);
    if (replacement === null) continue;
    const from = origin(found.index);
    const to = origin(found.index + found[0].length);
    if (from < kept) continue;
    result += text.slice(kept, from) + replacement;
    kept = to;
  }
  return result + text.slice(kept);
}
