import { createHash, randomBytes } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { html } from 'hono/html';
import { type PagesSettings, SIGN_IN_CALLBACK_PATH, SIGN_IN_PATH } from '../../core/settings/index.ts';
import type { World } from '../../runs/index.ts';
import type { SignedIn, WebContext, WebEnv } from '../context.ts';
import { sendPage, sendProblem } from '../layout.ts';
import { isSameText } from './csrf.ts';
import { type GitHubUserFlow, type NoPerson, personOfCode, signInError } from './github-user.ts';
import { csrfOf, openSessions, SESSION_MS } from './sessions.ts';

interface SignInOptions {
  readonly world: Pick<World, 'clock' | 'github' | 'log' | 'store'>;
  readonly settings: PagesSettings;
  readonly github: { readonly apiUrl: string; readonly gitUrl: string };
  readonly fetch: typeof fetch;
}

/** Signing in to the pages. */
export interface SignIn {
  readonly identify: (c: WebContext) => Promise<SignedIn | null>;
  /** `/sign-in`, its callback, and `/sign-out`. */
  readonly routes: Hono<WebEnv>;
}

/** Seconds that a person gets on GitHub's pages; its codes are good for as long. */
const ATTEMPT_SECONDS = 600;
/** Sign-ins that wait for GitHub at the same time: anybody can begin one. Our default. */
const MAX_EXCHANGES = 16;

/** Signing in with GitHub by the App's own user flow. What is not configured is said on the page. */
export function openSignIn(options: SignInOptions): SignIn {
  const { world, settings } = options;
  const flow = flowOf(options);
  const routes = new Hono<WebEnv>();
  if (!flow || settings.publicUrl === undefined) {
    routes.all(`${SIGN_IN_PATH}/*`, (c) => sendUnconfigured(c, settings.lacks));
    return { identify: async () => null, routes };
  }
  const { publicUrl } = settings;
  const cookies = cookiesFor(publicUrl);
  const sessions = openSessions(world);
  const operators = new Set(settings.operators);
  const state = { exchanges: 0 };

  routes.get(SIGN_IN_PATH, (c) => begin(c, flow, cookies, localPath(c.req.query('to'), publicUrl)));
  routes.get(SIGN_IN_CALLBACK_PATH, async (c) => {
    if (state.exchanges >= MAX_EXCHANGES) return sendBusy(c);
    state.exchanges += 1;
    try {
      return await finish(c, { flow, world, cookies, sessions, publicUrl });
    } finally {
      state.exchanges -= 1;
    }
  });
  routes.post('/sign-out', async (c) => {
    const { everywhere } = await c.req.parseBody();
    const id = cookies.session(c);
    const person = await sessions.find(id);
    if (person && everywhere === 'yes') await sessions.endAll(person);
    else await sessions.end(id);
    cookies.forgetSession(c);
    return c.redirect('/', 303);
  });
  return {
    async identify(c) {
      const id = cookies.session(c);
      const person = await sessions.find(id);
      if (!person || id === undefined) return null;
      return {
        viewer: { kind: 'github', ...person, operator: isOperator(operators, person) },
        csrf: csrfOf(id),
      };
    },
    routes,
  };
}

/** Digits alone are an id, although a login may consist of them: anybody could take the login that looks like an id. */
const isOperator = (operators: ReadonlySet<string>, { id, login }: { id: number; login: string }): boolean =>
  operators.has(String(id)) || (!/^\d+$/.test(login) && operators.has(login.toLowerCase()));

const flowOf = ({ settings, github, fetch }: SignInOptions): GitHubUserFlow | null =>
  settings.signIn && settings.publicUrl !== undefined
    ? { ...github, ...settings.signIn, redirectUri: `${settings.publicUrl}${SIGN_IN_CALLBACK_PATH}`, fetch }
    : null;

/** An attempt to sign in, as the browser keeps it until GitHub sends the person back. */
interface SignInAttempt {
  readonly state: string;
  /** PKCE: GitHub gets its hash first, and itself with the code. */
  readonly verifier: string;
  readonly to: string;
}

/** Where a person goes after signing in: a path of these pages, never another site. */
function localPath(given: string | undefined, publicUrl: string): string {
  if (given === undefined || given.length > 500 || !/^\/(?![/\\])[\x21-\x7e]*$/.test(given)) return '/runs';
  const url = URL.parse(given, publicUrl);
  if (url?.origin !== publicUrl || url.pathname.startsWith(SIGN_IN_PATH)) return '/runs';
  return `${url.pathname}${url.search}`;
}

