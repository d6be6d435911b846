import { createServer, type RequestListener, type Server } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { ANTHROPIC_KEY, GOOGLE_KEY, json, listen, OPENAI_KEY, openRig, shut } from './rig.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await shut(server);
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  return listen(server);
}

const access = (url: string) => ({
  providers: {
    openai: {
      baseUrl: `${url}/v1`,
      key: OPENAI_KEY,
      official: false,
      protocols: ['openai-responses', 'openai-chat'],
    },
  } as const,
});

describe('the models of providers', () => {
  test('are requested from each in its own way, with known prices', async () => {
    const asked: [string | undefined, unknown][] = [];
    const url = await serve((request, response) => {
      const { headers } = request;
      asked.push([request.url, headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers.authorization]);
      if (request.url === '/v1beta/models?pageSize=1000') {
        const methods = (...supportedGenerationMethods: string[]) => ({ supportedGenerationMethods });
        return json(response, 200, {
          models: [
            { name: 'models/gemini-2.5-pro', ...methods('generateContent', 'countTokens') },
            { name: 'models/embedding-1', ...methods('embedContent') },
          ],
        });
      }
      if (request.url === '/v1/models?limit=1000') return json(response, 200, { data: [{ id: 'm' }] });
      json(response, 200, {
        object: 'list',
        data: [{ id: 'z/unpriced' }, { id: 'm' }, { id: 7 }, { id: 'a\u001b[2J' }],
      });
    });
    await using rig = await openRig(url);
    expect(await rig.gateway.offers()).toEqual([
      { kind: 'models', provider: 'anthropic', models: [{ id: 'm', price: { input: 1, output: 10 } }] },
      {
        kind: 'models',
        provider: 'openai',
        models: [
          { id: 'm', price: { input: 1, output: 10 } },
          { id: 'z/unpriced', price: null },
        ],
      },
      {
        kind: 'models',
        provider: 'google',
        // Dearer above 200,000 tokens of input; this is the price below.
        models: [{ id: 'gemini-2.5-pro', price: { input: 1.25, output: 10 } }],
      },
    ]);
    expect(asked.toSorted()).toEqual([
      ['/v1/models', `Bearer ${OPENAI_KEY}`],
      ['/v1/models?limit=1000', ANTHROPIC_KEY],
      ['/v1beta/models?pageSize=1000', GOOGLE_KEY],
    ]);
  });

  test.each<[string, RequestListener, string]>([
    [
      'refuses the key',
      (_, response) => json(response, 401, { error: OPENAI_KEY }),
      'It refused the key (HTTP 401).',
    ],
    [
      'is in trouble',
      (_, response) => json(response, 500, { error: OPENAI_KEY }),
      'It answered with HTTP 500.',
    ],
    [
      'changes the protocol of the connection',
      (_, response) =>
        response.socket?.write(
          'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
        ),
      'It answered with HTTP 101.',
    ],
    [
      'sends no JSON',
      (_, response) => response.end(`<b>${OPENAI_KEY}`),
      'Its answer is not a list of models.',
    ],
    [
      'sends another list',
      (_, response) => json(response, 200, [OPENAI_KEY]),
      'Its answer is not a list of models.',
    ],
  ])('are missing with a reason, without the key, when a provider %s', async (_, listener, why) => {
    await using rig = await openRig('http://127.0.0.1:1', access(await serve(listener)));
    expect(await rig.gateway.offers()).toEqual([{ kind: 'failed', provider: 'openai', why }]);
  });

  test('are missing when a provider redirects, and the key is not sent elsewhere', async () => {
    let elsewhere = 0;
    const other = await serve((_, response) => {
      elsewhere += 1;
      response.end();
    });
    const url = await serve((_, response) => {
      response.writeHead(302, { location: other });
      response.end();
    });
    await using rig = await openRig('http://127.0.0.1:1', access(url));
    expect(await rig.gateway.offers()).toMatchObject([{ kind: 'failed', why: 'It answered with HTTP 302.' }]);
    expect(elsewhere).toBe(0);
  });

  test('are missing when a provider is unreachable, silent or endless, and when the request is cancelled', async () => {
    await using nobody = await openRig('http://127.0.0.1:1', access('http://127.0.0.1:1'));
    expect(await nobody.gateway.offers()).toMatchObject([{ kind: 'failed', why: 'It cannot be reached.' }]);

    const silent = await serve(() => {});
    await using quiet = await openRig('http://127.0.0.1:1', { ...access(silent), offersMs: 50 });
    expect(await quiet.gateway.offers()).toMatchObject([
      { kind: 'failed', why: 'It did not answer within 1 seconds.' },
    ]);

    const endless = await serve((_, response) => {
      const more = () => {
        if (!response.destroyed) response.write('x'.repeat(1 << 20), () => setImmediate(more));
      };
      more();
    });
    await using flooded = await openRig('http://127.0.0.1:1', { ...access(endless), offersMs: 60_000 });
    expect(await flooded.gateway.offers()).toMatchObject([{ kind: 'failed' }]);

    await using waiting = await openRig('http://127.0.0.1:1', { ...access(silent), offersMs: 60_000 });
    const stop = new AbortController();
    const offers = waiting.gateway.offers(stop.signal);
    stop.abort();
    expect(await offers).toMatchObject([{ kind: 'failed', why: 'The question was cancelled.' }]);
  });
});
