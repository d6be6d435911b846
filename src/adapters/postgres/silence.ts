import type pg from 'pg';

/** Milliseconds that a goodbye may take; a server that is silent does not say it. Our default. */
const CLOSE_MS = 2_000;
/** Milliseconds in which bytes that came while this process could not run are read before the limit counts. Our default. */
const CATCH_UP_MS = 500;

interface Counted {
  readonly bytesRead?: number;
}

/** What `pg` fails queries with: the code is that of a peer that does not answer, which everybody takes for an outage. */
const silent = (ms: number): Error =>
  Object.assign(new Error(`nothing came for ${ms} ms`), { code: 'ETIMEDOUT' });

/**
 * Cuts a connection on which a query is under way and nothing comes from the server for `silenceMs`. `pg` has a limit for
 * a query (`query_timeout`), which fails that query and leaves the connection, with those behind it, waiting for ever.
 * To be called before the first query.
 */
export function cutWhenSilent(client: pg.Client, silenceMs: number): void {
  const { connection } = client;
  const read = (): number => (connection.stream as Counted).bytesRead ?? 0;
  let timer: NodeJS.Timeout | null = null;
  let before = 0;

  function stop(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
  }
  function listen(): void {
    before = read();
    timer = setTimeout(suspect, silenceMs);
  }
  function suspect(): void {
    if (read() === before) timer = setTimeout(cutOrListen, CATCH_UP_MS);
    else listen();
  }
  function cutOrListen(): void {
    if (read() !== before) {
      listen();
      return;
    }
    timer = null;
    connection.stream.destroy(silent(silenceMs));
  }

  const query = client.query.bind(client) as (...given: readonly unknown[]) => unknown;
  client.query = ((...given: readonly unknown[]) => {
    if (timer === null) listen();
    return query(...given);
  }) as typeof client.query;
  client.on('drain', stop);
  client.on('end', stop);
  cutWhenNotClosed(client);
}

/** Whoever closes a connection does not wait for a server that says nothing. */
function cutWhenNotClosed(client: pg.Client): void {
  const end = client.end.bind(client) as (...given: readonly unknown[]) => unknown;
  let ended = false;
  client.once('end', () => {
    ended = true;
  });
  client.end = ((...given: readonly unknown[]) => {
    if (!ended) {
      const timer = setTimeout(() => client.connection.stream.destroy(), CLOSE_MS);
      client.once('end', () => clearTimeout(timer));
    }
    return end(...given);
  }) as typeof client.end;
}

/**
 * Asks a connection that only listens, or only holds a lock, for a sign of life: one that is silent is cut, which
 * everybody who waits on it is told as its end.
 */
export function askForLife(client: pg.Client, everyMs: number): void {
  const timer = setInterval(() => void client.query('select 1').catch(() => undefined), everyMs);
  timer.unref();
  client.once('end', () => clearInterval(timer));
}
