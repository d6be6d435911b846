import { suggest } from '../policy/index.ts';

/** Characters of free text; the rest is cut. Our default: more than any question needs, and far below a prompt's room. */
export const MOST_COMMAND_TEXT = 4_000;
/** Characters of a word that is no command, as far as it is repeated. */
const MOST_WORD = 40;

/** What a person may ask of a living run, with how it is written and what it does. */
export const COMMANDS = {
  answer: {
    usage: '/auto-dev answer 2',
    does: 'answers the open question by an option or in your own words',
  },
  approve: { usage: '/auto-dev approve', does: 'lets the coders start on the plan' },
  revise: { usage: '/auto-dev revise TEXT', does: 'asks for another plan' },
} as const satisfies Record<string, { readonly usage: string; readonly does: string }>;
export type CommandName = keyof typeof COMMANDS;

export type Command =
  | { readonly name: 'answer'; readonly option: number }
  | { readonly name: 'answer'; readonly text: string }
  | { readonly name: 'approve' }
  | { readonly name: 'revise'; readonly text: string }
  /** Addressed to us and not understood. `meant` is the command that was probably meant. */
  | {
      readonly name: 'unknown';
      readonly word: string;
      readonly meant: CommandName | null;
      /** A sentence for whoever wrote it. */
      readonly why: string;
    };

const NAMES = Object.keys(COMMANDS) as CommandName[];

/**
 * At the very start of the text, as GitHub shows it: empty lines before it are nothing, four spaces are code. Only there:
 * a command that is quoted, fenced, hidden in a comment or mentioned further down was not given (I4).
 */
const COMMAND = /^(?:[ \t]{0,3}\r?\n)*[ ]{0,3}\/auto-dev(?![^\s])[ \t]*([^\s]*)([\s\S]*)$/;

/** The command that a comment gives; null where it gives none. */
export function parseCommand(body: string): Command | null {
  const found = COMMAND.exec(body);
  if (!found) return null;
  const [, word = '', rest = ''] = found;
  const text = bounded(rest);
  switch (word.toLowerCase()) {
    case 'answer':
      return answer(text);
    case 'approve':
      // Words behind it may be a condition, which an approval has not.
      return text === '' ? { name: 'approve' } : unknown(word, 'approve', 'An approval has no conditions.');
    case 'revise':
      return text === ''
        ? unknown(word, 'revise', 'It is not said what should be different.')
        : { name: 'revise', text };
    default:
      return unknown(word, nameLike(word), 'There is no such command.');
  }
}

/** A number alone is an option. */
function answer(text: string): Command {
  if (text === '') return unknown('answer', 'answer', 'The answer has no text.');
  return { name: 'answer', ...answerOf(text) };
}

/** What was answered: the number of an option, or words. */
export function answerOf(text: string): { readonly option: number } | { readonly text: string } {
  const said = bounded(text);
  return /^[1-9][0-9]?$/.test(said) ? { option: Number(said) } : { text: said };
}

const bounded = (text: string): string => text.trim().slice(0, MOST_COMMAND_TEXT).toWellFormed().trim();

const nameLike = (word: string): CommandName | null =>
  NAMES.find((name) => name === suggest(word.slice(0, MOST_WORD), NAMES)) ?? null;

const unknown = (word: string, meant: CommandName | null, why: string): Command => ({
  name: 'unknown',
  word: word.slice(0, MOST_WORD).toWellFormed(),
  meant,
  why,
});
