import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { Lease } from '../../src/ports/index.ts';
import { RECORDED, type RecordedBody } from '../adapters/gateway/recorded/index.ts';
import {
  ask,
  json,
  message,
  openRig,
  PROMPT,
  type Provider,
  type Reply,
  type Rig,
  startProvider,
} from '../adapters/gateway/rig.ts';

let provider: Provider;
afterEach(() => provider.close());

const CHAT = '/v1/chat/completions';
const RESPONSES = '/v1/responses';
const MARK = 'MARK-7f3a';
const URL_OUT = `https://attacker.example/?${MARK}`;
const honest = () => startProvider((_, response) => json(response, 200, message(1, 1)));
const sent = () => JSON.parse(provider.seen.at(-1)?.body ?? '{}');
const rich = { capUsd: 1e6, runCapUsd: 1e6, ttlMs: 1e9 };
const openRich = () => openRig(provider.url, { dayCaps: { repositoryUsd: 1e6, everythingUsd: 1e6 } });

/** Free JSON by the protocols: what stands below is data of a tool. */
const FREE = new Set([
  'input_schema',
  'parameters',
  'parametersJsonSchema',
  'args',
  'arguments',
  'response',
  'input',
]);

type Place = readonly (string | number)[];

/** Every object and array of a body but the free ones. */
function places(value: unknown, at: Place = []): readonly Place[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value).flatMap(([key, item]) => {
    const free = FREE.has(key) && !(key === 'input' && at.length === 0);
    return free ? [] : places(item, [...at, Array.isArray(value) ? Number(key) : key]);
  });
  return [at, ...inner];
}

const lookUp = (body: unknown, place: Place): unknown =>
  place.reduce((value, key) => (value as Record<string | number, unknown>)[key], body);

/** On no list, at no place. */
const HOSTILE = [
  'enable_search',
  'search_domain_filter',
  'compound_custom',
  'connectors',
  'web_search_options',
  'mcp_servers',
  'previous_response_id',
  'conversation',
  'prompt',
  'prediction',
  'file_id',
  'file_url',
  'file_uri',
  'fileUri',
  'server_url',
  'service_tier',
  'serviceTier',
  'cached_content',
  'cachedContent',
  'background',
  'deferred',
  'models',
  'fallbacks',
  'extra_body',
  'constructor',
  'toString',
  'x-new-field',
  '',
] as const;

/** JSON texts of values that are odd to somebody; written as they stand, as a serialiser would not. */
const ODD = [
  'null',
  'true',
  '-0',
  '-1',
  '0.9',
  '1e999',
  '-1e999',
  '123456789012345678901234567890',
  '"\\ud800"',
  '"100000"',
  '[]',
  '{}',
  '[100000]',
  '{"__proto__":{"store":true}}',
  '{"type":"__proto__"}',
  '{"type":"constructor"}',
  '{"type":"item_reference","id":"x"}',
  `{"type":"image_url","image_url":{"url":"${URL_OUT}"}}`,
  `"${URL_OUT}"`,
  '[[[[]]]]',
  '['.repeat(90) + ']'.repeat(90),
  '['.repeat(5000) + ']'.repeat(5000),
  `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`,
] as const;

const recorded = fc.constantFrom(...RECORDED);
/** A recorded body, and one of its places. */
const somewhere = recorded.chain((one) =>
  fc.constantFrom(...places(one.body)).map((place) => ({ one, place })),
);

/** A refusal, or an answer; never a fault of ours. */
function expectSettled(reply: Reply, rig: Rig): void {
  expect([200, 400, 403, 413]).toContain(reply.status);
  if (reply.status !== 200) {
    const { message: sentence } = JSON.parse(reply.text).error;
    expect(sentence).toMatch(/^[A-Za-z].{10,}\.$/);
    expect(sentence).not.toContain(MARK);
  }
  expect(rig.log.lines.filter((line) => line.includes('inside the gateway'))).toEqual([]);
}

const LIMITS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'maxOutputTokens'];

/** The limit that went up is the one that is booked, and stands there once. */
function expectBookedLimit(rig: Rig): void {
  const body = sent();
  const all = [body, body.generationConfig ?? {}].flatMap((holder) =>
    LIMITS.filter((name) => name in holder).map((name) => holder[name]),
  );
  expect(all).toEqual([rig.ledger.booked.at(-1)?.tokensOut]);
}

