import { describe, expect, test } from 'vitest';
import { REDACTED, redactor } from '../../../src/core/secrets/index.ts';
import { cpuMsSince } from '../../world/cpu-time.ts';

const HEX = '0123456789abcdef';
const WORD = 'Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2Yz3';
/** Written in two parts, so that no scanner of repositories takes a made-up token for a real one. */
const made = (prefix: string, rest: string): string => `${prefix}${rest}`;

const TOKENS: Readonly<Record<string, string>> = {
  'GitHub personal': made('ghp_', WORD.slice(0, 36)),
  'GitHub OAuth': made('gho_', WORD.slice(0, 36)),
  'GitHub user of an App': made('ghu_', WORD.slice(0, 36)),
  'GitHub installation': made('ghs_', WORD.slice(0, 36)),
  'GitHub refresh': made('ghr_', WORD.slice(0, 36)),
  'Runoff API': made('runoff_pat_', '0123456789abcdef'.repeat(4)),
  'GitHub fine-grained': made('github_pat_', `11ABCDEFG0${WORD}`),
  'GitLab personal': made('glpat-', WORD.slice(0, 20)),
  'GitLab routable': made('glpat-', `${WORD.slice(0, 27)}.0z.1b2c3d4e5`),
  'GitLab deploy': made('gldt-', WORD.slice(0, 20)),
  'GitLab runner': made('glrt-', WORD.slice(0, 20)),
  'GitLab job': made('glcbt-', `64_${WORD.slice(0, 20)}`),
  Bitbucket: made('ATBB', WORD.slice(0, 32)),
  Atlassian: made('ATATT3', WORD + WORD),
  Anthropic: made('sk-ant-api03-', WORD),
  'Anthropic OAuth': made('sk-ant-oat01-', WORD),
  OpenAI: made('sk-', WORD),
  'OpenAI project': made('sk-proj-', WORD),
  OpenRouter: made('sk-or-v1-', HEX.repeat(4)),
  xAI: made('xai-', WORD + WORD),
  Groq: made('gsk_', WORD + WORD.slice(0, 12)),
  Google: made('AIza', `SyA${WORD.slice(0, 32)}`),
  'Google access': made('ya29.', `a0Af${WORD}`),
  'Google client': made('GOCSPX-', WORD.slice(0, 28)),
  'Hugging Face': made('hf_', 'AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh'),
  Replicate: made('r8_', WORD.slice(0, 37)),
  Perplexity: made('pplx-', WORD),
  NVIDIA: made('nvapi-', WORD + WORD),
  Cerebras: made('csk-', WORD),
  AWS: made('AKIA', 'IOSFODNN7EXAMPLE'),
  'AWS temporary': made('ASIA', 'IOSFODNN7EXAMPLE'),
  'AWS Bedrock': made('ABSK', `${WORD}${WORD}${WORD}`),
  DigitalOcean: made('dop_v1_', HEX.repeat(4)),
  Alibaba: made('LTAI', WORD.slice(0, 20)),
  Databricks: made('dapi', HEX.repeat(2)),
  Vault: made('hvs.', WORD + WORD),
  age: made('AGE-SECRET-KEY-1', 'QQPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHC'),
  Pulumi: made('pul-', HEX.repeat(2) + HEX.slice(0, 8)),
  PlanetScale: made('pscale_tkn_', WORD),
  Supabase: made('sbp_', HEX.repeat(2)),
  npm: made('npm_', WORD.slice(0, 36)),
  PyPI: made('pypi-', `AgEIcHlwaS5vcmc${WORD}`),
  RubyGems: made('rubygems_', HEX.repeat(3)),
  'crates.io': made('cio', WORD.slice(0, 32)),
  Docker: made('dckr_pat_', WORD.slice(0, 27)),
  NuGet: made('oy2', 'abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq'),
  SonarQube: made('squ_', HEX.repeat(2) + HEX.slice(0, 8)),
  Sentry: made('sntrys_', WORD + WORD),
  Grafana: made('glsa_', WORD + HEX),
  Linear: made('lin_api_', WORD),
  Notion: made('ntn_', WORD),
  Figma: made('figd_', WORD),
  Postman: made('PMAK-', `${HEX}${HEX.slice(0, 8)}-${HEX}`),
  Slack: made('xoxb-', '123456789012-1234567890123-AbCdEfGhIjKl'),
  'Slack App': made('xapp-', '1-A0123456789-1234567890123-abcdef0123456789'),
  'Slack hook': made('hooks.slack.com/services/', 'T00000000/B00000000/AbCdEfGhIjKlMnOpQrStUvWx'),
  'Discord hook': made('discord.com/api/webhooks/', `123456789012345678/${WORD}${WORD}`),
  Telegram: made('123456789:AA', WORD.slice(0, 33)),
  Stripe: made('sk_live_', WORD.slice(0, 24)),
  'Stripe restricted': made('rk_test_', WORD.slice(0, 24)),
  'Stripe hook': made('whsec_', WORD),
  Square: made('sq0atp-', WORD.slice(0, 22)),
  SendGrid: made('SG.', `${WORD.slice(0, 22)}.${WORD}`),
  Brevo: made('xkeysib-', HEX.repeat(4)),
  Mailgun: made('key-', HEX.repeat(2)),
  Twilio: made('SK', HEX.repeat(2)),
  Shopify: made('shpat_', HEX.repeat(2)),
  'New Relic': made('NRAK-', WORD.slice(0, 27).toUpperCase()),
  'JSON web token': made('eyJhbGciOiJIUzI1NiJ9.', `eyJzdWIiOiIxMjM0NTY3ODkwIn0.${WORD}`),
};

