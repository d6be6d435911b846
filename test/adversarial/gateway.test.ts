import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import {
  ANTHROPIC_KEY,
  ask,
  json,
  message,
  openRig,
  PROMPT,
  type Provider,
  startProvider,
} from '../adapters/gateway/rig.ts';

let provider: Provider;
afterEach(() => provider.close());

const honest = () => startProvider((_, response) => json(response, 200, message(1, 1)));
const CHAT = '/v1/chat/completions';
const RESPONSES = '/v1/responses';

describe('a candidate with a key that is not its own', () => {
  test.each([
    ['none', null, {}],
    ['an invented one', `gw-${'A'.repeat(43)}`, {}],
    ['an empty one', '', {}],
    ['a very long one', 'x'.repeat(10_000), {}],
    ['a guess at the real one', ANTHROPIC_KEY, {}],
    ['an authorisation of another kind', null, { authorization: 'Basic Z3c6Z3c=' }],
  ])('is refused with %s', async (_, key, headers) => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const reply = await ask(await rig.open(), { key, headers });
    expect(reply.status).toBe(403);
    expect(provider.seen).toEqual([]);
  });

  test('is refused with the key of another candidate, also on the list of models', async () => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const [own, other] = [await rig.open(), await rig.open({ spender: 'B' })];
    expect((await ask(own, { key: other.key })).status).toBe(403);
    expect((await ask(own, { key: other.key, method: 'GET', path: '/v1/models' })).status).toBe(403);
  });

  test('is refused when its own has expired', async () => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ ttlMs: 1000 });
    rig.clock.advance(999);
    expect((await ask(lease)).status).toBe(200);
    rig.clock.advance(1);
    expect((await ask(lease)).status).toBe(403);
    expect(lease.refusal()).toContain('expired');
  });
});

describe('a candidate that looks for another route', () => {
  test.each([
    ['POST', '/v1/files'],
    ['POST', '/v1/messages/batches'],
    ['POST', '/v1/embeddings'],
    ['GET', '/v1/organizations/me'],
    ['GET', '/v1/messages'],
    ['DELETE', '/v1/models'],
    ['PUT', '/v1/messages'],
    ['POST', '/v1/messages/'],
    ['POST', '//v1/messages'],
    ['POST', '/v1//messages'],
    ['POST', '/v1/../v1/messages'],
    ['POST', '/v1/messages/../files'],
    ['POST', '/v1/%6dessages'],
    ['POST', '/V1/messages'],
    ['POST', '/v1/messages;x'],
    ['POST', '/v1/messages%3Fx'],
    ['POST', 'http://169.254.169.254/v1/messages'],
    ['POST', 'https://api.openai.com/v1/chat/completions'],
    ['GET', '/'],
    ['HEAD', '/'],
    ['HEAD', '/v1/models'],
    ['OPTIONS', '*'],
    ['POST', '/v1/responses/compact'],
    ['GET', '/v1/responses'],
    ['POST', '/v1beta/models/m:batchGenerateContent'],
    ['POST', '/v1beta/models/m:predict'],
    ['POST', '/v1beta/models/../models/m:generateContent'],
    ['POST', '/v1beta/models/%6d:generateContent'],
    ['POST', '/v1beta/models/x%2fm:generateContent'],
    ['POST', '/v1beta/models/m%3AgenerateContent'],
    ['POST', '/v1beta/models/m:generateContent/'],
    ['POST', '/v1beta/models/.m:generateContent'],
    ['POST', '/v1beta/tunedModels/m:generateContent'],
    ['POST', '/v1alpha/models/m:generateContent'],
    ['POST', '/upload/v1beta/files'],
    ['POST', '/v1beta/cachedContents'],
    ['GET', '/v1beta/models/m'],
  ])('finds nothing at %s %s', async (method, path) => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    expect((await ask(await rig.open(), { method, path })).status).toBe(404);
    expect(provider.seen).toEqual([]);
  });

  test('has no tunnel, upgrade, pipelined second request or raw bytes', async () => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    const attacks = [
      'CONNECT api.anthropic.com:443 HTTP/1.1\r\nHost: x\r\n\r\n',
      'GET /v1/realtime HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
      'POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nPOST /v1/files HTTP/1.1\r\n\r\n',
      'POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 20\r\n\r\n{}',
      'POST /v1/messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n',
      'POST /v1/messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n',
      'POST /v1/messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n',
      'POST /v1/messages HTTP/1.1\r\nHost: x\nX-Api-Key: y\r\nContent-Length: 0\r\n\r\n',
      'GET /v1/responses HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n',
      '\x16\x03\x01\x02\x00\x01\x00',
    ];
    for (const attack of attacks) expect(await raw(lease.socket, attack)).not.toMatch(/^HTTP\/1\.1 (1|2)/);
    expect(provider.seen).toEqual([]);
    // The gate still stands open for its owner.
    expect((await ask(lease)).status).toBe(200);
  });

  test('gets no other model, however it is written', async () => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ models: ['anthropic/m'] });
    const names = [
      'x',
      'M',
      'm ',
      'anthropic/m',
      '../m',
      '',
      null,
      ['m'],
      { toString: 'm' },
      '__proto__',
      'm\0',
    ];
    for (const model of names) {
      expect((await ask(lease, { body: { ...PROMPT, model } })).status).toBe(403);
    }
    // The same name at another provider is another model.
    expect((await ask(lease, { path: CHAT })).status).toBe(403);
    expect((await ask(lease, { raw: '{"model":"m","model":"x","messages":[]}' })).status).toBe(403);
    expect(provider.seen).toEqual([]);
    expect((await ask(lease, { raw: '{"model":"x","model":"m","messages":[]}' })).status).toBe(200);
    expect(JSON.parse(provider.seen[0]?.body ?? '').model).toBe('m');
    expect(provider.seen[0]?.body).not.toContain('"x"');
  });

  test('sees only its own models on the list', async () => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const reply = await ask(await rig.open({ models: ['anthropic/m'] }), {
      method: 'GET',
      path: '/v1/models',
    });
    expect(JSON.parse(reply.text).data).toMatchObject([{ id: 'm' }]);
    expect(provider.seen).toEqual([]);
  });

  test.each([
    ['no JSON', 'model=m', 400],
    ['a list', '[]', 400],
    ['a packed body', gzipSync(JSON.stringify(PROMPT)), 400],
    ['17 MiB', Buffer.alloc(17 * 2 ** 20, 0x20), 413],
  ])('is refused with a body of %s', async (_, body, status) => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    const reply = await ask(lease, { raw: body }).catch(() => null);
    // The connection may be cut while a body that is too large is still being sent.
    if (reply) expect(reply.status).toBe(status);
    expect(provider.seen).toEqual([]);
    expect((await ask(lease)).status).toBe(200);
  });
});

