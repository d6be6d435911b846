import { z } from 'zod';
import type { Credentials } from './keeper.ts';

export interface RegisteredApp {
  readonly name: string;
  /** The App's own page on GitHub; an http address. */
  readonly appUrl: string;
  readonly credentials: Credentials;
}

export type Conversion =
  | { readonly kind: 'registered'; readonly app: RegisteredApp }
  /** `status` for our own answer to the browser; `why` one or two sentences. */
  | { readonly kind: 'failed'; readonly status: number; readonly why: string };

/** Fields of GitHub's answer that we use; the client secret is not among them and is dropped. */
const Answer = z.object({
  id: z.number().int().positive(),
  name: z.string(),
  html_url: z.url({ protocol: /^https?$/ }),
  pem: z.string().regex(/^-----BEGIN [A-Z ]*PRIVATE KEY-----/),
  // GitHub makes one whenever the manifest has a hook; without it a webhook could not be told from a forgery.
  webhook_secret: z.string().min(16),
});

const ANSWER_MS = 15_000;
const failed = (status: number, why: string): Conversion => ({ kind: 'failed', status, why });

/** Exchanges the code that GitHub sent along for the App's credentials. A code works once, for an hour. Never rejects. */
export async function convertCode(
  github: { readonly apiUrl: string; readonly fetch: typeof fetch },
  code: string,
): Promise<Conversion> {
  if (!/^[\w-]{1,200}$/.test(code)) return failed(400, 'What GitHub sent along is not a code.');
  const url = `${github.apiUrl.replace(/\/+$/, '')}/app-manifests/${code}/conversions`;
  try {
    const response = await github.fetch(url, {
      method: 'POST',
      headers: { accept: 'application/vnd.github+json', 'user-agent': 'runoff' },
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    if (response.status === 404 || response.status === 422) {
      return failed(410, 'GitHub does not know this code: it was used before, or is older than an hour.');
    }
    if (!response.ok) return failed(502, `GitHub refused the code with status ${response.status}.`);
    return read(await response.json());
  } catch (thrown) {
    const { message, cause } = thrown as Error;
    const why = cause instanceof Error ? cause.message : message;
    return failed(502, `GitHub’s API at ${github.apiUrl} did not answer as it should: ${why}.`);
  }
}

function read(json: unknown): Conversion {
  const parsed = Answer.safeParse(json);
  if (!parsed.success) {
    const fields = parsed.error.issues.map((issue) => issue.path.join('.')).join(', ');
    return failed(
      502,
      `GitHub’s answer lacks what an App needs (${fields}). Delete the App on GitHub before you try again.`,
    );
  }
  const { id, name, html_url, pem, webhook_secret } = parsed.data;
  const credentials = { appId: id, webhookSecret: webhook_secret, privateKey: pem };
  return { kind: 'registered', app: { name, appUrl: html_url, credentials } };
}
