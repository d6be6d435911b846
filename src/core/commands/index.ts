export {
  COMMAND_NAMES,
  COMMANDS,
  type Command,
  type CommandName,
  type CommandRow,
  misplaced,
  type RunCommandOptions,
} from './command.ts';
export { type RunTextOptions, runCommandText, runOptionText } from './command-text.ts';
export {
  answerOf,
  givesCommand,
  MAX_COMMAND_TEXT,
  parseCommand,
  replyOf,
  type UnrecognizedCommand,
  unrecognizedCommand,
} from './parse.ts';

export { aliasOf, codersOf, dollarsOf, MAX_CODERS, parseRunOption, type RunOption } from './run-options.ts';
