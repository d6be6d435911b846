import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { anthropic } from './anthropic.ts';
import { gemini } from './gemini.ts';
import { openAiChat, openAiResponses } from './openai.ts';
import {
  argumentsText,
  asObject,
  callFor,
  type Json,
  type ModelRequest,
  type Script,
  type Scripts,
  type Speech,
  type Spoken,
  type TokenCounts,
  type Turn,
  turnAt,
  type Wire,
} from './script.ts';

export type { Action, Script, Scripts, TokenCounts, Turn } from './script.ts';

/** What the server saw of one request: enough to check which key arrived. */
export interface SeenRequest {
  readonly path: string;
  readonly model: string;
  /** Tool results that the request held. */
  readonly results: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
  /** What the answer reported; null before it has been sent as a whole, and when it reports nothing. */
  readonly usage: TokenCounts | null;
  /** The other side closed the connection before the answer was sent as a whole. */
  readonly left: boolean;
}

export interface ScriptedModels {
  /** `http://127.0.0.1:PORT`, to be used as the base URL of every vendor; OpenAI's with `/v1`. */
  readonly url: string;
  /** All requests so far that asked a model to speak, oldest first. */
  readonly requests: readonly SeenRequest[];
  close(): Promise<void>;
}

interface ScriptedModelsOptions {
  readonly scripts: Scripts;
  /** Milliseconds between two events of a stream; default 0. */
  readonly paceMs?: number;
}

type Noted = { -readonly [K in keyof SeenRequest]: SeenRequest[K] };
type Generate = Extract<Route, { kind: 'generate' }>;

/** About what real tokenizers make of code and English. */
const BYTES_PER_TOKEN = 4;
const estimatedTokens = (text: string) => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);

