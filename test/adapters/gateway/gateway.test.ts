import { describe, expect, test } from 'vitest';
import { openGateway, PROVIDER_URLS, type Providers } from '../../../src/adapters/gateway/index.ts';
import { gatewayContract } from '../../contracts/gateway.suite.ts';
import {
  ANTHROPIC_KEY,
  ask,
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
    providers: { anthropic: { baseUrl: provider.url, key: ANTHROPIC_KEY } },
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
    ledger: memoryLedger(),
    clock: { now: () => Date.UTC(2026, 10, 20), sleep: async () => {} },
    log: memoryLog(),
  });
const official = {
  anthropic: { baseUrl: PROVIDER_URLS.anthropic, key: ANTHROPIC_KEY },
  openai: { baseUrl: PROVIDER_URLS.openai, key: OPENAI_KEY, protocol: 'openai-responses' as const },
};

describe('the models of a run whose settings name none', () => {
  test('follow from the keys, and each has a known price', () => {
    const gateway = withProviders(official);
    expect(gateway.defaultModels()).toEqual(['anthropic/claude-sonnet-5', 'openai/gpt-6-sol']);
    for (const model of gateway.defaultModels()) expect(gateway.route(model).model).toBe(model.split('/')[1]);
    expect(gateway.route('openai/gpt-6-sol').protocol).toBe('openai-responses');
  });

  test('are none without a key', () => {
    expect(withProviders({}).defaultModels()).toEqual([]);
  });

  test('must be named for an address that is not the vendor’s', () => {
    const own = { baseUrl: 'https://api.deepseek.com', key: OPENAI_KEY, protocol: 'openai-chat' as const };
    expect(withProviders({ openai: own }).defaultModels()).toEqual([]);
    const named = withProviders({ openai: { ...own, defaultModel: 'deepseek-chat' } });
    expect(named.defaultModels()).toEqual(['openai/deepseek-chat']);
    expect(named.route('openai/deepseek-chat')).toEqual({ protocol: 'openai-chat', model: 'deepseek-chat' });
  });

  test('have a name with a provider', () => {
    const { route } = withProviders(official);
    expect(() => route('claude-sonnet-5')).toThrow(/write provider\/model/);
    expect(() => route('google/gemini-3')).toThrow(expect.objectContaining({ code: 'MODEL_KEY_MISSING' }));
  });
});

test('a data folder with too long a path is refused with the reason', () => {
  const dir = `/tmp/${'x'.repeat(90)}`;
  expect(() => gatewayIn(dir, {})).toThrow(
    expect.objectContaining({
      code: 'ENVIRONMENT_INVALID',
      message: expect.stringContaining('shorter path'),
    }),
  );
});

test('a restart gives no fresh budget', async () => {
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
