import { mkdtemp, rm } from 'node:fs/promises';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { type GatewayOptions, openGateway } from '../../../src/adapters/gateway/index.ts';
import { sumsOf } from '../../../src/adapters/gateway/ledger.ts';
import { Fault } from '../../../src/core/model/index.ts';
import type { Booker, Gateway, Grant, Lease, LedgerRow, LedgerSums, Log } from '../../../src/ports/index.ts';

export const ANTHROPIC_KEY = 'sk-ant-canary-0123456789abcdef';
export const OPENAI_KEY = 'sk-oai-canary-fedcba9876543210';
export const GOOGLE_KEY = 'AIza-canary-00112233445566778899';
/** Dollars for a million tokens: a token of output costs ten millionths of a dollar. */
export const PRICE = { input: 1, output: 10, cacheRead: 0.1, cacheWrite: 2 };

/** A ledger in memory, as the store would keep it. */
export function memoryLedger() {
  const rows: LedgerRow[] = [];
  const booked: LedgerRow[] = [];
  let broken = false;
  return {
    rows,
    /** As calls stood in it before they went out. */
    booked,
    /** From now on writing fails, or works again. */
    break: (now: boolean) => {
      broken = now;
    },
    /** Somebody removes all rows. */
    lose: () => {
      rows.length = 0;
    },
    async bookCall(whose: Booker, decide: (sums: LedgerSums) => LedgerRow | null) {
      // A database takes its time.
      await setImmediate();
      if (broken) throw new Fault('DATABASE_UNAVAILABLE', 'the database is away');
      const row = decide(sumsOf(rows, whose));
      if (row === null) return null;
      booked.push(row);
      return rows.push(row) - 1;
    },
    async settleCall(call: number, row: LedgerRow) {
      await setImmediate();
      if (broken) throw new Fault('DATABASE_UNAVAILABLE', 'the database is away');
      if (rows[call] === undefined) throw new Fault('INTERNAL', `There is no call ${call} in the ledger.`);
      rows[call] = row;
    },
    async usage(id: string, spender?: string) {
      const own = rows.filter(
        (row) => row.runId === id && (spender === undefined || row.spender === spender),
      );
      return own.reduce(
        (sum, row) => ({
          usd: sum.usd + row.usd,
          tokensIn: sum.tokensIn + row.tokensIn,
          tokensOut: sum.tokensOut + row.tokensOut,
          calls: sum.calls + 1,
        }),
        { usd: 0, tokensIn: 0, tokensOut: 0, calls: 0 },
      );
    },
  };
}

/** A log that keeps every line as text. */
export function memoryLog(): Log & { readonly lines: readonly string[] } {
  const lines: string[] = [];
  const keep = (fields: object, message: string) => {
    lines.push(JSON.stringify({ ...fields, message }));
  };
  return { lines, info: keep, warn: keep, error: keep, within: (_fields, work) => work() };
}

export interface Provider {
  readonly url: string;
  readonly seen: {
    readonly path: string;
    readonly headers: IncomingMessage['headers'];
    readonly body: string;
  }[];
  /** Connections that the other side closed before the answer was complete. */
  readonly aborted: Promise<void>;
  close(): Promise<void>;
}

export type Answering = (
  body: Record<string, unknown>,
  response: ServerResponse,
  request: IncomingMessage,
) => unknown;

/** A model provider that answers as a test says. */
export async function startProvider(answer: Answering): Promise<Provider> {
  const seen: Provider['seen'] = [];
  const aborted = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    const body = (await buffer(request)).toString();
    seen.push({ path: request.url ?? '', headers: request.headers, body });
    response.on('close', () => {
      if (!response.writableFinished) aborted.resolve();
    });
    await answer(JSON.parse(body || '{}'), response, request);
  });
  return { url: await listen(server), seen, aborted: aborted.promise, close: () => shut(server) };
}

export async function listen(server: NetServer): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export async function shut(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}

export const json = (response: ServerResponse, status: number, value: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
};

export const sse = (response: ServerResponse, ...events: readonly unknown[]): void => {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const data of events) {
    response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
  }
};

