import type { Inquiry } from '../dialogue/index.ts';
import type { Command, CommandName } from './command.ts';

/** What somebody with the right to answer said in vain to a run that waits. */
export interface Misheard {
  /** As it was written, as far as it is repeated. */
  readonly said: string;
  /** A sentence. */
  readonly why: string;
  /** What was probably meant, or else what would be taken. */
  readonly meant: CommandName;
}

const TAKEN: Readonly<Record<Inquiry['kind'], readonly [CommandName, ...CommandName[]]>> = {
  answer: ['answer'],
  approval: ['approve', 'revise'],
};

export function misheard(command: Command, why: string, { kind }: Pick<Inquiry, 'kind'>): Misheard {
  const meant = command.name === 'unknown' ? command.meant : command.name;
  const [first] = TAKEN[kind];
  return {
    said: `/auto-dev ${wordsOf(command)}`.trim(),
    why,
    meant: TAKEN[kind].find((name) => name === meant) ?? first,
  };
}

function wordsOf(command: Command): string {
  if (command.name === 'unknown') return command.word;
  if ('option' in command) return `${command.name} ${command.option}`;
  return 'alias' in command && command.alias ? `${command.name} ${command.alias}` : command.name;
}
