import { z } from 'zod';
import type { Actor } from '../../core/model/index.ts';
import type { World } from '../../runs/index.ts';

/** Milliseconds that GitHub gets for one answer. Our default. */
const ANSWER_MS = 10_000;
/** Longest code that is sent on; GitHub's have 20 characters. */
const CODE_FORM = /^[\w-]{1,200}$/;

export interface GitHubUserFlow {
  /** GitHub for browsers, e.g. `https://github.com`. */
  readonly gitUrl: string;
  readonly apiUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
  readonly fetch: typeof fetch;
}

export type CodeExchange =
  | { readonly kind: 'person'; readonly person: Actor }
  /** GitHub did not accept the code: it was used before, is too old, or belongs to another sign-in. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'misconfigured'; readonly why: string };

/** Fields of GitHub's answer to a code. It answers 200 also to what it refuses. */
const TokenAnswer = z.union([
  z.object({ access_token: z.string().min(1).max(400) }),
  z.object({ error: z.string().max(200) }),
]);

/** Errors that no person can cause by a code. */
const OPERATOR_ERRORS = new Set([
  'incorrect_client_credentials',
  'redirect_uri_mismatch',
  'unverified_user_email',
]);

/**
 * Exchanges the code that GitHub gave a browser for who it was given to. The user's token reads that, and is then given
 * back: rights are read with the installation's token. Rejects if GitHub cannot be reached.
 */
export async function personOfCode(
  flow: GitHubUserFlow,
  { github, log }: Pick<World, 'github' | 'log'>,
  given: { readonly code: string; readonly verifier: string },
): Promise<CodeExchange> {
  if (!CODE_FORM.test(given.code) || !github) return { kind: 'refused' };
  const answer = await exchange(flow, given);
  if ('error' in answer) {
    return OPERATOR_ERRORS.has(answer.error)
      ? { kind: 'misconfigured', why: answer.error }
      : { kind: 'refused' };
  }
  const token = answer.access_token;
  try {
    const holder = await github.people.ofToken(token);
    return holder ? { kind: 'person', person: holder.person } : { kind: 'refused' };
  } finally {
    // It expires by itself within eight hours, so signing in does not depend on this.
    await giveBack(flow, token).catch((thrown: unknown) =>
      log.warn({ err: thrown }, 'The token of a person who signed in could not be given back to GitHub.'),
    );
  }
}

async function exchange(flow: GitHubUserFlow, { code, verifier }: { code: string; verifier: string }) {
  const response = await flow.fetch(`${flow.gitUrl}/login/oauth/access_token`, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json', 'user-agent': 'runoff' },
    body: JSON.stringify({
      client_id: flow.clientId,
      client_secret: flow.clientSecret,
      code,
      redirect_uri: flow.redirectUri,
      code_verifier: verifier,
    }),
    redirect: 'error',
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  if (!response.ok) throw new Error(`GitHub answered ${response.status} to the code of a sign-in.`);
  return TokenAnswer.parse(await response.json());
}

async function giveBack(flow: GitHubUserFlow, token: string): Promise<void> {
  const basic = Buffer.from(`${flow.clientId}:${flow.clientSecret}`).toString('base64');
  const response = await flow.fetch(`${flow.apiUrl}/applications/${flow.clientId}/token`, {
    method: 'DELETE',
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Basic ${basic}`,
      'content-type': 'application/json',
      'user-agent': 'runoff',
    },
    body: JSON.stringify({ access_token: token }),
    redirect: 'error',
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  if (!response.ok) throw new Error(`GitHub answered ${response.status}.`);
}
