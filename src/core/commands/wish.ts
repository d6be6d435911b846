import { CoderSetting, EVALUATORS, type Evaluator, suggest } from '../policy/index.ts';
import type { RunWish } from './command.ts';
import { dollarsOf, listOf, refOf, secondsOf } from './values.ts';

/** As in the settings. */
const MOST_CODERS = 12;
/** Characters of a line of flags; our default, many times what all of them need. */
const MOST_LINE = 1_000;
/** Characters of what was written, as far as a sentence repeats it. */
const MOST_WORD = 40;

type Wished =
  | { readonly kind: 'wish'; readonly wish: RunWish }
  /** `why`: a sentence that says what to write. */
  | { readonly kind: 'unclear'; readonly why: string };

/** What a flag came to: the part of the wish, or a sentence. */
type Reading = Partial<Parts> | string;

/** Agents and models meet only when both have been read. */
interface Parts extends RunWish {
  readonly agents: readonly string[];
  readonly models: readonly string[];
}

const FLAGS = {
  coders: (text: string): Reading =>
    fitsList(
      text,
      (agent) => CoderSetting.safeParse({ agent }).success,
      'agents',
      '--coders claude-code,codex',
      'agents',
    ),
  models: (text: string): Reading =>
    fitsList(
      text,
      (model) => CoderSetting.safeParse({ agent: 'builtin', model }).success,
      'models as provider/model',
      '--models anthropic/claude-sonnet-5',
      'models',
    ),
  candidates: (text: string): Reading => {
    const count = /^\d{1,2}$/.test(text) ? Number(text) : 0;
    return count >= 1 && count <= MOST_CODERS
      ? { candidates: count }
      : `\`-n\` takes a whole number from 1 to ${MOST_CODERS}: \`-n 4\`.`;
  },
  evaluator: (text: string): Reading => evaluators(listOf(text)),
  budget: (text: string): Reading => {
    const usd = dollarsOf(text);
    return usd === null ? '`--budget` takes US dollars up to 1000: `--budget 5.50`.' : { budgetUsd: usd };
  },
  timeout: (text: string): Reading => {
    const seconds = secondsOf(text);
    return seconds === null
      ? '`--timeout` takes a whole number and a unit, a week at most: `--timeout 30m`.'
      : { timeoutSeconds: seconds };
  },
  base: (text: string): Reading => {
    const ref = refOf(text);
    return ref === null
      ? '`--base` takes a branch, tag or commit of letters, digits and `._/-`: `--base release/2.1`.'
      : { base: ref };
  },
} as const satisfies Record<string, (text: string) => Reading>;
type Flag = keyof typeof FLAGS;
const NAMES = Object.keys(FLAGS) as Flag[];

/** One or two hyphens, or the dash that a phone makes of two. */
const FLAG = /^(?:--?|[–—])([A-Za-z]{1,40})(?:=(.*))?$/;

/** Reads what stands behind `run`: flags on one line. */
export function wishOf(text: string): Wished {
  const [line = '', ...more] = text.split(/\r\n|\r|\n/);
  if (more.some((one) => one.trim() !== '')) {
    return unclear(
      'A run takes flags on one line and no other text: what is to be done stands in the issue. Write it there, then comment `/auto-dev run`.',
    );
  }
  if (line.length > MOST_LINE) return unclear(`The line has more than ${MOST_LINE} characters.`);
  const words = wordsOf(line);
  if (words === null) return unclear('A quotation mark is not closed.');
  return read(words);
}

function read(words: readonly string[]): Wished {
  let parts: Partial<Parts> = {};
  const seen = new Set<Flag>();
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const found = FLAG.exec(word);
    const flag = found && flagOf(found[1] ?? '');
    if (!found || !flag) return unclear(noSuchFlag(word, found?.[1]));
    if (seen.has(flag)) return unclear(`\`--${flag}\` is given twice; write it once.`);
    seen.add(flag);
    const value = found[2] ?? valueAt(words, ++at);
    if (value === null || value === '') return unclear(`\`--${flag}\` has no value behind it.`);
    const reading = FLAGS[flag](value);
    if (typeof reading === 'string') return unclear(reading);
    parts = { ...parts, ...reading };
  }
  const { agents, models, ...wish } = parts;
  const coders = codersOf(agents, models);
  return { kind: 'wish', wish: coders.length > 0 ? { ...wish, coders } : wish };
}

