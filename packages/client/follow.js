import { EventSourceParserStream } from 'eventsource-parser/stream';

/** Milliseconds until a lost connection is opened again: half of it, and a random part of the other half. */
const RECONNECT_MS = 3_000;

/** The server answered with a problem. */
export class RunoffProblem extends Error {
  constructor(problem) {
    super(`${problem.title}. ${problem.detail}`);
    this.name = 'RunoffProblem';
    this.problem = problem;
  }
}

export async function* followRun(runoff, { signal, steps, ...path }) {
  let last;
  for (let isFirst = true; ; isFirst = false) {
    if (!isFirst) await delay(RECONNECT_MS * (0.5 + Math.random() / 2), signal);
    const stream = await connect(runoff, { path, steps, last, signal }).catch((error) => {
      // A server that was never reached is probably another one.
      if (isFirst || signal?.aborted || error instanceof RunoffProblem) throw error;
      return null;
    });
    try {
      for await (const { id, event, data } of stream ?? []) {
        last = id ?? last;
        if (event === 'end') return;
        yield { event, data: JSON.parse(data) };
      }
    } catch (error) {
      // The connection broke; anything else that can be thrown here is the reader's own.
      if (signal?.aborted || !(error instanceof TypeError)) throw error;
    }
  }
}

/** The events of one connection. Waits, and asks again, while the server says that it will answer later. */
async function connect(runoff, { path, steps, last, signal }) {
  for (;;) {
    const { data, error, response } = await runoff.GET('/api/repos/{owner}/{repo}/runs/{id}/events', {
      params: {
        path,
        query: steps === undefined ? {} : { steps },
        header: last === undefined ? {} : { 'last-event-id': last },
      },
      parseAs: 'stream',
      signal,
    });
    if (data) return data.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
    const seconds = Number(response.headers.get('retry-after'));
    if (!(seconds > 0))
      throw error?.title ? new RunoffProblem(error) : new Error(`The answer is HTTP ${response.status}.`);
    await delay(seconds * 1_000, signal);
  }
}

function delay(ms, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