const post = (lease: Lease, one: RecordedBody, body: unknown) => ask(lease, { path: one.path, body });

describe('bodies of real agents', () => {
  test.each(RECORDED.map((one, index) => [`${one.agent} (${one.protocol}, ${index})`, one] as const))(
    'pass with their content: %s',
    async (_, one) => {
      provider = await honest();
      await using rig = await openRich();
      expect((await post(await rig.open(rich), one, one.body)).status).toBe(200);
      expectBookedLimit(rig);
      // Left out, or written by us: who the client is, what is stored, how much may be written and thought.
      const { store, client_metadata, max_tokens, max_completion_tokens, max_output_tokens, ...rest } =
        one.body;
      const { generationConfig, thinking, ...said } = rest;
      expect(sent()).toMatchObject(said);
      expect(sent().thinking?.type).toBe((thinking as { type?: string } | undefined)?.type);
      expect(rig.log.lines).toEqual([]);
    },
  );

  test('pass nothing that is on no list, at any position', async () => {
    provider = await honest();
    await using rig = await openRich();
    const lease = await rig.open(rich);
    const marked = fc.constantFrom<unknown>(MARK, { id: MARK }, [MARK], URL_OUT);
    await fc.assert(
      fc.asyncProperty(somewhere, fc.constantFrom(...HOSTILE), marked, async ({ one, place }, key, value) => {
        const body = structuredClone(one.body);
        const target = lookUp(body, place);
        if (Array.isArray(target)) target.push({ type: 'new_kind', [key]: value });
        else Object.assign(target as object, { [key]: value });
        const before = provider.seen.length;
        const reply = await post(lease, one, body);
        expectSettled(reply, rig);
        expect(provider.seen.length - before).toBe(reply.status === 200 ? 1 : 0);
        if (reply.status !== 200) return;
        expect(provider.seen.at(-1)?.body).not.toContain(MARK);
        expectBookedLimit(rig);
      }),
      { numRuns: 400 },
    );
  });

  test('lead to an answer or a clear error for any value', async () => {
    provider = await honest();
    await using rig = await openRich();
    const lease = await rig.open(rich);
    await fc.assert(
      fc.asyncProperty(
        somewhere,
        fc.nat(),
        fc.oneof(fc.constantFrom(...ODD), fc.json()),
        async ({ one, place }, pick, odd) => {
          const body = structuredClone(one.body);
          const target = lookUp(body, place) as Record<string, unknown>;
          // In the arguments of a tool anything may stand.
          const keys = Object.keys(target).filter((key) => !FREE.has(key) || place.length === 0);
          target[keys[pick % Math.max(1, keys.length)] ?? 'max_tokens'] = '@odd@';
          const before = provider.seen.length;
          const reply = await ask(lease, {
            path: one.path,
            raw: JSON.stringify(body).replaceAll('"@odd@"', () => odd),
          });
          expectSettled(reply, rig);
          if (provider.seen.length === before) return;
          expect(provider.seen.at(-1)?.body).not.toMatch(/item_reference|\\ud800|(?:url|data)":"https:/);
          if (reply.status === 200) expectBookedLimit(rig);
        },
      ),
      { numRuns: 400 },
    );
  });

  test('are sent as they were checked, with a duplicate field or one named __proto__', async () => {
    provider = await honest();
    await using rig = await openRich();
    const lease = await rig.open(rich);
    const call = (raw: string, path = CHAT) => ask(lease, { path, raw });
    const twice = '{"model":"m","messages":[],"max_tokens":1000000,"max_tokens":7}';
    expect((await call(twice)).status).toBe(200);
    expect(provider.seen.at(-1)?.body.match(/max_tokens/g)).toHaveLength(1);
    expect(sent().max_tokens).toBe(7);
    expect((await call('{"model":"m","messages":[],"__proto__":{"store":true,"n":9}}')).status).toBe(200);
    expect(provider.seen.at(-1)?.body).not.toMatch(/__proto__|store|"n"/);
    const input = '{"__proto__":{"a":1},"constructor":{"prototype":1}}';
    const use = `{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"x","input":${input}}]}`;
    expect((await call(`{"model":"m","max_tokens":9,"messages":[${use}]}`, '/v1/messages')).status).toBe(200);
    // The argument of a tool is data, and stays as it is.
    expect(provider.seen.at(-1)?.body).toContain(input);
    expect(({} as { a?: number }).a).toBeUndefined();
  });
});

