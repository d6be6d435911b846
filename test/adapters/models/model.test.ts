import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openModel, openTextModel } from '../../../src/adapters/models/index.ts';
import type { Lease, ModelRoute } from '../../../src/ports/index.ts';
import { countCached } from '../../world/prompt-caches.ts';
import { json, message, openRig, type Provider, shut, startProvider } from '../gateway/rig.ts';

let provider: Provider;
afterEach(() => provider.close());

const Plan = z.object({ goal: z.string().min(1).max(50), steps: z.array(z.string()).max(3) });
const GOOD = { goal: 'read quotes', steps: ['test', 'parser'] };
const model = openModel();
const ask = (route: ModelRoute, lease: Lease, signal?: AbortSignal) =>
  model.ask({
    route,
    lease,
    instructions: 'You plan.',
    prompt: 'Plan it.',
    schema: Plan,
    ...(signal ? { signal } : {}),
  });

/** How an answer ends, in the words of each protocol. */
const ENDS = {
  stop: { anthropic: 'end_turn', chat: 'stop', gemini: 'STOP', responses: {} },
  length: {
    anthropic: 'max_tokens',
    chat: 'length',
    gemini: 'MAX_TOKENS',
    responses: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
  },
  refused: {
    anthropic: 'refusal',
    chat: 'content_filter',
    gemini: 'SAFETY',
    responses: { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
  },
} as const;

/** A provider that gives one text after the other, in the protocol that it is asked in. */
const saying = (...texts: readonly string[]) => ending('stop', ...texts);

const ending = (end: keyof typeof ENDS, ...texts: readonly string[]) =>
  startProvider((body, response, request) => {
    const text = texts[Math.min(provider.seen.length, texts.length) - 1] ?? '';
    const words = ENDS[end];
    const usage = { input_tokens: 10, output_tokens: 5 };
    if (request.url === '/v1/messages') {
      const tool = (body.tools as { name: string }[] | undefined)?.[0];
      const input = tool && parse(text);
      const content = input
        ? [{ type: 'tool_use', id: 't1', name: tool.name, input }]
        : [{ type: 'text', text }];
      return json(response, 200, {
        ...message(10, 5),
        content,
        stop_reason: input && end === 'stop' ? 'tool_use' : words.anthropic,
      });
    }
    if (request.url === '/v1/responses') {
      const item = { type: 'message', id: 'm1', role: 'assistant', status: 'completed' };
      const output = [{ ...item, content: [{ type: 'output_text', text, annotations: [] }] }];
      return json(response, 200, { id: 'r1', created_at: 0, model: 'm', output, usage, ...words.responses });
    }
    if (request.url?.startsWith('/v1beta/')) {
      const candidates = [{ content: { role: 'model', parts: [{ text }] }, finishReason: words.gemini }];
      return json(response, 200, {
        candidates,
        usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
      });
    }
    return json(response, 200, {
      id: 'c1',
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: words.chat }],
      usage: { prompt_tokens: 10, completion_tokens: 5 },
    });
  });

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const ROUTES: readonly ModelRoute[] = [
  { protocol: 'anthropic', model: 'm' },
  { protocol: 'anthropic', model: 'claude-sonnet-5' },
  { protocol: 'openai-chat', model: 'm' },
  { protocol: 'openai-responses', model: 'm' },
  { protocol: 'gemini', model: 'm' },
];
/** What the errors of all protocols have in common. */
const ERROR = { type: 'invalid_request_error', code: 400, status: 'INVALID_ARGUMENT' };
const MODELS = ['anthropic/m', 'openai/m', 'google/m', 'anthropic/claude-sonnet-5'];

