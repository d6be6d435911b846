import type { Probot } from 'probot';
import { Fault } from '../core/model/index.ts';

/**
 * Milliseconds for a delivery. GitHub waits ten seconds, and Probot says after nine that it was taken, whatever becomes
 * of it. Our default.
 */
const ANSWER_MS = 8_000;

type Handler = (context: never) => unknown;

/**
 * The same Probot, whose handlers fail as while the database is away when they take too long, so that GitHub shows the
 * delivery as failed. What was begun is not stopped: the delivery is taken once, now or when it is sent again.
 */
export function answeredInTime(
  probot: Pick<Probot, 'on' | 'onError'>,
  ms = ANSWER_MS,
): Pick<Probot, 'on' | 'onError'> {
  const on = (events: never, handler: Handler): void =>
    probot.on(events, ((context: never) => within(ms, handler(context))) as never);
  return { on: on as unknown as Probot['on'], onError: probot.onError.bind(probot) };
}

async function within(ms: number, work: unknown): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Fault('DATABASE_UNAVAILABLE', `A delivery was not taken within ${ms} ms.`)),
    ms,
  );
  try {
    await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
