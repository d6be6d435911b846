import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ScriptedModels, startScriptedModels } from '../../src/demo/scripted-models/index.ts';

const scripts = {
  talker: { turns: [{ kind: 'text', text: 'Hello. '.repeat(40) }], structured: { answer: 42 } },
  either: {
    turns: [{ kind: 'text', text: 'First.' }],
    cases: [{ holds: 'second turn', turns: [{ kind: 'text', text: 'Second.' }] }],
  },
  looper: { turns: [{ kind: 'call', text: '', tool: 'bash', input: {} }], afterwards: 'repeat' },
  stork: { turns: [{ kind: 'hang' }] },
  stutterer: { turns: [{ kind: 'hang', text: 'One word after another. '.repeat(20) }] },
  busy: { turns: [{ kind: 'status', status: 429 }], afterwards: 'repeat' },
  writer: {
    turns: [
      { kind: 'do', text: 'I write.', action: { do: 'write', path: '/repo/a.txt', content: "it's\na\n" } },
      { kind: 'do', text: 'I run.', action: { do: 'shell', command: 'npm test' } },
    ],
    usage: [
      { tokensIn: 1000, tokensCached: 300, tokensWritten: 20, tokensOut: 50, tokensReasoning: 10 },
      { tokensIn: 2000, tokensCached: 900, tokensWritten: 0, tokensOut: 70, tokensReasoning: 30 },
    ],
  },
} as const;

let models: ScriptedModels;
beforeEach(async () => {
  models = await startScriptedModels({ scripts });
});
afterEach(() => models.close());

const post = (path: string, body: object, init: RequestInit = {}) =>
  fetch(models.url + path, { method: 'POST', body: JSON.stringify(body), ...init });
const OPENAI_PATHS = ['/v1/chat/completions', '/v1/responses'];
const user = { role: 'user', content: 'hi' };
const results = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ role: 'tool', tool_call_id: String(index), content: 'x' }));
const chat = async (model: string, count: number) => {
  const answer = await post('/v1/chat/completions', { model, messages: [user, ...results(count)] });
  return ((await answer.json()) as { choices: [{ message: { content: string; tool_calls?: object[] } }] })
    .choices[0].message;
};

