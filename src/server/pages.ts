import { createHash } from 'node:crypto';
import { escapeHtml } from '../core/reports/index.ts';
import type { AppManifest, SavedCredentials } from './credentials.ts';

/** One answer to a browser. */
export interface Page {
  readonly status: number;
  readonly html: string;
  /** Headers in addition to the usual ones; they take precedence. */
  readonly headers?: Readonly<Record<string, string>>;
}

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem;color:#1f2328}' +
  'code{background:#eff1f3;padding:.1em .3em;border-radius:4px}button{font:inherit;padding:.4em 1em}' +
  'input{font:inherit;padding:.3em}.note{border-left:4px solid #bf8700;padding-left:1rem}';

// The only style that a page may use; scripts, frames, images and connections are forbidden.
const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;
const POLICY = `default-src 'none'; style-src ${STYLE_SOURCE}; base-uri 'none'; frame-ancestors 'none'`;

/** Sent with every answer. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': `${POLICY}; form-action 'self'`,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/**
 * Headers of the page whose form goes to GitHub. Browsers apply `form-action` to every redirect too, so it would break
 * company single sign-on behind GitHub; and with `no-referrer` they would send `Origin: null`. The token in the page's
 * URL is still not sent: only the origin is.
 */
const FORM_TO_GITHUB: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'referrer-policy': 'strict-origin',
};

/** `body` is HTML by the caller; every value in it went through `escapeHtml`. */
const page = (status: number, title: string, body: string, headers?: Page['headers']): Page => ({
  status,
  html:
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">' +
    `<title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body><h1>${escapeHtml(title)}</h1>${body}</body></html>\n`,
  ...(headers ? { headers } : {}),
});

/** The page at `/`. */
export const frontPage = (): Page =>
  page(
    200,
    'Runoff',
    '<p>Label an issue; several coding agents write competing patches; executed tests decide which one becomes ' +
      'the pull request.</p><p>This server receives webhooks from GitHub. Health: <a href="/healthz">/healthz</a>.</p>',
  );

export const notFound = (): Page => page(404, 'Page not found', '<p>There is no page at this address.</p>');

const TITLE = 'Set up Runoff';
const paragraph = (text: string): string => `<p>${escapeHtml(text)}</p>`;
const note = (text: string): string => `<p class="note">${escapeHtml(text)}</p>`;

/** A page that only says what is wrong and what to do next. */
export const setupProblem = (status: number, ...sentences: readonly string[]): Page =>
  page(status, TITLE, sentences.map(paragraph).join(''));

/** Asks for what the manifest needs. Submitting loads the page again with the values. */
const askForm = (token: string, address = ''): string =>
  '<form method="get" action="/setup">' +
  `<input type="hidden" name="token" value="${escapeHtml(token)}">` +
  '<p><label>Public address of this server<br>' +
  `<input name="publicUrl" type="url" size="40" placeholder="https://runoff.example.com" value="${escapeHtml(address)}"></label></p>` +
  '<p><label>Organisation that will own the App (leave empty for your own account)<br>' +
  '<input name="organization" size="40" maxlength="80"></label></p>' +
  '<button type="submit">Continue</button></form>';

/** Without a URL for GitHub's events the App cannot be registered yet. `seen` is a URL to suggest. */
export const setupAsk = (token: string, problem: string | null, seen: string | null): Page =>
  page(
    problem === null ? 200 : 400,
    TITLE,
    (problem === null ? '' : note(problem)) +
      paragraph(
        'GitHub needs a public address to send its events to, such as a reverse proxy with TLS or a tunnel.',
      ) +
      (seen === null
        ? ''
        : paragraph(
            'The address below is the one that your browser used: check that GitHub reaches it, too.',
          )) +
      askForm(token, seen ?? ''),
  );

interface FormFacts {
  readonly manifest: AppManifest;
  /** URL on GitHub that the form is sent to. */
  readonly action: string;
  readonly token: string;
  readonly publicUrl: string;
  /** Login of the organisation that will own the App; absent: the person's own account. */
  readonly organization?: string;
  /** Why each permission is needed, by its name. */
  readonly reasons: Readonly<Record<string, string>>;
  /** Why GitHub may not reach this server, in one or two sentences; null if nothing speaks against it. */
  readonly doubt: string | null;
}

export function setupForm(facts: FormFacts): Page {
  const { manifest, organization } = facts;
  const rights = Object.entries(manifest.default_permissions).map(
    ([name, level]) =>
      `<li><code>${escapeHtml(name)}</code>: ${escapeHtml(level)}. ${escapeHtml(facts.reasons[name] ?? '')}</li>`,
  );
  const hook = manifest.hook_attributes.url;
  const owner = organization === undefined ? 'your own account' : `the organisation ${organization}`;
  const body = [
    paragraph(`GitHub will register an App for ${owner} with only these permissions:`),
    `<ul>${rights.join('')}</ul>`,
    `<p>GitHub will send its events to <code>${escapeHtml(hook)}</code>.</p>`,
    ...(facts.doubt === null ? [] : [note(facts.doubt)]),
    `<form method="post" action="${escapeHtml(facts.action)}">`,
    `<input type="hidden" name="manifest" value="${escapeHtml(JSON.stringify(manifest))}">`,
    '<button type="submit">Register on GitHub</button></form>',
    paragraph('App names are unique on GitHub. If this one is taken, enter another on the next page.'),
    '<h2>Change these settings</h2>',
    askForm(facts.token, facts.publicUrl),
  ];
  return page(200, TITLE, body.join(''), FORM_TO_GITHUB);
}

/** Shown after registration. `appUrl` has been checked to be an http URL. */
export function setupDone(
  app: { readonly name: string; readonly appUrl: string },
  kept: SavedCredentials,
): Page {
  const install = `${app.appUrl.replace(/\/+$/, '')}/installations/new`;
  const body = [
    paragraph(`GitHub registered the App “${app.name}”.`),
    `<p>The private key is in <code>${escapeHtml(kept.keyFile)}</code>, the other settings are in <code>${escapeHtml(kept.envFile)}</code>. Only this user can read them.</p>`,
    '<ol>',
    `<li><a href="${escapeHtml(install)}" rel="noreferrer">Install it on the repositories</a> it may work on.</li>`,
    '<li>Restart Runoff to load the new settings.</li>',
    '</ol>',
  ];
  return page(200, TITLE, body.join(''));
}

/** GitHub has registered the App, but its key could not be written to disk, and GitHub does not show it a second time. */
export const setupNotKept = (appUrl: string, why: string): Page =>
  page(
    500,
    TITLE,
    paragraph(`GitHub registered the App, but Runoff could not save its key: ${why}`) +
      `<p>GitHub shows the key only once. Open <a href="${escapeHtml(appUrl)}" rel="noreferrer">the App</a>, ` +
      'then its settings: delete it under “Advanced” and start over, or create a new private key and a new webhook ' +
      'secret there and set <code>APP_ID</code>, <code>PRIVATE_KEY_PATH</code> and <code>WEBHOOK_SECRET</code> manually.</p>',
  );