const redact = redactor([]);

/** Each way to write a text into another one, with what stands before it there. */
const WAYS: Readonly<Record<string, (token: string) => string>> = {
  alone: (token) => token,
  'behind an equals sign': (token) => `TOKEN=${token} next`,
  quoted: (token) => `{"token": "${token}"}`,
  'on a line of its own': (token) => `a\n${token}\nb`,
  'behind a line end in JSON': (token) => JSON.stringify({ text: `a\n${token}\nb` }),
  'behind a tab in JSON inside of JSON': (token) =>
    JSON.stringify(JSON.stringify({ text: `a\t${token}\tb` })),
  'behind an escape of a character': (token) => JSON.stringify({ text: `\u001b${token}\u001b` }),
  'behind a colour of a terminal': (token) => `\u001b[32m${token}\u001b[0m`,
  'behind a colour in JSON': (token) => JSON.stringify({ text: `\u001b[1;32m${token}` }),
  'behind a colour in JSON inside of JSON': (token) =>
    JSON.stringify(JSON.stringify({ text: `\u001b[0m${token}` })),
  'behind a colour as a shell writes it': (token) => `\\033[38;5;1m${token} \\e[0m${token}`,
  'as a part of a name': (token) => `old_${token}`,
  'behind an octal escape': (token) => `a\\012${token}`,
  'behind a long escape': (token) => `a\\U0000000a${token}`,
  'in quoted-printable mail': (token) => `TOKEN=3D${token}`,
  'in an address inside an address': (token) => `https://x.test/?u=https%3A%2F%2Fy.test%3Fa%253D${token}`,
  'in an address': (token) => `https://x.test/?a%3D${token}`,
};

describe('tokens with a known prefix', () => {
  test.each(Object.entries(TOKENS))('%s', (_name, token) => {
    const shown = Object.entries(WAYS).filter(([, write]) => redact(write(token)).includes(token.slice(-12)));
    expect(shown.map(([way]) => way)).toEqual([]);
  });

  test.each(Object.entries(TOKENS))('%s, in JSON that stays valid', (_name, token) => {
    const line = JSON.stringify({ a: `x\n${token}\ny`, b: JSON.stringify([token]) });
    expect(JSON.parse(redact(line))).toMatchObject({ a: expect.stringContaining(REDACTED) });
  });
});

