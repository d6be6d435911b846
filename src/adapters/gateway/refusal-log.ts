import type { CapName, Clock, Log } from '../../ports/index.ts';
import type { RefusalKind } from './admission.ts';

/** Milliseconds within which repetitions are counted instead of logged. Our default. */
const WINDOW_MS = 60_000;

/** A kind of rejection, a provider that began no answer, or a fault of the gateway itself. */
type LoggedKind = RefusalKind | 'unanswered' | 'fault';

export interface RefusalLog {
  /**
   * Logs the first one of a kind at once. The number of further ones is logged in one line, when the window is over or
   * the lease closes.
   */
  add(kind: LoggedKind, fields: Readonly<Record<string, unknown>>): void;
  /** Names of fields and beta features that were dropped from a call, each once. The client chose them. */
  addUnknown(names: readonly string[]): void;
  close(): void;
}

/** Names of fields that one lease may write to the log, and their format. Our default. */
const MAX_NAMES = 20;
const FIELD_NAME = /^[A-Za-z_][\w-]{0,59}$/;

const MESSAGES = {
  refused: 'The gateway refused a model call.',
  unanswered: 'A model provider did not answer a call.',
  fault: 'A model call failed inside the gateway.',
} as const;

/** For one lease: an agent that retries endlessly must not fill the log. */
export function openRefusalLog(
  log: Log,
  clock: Pick<Clock, 'elapsed'>,
  whose: Readonly<Record<string, unknown>>,
): RefusalLog {
  const windows = new Map<LoggedKind, { readonly since: number; more: number }>();
  const names = new Set<string>();
  const write = (kind: LoggedKind, fields: Readonly<Record<string, unknown>>) => {
    const all = { ...whose, kind, ...fields };
    if (kind === 'fault') log.error(all, MESSAGES.fault);
    else log.warn(all, kind === 'unanswered' ? MESSAGES.unanswered : MESSAGES.refused);
  };
  const end = (kind: LoggedKind) => {
    const more = windows.get(kind)?.more ?? 0;
    windows.delete(kind);
    if (more > 0) write(kind, { more, withinMs: WINDOW_MS });
  };
  return {
    add(kind, fields) {
      const window = windows.get(kind);
      if (window && clock.elapsed() - window.since < WINDOW_MS) {
        window.more += 1;
        return;
      }
      end(kind);
      windows.set(kind, { since: clock.elapsed(), more: 0 });
      write(kind, fields);
    },
    addUnknown(found) {
      const fields = found
        .filter((field) => FIELD_NAME.test(field) && !names.has(field))
        .slice(0, MAX_NAMES - names.size);
      if (fields.length === 0) return;
      for (const field of fields) names.add(field);
      log.info({ ...whose, fields }, 'Unknown fields or beta features were dropped from a model call.');
    },
    close() {
      for (const kind of [...windows.keys()]) end(kind);
    },
  };
}

/** Why the last call of a lease was rejected or failed, which is the reason that people read when a coder stops. */
export interface LastRefusal {
  /** Null if the last call went well. */
  why(): string | null;
  /** The cap that the last call reached, if any. */
  cap(): CapName | null;
  rejected(why: string, cap?: CapName): void;
  /**
   * Called when a call is admitted; returns what to call when it has ended, with its trouble, or null if it went well.
   * `free`: it only counts tokens.
   */
  admitted(free?: boolean): (trouble: string | null) => void;
}

export function openLastRefusal(): LastRefusal {
  let last: string | null = null;
  let reached: CapName | null = null;
  let noted = 0;
  const note = (why: string | null, cap: CapName | null) => {
    last = why;
    reached = cap;
    noted += 1;
  };
  return {
    why: () => last,
    cap: () => reached,
    rejected: (why, cap) => note(why, cap ?? null),
    admitted(free = false) {
      const before = noted;
      return (trouble) => {
        if (free && (trouble === null || last !== null)) return;
        // The end of a call that began before says nothing about whether another one would be admitted now.
        if (noted > before && last !== null && (trouble === null || reached !== null)) return;
        note(trouble, null);
      };
    },
  };
}
