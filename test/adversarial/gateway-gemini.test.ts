import { afterEach, describe, expect, test } from 'vitest';
import { ask, GOOGLE_KEY, json, openRig, type Provider, startProvider } from '../adapters/gateway/rig.ts';

let provider: Provider;
afterEach(() => provider.close());

const PATH = '/v1beta/models/m:generateContent';
const URL_OUT = 'https://attacker.example/?leak=1';
const hello = [{ role: 'user', parts: [{ text: 'hi' }] }];
const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5 };
const honest = () => startProvider((_, response) => json(response, 200, { candidates: [], usageMetadata }));
const sent = (call = 0) => JSON.parse(provider.seen[call]?.body ?? '{}');

describe('a candidate that speaks Gemini', () => {
  test('can send its key in any place that clients use, and no other key is accepted', async () => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    const body = { contents: hello };
    const withKey = (key: string) => [
      { path: PATH, key: null, headers: { 'x-goog-api-key': key }, body },
      { path: PATH, key: null, headers: { authorization: `Bearer ${key}` }, body },
      { path: `${PATH}?key=${key}`, key: null, body },
      { path: `/v1/models/m:generateContent?key=${key}`, key: null, body },
    ];
    for (const call of withKey(lease.key)) expect((await ask(lease, call)).status).toBe(200);
    expect(provider.seen.map(({ path }) => path)).toEqual(Array.from({ length: 4 }, () => PATH));
    expect(provider.seen.every(({ headers }) => headers['x-goog-api-key'] === GOOGLE_KEY)).toBe(true);
    for (const call of withKey('gw-other')) {
      const reply = await ask(lease, call);
      expect(reply.status).toBe(403);
      expect(JSON.parse(reply.text)).toEqual({
        error: { code: 403, message: 'The key is not valid here.', status: 'PERMISSION_DENIED' },
      });
    }
    // A key in the query is Google's custom only.
    expect((await ask(lease, { path: `/v1/messages?key=${lease.key}`, key: null })).status).toBe(403);
    expect(provider.seen).toHaveLength(4);
  });

  test('gets no other model, in the path or in the body', async () => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    for (const model of ['x', 'M', 'm-2', 'free', 'models']) {
      const path = `/v1beta/models/${model}:generateContent`;
      expect((await ask(lease, { path, body: { contents: hello } })).status).toBe(403);
    }
    expect(provider.seen).toEqual([]);
    await ask(lease, { path: PATH, body: { model: 'models/dear', contents: hello } });
    expect(sent().model).toBeUndefined();
    const counting = {
      generateContentRequest: { model: 'models/dear', contents: hello, tools: [{ googleSearch: {} }] },
    };
    await ask(lease, { path: '/v1beta/models/m:countTokens', body: counting });
    expect(sent(1)).toEqual({ generateContentRequest: { model: 'models/m', contents: hello } });
    expect(rig.ledger.rows).toHaveLength(1);
    // Another protocol's door to the same name is another model's.
    const only = await rig.open({ models: ['google/m'] });
    expect((await ask(only, { path: '/v1/messages' })).status).toBe(403);
  });

  test.each<[string, object]>([
    ['a file by address', { contents: [{ parts: [{ fileData: { fileUri: URL_OUT } }] }] }],
    ['one in the other spelling', { contents: [{ parts: [{ file_data: { file_uri: URL_OUT } }] }] }],
    [
      'one in both spellings, of which one is empty',
      { contents: [{ parts: [{ file_data: { file_uri: URL_OUT }, fileData: null }] }] },
    ],
    ['one that is not in a list', { contents: { parts: { fileData: { fileUri: URL_OUT } } } }],
    [
      'one in the answer of a function',
      { contents: [{ parts: [{ functionResponse: { parts: [{ fileData: { fileUri: URL_OUT } }] } }] }] },
    ],
    ['one in the instructions', { system_instruction: { parts: [{ fileData: { fileUri: URL_OUT } }] } }],
    ['content that Google keeps', { contents: hello, cachedContent: 'cachedContents/1' }],
    ['the same in the other spelling', { contents: hello, cached_content: 'cachedContents/1' }],
    [
      'a file in a request to be counted',
      { generate_content_request: { contents: [{ parts: [{ fileData: { fileUri: URL_OUT } }] }] } },
    ],
  ])('is refused %s', async (_, body) => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    expect((await ask(lease, { path: PATH, body })).status).toBe(403);
    expect(lease.refusal()).toMatch(/by reference|cachedContent/);
    expect(provider.seen).toEqual([]);
  });

  const functions = { functionDeclarations: [{ name: 'bash', parametersJsonSchema: { type: 'object' } }] };
  test.each<[string, object, { tools?: object; generationConfig?: object }]>([
    ['search', { tools: [{ googleSearch: {} }, functions] }, { tools: [functions] }],
    ['search in the other spelling', { tools: [{ google_search: {} }] }, {}],
    ['search in the same tool', { tools: [{ ...functions, googleSearch: {} }] }, { tools: [functions] }],
    ['search that is not in a list', { tools: { googleSearchRetrieval: {} } }, {}],
    ['code run there', { tools: [{ codeExecution: {} }], toolConfig: {} }, {}],
    ['pages by address', { tools: [{ url_context: {} }, { urlContext: {} }] }, {}],
    ['tools of a server', { tools: [{ mcpServers: [{}], fileSearch: {}, googleMaps: {} }] }, {}],
    [
      'dearer service and other fields',
      { service_tier: 'priority', serviceTier: 'x', labels: {}, store: true },
      {},
    ],
    [
      'several answers and speech',
      { generation_config: { candidate_count: 8, responseModalities: ['AUDIO'], temperature: 0 } },
      { generationConfig: { temperature: 0 } },
    ],
  ])('is answered without %s', async (_, body, passed) => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    expect((await ask(await rig.open(), { path: PATH, body: { contents: hello, ...body } })).status).toBe(
      200,
    );
    const booked = { maxOutputTokens: 32_000, ...passed.generationConfig };
    expect(sent()).toEqual({ contents: hello, ...passed, generationConfig: booked });
  });

  test('keeps what agents use: own functions, images in the request, any arguments', async () => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const body = {
      systemInstruction: { parts: [{ text: 'You code.' }] },
      contents: [
        { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'AA==' } }] },
        {
          role: 'model',
          parts: [{ functionCall: { name: 'x', args: { fileData: 1 } }, thoughtSignature: 's' }],
        },
        { role: 'user', parts: [{ functionResponse: { name: 'x', response: { file_data: 1 } } }] },
      ],
      tools: [functions],
      toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
      safetySettings: [],
      generationConfig: { thinkingConfig: { thinkingBudget: 100 }, maxOutputTokens: 2000 },
    };
    await ask(await rig.open(), { path: PATH, body });
    expect(sent()).toEqual(body);
  });

  test('has its output limited to the rest in either spelling, thinking included', async () => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ capUsd: 0.005 });
    const generation_config = { max_output_tokens: 100_000, thinking_config: { thinking_budget: 50_000 } };
    await ask(lease, { path: PATH, body: { contents: hello, generation_config } });
    await ask(lease, { path: PATH, body: { contents: hello } });
    for (const call of [0, 1]) {
      const { maxOutputTokens, ...rest } = sent(call).generationConfig;
      expect(maxOutputTokens).toBeGreaterThan(256);
      expect(maxOutputTokens).toBeLessThan(500);
      expect(rest).toEqual({});
    }
  });

  test("gets the cap as an error in Google's form, without words that make agents retry", async () => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const reply = await ask(await rig.open({ capUsd: 0 }), { path: PATH, body: { contents: hello } });
    expect(reply.status).toBe(402);
    expect(JSON.parse(reply.text)).toEqual({
      error: { code: 402, message: 'The budget for this work is used up.', status: 'FAILED_PRECONDITION' },
    });
  });

  test('sees only its own models on the list', async () => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ models: ['google/m', 'anthropic/free'] });
    const reply = await ask(lease, { method: 'GET', path: '/v1beta/models?pageSize=1000' });
    expect(JSON.parse(reply.text).models).toMatchObject([{ name: 'models/m' }]);
    expect(JSON.parse(reply.text).models).toHaveLength(1);
    expect((await ask(lease, { method: 'GET', path: '/v1beta/models', key: 'no' })).status).toBe(403);
    expect(provider.seen).toEqual([]);
  });
});
