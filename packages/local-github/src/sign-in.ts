import { createHash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from './json.ts';
import { escapedHtml } from './pages.ts';
import { errorResponse, type RestResponse } from './route.ts';
import type { GitHubState, UserFlow } from './state.ts';

/** How long GitHub's codes are good for, milliseconds. */
const CODE_MS = 600_000;

export const newUserFlow = (users: readonly string[]): UserFlow => ({
  clientId: `Iv1.${randomBytes(8).toString('hex')}`,
  clientSecret: randomBytes(20).toString('hex'),
  users,
  codes: new Map(),
});

interface SignInAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface SignInCall {
  readonly method: string;
  readonly url: URL;
  readonly body: string;
}

const AUTHORIZE = '/login/oauth/authorize';

/**
 * GitHub's pages for signing in to an App: a button for each user, in place of a password. Undefined for other
 * addresses.
 */
export function answerSignIn(state: GitHubState, flow: UserFlow, call: SignInCall): SignInAnswer | undefined {
  const path = call.url.pathname;
  if (path === AUTHORIZE && call.method === 'GET') return authorizePage(flow, call.url.searchParams);
  if (path === AUTHORIZE && call.method === 'POST') return giveCode(flow, new URLSearchParams(call.body));
  if (path === '/login/oauth/access_token' && call.method === 'POST')
    return json(exchangeCode(state, flow, JSON.parse(call.body) as Readonly<Record<string, string>>));
  return undefined;
}

const html = (status: number, body: string): SignInAnswer => ({
  status,
  headers: {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  },
  body: `<!doctype html><html lang="en"><meta charset="utf-8"><title>Sign in to GitHub</title><h1>Sign in to GitHub</h1>${body}</html>`,
});
const json = (data: JsonObject): SignInAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify(data),
});

function authorizePage(flow: UserFlow, query: URLSearchParams): SignInAnswer {
  if (query.get('client_id') !== flow.clientId)
    return html(404, '<p>There is no App with this client id.</p>');
  if (!URL.canParse(query.get('redirect_uri') ?? '')) return html(400, '<p>The redirect_uri is missing.</p>');
  const hidden = ['client_id', 'redirect_uri', 'state', 'code_challenge']
    .map((name) => `<input type="hidden" name="${name}" value="${escapedHtml(query.get(name) ?? '')}">`)
    .join('');
  const buttons = [...flow.users, '']
    .map(
      (login) =>
        `<p><button name="login" value="${escapedHtml(login)}">${escapedHtml(login || 'Cancel')}</button></p>`,
    )
    .join('');
  return html(200, `<form method="post" action="${AUTHORIZE}">${hidden}${buttons}</form>`);
}

function giveCode(flow: UserFlow, form: URLSearchParams): SignInAnswer {
  const login = form.get('login') ?? '';
  const redirectUri = form.get('redirect_uri') ?? '';
  if (!URL.canParse(redirectUri) || (login !== '' && !flow.users.includes(login)))
    return html(400, '<p>This form cannot be used.</p>');
  const target = new URL(redirectUri);
  target.searchParams.set('state', form.get('state') ?? '');
  if (login === '') target.searchParams.set('error', 'access_denied');
  else {
    const code = randomBytes(10).toString('hex');
    const challenge = form.get('code_challenge') || null;
    flow.codes.set(code, { login, redirectUri, challenge, givenAt: Date.now() });
    target.searchParams.set('code', code);
  }
  return { status: 302, headers: { location: target.href }, body: '' };
}

/** As on GitHub, a refusal is an answer with status 200. A code works once, whatever comes of it. */
function exchangeCode(
  state: GitHubState,
  flow: UserFlow,
  asked: Readonly<Record<string, string>>,
): JsonObject {
  if (asked.client_id !== flow.clientId || asked.client_secret !== flow.clientSecret)
    return {
      error: 'incorrect_client_credentials',
      error_description: 'The client_id and/or client_secret passed are incorrect.',
    };
  const given = flow.codes.get(asked.code ?? '');
  flow.codes.delete(asked.code ?? '');
  const hash = createHash('sha256')
    .update(asked.code_verifier ?? '')
    .digest('base64url');
  const fits = given && (given.challenge === null || given.challenge === hash);
  if (!fits || Date.now() - given.givenAt > CODE_MS)
    return { error: 'bad_verification_code', error_description: 'The code passed is incorrect or expired.' };
  if (given.redirectUri !== asked.redirect_uri)
    return {
      error: 'redirect_uri_mismatch',
      error_description: 'The redirect_uri MUST match the registered callback URL for this application.',
    };
  const token = `ghu_${randomBytes(18).toString('hex')}`;
  state.tokens.set(token, { login: given.login });
  return { access_token: token, token_type: 'bearer', scope: '' };
}

/** `DELETE /applications/{client_id}/token`: the App gives a user's token back. Undefined for other calls. */
export function revokeUserToken(
  state: GitHubState,
  flow: UserFlow,
  call: SignInCall & { readonly headers: IncomingHttpHeaders },
): RestResponse | undefined {
  if (call.method !== 'DELETE' || !/\/applications\/[^/]+\/token$/.test(call.url.pathname)) return undefined;
  const basic = Buffer.from(`${flow.clientId}:${flow.clientSecret}`).toString('base64');
  if (call.headers.authorization !== `Basic ${basic}`) return errorResponse(404, 'Not Found');
  const { access_token: token = '' } = JSON.parse(call.body) as { access_token?: string };
  return state.tokens.delete(token) ? { status: 204 } : errorResponse(404, 'Not Found');
}