describe('a candidate that requests the provider’s network or storage', () => {
  const image = (source: object) => [{ role: 'user', content: [{ type: 'image', source }] }];
  const chatImage = (url: string) => [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
  const URL_OUT = 'https://attacker.example/?leak=1';
  test.each<[string, string, object]>([
    ['a remote MCP server', '/v1/messages', { mcp_servers: [{ type: 'url', url: URL_OUT, name: 'x' }] }],
    ['an image by address', '/v1/messages', { messages: image({ type: 'url', url: URL_OUT }) }],
    ['a stored file', '/v1/messages', { messages: image({ type: 'file', file_id: 'file_1' }) }],
    [
      'an image by address in a tool result',
      '/v1/messages',
      {
        messages: [
          {
            role: 'user',
            content: [{ type: 'tool_result', content: [{ source: { type: 'url', url: URL_OUT } }] }],
          },
        ],
      },
    ],
    [
      'an image by address in a document that is made of parts',
      '/v1/messages',
      {
        messages: [
          {
            role: 'user',
            content: [
              {
                type: 'document',
                source: {
                  type: 'content',
                  content: [{ type: 'image', source: { type: 'url', url: URL_OUT } }],
                },
              },
            ],
          },
        ],
      },
    ],
    ['web search in a chat', CHAT, { web_search_options: {} }],
    ['a search of xAI’s', CHAT, { search_parameters: { mode: 'on' } }],
    ['other models of a router', CHAT, { models: ['dear/model'] }],
    ['an answer that stays there', CHAT, { deferred: true }],
    ...['document_url', 'video_url', 'input_audio'].map((type): [string, string, object] => [
      `${type} in a chat`,
      CHAT,
      { messages: [{ role: 'user', content: [{ type, [type]: URL_OUT }] }] },
    ]),
    [
      'a file whose data is an address',
      CHAT,
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_data: URL_OUT } }] }] },
    ],
    [
      'a screenshot by address',
      RESPONSES,
      {
        input: [
          { type: 'computer_call_output', output: { type: 'computer_screenshot', image_url: URL_OUT } },
        ],
      },
    ],
    ['an image by address in a chat', CHAT, { messages: chatImage(URL_OUT) }],
    ['a file by address', RESPONSES, { input: [{ content: [{ type: 'input_file', file_url: URL_OUT }] }] }],
    [
      'an image by address in a response',
      RESPONSES,
      { input: [{ content: [{ type: 'input_image', image_url: URL_OUT }] }] },
    ],
    ['somebody’s earlier response', RESPONSES, { previous_response_id: 'resp_1' }],
    ['a stored prompt', RESPONSES, { prompt: { id: 'pmpt_1' } }],
    ['work in the background', RESPONSES, { background: true }],
  ])('is refused %s', async (_, path, body) => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    expect((await ask(lease, { path, body: { ...PROMPT, ...body } })).status).toBe(403);
    expect(provider.seen).toEqual([]);
  });

  const own = { type: 'function', name: 'bash' };
  const claude = { name: 'bash', input_schema: {} };
  test.each<[string, string, object, object]>([
    [
      'web search',
      '/v1/messages',
      { tools: [claude, { type: 'web_search_20250305', name: 'web_search' }] },
      { tools: [claude] },
    ],
    [
      'web search alone, and the choice of it',
      '/v1/messages',
      {
        tools: [{ type: 'web_search_20250305', name: 'web_search' }],
        tool_choice: { type: 'tool', name: 'web_search' },
      },
      {},
    ],
    ['web fetch', '/v1/messages', { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] }, {}],
    ['code run there', '/v1/messages', { tools: [{ type: 'code_execution_20250825', name: 'x' }] }, {}],
    ['a set of tools from a server', '/v1/messages', { tools: [{ type: 'mcp_toolset' }] }, {}],
    ['what is no list', '/v1/messages', { tools: { type: 'web_search_20250305' } }, {}],
    [
      'a remote MCP server',
      RESPONSES,
      { tools: [own, { type: 'mcp', server_url: URL_OUT }] },
      { tools: [own] },
    ],
    [
      'a hosted tool that is chosen',
      RESPONSES,
      { tools: [own, { type: 'web_search' }], tool_choice: { type: 'web_search' } },
      { tools: [own] },
    ],
    [
      'a hosted tool in an item',
      RESPONSES,
      { input: [{ type: 'additional_tools', tools: [{ type: 'web_search' }, own] }] },
      { input: [{ type: 'additional_tools', tools: [own] }] },
    ],
    [
      'a hosted tool in a namespace in a namespace',
      RESPONSES,
      {
        tools: [
          {
            type: 'namespace',
            name: 'x',
            tools: [{ type: 'namespace', name: 'y', tools: [{ type: 'web_search' }] }],
          },
        ],
      },
      { tools: [{ type: 'namespace', name: 'x', tools: [{ type: 'namespace', name: 'y', tools: [] }] }] },
    ],
    [
      'a shell in a container',
      RESPONSES,
      { tools: [own, { type: 'shell', environment: { type: 'container_auto' } }] },
      { tools: [own] },
    ],
  ])('is answered without %s', async (_, path, body, passed) => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    expect((await ask(lease, { path, body: { model: 'm', max_tokens: 9, ...body } })).status).toBe(200);
    const { model, max_tokens, max_output_tokens, store, ...sent } = JSON.parse(provider.seen[0]?.body ?? '');
    expect(sent).toEqual(passed);
    expect(provider.seen[0]?.body).not.toMatch(/web_search|container_auto|server_url/);
  });

  test('keeps what agents use: own tools, images in the request, any tool arguments', async () => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ capUsd: 100, runCapUsd: 100 });
    const schema = { type: 'object', properties: { file_id: { type: 'string' }, source: { type: 'url' } } };
    const calls: [string, object][] = [
      [
        '/v1/messages',
        {
          tools: [
            { name: 'bash', input_schema: schema },
            { type: 'bash_20250124', name: 'bash' },
          ],
        },
      ],
      ['/v1/messages', { messages: image({ type: 'base64', media_type: 'image/png', data: 'AA==' }) }],
      [
        '/v1/messages',
        {
          messages: [
            {
              role: 'assistant',
              content: [{ type: 'tool_use', id: '1', name: 'x', input: { source: { type: 'url' } } }],
            },
          ],
        },
      ],
      [CHAT, { tools: [{ type: 'function', function: { name: 'bash', parameters: schema } }] }],
      [CHAT, { messages: chatImage('data:image/png;base64,AA==') }],
      [
        CHAT,
        {
          messages: [
            {
              role: 'user',
              content: [{ type: 'file', file: { file_data: 'data:application/pdf;base64,AA==' } }],
            },
          ],
        },
      ],
      [RESPONSES, { input: [], tools: [{ type: 'custom', name: 'apply_patch' }, { type: 'local_shell' }] }],
    ];
    for (const [path, body] of calls) {
      expect((await ask(lease, { path, body: { ...PROMPT, ...body } })).status).toBe(200);
    }
  });

  test('pays the listed price, because expensive service tiers are removed from the request', async () => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    await ask(await rig.open(), {
      path: CHAT,
      body: {
        ...PROMPT,
        n: 50,
        service_tier: 'priority',
        speed: 'fast',
        inference_geo: 'us',
        provider: { order: ['dear'] },
        route: 'fallback',
        fallbacks: [{ model: 'dear' }],
        temperature: 0,
      },
    });
    expect(JSON.parse(provider.seen[0]?.body ?? '')).toEqual({ ...PROMPT, temperature: 0 });
  });
});

