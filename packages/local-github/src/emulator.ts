import { createHash, createSign } from 'node:crypto';
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:net';
import { createEmulator } from 'emulate';
import { isObject, type Json } from './json.ts';

interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A refusal of the emulator, with its answer. */
export class ApiError extends Error {
  readonly status: number;
  readonly data: Json;
  constructor(call: string, status: number, data: Json) {
    super(`${call}: ${status} ${JSON.stringify(data).slice(0, 300)}`);
    this.name = 'Refusal';
    this.status = status;
    this.data = data;
  }
}

/** The answer of a call, or null where the emulator has no such thing. */
export async function okOrThrow(call: Promise<Json>): Promise<Json> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

export interface Emulator {
  readonly privateKey: string;
  /** A token of this user for our own bookkeeping. */
  ownToken(login: string): string;
  /** One call as it is, whatever the answer. */
  raw(
    method: string,
    path: string,
    headers: IncomingHttpHeaders,
    body?: Buffer | string,
  ): Promise<RawResponse>;
  /** One JSON call; rejects with a Refusal. */
  call(method: string, path: string, token: string, body?: unknown): Promise<Json>;
  close(): Promise<void>;
}

export const APP = { id: 1, slug: 'auto-dev', name: 'Auto Dev', botLogin: 'auto-dev[bot]' } as const;
export const FIRST_INSTALLATION = 11;

/** The rights and events that the real App asks for. */
const APP_RIGHTS = {
  permissions: {
    metadata: 'read',
    contents: 'write',
    issues: 'write',
    pull_requests: 'write',
    checks: 'write',
    statuses: 'read',
  },
  events: ['issues', 'issue_comment', 'pull_request', 'pull_request_review_comment'],
} as const;

/** The emulator allows a token 5,000 calls an hour; our bookkeeping spreads over several. */
const OWN_TOKENS = 40;

interface EmulatorSeed {
  /** The address that answers and links must name. */
  readonly front: string;
  readonly hookUrl: string;
  readonly users: readonly string[];
  readonly tokens: Readonly<Record<string, string>>;
  readonly repositories: readonly {
    readonly owner: string;
    readonly name: string;
    readonly private: boolean;
    readonly defaultBranch: string;
  }[];
  readonly owners: readonly string[];
  readonly rights: Readonly<Record<string, 'read' | 'write'>> | undefined;
  readonly nonce: string;
}

/** GitHub's REST API, App authentication and webhooks: the `emulate` package on a port of its own. */
export async function startEmulator(seed: EmulatorSeed): Promise<Emulator> {
  const own = (login: string, n: number): string =>
    `own_${createHash('sha256').update(`${seed.nonce} ${login} ${n}`).digest('hex').slice(0, 32)}`;
  const tokens = { ...seed.tokens };
  for (const login of seed.users) {
    for (let n = 0; n < OWN_TOKENS; n++) tokens[own(login, n)] = login;
  }
  const { emulator, port } = await listen(seed, tokens);
  const secret = emulator.generatedSecrets[0];
  if (!secret) throw new Error('The emulator made no key for the App.');
  // A connection for each call: the emulator closes idle ones after five seconds, and may do so just as one is used again.
  const agent = new Agent({ keepAlive: false, maxSockets: 8 });
  const host = new URL(seed.front).host;
  let calls = 0;

  const raw: Emulator['raw'] = (method, path, headers, body) =>
    new Promise((resolve, reject) => {
      const request = httpRequest(
        { host: '127.0.0.1', port, agent, method, path, headers: { ...headers, host } },
        (answer) => {
          const parts: Buffer[] = [];
          answer.on('data', (part: Buffer) => parts.push(part));
          answer.on('error', reject);
          answer.on('end', () => {
            const { statusCode: status = 0, headers } = answer;
            resolve({ status, headers, body: Buffer.concat(parts) });
          });
        },
      );
      request.on('error', reject);
      request.end(body);
    });

  return {
    privateKey: secret.value,
    ownToken: (login) => own(login, calls++ % OWN_TOKENS),
    raw,
    call: async (method, path, token, body) => {
      const payload = body === undefined ? '' : JSON.stringify(body);
      const headers = {
        authorization: `${token.startsWith('eyJ') ? 'bearer' : 'token'} ${token}`,
        ...(payload ? { 'content-type': 'application/json' } : {}),
        'content-length': String(Buffer.byteLength(payload)),
      };
      const answer = await raw(method, path, headers, payload);
      const data = (answer.body.length > 0 ? JSON.parse(answer.body.toString()) : null) as Json;
      if (answer.status >= 400) throw new ApiError(`${method} ${path}`, answer.status, data);
      return data;
    },
    close: async () => {
      agent.destroy();
      await emulator.close();
    },
  };
}

