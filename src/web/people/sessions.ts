import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { Actor } from '../../core/model/index.ts';
import type { SessionRecord } from '../../ports/index.ts';
import type { World } from '../../runs/index.ts';

const HOUR_MS = 3_600_000;
/** A session that nobody uses is over after this time; our default: people come back after a weekend. */
export const IDLE_MS = 72 * HOUR_MS;
/** A session is over after this time in any case, and its person signs in again. Our default. */
export const SESSION_MS = 14 * 24 * HOUR_MS;
/** A session is prolonged at most this often: each time is a write. */
const PROLONG_MS = 600_000;

/** 256 random bits, which only the browser knows. */
const SESSION_ID = /^[\w-]{43}$/;

/** Not hexadecimal: the search for artifacts in use would take that for the name of one. */
const storedHash = (id: string): string => createHash('sha256').update(id).digest('base64url');

/** What forms of a session must contain. It follows from the session's id, and does not reveal it. */
export const csrfOf = (id: string): string =>
  createHmac('sha256', id).update('csrf token of Runoff').digest('base64url');

/** Who is signed in. Sessions are rows, so they outlive this process; the database does not hold their ids. */
export function openSessions({ store, clock }: Pick<World, 'store' | 'clock'>) {
  return {
    /** A new session, with an id that nobody has seen before; returns the id. */
    async begin({ id: userId, login }: Actor): Promise<string> {
      const at = clock.now();
      const id = randomBytes(32).toString('base64url');
      await store.deleteEndedSessions(at);
      await store.addSession({ hash: storedHash(id), userId, login, createdAt: at, expiresAt: at + IDLE_MS });
      return id;
    },

    /** The person whose browser sent this id; null if the session is over. */
    async find(id: string | undefined): Promise<Actor | null> {
      if (id === undefined || !SESSION_ID.test(id)) return null;
      const at = clock.now();
      const found = await store.session(storedHash(id), at);
      if (!found) return null;
      const until = Math.min(at + IDLE_MS, found.createdAt + SESSION_MS);
      if (until - found.expiresAt > PROLONG_MS) await store.prolongSession(found.hash, until);
      return { id: found.userId, login: found.login } satisfies Pick<SessionRecord, 'login'> & Actor;
    },

    end: async (id: string | undefined): Promise<void> => {
      if (id !== undefined) await store.endSession(storedHash(id));
    },
    endAll: (person: Actor): Promise<void> => store.endSessionsOf(person.id),
  };
}
