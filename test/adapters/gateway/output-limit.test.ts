import { afterEach, describe, expect, test } from 'vitest';
import type { ModelProtocol } from '../../../src/core/settings/index.ts';
import { ask, json, message, openRig, PROMPT, type Provider, sse, startProvider } from './rig.ts';

let provider: Provider;
afterEach(() => provider.close());

const CHAT = '/v1/chat/completions';
const RESPONSES = '/v1/responses';
const MESSAGES = '/v1/messages';
const GENERATE = '/v1beta/models/m:generateContent';
const honest = () => startProvider((_, response) => json(response, 200, message(1, 1)));
const sent = () => JSON.parse(provider.seen.at(-1)?.body ?? '{}');
const chat = { model: 'm', messages: [] };

/** A limit as each protocol has it. */
const PLACES: readonly (readonly [string, string, (limit: unknown) => object])[] = [
  ['max_tokens of Messages', MESSAGES, (max_tokens) => ({ ...chat, max_tokens })],
  ['max_tokens of Chat', CHAT, (max_tokens) => ({ ...chat, max_tokens })],
  ['max_completion_tokens', CHAT, (max_completion_tokens) => ({ ...chat, max_completion_tokens })],
  ['max_output_tokens', RESPONSES, (max_output_tokens) => ({ model: 'm', input: 'hi', max_output_tokens })],
  [
    'maxOutputTokens',
    GENERATE,
    (maxOutputTokens) => ({ contents: [], generationConfig: { maxOutputTokens } }),
  ],
  [
    'max_output_tokens of Gemini',
    GENERATE,
    (max_output_tokens) => ({ contents: [], generation_config: { max_output_tokens } }),
  ],
];

const WRONG = [
  '"100000"',
  '-1',
  '0',
  '0.9',
  '2000.5',
  '[100000]',
  '{"value":9}',
  'true',
  '1e999',
  '1e300',
  '9007199254740993',
];

describe.each(PLACES)('an output limit in %s', (_, path, body) => {
  test.each(WRONG)('that is %s is rejected with a message', async (limit) => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    const raw = JSON.stringify(body('@limit@')).replace('"@limit@"', limit);
    const reply = await ask(lease, { path, raw });
    expect([400, 403]).toContain(reply.status);
    expect(JSON.parse(reply.text).error.message).toMatch(
      /must be a positive whole number of tokens|a field whose value has another type/,
    );
    expect(provider.seen).toEqual([]);
    expect(rig.ledger.booked).toEqual([]);
  });

  test.each([
    ['absent', undefined],
    ['null', null],
  ])('that is %s is still booked and written', async (_name, limit) => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    expect((await ask(await rig.open(), { path, body: body(limit) })).status).toBe(200);
    const { generationConfig, ...rest } = sent();
    const limits = Object.entries({ ...generationConfig, ...rest }).filter(([name]) =>
      /^max_?.*token/i.test(name),
    );
    expect(limits.map(([, value]) => value)).toEqual([rig.ledger.booked[0]?.tokensOut]);
    expect(limits[0]?.[1]).toBeGreaterThan(1000);
  });

  test('that is a whole number is the one that is booked and written', async () => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    for (const limit of [1, 999, 4096]) {
      expect((await ask(await rig.open(), { path, body: body(limit) })).status).toBe(200);
      expect(rig.ledger.booked.at(-1)?.tokensOut).toBe(limit);
      expect(
        provider.seen
          .at(-1)
          ?.body.match(/"max\w+":\d+/gi)
          ?.map((one) => Number(one.split(':')[1])),
      ).toEqual([limit]);
    }
  });
});

