import { createHmac, randomUUID } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type JsonObject, textAt } from './json.ts';
import type { WebhookQueue } from './state.ts';
import type { Delivery } from './types.ts';

/** GitHub waits as long for an answer. */
const ANSWER_TIMEOUT_MS = 10_000;

interface WebhookOptions {
  readonly secret: string;
  readonly appId: number;
  readonly url: () => string | undefined;
  readonly onDelivery: ((delivery: Delivery) => void) | undefined;
  /** Where the emulator posts its events. */
  readonly inbox: URL;
}

export interface WebhookRelay extends WebhookQueue {
  /** Tells that an event of the emulator has arrived; call it before anything asynchronous. */
  arrived(work: Promise<unknown>): void;
}

/** Signs, numbers and sends webhooks as GitHub does, and knows when none is under way. */
export function openWebhookRelay(options: WebhookOptions): WebhookRelay {
  const deliveries: Delivery[] = [];
  const underWay = new Set<Promise<unknown>>();
  const failures: unknown[] = [];
  const closing = new AbortController();
  const leaving = watchEmulator(options.inbox);

  const track = <T>(work: Promise<T>): Promise<T> => {
    const entry = work.then(
      () => undefined,
      (error: unknown) => void failures.push(error),
    );
    underWay.add(entry);
    void entry.then(() => underWay.delete(entry));
    return work;
  };

  async function send(event: string, payload: JsonObject, guid: string, redelivery: boolean) {
    const action = textAt(payload, 'action') || undefined;
    const status = await post(event, JSON.stringify(payload), guid);
    const delivery = { guid, event, action, status, payload, redelivery };
    deliveries.push(delivery);
    options.onDelivery?.(delivery);
    return delivery;
  }

  async function post(event: string, body: string, guid: string): Promise<number> {
    const url = options.url();
    if (url === undefined || closing.signal.aborted) return 0;
    try {
      const answer = await fetch(url, {
        method: 'POST',
        body,
        headers: {
          accept: '*/*',
          'content-type': 'application/json',
          'user-agent': 'GitHub-Hookshot/local',
          'x-github-event': event,
          'x-github-delivery': guid,
          'x-github-hook-id': '1',
          'x-github-hook-installation-target-id': String(options.appId),
          'x-github-hook-installation-target-type': 'integration',
          'x-hub-signature-256': `sha256=${createHmac('sha256', options.secret).update(body).digest('hex')}`,
        },
        signal: AbortSignal.any([closing.signal, AbortSignal.timeout(ANSWER_TIMEOUT_MS)]),
      });
      await answer.arrayBuffer();
      return answer.status;
    } catch {
      // GitHub records a delivery that got no answer and does not repeat it.
      return 0;
    }
  }

  return {
    deliveries,
    deliver: (event, payload) => void track(send(event, payload, randomUUID(), false)),
    redeliver: async (guid) => {
      const first = deliveries.find((delivery) => delivery.guid === guid);
      if (!first) throw new Error(`There was no delivery ${guid}.`);
      return track(send(first.event, first.payload, guid, true));
    },
    arrived: (work) => {
      leaving.arrived();
      void track(work);
    },
    settled: async () => {
      while (underWay.size > 0 || leaving.count() > 0) {
        await Promise.race([...underWay, leaving.next()]);
      }
      if (failures.length > 0) throw new AggregateError(failures.splice(0), 'A webhook could not be made.');
    },
    close: async () => {
      closing.abort();
      leaving.close();
      await Promise.all(underWay);
    },
  };
}

/**
 * The emulator posts its events without telling anybody, in this very process; Node's own announcement of each request
 * that `fetch` makes shows them before the emulator has answered the call that caused them.
 */
function watchEmulator(inbox: URL) {
  let count = 0;
  let wake = (): void => undefined;
  let changed = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const change = (by: number): void => {
    count += by;
    wake();
    changed = new Promise((resolve) => {
      wake = resolve;
    });
  };
  const concerns = (message: unknown): boolean => {
    const { origin, path } = (message as { request: { origin: unknown; path: unknown } }).request;
    return String(origin) === inbox.origin && path === inbox.pathname;
  };
  const created = (message: unknown): void => {
    if (concerns(message)) change(+1);
  };
  const failed = (message: unknown): void => {
    if (concerns(message)) change(-1);
  };
  subscribe('undici:request:create', created);
  subscribe('undici:request:error', failed);
  return {
    count: () => count,
    next: () => changed,
    arrived: () => change(-1),
    close: () => {
      unsubscribe('undici:request:create', created);
      unsubscribe('undici:request:error', failed);
      count = 0;
      wake();
    },
  };
}
