import type { Alias } from '../model/index.ts';
import { CoderSetting, EVALUATORS, type Evaluator, suggest, WHEN } from '../settings/index.ts';
import type { RunCommandOptions } from './command.ts';

/** As in the settings. */
export const MAX_CODERS = 12;
/** Maximum characters of a line of flags. Ours: more than the longest values that the API takes need together. */
const MAX_LINE_CHARACTERS = 8_000;
/** Maximum characters of the input that a sentence repeats. */
const MAX_WORD_CHARACTERS = 40;

type ParsedOptions =
  | { readonly kind: 'options'; readonly options: RunCommandOptions }
  /** `why`: a sentence that explains the correct syntax. */
  | { readonly kind: 'invalid'; readonly why: string };

/** The value of one option, or a sentence about the error. */
type OptionResult = Partial<OptionValues> | string;

/** Agents and models are combined only when both have been parsed. */
interface OptionValues extends RunCommandOptions {
  readonly agents: readonly string[];
  readonly models: readonly string[];
}

const RUN_FLAGS = {
  coders: (text: string): OptionResult =>
    parseList(
      text,
      (agent) => CoderSetting.safeParse({ agent }).success,
      'agents',
      '--coders claude-code,codex',
      'agents',
    ),
  models: (text: string): OptionResult =>
    parseList(
      text,
      (model) => CoderSetting.safeParse({ agent: 'builtin', model }).success,
      'models as provider/model',
      '--models anthropic/claude-sonnet-5',
      'models',
    ),
  prompts: (text: string): OptionResult =>
    parseList(
      text,
      (prompt) => CoderSetting.safeParse({ agent: 'builtin', prompt }).success,
      'prompt variants',
      '--prompts plain,careful',
      'prompts',
    ),
  debate: (text: string): OptionResult => useOf('debate', text),
  review: (text: string): OptionResult => useOf('review', text),
  synthesis: (text: string): OptionResult => {
    const isYes = /^(?:true|yes|on)$/i.test(text);
    return isYes || /^(?:false|no|off)$/i.test(text)
      ? { synthesis: isYes }
      : '`--synthesis` takes `true` or `false`.';
  },
  candidates: (text: string): OptionResult => {
    const count = /^\d{1,2}$/.test(text) ? Number(text) : 0;
    return count >= 1 && count <= MAX_CODERS
      ? { candidates: count }
      : `\`-n\` takes a whole number from 1 to ${MAX_CODERS}, for example \`-n 4\`.`;
  },
  evaluator: (text: string): OptionResult => evaluators(commaSeparated(text)),
  budget: (text: string): OptionResult => {
    const usd = dollarsOf(text);
    return usd === null
      ? '`--budget` takes an amount in US dollars, from $0.01 to $1,000, for example `--budget 5.50`.'
      : { budgetUsd: usd };
  },
  timeout: (text: string): OptionResult => {
    const seconds = secondsOf(text);
    return seconds === null
      ? '`--timeout` takes a positive whole number of minutes, or one with a unit, at most one week, for example `--timeout 30m`.'
      : { timeoutSeconds: seconds };
  },
  base: (text: string): OptionResult => {
    const ref = refOf(text);
    return ref === null
      ? '`--base` takes a branch, tag or commit made of letters, digits and `._/-`, for example `--base release/2.1`.'
      : { base: ref };
  },
} as const satisfies Record<string, (text: string) => OptionResult>;
/** An option of `/auto-dev run`, and of `runoff run`. */
export type RunOption = keyof typeof RUN_FLAGS;
const FLAG_NAMES = Object.keys(RUN_FLAGS) as RunOption[];

/** The value of one option, or a sentence in Markdown that explains the correct syntax. */
export const parseRunOption = (name: RunOption, text: string): OptionResult => RUN_FLAGS[name](text);

/** One or two hyphens, or the dash that phones substitute for two. */
const FLAG = /^(?:--?|[–—])([A-Za-z]{1,40})(?:=(.*))?$/;