/** The emulator hides the port it listens on, so one is picked first; another process may take it in between. */
async function listen(seed: EmulatorSeed, tokens: Readonly<Record<string, string>>) {
  for (let tries = 1; ; tries++) {
    const port = await freePort();
    try {
      const emulator = await createEmulator({
        service: 'github',
        port,
        hostname: '127.0.0.1',
        baseUrl: seed.front,
        seed: seedFor(seed, tokens),
      });
      return { emulator, port };
    } catch (error) {
      const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
      if (!taken || tries === 5) throw error;
    }
  }
}

function seedFor(seed: EmulatorSeed, tokens: Readonly<Record<string, string>>) {
  return {
    tokens: Object.fromEntries(
      Object.entries(tokens).map(([token, login]) => [token, { login, scopes: ['repo'] }]),
    ),
    github: {
      users: seed.users.map((login) => ({ login, name: login, email: `${login}@example.com` })),
      repos: seed.repositories.map((r) => ({
        owner: r.owner,
        name: r.name,
        private: r.private,
        default_branch: r.defaultBranch,
        auto_init: false,
      })),
      apps: [
        {
          app_id: APP.id,
          slug: APP.slug,
          name: APP.name,
          events: [...APP_RIGHTS.events],
          permissions: { ...(seed.rights ?? APP_RIGHTS.permissions) },
          webhook_url: seed.hookUrl,
          installations: seed.owners.map((account, i) => ({
            installation_id: FIRST_INSTALLATION + i,
            account,
            repository_selection: 'all',
          })),
        },
      ],
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}

/** What an App signs itself in with: an RS256 token good for five minutes. */
export function appJwt(privateKey: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const now = Math.floor(Date.now() / 1000);
  const unsigned = `${part({ alg: 'RS256', typ: 'JWT' })}.${part({ iat: now - 60, exp: now + 300, iss: String(APP.id) })}`;
  return `${unsigned}.${createSign('RSA-SHA256').update(unsigned).sign(privateKey, 'base64url')}`;
}

/** Seconds that GitHub lets an App's own token be good for. */
const LONGEST_S = 600;

/**
 * GitHub's words for an App's own token whose times do not fit `now` (seconds since 1970); null where they do. Clients
 * know a clock that is set wrong by these words (octokit/auth-app.js, `isNotTimeSkewError`).
 */
export function tokenTimeError(token: string, now: number): string | null {
  const claims = claimsOf(token);
  if (claims === null) return null;
  const { iat, exp } = claims;
  if (exp > now + LONGEST_S) return "'Expiration time' claim ('exp') is too far in the future";
  if (exp < now)
    return "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires";
  if (iat > now)
    return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued";
  return null;
}

/** Null for what is no token at all: whoever checks its signature refuses it. */
function claimsOf(token: string): { readonly iat: number; readonly exp: number } | null {
  try {
    const data = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Json;
    if (!isObject(data) || typeof data.iat !== 'number' || typeof data.exp !== 'number') return null;
    return { iat: data.iat, exp: data.exp };
  } catch {
    return null;
  }
}
