import { createHash } from 'node:crypto';

/** One answer to a browser. */
export interface Page {
  readonly status: number;
  readonly html: string;
  /** Headers besides the usual ones; they win over them. */
  readonly headers?: Readonly<Record<string, string>>;
}

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem;color:#1f2328}' +
  'code{background:#eff1f3;padding:.1em .3em;border-radius:4px}button{font:inherit;padding:.4em 1em}' +
  'input{font:inherit;padding:.3em}.note{border-left:4px solid #bf8700;padding-left:1rem}';

// The only style a page may use; scripts, frames, images and connections are refused altogether.
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
 * Headers of the page whose form goes to GitHub. Browsers apply `form-action` to every redirect too, so a company
 * sign-in behind GitHub would break it; and with `no-referrer` they would send `Origin: null`. The token in the
 * page's address still stays here: only the origin leaves.
 */
export const FORM_TO_GITHUB: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'referrer-policy': 'strict-origin',
};

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as HTML text or as a quoted attribute. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char);

/** `body` is HTML that the caller made; every value in it went through `escapeHtml`. */
export const page = (status: number, title: string, body: string, headers?: Page['headers']): Page => ({
  status,
  html:
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">' +
    `<title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body><h1>${escapeHtml(title)}</h1>${body}</body></html>\n`,
  ...(headers ? { headers } : {}),
});

/** What stands at `/`. */
export const frontPage = (): Page =>
  page(
    200,
    'Runoff',
    '<p>Label an issue; several coding agents write competing patches; the one that survives the evidence becomes ' +
      'the pull request.</p><p>This server takes webhooks from GitHub. Whether it is well: <a href="/healthz">/healthz</a>.</p>',
  );

export const notFound = (): Page => page(404, 'Nothing here', '<p>There is no page at this address.</p>');