function begin(c: Context<WebEnv>, flow: GitHubUserFlow, cookies: Cookies, to: string): Response {
  const attempt = { state: random(), verifier: random(), to };
  cookies.keepAttempt(c, attempt);
  const query = new URLSearchParams({
    client_id: flow.clientId,
    redirect_uri: flow.redirectUri,
    state: attempt.state,
    code_challenge: createHash('sha256').update(attempt.verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  return c.redirect(`${flow.gitUrl}/login/oauth/authorize?${query}`, 303);
}

const random = (): string => randomBytes(32).toString('base64url');

interface Finishing {
  readonly flow: GitHubUserFlow;
  readonly world: SignInOptions['world'];
  readonly cookies: Cookies;
  readonly sessions: ReturnType<typeof openSessions>;
  readonly publicUrl: string;
}

/** The person comes back from GitHub. An attempt is good for one return, whatever comes of it. */
async function finish(
  c: WebContext,
  { flow, world, cookies, sessions, publicUrl }: Finishing,
): Promise<Response> {
  const attempt = cookies.attempt(c);
  cookies.forgetAttempt(c);
  const { state = '', code, error } = c.req.query();
  if (!attempt || !isSameText(state, attempt.state)) return sendInvalidSignIn(c);
  // Anybody can write an error into the address, so it is no error of this server's log.
  if (error !== undefined || code === undefined)
    return sendFailed(c, world, signInError(error ?? ''), 'warn');
  const exchanged = await personOfCode(flow, world, { code, verifier: attempt.verifier }).catch(
    (thrown: unknown): null => {
      world.log.warn({ err: thrown }, 'GitHub did not say who signed in');
      return null;
    },
  );
  if (exchanged?.kind !== 'person') return sendFailed(c, world, exchanged);
  // The session of whoever used this browser before ends; the new one has an id that nobody could know.
  await sessions.end(cookies.session(c));
  cookies.keepSession(c, await sessions.begin(exchanged.person));
  return c.redirect(localPath(attempt.to, publicUrl), 303);
}

/** `why` null: GitHub did not say. */
function sendFailed(
  c: WebContext,
  { log }: Pick<World, 'log'>,
  why: NoPerson | null,
  level: 'error' | 'warn' = 'error',
): Response | Promise<Response> {
  switch (why?.kind) {
    case undefined:
      return sendProblem(c, 503, 'GitHub cannot be reached', 'You are not signed in. Try again in a minute.');
    case 'refused':
      return sendInvalidSignIn(c);
    case 'declined':
      return sendSignInProblem(c, 'You are not signed in', 'GitHub says that you did not agree to sign in.');
    case 'unverified':
      return sendSignInProblem(
        c,
        'You are not signed in',
        'GitHub signs nobody in whose primary e-mail address it has not verified. Verify yours in the settings of your account on GitHub, then sign in again.',
      );
    case 'misconfigured':
      log[level](
        { why: why.why },
        'GitHub signs nobody in: it refuses the client id, secret or address of the App, or has suspended it',
      );
      return sendProblem(
        c,
        500,
        'Signing in is not set up correctly',
        'GitHub refuses the client id, the client secret or the callback address of the App, or has suspended it; the log of the server says which.',
        'Tell the person who runs this server.',
      );
  }
}

const sendInvalidSignIn = (c: WebContext): Promise<Response> =>
  sendSignInProblem(
    c,
    'You are not signed in',
    "GitHub's response has expired, was already used, or belongs to another sign-in.",
  );

const sendSignInProblem = (c: WebContext, title: string, sentence: string): Promise<Response> =>
  sendPage(
    c,
    { title, body: html`<p>${sentence}</p><p><a href="${SIGN_IN_PATH}">Sign in with GitHub</a></p>` },
    403,
  );

const sendBusy = (c: WebContext): Promise<Response> => {
  c.header('retry-after', '5');
  return sendProblem(
    c,
    503,
    'Too many people sign in at the moment',
    'Load this page again in a few seconds.',
  );
};

/** Says what the operator must do. Nothing else of Runoff needs it. */
const sendUnconfigured = (c: WebContext, lacks: readonly string[]): Promise<Response> =>
  sendProblem(
    c,
    503,
    'Nobody can sign in yet',
    `The operator of this server must set ${lacks.join(', ')} and restart it; docs/pages.md says where the values come from.`,
    'Runs do not depend on it: their results are on GitHub.',
  );

type Cookies = ReturnType<typeof cookiesFor>;

/** `__Host-`: no other host, not even a subdomain, can set them. Browsers accept that name with https only. */
function cookiesFor(publicUrl: string) {
  const secure = publicUrl.startsWith('https:');
  const name = (own: string): string => `${secure ? '__Host-' : ''}${own}`;
  const base = { path: '/', httpOnly: true, secure, sameSite: 'Lax' } as const;
  const session = name('runoff-session');
  const attempt = name('runoff-sign-in');
  return {
    session: (c: WebContext): string | undefined => getCookie(c, session),
    keepSession: (c: WebContext, id: string): void =>
      setCookie(c, session, id, { ...base, maxAge: SESSION_MS / 1000 }),
    forgetSession: (c: WebContext): void => void deleteCookie(c, session, base),
    keepAttempt: (c: WebContext, { state, verifier, to }: SignInAttempt): void =>
      setCookie(c, attempt, `${state}.${verifier}.${Buffer.from(to).toString('base64url')}`, {
        ...base,
        maxAge: ATTEMPT_SECONDS,
      }),
    attempt(c: WebContext): SignInAttempt | null {
      const [, state, verifier, to] =
        /^([\w-]{43})\.([\w-]{43})\.([\w-]{1,700})$/.exec(getCookie(c, attempt) ?? '') ?? [];
      if (state === undefined || verifier === undefined || to === undefined) return null;
      return { state, verifier, to: Buffer.from(to, 'base64url').toString() };
    },
    forgetAttempt: (c: WebContext): void => void deleteCookie(c, attempt, base),
  };
}
