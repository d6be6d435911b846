import type { Inquiry, NewReply } from '../brief/index.ts';
import type { Actor } from '../model/index.ts';
import { visibleMarkdown } from '../prompts/index.ts';
import { suggest } from '../settings/index.ts';
import { COMMAND_NAMES, type Command, type CommandName } from './command.ts';
import { aliasOf, dollarsOf, parseRunOptions, quotedWord, stripped } from './run-options.ts';

/**
 * Maximum characters of free text; the rest is cut. Default: more than any question needs, and far below a prompt's
 * limit.
 */
export const MAX_COMMAND_TEXT = 4_000;
/** Maximum characters of an unknown word that a reply repeats. */
const MAX_WORD_CHARACTERS = 40;

/**
 * Matches only at the start of the text, as GitHub renders it: leading empty lines are ignored, four spaces are code.
 * A command that is quoted, fenced, hidden in a comment or mentioned later does not count (I4). Only spaces and tabs
 * are blanks: other blanks may be invisible.
 */
const COMMAND = /^(?:[ \t]{0,3}\r?\n)*[ ]{0,3}\/auto-dev(?![^ \t\r\n])[ \t]*([^ \t\r\n]*)([\s\S]*)$/;

/** Whether a comment gives a command, valid or not, without the work of reading all of it. */
export const givesCommand = (body: string): boolean => COMMAND.test(body);

/** The command in a comment; null for none. */
export function parseCommand(body: string): Command | null {
  const found = COMMAND.exec(body);
  if (!found) return null;
  const [, word = '', rest = ''] = found;
  const name = COMMAND_NAMES.find((known) => known === lowerCased(word));
  return name ? PARSERS[name](rest) : unknown(word, similarCommand(word), 'There is no such command.');
}

/** Options apply to the whole run: a letter before them is no form of the command. */
const RETRY_OPTIONS = /^(?:[aA][lL][lL][ \t]+)?(-[\s\S]*)$/;

/** How to parse the arguments of each command. */
const PARSERS: Readonly<Record<CommandName, (rest: string) => Command>> = {
  run: (rest) => {
    const parsed = parseRunOptions(stripped(rest));
    return parsed.kind === 'options'
      ? { name: 'run', options: parsed.options }
      : unknown('run', 'run', parsed.why);
  },
  status: (rest) => withoutArguments('status', rest),
  cancel: (rest) => withoutArguments('cancel', rest),
  retry: (rest) => {
    const word = oneWord(rest);
    if (word === '' || lowerCased(word) === 'all') return { name: 'retry', alias: null };
    const options = RETRY_OPTIONS.exec(stripped(rest))?.[1];
    if (options !== undefined) {
      const parsed = parseRunOptions(options);
      return parsed.kind === 'options'
        ? { name: 'retry', alias: null, options: parsed.options }
        : unknown('retry', 'retry', parsed.why);
    }
    const alias = aliasOf(word);
    return alias
      ? { name: 'retry', alias }
      : invalidArgument('retry', word, 'Write `/auto-dev retry B` or `/auto-dev retry all`.');
  },
  pick: (rest) => {
    const word = oneWord(rest);
    if (lowerCased(word) === 'none') return { name: 'pick', alias: null };
    const alias = aliasOf(word);
    return alias
      ? { name: 'pick', alias }
      : invalidArgument('pick', word, 'Write `/auto-dev pick B` or `/auto-dev pick none`.');
  },
  vote: (rest) => letter('vote', rest),
  explain: (rest) => letter('explain', rest),
  answer: (rest) => {
    const text = visibleCommandText(rest);
    if (text === '') return unknown('answer', 'answer', 'The answer is empty.');
    return { name: 'answer', ...answerOf(text) };
  },
  // Further words may be a condition, but an approval is unconditional.
  approve: (rest) =>
    stripped(rest) === ''
      ? { name: 'approve' }
      : unknown('approve', 'approve', 'An approval has no conditions.'),
  revise: (rest) => {
    const text = visibleCommandText(rest);
    return text === ''
      ? unknown('revise', 'revise', 'Say what the new plan should change.')
      : { name: 'revise', text };
  },
  debate: (rest) => withoutArguments('debate', rest),
  ci: (rest) => withoutArguments('ci', rest),
  settings: (rest) => withoutArguments('settings', rest),
  budget: (rest) => {
    const usd = dollarsOf(oneWord(rest));
    return usd === null
      ? invalidArgument(
          'budget',
          oneWord(rest),
          'Write the budget of the whole run in US dollars, from $0.01 to $1,000: `/auto-dev budget 7.50`.',
        )
      : { name: 'budget', usd };
  },
  review: (rest) => withoutArguments('review', rest),
  fix: (rest) => withoutArguments('fix', rest),
  help: (rest) => withoutArguments('help', rest),
};

