import type { ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { openAuthority } from '../../../src/adapters/registries/authority.ts';
import { Fault } from '../../../src/core/model/index.ts';
import type { ModelProtocol } from '../../../src/core/settings/index.ts';
import { tried } from '../../world/tried.ts';
import {
  ask,
  begin,
  json,
  listen,
  memoryLedger,
  openRig,
  PROMPT,
  type Provider,
  shut,
  sse,
  startProvider,
} from './rig.ts';
import { PROTOCOLS, type Stream } from './streams.ts';

let provider: Provider | undefined;
afterEach(async () => {
  await provider?.close();
  provider = undefined;
});

/** How a provider can fail, and what follows. */
interface Failing {
  /** What it does instead of answering. */
  readonly does: (response: ServerResponse, stream: Stream) => unknown;
  /** What the client gets when it goes on like that; `cut`: its connection breaks. */
  readonly client: number | 'cut';
  /** Calls that the provider sees for one of the client. */
  readonly tries: number;
  /** Statuses in the ledger, of the tries in order. */
  readonly rows: readonly number[];
  /** Whether the provider may bill it. */
  readonly billed: boolean;
}

const status = (code: number, headers: Record<string, string> = {}) => ({
  does: (response: ServerResponse) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    json(response, code, { error: { message: 'no' } });
  },
  client: code,
  tries: 3,
  rows: [code, code, code],
  billed: false,
});
const once = { tries: 1 };
const withoutContent = (code: number) => ({
  does: (response: ServerResponse) => response.writeHead(code).end(),
  client: 502,
  rows: [code],
  // Nothing says that it is not.
  billed: true,
});

/** An error as an event of a stream that began with 200, in each vendor's words. */
const OVERLOADED: Readonly<Record<ModelProtocol, object>> = {
  anthropic: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
  'openai-chat': { error: { type: 'server_error', code: 'overloaded', message: 'Overloaded' } },
  'openai-responses': {
    type: 'response.failed',
    response: { error: { code: 'server_is_overloaded', message: 'Overloaded' } },
  },
  gemini: { error: { code: 503, status: 'UNAVAILABLE', message: 'The model is overloaded.' } },
};

const protocolOf = (stream: Stream) => PROTOCOLS.find(([, one]) => one === stream)?.[0] as ModelProtocol;

const FAULTS: Readonly<Record<string, Failing>> = {
  'too many requests': status(429),
  'too many requests, come back in two seconds': status(429, { 'retry-after': '2' }),
  'too many requests, come back tomorrow': {
    ...status(429, { 'retry-after': '86400' }),
    ...once,
    rows: [429],
  },
  'a time-out at the provider': status(408),
  'a conflict': status(409),
  'a fault of the provider': status(500),
  'a bad gateway': status(502),
  'a provider that is away': status(503),
  'an overloaded provider': status(529),
  'a status that does not exist': { ...status(600), client: 502 },
  'an answer without content': { ...withoutContent(204), ...once },
  'an answer without content that asks for another form': { ...withoutContent(205), ...once },
  'an answer that would change the protocol of the connection': {
    does: (response) =>
      response.socket?.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
      ),
    client: 502,
    ...once,
    rows: [101],
    billed: true,
  },
  'a request that it does not take': { ...status(400), ...once, rows: [400] },
  'a connection that is cut before an answer': {
    does: (response) => response.destroy(),
    client: 502,
    tries: 3,
    rows: [502, 502, 502],
    billed: true,
  },
  'a connection that is cut before the first event': {
    async does(response) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      await setImmediate();
      response.destroy();
    },
    client: 502,
    tries: 3,
    rows: [502, 502, 502],
    billed: true,
  },
  'an error as the first event of a stream': {
    does(response, stream) {
      sse(response, OVERLOADED[protocolOf(stream)]);
      response.end();
    },
    client: 529,
    tries: 3,
    rows: [529, 529, 529],
    billed: false,
  },
  'an error in the middle of a stream': {
    does(response, stream) {
      sse(response, ...stream.before.slice(0, 1), OVERLOADED[protocolOf(stream)]);
      response.end();
    },
    client: 200,
    ...once,
    rows: [502],
    billed: true,
  },
  'a stream that is cut in the middle': {
    async does(response, stream) {
      sse(response, ...stream.before.slice(0, 1));
      // Cut as soon as it has been read: what was passed on cannot be taken back.
      await new Promise((resolve) => setTimeout(resolve, 30));
      response.destroy();
    },
    client: 'cut',
    ...once,
    rows: [502],
    billed: true,
  },
};