/** An Anthropic answer without a stream. */
export const message = (input: number, output: number, extra: object = {}) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'ok' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: input, output_tokens: output, ...extra },
});

export interface Rig extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly ledger: ReturnType<typeof memoryLedger>;
  readonly log: ReturnType<typeof memoryLog>;
  readonly dir: string;
  readonly clock: {
    now(): number;
    elapsed(): number;
    /** Milliseconds that somebody waited for; it takes no time. */
    readonly slept: readonly number[];
    /** Time passes. */
    advance(ms: number): void;
    /** Somebody sets the clock. */
    jump(ms: number): void;
  };
  open(grant?: Partial<Grant>, onUsage?: Parameters<Gateway['open']>[1]): Promise<Lease>;
}

/** A gateway in front of a provider, with keys that must never be seen again. */
export async function openRig(upstream: string, options: Partial<GatewayOptions> = {}): Promise<Rig> {
  const dir = await mkdtemp(join(tmpdir(), 'gw-'));
  const ledger = memoryLedger();
  const log = memoryLog();
  let wall = Date.UTC(2026, 10, 20);
  let elapsed = 4_711;
  const slept: number[] = [];
  const clock = {
    now: () => wall,
    elapsed: () => elapsed,
    sleep: async (ms: number) => {
      slept.push(ms);
    },
    slept,
    advance: (ms: number) => {
      wall += ms;
      elapsed += ms;
    },
    jump: (ms: number) => {
      wall += ms;
    },
  };
  const models = ['anthropic/m', 'openai/m', 'google/m', 'anthropic/free'];
  const gateway = openGateway({
    dir: join(dir, 's'),
    providers: {
      anthropic: { baseUrl: upstream, key: ANTHROPIC_KEY, official: false, protocols: ['anthropic'] },
      openai: {
        baseUrl: `${upstream}/v1`,
        key: OPENAI_KEY,
        official: false,
        protocols: ['openai-chat', 'openai-responses'],
      },
      google: { baseUrl: upstream, key: GOOGLE_KEY, official: false, protocols: ['gemini'] },
    },
    prices: {
      'anthropic/m': PRICE,
      'openai/m': PRICE,
      'google/m': PRICE,
      'anthropic/free': { input: 0, output: 0 },
    },
    dayCaps: { repositoryUsd: 1_000, everythingUsd: 1_000 },
    ledger,
    clock,
    log,
    ...options,
  });
  return {
    gateway,
    ledger,
    log,
    dir: join(dir, 's'),
    clock,
    open: (grant = {}, onUsage) =>
      gateway.open(
        {
          runId: 'r1',
          spender: 'A',
          repository: 'github-42',
          models,
          capUsd: 1,
          runCapUsd: 5,
          ttlMs: 60_000,
          ...grant,
        },
        onUsage,
      ),
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

export interface Ask {
  readonly method?: string;
  readonly path?: string;
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Sent as it stands instead of `body`. */
  readonly raw?: string | Buffer;
}

export const PROMPT = { model: 'm', max_tokens: 1000, messages: [{ role: 'user', content: 'hi' }] };

/** One request to a lease's socket. Rejects when the connection is cut. */
export async function ask(lease: Lease, call: Ask = {}): Promise<Reply> {
  const answer = await begin(lease, call);
  const text = (await buffer(answer)).toString();
  return { status: answer.statusCode ?? 0, headers: answer.headers, text };
}

/** As `ask`, but hands out the answer when it begins. */
export function begin(lease: Lease, call: Ask = {}, signal?: AbortSignal): Promise<IncomingMessage> {
  const { method = 'POST', path = '/v1/messages', key = lease.key, headers = {} } = call;
  const payload = call.raw ?? (method === 'GET' ? '' : JSON.stringify(call.body ?? PROMPT));
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        socketPath: lease.socket,
        method,
        path,
        agent: false,
        ...(signal ? { signal } : {}),
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(payload),
          ...(key === null ? {} : { 'x-api-key': key }),
          ...headers,
        },
      },
      resolve,
    );
    request.on('error', reject);
    request.end(payload);
  });
}
