export type { Command, CommandName, RunWish } from './command.ts';
export { type Misheard, misheard } from './misheard.ts';
export { answerOf, MOST_COMMAND_TEXT, parseCommand } from './parse.ts';
export { replyOf } from './said.ts';
export { COMMAND_NAMES, COMMANDS, type CommandRow, misplaced } from './table.ts';
export { aliasOf, dollarsOf, refOf, secondsOf } from './values.ts';
export { codersOf } from './wish.ts';