describe.each(PROTOCOLS)('%s', (_, stream) => {
  test.each(Object.entries(FAULTS))('%s', async (_name, { does, client, tries, rows, billed }) => {
    provider = await startProvider((_body, response) => does(response, stream));
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    const reply = await ask(lease, stream.call).catch(() => 'cut' as const);
    expect(reply === 'cut' ? reply : reply.status).toBe(client);
    // Nobody else is to multiply our tries.
    if (reply !== 'cut' && reply.status >= 402) expect(reply.headers['x-should-retry']).toBe('false');
    expect(provider.seen).toHaveLength(tries);
    await lease.close();
    expect(rig.ledger.rows.map((row) => row.status)).toEqual(rows);
    expect(rig.ledger.booked).toHaveLength(tries);
    for (const row of rig.ledger.rows) expect(row.usd > 0).toBe(billed);
    expect(lease.refusal()).not.toBeNull();
  });

  test('a transient fault is invisible to the caller', async () => {
    tried({
      id: 'model-faults',
      part: 'Model calls break off',
      what: 'A provider answers 429, 408, 5xx or overloaded, refuses a connection, or starts with an error, twice.',
      held: 'The gateway retries at growing intervals, at most three times, each attempt booked; the caller sees only the answer.',
    });
    let calls = 0;
    provider = await startProvider((_body, response) => {
      calls += 1;
      if (calls === 1) return json(response, 503, {});
      if (calls === 2) return response.destroy();
      sse(response, ...stream.before, stream.last, ...stream.after);
      response.end();
    });
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    const reply = await ask(lease, stream.call);
    expect(reply).toMatchObject({ status: 200, text: expect.stringContaining('hello') });
    expect(lease.refusal()).toBeNull();
    await lease.close();
    expect(rig.ledger.rows.map((row) => row.status)).toEqual([503, 502, 200]);
  });

  test('an endless trickle is ended and charged', async () => {
    tried({
      id: 'model-trickle',
      part: 'Model calls break off',
      what: 'A provider sends a little now and then, without end.',
      held: 'The call ends at its time limit, and is charged.',
    });
    provider = await startProvider((_body, response) => {
      sse(response, ...stream.before.slice(0, 1));
      const timer = setInterval(() => response.write(': still here\n\n'), 10);
      response.on('close', () => clearInterval(timer));
    });
    // Long enough for the first piece to arrive on a busy machine: before it, the gateway answers with 504.
    await using rig = await openRig(provider.url, { upstreamMostMs: 1_000, upstreamSilenceMs: 60_000 });
    const lease = await rig.open();
    await expect(ask(lease, stream.call)).rejects.toThrow();
    await lease.close();
    expect(lease.refusal()).toBe('The model provider took too long for one answer.');
    expect(rig.ledger.rows).toMatchObject([
      { status: 502, exact: false, usd: expect.toSatisfy((usd) => usd > 0) },
    ]);
  });
});

test('an unreachable address is tried three times, at no cost', async () => {
  provider = await startProvider(() => {});
  const { url } = provider;
  await provider.close();
  provider = undefined;
  await using rig = await openRig(url);
  const lease = await rig.open();
  expect(await ask(lease)).toMatchObject({ status: 502, headers: { 'x-should-retry': 'false' } });
  expect(lease.usage()).toMatchObject({ usd: 0, calls: 3 });
  expect(rig.log.lines.map((line) => JSON.parse(line))).toEqual([
    {
      run: 'r1',
      spender: 'A',
      kind: 'unanswered',
      provider: 'anthropic',
      error: 'ECONNREFUSED',
      message: 'A model provider did not answer a call.',
    },
  ]);
});

test('a provider whose certificate is not accepted costs nothing, and the certificate is named', async () => {
  const { key, certificate: cert } = openAuthority().identityOf('127.0.0.1');
  let requests = 0;
  const server = createTlsServer({ key, cert }, (_request, response) => {
    requests += 1;
    response.end();
  });
  const url = (await listen(server)).replace('http:', 'https:');
  try {
    await using rig = await openRig(url);
    const lease = await rig.open();
    const why =
      'The model provider cannot be reached: its certificate is not accepted (UNABLE_TO_VERIFY_LEAF_SIGNATURE).';
    expect(await ask(lease)).toMatchObject({ status: 502, text: expect.stringContaining(why) });
    expect(lease.refusal()).toBe(why);
    expect(lease.usage()).toMatchObject({ usd: 0, tokensIn: 0, tokensOut: 0, calls: 3 });
    expect(rig.log.lines.join()).toContain('"error":"UNABLE_TO_VERIFY_LEAF_SIGNATURE"');
    expect(requests).toBe(0);
  } finally {
    await shut(server);
  }
});

