import type { Actor } from '../model/index.ts';
import { code } from './safe.ts';

/** Code points of a login; GitHub allows 39. */
const LOGIN = 80;

/** A person in the middle of a sentence: the login in code, where nothing is a mention. `null`: the command line. */
export const personIn = (by: Actor | null): string =>
  by ? code(by.login, LOGIN) : 'somebody at the command line';

/** The same at the start of a sentence. */
export const personFirst = (by: Actor | null): string =>
  by ? code(by.login, LOGIN) : 'Somebody at the command line';