describe('several limits in one request', () => {
  test('are rejected if they differ, and merged if they agree', async () => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    const both = (max_tokens: unknown, max_completion_tokens: unknown) =>
      ask(lease, { path: CHAT, body: { ...chat, max_tokens, max_completion_tokens } });
    for (const [one, other] of [
      [9, 900],
      [900, 9],
      ['9', 9],
      [9, -9],
    ] as const) {
      const reply = await both(one, other);
      expect(reply.status).toBe(400);
      expect(JSON.parse(reply.text).error.message).toMatch(/differ; send one of them|positive whole number/);
    }
    expect(provider.seen).toEqual([]);
    expect((await both(9, 9)).status).toBe(200);
    expect(sent()).toEqual({ ...chat, max_completion_tokens: 9 });
    expect((await both(9, null)).status).toBe(200);
    expect(sent()).toEqual({ ...chat, max_tokens: 9 });
  });

  test('for thinking are reduced to the booked one, or removed', async () => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    const go = async (path: string, body: object) => {
      expect((await ask(lease, { path, body })).status).toBe(200);
      return sent();
    };
    const thinking = { type: 'enabled', budget_tokens: 50_000 };
    const clearing = { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] };
    const claude = { ...chat, thinking, context_management: clearing };
    expect(await go(MESSAGES, { ...claude, max_tokens: 8_000 })).toMatchObject({
      thinking: { budget_tokens: 4_000 },
      context_management: clearing,
    });
    const short = await go(MESSAGES, { ...claude, max_tokens: 1_000 });
    expect(short.thinking ?? short.context_management).toBeUndefined();
    const imitator = {
      ...chat,
      max_tokens: 8_000,
      thinking_budget: 50_000,
      reasoning: { max_tokens: 50_000, effort: 'high' },
    };
    expect(await go(CHAT, imitator)).toMatchObject({
      thinking_budget: 4_000,
      reasoning: { max_tokens: 4_000, effort: 'high' },
    });
    expect(await go(CHAT, { ...imitator, max_tokens: 100 })).toEqual({
      ...chat,
      max_tokens: 100,
      reasoning: { effort: 'high' },
    });
    const google = {
      contents: [],
      generationConfig: { maxOutputTokens: 8_000, thinkingConfig: { thinkingBudget: 50_000 } },
    };
    expect((await go(GENERATE, google)).generationConfig.thinkingConfig).toEqual({ thinkingBudget: 4_000 });
  });

  test('do not include the number of answers, which is always one', async () => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    for (const [path, body] of [
      [CHAT, { ...chat, n: 50, best_of: 50 }],
      [RESPONSES, { model: 'm', input: 'hi', n: 50 }],
      [GENERATE, { contents: [], generationConfig: { candidateCount: 8 } }],
      [GENERATE, { contents: [], generation_config: { candidate_count: 8 } }],
    ] as const) {
      expect((await ask(lease, { path, body })).status).toBe(200);
      expect(provider.seen.at(-1)?.body).not.toMatch(/"n"|best_of|candidate_?count/i);
    }
  });
});

