import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redactor, secretsIn } from '../../../src/core/secrets/index.ts';
import { type Operator, parseEnvironment } from '../../../src/core/settings/index.ts';
import { newAppKey } from '../../world/app-key.ts';

const PEM = newAppKey();
const PASSWORD = 'p@ss"w\\rd/with everything';

const SECRETS: Readonly<Record<string, string>> = {
  WEBHOOK_SECRET: 'hook-2f8d61c7ab90e345',
  METRICS_TOKEN: 'scrape-77aa10cc93de42',
  ANTHROPIC_API_KEY: 'anthropic.key.9f8e7d6c5b4a',
  OPENAI_API_KEY: 'openai_key_"quoted"_\\slashed_1',
  GROQ_API_KEY: 'groq-Größe-🦊-0123456789',
};

const operator = ((): Operator => {
  const parsed = parseEnvironment({
    RUNOFF_DATA: '/var/lib/runoff',
    APP_ID: '1',
    PRIVATE_KEY: PEM,
    DATABASE_URL: `postgres://runoff:${encodeURIComponent(PASSWORD)}@db.example.com/runoff`,
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example.com',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-team=secret%20of%20the%20collector,x-other=another-secret-value',
    AGENT_COMMANDS: JSON.stringify({
      mine: { argv: ['/bin/x'], env: { MY_API_KEY: 'key-of-an-agent-123456' } },
    }),
    ...SECRETS,
  });
  if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.problems));
  return parsed.operator;
})();

const VALUES = [
  ...Object.values(SECRETS),
  PASSWORD,
  encodeURIComponent(PASSWORD),
  'secret of the collector',
  'another-secret-value',
  'key-of-an-agent-123456',
  ...PEM.split('\n').filter((line) => line.length > 30 && !line.startsWith('-----')),
  PEM,
];
const FORMS = [
  'ghs_16C7e42F292c6912E7710c838347Ae178B4a',
  'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
  'github_pat_11ABCDEFG0123456789_abcdefghijklmnop',
  'sk-ant-api03-AAAAbbbbCCCCddddEEEEffff',
  'sk-proj-0123456789abcdefghij',
  'gw-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFy',
  'AKIAIOSFODNN7EXAMPLE',
];

/** Values with a secret somewhere in them, in fields, texts, errors and JSON inside JSON. */
const holding = (secret: string): fc.Arbitrary<unknown> =>
  fc.letrec<{ node: unknown; leaf: unknown }>((tie) => ({
    leaf: fc.oneof(
      fc.tuple(fc.string(), fc.string()).map(([before, after]) => `${before} ${secret} ${after}`),
      fc.string().map((word) => ({ [secret]: word })),
      fc.string().map((word) => JSON.stringify({ word, deep: secret })),
      fc.constant([...secret.split('\n')]),
      fc.string().map((word) => ({ message: word, stack: `Error: ${secret}\n    at x (y.ts:1:1)` })),
    ),
    node: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      tie('leaf'),
      tie('node').map((inner) => ({ err: inner })),
      fc.tuple(fc.jsonValue(), tie('node')).map(([other, inner]) => [other, { headers: { inner } }]),
    ),
  })).node;

const redact = redactor(secretsIn(operator));

describe('a line of the log', () => {
  test('never contains a secret in any position, and stays JSON', () => {
    const any = fc
      .constantFrom(...VALUES, ...FORMS)
      .chain((secret) => fc.tuple(fc.constant(secret), holding(secret)));
    fc.assert(
      fc.property(any, ([secret, fields]) => {
        const line = redact(`${JSON.stringify({ level: 40, msg: 'x', ...{ fields } })}\n`);
        const read = JSON.stringify(JSON.parse(line)) + line;
        for (const form of [secret, JSON.stringify(secret).slice(1, -1)]) expect(read).not.toContain(form);
      }),
      { numRuns: 400 },
    );
  });

  test('contains no part of a secret that was cut or split over fields', () => {
    fc.assert(
      fc.property(fc.constantFrom(...VALUES), fc.nat(), fc.nat(), (secret, from, length) => {
        const at = from % secret.length;
        const part = secret.slice(at, at + 12 + (length % 40));
        const plain = part.length >= 12 && part.isWellFormed() && !part.includes('-----');
        // A part with a quotation mark in it is known by what stands on either side.
        fc.pre(plain && !part.includes('"'));
        const line = redact(JSON.stringify({ one: part, two: `…${part}` }));
        JSON.parse(line);
        expect(line).not.toContain(part);
        expect(line).not.toContain(JSON.stringify(part).slice(1, -1));
      }),
      { numRuns: 400 },
    );
  });

  test('contains no credentials in headers, addresses and unknown keys', () => {
    const cut = PEM.slice(0, 200).replace(/A/g, 'B');
    const said = redact(
      JSON.stringify({
        authorization: 'Bearer abcdef123456',
        git: 'AUTHORIZATION: basic eC1hY2Nlc3MtdG9rZW46c29tZXRoaW5n',
        url: 'could not connect to postgres://me:hunter2@db/x or https://u:pw@host/path',
        stored: JSON.stringify({ cut }),
        cut,
      }),
    );
    expect(JSON.parse(said)).toEqual({
      authorization: '[redacted]',
      git: 'AUTHORIZATION: [redacted]',
      url: 'could not connect to postgres://[redacted]db/x or https://[redacted]host/path',
      stored: expect.stringContaining('[redacted]') as string,
      cut: expect.stringMatching(/^[A-Z -]*\[redacted\][A-Z -]*(?:\[redacted\])?$/) as string,
    });
  });

  test('keeps what is no secret', () => {
    const line = JSON.stringify({
      run: 'r0123456789',
      sha: 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',
      msg: 'A basic understanding of the bearer: https://github.com/acme/shop/pull/7, task-force, risk-free',
      path: '/var/lib/runoff/mirrors/github-42',
    });
    expect(redact(line)).toBe(line);
  });
});