const unclear = (why: string): Wished => ({ kind: 'unclear', why });

/** Null where there is none: the line ends, or the next flag stands there. */
function valueAt(words: readonly string[], at: number): string | null {
  const word = words[at];
  return word === undefined || FLAG.test(word) ? null : word;
}

function flagOf(name: string): Flag | null {
  const small = name.toLowerCase();
  return small === 'n' ? 'candidates' : (NAMES.find((flag) => flag === small) ?? null);
}

function noSuchFlag(word: string, name: string | undefined): string {
  const shown = quoted(word);
  if (name === undefined) {
    return `${shown} is no flag: what is to be done stands in the issue, and \`/auto-dev run\` takes ${allFlags()}.`;
  }
  const meant = suggest(name, NAMES);
  return meant
    ? `There is no flag ${shown}. Did you mean \`--${meant}\`?`
    : `There is no flag ${shown}; there are ${allFlags()}.`;
}

const allFlags = (): string => NAMES.map((name) => `\`--${name}\``).join(', ');

export const quoted = (word: string): string =>
  `\`${word.slice(0, MOST_WORD).toWellFormed().replaceAll('`', "'")}\``;

const OPENING = `"'“”‘’\``;
const CLOSING: Readonly<Record<string, string>> = { '“': '”', '‘': '’' };

/** Words between blanks; quotation marks hold one together and blanks around a comma do not part it. Null: a mark is open. */
function wordsOf(line: string): readonly string[] | null {
  const words: string[] = [];
  let word = '';
  let until = '';
  for (const character of line.replace(/[ \t]*,[ \t]*/g, ',')) {
    if (until !== '') {
      if (character === until) until = '';
      else word += character;
    } else if (character === ' ' || character === '\t') {
      if (word !== '') words.push(word);
      word = '';
    } else if (OPENING.includes(character) && (word === '' || word.endsWith('='))) {
      until = CLOSING[character] ?? character;
    } else {
      word += character;
    }
  }
  if (until !== '') return null;
  return word === '' ? words : [...words, word];
}

function fitsList(
  text: string,
  fits: (name: string) => boolean,
  what: string,
  example: string,
  into: 'agents' | 'models',
): Reading {
  const names = listOf(text);
  const wrong = names.find((name) => !fits(name));
  if (names.length === 0 || names.length > MOST_CODERS) {
    return `Give 1 to ${MOST_CODERS} ${what}, with commas between them: \`${example}\`.`;
  }
  return wrong === undefined
    ? { [into]: names }
    : `${quoted(wrong)} is not how one is named; give ${what}: \`${example}\`.`;
}

function evaluators(names: readonly string[]): Reading {
  const known: Evaluator[] = [];
  for (const name of names) {
    const found = EVALUATORS.find((one) => one === name.toLowerCase());
    const meant = suggest(name.slice(0, MOST_WORD), EVALUATORS);
    if (!found) {
      return `There is no strategy ${quoted(name)}; ${meant ? `did you mean \`${meant}\`?` : `there are ${EVALUATORS.join(', ')}.`}`;
    }
    if (known.includes(found)) return `The strategy \`${found}\` is named twice; name it once.`;
    known.push(found);
  }
  return known.length > 0
    ? { evaluator: known }
    : `\`--evaluator\` takes strategies: ${EVALUATORS.join(', ')}.`;
}

/** Agents × models as somebody listed them, taken in turn until both lists have been used up. Models alone are the built-in agent's. */
export function codersOf(
  agents: readonly string[] | undefined,
  models: readonly string[] = [],
): readonly CoderSetting[] {
  const names = agents?.length ? agents : models.length > 0 ? ['builtin'] : [];
  return Array.from({ length: Math.max(names.length, models.length) }, (_, i) => {
    const model = models[i % Math.max(models.length, 1)];
    return { agent: names[i % names.length] ?? 'builtin', ...(model ? { model } : {}) };
  });
}
