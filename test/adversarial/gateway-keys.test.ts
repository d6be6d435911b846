import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { createRedactor } from '../../src/adapters/gateway/answer-stream.ts';
import {
  ANTHROPIC_KEY,
  ask,
  GOOGLE_KEY,
  json,
  message,
  OPENAI_KEY,
  openRig,
  type Provider,
  type Rig,
  sse,
  startProvider,
} from '../adapters/gateway/rig.ts';

let provider: Provider;
afterEach(() => provider.close());

const honest = () => startProvider((_, response) => json(response, 200, message(1, 1)));
const CHAT = '/v1/chat/completions';

/** Nothing of this must ever hold a real key. */
function expectNoKeys(...texts: readonly unknown[]): void {
  const all = JSON.stringify(texts);
  for (const key of [ANTHROPIC_KEY, OPENAI_KEY, GOOGLE_KEY]) expect(all).not.toContain(key);
}

describe('the real keys', () => {
  const traces = async (rig: Rig, ...more: unknown[]) =>
    expectNoKeys(rig.ledger.rows, rig.log.lines, await rig.ledger.usage('r1'), ...more);

  test("reach the provider instead of the candidate's own authorisation", async () => {
    provider = await honest();
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    const smuggled = {
      authorization: `Bearer ${lease.key}`,
      cookie: 'a=b',
      'x-api-key': lease.key,
      'x-goog-api-key': lease.key,
      'api-key': 'other',
      'openai-organization': 'org-other',
      'x-forwarded-for': '1.2.3.4',
      'proxy-authorization': 'Basic eA==',
      forwarded: 'for=1.2.3.4',
      host: 'attacker.example',
      'anthropic-beta': 'effort-2025-11-24',
    };
    await ask(lease, { headers: smuggled });
    await ask(lease, { path: CHAT, headers: smuggled });
    const path = `/v1beta/models/m:generateContent?key=${lease.key}&alt=sse&$fields=x`;
    await ask(lease, { path, headers: smuggled, body: { contents: [] } });
    const [claude, gpt, gemini] = provider.seen.map((seen) => seen.headers);
    expect(provider.seen[2]?.path).toBe('/v1beta/models/m:generateContent');
    expect(gemini?.['x-goog-api-key']).toBe(GOOGLE_KEY);
    expect(gemini?.authorization).toBeUndefined();
    expect(gemini?.['x-api-key']).toBeUndefined();
    expect(gpt?.['x-goog-api-key']).toBeUndefined();
    expect(claude).toMatchObject({ 'x-api-key': ANTHROPIC_KEY, 'anthropic-beta': 'effort-2025-11-24' });
    expect(gpt?.authorization).toBe(`Bearer ${OPENAI_KEY}`);
    expect(claude?.authorization).toBeUndefined();
    expect(gpt?.['x-api-key']).toBeUndefined();
    for (const headers of [claude, gpt, gemini]) {
      const all = JSON.stringify(headers);
      for (const trace of [lease.key, 'org-other', '1.2.3.4', 'attacker', 'a=b', 'other'])
        expect(all).not.toContain(trace);
    }
    await traces(rig, lease);
  });

  test.each([400, 401, 403, 404, 429, 500, 200])(
    'stay secret when a provider echoes them with HTTP %d',
    async (status) => {
      provider = await startProvider((_, response, request) => {
        response.setHeader('x-request-id', `id ${request.headers['x-api-key']}`);
        response.setHeader('set-cookie', `key=${ANTHROPIC_KEY}`);
        response.setHeader('location', `https://attacker.example/${ANTHROPIC_KEY}`);
        json(response, status, { error: { message: `Incorrect key: ${ANTHROPIC_KEY}, not ${OPENAI_KEY}.` } });
      });
      await using rig = await openRig(provider.url);
      const lease = await rig.open();
      const reply = await ask(lease);
      expectNoKeys(reply, lease.refusal());
      await traces(rig, lease);
      if (![401, 403].includes(status)) expect(reply.text).toContain('[redacted]');
    },
  );

  test('stay secret in a stream that is cut anywhere', async () => {
    provider = await startProvider((_, response) => {
      sse(response, { delta: { text: 'a' } });
      for (const byte of Buffer.from(`data: {"delta":{"text":"${OPENAI_KEY}${ANTHROPIC_KEY}"}}\n\n`)) {
        response.write(Buffer.of(byte));
      }
      response.end(`: ${ANTHROPIC_KEY.slice(0, -1)}`);
    });
    await using rig = await openRig(provider.url);
    const reply = await ask(await rig.open());
    expectNoKeys(reply);
    // A part of a key is no key: what was held back comes at the end.
    expect(reply.text.endsWith(ANTHROPIC_KEY.slice(0, -1))).toBe(true);
  });

  test('stay secret when the provider is not there', async () => {
    provider = await honest();
    await provider.close();
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    const reply = await ask(lease);
    expect(reply.status).toBe(502);
    expect(lease.refusal()).toContain('cannot be reached');
    expect(lease.usage().usd).toBe(0);
    await traces(rig, lease, reply);
    provider = await honest();
  });

  test('are not sent to the target of a redirect', async () => {
    const elsewhere = await honest();
    provider = await startProvider((_, response) => {
      response.writeHead(307, { location: `${elsewhere.url}/v1/messages` });
      response.end();
    });
    await using rig = await openRig(provider.url);
    expect((await ask(await rig.open())).status).toBe(502);
    expect(elsewhere.seen).toEqual([]);
    await elsewhere.close();
  });

  test('cannot hide in an unreadable answer', async () => {
    provider = await startProvider((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(gzipSync(ANTHROPIC_KEY));
    });
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    const reply = await ask(lease);
    expect(reply.status).toBe(502);
    expect(reply.headers['content-encoding']).toBeUndefined();
    expect(lease.usage().usd).toBeGreaterThan(0);
  });

  test('are removed from any text, however it is split, and nothing else changes', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom(ANTHROPIC_KEY, OPENAI_KEY, ANTHROPIC_KEY.slice(0, 9), OPENAI_KEY.slice(5)),
    );
    provider = { close: async () => {} } as Provider;
    fc.assert(
      fc.property(fc.array(piece), fc.array(fc.nat({ max: 30 })), (pieces, cuts) => {
        const whole = Buffer.from(pieces.join(''));
        const redactor = createRedactor([ANTHROPIC_KEY, OPENAI_KEY]);
        const out: Buffer[] = [];
        let at = 0;
        for (const size of cuts) {
          out.push(redactor.push(whole.subarray(at, at + size)));
          at += size;
        }
        out.push(redactor.push(whole.subarray(at)), redactor.end());
        const expected = whole
          .toString()
          .replaceAll(ANTHROPIC_KEY, '[redacted]')
          .replaceAll(OPENAI_KEY, '[redacted]');
        expect(Buffer.concat(out).toString()).toBe(expected);
      }),
    );
  });
});
