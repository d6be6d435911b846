import type { NewReply } from '../dialogue/index.ts';
import type { Actor } from '../model/index.ts';
import type { Command } from './command.ts';

/** What a command says to a run that waits; null where it says nothing to one. */
export function replyOf(command: Command, by: Actor | null, at: number): NewReply | null {
  switch (command.name) {
    case 'answer':
      return 'option' in command
        ? { kind: 'answer', option: command.option, text: '', by, at }
        : { kind: 'answer', text: command.text, by, at };
    case 'approve':
      return { kind: 'approve', text: '', by, at };
    case 'revise':
      return { kind: 'revise', text: command.text, by, at };
    default:
      return null;
  }
}