/** Parses the arguments of `run`: flags on one line. */
export function parseRunOptions(text: string): ParsedOptions {
  const [line = '', ...more] = text.split(/\r\n|\r|\n/);
  if (more.some((one) => one.trim() !== '')) {
    return invalid(
      '`/auto-dev run` takes only options, on one line. Describe the task in the issue, then comment `/auto-dev run`.',
    );
  }
  if (line.length > MAX_LINE_CHARACTERS)
    return invalid(`The line is longer than ${MAX_LINE_CHARACTERS} characters.`);
  const words = splitWords(line);
  if (words === null) return invalid('A quotation mark is not closed.');
  return parseWords(words);
}

function parseWords(words: readonly string[]): ParsedOptions {
  let parts: Partial<OptionValues> = {};
  const seen = new Set<RunOption>();
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const found = FLAG.exec(word);
    const flag = found && flagOf(found[1] ?? '');
    if (!found || !flag) return invalid(unknownFlagText(word, found?.[1]));
    if (seen.has(flag)) return invalid(`\`--${flag}\` is given twice.`);
    seen.add(flag);
    const value = found[2] ?? valueAt(words, ++at);
    if (value === null || value === '') return invalid(`\`--${flag}\` needs a value.`);
    const result = RUN_FLAGS[flag](value);
    if (typeof result === 'string') return invalid(result);
    parts = { ...parts, ...result };
  }
  const { agents, models, ...options } = parts;
  const coders = codersOf(agents, models);
  return { kind: 'options', options: coders.length > 0 ? { ...options, coders } : options };
}

const invalid = (why: string): ParsedOptions => ({ kind: 'invalid', why });

/** Null if there is no value: the line ends, or the next flag follows. */
function valueAt(words: readonly string[], at: number): string | null {
  const word = words[at];
  return word === undefined || FLAG.test(word) ? null : word;
}

function flagOf(name: string): RunOption | null {
  const small = name.toLowerCase();
  return small === 'n' ? 'candidates' : (FLAG_NAMES.find((flag) => flag === small) ?? null);
}

function unknownFlagText(word: string, name: string | undefined): string {
  const shown = quotedWord(word);
  if (name === undefined) {
    return `${shown} is not an option. Describe the task in the issue; \`/auto-dev run\` takes ${flagList()}.`;
  }
  const meant = suggest(name, FLAG_NAMES);
  return meant
    ? `There is no option ${shown}. Did you mean \`--${meant}\`?`
    : `There is no option ${shown}. Available options: ${flagList()}.`;
}

const flagList = (): string => FLAG_NAMES.map((name) => `\`--${name}\``).join(', ');

export const quotedWord = (word: string): string =>
  `\`${word.slice(0, MAX_WORD_CHARACTERS).toWellFormed().replaceAll('`', "'")}\``;

const OPENING_QUOTES = `"'“”‘’\``;
const CLOSING_QUOTES: Readonly<Record<string, string>> = { '“': '”', '‘': '’' };

/**
 * Splits at blanks; quotation marks keep words together, and blanks around a comma do not separate. Null: a quotation
 * mark is unclosed.
 */
function splitWords(line: string): readonly string[] | null {
  const words: string[] = [];
  let word = '';
  let until = '';
  for (const character of line.split(',').map(stripped).join(',')) {
    if (until !== '') {
      if (character === until) until = '';
      else word += character;
    } else if (character === ' ' || character === '\t') {
      if (word !== '') words.push(word);
      word = '';
    } else if (OPENING_QUOTES.includes(character) && (word === '' || word.endsWith('='))) {
      until = CLOSING_QUOTES[character] ?? character;
    } else {
      word += character;
    }
  }
  if (until !== '') return null;
  return word === '' ? words : [...words, word];
}

/** Without Markdown's surrounding blanks. Not `trim`: removing an invisible character could turn words into a fence. */
export const stripped = (text: string): string => {
  const from = text.search(/[^ \t\r\n]/);
  return from < 0 ? '' : text.slice(from, lastNonBlank(text) + 1);
};

