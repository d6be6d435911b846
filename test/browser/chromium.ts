import type { Browser, BrowserContextOptions, Page, Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { CHROMIUM, launchChromium, signInAt } from './launch.ts';

/** Milliseconds that a page gets to show what is waited for; long, as other tests run at the same time. */
const PATIENCE_MS = 240_000;

/** Stories in a real browser; skipped, which their name says, on a machine that has none. */
export function inChromium(name: string, stories: (browser: () => Browser) => void): void {
  const title = CHROMIUM
    ? name
    : `${name} (skipped: there is no /usr/bin/chromium; apt-get install chromium)`;
  describe.skipIf(!CHROMIUM)(title, () => {
    let browser: Browser | undefined;
    beforeAll(async () => {
      browser = await launchChromium();
    });
    afterAll(() => browser?.close());
    stories(() => browser ?? expect.fail('The browser has not started.'));
  });
}

/** Where pages come from. */
export interface Site {
  /** Origin of Runoff's pages. */
  readonly origin: string;
  /** Origin of GitHub, where people may go by a link. */
  readonly github: string;
}

export const WIDE = { viewport: { width: 1280, height: 900 } };
export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true };

/** A browser of one person, with cookies of its own. */
export interface Visitor {
  readonly page: Page;
  /** Goes to a path of Runoff; resolves with the HTTP status. */
  go(path: string): Promise<number>;
  /** What pages did so far that no page may do, one sentence each. */
  offences(): Promise<readonly string[]>;
}

/** Opens a browser for a person, and closes it. It is an error if a page did what no page may do. */
export async function visiting<T>(
  browser: Browser,
  site: Site,
  options: BrowserContextOptions,
  visit: (visitor: Visitor) => Promise<T>,
): Promise<T> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  try {
    const page = await context.newPage();
    const offences = watch(page, site);
    const visitor: Visitor = {
      page,
      go: async (path) => (await page.goto(`${site.origin}${path}`))?.status() ?? 0,
      offences,
    };
    const result = await visit(visitor);
    expect(await offences()).toEqual([]);
    return result;
  } finally {
    await context.close();
  }
}

/** What a browser writes on its console about an answer that a story asks for. */
const ANSWERED = /^Failed to load resource: the server responded with a status of 4\d\d/;

function watch(page: Page, { origin, github }: Site): () => Promise<readonly string[]> {
  const found: string[] = [];
  const reading: Promise<void>[] = [];
  const urls: string[] = [];
  const tokens = new Set<string>();
  page.on('dialog', (dialog) => {
    found.push(`A dialog opens: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('popup', (popup) => found.push(`A window opens: ${popup.url()}`));
  page.on('pageerror', (error) => found.push(`A script fails: ${error.message}`));
  page.on('console', (message) => {
    const text = message.text();
    if (['error', 'warning'].includes(message.type()) && !ANSWERED.test(text)) found.push(`Console: ${text}`);
  });
  page.on('request', (request) => {
    const url = request.url();
    urls.push(url);
    const to = new URL(url).origin;
    if (to !== origin && !(to === github && request.isNavigationRequest())) found.push(`Request to ${url}`);
  });
  page.on('response', (response) => {
    if (new URL(response.url()).origin === origin) reading.push(checkAnswer(response, found, tokens));
  });
  return async () => {
    while (reading.length > 0) await reading.shift();
    for (const { name, value } of await page.context().cookies(origin))
      if (/session/.test(name)) tokens.add(value);
    for (const url of urls) {
      if ([...tokens].some((token) => url.includes(token)) || /\bgh[a-z]_\w{10}/.test(url))
        found.push(`An address holds a token: ${url}`);
    }
    urls.length = 0;
    return found;
  };
}

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** What every answer of Runoff must say, and how it must set cookies. */
async function checkAnswer(response: Response, found: string[], tokens: Set<string>): Promise<void> {
  const at = new URL(response.url()).pathname;
  const headers = await response.allHeaders().catch(() => null);
  // The page was left before its answer had come.
  if (headers === null) return;
  const policies = {
    'content-security-policy': POLICY,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  };
  for (const [name, value] of Object.entries(policies))
    if (headers[name] !== value) found.push(`${at} has ${name}: ${headers[name]}`);
  if (!at.startsWith('/assets/') && headers['cache-control'] !== 'no-store')
    found.push(`${at} may be stored: ${headers['cache-control']}`);
  for (const { name, value } of await response.headersArray().catch(() => [])) {
    if (name.toLowerCase() !== 'set-cookie') continue;
    const [cookie = '', ...flags] = value.split('; ');
    // A cookie that is taken back has no value to protect.
    if (flags.includes('Max-Age=0')) continue;
    const missing = ['HttpOnly', 'SameSite=Lax', 'Path=/'].filter((flag) => !flags.includes(flag));
    if (missing.length > 0) found.push(`${at} sets a cookie without ${missing.join(', ')}: ${cookie}`);
  }
  if (!headers['content-type']?.startsWith('text/html') || response.status() >= 300) return;
  const text = await response.text().catch(() => '');
  for (const [, token = ''] of text.matchAll(/name="csrf" value="([^"]{10,})"/g)) tokens.add(token);
}

/** Signs in on GitHub's page, and comes back to the path that was asked for. */
export const signIn = ({ page }: Visitor, { origin }: Site, login: string, path: string): Promise<void> =>
  signInAt(page, `${origin}${path}`, login);

/** A path without what differs between pages of one kind: ids, aliases, numbers, values. */
function kindOf(path: string): string {
  const { pathname, searchParams } = new URL(path, 'http://runoff.test');
  const kind = pathname
    .replace(/\/runs\/[^/]+/, '/runs/*')
    .replace(/\/(candidates|steps|tests)\/[^/]+/, '/$1/*')
    .replace(/\/compare\/[^/]+\/[^/]+/, '/compare/*');
  return `${kind}?${[...searchParams.keys()].sort().join('&')}${searchParams.get('view') ?? ''}`;
}

/**
 * Follows all links of Runoff's own from one page on, and shows `look` one page of each kind. Resolves with their paths, in
 * the order seen.
 */
export async function everyPage(
  { page, go }: Visitor,
  from: string,
  look: (path: string) => Promise<void>,
  isWanted: (path: string) => boolean = () => true,
): Promise<readonly string[]> {
  const kinds = new Set<string>([kindOf(from)]);
  const paths = [from];
  // Grows while it is read.
  for (const path of paths) {
    expect(await go(path), path).toBe(200);
    await look(path);
    const links = await page.evaluate<string[]>(
      `[...document.querySelectorAll('a[href^="/"]')].map((link) => link.getAttribute('href'))`,
    );
    for (const link of links.map((one) => one.split('#')[0] ?? '/')) {
      if (!isWanted(link) || link.startsWith('/sign-') || kinds.has(kindOf(link))) continue;
      kinds.add(kindOf(link));
      paths.push(link);
    }
  }
  return paths;
}