test('a health check of the socket is not logged as a rejected call', async () => {
  provider = await honest();
  await using rig = await openRig(provider.url);
  const lease = await rig.open();
  for (const method of ['GET', 'HEAD']) {
    expect((await ask(lease, { method, path: '/', key: null })).status).toBe(404);
  }
  expect(lease.refusal()).toBeNull();
  expect(rig.log.lines).toEqual([]);
});

test('a rejection says nothing about money, keys or providers, and asks not to retry', async () => {
  provider = await honest();
  await using rig = await openRig(provider.url);
  const lease = await rig.open({ capUsd: 0 });
  for (const path of ['/v1/messages', CHAT, RESPONSES, '/v1beta/models/m:generateContent']) {
    const reply = await ask(lease, { path });
    expect(reply).toMatchObject({ status: 402, headers: { 'x-should-retry': 'false', connection: 'close' } });
    expect(reply.text).not.toMatch(/\$|RESOURCE_EXHAUSTED|exhausted|rate|quota|anthropic|openai|google/i);
  }
});

/** Sends bytes as they are; resolves with what came back when the other side closed. */
function raw(path: string, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(path);
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (data) => {
      text += data;
    });
    socket.on('close', () => resolve(text));
    socket.on('error', () => {});
    socket.write(bytes, 'latin1');
    socket.end();
  });
}

