import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { anthropic } from './anthropic.ts';
import { openAiChat } from './openai-chat.ts';
import { openAiResponses } from './openai-responses.ts';
import { type Script, type Scripts, type Turn, turnAt } from './script.ts';
import { type Asked, type Json, object, type Speech, type Spoken, type Wire } from './wire.ts';

/** What the server saw of one request: enough to check which key arrived. */
export interface SeenRequest {
  readonly path: string;
  readonly model: string;
  /** Tool results that the request held. */
  readonly results: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

export interface ScriptedModels {
  /** `http://127.0.0.1:PORT`, to be used as the base URL of both vendors; OpenAI's with `/v1`. */
  readonly url: string;
  /** All requests so far, oldest first. */
  readonly requests: readonly SeenRequest[];
  close(): Promise<void>;
}

export interface ScriptedModelsOptions {
  readonly scripts: Scripts;
  /** Milliseconds between two events of a stream; default 0. */
  readonly paceMs?: number;
}

const WIRES: ReadonlyMap<string, Wire> = new Map([
  ['/v1/messages', anthropic],
  ['/v1/chat/completions', openAiChat],
  ['/v1/responses', openAiResponses],
]);

/** About what real tokenizers make of code and English. */
const BYTES_PER_TOKEN = 4;
const tokensIn = (text: string) => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);

/** Starts a model server on a free port of the loopback interface. */
export async function startScriptedModels(options: ScriptedModelsOptions): Promise<ScriptedModels> {
  const requests: SeenRequest[] = [];
  const server = createServer((request, response) => {
    answer(options, requests, request, response).catch(() => response.destroy());
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async close() {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      await closed.promise;
    },
  };
}

async function answer(
  options: ScriptedModelsOptions,
  requests: SeenRequest[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? '').split('?', 1)[0] ?? '';
  const text = await read(request);
  const body = object(text ? JSON.parse(text) : {});
  const model = String(body.model ?? '');
  if (path === '/v1/messages/count_tokens') return json(response, 200, { input_tokens: tokensIn(text) });
  const wire = WIRES.get(path);
  if (!wire || request.method !== 'POST') return json(response, 404, failure('There is no such path.'));
  const asked = wire.ask(body);
  requests.push({ path, model, results: asked.results, headers: request.headers, body: text });
  const script = Object.hasOwn(options.scripts, model) ? options.scripts[model] : undefined;
  if (!script) return json(response, 404, failure(`There is no model ${model}.`));
  const turn = choose(script, asked);
  if (turn.kind === 'hang') return;
  await speak(response, wire, speech(model, turn, text), body, options.paceMs ?? 0);
}

function choose(script: Script, asked: Asked): Turn {
  if (!asked.structured || script.structured === undefined) return turnAt(script, asked.results);
  return asked.structured.kind === 'tool'
    ? { kind: 'call', text: '', tool: asked.structured.name, input: object(script.structured) }
    : { kind: 'text', text: JSON.stringify(script.structured) };
}

function speech(model: string, turn: Spoken, request: string): Speech {
  const written = turn.kind === 'call' ? turn.text + JSON.stringify(turn.input) : turn.text;
  return {
    // From the whole request, so that no two turns of a conversation share an id.
    id: createHash('sha256').update(request).digest('hex').slice(0, 16),
    model,
    turn,
    inputTokens: tokensIn(request),
    outputTokens: tokensIn(written),
  };
}

async function speak(
  response: ServerResponse,
  wire: Wire,
  said: Speech,
  body: Json,
  paceMs: number,
): Promise<void> {
  if (body.stream !== true) return json(response, 200, wire.whole(said, body));
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const part of wire.stream(said, body)) {
    if (response.destroyed) return;
    response.write(part);
    if (paceMs > 0) await sleep(paceMs);
  }
  response.end();
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

const failure = (message: string) => ({ type: 'error', error: { type: 'not_found_error', message } });

function json(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
