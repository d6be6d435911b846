import type { MiddlewareHandler } from 'hono';
import type { Viewer, WebEnv } from '../context.ts';
import { sendProblem } from '../layout.ts';

/** Pages that one person gets at the same time. Our default: a browser asks a host for six at a time. */
const MAX_AT_ONCE = 16;
/** All who are not signed in count as one person. */
const MAX_STRANGERS_AT_ONCE = 64;

/** Who is meant where people are counted or compared. All who are not signed in are one person. */
export const personKey = (viewer: Viewer | null): string =>
  viewer?.kind === 'github' ? `github ${viewer.id}` : (viewer?.kind ?? 'nobody');

/**
 * Counts what is under way for each person. The function that it returns is called at the beginning and returns the one
 * for the end, to be called once; null if `most` are under way for this person, or `maxAll` for all together.
 */
export function openConcurrencyLimit(
  maxAll = Number.POSITIVE_INFINITY,
): (viewer: Viewer | null, most: number) => (() => void) | null {
  const underWay = new Map<string, number>();
  let all = 0;
  return (viewer, most) => {
    const person = personKey(viewer);
    const own = underWay.get(person) ?? 0;
    if (all >= maxAll || own >= most) return null;
    underWay.set(person, own + 1);
    all += 1;
    return () => {
      all -= 1;
      const left = (underWay.get(person) ?? 1) - 1;
      if (left > 0) underWay.set(person, left);
      else underWay.delete(person);
    };
  };
}

/** Limits how much of this process one person uses. A stream counts until it begins; its own limits hold from then on. */
export function openVisitLimit(): MiddlewareHandler<WebEnv> {
  const begin = openConcurrencyLimit();
  return async (c, next) => {
    const { viewer } = c.var;
    const end = begin(viewer, viewer ? MAX_AT_ONCE : MAX_STRANGERS_AT_ONCE);
    if (!end) {
      c.header('retry-after', '2');
      return sendProblem(c, 429, 'Too many requests at once', 'Load this page again in a few seconds.');
    }
    try {
      await next();
    } finally {
      end();
    }
    return undefined;
  };
}
