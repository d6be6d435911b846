import { createHmac } from 'node:crypto';
import { createNodeMiddleware, Probot } from 'probot';
import type { Log } from '../../src/ports/index.ts';
import type { WebhookMiddleware } from '../../src/server/index.ts';
import { newAppKey } from '../world/app-key.ts';

export const SECRET = 'a-secret-of-this-test-only-0123456789';
export const HOOKS = '/api/github/webhooks';

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** A log that remembers. */
export function memoryLog(): Log & { readonly lines: readonly LogLine[] } {
  const lines: LogLine[] = [];
  const at = (level: LogLine['level']) => (fields: Readonly<Record<string, unknown>>, message: string) => {
    lines.push({ level, fields, message });
  };
  return { lines, info: at('info'), warn: at('warn'), error: at('error'), within: (_fields, work) => work() };
}

/** Probot's own middleware around a handler of labelled issues. */
export async function probotMiddleware(
  onTitle: (title: string) => void | Promise<void>,
): Promise<WebhookMiddleware> {
  const privateKey = newAppKey();
  const probot = new Probot({ appId: 1, privateKey, secret: SECRET, logLevel: 'fatal' });
  const middleware = await createNodeMiddleware(
    (app) => {
      app.on('issues.labeled', ({ payload }) => onTitle(payload.issue.title));
    },
    { probot, webhooksPath: HOOKS },
  );
  return (request, response) => middleware(request, response);
}

export const labelled = (title: string, padding = ''): string =>
  JSON.stringify({ action: 'labeled', installation: { id: 1 }, issue: { title }, padding });

export const sign = (body: string): string =>
  `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;

/** A delivery as GitHub sends it. */
export const delivery = (body: string, headers: Readonly<Record<string, string>> = {}): RequestInit => ({
  method: 'POST',
  body,
  headers: {
    'content-type': 'application/json',
    'x-github-event': 'issues',
    'x-github-delivery': 'a6b7c8d9-0000-4000-8000-000000000001',
    'x-hub-signature-256': sign(body),
    ...headers,
  },
});
