import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { manifestFrom, withLines } from '../../src/server/index.ts';

const URLS = {
  publicUrl: 'https://runoff.example',
  webhooksPath: '/api/github/webhooks',
  redirectUrl: 'http://127.0.0.1:3000/setup/callback',
};
const appFile = async (): Promise<Record<string, unknown>> => parse(await readFile('app.yml', 'utf8'));

describe('app.yml', () => {
  test('asks for six rights and four events, and is private', async () => {
    const manifest = manifestFrom(await appFile(), URLS);
    expect(manifest.default_permissions).toEqual({
      metadata: 'read',
      contents: 'write',
      issues: 'write',
      checks: 'write',
      statuses: 'read',
      pull_requests: 'write',
    });
    expect(manifest.default_events).toEqual([
      'issues',
      'issue_comment',
      'pull_request_review_comment',
      'pull_request',
    ]);
    expect(manifest.public).toBe(false);
  });

  test('gives a reason for each right and event', async () => {
    const lines = (await readFile('app.yml', 'utf8')).split('\n');
    const asked = lines.flatMap((line, index) =>
      /^ {2}(\w+: (read|write)|- \w+)$/.test(line) ? [index] : [],
    );
    expect(asked).toHaveLength(10);
    for (const index of asked) expect(lines[index - 1]).toMatch(/^ {2}# \S/);
  });

  test.each([
    ['a right to administer', { default_permissions: { administration: 'admin' } }],
    ['a public App', { public: true }],
    ['a misspelt key', { default_permission: {} }],
    ['a name GitHub would refuse', { name: 'x'.repeat(35) }],
    ['nothing at all', null],
  ])('%s is a fault that names it', async (_, change) => {
    const file = change && { ...(await appFile()), ...change };
    expect(() => manifestFrom(file, URLS)).toThrowError(
      expect.objectContaining({
        code: 'SETTINGS_INVALID',
        message: expect.stringContaining('app.yml cannot be used'),
      }),
    );
  });

  test('keeps its own home page', async () => {
    const manifest = manifestFrom({ ...(await appFile()), url: 'https://runoff.example/about' }, URLS);
    expect(manifest.url).toBe('https://runoff.example/about');
  });
});

describe('.env', () => {
  const name = fc.stringMatching(/^[A-Z][A-Z0-9_]{0,12}$/);
  const value = fc.stringMatching(/^[ -_a-~]{0,40}$/);

  test('is read by Node as it was written', () => {
    fc.assert(
      fc.property(
        fc.dictionary(name, value, { maxKeys: 6 }),
        fc.dictionary(name, value, { maxKeys: 6 }),
        (before, set) => {
          const text = withLines(withLines('', before), set);
          expect(parseEnv(text)).toEqual({ ...before, ...set });
        },
      ),
    );
  });

  test('keeps other lines byte for byte and in order', () => {
    const line = fc.constantFrom(
      '# APP_ID=1',
      '',
      'export OTHER="a # b"',
      '  MODEL = x',
      'garbage',
      'MY_APP_ID=2',
      'APP_IDS=3',
    );
    fc.assert(
      fc.property(fc.array(line, { minLength: 1 }), (lines) => {
        const text = withLines(`${lines.join('\n')}\n`, { APP_ID: '7' });
        expect(text).toBe(`${[...lines, 'APP_ID=7'].join('\n')}\n`);
      }),
    );
  });

  test('sets a duplicate variable once, at its first position', () => {
    expect(withLines('export APP_ID=1\nB=2\nAPP_ID = 3', { APP_ID: '9' })).toBe('APP_ID=9\nB=2\n');
  });

  test('rejects a value that cannot be quoted', () => {
    expect(() => withLines('', { A: `'"\`` })).toThrow('cannot be written');
    expect(() => withLines('', { A: 'a\nB=2' })).toThrow('cannot be written');
  });
});