describe('the beginning that questions share', () => {
  const common = `What everybody is told: ${'text '.repeat(1_200)}`;
  const askShared = (route: ModelRoute, lease: Lease, own: string) =>
    model.ask({
      route,
      lease,
      instructions: 'You plan.',
      prompt: common + own,
      sharedChars: common.length,
      schema: Plan,
    });
  const sent = () =>
    provider.seen.map(({ body, path = '/v1/messages' }: { body: string; path?: string }) => ({ body, path }));

  test('is marked for Anthropic, which then reads it from its cache', async () => {
    provider = await saying(JSON.stringify(GOOD));
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ models: MODELS });
    const route = { protocol: 'anthropic', model: 'claude-sonnet-5' } as const;
    for (const own of ['First.', 'Second.']) await askShared(route, lease, own);
    const [first, second] = countCached(sent());
    expect(first).toMatchObject({ read: 0 });
    expect(first?.written).toBeGreaterThan(1_500);
    expect(second).toMatchObject({ read: first?.written, written: 0 });
    // The model reads the same text.
    expect(provider.seen[0]?.body).toContain('First.');
  });

  test('is one text with the rest for the others, which need no mark', async () => {
    provider = await saying(JSON.stringify(GOOD));
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ models: MODELS });
    for (const protocol of ['openai-chat', 'openai-responses', 'gemini'] as const)
      await askShared({ protocol, model: 'm' }, lease, 'First.');
    for (const { body } of provider.seen) {
      expect(body).not.toContain('cache_control');
      expect(body).toContain('text text First.');
    }
  });
});

describe.each(ROUTES)('asked as $protocol ($model)', (route) => {
  test('gives a value that fits the schema', async () => {
    provider = await saying(JSON.stringify(GOOD));
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ models: MODELS });
    expect(await ask(route, lease)).toEqual({ kind: 'answer', value: GOOD });
    expect(lease.usage().calls).toBe(1);
    const sent = provider.seen[0]?.body ?? '';
    for (const text of ['You plan.', 'Plan it.', 'goal', 'steps']) expect(sent).toContain(text);
    // The limits reach the model, in the schema or in words.
    expect(sent).toMatch(/max ?length/i);
  });

  test('is shown what was wrong, twice at most', async () => {
    provider = await saying(JSON.stringify({ goal: 'x', steps: 'none' }), 'I cannot.', JSON.stringify(GOOD));
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ models: MODELS });
    expect(await ask(route, lease)).toEqual({ kind: 'answer', value: GOOD });
    expect(provider.seen).toHaveLength(3);
    expect(provider.seen[1]?.body).toContain('expected array');
    expect(provider.seen[2]?.body).toContain('I cannot.');
  });

  test('fails, without rejecting, when it never gives what was asked for', async () => {
    provider = await saying('{"goal":""}');
    await using rig = await openRig(provider.url);
    const answer = await ask(route, await rig.open({ models: MODELS }));
    expect(answer).toMatchObject({
      kind: 'failed',
      why: expect.stringMatching(/, 3 times: `(?:goal|steps)`: (?:is missing|must .*)\.$/),
    });
    expect(provider.seen).toHaveLength(3);
  });

  test.each([
    ['length', 'cut off: it may have 16,000 tokens'],
    ['refused', 'The model refused to answer.'],
  ] as const)('is not asked to correct an answer that ended with "%s"', async (end, why) => {
    provider = await ending(end, '{"goal": "a very long');
    await using rig = await openRig(provider.url);
    const answer = await ask(route, await rig.open({ models: MODELS }));
    expect(answer).toEqual({ kind: 'failed', why: expect.stringContaining(why) });
    expect(provider.seen).toHaveLength(1);
  });

  test('gives a value that is complete although the answer was cut off', async () => {
    provider = await ending('length', JSON.stringify(GOOD));
    await using rig = await openRig(provider.url);
    expect(await ask(route, await rig.open({ models: MODELS }))).toEqual({ kind: 'answer', value: GOOD });
  });

  test('fails with the gateway’s reason when the budget is used up', async () => {
    provider = await saying(JSON.stringify(GOOD));
    await using rig = await openRig(provider.url);
    const answer = await ask(route, await rig.open({ models: MODELS, capUsd: 0 }));
    expect(answer).toMatchObject({ kind: 'failed', why: expect.stringContaining('used up') });
    expect(provider.seen).toHaveLength(0);
  });

  test('fails when the provider refuses, is silent, or sends rubbish', async () => {
    provider = await startProvider((_, response) => json(response, 400, { error: { message: 'no' } }));
    await using rig = await openRig(provider.url);
    expect(await ask(route, await rig.open({ models: MODELS }))).toMatchObject({
      kind: 'failed',
      why: expect.stringContaining('HTTP 400'),
    });
    await provider.close();
    provider = await startProvider((_, response) => response.end('<html>'));
    await using other = await openRig(provider.url);
    expect(await ask(route, await other.open({ models: MODELS }))).toMatchObject({ kind: 'failed' });
  });

  test.each([204, 205, 600, 999])('fails when the provider answers with HTTP %d', async (status) => {
    provider = await startProvider((_, response) => response.writeHead(status).end());
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ models: MODELS });
    const failed = { kind: 'failed', why: expect.stringMatching(/without content|HTTP \d+/) };
    expect(await ask(route, lease)).toMatchObject(failed);
    const messages = [{ role: 'user', content: 'Hi.' }] as const;
    const question = { route, lease, instructions: '', messages, maxTokens: 10 };
    expect(await openTextModel().write(question)).toMatchObject(failed);
  });

  test('a text model says in the provider’s words why a question is rejected, in one line without keys', async () => {
    const words = `Unsupported value: temperature.\n${'x'.repeat(400)}`;
    provider = await startProvider((_, response) =>
      json(response, 400, { type: 'error', error: { ...ERROR, message: words } }),
    );
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ models: MODELS });
    const question = {
      route,
      lease,
      instructions: '',
      messages: [{ role: 'user', content: 'Hi.' }],
    } as const;
    const answer = await openTextModel().write({ ...question, maxTokens: 10, temperature: 0 });
    if (answer.kind !== 'failed') throw new Error('it was rejected');
    expect(answer.why).toMatch(/HTTP 400.* It says: Unsupported value: temperature\. x+…$/);
    expect(answer.why.length).toBeLessThan(400);
    expect(answer.why).not.toContain(lease.key);
  });

  test('stops when it is cancelled', async () => {
    provider = await startProvider(() => {});
    await using rig = await openRig(provider.url);
    const stop = new AbortController();
    const answer = ask(route, await rig.open({ models: MODELS }), stop.signal);
    await expect.poll(() => provider.seen.length).toBe(1);
    stop.abort();
    expect(await answer).toEqual({ kind: 'failed', why: 'The question was cancelled.' });
    await provider.aborted;
  });
});