describe('secrets in a known position', () => {
  test.each([
    ['a login in an address', 'postgres://runoff:S3cretWord@db/x'],
    ['a login in an address of JSON', 'postgres:\\/\\/runoff:S3cretWord@db/x'],
    [
      'a login in an address inside an address',
      'https://x.test/?u=postgres%3A%2F%2Frunoff%3AS3cretWord%40db',
    ],
    ['a bearer', 'Authorization: Bearer S3cretWord'],
    ['a bearer named like a word', 'Authorization: Bearer tokens.S3cretWord'],
    ['a basic login', `Authorization: basic ${Buffer.from('mona:S3cretWord').toString('base64')}S3cretWord`],
    ['a bearer behind a line end of JSON', '"a\\nBearer S3cretWord"'],
    ['an npm login', '//registry.test/:_authToken=S3cretWordS3cretWord'],
    ['an Azure account', 'AccountName=x;AccountKey=S3cretWordS3cretWord==;'],
    ['a signed address', 'https://x.test/a?sv=1&sig=S3cretWordS3cretWord%3D'],
    ['an AWS secret', 'aws_secret_access_key = S3cretWordS3cretWord/abc'],
  ])('%s', (_name, text) => {
    expect(redact(text)).not.toContain('S3cretWord');
  });

  test('a known secret in base64 at any offset', () => {
    const known = redactor(['hook-2f8d61c7ab90e345']);
    for (const before of ['', 'a', 'ab', 'x-access-token:']) {
      const bytes = Buffer.from(`${before}hook-2f8d61c7ab90e345`);
      for (const written of [bytes.toString('base64'), bytes.toString('base64url')]) {
        expect(known(`x ${written} y`)).toContain(REDACTED);
        expect(known(`x ${written} y`)).not.toContain(written.slice(-14, -2));
      }
    }
  });
});

describe('a private key whose beginning is missing', () => {
  const lines = Array.from({ length: 20 }, (_, at) => `${at}`.padStart(2, 'a').repeat(32));
  const rest = `${lines.join('\n')}\n-----END RSA PRIVATE KEY-----\nnext`;
  const texts = {
    'at the start': rest,
    'behind what was left out': `-----BEGIN\n[… 900 characters left out …]\n${rest}`,
    'behind another one': `${rest}\n${rest}`,
    'with line ends of Windows': rest.replaceAll('\n', '\r\n'),
  };

  test.each(Object.entries(texts))('%s', (_where, text) => {
    for (const written of [text, JSON.stringify({ text }), JSON.stringify(JSON.stringify({ text }))]) {
      const left = redact(written);
      for (const line of lines) expect(left).not.toContain(line);
      expect(left).toContain(REDACTED);
      expect(left).toContain('next');
      if (written !== text) expect(() => JSON.parse(left)).not.toThrow();
    }
  });

  test('is none where code only names the first line of one', () => {
    const code = 'const BEGIN = "-----BEGIN PRIVATE KEY-----";';
    expect(redact(code)).toBe(code);
  });

  test('costs no more time if there are many', () => {
    const began = process.cpuUsage();
    redact('A'.repeat(500_000));
    redact(`${'A'.repeat(40)}-----END PRIVATE KEY-----`.repeat(8_000));
    expect(cpuMsSince(began)).toBeLessThan(5_000);
  });
});

test('addresses with passwords are found in hostile text without much time', () => {
  for (const text of ['amqp://a:b:c:S3cretWord@db/x', 'x=amqp%3A%2F%2Fa%3Ab%3AS3cretWord%40db'])
    expect(redact(text)).not.toContain('S3cretWord');
  const began = process.cpuUsage();
  for (const unit of ['%3A%2F%2F%3A', 'a%3A%2F%2F%3A%3A', `a://${':'.repeat(250)}`])
    redact(unit.repeat(Math.ceil(500_000 / unit.length)));
  expect(cpuMsSince(began)).toBeLessThan(10_000);
});

test.each([
  'task-runner-configuration-and-more, disk-usage-of-the-whole-host',
  'https://x.test/a/b?c=d#e, mona@example.com',
  'The method rebuild_everything_in_this_folder, key-value-store, npm_config_registry',
  `commit ${'a1b2c3d4e5'.repeat(4)}, sha256-${WORD}`,
  'C:\\new\\temp\\risk-free-words-of-a-path',
  'pa_context_set_state_callback(c, cb, NULL); sk_stream_kill_queues(sk); fw_cfg_add_bytes_callback(s)',
  'dp_link_training_pattern(dev), rpa_workflow_engine_start, r8_type_conversion_fn, gw_register_handler_fn()',
  'sk-estimator-id-container { color }, jina-embeddings-v3-base, fal-partition-table-entry',
  'the standard Bearer authentication, bearer tokens are opaque',
  'Basic authentication/authorization is used, see the Basic configuration/installation guide',
])('ordinary text is unchanged: %j', (text) => {
  expect(redact(text)).toBe(text);
});
