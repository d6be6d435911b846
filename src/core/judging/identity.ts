import { fnv1a } from '../settings/index.ts';
import type { Author } from './types.ts';

/**
 * Text as a reader perceives it: look-alike letters are replaced by plain ones, invisible characters are removed.
 * Case is kept.
 */
interface Folded {
  readonly text: string;
  /**
   * The offset in the original text of each UTF-16 unit of `text`, followed by the length of the original. Null when
   * both are identical.
   */
  readonly at: readonly number[] | null;
}

/** The common letters of other scripts that look like Latin ones, from Unicode's `confusables.txt` (UTS 39). */
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

/** Letters in circles, squares and flags, which have no compatibility form: first code point and count. */
const ENCLOSED: readonly (readonly [first: number, last: number])[] = [
  [0x1f130, 0x1f149],
  [0x1f150, 0x1f169],
  [0x1f170, 0x1f189],
  [0x1f1e6, 0x1f1ff],
];
/** Offset of Unicode tag characters from ASCII. They are invisible and can encode a whole message. */
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

/**
 * Like `matchAll`, which copies and recompiles the pattern on each call; these patterns are large. The pattern must
 * be global.
 */
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
 * Finds matches in the folded text and replaces them in the original by the result of `by` (null: keep the match).
 * The pattern must be global.
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
 * Makers, models and agents whose names occur in no ordinary word. Also found inside identifiers, with digits in
 * place of letters, and spelt out letter by letter.
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

/** Names that also occur inside ordinary words (`ngrok`): only whole parts of an identifier count. */
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

/** Model lines named after ordinary words: they count only next to a version or their maker's name. */
const VERSIONED = String.raw`(?:sonnet|opus|haiku|glm|phi|nova|command-r)[ _-]?\d+(?:\.\d+)*`;

/** Suffixes that belong to a model's name. */
const NAME_SUFFIX = String.raw`(?:[ _.:/-]?(?:code|cli|sonnet|opus|haiku|flash|pro|mini|nano|turbo|preview|latest|max|plus|lite|coder|chat|instruct|thinking|v?\d+(?:\.\d+)*[a-z]{0,2}(?![a-z])))*`;

/** Runoff's branches end in a candidate's alias. */
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
const anyOf = (texts: readonly string[]): string => texts.map((text) => RegExp.escape(text)).join('|');
const lookAlikePattern = (name: string): string[] =>
  [...name].map((letter) => LOOK_ALIKE_CLASSES[letter] ?? letter);
/** Matches a name spelt out letter by letter, such as `c-l-a-u-d-e`. */
const spelledOutPattern = (name: string): string => lookAlikePattern(name).join('[^\\p{L}\\p{N}]{1,3}');

/** Names that would reveal to judges who wrote a patch. */
export interface Identities {
  readonly anywhere: RegExp;
  /** Names that must begin and end at the border of an identifier's part. */
  readonly bounded: RegExp;
  /** Names that are ordinary words (`plain`, `pi`): they count only where the context says that they name an author. */
  readonly attributed: RegExp | null;
}

/** Names to scrub and to check for: all known names, and those of this run's contestants. */
export function identitiesOf(authors: readonly Author[]): Identities {
  const own = authors.flatMap(({ agent, model }) => [agent, ...modelNames(model)]);
  const distinctive = [...new Set(own.map((name) => name.toLowerCase()))].filter(isDistinctive);
  // Prompt names are ordinary words that describe a way of working.
  const ordinary = [...own.filter((name) => !isDistinctive(name)), ...authors.map(({ prompt }) => prompt)];
  // Longest first, so that `claude-code` matches as a whole.
  const bounded = [...distinctive, ...BOUNDED].toSorted((a, b) => b.length - a.length || (a < b ? -1 : 1));
  const strong = UNMISTAKABLE.map(
    (name) => `${lookAlikePattern(name).join('')}|${spelledOutPattern(name)}`,
  ).join('|');
  const words = [...new Set(ordinary.map((name) => name.toLowerCase()))].filter((name) => name !== '').sort();
  return {
    anywhere: new RegExp(`(?:${strong})${NAME_SUFFIX}|${BRANCH}`, 'giu'),
    bounded: new RegExp(`(?:${VERSIONED}|(?:${anyOf(bounded)})${NAME_SUFFIX})`, 'giu'),
    attributed:
      words.length === 0
        ? null
        : new RegExp(
            `(?<=\\b(?:agent|model|prompt|variant|contestant|coder|assistant)(?:[^\\S\\r\\n]|[:="'\`]){1,4})(?:${anyOf(words)})\\b`,
            'giu',
          ),
  };
}

/** `openrouter/anthropic/claude-x` contains three names. */
const modelNames = (model: string): readonly string[] => [
  model.slice(model.indexOf('/') + 1),
  ...model.split('/'),
];

/** False for words without a digit or sign, which may mean anything, and for short ones, which occur everywhere. */
const isDistinctive = (name: string): boolean =>
  name.length >= 4 && name.length <= 200 && /[^a-z]/i.test(name) && /[a-z]/i.test(name);

/** Replaces every name, by default by a pseudonym. A name has the same pseudonym in every text. */
export function scrub(text: string, identities: Identities, by = pseudonym): string {
  const first = replaceFolded(text, identities.anywhere, ([name]) => by(name));
  const second = replaceFolded(first, identities.bounded, (found, folded) =>
    isWholeWord(found, folded) ? by(found[0]) : null,
  );
  const { attributed } = identities;
  return attributed ? replaceFolded(second, attributed, ([name]) => by(name)) : second;
}

/**
 * The names that a text still contains, sorted. Checks more forms than `scrub` replaces, including names split over
 * joined string literals, so that it finds what `scrub` missed. A text with leaks must not be sent.
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

/** Whether the match is a whole word: `useGPT4`, `GEMINI_KEY` and `grok-2` are; `ngrok` and `grokking` are not. */
function isWholeWord({ 0: name, index }: RegExpExecArray, text: string): boolean {
  const before = text.charAt(index - 1);
  const after = text.charAt(index + name.length);
  const first = name.charAt(0);
  const last = name.charAt(name.length - 1);
  const begins = !/\p{L}/u.test(before) || (/\p{Ll}/u.test(before) && /\p{Lu}/u.test(first));
  const ends = !/\p{L}/u.test(after) || (/\p{Lu}/u.test(after) && !/\p{Lu}/u.test(last));
  return begins && ends;
}

/**
 * Looks like an identifier, so that code remains valid. Two names may have the same pseudonym; nothing relies on them
 * being distinct.
 */
function pseudonym(name: string): string {
  const hash = fnv1a(name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-'));
  return `name_${(hash % 1296).toString(36).padStart(2, '0')}`;
}