function lastNonBlank(text: string): number {
  let at = text.length - 1;
  while (at >= 0 && ' \t\r\n'.includes(text.charAt(at))) at -= 1;
  return at;
}

function parseList(
  text: string,
  fits: (name: string) => boolean,
  what: string,
  example: string,
  into: 'agents' | 'models' | 'prompts',
): OptionResult {
  const names = commaSeparated(text);
  const wrong = names.find((name) => !fits(name));
  if (names.length === 0 || names.length > MAX_CODERS) {
    return `Give 1 to ${MAX_CODERS} ${what}, comma-separated: \`${example}\`.`;
  }
  return wrong === undefined
    ? { [into]: names }
    : `${quotedWord(wrong)} is not a valid name; give ${what}: \`${example}\`.`;
}

function useOf(what: 'debate' | 'review', text: string): OptionResult {
  const found = WHEN.find((one) => one === text.toLowerCase());
  return found ? { [what]: found } : `\`--${what}\` takes \`auto\`, \`always\` or \`never\`.`;
}

function evaluators(names: readonly string[]): OptionResult {
  const known: Evaluator[] = [];
  for (const name of names) {
    const found = EVALUATORS.find((one) => one === name.toLowerCase());
    const meant = suggest(name.slice(0, MAX_WORD_CHARACTERS), EVALUATORS);
    if (!found) {
      return `There is no strategy ${quotedWord(name)}; ${meant ? `did you mean \`${meant}\`?` : `available are ${EVALUATORS.join(', ')}.`}`;
    }
    if (known.includes(found)) return `The strategy \`${found}\` is named twice.`;
    known.push(found);
  }
  return known.length > 0
    ? { evaluator: known }
    : `\`--evaluator\` takes strategies: ${EVALUATORS.join(', ')}.`;
}

/**
 * Combines listed agents and models, cycling through both until each has been used. Models alone use the built-in
 * agent.
 */
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

/** A week: timers are limited to 24 days, and settings to a week, too. */
const MAX_SECONDS = 168 * 3600;
/** As in the settings. */
const MAX_DOLLARS = 1_000;
/** Maximum characters of a ref; git allows a little more. */
const MAX_REF_CHARACTERS = 200;

// Without the flag `u`, so that no other alphabet has case variants of these letters.
const LETTER = /^[A-Z]$/i;

/** A candidate's letter in either case; null for anything else. */
export const aliasOf = (text: string): Alias | null => (LETTER.test(text) ? text.toUpperCase() : null);

/** `$5`, `5`, `5.50` in US dollars, from a cent to 1,000; null for anything else. */
export function dollarsOf(text: string): number | null {
  if (!/^\$?\d{1,4}(?:\.\d{1,2})?$/.test(text)) return null;
  const usd = Number(text.replace('$', ''));
  return usd > 0 && usd <= MAX_DOLLARS ? usd : null;
}

/** `90s`, `30m`, `2h` or a number of minutes, in seconds, a week at most; null for anything else. */
function secondsOf(text: string): number | null {
  const found = /^([1-9]\d{0,5})(s|m|h)?$/.exec(text);
  if (!found) return null;
  const seconds = Number(found[1]) * { s: 1, m: 60, h: 3600 }[(found[2] ?? 'm') as 's' | 'm' | 'h'];
  return seconds <= MAX_SECONDS ? seconds : null;
}

/** A branch, tag or commit, limited to characters without special meaning in shells, git and URLs; null for others. */
function refOf(text: string): string | null {
  const fits = /^[A-Za-z0-9._/][A-Za-z0-9._/-]*$/.test(text) && !text.includes('..');
  return fits && text.length <= MAX_REF_CHARACTERS ? text : null;
}

/** Comma-separated values without surrounding blanks; empty ones are dropped. */
const commaSeparated = (text: string): readonly string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
