import { fnv1a } from '../settings/index.ts';
import type { Author } from './types.ts';

/** Text as a reader takes it: look-alike letters are plain ones, unseen characters are gone. Case is kept. */
interface Folded {
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
const TAG_OFFSET = 0xe0000;
const INVISIBLE_CHARACTER = /^[\p{Cf}\p{Default_Ignorable_Code_Point}\p{M}\p{Cs}\u2800]$/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII
const ASCII = /^[\u0000-\u007f]*$/;

function fold(text: string): Folded {
  if (ASCII.test(text)) return { text, at: null };
  const at: number[] = [];
  let folded = '';
  let from = 0;
  for (const character of text) {
    const plain = foldedCharacter(character);
    for (let i = 0; i < plain.length; i++) at.push(from);
    folded += plain;
    from += character.length;
  }
  at.push(from);
  return { text: folded, at };
}

function foldedCharacter(character: string): string {
  const point = character.codePointAt(0) as number;
  if (point < 0x80) return character;
  for (const [first, last] of ENCLOSED) {
    if (point >= first && point <= last) return String.fromCharCode(65 + (point - first));
  }
  if (point > TAG_OFFSET + 0x1f && point < TAG_OFFSET + 0x7f) return String.fromCharCode(point - TAG_OFFSET);
  return [...character.normalize('NFKD')]
    .filter((part) => !INVISIBLE_CHARACTER.test(part))
    .map((part) => LOOK_ALIKES.get(part) ?? part)
    .join('');
}

/** As `matchAll`, which copies and so compiles the pattern anew each time; ours are large. The pattern must be global. */
function allMatches(text: string, pattern: RegExp): readonly RegExpExecArray[] {
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
  for (const found of allMatches(folded.text, pattern)) {
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

/**
 * Makers, models and agents by the names that no ordinary word contains: found inside identifiers too, with digits for
 * letters, and spelt out letter by letter.
 */
const UNMISTAKABLE = [
  'anthropic',
  'chatgpt',
  'claude',
  'codestral',
  'deepseek',
  'devstral',
  'mixtral',
  'moonshotai',
  'openai',
  'opencode',
  'openhands',
  'openrouter',
  'perplexity',
  'zhipuai',
] as const;

/** Names that stand inside ordinary words as well (`ngrok`), so only whole parts of an identifier count. */
const BOUNDED = [
  'aider',
  'codex',
  'copilot',
  'devin',
  'gemini',
  'gemma',
  'gpt',
  'grok',
  'groq',
  'kimi',
  'llama',
  'minimax',
  'mistral',
  'mistralai',
  'nemotron',
  'qwen',
  'qwq',
  'windsurf',
  'xai',
] as const;

/** Model lines whose names are words of their own: only with a version or their maker's name beside them. */
const VERSIONED = String.raw`(?:sonnet|opus|haiku|glm|phi|nova|command-r)[ _-]?\d+(?:\.\d+)*`;

/** What stands behind a model's name and belongs to it. */
const NAME_SUFFIX = String.raw`(?:[ _.:/-]?(?:code|cli|sonnet|opus|haiku|flash|pro|mini|nano|turbo|preview|latest|max|plus|lite|coder|chat|instruct|thinking|v?\d+(?:\.\d+)*[a-z]{0,2}(?![a-z])))*`;

/** Our own branches end in a candidate's alias. */
const BRANCH = String.raw`auto-dev[/-]\d[\w./-]*`;

const LOOK_ALIKE_CLASSES: Readonly<Record<string, string>> = {
  a: '[a4@]',
  e: '[e3]',
  i: '[i1!|]',
  l: '[l1|]',
  o: '[o0]',
  s: '[s5$]',
  t: '[t7]',
};
/** The hyphen is left: outside a class it may not be escaped in a pattern with the flag `u`. */
const escapedPattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
const lookAlikePattern = (name: string): string[] =>
  [...name].map((letter) => LOOK_ALIKE_CLASSES[letter] ?? letter);
/** `c-l-a-u-d-e`: every letter parted from the next. */
const spelledOutPattern = (name: string): string => lookAlikePattern(name).join('[^\\p{L}\\p{N}]{1,3}');

/** The names that would tell judges who wrote what. */
export interface Identities {
  readonly anywhere: RegExp;
  /** Counts only where a part of an identifier begins and ends with it. */
  readonly bounded: RegExp;
  /** Names that are ordinary words (`plain`, `pi`): only where something says that they name an author. */
  readonly attributed: RegExp | null;
}

/** What is scrubbed and looked for: all names we know, whoever competes, and this run's contestants. */
export function identitiesOf(authors: readonly Author[]): Identities {
  const own = authors.flatMap(({ agent, model }) => [agent, ...modelNames(model)]);
  const telling = [...new Set(own.map((name) => name.toLowerCase()))].filter(isDistinctive);
  // A prompt's name says how to work, in ordinary words.
  const ordinary = [...own.filter((name) => !isDistinctive(name)), ...authors.map(({ prompt }) => prompt)];
  // The longest first, so that `claude-code` is one name and not a name and a rest.
  const bounded = [...telling, ...BOUNDED].toSorted((a, b) => b.length - a.length || (a < b ? -1 : 1));
  const strong = UNMISTAKABLE.map(
    (name) => `${lookAlikePattern(name).join('')}|${spelledOutPattern(name)}`,
  ).join('|');
  const words = [...new Set(ordinary.map((name) => name.toLowerCase()))].filter((name) => name !== '').sort();
  return {
    anywhere: new RegExp(`(?:${strong})${NAME_SUFFIX}|${BRANCH}`, 'giu'),
    bounded: new RegExp(`(?:${VERSIONED}|(?:${bounded.map(escapedPattern).join('|')})${NAME_SUFFIX})`, 'giu'),
    attributed:
      words.length === 0
        ? null
        : new RegExp(
            `(?<=\\b(?:agent|model|prompt|variant|contestant|coder|assistant)[\\s:="'\`]{1,4})(?:${words.map(escapedPattern).join('|')})\\b`,
            'giu',
          ),
  };
}

/** `openrouter/anthropic/claude-x` names three. */
const modelNames = (model: string): readonly string[] => [
  model.slice(model.indexOf('/') + 1),
  ...model.split('/'),
];

/** A word without digit or sign may be anything; a short one is found everywhere. */
const isDistinctive = (name: string): boolean =>
  name.length >= 4 && name.length <= 200 && /[^a-z]/i.test(name) && /[a-z]/i.test(name);

/** Every name replaced by a word that stands for it everywhere: the same in every text, and nobody's. */
export function scrub(text: string, identities: Identities): string {
  const first = replaceFolded(text, identities.anywhere, ([name]) => pseudonym(name));
  const second = replaceFolded(first, identities.bounded, (found, folded) =>
    isWholeWord(found, folded) ? pseudonym(found[0]) : null,
  );
  const { attributed } = identities;
  return attributed ? replaceFolded(second, attributed, ([name]) => pseudonym(name)) : second;
}

/**
 * The names that a text still holds, sorted. Looks at it in more ways than `scrub` does, so that what slips through
 * there is seen here: also behind joined string literals. A text for which this is not empty is not sent.
 */
export function leaksIn(text: string, identities: Identities): readonly string[] {
  const { text: folded } = fold(text);
  const joined = folded.replace(/(["'`])\s*(?:\+|\.\.|&|\n)?\s*\1/g, '');
  const { anywhere, bounded, attributed } = identities;
  const names = [...new Set([folded, joined])].flatMap((one) => [
    ...allMatches(one, anywhere).map(([name]) => name),
    ...allMatches(one, bounded)
      .filter((found) => isWholeWord(found, one))
      .map(([name]) => name),
    ...(attributed ? allMatches(one, attributed).map(([name]) => name) : []),
  ]);
  return [...new Set(names.map((name) => name.toLowerCase()))].sort();
}

/** Neither side goes on with the same word: `useGPT4`, `GEMINI_KEY` and `grok-2` yes, `ngrok` and `grokking` no. */
function isWholeWord({ 0: name, index }: RegExpExecArray, text: string): boolean {
  const before = text.charAt(index - 1);
  const after = text.charAt(index + name.length);
  const first = name.charAt(0);
  const last = name.charAt(name.length - 1);
  const begins = !/\p{L}/u.test(before) || (/\p{Ll}/u.test(before) && /\p{Lu}/u.test(first));
  const ends = !/\p{L}/u.test(after) || (/\p{Lu}/u.test(after) && !/\p{Lu}/u.test(last));
  return begins && ends;
}

/** Looks like an identifier, so that code stays code. Two names may share one; nothing depends on telling them apart. */
function pseudonym(name: string): string {
  const hash = fnv1a(name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-'));
  return `name_${(hash % 1296).toString(36).padStart(2, '0')}`;
}
