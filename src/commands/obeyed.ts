import type { RunId } from '../core/model/index.ts';
import { noteReply } from '../core/reports/index.ts';
import type { CommandOutcome, CommandRecord } from '../ports/index.ts';

/** What came of a command, and what is said to whoever gave it; plain JSON, so that it outlives a crash. */
export interface Obeyed {
  readonly outcome: Exclude<CommandOutcome, { readonly kind: 'ignored' }>;
  /** Body of a comment in the same conversation; absent where a reaction says enough. */
  readonly reply?: string;
  readonly runId?: RunId;
}

/** Effects of a command that may concern no run are kept under this. */
export const scopeOf = ({ id }: CommandRecord): string => `command:${id}`;

/**
 * Whether GitHub puts one behind the other. Its times are of whole seconds: within one, the numbers of the comments tell,
 * which it gives to comments on lines and to all others apart.
 */
export const isLater = (one: CommandRecord, other: CommandRecord): boolean =>
  one.at === other.at
    ? one.place.on === other.place.on && one.place.comment > other.place.comment
    : one.at > other.at;

export const done = (note: string, more: Pick<Obeyed, 'reply' | 'runId'> = {}): Obeyed => ({
  outcome: { kind: 'done', note },
  ...more,
});

/** `why`: sentences for whoever gave it. */
export const refuse = (command: CommandRecord, why: string, runId?: RunId): Obeyed => ({
  outcome: { kind: 'refused', why },
  reply: noteReply(command.place.comment, why).body,
  ...(runId ? { runId } : {}),
});