describe('a scripted model', () => {
  test('chooses its turn by the results in the request, so a new server goes on where the old one was', async () => {
    expect((await chat('talker', 0)).content).toContain('Hello.');
    await models.close();
    models = await startScriptedModels({ scripts });
    expect((await chat('talker', 1)).content).toBe('Done.');
    expect((await chat('talker', 9)).content).toBe('Done.');
  });

  test('can answer otherwise where the request holds a text', async () => {
    const said = async (content: string) =>
      (await post('/v1/chat/completions', { model: 'either', messages: [{ role: 'user', content }] })).text();
    expect(await said('your turn')).toContain('First.');
    expect(await said('your second turn')).toContain('Second.');
  });

  test('can loop forever', async () => {
    expect((await chat('looper', 100)).tool_calls).toHaveLength(1);
  });

  test('derives its usage from what is really sent', async () => {
    const small = { model: 'talker', messages: [user] };
    const large = { model: 'talker', messages: [{ role: 'user', content: 'x'.repeat(4000) }] };
    const usage = async (body: object) => {
      const answer = (await (await post('/v1/messages', body)).json()) as { usage: Record<string, number> };
      return answer.usage;
    };
    expect((await usage(large)).input_tokens ?? 0).toBeGreaterThan(1000);
    expect((await usage(small)).input_tokens).toBeLessThan(50);
    expect((await usage(small)).output_tokens).toBe(70);
  });

  test('says the same in a stream as without', async () => {
    const whole = await chat('talker', 0);
    const stream = await post('/v1/chat/completions', { model: 'talker', messages: [user], stream: true });
    const parts = [...(await stream.text()).matchAll(/"content":"([^"]*)"/g)].map(([, part]) => part);
    expect(parts.join('')).toBe(whole.content);
    expect(parts.length).toBeGreaterThan(5);
  });

  test('answers structured requests in each way that they are made', async () => {
    const tool = { name: 'json', input_schema: { type: 'object' } };
    const forced = await post('/v1/messages', { model: 'talker', messages: [user], tools: [tool] });
    expect(await forced.json()).toMatchObject({ content: [{ name: 'json', input: { answer: 42 } }] });
    const native = await post('/v1/messages', {
      model: 'talker',
      messages: [user],
      output_config: { format: { type: 'json_schema' } },
    });
    expect(await native.json()).toMatchObject({ content: [{ type: 'text', text: '{"answer":42}' }] });
    const openai = await post('/v1/chat/completions', {
      model: 'talker',
      messages: [user],
      response_format: { type: 'json_object' },
    });
    expect(await openai.json()).toMatchObject({ choices: [{ message: { content: '{"answer":42}' } }] });
  });

  test('hangs until it is left', async () => {
    const stop = new AbortController();
    const hanging = post('/v1/messages', { model: 'stork', messages: [user] }, { signal: stop.signal });
    await expect.poll(() => models.requests.length).toBe(1);
    stop.abort();
    await expect(hanging).rejects.toThrow();
  });

  test('records the authorisation that it receives', async () => {
    const headers = { 'x-api-key': 'some-key', authorization: 'Bearer other' };
    await post('/v1/messages', { model: 'talker', messages: [user] }, { headers });
    expect(models.requests).toMatchObject([{ path: '/v1/messages', model: 'talker', headers }]);
  });

  test('can hang in the middle of a stream', async () => {
    const stop = new AbortController();
    const ask = { model: 'stutterer', messages: [user], stream: true };
    const stream = await post('/v1/chat/completions', ask, { signal: stop.signal });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    let said = '';
    while (said.split('One word').length < 5) said += (await reader?.read())?.value ?? '';
    expect(said).not.toContain('[DONE]');
    expect(models.requests).toMatchObject([{ usage: null, left: false }]);
    stop.abort();
    await expect.poll(() => models.requests).toMatchObject([{ usage: null, left: true }]);
  });

  test('answers with a status in the words of each protocol', async () => {
    for (const path of [...OPENAI_PATHS, '/v1/messages', '/v1beta/models/busy:generateContent']) {
      const answer = await post(path, { model: 'busy' });
      expect(answer.status).toBe(429);
      expect(await answer.json()).toMatchObject({ error: { message: expect.stringContaining('429') } });
    }
  });

  test('lists its models for every kind of client', async () => {
    const openai = (await (await fetch(`${models.url}/v1/models`)).json()) as { data: { id: string }[] };
    expect(openai.data.map(({ id }) => id)).toEqual(Object.keys(scripts));
    const gemini = (await (await fetch(`${models.url}/v1beta/models`)).json()) as { models: object[] };
    expect(gemini.models[0]).toMatchObject({ name: 'models/talker' });
  });

  test('exists only under its name and path', async () => {
    expect((await post('/v1/messages', { model: 'constructor', messages: [] })).status).toBe(404);
    expect((await post('/v1/other', {})).status).toBe(404);
  });
});