test('a provider that never completes the TLS handshake costs nothing', async () => {
  const silent = createTcpServer((socket) => void socket.on('error', () => {}));
  const url = (await listen(silent)).replace('http:', 'https:');
  try {
    await using rig = await openRig(url, { upstreamSilenceMs: 50 });
    const lease = await rig.open();
    expect(await ask(lease)).toMatchObject({ status: 504 });
    expect(rig.ledger.rows).toMatchObject([{ status: 504, usd: 0, exact: true }]);
  } finally {
    silent.close();
  }
});

test('a connection that is cut after TLS is charged, because the provider may have the request', async () => {
  const { key, certificate: cert } = openAuthority().identityOf('127.0.0.1');
  const server = createTlsServer({ key, cert }, (_request, response) => void response.destroy());
  const url = (await listen(server)).replace('http:', 'https:');
  const verified = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  try {
    await using rig = await openRig(url);
    const lease = await rig.open();
    expect((await ask(lease)).status).toBe(502);
    expect(rig.ledger.rows).toHaveLength(3);
    for (const row of rig.ledger.rows) expect(row).toMatchObject({ tokensOut: 1000, exact: false });
  } finally {
    if (verified === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = verified;
    await shut(server);
  }
});

test('retries wait as long as the provider asks, else for a random, growing time', async () => {
  provider = await startProvider((body, response) => {
    if (body.max_tokens === 1000) response.setHeader('retry-after', '7');
    json(response, 429, {});
  });
  await using rig = await openRig(provider.url);
  const lease = await rig.open();
  await ask(lease);
  expect(rig.clock.slept).toEqual([7_000, 7_000]);
  await ask(lease, { body: { ...PROMPT, max_tokens: 999 } });
  const [, , first = -1, second = -1] = rig.clock.slept;
  expect(first).toBeGreaterThanOrEqual(0);
  expect(first).toBeLessThanOrEqual(1_000);
  expect(second).toBeLessThanOrEqual(2_000);
});

test('a retry that exceeds the budget is rejected', async () => {
  provider = await startProvider((_body, response) => response.destroy());
  await using rig = await openRig(provider.url);
  // One try is booked with a cent and kept, as the provider may bill it.
  const lease = await rig.open({ capUsd: 0.012 });
  const body = { ...PROMPT, stream: false };
  expect((await ask(lease, { body })).status).toBe(402);
  expect(lease.capReached()).toBe('spender');
  expect(provider.seen.length).toBeLessThan(3);
});

test('an expired process makes no retry, because each retry is booked first', async () => {
  provider = await startProvider((_body, response) => json(response, 503, {}));
  const ledger = memoryLedger();
  let tries = 0;
  const fenced = {
    ...ledger,
    // As the store answers a process whose work others have taken over.
    async bookCall(...booking: Parameters<typeof ledger.bookCall>) {
      tries += 1;
      if (tries > 1) throw new Fault('EXECUTOR_EXPIRED', 'Others have taken over the work of this process.');
      return ledger.bookCall(...booking);
    },
  };
  await using rig = await openRig(provider.url, { ledger: fenced });
  const lease = await rig.open();
  expect(await ask(lease)).toMatchObject({ status: 503 });
  expect(tries).toBeGreaterThan(1);
  expect(provider.seen).toHaveLength(1);
});

test('a client that disconnects before the next retry gets none', async () => {
  provider = await startProvider((_body, response) => json(response, 503, {}));
  const waits = Promise.withResolvers<AbortSignal | undefined>();
  const clock = {
    now: () => 0,
    elapsed: () => 0,
    sleep: (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        signal?.addEventListener('abort', () => resolve());
        waits.resolve(signal);
      }),
  };
  await using rig = await openRig(provider.url, { clock });
  const lease = await rig.open();
  const gone = new AbortController();
  const asking = begin(lease, {}, gone.signal).catch(() => 'gone');
  await waits.promise;
  gone.abort();
  expect(await asking).toBe('gone');
  await lease.close();
  expect(provider.seen).toHaveLength(1);
});

test.each([3_600_000, -3_600_000])(
  'a wall clock that jumps by %d ms neither ends nor extends a lease',
  async (ms) => {
    provider = await startProvider((_body, response) => json(response, 200, { usage: {} }));
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ ttlMs: 60_000 });
    rig.clock.jump(ms);
    expect((await ask(lease)).status).toBe(200);
    expect(rig.ledger.rows).toMatchObject([{ ms: 0 }]);
    rig.clock.advance(60_000);
    expect((await ask(lease)).status).toBe(403);
  },
);
