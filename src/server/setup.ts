import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Log, Random } from '../ports/index.ts';
import { type CredentialStore, type Credentials, manifestFrom } from './credentials.ts';
import { type Page, setupAsk, setupDone, setupForm, setupNotKept, setupProblem } from './pages.ts';
import { isLocal, readAnswer, returnAddress, unreachable, webAddress } from './public-address.ts';

interface SetupQuestion {
  readonly path: string;
  readonly query: URLSearchParams;
  /** The origin that the browser used, if what the request says can be trusted; null: it says none. */
  readonly claimedOrigin: string | null;
}

/** Null for a path that is not part of the set-up. */
export interface SetupPages {
  answer(question: SetupQuestion): Promise<Page | null>;
}

export interface SetupOptions {
  /** `app.yml`, parsed. */
  readonly appFile: unknown;
  /** Why the App asks for each permission, by its name in `app.yml`. */
  readonly reasons: Readonly<Record<string, string>>;
  /** GitHub for browsers, e.g. `https://github.com`. */
  readonly gitUrl: string;
  /** GitHub's REST API, e.g. `https://api.github.com`, or `https://HOST/api/v3`. */
  readonly apiUrl: string;
  /** Where GitHub and browsers reach this server. Absent: the page asks for it. */
  readonly publicUrl?: string | undefined;
  readonly webhooksPath: string;
  readonly credentialStore: CredentialStore;
  readonly fetch: typeof fetch;
  readonly random: Pick<Random, 'nonce'>;
  readonly log: Log;
}

export interface Setup {
  readonly pages: SetupPages;
  /** The link to open in a browser. Anybody who has it can set up Runoff: for the terminal only, never for a log. */
  link(baseUrl: string): string;
  /** Resolves when the credentials have been written; Runoff must then be restarted. */
  readonly done: Promise<void>;
}

const CALLBACK = '/setup/callback';
/** Answers what only this process can know, so that it recognises itself behind an address. */
const PROOF = '/setup/proof';
const AGAIN = 'To start over, open the link from the terminal again.';
const FINISHED = 'Runoff is already set up. Restart it to load the new settings.';

/**
 * The pages that register the GitHub App. The token in the link protects them until the set-up is complete. Each form
 * carries a state that GitHub returns; a state can be used once, so that a captured link is useless.
 */
export function openSetup(options: SetupOptions): Setup {
  const token = options.random.nonce();
  const states = new Set<string>();
  const done = Promise.withResolvers<void>();
  const progress = { finished: false };

  const pages: SetupPages = {
    async answer({ path, query, claimedOrigin }) {
      if (path === PROOF) return { status: 200, html: proofOf(token) };
      if (path !== '/setup' && path !== CALLBACK) return null;
      if (progress.finished) return setupProblem(410, FINISHED);
      if (path === '/setup') {
        if (!same(query.get('token'), token)) {
          return setupProblem(
            403,
            'This page needs a token: open the link that Runoff printed in the terminal.',
          );
        }
        return form(options, { query, claimedOrigin }, token, states);
      }
      if (!states.delete(query.get('state') ?? '')) {
        return setupProblem(
          403,
          'GitHub’s response does not belong to a set-up that was started here, or was already used.',
          AGAIN,
        );
      }
      const result = await takeCode(options, query.get('code'));
      if (result.kept) {
        progress.finished = true;
        done.resolve();
      }
      return result.page;
    },
  };
  return { pages, link: (baseUrl) => `${baseUrl}/setup?token=${token}`, done: done.promise };
}

const NO_ADDRESS = 'This is not a valid server address: write https:// and its name, without credentials.';

const LOCAL =
  'This address only works on this machine. GitHub will reject it unless GitHub runs on this machine, too.';

const doubtAbout = (publicUrl: string, why: string | null): string | null =>
  why === null
    ? null
    : `Runoff does not reach itself at ${publicUrl}: ${why}. Continue only if you know that GitHub reaches this server there, for example because your network does not lead its own public address back.`;

/** Maximum number of open states. A page that is loaded again and again drops its oldest ones. */
const MAX_STATES = 20;

async function form(
  options: SetupOptions,
  { query, claimedOrigin }: Pick<SetupQuestion, 'query' | 'claimedOrigin'>,
  token: string,
  states: Set<string>,
): Promise<Page> {
  const { credentialStore, webhooksPath } = options;
  const given = query.get('publicUrl')?.trim() || options.publicUrl;
  const publicUrl = given === undefined ? null : webAddress(given);
  if (publicUrl === null) {
    const seen = claimedOrigin !== null && !isLocal(claimedOrigin) ? claimedOrigin : null;
    return setupAsk(token, given === undefined ? null : NO_ADDRESS, seen);
  }
  const organization = query.get('organization')?.trim() || undefined;
  if (organization !== undefined && !/^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$/.test(organization)) {
    return setupAsk(
      token,
      'This is not a valid organisation name: use only letters, digits and hyphens.',
      publicUrl,
    );
  }
  const unwritable = await credentialStore.check();
  if (unwritable !== null)
    return setupProblem(500, unwritable, 'Make them writable for this user, then reload this page.');

  const state = options.random.nonce();
  states.add(state);
  for (const oldest of [...states].slice(0, -MAX_STATES)) states.delete(oldest);
  const settings = organization === undefined ? '/settings' : `/organizations/${organization}/settings`;
  return setupForm({
    manifest: manifestFrom(options.appFile, {
      publicUrl,
      webhooksPath,
      redirectUrl: `${returnAddress(publicUrl, claimedOrigin)}${CALLBACK}`,
    }),
    reasons: options.reasons,
    publicUrl,
    action: `${options.gitUrl.replace(/\/+$/, '')}${settings}/apps/new?state=${state}`,
    token,
    doubt: isLocal(publicUrl)
      ? LOCAL
      : doubtAbout(publicUrl, await unreachable(`${publicUrl}${PROOF}`, proofOf(token), options.fetch)),
    ...(organization === undefined ? {} : { organization }),
  });
}

