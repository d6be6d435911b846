import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { expect } from 'vitest';
import { systemClock, systemRandom } from '../../../src/adapters/system/index.ts';
import { type ApiToken, tokenText } from '../../../src/core/tokens/index.ts';
import type { GitHub, People } from '../../../src/ports/index.ts';
import type { World } from '../../../src/runs/index.ts';
import { openWeb } from '../../../src/web/index.ts';
import { type CommandWorld, commandWorld } from '../../commands/command-world.ts';
import { mona } from '../../commands/dialogue-world.ts';
import { partial } from '../../world/partial.ts';
import { openApiContract } from './api-contract.ts';

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed, if it is JSON. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
}

interface Sending {
  /** Text of a token; null: none is sent. Default: one of mona's that may do everything. */
  readonly token?: string | null;
  readonly body?: unknown;
  /** Sent as it is, in place of a body. */
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const contract = openApiContract();

/** At the end of a file of stories: what went over the wire was what the description says. */
export function expectContract(): void {
  expect(contract.violations).toEqual([]);
}
/** Operations that were called with success by the stories of this file. */
export const calledOperations = (): ReadonlySet<string> => contract.seen;

export const RUNS = '/api/repos/acme/lists/runs';
export const START = '/api/repos/acme/lists/issues/7/runs';

/** The API over a store in memory, a pretended GitHub, and the real queue of commands. */
export function apiWorld(people: Partial<People> = {}) {
  const s: CommandWorld = commandWorld();
  const github: GitHub = { ...pretended(s), people: partial<People>(people) };
  const random = { ...systemRandom };
  // Streams wait between two looks at the database: here, for a twentieth of the time.
  const clock = { ...s.world.clock, sleep: (ms: number) => systemClock.sleep(ms / 20) };
  const world = partial<World>({ ...s.world, clock, github, random }, ['diskSpace']);
  const { intake } = s;
  const commands = {
    onPage: intake.onPage,
    // The clock of this world waits for nothing.
    outcome: async (id: string, ms: number) => {
      await intake.idle();
      return intake.outcome(id, ms);
    },
  };
  const open = () => openWeb({ world, commands, identify: async () => null });
  let web = open();
  let tokens = 0;

  async function newToken(over: Partial<ApiToken> = {}): Promise<string> {
    const { id, text } = tokenText((++tokens).toString(16).padStart(64, '0').split('').reverse().join(''));
    await s.store.addToken(
      {
        id,
        name: `token ${tokens}`,
        by: { id: mona.id, login: mona.login },
        repositories: [s.repository.handle],
        verbs: ['read', 'run', 'act'],
        createdAt: s.now(),
        expiresAt: s.now() + 86_400_000,
        ...over,
      },
      text,
    );
    return text;
  }
  const usual = newToken();

  async function send(method: string, path: string, sending: Sending = {}): Promise<Answered> {
    const { token = await usual, body, raw, headers: more = {} } = sending;
    const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const headers = new Headers({
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      ...more,
    });
    const request = new Request(`http://runoff.test${path}`, {
      method,
      headers,
      ...(sent === undefined ? {} : { body: sent }),
    });
    const response = await web.fetch(request);
    const text = await response.text();
    const type = (response.headers.get('content-type') ?? '').split(';')[0] ?? '';
    contract.check({ method, path, headers, body: sent, response: { status: response.status, type, text } });
    const parsed = /json$/.test(type) ? (JSON.parse(text) as Answered['body']) : {};
    return { status: response.status, headers: response.headers, body: parsed, text };
  }
  return {
    ...s,
    newToken,
    usual,
    get: (path: string, sending?: Sending) => send('GET', path, sending),
    post: (path: string, sending?: Sending) => send('POST', path, sending),
    send,
    fetch: (request: Request) => web.fetch(request),
    /** As when the server stops. */
    close: () => web.close(),
    /** The process was killed and started again. */
    restart: () => {
      web = open();
    },
  };
}

/** Reads the events of a stream, which the description tells as well, until it ends. */
export async function* eventsOf({ body }: Response) {
  if (!body) throw new Error('The answer has no body.');
  const events = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { id = '', event = '', data: text } of events) {
    const data = JSON.parse(text) as Readonly<Record<string, unknown>>;
    contract.checkEvent(event, data);
    yield { id, event, data };
  }
}

/** The same API over HTTP, on this machine. */
export async function served(fetch: (request: Request) => Promise<Response>) {
  const server = createServer(getRequestListener(fetch)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
    /** Breaks the connections that are open. */
    hangUp: () => server.closeAllConnections(),
  };
}

function pretended({ world }: CommandWorld): GitHub {
  if (!world.github) throw new Error('This world has no GitHub.');
  return world.github;
}