/** Starts a model server on a free port of the loopback interface. */
export async function startScriptedModels(options: ScriptedModelsOptions): Promise<ScriptedModels> {
  const requests: Noted[] = [];
  const server = createServer((request, response) => {
    handleRequest(options, requests, request, response).catch(() => response.destroy());
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

async function handleRequest(
  options: ScriptedModelsOptions,
  requests: Noted[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { url = '', method = '', headers } = request;
  const path = url.split('?', 1)[0] ?? '';
  const text = await readRequest(request);
  const body = asObject(text ? JSON.parse(text) : {});
  const route = routeOf(method, path, body);
  switch (route.kind) {
    case 'models':
      return sendJson(response, 200, modelList(Object.keys(options.scripts)));
    case 'count':
      return sendJson(response, 200, { [route.field]: estimatedTokens(text) });
    case 'unknown':
      return sendJson(response, 404, {
        error: { type: 'not_found_error', message: 'There is no such path.' },
      });
    case 'generate': {
      const { model, wire } = route;
      const asked = wire.ask(body);
      const { results } = asked;
      const noted = { path, model, results, headers, body: text, usage: null, left: false };
      requests.push(noted);
      await generate(options, { route, asked, body, text, noted }, response);
    }
  }
}

interface Exchange {
  readonly route: Generate;
  readonly asked: ModelRequest;
  readonly body: Json;
  readonly text: string;
  readonly noted: Noted;
}

async function generate(
  { scripts, paceMs = 0 }: ScriptedModelsOptions,
  exchange: Exchange,
  response: ServerResponse,
): Promise<void> {
  const { route, asked, noted } = exchange;
  const { model, wire } = route;
  response.on('close', () => {
    noted.left = !response.writableFinished;
  });
  const refuse = (status: number, message: string) =>
    sendJson(response, status, wire.failure(status, message));
  const script = Object.hasOwn(scripts, model) ? scripts[model] : undefined;
  if (!script) return refuse(404, `There is no model ${model}.`);
  const turn = turnFor(script, asked, exchange.text);
  if (turn.kind === 'status') return refuse(turn.status, `The script answers with ${turn.status}.`);
  if (turn.kind === 'hang' || turn.kind === 'cut') {
    if (turn.text && route.stream) {
      const events = wire.stream(speech(exchange, script, { text: turn.text }), exchange.body);
      await sendEvents(response, events.slice(0, Math.ceil(events.length / 2)), paceMs);
    }
    // What was written arrives before the end of the connection.
    if (turn.kind === 'cut') response.socket?.destroySoon();
    return;
  }
  const speaking = speech(exchange, script, saying(turn, asked));
  if (await speak(response, exchange, speaking, paceMs))
    noted.usage = wire.reported(speaking.usage, exchange.body);
}

/** Structured answers are no turn of a conversation. */
function turnFor(script: Script, asked: ModelRequest, request: string): Turn {
  const fitting = script.answers?.find(({ holds }) =>
    typeof holds === 'string' ? request.includes(holds) : holds.test(request),
  );
  const answer = fitting ? fitting.structured : script.structured;
  if (!asked.structured || answer === undefined) return turnAt(script, asked.results, request);
  return asked.structured.kind === 'tool'
    ? { kind: 'call', text: '', tool: asked.structured.name, input: asObject(answer) }
    : { kind: 'text', text: JSON.stringify(answer) };
}

function saying(turn: Exclude<Turn, { kind: 'hang' | 'cut' | 'status' }>, asked: ModelRequest): Spoken {
  switch (turn.kind) {
    case 'text':
      return { text: turn.text };
    case 'call':
      return { text: turn.text, call: { tool: turn.tool, input: turn.input } };
    case 'do': {
      if (asked.tools.length === 0) {
        return { text: asked.structured ? JSON.stringify({ title: 'As scripted' }) : 'As scripted' };
      }
      const call = callFor(turn.action, asked.tools);
      const names = asked.tools.map(({ name }) => name).join(', ');
      return call ? { text: turn.text, call } : { text: `No tool here can ${turn.action.do}: ${names}.` };
    }
  }
}

function speech({ route, asked, text }: Exchange, { usage }: Script, answer: Spoken): Speech {
  return {
    // From the whole request, so that no two turns of a conversation share an id.
    id: createHash('sha256').update(text).digest('hex').slice(0, 16),
    model: route.model,
    answer,
    usage: usage?.[asked.results] ??
      usage?.at(-1) ?? {
        tokensIn: estimatedTokens(text),
        tokensCached: 0,
        tokensWritten: 0,
        tokensOut: estimatedTokens(answer.text + (answer.call ? argumentsText(answer.call) : '')),
        tokensReasoning: 0,
      },
  };
}

/** False when the other side left before the end. */
async function speak(
  response: ServerResponse,
  { route, body }: Exchange,
  message: Speech,
  paceMs: number,
): Promise<boolean> {
  if (!route.stream) {
    sendJson(response, 200, route.wire.whole(message, body));
    return true;
  }
  if (!(await sendEvents(response, route.wire.stream(message, body), paceMs))) return false;
  response.end();
  return true;
}

/** False when the other side left before the end. */
async function sendEvents(
  response: ServerResponse,
  events: readonly string[],
  paceMs: number,
): Promise<boolean> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const [index, part] of events.entries()) {
    if (index > 0 && paceMs > 0) await sleep(paceMs);
    if (response.destroyed) return false;
    response.write(part);
  }
  return true;
}

async function readRequest(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

/** What a request is for. */
type Route =
  | {
      readonly kind: 'generate';
      readonly wire: Wire;
      readonly model: string;
      readonly stream: boolean;
    }
  | { readonly kind: 'count'; readonly field: 'input_tokens' | 'totalTokens' }
  | { readonly kind: 'models' }
  | { readonly kind: 'unknown' };

const WIRES: ReadonlyMap<string, Wire> = new Map([
  ['/v1/messages', anthropic],
  ['/v1/chat/completions', openAiChat],
  ['/v1/responses', openAiResponses],
]);

const GEMINI_ROUTE = /^\/v1beta\/models\/([^/:]+):(generateContent|streamGenerateContent|countTokens)$/;

function routeOf(method: string, path: string, body: Json): Route {
  if (method === 'GET') {
    return { kind: path === '/v1/models' || path === '/v1beta/models' ? 'models' : 'unknown' };
  }
  if (method !== 'POST') return { kind: 'unknown' };
  if (path === '/v1/messages/count_tokens') return { kind: 'count', field: 'input_tokens' };
  const [, model = '', verb] = GEMINI_ROUTE.exec(path) ?? [];
  if (verb === 'countTokens') return { kind: 'count', field: 'totalTokens' };
  if (verb) return { kind: 'generate', wire: gemini, model, stream: verb === 'streamGenerateContent' };
  const wire = WIRES.get(path);
  return wire
    ? { kind: 'generate', wire, model: String(body.model ?? ''), stream: body.stream === true }
    : { kind: 'unknown' };
}

/** Both shapes of a list of models in one: OpenAI's and Anthropic's `data`, Gemini's `models`. */
const modelList = (names: readonly string[]): Json => ({
  object: 'list',
  data: names.map((id) => ({
    id,
    object: 'model',
    type: 'model',
    display_name: id,
    created: 0,
    created_at: '2026-01-01T00:00:00Z',
    owned_by: 'scripted',
  })),
  has_more: false,
  first_id: names[0] ?? null,
  last_id: names.at(-1) ?? null,
  models: names.map((name) => ({
    name: `models/${name}`,
    displayName: name,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
  })),
});
