import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { MODEL_PROTOCOLS } from '../../src/core/settings/index.ts';
import type { Gateway, Grant, Lease } from '../../src/ports/index.ts';

/** A gateway before a provider that answers every call on `model` with some usage. */
export interface GatewayWorld extends AsyncDisposable {
  readonly gateway: Gateway;
  /** Names as in a grant: one that works, one whose price nobody knows, one for which there is no key. */
  readonly model: string;
  readonly unpriced: string;
  readonly keyless: string;
}

/** What every gateway promises. */
export function gatewayContract(name: string, open: () => Promise<GatewayWorld>): void {
  const grant = (world: GatewayWorld, changed: Partial<Grant> = {}): Grant => ({
    runId: 'r7k2m9q4xa',
    spender: 'A',
    repository: 'github-42',
    models: [world.model],
    capUsd: 1,
    runCapUsd: 2,
    ttlMs: 60_000,
    ...changed,
  });

  describe(`the ${name} gateway`, () => {
    test('tells how a model is called', async () => {
      await using world = await open();
      const route = world.gateway.route(world.model);
      expect(world.model).toBe(`${world.model.split('/')[0]}/${route.model}`);
      expect(MODEL_PROTOCOLS).toContain(route.protocol);
    });

    test('refuses a model without a key or a price before anything is spent', async () => {
      await using world = await open();
      const { gateway, keyless, unpriced } = world;
      expect(() => gateway.route(keyless)).toThrow(expect.objectContaining({ code: 'MODEL_KEY_MISSING' }));
      expect(() => gateway.route(unpriced)).toThrow(expect.objectContaining({ code: 'MODEL_PRICE_UNKNOWN' }));
      await expect(gateway.open(grant(world, { models: [unpriced] }))).rejects.toMatchObject({
        code: 'MODEL_PRICE_UNKNOWN',
      });
    });

    test('uses the caller’s order of protocols, and rejects a model that supports none of them', async () => {
      await using world = await open();
      const { gateway, model } = world;
      const { protocol } = gateway.route(model);
      const others = MODEL_PROTOCOLS.filter((one) => one !== protocol);
      expect(gateway.route(model, { protocols: [protocol, ...others] }).protocol).toBe(protocol);
      expect(() => gateway.route(model, { protocols: [] })).toThrow(
        expect.objectContaining({ code: 'MODEL_MISMATCH' }),
      );
    });

    test('allows a model without a price if its tokens are capped', async () => {
      await using world = await open();
      const { gateway, unpriced } = world;
      expect(unpriced.endsWith(gateway.route(unpriced, { capTokens: 1000 }).model)).toBe(true);
      const lease = await gateway.open(grant(world, { models: [unpriced], capTokens: 20_000 }));
      const content = { ...body(world), model: gateway.route(unpriced, { capTokens: 1000 }).model };
      expect(await call(world, lease, lease.key, content)).toBe(200);
      expect(lease.usage()).toMatchObject({ calls: 1, usd: 0 });
      expect(lease.usage().tokensOut).toBeGreaterThan(0);
      const poor = await gateway.open(grant(world, { spender: 'B', models: [unpriced], capTokens: 1 }));
      expect(await call(world, poor, poor.key, content)).toBe(402);
      expect(poor.refusal()).toMatch(/tokens of B/);
    });

    test('knows when a model last answered', async () => {
      await using world = await open();
      const lease = await world.gateway.open(grant(world));
      expect(lease.lastActivity()).toBeNull();
      await call(world, lease, '');
      expect(lease.lastActivity()).toBeNull();
      await call(world, lease, lease.key);
      expect(lease.lastActivity()).toBeGreaterThan(0);
    });

    test('lists the models of every provider, and never rejects', async () => {
      await using world = await open();
      const offers = await world.gateway.offers();
      expect(offers.map((offer) => offer.provider)).toContain(world.model.split('/')[0]);
      const stopped = await world.gateway.offers(AbortSignal.abort());
      expect(stopped.every((offer) => offer.kind === 'failed')).toBe(true);
    });

    test('answers on the socket of a lease to its key only', async () => {
      await using world = await open();
      const lease = await world.gateway.open(grant(world));
      const other = await world.gateway.open(grant(world, { spender: 'B' }));
      expect(other.key).not.toBe(lease.key);
      expect(await call(world, lease, lease.key)).toBe(200);
      expect(await call(world, lease, other.key)).toBe(403);
      expect(await call(world, lease, '')).toBe(403);
    });

    test("counts a spender's usage, including earlier leases, and reports it after each call", async () => {
      await using world = await open();
      const told: number[] = [];
      const first = await world.gateway.open(grant(world), (usage) => told.push(usage.calls));
      await call(world, first, first.key);
      await call(world, first, first.key);
      await first.close();
      expect(told).toEqual([1, 2]);
      expect(first.usage()).toMatchObject({ calls: 2 });
      expect(first.usage().usd).toBeGreaterThan(0);

      const second = await world.gateway.open(grant(world));
      expect(second.usage()).toEqual(first.usage());
      const stranger = await world.gateway.open(grant(world, { spender: 'B' }));
      expect(stranger.usage().calls).toBe(0);
    });

    test('answers 402 at the cap of the spender or the run, and names it', async () => {
      await using world = await open();
      const poor = await world.gateway.open(grant(world, { capUsd: 0 }));
      expect(await call(world, poor, poor.key)).toBe(402);
      expect(poor.refusal()).toContain('of A');
      const late = await world.gateway.open(grant(world, { spender: 'B', runCapUsd: 0 }));
      expect(await call(world, late, late.key)).toBe(402);
      expect(late.refusal()).toContain('of the run');
      expect(late.usage().calls).toBe(0);
    });

    test('forgets a rejection after a successful call', async () => {
      await using world = await open();
      const lease = await world.gateway.open(grant(world));
      expect(lease.refusal()).toBeNull();
      await call(world, lease, lease.key, { ...body(world), model: 'something-else' });
      expect(lease.refusal()).not.toBeNull();
      await call(world, lease, lease.key);
      expect(lease.refusal()).toBeNull();
    });

    test('closes a lease for good, and closing twice is no error', async () => {
      await using world = await open();
      const lease = await world.gateway.open(grant(world));
      expect(existsSync(lease.socket)).toBe(true);
      await lease.close();
      await lease.close();
      expect(existsSync(lease.socket)).toBe(false);
      await expect(call(world, lease, lease.key)).rejects.toThrow();
    });

    test('keeps socket paths short enough for the kernel', async () => {
      await using world = await open();
      const lease = await world.gateway.open(grant(world));
      expect(Buffer.byteLength(lease.socket)).toBeLessThan(100);
    });
  });
}

const PATHS = {
  anthropic: '/v1/messages',
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
  gemini: '/v1beta/models/m:generateContent',
} as const;

const body = (world: GatewayWorld) => ({
  model: world.gateway.route(world.model).model,
  max_tokens: 300,
  messages: [{ role: 'user', content: 'Say something.' }],
});

function call(
  world: GatewayWorld,
  lease: Lease,
  key: string,
  content: object = body(world),
): Promise<number> {
  const path = PATHS[world.gateway.route(world.model).protocol];
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        socketPath: lease.socket,
        method: 'POST',
        path,
        agent: false,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      },
      (answer) => {
        answer.resume();
        answer.on('end', () => resolve(answer.statusCode ?? 0));
      },
    );
    sent.on('error', reject);
    sent.end(JSON.stringify(content));
  });
}