describe('a candidate that requests the provider’s network or storage', () => {
  const user = (...content: unknown[]) => [{ role: 'user', content }];
  test.each<[string, string, object]>([
    ['a search of Qwen’s', CHAT, { enable_search: true }],
    ['a search of Perplexity’s', CHAT, { search_domain_filter: ['attacker.example'] }],
    ['a search of Groq’s', CHAT, { compound_custom: { tools: {} } }],
    ['connectors of Cohere’s', CHAT, { connectors: [{ id: 'web-search' }] }],
    ['an item by reference', RESPONSES, { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ['what the provider searched before', RESPONSES, { input: [{ type: 'web_search_call', id: 'ws_1' }] }],
    ['an image by its id', RESPONSES, { input: user({ type: 'input_image', file_id: 'file_1' }) }],
    [
      'an image by address in a tool’s output',
      RESPONSES,
      {
        input: [
          {
            type: 'function_call_output',
            call_id: 'c',
            output: [{ type: 'input_image', image_url: URL_OUT }],
          },
        ],
      },
    ],
    [
      'an image by address of upper case',
      CHAT,
      { messages: user({ type: 'image_url', image_url: 'HTTPS://x' }) },
    ],
    [
      'an image by address without a scheme',
      CHAT,
      { messages: user({ type: 'image_url', image_url: '//x.example' }) },
    ],
    ['a file by its id in a chat', CHAT, { messages: user({ type: 'file', file: { file_id: 'file_1' } }) }],
    ['an earlier spoken answer', CHAT, { messages: [{ role: 'assistant', audio: { id: 'audio_1' } }] }],
    ['a part of a new kind', CHAT, { messages: user({ type: 'web_page', page: URL_OUT }) }],
    ['a container', '/v1/messages', { container: { skills: [{ skill_id: 'pptx' }] } }],
    [
      'an upload for a container',
      '/v1/messages',
      { messages: user({ type: 'container_upload', file_id: 'f' }) },
    ],
    [
      'a tool that the provider ran',
      '/v1/messages',
      { messages: user({ type: 'server_tool_use', name: 'web_search' }) },
    ],
    [
      'a tool of the provider, added later',
      '/v1/messages',
      {
        messages: [
          {
            role: 'system',
            content: [
              {
                type: 'tool_addition',
                tool: { type: 'tool_definition', definition: { type: 'web_search_20250305', name: 'w' } },
              },
            ],
          },
        ],
      },
    ],
    [
      'code that Google ran',
      '/v1beta/models/m:generateContent',
      { contents: [{ parts: [{ executableCode: {} }] }] },
    ],
  ])('is refused %s', async (_, path, body) => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    const reply = await ask(lease, { path, body: { ...PROMPT, ...body } });
    expectSettled(reply, rig);
    expect(reply.status).toBe(403);
    expect(provider.seen).toEqual([]);
  });

  test.each<[string, string, object, object]>([
    ['a stored answer', RESPONSES, { store: true }, { store: false }],
    ['a stored answer that is not asked for', RESPONSES, {}, { store: false }],
    [
      'a stored answer in a chat',
      CHAT,
      { store: true, metadata: { a: 'b' } },
      { store: undefined, metadata: undefined },
    ],
    ['sources of a search', RESPONSES, { include: ['web_search_call.action.sources'] }, { include: [] }],
    ['dearer service', RESPONSES, { service_tier: 'priority' }, { service_tier: undefined }],
    ['predicted output', CHAT, { prediction: { type: 'content', content: 'x' } }, { prediction: undefined }],
    [
      'speech',
      CHAT,
      { modalities: ['audio'], audio: { voice: 'x' } },
      { modalities: undefined, audio: undefined },
    ],
    [
      'a summary on the way',
      '/v1/messages',
      { context_management: { edits: [{ type: 'compact_20260112' }] } },
      { context_management: { edits: [] } },
    ],
    [
      'callers of its tools elsewhere',
      '/v1/messages',
      { tools: [{ name: 'x', allowed_callers: ['code_execution_20250825', 'direct'] }] },
      { tools: [{ name: 'x', allowed_callers: ['direct'] }] },
    ],
    [
      'thoughts by their id',
      RESPONSES,
      { input: [{ type: 'reasoning', id: 'rs_1', summary: [] }] },
      { input: [{ type: 'reasoning', summary: [] }] },
    ],
    [
      'a search for tools there',
      RESPONSES,
      { tools: [{ type: 'tool_search' }, { type: 'tool_search', execution: 'client' }] },
      { tools: [{ type: 'tool_search', execution: 'client' }] },
    ],
  ])('is answered without %s', async (_, path, body, passed) => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    expect((await ask(await rig.open(), { path, body: { ...PROMPT, ...body } })).status).toBe(200);
    const found = sent();
    for (const [name, value] of Object.entries(passed)) expect(found[name]).toEqual(value);
  });
});

