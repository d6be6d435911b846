import { html, raw } from 'hono/html';
import { cut, escapeHtml, PAGE, visibleCode, visibleLine } from '../core/reports/index.ts';
import { SIGN_IN_PATH } from '../core/settings/index.ts';
import { mayRunContests, type WebContext } from './context.ts';

/** Markup whose values were escaped: what hono's `html` template returns. */
export type Html = ReturnType<typeof html>;

export interface PageContent {
  /** Without "Runoff"; text of others must have gone through `shownLine`. */
  readonly title: string;
  readonly body: Html;
  /** Assets that only this page loads, e.g. `diff2html.css`, `live.js`. Pages must work without scripts. */
  readonly assets?: readonly string[];
}

/** Code points of a text of others that a page shows unless it says otherwise. Our default. */
const MAX_SHOWN_TEXT = 100_000;

/**
 * Text of others (candidates, models, issues, programs) as it is, for an element: escaped, with invisible and
 * bidirectional characters spelt out, and isolated, so that it cannot reorder what surrounds it.
 */
export const shownText = (value: string, limit = MAX_SHOWN_TEXT): Html =>
  raw(`<bdi>${escapeHtml(visibleCode(cut(value, { codePoints: limit })))}</bdi>`);

/** One line of text of others, for titles and attributes. Not escaped: the template does that. */
export const shownLine = (value: string, limit = 200): string => visibleLine(value, limit);

/** A sentence of Runoff's that may quote others, with code in backticks. */
export const shownSentence = (text: string, limit = 1_500): Html => raw(PAGE.sentence(text, limit));

/** One line of text of others as code. */
export const codeText = (text: string, limit = 200): Html => raw(PAGE.code(text, limit));

/**
 * A time that people and machines can read. Milliseconds since 1970 UTC. `words`: shown in place of the date.
 */
export const moment = (at: number, words?: string): Html => {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}">${words ?? `${iso.slice(0, 16).replace('T', ' ')} UTC`}</time>`;
};

/** The field that every form with method="post" must contain. */
export const csrfField = (c: WebContext): Html =>
  html`<input type="hidden" name="csrf" value="${c.var.csrf ?? ''}">`;

/** Sends a page in the frame that all pages share. */
export async function sendPage(
  c: WebContext,
  page: PageContent,
  status: 200 | 400 | 401 | 403 | 404 | 409 | 413 | 422 | 429 | 500 | 503 = 200,
): Promise<Response> {
  return c.html(await frame(c, page), status);
}

/** A page that says in sentences what happened and what to do. */
export const sendProblem = (
  c: WebContext,
  status: Parameters<typeof sendPage>[2],
  title: string,
  ...sentences: readonly string[]
): Promise<Response> =>
  sendPage(c, { title, body: html`${sentences.map((sentence) => html`<p>${sentence}</p>`)}` }, status);

export const sendNotFound = (c: WebContext): Promise<Response> =>
  sendProblem(
    c,
    404,
    'Page not found',
    'There is no page at this address, or it is one that you may not see.',
  );

function frame(c: WebContext, { title, body, assets = [] }: PageContent): Html {
  const { path } = c.var.parts.assets;
  const styles = ['pages.css', ...assets.filter((name) => name.endsWith('.css'))];
  const scripts = ['live.js', ...assets.filter((name) => name.endsWith('.js'))];
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Runoff</title>
<link rel="icon" href="${path('icon.svg')}" type="image/svg+xml">
${styles.map((name) => html`<link rel="stylesheet" href="${path(name)}">`)}
${scripts.map((name) => html`<script src="${path(name)}" defer></script>`)}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
${header(c)}
<main id="content">
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
}

/** Signing in leads back to the page that was asked for, except from pages of signing in and out. */
export function signInAddress(c: WebContext): string {
  const { pathname, search } = new URL(c.req.url);
  const returns = c.req.method === 'GET' && !/^\/sign-(in|out)(\/|$)/.test(pathname);
  return returns ? `${SIGN_IN_PATH}?${new URLSearchParams({ to: `${pathname}${search}` })}` : SIGN_IN_PATH;
}

function header(c: WebContext): Html {
  const { viewer, parts } = c.var;
  const operates = parts.installation && viewer?.kind === 'github' && viewer.operator;
  const to = (path: string, title: string): Html =>
    html`<a href="${path}"${c.req.path === path ? raw(' aria-current="page"') : ''}>${title}</a>`;
  return html`<header class="site">
<a class="brand" href="/">Runoff</a>
<nav aria-label="Main">${viewer ? html`${to('/runs', 'Runs')} ${to('/leaderboard', 'Leaderboard')}` : ''}
${viewer?.kind === 'github' ? to('/tokens', 'Tokens') : ''}
${parts.arena && viewer && mayRunContests(viewer) ? to('/arena', 'Arena') : ''}
${operates ? to('/installation', 'Installation') : ''}</nav>
${viewer?.kind === 'github' ? signOutForms(c, viewer.login) : ''}
${viewer === null && parts.signIn && parts.host === undefined ? html`<a class="person" href="${signInAddress(c)}">Sign in</a>` : ''}
</header>`;
}

const signOutForms = (c: WebContext, login: string): Html => html`<div class="person"><span>${login}</span>
<form method="post" action="/sign-out">${csrfField(c)}<button>Sign out</button>
<button name="everywhere" value="yes" title="End your sessions in all browsers">Sign out everywhere</button></form></div>`;
