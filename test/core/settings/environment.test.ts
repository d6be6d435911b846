import { describe, expect, test } from 'vitest';
import {
  ceilingsOf,
  Environment,
  missingForServe,
  type Operator,
  parseEnvironment,
} from '../../../src/core/settings/index.ts';

const PEM = '-----BEGIN RSA PRIVATE KEY-----\nMIIEabc+/=\n-----END RSA PRIVATE KEY-----\n';
const SECRET = '0123456789abcdef';

const operator = (env: Record<string, string>): Operator => {
  const parsed = parseEnvironment({ RUNOFF_DATA: '/data', ...env });
  if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.problems));
  return parsed.operator;
};
const problems = (env: Record<string, string>): readonly string[] => {
  const parsed = parseEnvironment({ RUNOFF_DATA: '/data', ...env });
  return parsed.kind === 'invalid' ? parsed.problems.map(({ name, message }) => `${name} ${message}`) : [];
};

describe('the environment', () => {
  test('needs nothing but a data folder', () => {
    expect(operator({})).toEqual({
      appLacks: ['APP_ID', 'PRIVATE_KEY', 'WEBHOOK_SECRET'],
      github: { apiUrl: 'https://api.github.com', gitUrl: 'https://github.com' },
      http: { host: '127.0.0.1', port: 3000, portIsSet: false },
      pages: {
        lacks: ['PUBLIC_URL', 'GITHUB_CLIENT_ID', 'GITHUB_CLIENT_SECRET'],
        operators: [],
        publicRepositories: false,
      },
      data: '/data',
      models: {},
      modelPrices: {},
      max: {
        candidates: 6,
        budgetRun: 10,
        budgetCandidate: 5,
        timeoutSeconds: 7_200,
        runSeconds: 86_400,
        budgetDay: 100,
        budgetRepositoryDay: 50,
        budgetUserDay: 50,
        budgetInstallationDay: 100,
        runsRepositoryDay: 50,
        runsUserDay: 20,
        runsInstallationDay: 200,
      },
      codersPerWorker: 4,
      examinationsPerWorker: 2,
      codersPerRepository: 4,
      runsAtOnce: 8,
      minFreeDisk: 1e9,
      maxDisk: 0,
      keep: { runs: 180 * 86_400_000, ledger: 400 * 86_400_000 },
      networkAllow: [],
      registries: true,
      logLevel: 'info',
      multiAgent: { enabled: true, models: [] },
      sandboxUid: 64_190,
      sandbox: { backend: 'bubblewrap', allowWeaker: false },
      agentCommands: {},
    });
    expect(parseEnvironment({})).toEqual({
      kind: 'invalid',
      problems: [{ name: 'RUNOFF_DATA', message: 'is not set' }],
    });
  });

  test('takes the address of the pages as an origin that browsers treat as secure', () => {
    const pages = (PUBLIC_URL: string) => operator({ PUBLIC_URL }).pages.publicUrl;
    expect(pages('https://runoff.example/')).toBe('https://runoff.example');
    expect(pages('http://localhost:3000')).toBe('http://localhost:3000');
    for (const PUBLIC_URL of [
      'http://runoff.example',
      'https://runoff.example/pages',
      'https://runoff.example/?a',
      'http://127.0.0.1.evil.test',
      'HTTPS://Runoff.example',
      'runoff.example',
    ])
      expect(parseEnvironment({ RUNOFF_DATA: '/data', PUBLIC_URL })).toMatchObject({
        kind: 'invalid',
        problems: [{ name: 'PUBLIC_URL' }],
      });
  });

  test('treats an empty variable as unset, and ignores unknown ones', () => {
    expect(operator({ PORT: '', ANTHROPIC_API_KEY: ' ', PATH: '/bin' })).toEqual(operator({}));
  });

  test('requires all variables of the GitHub App, or reports the missing ones', () => {
    const whole = operator({ APP_ID: '7', PRIVATE_KEY: PEM, WEBHOOK_SECRET: SECRET });
    expect(whole.app).toEqual({ appId: 7, privateKey: PEM.trim(), webhookSecret: SECRET });
    expect(missingForServe(whole)).toEqual([]);
    const half = operator({ APP_ID: '7' });
    expect(half.app).toBeUndefined();
    expect(missingForServe(half).map((problem) => problem.name)).toEqual(['PRIVATE_KEY', 'WEBHOOK_SECRET']);
  });

  test('accepts a key as PEM text, with escaped line ends, or as base64', () => {
    const app = { APP_ID: '7', WEBHOOK_SECRET: SECRET };
    for (const key of [PEM.trim().replaceAll('\n', '\\n'), Buffer.from(PEM).toString('base64')]) {
      expect(operator({ ...app, PRIVATE_KEY: key }).app?.privateKey.trim()).toBe(PEM.trim());
    }
  });

  test.each([
    ['APP_ID', 'my-app', 'write the number'],
    ['PRIVATE_KEY', 'not a key at all', 'not a private key'],
    ['PRIVATE_KEY', '-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----', 'not a private key'],
    ['PRIVATE_KEY_PATH', '/nowhere', 'was not read'],
    ['WEBHOOK_SECRET', 'development', 'at least 16 characters'],
    ['WEBHOOK_SECRET', 'aaaaaaaaaaaaaaaaaaaa', 'too easy to guess'],
    ['GITHUB_API_URL', 'ftp://x', 'begins with https'],
    ['GITHUB_API_URL', 'https://user:secret@x.org', 'must not hold'],
    ['GHE_HOST', 'https://x.org', 'host name only'],
    ['GHE_PROTOCOL', 'git', 'write https or http'],
    ['PORT', '70000', 'must be at most 65535'],
    ['PORT', '3e3', 'whole number'],
    ['DATABASE_URL', 'mysql://x', 'postgres://'],
    ['MODEL_PRICES', '{', 'not JSON'],
    ['MODEL_PRICES', '{"a/b": {"input": -1, "output": 2}}', '"a/b"."input": must be at least 0'],
    ['MODEL_PRICES', '{"b": {"input": 1, "output": 2}}', 'provider/model'],
    ['MAX_CANDIDATES', '0', 'must be at least 1'],
    ['MAX_BUDGET_RUN', 'five', 'US dollars'],
    ['MAX_BUDGET_RUN', '0', 'must be more than 0'],
    ['MAX_RUNS_USER_DAY', '0', 'must be at least 1'],
    ['MAX_BUDGET_USER_DAY', 'lots', 'US dollars'],
    ['MAX_TIMEOUT', '1d', '90s, 30m or 2h'],
    ['NETWORK_ALLOW', 'https://x.org', 'exact host names'],
    ['LOG_LEVEL', 'loud', 'write trace'],
    ['MULTI_AGENT_MODE', 'maybe', 'true or false'],
    ['MULTI_AGENT_COUNT', '13', 'must be at most 12'],
    ['MULTI_AGENT_MODELS', 'gpt 6', 'provider/model'],
    ['RUNOFF_SANDBOX_UID', '0', 'must be at least 1'],
    ['ANTHROPIC_BASE_URL', 'https://x.org', 'without ANTHROPIC_API_KEY'],
    ['ARTIFACTS_URL', 'artifacts', 's3://bucket/prefix, or an absolute path'],
    ['ARTIFACTS_URL', '/mnt/../artifacts', 'without . and ..'],
    ['ARTIFACTS_URL', 's3://runoff', 'S3_ACCESS_KEY_ID with S3_SECRET_ACCESS_KEY'],
    ['S3_ENDPOINT', 'http://objects:9000', 'without ARTIFACTS_URL=s3://bucket'],
    ['S3_REGION', 'Central Europe', 'eu-central-1'],
    ['S3_PATH_STYLE', 'perhaps', 'true or false'],
    ['EXAMINATIONS_PER_WORKER', '-1', 'whole number'],
    ['RUNOFF_WORKER_NAME', 'my worker', 'letters, digits'],
    ['RUNS_AT_ONCE', '0', 'must be at least 1'],
    ['KEEP_RUNS', '6 months', 'such as 180d'],
    ['KEEP_LEDGER', '1d', 'at least 4d'],
    ['MIN_FREE_DISK', '5%', 'such as 500MB'],
    ['MAX_DISK', 'plenty', 'such as 500MB'],
    ['METRICS_TOKEN', 'short', 'at least 16 characters'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', 'begins with https'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'secret', 'name=value'],
  ])('rejects %s=%s: %s', (name, value, why) => {
    const found = problems({ [name]: value });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`${name} `);
    expect(found[0]).toContain(why);
  });

  test("never repeats a variable's value in a message", () => {
    const canary = 'sk-canary-0000';
    for (const name of Object.keys(Environment.shape)) {
      const parsed = parseEnvironment({ RUNOFF_DATA: '/data', [name]: canary });
      expect(JSON.stringify(parsed.kind === 'invalid' ? parsed.problems : []), name).not.toContain('canary');
    }
  });

  test('accepts artifacts in a shared folder, or in a bucket with keys of either name', () => {
    expect(operator({ ARTIFACTS_URL: 'file:///mnt/artifacts/' }).artifacts).toEqual({
      kind: 'folder',
      path: '/mnt/artifacts',
    });
    const own = { ARTIFACTS_URL: 's3://runoff/artifacts', S3_ACCESS_KEY_ID: 'a', S3_SECRET_ACCESS_KEY: 's' };
    const bucket = {
      kind: 's3',
      bucket: 'runoff',
      prefix: 'artifacts',
      accessKeyId: 'a',
      secretAccessKey: 's',
    };
    const endpoint = 'http://objects:9000';
    expect(operator({ ...own, S3_ENDPOINT: `${endpoint}/` }).artifacts).toEqual({
      ...bucket,
      endpoint,
      region: 'us-east-1',
      pathStyle: true,
    });
    const amazon = { AWS_REGION: 'eu-north-1', AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'y' };
    expect(operator({ ...own, ...amazon }).artifacts).toEqual({
      ...bucket,
      region: 'eu-north-1',
      pathStyle: false,
    });
    expect(problems({ ...own, ...amazon, S3_SECRET_ACCESS_KEY: '' })).toHaveLength(1);
  });

  test('sets the port of a worker, retention and limits as written', () => {
    const set = operator({
      PORT: '3001',
      RUNOFF_WORKER_NAME: 'big-1',
      KEEP_RUNS: '30d',
      MIN_FREE_DISK: '500MB',
      MAX_DISK: '20GB',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example.com/',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b,team=runoff',
    });
    expect(set.http).toMatchObject({ port: 3001, portIsSet: true });
    expect(set).toMatchObject({
      workerName: 'big-1',
      keep: { runs: 30 * 86_400_000 },
      minFreeDisk: 5e8,
      maxDisk: 2e10,
      traces: {
        url: 'https://collector.example.com/v1/traces',
        headers: { 'x-key': 'a b', team: 'runoff' },
      },
    });
    expect(operator({ MIN_FREE_DISK: '0' }).minFreeDisk).toBe(0);
  });

  test('accepts GitHub Enterprise by host or by address', () => {
    expect(operator({ GHE_HOST: 'git.example.com' }).github).toEqual({
      apiUrl: 'https://git.example.com/api/v3',
      gitUrl: 'https://git.example.com',
    });
    expect(operator({ GHE_HOST: 'localhost:8080', GHE_PROTOCOL: 'http' }).github.gitUrl).toBe(
      'http://localhost:8080',
    );
    expect(operator({ GITHUB_API_URL: 'https://git.example.com/api/v3/' }).github).toEqual({
      apiUrl: 'https://git.example.com/api/v3',
      gitUrl: 'https://git.example.com',
    });
    expect(operator({ GITHUB_API_URL: 'https://api.octo.ghe.com' }).github.gitUrl).toBe(
      'https://octo.ghe.com',
    );
    expect(operator({ GITHUB_API_URL: 'http://127.0.0.1:4000' }).github.gitUrl).toBe('http://127.0.0.1:4000');
    expect(problems({ GHE_HOST: 'a.org', GITHUB_API_URL: 'https://b.org' })).toEqual([
      'GHE_HOST contradicts GITHUB_API_URL; set one of the two',
    ]);
  });

  test('accepts providers by key, by address, and an own server without a key', () => {
    expect(operator({ ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: 'https://proxy.org/' }).models).toEqual({
      anthropic: {
        key: 'k',
        baseUrl: 'https://proxy.org',
        custom: true,
        protocols: ['anthropic'],
        defaultModel: expect.stringMatching(/^claude-/),
      },
    });
    expect(operator({ OPENAI_API_KEY: 'k', DEEPSEEK_API_KEY: 'd' }).models).toMatchObject({
      openai: { key: 'k', custom: false, protocols: ['openai-responses', 'openai-chat'] },
      deepseek: { key: 'd', custom: false, protocols: ['openai-chat'] },
    });
    expect(operator({ OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1', OPENAI_MODEL: 'qwen' }).models).toEqual({
      openai: {
        key: 'none',
        baseUrl: 'http://127.0.0.1:11434/v1',
        custom: true,
        protocols: ['openai-chat'],
        defaultModel: 'qwen',
      },
    });
    const own = { OPENAI_BASE_URL: 'http://a.org/v1', OPENAI_PROTOCOLS: 'openai-responses, openai-chat' };
    expect(operator(own).models.openai).not.toHaveProperty('defaultModel');
    expect(operator(own).models.openai?.protocols).toEqual(['openai-responses', 'openai-chat']);
    expect(problems({ ...own, OPENAI_PROTOCOLS: 'smoke' })).toEqual([
      expect.stringContaining('write openai-chat, openai-responses, or both'),
    ]);
    expect(operator({ MODEL_PRICES: '{"openai/qwen": {"input": 0, "output": 0.5}}' }).modelPrices).toEqual({
      'openai/qwen': { input: 0, output: 0.5 },
    });
  });

  test("accepts the operator's programs as coders", () => {
    const given = { aider: { argv: ['/opt/aider/bin/aider', '--yes'], folder: '/opt/aider' } };
    expect(operator({ AGENT_COMMANDS: JSON.stringify(given) }).agentCommands).toEqual({
      aider: {
        ...given.aider,
        speaks: 'command',
        protocols: ['anthropic', 'openai-chat', 'openai-responses', 'gemini'],
        env: {},
      },
    });
    for (const wrong of [
      '{',
      '{"Aider": {"argv": ["a"]}}',
      '{"a": {"argv": []}}',
      '{"auto": {"argv": ["x"]}}',
      '{"a": {"argv": ["x"], "folder": "b"}}',
      '{"a": {"argv": ["x\\u0000y"]}}',
    ])
      expect(problems({ AGENT_COMMANDS: wrong })).toHaveLength(1);
  });

  test("rejects a coder's folder that contains system or data", () => {
    const found = (folder: string) =>
      problems({
        RUNOFF_DATA: '/srv/runoff/data',
        AGENT_COMMANDS: JSON.stringify({ a: { argv: ['x'], folder } }),
      });
    for (const wrong of ['/', '//', '/home', '/etc/', '/opt/../etc', '/opt/./a'])
      expect(found(wrong)).toHaveLength(1);
    for (const wrong of ['/srv/runoff', '/srv//runoff/data/', '/srv/runoff/data/pg'])
      expect(found(wrong)).toEqual([expect.stringContaining('data folder')]);
    for (const right of ['/opt/aider', '/opt', '/srv/runoff/data-agents', '/home/me/agent/'])
      expect(
        operator({
          RUNOFF_DATA: '/srv/runoff/data',
          AGENT_COMMANDS: JSON.stringify({ a: { argv: ['x'], folder: right } }),
        }).agentCommands.a?.folder,
      ).toBe(right);
  });

  test('requires an image for containers, and an explicit setting for a weaker sandbox', () => {
    expect(problems({ RUNOFF_SANDBOX: 'container' })).toEqual([
      expect.stringContaining('RUNOFF_SANDBOX_IMAGE is not set'),
    ]);
    expect(operator({ RUNOFF_SANDBOX: 'container', RUNOFF_SANDBOX_IMAGE: 'ours:1' }).sandbox).toEqual({
      backend: 'container',
      image: 'ours:1',
      allowWeaker: false,
    });
    expect(problems({ RUNOFF_SANDBOX: 'chroot' })).toHaveLength(1);
  });

  test('sets ceilings, and one candidate if several are turned off', () => {
    const env = {
      MAX_CANDIDATES: '3',
      MAX_BUDGET_RUN: '2.50',
      MAX_BUDGET_CANDIDATE: '1',
      MAX_BUDGET_REPOSITORY_DAY: '30',
      MAX_RUNS_USER_DAY: '4',
      MAX_TIMEOUT: '20m',
      MAX_RUN_TIME: '3h',
      NETWORK_ALLOW: 'a.org, b.org:81,',
    };
    const expected = {
      candidates: 3,
      budgetRun: 2.5,
      budgetCandidate: 1,
      timeoutCandidateSeconds: 1_200,
      runSeconds: 10_800,
      networkAllow: ['a.org', 'b.org:81'],
      debates: true,
      day: {
        runsOfRepository: 50,
        runsOfUser: 4,
        runsOfInstallation: 200,
        budgetOfUser: 30,
        budgetOfInstallation: 100,
      },
    };
    expect(ceilingsOf(operator({ ...env, MAX_BUDGET_USER_DAY: '7.5' })).day.budgetOfUser).toBe(7.5);
    expect(ceilingsOf(operator(env))).toEqual(expected);
    expect(ceilingsOf(operator({ ...env, MULTI_AGENT_MODE: 'false' }))).toEqual({
      ...expected,
      candidates: 1,
    });
  });

  test('accepts the common names of multi-agent settings', () => {
    expect(
      operator({ MULTI_AGENT_COUNT: '4', MULTI_AGENT_MODELS: 'anthropic/a, openai/b' }).multiAgent,
    ).toEqual({
      enabled: true,
      count: 4,
      models: ['anthropic/a', 'openai/b'],
    });
  });

  test("sets debates to always, never, or the repository's choice", () => {
    const said = (value?: string) =>
      operator(value === undefined ? {} : { ENABLE_PRE_EXECUTION_DEBATE: value });
    expect(said('true').debates).toBe('always');
    expect(said('false').debates).toBe('never');
    expect(said()).not.toHaveProperty('debates');
    expect(['true', 'false', undefined].map((value) => ceilingsOf(said(value)).debates)).toEqual([
      true,
      false,
      true,
    ]);
  });

  test('describes every variable', () => {
    for (const [name, field] of Object.entries(Environment.shape))
      expect(field.description, name).toMatch(/\.$/);
  });
});
