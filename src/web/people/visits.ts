import type { MiddlewareHandler } from 'hono';
import type { WebEnv } from '../context.ts';
import { sendProblem } from '../layout.ts';

/** Pages that one person gets at the same time. Our default: a browser asks a host for six at a time. */
const MAX_AT_ONCE = 16;
/** All who are not signed in count as one person. */
const MAX_STRANGERS_AT_ONCE = 64;

/** Limits how much of this process one person uses. A stream counts until it begins; its own limits hold from then on. */
export function openVisitLimit(): MiddlewareHandler<WebEnv> {
  const underWay = new Map<string, number>();
  return async (c, next) => {
    const { viewer } = c.var;
    const who = viewer?.kind === 'github' ? String(viewer.id) : (viewer?.kind ?? 'stranger');
    const count = underWay.get(who) ?? 0;
    if (count >= (viewer ? MAX_AT_ONCE : MAX_STRANGERS_AT_ONCE)) {
      c.header('retry-after', '2');
      return sendProblem(c, 429, 'Too many requests at once', 'Load this page again in a few seconds.');
    }
    underWay.set(who, count + 1);
    try {
      await next();
    } finally {
      const left = (underWay.get(who) ?? 1) - 1;
      if (left > 0) underWay.set(who, left);
      else underWay.delete(who);
    }
    return undefined;
  };
}
