import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { WebContext } from '../context.ts';
import { sendProblem } from '../layout.ts';

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Takes the same time wherever the texts differ. */
export const isSameText = (one: string, other: string): boolean =>
  timingSafeEqual(sha256(one), sha256(other));

/** The random value in each form that makes a form that is sent twice act once. */
export const FormKey = z.string().regex(/^[0-9a-f]{32}$/);

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Lets requests through that only read, and forms of these pages: sent by a page of `origin`, with the token of the
 * session in which the form was made. Browsers say where a request comes from; what says nothing needs the token alone.
 */
export async function refuseForgedForms(
  c: WebContext,
  origin: string | null,
  next: () => Promise<void>,
): Promise<Response | undefined> {
  if (READING.has(c.req.method)) {
    await next();
    return undefined;
  }
  const sender = { from: c.req.header('origin'), site: c.req.header('sec-fetch-site') };
  if (!isOwnForm(sender, origin) || !(await hasToken(c))) {
    return sendProblem(
      c,
      403,
      'Nothing was changed',
      'The form was not sent from a page of this server in this session.',
      'Load the page again, check what it shows, and press the button again.',
    );
  }
  await next();
  return undefined;
}

/** Pages that send no referrer send forms with the origin `null`, also to their own server. */
function isOwnForm(
  { from, site }: { readonly from: string | undefined; readonly site: string | undefined },
  origin: string | null,
): boolean {
  if (site !== undefined && site !== 'same-origin') return false;
  return from === undefined || from === origin || (from === 'null' && site === 'same-origin');
}

async function hasToken(c: WebContext): Promise<boolean> {
  const { csrf } = c.var;
  if (csrf === null) return false;
  // A body that is no form has no token.
  const { csrf: given } = await c.req.parseBody().catch(() => ({ csrf: undefined }));
  return typeof given === 'string' && isSameText(given, csrf);
}