test('a question that Gemini blocks is refused', async () => {
  provider = await startProvider((_, response) =>
    json(response, 200, { promptFeedback: { blockReason: 'SAFETY' } }),
  );
  await using rig = await openRig(provider.url);
  const answer = await ask({ protocol: 'gemini', model: 'm' }, await rig.open({ models: MODELS }));
  expect(answer).toEqual({ kind: 'failed', why: 'The model refused to answer.' });
  expect(provider.seen).toHaveLength(1);
});

test('JSON is found between prose and fences', async () => {
  provider = await saying(`Here it is:\n\`\`\`json\n${JSON.stringify(GOOD)}\n\`\`\`\nGood luck!`);
  await using rig = await openRig(provider.url);
  const answer = await ask({ protocol: 'openai-chat', model: 'm' }, await rig.open({ models: MODELS }));
  expect(answer).toEqual({ kind: 'answer', value: GOOD });
  expect(provider.seen).toHaveLength(1);
});

test.each([204, 600])(
  'an answer of the gateway with HTTP %d is a failure, not an exception',
  async (status) => {
    provider = await saying(JSON.stringify(GOOD));
    await using rig = await openRig(provider.url);
    const socket = join(rig.dir, 'odd');
    const server = createServer((_, response) => response.writeHead(status).end()).listen(socket);
    await once(server, 'listening');
    const lease = { ...(await rig.open({ models: MODELS })), socket };
    expect(await ask({ protocol: 'anthropic', model: 'm' }, lease)).toEqual({
      kind: 'failed',
      why: 'The model gave no answer.',
    });
    await shut(server);
  },
);

test('a lease that is closed is a failure, not an exception', async () => {
  provider = await saying(JSON.stringify(GOOD));
  await using rig = await openRig(provider.url);
  const lease = await rig.open({ models: MODELS });
  await lease.close();
  expect(await ask({ protocol: 'anthropic', model: 'm' }, lease)).toMatchObject({ kind: 'failed' });
});
