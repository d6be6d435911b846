import { afterEach, describe, expect, test } from 'vitest';
import {
  ANTHROPIC_KEY,
  type Answering,
  ask,
  begin,
  GOOGLE_KEY,
  json,
  memoryLedger,
  OPENAI_KEY,
  openRig,
  PRICE,
  PROMPT,
  type Provider,
  startProvider,
} from './rig.ts';

let provider: Provider;
afterEach(() => provider.close());

/** All vendors at one address, as if it were their own. */
const vendors = (baseUrl: string) => ({
  providers: {
    anthropic: { baseUrl, key: ANTHROPIC_KEY, official: true, protocols: ['anthropic'] as const },
    openai: {
      baseUrl: `${baseUrl}/v1`,
      key: OPENAI_KEY,
      official: true,
      protocols: ['openai-responses'] as const,
    },
    google: { baseUrl, key: GOOGLE_KEY, official: true, protocols: ['gemini'] as const },
  },
});
const isCount = (path: string | undefined) => /count/i.test(path ?? '');

/** A vendor that never answers a call, and counts as it is told. */
const silent = (count: Answering) =>
  startProvider((body, response, request) => {
    if (isCount(request.url)) return count(body, response, request);
  });

const MESSAGES = { path: '/v1/messages', body: { ...PROMPT, temperature: 0, metadata: { user_id: 'u' } } };
const GEMINI = {
  path: '/v1beta/models/m:generateContent',
  body: {
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    generationConfig: { maxOutputTokens: 1000 },
  },
};

/** Ledger row of a call that was hung up when it was at the provider. */
async function hungUp(call: object, options: object = vendors(provider.url)) {
  await using rig = await openRig(provider.url, options);
  const lease = await rig.open({ models: ['anthropic/m', 'openai/m', 'google/m'] });
  const leave = new AbortController();
  const asked = begin(lease, call, leave.signal).catch(() => 'gone');
  await expect.poll(() => provider.seen.length).toBeGreaterThan(0);
  leave.abort();
  await asked;
  await lease.close();
  return { row: rig.ledger.rows[0], most: rig.ledger.booked[0]?.tokensIn, log: rig.log.lines.join() };
}

describe('the input of a call that was cut is settled as its vendor counts it', () => {
  test('Anthropic', async () => {
    provider = await silent((_, response) => json(response, 200, { input_tokens: 1_000 }));
    const { row } = await hungUp(MESSAGES);
    // Five in a hundred and a hundred tokens more than an estimate.
    expect(row).toMatchObject({ tokensIn: 1_150, tokensOut: 1_000, exact: false, status: 499 });
    expect(row?.usd).toBeCloseTo((1_150 * PRICE.cacheWrite + 1_000 * PRICE.output) / 1e6, 9);
    const [, asked] = provider.seen;
    expect(asked?.path).toBe('/v1/messages/count_tokens');
    expect(asked?.headers['x-api-key']).toBe(ANTHROPIC_KEY);
    expect(JSON.parse(asked?.body ?? '')).toEqual({ model: 'm', messages: PROMPT.messages });
  });

  test('Gemini', async () => {
    provider = await silent((_, response) => json(response, 200, { totalTokens: 1_000 }));
    const { row } = await hungUp(GEMINI);
    expect(row).toMatchObject({ tokensIn: 1_150, tokensOut: 1_000, exact: false });
    expect(provider.seen[1]?.path).toBe('/v1beta/models/m:countTokens');
    expect(JSON.parse(provider.seen[1]?.body ?? '').generateContentRequest).toMatchObject({
      model: 'models/m',
    });
  });
});

describe('a cut call is settled at its maximum', () => {
  test.each<[string, Answering]>([
    ['where counting fails', (_, response) => json(response, 500, {})],
    ['where the count is no number', (_, response) => json(response, 200, { input_tokens: '7' })],
    ['where the count is nothing', (_, response) => json(response, 200, { input_tokens: 0 })],
    ['where the count is higher still', (_, response) => json(response, 200, { input_tokens: 1e9 })],
    ['where the count is no JSON', (_, response) => response.end('<html>')],
    ['where counting breaks off', (_, response) => response.destroy()],
  ])('%s', async (_, count) => {
    provider = await silent(count);
    const { row, most, log } = await hungUp(MESSAGES);
    expect(row).toMatchObject({ tokensIn: most, tokensOut: 1_000, exact: false });
    expect(log).not.toContain(ANTHROPIC_KEY);
  });

  test.each<[string, object, object | undefined]>([
    [
      'of a provider that may bill for counting',
      { path: '/v1/responses', body: { model: 'm', input: 'hi' } },
      undefined,
    ],
    ['of one that only speaks the protocol', MESSAGES, {}],
  ])('for %s, which is not asked', async (_, call, options) => {
    provider = await silent((_body, response) => json(response, 200, { input_tokens: 1 }));
    const { row, most } = await hungUp(call, options ?? vendors(provider.url));
    expect(row).toMatchObject({ tokensIn: most, exact: false });
    expect(provider.seen).toHaveLength(1);
  });

  test('after thirty token counts in a minute', async () => {
    provider = await startProvider((_, response, request) => {
      if (isCount(request.url)) return json(response, 200, { input_tokens: 10 });
      response.destroy();
    });
    await using rig = await openRig(provider.url, vendors(provider.url));
    const lease = await rig.open({ models: ['anthropic/m'], capUsd: 50, runCapUsd: 50, ttlMs: 600_000 });
    for (let call = 0; call < 12; call += 1) await ask(lease);
    const counted = () => provider.seen.filter(({ path }) => isCount(path)).length;
    // Each call was tried three times.
    expect(rig.ledger.rows).toHaveLength(36);
    expect(counted()).toBe(30);
    rig.clock.advance(61_000);
    await ask(lease);
    expect(counted()).toBe(33);
  });
});

test('a booking stays while the vendor counts', async () => {
  const count = Promise.withResolvers<void>();
  provider = await silent(async (_, response) => {
    await count.promise;
    json(response, 200, { input_tokens: 10 });
  });
  const ledger = memoryLedger();
  await using rig = await openRig(provider.url, { ...vendors(provider.url), ledger });
  const lease = await rig.open({ models: ['anthropic/m'] });
  const leave = new AbortController();
  const asked = begin(lease, MESSAGES, leave.signal).catch(() => 'gone');
  await expect.poll(() => provider.seen.length).toBe(1);
  leave.abort();
  await asked;
  await expect.poll(() => provider.seen.length).toBe(2);
  expect(ledger.rows).toEqual(ledger.booked);
  count.resolve();
  await lease.close();
  expect(ledger.rows).toMatchObject([{ tokensIn: 111, status: 499 }]);
});