describe('a turn that any agent can follow', () => {
  const schema = (...names: string[]) => ({
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    required: names,
  });
  const responses = async (tools: readonly object[], input: readonly object[] = []) => {
    const answer = await post('/v1/responses', { model: 'writer', tools, input });
    return ((await answer.json()) as { output: object[] }).output.at(-1);
  };

  test('becomes a call of the tool that the request declares', async () => {
    const tools = [
      { name: 'Bash', input_schema: schema('command', 'description') },
      { name: 'Read', input_schema: schema('file_path') },
      { name: 'Write', input_schema: schema('file_path', 'content') },
    ];
    const answer = await post('/v1/messages', { model: 'writer', messages: [user], tools });
    expect(await answer.json()).toMatchObject({
      content: [
        { type: 'text', text: 'I write.' },
        { name: 'Write', input: { file_path: '/repo/a.txt', content: "it's\na\n" } },
      ],
    });
    const done = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content: 'ok' }] };
    const next = await post('/v1/messages', { model: 'writer', messages: [user, done], tools });
    expect(await next.json()).toMatchObject({
      content: [
        { text: 'I run.' },
        { name: 'Bash', input: { command: 'npm test', description: 'as scripted' } },
      ],
    });
  });

  test('knows the free-text and grouped tools of Codex', async () => {
    expect(await responses([{ type: 'custom', name: 'apply_patch' }])).toMatchObject({
      type: 'custom_tool_call',
      input: "*** Begin Patch\n*** Add File: /repo/a.txt\n+it's\n+a\n*** End Patch",
    });
    const command = { type: 'array', items: { type: 'string' } };
    const shell = { type: 'function', name: 'shell', parameters: { properties: { command } } };
    expect(await responses([shell])).toMatchObject({
      type: 'function_call',
      arguments: JSON.stringify({ command: ['bash', '-lc', "printf '%s' 'it'\\''s\na\n' > '/repo/a.txt'"] }),
    });
    const inner = { type: 'custom', name: 'exec' };
    const added = { type: 'additional_tools', tools: [{ type: 'namespace', name: 'shell', tools: [inner] }] };
    expect(await responses([], [added])).toMatchObject({
      type: 'custom_tool_call',
      name: 'exec',
      namespace: 'shell',
      input: expect.stringContaining('tools.exec_command'),
    });
  });

  test('speaks Gemini, with and without a stream', async () => {
    const functionDeclarations = [
      { name: 'write_file', parametersJsonSchema: schema('file_path', 'content') },
      {
        name: 'run_shell_command',
        parameters: { type: 'OBJECT', properties: { command: { type: 'STRING' } } },
      },
    ];
    const tools = [{ functionDeclarations }];
    const first = await post('/v1beta/models/writer:generateContent', { tools, contents: [] });
    expect(await first.json()).toMatchObject({
      candidates: [{ content: { parts: [{ text: 'I write.' }, { functionCall: { name: 'write_file' } }] } }],
      usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 40, thoughtsTokenCount: 10 },
    });
    const contents = [{ role: 'user', parts: [{ functionResponse: { name: 'write_file', response: {} } }] }];
    const path = '/v1beta/models/writer:streamGenerateContent?alt=sse';
    const text = await (await post(path, { tools, contents })).text();
    expect(text).toContain('"functionCall":{"name":"run_shell_command","args":{"command":"npm test"}}');
    expect(models.requests).toMatchObject([
      { model: 'writer', results: 0 },
      { model: 'writer', results: 1 },
    ]);
  });

  test('is a short text for a request without tools, such as one for a title', async () => {
    const answer = await post('/v1/messages', { model: 'writer', messages: [user] });
    expect(await answer.json()).toMatchObject({ content: [{ type: 'text', text: 'As scripted' }] });
  });

  test('reports when no tool fits', async () => {
    expect(await responses([{ type: 'function', name: 'read', parameters: schema('path') }])).toMatchObject({
      content: [{ text: 'No tool here can write: read.' }],
    });
  });
});

describe('the usage that a scripted model reports', () => {
  test("is reported in the protocol's form", async () => {
    await post('/v1/messages', { model: 'writer', messages: [user] });
    await post('/v1/responses', { model: 'writer', input: [{ type: 'function_call_output' }] });
    await post('/v1/chat/completions', { model: 'writer', messages: [user, ...results(7)] });
    expect(models.requests.map(({ usage }) => usage)).toEqual([
      { tokensIn: 1000, tokensCached: 300, tokensWritten: 20, tokensOut: 50, tokensReasoning: 0 },
      { tokensIn: 2000, tokensCached: 900, tokensWritten: 0, tokensOut: 70, tokensReasoning: 30 },
      { tokensIn: 2000, tokensCached: 900, tokensWritten: 0, tokensOut: 70, tokensReasoning: 30 },
    ]);
  });

  test('is missing if the answer has none', async () => {
    const stream = await post('/v1/chat/completions', { model: 'writer', messages: [user], stream: true });
    expect(await stream.text()).not.toContain('usage');
    await post('/v1/messages', { model: 'nobody', messages: [user] });
    await post('/v1/messages', { model: 'busy', messages: [user] });
    expect(models.requests.map(({ usage }) => usage)).toEqual([null, null, null]);
  });
});
