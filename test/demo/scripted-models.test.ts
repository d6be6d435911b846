import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ScriptedModels, startScriptedModels } from '../../src/demo/scripted-models/index.ts';

const scripts = {
  talker: { turns: [{ kind: 'text', text: 'Hello. '.repeat(40) }], structured: { answer: 42 } },
  looper: { turns: [{ kind: 'call', text: '', tool: 'bash', input: {} }], afterwards: 'repeat' },
  stork: { turns: [{ kind: 'hang' }] },
} as const;

let models: ScriptedModels;
beforeEach(async () => {
  models = await startScriptedModels({ scripts });
});
afterEach(() => models.close());

const post = (path: string, body: object, init: RequestInit = {}) =>
  fetch(models.url + path, { method: 'POST', body: JSON.stringify(body), ...init });
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

  test('can loop for ever', async () => {
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

  test('remembers the authorisation that it saw', async () => {
    const headers = { 'x-api-key': 'some-key', authorization: 'Bearer other' };
    await post('/v1/messages', { model: 'talker', messages: [user] }, { headers });
    expect(models.requests).toMatchObject([{ path: '/v1/messages', model: 'talker', headers }]);
  });

  test('does not exist under another name or path', async () => {
    expect((await post('/v1/messages', { model: 'constructor', messages: [] })).status).toBe(404);
    expect((await post('/v1/other', {})).status).toBe(404);
  });
});
