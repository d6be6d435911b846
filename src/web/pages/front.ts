import { html } from 'hono/html';
import { SIGN_IN_PATH } from '../../core/settings/index.ts';
import type { WebContext } from '../context.ts';
import { sendPage, signInAddress } from '../layout.ts';

/** Who is signed in came for the runs. */
export function frontPage(c: WebContext): Response | Promise<Response> {
  if (c.var.viewer) return c.redirect('/runs', 303);
  const { signIn, publicRepositories, host } = c.var.parts;
  if (host !== undefined) return sendSignedOut(c);
  return sendPage(c, {
    title: 'Runoff',
    body: html`<p>Label an issue; several coding agents write competing patches; executed tests decide which one becomes the pull request.</p>
${signIn ? html`<p><a href="${SIGN_IN_PATH}">Sign in with GitHub</a> to see the runs of repositories that you may read.</p>` : ''}
${publicRepositories ? html`<p><a href="/runs">Runs of public repositories</a></p>` : ''}`,
  });
}

/** The same for every address, whether there is something or not. */
export function sendSignedOut(c: WebContext): Promise<Response> {
  const { signIn, host } = c.var.parts;
  const body =
    signIn && host === undefined
      ? html`<p>Pages show what you may read on GitHub, so Runoff must know who you are.</p>
<p><a href="${signInAddress(c)}">Sign in with GitHub</a></p>`
      : html`<p>Open the address that Runoff printed in the terminal.</p>`;
  return sendPage(c, { title: 'You are not signed in', body }, 401);
}