/** What a provider sends that ignores its limit: an event of a stream, and its error at the end, by protocol. */
const STREAMS: Readonly<Record<ModelProtocol, readonly [string, object, (used: number) => object, RegExp]>> =
  {
    anthropic: [
      MESSAGES,
      { ...PROMPT, stream: true },
      (used) => ({ type: 'message_delta', delta: {}, usage: { input_tokens: 1, output_tokens: used } }),
      /^event: error$/m,
    ],
    'openai-chat': [
      CHAT,
      { ...PROMPT, stream: true },
      (used) => ({
        choices: [{ delta: { content: 'x' } }],
        usage: { prompt_tokens: 1, completion_tokens: used },
      }),
      /"error":\{"message"/,
    ],
    'openai-responses': [
      RESPONSES,
      { model: 'm', input: 'hi', max_output_tokens: 1000, stream: true },
      (used) => ({
        type: 'response.in_progress',
        response: { usage: { input_tokens: 1, output_tokens: used } },
      }),
      /^event: error$/m,
    ],
    gemini: [
      '/v1beta/models/m:streamGenerateContent?alt=sse',
      { contents: [], generationConfig: { maxOutputTokens: 1000 } },
      (used) => ({ candidates: [], usageMetadata: { promptTokenCount: 1, candidatesTokenCount: used } }),
      /"status":"INVALID_ARGUMENT"/,
    ],
  };

describe('a provider that ignores the limit', () => {
  test.each(Object.entries(STREAMS))(
    'has its stream cut by its own count (%s)',
    async (_, [path, body, event, ending]) => {
      provider = await startProvider(async (_body, response) => {
        for (let used = 100; !response.destroyed; used += 100) {
          sse(response, event(used));
          await new Promise(setImmediate);
        }
      });
      await using rig = await openRig(provider.url);
      const lease = await rig.open();
      const reply = await ask(lease, { path, body });
      await provider.aborted;
      expect(reply.text).toMatch(ending);
      expect(reply.text.endsWith('\n\n')).toBe(true);
      expect(lease.refusal()).toMatch(/more than the output limit/);
      await lease.close();
      expect(rig.ledger.rows).toMatchObject([{ exact: false }]);
      // Booked were 1,000; what it told when it was cut is what it costs.
      expect(rig.ledger.rows[0]?.tokensOut).toBeGreaterThan(1_000);
      expect(rig.ledger.rows[0]?.tokensOut).toBeLessThan(2_000);
    },
  );

  test('has its stream cut when it writes in unknown fields', async () => {
    const line = `data: ${JSON.stringify({ choices: [{ delta: { secret: 'x'.repeat(60_000) } }] })}\n\n`;
    let written = 0;
    provider = await startProvider((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const more = () => {
        written += line.length;
        if (!response.destroyed) response.write(line, () => setImmediate(more));
      };
      more();
    });
    await using rig = await openRig(provider.url);
    const reply = await ask(await rig.open(), { path: CHAT, body: { ...PROMPT, stream: true } });
    await provider.aborted;
    expect(reply.text).toContain('output limit');
    expect(written).toBeLessThan(64 * 2 ** 20);
  });

  test.each([
    ['anthropic', MESSAGES, PROMPT, /"type":"error"/],
    ['openai-chat', CHAT, PROMPT, /"error":\{"message"/],
    [
      'openai-responses',
      RESPONSES,
      { model: 'm', input: 'hi', max_output_tokens: 1000 },
      /"error":\{"message"/,
    ],
    ['gemini', GENERATE, { contents: [], generationConfig: { maxOutputTokens: 1000 } }, /"code":502/],
  ] as const)('has its plain answer cut, and its client gets an error (%s)', async (_, path, body, error) => {
    provider = await startProvider((_body, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"text":"');
      const more = () => {
        if (!response.destroyed) response.write('x'.repeat(4096), () => setImmediate(more));
      };
      more();
    });
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    const reply = await ask(lease, { path, body });
    await provider.aborted;
    expect(reply).toMatchObject({
      status: 502,
      headers: { 'content-type': 'application/json', 'x-should-retry': 'false' },
    });
    expect(reply.text).toMatch(error);
    expect(JSON.parse(reply.text).error.message).toMatch(/more than the output limit/);
    await lease.close();
    // All that may have been written is what it can have cost.
    expect(rig.ledger.rows).toMatchObject([{ exact: false }]);
    expect(rig.ledger.rows[0]?.tokensOut).toBeGreaterThan(20_000);
  });

  test('is distinguished from long escapes and comments, which are not output', async () => {
    const text = '\u0001'.repeat(5_000);
    provider = await startProvider((body, response) => {
      if (body.stream !== true)
        return json(response, 200, { ...message(1, 1000), content: [{ type: 'text', text }] });
      for (let at = 0; at < 100; at += 1) sse(response, `${' '.repeat(1000)}`);
      response.write(`: ${'keep-alive '.repeat(1_000_000)}\n\n`);
      sse(response, { type: 'content_block_delta', delta: { text: 'x'.repeat(4_000) } });
      sse(response, {
        type: 'message_delta',
        delta: { stop_reason: 'max_tokens' },
        usage: { input_tokens: 1, output_tokens: 1_050 },
      });
      sse(response, { type: 'message_stop' });
      response.end();
    });
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    const whole = await ask(lease, { body: PROMPT });
    expect(JSON.parse(whole.text).content[0].text).toBe(text);
    const stream = await ask(lease, { body: { ...PROMPT, stream: true } });
    expect(stream.text).toContain('message_stop');
    expect(stream.text).not.toContain('output limit');
    expect(rig.ledger.rows).toMatchObject([{ exact: true }, { exact: true, tokensOut: 1_050 }]);
  });
});