describe('a request that looks smaller than it is', () => {
  test('is rejected before parsing if it has too many values, but not for a long text', async () => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ capUsd: 100, runCapUsd: 100 });
    const tools = { ...PROMPT, tools: Array.from({ length: 250_001 }, () => []) };
    expect((await ask(lease, { body: tools })).status).toBe(413);
    expect(provider.seen).toEqual([]);
    const messages = [{ role: 'user', content: '[{,"\\'.repeat(100_000) }];
    expect((await ask(lease, { body: { ...PROMPT, messages } })).status).toBe(200);
  });

  test('is charged by its forwarded form, with numbers written out', async () => {
    const booked = async (number: string) => {
      provider = await honest();
      await using rig = await openRig(provider.url);
      const enumeration = Array.from({ length: 3_000 }, () => number).join();
      const raw = `{"model":"m","max_tokens":9,"messages":[],"tools":[{"name":"x","input_schema":{"enum":[${enumeration}]}}]}`;
      await ask(await rig.open(), { raw, path: '/v1/messages' });
      const { usd = 0 } = rig.ledger.booked[0] ?? {};
      await provider.close();
      return usd;
    };
    expect(await booked('1e20')).toBeGreaterThanOrEqual((await booked('10'.padEnd(21, '0'))) - 1e-9);
  });
});

test('thousands of calls that a coder sends at once on one connection keep no other coder from its models', async () => {
  let held = 0;
  provider = await startProvider((body, response) => {
    if (JSON.stringify(body).includes('hold')) held += 1;
    else json(response, 200, message(1, 1));
  });
  await using rig = await openRig(provider.url);
  const [hostile, other] = [await rig.open(), await rig.open({ spender: 'B' })];
  const body = JSON.stringify({ ...PROMPT, max_tokens: 1, messages: [{ role: 'user', content: 'hold' }] });
  const call = `POST /v1/messages HTTP/1.1\r\nHost: x\r\nx-api-key: ${hostile.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const socket = connect(hostile.socket).on('error', () => undefined);
  socket.write(call.repeat(4_000));
  expect((await ask(other)).status).toBe(200);
  await expect.poll(() => socket.closed, { timeout: 240_000 }).toBe(true);
  await provider.close();
  await hostile.close();
  expect(rig.log.lines.join('\n')).toContain('48 calls of this coder are under way');
  expect(held).toBeLessThanOrEqual(48);
});
