import { randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import type { SignedIn, WebContext, WebEnv } from '../context.ts';
import { isSameText } from './csrf.ts';
import { csrfOf } from './sessions.ts';
import type { SignIn } from './sign-in.ts';

const ENTRANCE = '/open';

/** How the person at this machine signs in: by an address that only their terminal shows. */
interface LocalSignIn extends SignIn {
  /** A path that signs in whoever opens it first, and leads to `to`. Each is good for one opening. */
  pathTo(to: string): string;
}

/**
 * Signing in to pages on loopback. A token in the address would stay in the history of the browser, so it is good for
 * one opening, which gives a cookie and leads to an address without it. Nothing is stored: it ends with this process.
 */
export function openLocalSignIn(port: number): LocalSignIn {
  // Browsers send cookies to all ports of a host: two servers must not take each other's.
  const cookie = `runoff-ui-${port}`;
  const id = randomBytes(32).toString('base64url');
  const entrances = new Map<string, string>();
  const routes = new Hono<WebEnv>();
  routes.get(ENTRANCE, (c) => {
    const token = c.req.query('token') ?? '';
    const to = entrances.get(token);
    if (to === undefined)
      return c.text('This address was opened before, or is not complete. Start `runoff ui` again.\n', 403);
    entrances.delete(token);
    // Not Strict: the browser comes from a file, and would not send it to the address that this leads to.
    setCookie(c, cookie, id, { path: '/', httpOnly: true, sameSite: 'Lax' });
    return c.redirect(to, 303);
  });
  return {
    async identify(c: WebContext): Promise<SignedIn | null> {
      const given = getCookie(c, cookie);
      if (given === undefined || !isSameText(given, id)) return null;
      return { viewer: { kind: 'local' }, csrf: csrfOf(id) };
    },
    routes,
    pathTo(to) {
      const token = randomBytes(32).toString('base64url');
      entrances.set(token, to);
      return `${ENTRANCE}?token=${token}`;
    },
  };
}
