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

export type CodeExchange = { readonly kind: 'person'; readonly person: Actor } | NoPerson;

/** Why nobody has signed in. */
export type NoPerson =
  /** GitHub did not accept the code: it was used before, is too old, or belongs to another sign-in. */
  | { readonly kind: 'refused' }
  /** The person did not agree. */
  | { readonly kind: 'declined' }
  /** The person's primary e-mail address on GitHub is not verified. */
  | { readonly kind: 'unverified' }
  | { readonly kind: 'misconfigured'; readonly why: string };

/** Fields of GitHub's answer to a code. It answers 200 also to what it refuses. */
const TokenAnswer = z.union([
  z.object({ access_token: z.string().min(1).max(400) }),
  z.object({ error: z.string().max(200) }),
]);

/** Errors that only the operator can resolve. */
const OPERATOR_ERRORS = new Set([
  'application_suspended',
  'incorrect_client_credentials',
  'redirect_uri_mismatch',
]);

/** What an error of GitHub means, in its answer to a code or in the address by which a browser comes back. */
export function signInError(error: string): NoPerson {
  if (error === 'access_denied') return { kind: 'declined' };
  if (error === 'unverified_user_email') return { kind: 'unverified' };
  return OPERATOR_ERRORS.has(error) ? { kind: 'misconfigured', why: error } : { kind: 'refused' };
}

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
  if ('error' in answer) return signInError(answer.error);
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
