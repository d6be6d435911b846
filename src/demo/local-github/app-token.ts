import { isObject, type Json } from './json.ts';

/** Seconds that GitHub lets an App's own token be good for. */
const LONGEST_S = 600;

/**
 * GitHub's words for an App's own token whose times do not fit `now` (seconds since 1970); null where they do. Clients
 * know a clock that is set wrong by these words (octokit/auth-app.js, `isNotTimeSkewError`).
 */
export function timeRefusal(token: string, now: number): string | null {
  const claims = claimsOf(token);
  if (claims === null) return null;
  const { iat, exp } = claims;
  if (exp > now + LONGEST_S) return "'Expiration time' claim ('exp') is too far in the future";
  if (exp < now)
    return "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires";
  if (iat > now)
    return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued";
  return null;
}

/** Null for what is no token at all: whoever checks its signature refuses it. */
function claimsOf(token: string): { readonly iat: number; readonly exp: number } | null {
  try {
    const data = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Json;
    if (!isObject(data) || typeof data.iat !== 'number' || typeof data.exp !== 'number') return null;
    return { iat: data.iat, exp: data.exp };
  } catch {
    return null;
  }
}