async function takeCode(options: SetupOptions, code: string | null): Promise<{ kept: boolean; page: Page }> {
  const { log, credentialStore } = options;
  const problem = (status: number, ...sentences: string[]) => ({
    kept: false,
    page: setupProblem(status, ...sentences, AGAIN),
  });
  if (code === null) return problem(400, 'GitHub returned no code, so the App was not registered.');
  const conversion = await convertCode(options, code);
  if (conversion.kind === 'failed') {
    log.warn({ why: conversion.why }, 'the App could not be registered');
    return problem(conversion.status, conversion.why);
  }
  const { app } = conversion;
  try {
    const kept = await credentialStore.keep(app.credentials);
    log.info({ app: app.credentials.appId }, 'the App is registered and its credentials are written');
    return { kept: true, page: setupDone(app, kept) };
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    log.error(
      { app: app.credentials.appId, why },
      'the App is registered, but its credentials could not be written',
    );
    return { kept: false, page: setupNotKept(app.appUrl, why) };
  }
}

const proofOf = (token: string): string => createHash('sha256').update(`proof of ${token}`).digest('hex');

/** Compares in a time that reveals nothing about the token. */
function same(given: string | null, token: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return given !== null && timingSafeEqual(digest(given), digest(token));
}

interface RegisteredApp {
  readonly name: string;
  /** The App's own page on GitHub; an http address. */
  readonly appUrl: string;
  readonly credentials: Credentials;
}

type Conversion =
  | { readonly kind: 'registered'; readonly app: RegisteredApp }
  /** `status` is that of the answer to the browser; `why` is one or two sentences. */
  | { readonly kind: 'failed'; readonly status: number; readonly why: string };

/** The fields of GitHub's answer that are used. */
const Answer = z.object({
  id: z.number().int().positive(),
  name: z.string(),
  html_url: z.url({ protocol: /^https?$/ }),
  pem: z.string().regex(/^-----BEGIN [A-Z ]*PRIVATE KEY-----/),
  // GitHub creates one whenever the manifest has a hook. Without it a webhook could not be distinguished from a forgery.
  webhook_secret: z.string().min(16),
  // For signing in to the pages; nothing else needs them.
  client_id: z.string().min(1).optional(),
  client_secret: z.string().min(16).optional(),
});

const GITHUB_ANSWER_MS = 15_000;
/** Maximum bytes of GitHub's answer. Default: a real one, including the key, has about 6 KiB. */
const ANSWER_BYTES = 256 * 1024;
const failedConversion = (status: number, why: string): Conversion => ({ kind: 'failed', status, why });

/** Exchanges the code from GitHub for the App's credentials. A code works once, for an hour. Never rejects. */
async function convertCode(
  github: { readonly apiUrl: string; readonly fetch: typeof fetch },
  code: string,
): Promise<Conversion> {
  if (!/^[\w-]{1,200}$/.test(code)) return failedConversion(400, 'GitHub returned an invalid code.');
  const url = `${github.apiUrl.replace(/\/+$/, '')}/app-manifests/${code}/conversions`;
  try {
    const response = await github.fetch(url, {
      method: 'POST',
      headers: { accept: 'application/vnd.github+json', 'user-agent': 'runoff' },
      redirect: 'error',
      signal: AbortSignal.timeout(GITHUB_ANSWER_MS),
    });
    if (response.status === 404 || response.status === 422) {
      return failedConversion(
        410,
        'GitHub rejected this code: it was already used or is older than one hour.',
      );
    }
    if (!response.ok) return failedConversion(502, `GitHub refused the code with status ${response.status}.`);
    const body = await readAnswer(response, ANSWER_BYTES);
    return body === null
      ? failedConversion(502, `GitHub’s API at ${github.apiUrl} sent more than ${ANSWER_BYTES / 1024} KiB.`)
      : readConversion(JSON.parse(body));
  } catch (thrown) {
    const { message, cause } = thrown as Error;
    const why = cause instanceof Error ? cause.message : message;
    return failedConversion(502, `GitHub’s API at ${github.apiUrl} returned an unexpected response: ${why}.`);
  }
}

function readConversion(json: unknown): Conversion {
  const parsed = Answer.safeParse(json);
  if (!parsed.success) {
    const fields = parsed.error.issues.map((issue) => issue.path.join('.')).join(', ');
    return failedConversion(
      502,
      `GitHub’s response lacks required fields (${fields}). Delete the App on GitHub before you try again.`,
    );
  }
  const { id, name, html_url, pem, webhook_secret, client_id, client_secret } = parsed.data;
  const credentials = {
    appId: id,
    webhookSecret: webhook_secret,
    privateKey: pem,
    ...(client_id !== undefined && client_secret !== undefined
      ? { client: { id: client_id, secret: client_secret } }
      : {}),
  };
  return { kind: 'registered', app: { name, appUrl: html_url, credentials } };
}
