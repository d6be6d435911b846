import { describe, expect, test } from 'vitest';
import { openGateway, type Providers } from '../../../src/adapters/gateway/index.ts';
import { MODEL_PROTOCOLS, type ModelProtocol, PROVIDERS } from '../../../src/core/settings/index.ts';
import { gatewayContract } from '../../contracts/gateway.suite.ts';
import {
  ANTHROPIC_KEY,
  ask,
  GOOGLE_KEY,
  json,
  memoryLedger,
  memoryLog,
  message,
  OPENAI_KEY,
  openRig,
  startProvider,
} from './rig.ts';

gatewayContract('metering', async () => {
  const provider = await startProvider((_, response) => json(response, 200, message(100, 20)));
  const rig = await openRig(provider.url, {
    providers: {
      anthropic: { baseUrl: provider.url, key: ANTHROPIC_KEY, official: false, protocols: ['anthropic'] },
    },
  });
  return {
    gateway: rig.gateway,
    model: 'anthropic/m',
    unpriced: 'anthropic/nobody-knows-this',
    keyless: 'openai/gpt-5.5',
    async [Symbol.asyncDispose]() {
      await rig[Symbol.asyncDispose]();
      await provider.close();
    },
  };
});

const withProviders = (providers: Providers) => gatewayIn('/tmp', providers);
const gatewayIn = (dir: string, providers: Providers) =>
  openGateway({
    dir,
    providers,
    prices: {},
    dayCaps: { repositoryUsd: 1, everythingUsd: 1 },
    ledger: memoryLedger(),
    clock: { now: () => Date.UTC(2026, 10, 20), elapsed: () => 0, sleep: async () => {} },
    log: memoryLog(),
  });
const official: Providers = {
  anthropic: { ...PROVIDERS.anthropic, key: ANTHROPIC_KEY, official: true },
  openai: { ...PROVIDERS.openai, key: OPENAI_KEY, official: true },
};

describe('the models of a run whose settings name none', () => {
  test('follow from the keys, and each has a known price', () => {
    const gateway = withProviders(official);
    expect(gateway.defaultModels()).toEqual(['anthropic/claude-sonnet-5', 'openai/gpt-6-sol']);
    for (const model of gateway.defaultModels()) expect(gateway.route(model).model).toBe(model.split('/')[1]);
    expect(gateway.route('openai/gpt-6-sol').protocol).toBe('openai-responses');
  });

  test('are empty without a key', () => {
    expect(withProviders({}).defaultModels()).toEqual([]);
  });

  test("must be named if the address is not the vendor's", () => {
    const own = {
      baseUrl: 'https://api.deepseek.com',
      key: OPENAI_KEY,
      official: false,
      protocols: ['openai-chat'],
    } as const;
    expect(withProviders({ openai: own }).defaultModels()).toEqual([]);
    const named = withProviders({ openai: { ...own, defaultModel: 'deepseek-chat' } });
    expect(named.defaultModels()).toEqual(['openai/deepseek-chat']);
    expect(named.route('openai/deepseek-chat')).toEqual({ protocol: 'openai-chat', model: 'deepseek-chat' });
  });

  test('have a name with a provider', () => {
    const { route } = withProviders(official);
    expect(() => route('claude-sonnet-5')).toThrow(/write provider\/model/);
    expect(() => route('google/gemini-3')).toThrow(
      expect.objectContaining({
        code: 'MODEL_KEY_MISSING',
        message: expect.stringContaining('GEMINI_API_KEY is not set'),
      }),
    );
    expect(() => route('acme/x')).toThrow(
      expect.objectContaining({
        code: 'MODEL_UNKNOWN',
        message: expect.stringMatching(/no provider acme .* anthropic, openai, google/),
      }),
    );
    expect(() => route('antropic/x')).toThrow(/Did you mean anthropic\/x\?/);
    expect(() => route('constructor/x')).toThrow(/no provider constructor/);
  });
});

describe('the route to a model', () => {
  const gateway = withProviders({
    ...official,
    google: { ...PROVIDERS.google, key: GOOGLE_KEY, official: true },
    openrouter: { ...PROVIDERS.openrouter, key: OPENAI_KEY, official: true },
  });

  test("is the agent's first protocol that the provider supports", () => {
    const protocols = (name: string, ...wanted: ModelProtocol[]) =>
      gateway.route(name, { protocols: wanted }).protocol;
    expect(protocols('openai/gpt-6-sol', 'anthropic', 'openai-chat', 'openai-responses')).toBe('openai-chat');
    expect(protocols('openai/gpt-6-sol', 'openai-responses', 'openai-chat')).toBe('openai-responses');
    expect(protocols('google/gemini-2.5-pro', ...MODEL_PROTOCOLS)).toBe('gemini');
    expect(gateway.route('google/gemini-2.5-pro')).toEqual({ protocol: 'gemini', model: 'gemini-2.5-pro' });
  });

  test("keeps slashes in a model's name", () => {
    expect(gateway.route('openrouter/anthropic/claude-sonnet-5')).toEqual({
      protocol: 'openai-chat',
      model: 'anthropic/claude-sonnet-5',
    });
  });

  test('does not exist where agent and provider share no protocol', () => {
    expect(() => gateway.route('google/gemini-2.5-pro', { protocols: ['anthropic', 'openai-chat'] })).toThrow(
      expect.objectContaining({
        code: 'MODEL_MISMATCH',
        message: 'google/gemini-2.5-pro cannot be called as anthropic or openai-chat: google speaks gemini.',
      }),
    );
  });

  test('exists for a model without a price only if its tokens are capped', () => {
    expect(() => gateway.route('openai/nobody-knows')).toThrow(
      expect.objectContaining({ code: 'MODEL_PRICE_UNKNOWN' }),
    );
    expect(gateway.route('openai/nobody-knows', { capTokens: 1 }).model).toBe('nobody-knows');
  });
});

test('a data folder whose path is too long is rejected with the reason', () => {
  const dir = `/tmp/${'x'.repeat(90)}`;
  expect(() => gatewayIn(dir, {})).toThrow(
    expect.objectContaining({
      code: 'ENVIRONMENT_INVALID',
      message: expect.stringContaining('shorter path'),
    }),
  );
});

test('a restart does not reset the budget', async () => {
  const provider = await startProvider((_, response) => json(response, 200, message(100, 900)));
  await using before = await openRig(provider.url);
  const first = await before.open();
  expect((await ask(first)).status).toBe(200);
  await before.gateway.close();

  await using after = await openRig(provider.url, { ledger: before.ledger });
  // Enough for a call, but not for a second one.
  const cap = first.usage().usd + 0.0005;
  const again = await after.open({ capUsd: cap });
  expect(again.usage()).toEqual(first.usage());
  expect((await ask(again)).status).toBe(402);
  const other = await after.open({ spender: 'B', runCapUsd: cap });
  expect((await ask(other)).status).toBe(402);
  const elsewhere = await after.open({ runId: 'r2', capUsd: cap, runCapUsd: cap });
  expect((await ask(elsewhere)).status).toBe(200);
  await provider.close();
});
