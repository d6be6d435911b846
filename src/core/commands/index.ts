export { type Misheard, misheard } from './misheard.ts';
export {
  answerOf,
  COMMANDS,
  type Command,
  type CommandName,
  MOST_COMMAND_TEXT,
  parseCommand,
} from './parse.ts';
export { replyOf } from './said.ts';