describe('a body that is not plain JSON', () => {
  test.each<[string, string | Buffer, number]>([
    ['nested lists', `{"model":"m","messages":${'['.repeat(5000)}${']'.repeat(5000)}}`, 400],
    ['nested objects', `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`, 400],
    ['lists that nobody closes', '['.repeat(1_000_000), 400],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), 400],
    ['UTF-16', Buffer.from(JSON.stringify(PROMPT), 'utf16le'), 400],
    ['a byte order mark', `\ufeff${JSON.stringify(PROMPT)}`, 400],
    ['nothing', '', 400],
  ])('is refused: %s', async (_, raw, status) => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    const reply = await ask(lease, { raw });
    expectSettled(reply, rig);
    expect(reply.status).toBe(status);
    expect(provider.seen).toEqual([]);
    expect((await ask(lease)).status).toBe(200);
  });

  test.each([
    ['content-encoding', 'gzip'],
    ['content-encoding', 'br, identity'],
    ['content-type', 'application/json; charset=utf-16'],
    ['content-type', 'application/json; charset="latin1"'],
  ])('is rejected for its %s %s, whatever its real form', async (name, value) => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const reply = await ask(await rig.open(), { headers: { [name]: value } });
    expect(reply.status).toBe(415);
    expect(JSON.parse(reply.text).error.message).toMatch(/Send it uncompressed/);
    expect(provider.seen).toEqual([]);
  });

  test('is accepted with the depth of tool schemas and a stated encoding', async () => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const schema = JSON.parse(`${'{"properties":'.repeat(90)}{}${'}'.repeat(90)}`);
    const reply = await ask(await rig.open(), {
      headers: { 'content-type': 'application/json; charset=UTF-8' },
      body: { ...PROMPT, tools: [{ name: 'x', input_schema: schema }] },
    });
    expect(reply.status).toBe(200);
    expect(sent().tools[0].input_schema).toEqual(schema);
  });
});

describe('a flood of rejected calls', () => {
  test('is one log line and a count per kind and minute, and all are in the metrics', async () => {
    provider = await honest();
    const counted = new Map<string, number>();
    const onRefusal = (kind: string) => counted.set(kind, (counted.get(kind) ?? 0) + 1);
    await using rig = await openRig(provider.url, { onRefusal });
    const lease = await rig.open({ ttlMs: 600_000 });
    const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
    for (let call = 0; call < 40; call += 1) {
      await ask(lease, { raw: deep });
      await ask(lease, { body: { ...PROMPT, model: `other-${call}` } });
      await ask(lease, {
        body: { ...PROMPT, messages: [{ role: 'user', content: [{ type: `t${call}` }] }] },
      });
    }
    expect(rig.log.lines).toHaveLength(3);
    rig.clock.advance(60_000);
    await ask(lease, { raw: deep });
    expect(rig.log.lines.slice(3).map((line) => JSON.parse(line))).toMatchObject([
      { kind: 'json', more: 39 },
      { kind: 'json', status: 400 },
    ]);
    await lease.close();
    const last = rig.log.lines.slice(5).map((line) => JSON.parse(line));
    expect(last).toMatchObject([
      { kind: 'model', more: 39 },
      { kind: 'content', more: 39 },
    ]);
    expect(Object.fromEntries(counted)).toEqual({ json: 41, model: 40, content: 40 });
  });

  test('with unknown fields logs few names, and only plain ones', async () => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    const names = Array.from({ length: 200 }, (_, index) => `new_field_${index}`);
    for (const name of [...names, 'a\nb', '<script>', 'x'.repeat(500)])
      expect((await ask(lease, { body: { ...PROMPT, [name]: 1, new_field_0: 1 } })).status).toBe(200);
    expect(rig.log.lines).toHaveLength(20);
    expect(rig.log.lines.join()).not.toMatch(/script|xxx|\\n/);
  });
});