/** A command without arguments: further words might reverse its meaning. */
function withoutArguments(
  name: 'status' | 'cancel' | 'debate' | 'ci' | 'settings' | 'review' | 'fix' | 'help',
  rest: string,
): Command {
  const more = stripped(rest);
  if (more === '') return { name };
  return unknown(
    `${name} ${more.replace(/\s+/g, ' ')}`,
    name,
    `\`${name}\` takes no further text, and a comment gives one command: write only \`/auto-dev ${name}\`.`,
  );
}

function letter(name: 'vote' | 'explain', rest: string): Command {
  const word = oneWord(rest);
  const alias = aliasOf(word);
  return alias
    ? { name, alias }
    : invalidArgument(name, word, `Write the letter of one candidate: \`/auto-dev ${name} B\`.`);
}

/** Says that an argument is missing, or repeats the invalid one. */
function invalidArgument(name: CommandName, word: string, advice: string): Command {
  const what = word === '' ? 'An argument is missing.' : `It does not take ${quotedWord(word)}.`;
  return unknown(name, name, `${what} ${advice}`);
}

/** A number alone is an option. */
export function answerOf(text: string): { readonly option: number } | { readonly text: string } {
  const commandBody = visibleCommandText(text);
  return /^[1-9][0-9]?$/.test(commandBody) ? { option: Number(commandBody) } : { text: commandBody };
}

/** Quotation marks around a single word, as copied from a sentence. */
const QUOTED = /^(["'`])([^"'`]*)\1$|^[“‘]([^”’]*)[”’]$/;

/** All text after a command, as one value. */
function oneWord(rest: string): string {
  const word = stripped(rest);
  const found = QUOTED.exec(word);
  return found ? (found[2] ?? found[3] ?? '') : word;
}

/** Only letters of the English alphabet change case: `K`, the Kelvin sign, must not become `k`. */
const lowerCased = (word: string): string =>
  word.replace(/[A-Z]/g, (capital) => String.fromCharCode(capital.charCodeAt(0) + 32));

/** As shown to readers: text hidden in a comment would reach the planner unnoticed. */
const visibleCommandText = (text: string): string =>
  visibleMarkdown(stripped(text).slice(0, MAX_COMMAND_TEXT))
    .text.slice(0, MAX_COMMAND_TEXT)
    .toWellFormed()
    .trim();

/** Words that other tools use for a command: their letters are not similar. */
const SYNONYMS: Readonly<Record<string, CommandName>> = {
  abort: 'cancel',
  cost: 'status',
  rerun: 'retry',
  start: 'run',
  stop: 'cancel',
};

const similarCommand = (word: string): CommandName | null =>
  (Object.hasOwn(SYNONYMS, lowerCased(word)) ? SYNONYMS[lowerCased(word)] : undefined) ??
  COMMAND_NAMES.find((name) => name === suggest(word.slice(0, MAX_WORD_CHARACTERS), COMMAND_NAMES)) ??
  null;

const unknown = (word: string, meant: CommandName | null, why: string): Command => ({
  name: 'unknown',
  word: word.slice(0, MAX_WORD_CHARACTERS).toWellFormed(),
  meant,
  why,
});

/** An invalid answer by an authorized person to a waiting run. */
export interface UnrecognizedCommand {
  /** As written, as far as a reply repeats it. */
  readonly text: string;
  /** A sentence. */
  readonly why: string;
  /** The probable intention, or otherwise the accepted answers. */
  readonly meant: CommandName;
}

const REPLY_COMMANDS: Readonly<Record<Inquiry['kind'], readonly [CommandName, ...CommandName[]]>> = {
  answer: ['answer'],
  approval: ['approve', 'revise', 'debate'],
};

export function unrecognizedCommand(
  command: Command,
  why: string,
  { kind }: Pick<Inquiry, 'kind'>,
): UnrecognizedCommand {
  const meant = command.name === 'unknown' ? command.meant : command.name;
  const [first] = REPLY_COMMANDS[kind];
  return {
    text: `/auto-dev ${commandText(command)}`.trim(),
    why,
    meant: REPLY_COMMANDS[kind].find((name) => name === meant) ?? first,
  };
}

function commandText(command: Command): string {
  if (command.name === 'unknown') return command.word;
  if ('option' in command) return `${command.name} ${command.option}`;
  return 'alias' in command && command.alias ? `${command.name} ${command.alias}` : command.name;
}

/** The reply in a command to a waiting run; null if it contains none. */
export function replyOf(command: Command, by: Actor | null, at: number): NewReply | null {
  switch (command.name) {
    case 'answer':
      return 'option' in command
        ? { kind: 'answer', option: command.option, text: '', by, at }
        : { kind: 'answer', text: command.text, by, at };
    case 'approve':
      return { kind: 'approve', text: '', by, at };
    case 'debate':
      return { kind: 'debate', text: '', by, at };
    case 'revise':
      return { kind: 'revise', text: command.text, by, at };
    default:
      return null;
  }
}
