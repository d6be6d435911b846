import type { World } from '../runs/index.ts';
import type { WebhookMiddleware } from '../server/index.ts';

/** What the App subscribes to, and what GitHub sends every App; anybody may send anything else. */
const EVENTS: ReadonlySet<string> = new Set([
  'installation',
  'installation_repositories',
  'issue_comment',
  'issues',
  'ping',
  'pull_request',
  'pull_request_review_comment',
]);
const DELIVERY = /^[\w-]{1,80}$/;

/** The same middleware: its lines say which delivery they are about, and how long an answer took is counted. */
export const watchedWebhook =
  (
    { log, clock, metrics }: Pick<World, 'log' | 'clock' | 'metrics'>,
    webhook: WebhookMiddleware,
  ): WebhookMiddleware =>
  (request, response) => {
    const began = clock.elapsed();
    const [event, delivery] = [request.headers['x-github-event'], request.headers['x-github-delivery']];
    response.once('close', () => {
      // Whoever went away before the answer got none.
      const status = response.writableFinished ? response.statusCode : 0;
      metrics?.webhook(
        EVENTS.has(String(event)) ? String(event) : 'other',
        status,
        (clock.elapsed() - began) / 1000,
      );
    });
    return log.within({ delivery: DELIVERY.test(String(delivery)) ? String(delivery) : undefined }, () =>
      webhook(request, response),
    );
  };
