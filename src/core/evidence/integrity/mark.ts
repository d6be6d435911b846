import type { Language } from '../languages.ts';
import type { TamperingKind } from './finding.ts';

/** A trick that can be seen in a line, or in a few lines that were added together. */
export interface Mark {
  readonly kind: TamperingKind;
  /** What the code does, as a clause without its subject. */
  readonly what: string;
  readonly pattern: RegExp;
  /** Only in these languages; in all where absent. */
  readonly languages?: readonly Language[];
  /** The pattern may begin inside of a string. */
  readonly quoted?: boolean;
  /** Nothing special in a program of its own: it reads its arguments, and ends itself. */
  readonly usual?: boolean;
}

export const STARTED = 'asks how it was started';

export const mark =
  (kind: TamperingKind) =>
  (what: string, pattern: RegExp, languages?: readonly Language[], quoted = false): Mark => ({
    kind,
    what,
    pattern,
    ...(languages ? { languages } : {}),
    quoted,
    usual: kind === 'exit-trick' || what === STARTED,
  });
