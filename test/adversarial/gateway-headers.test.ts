import { afterEach, expect, test } from 'vitest';
import { BETAS } from '../../src/adapters/gateway/upstream.ts';
import { ask, json, message, openRig, type Provider, startProvider } from '../adapters/gateway/rig.ts';

let provider: Provider;
afterEach(() => provider.close());

const honest = () => startProvider((_, response) => json(response, 200, message(1, 1)));

/** What claude-code 2.1.329 sends in print mode, by model; opencode and pi send a part of it. */
const FROM_AGENTS = [
  'claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,thinking-token-count-2026-05-13,advanced-tool-use-2025-11-20,effort-2025-11-24',
  'claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,mid-conversation-tool-changes-2026-07-01,thinking-token-count-2026-05-13,advanced-tool-use-2025-11-20,effort-2025-11-24',
  'fine-grained-tool-streaming-2025-05-14,interleaved-thinking-2025-05-14',
];

test.each(FROM_AGENTS)('beta features of real agents are forwarded: %s', async (betas) => {
  provider = await honest();
  await using rig = await openRig(provider.url);
  const lease = await rig.open();
  await ask(lease, { path: '/v1/messages?beta=true', headers: { 'anthropic-beta': betas } });
  expect(provider.seen[0]?.headers['anthropic-beta']).toBe(betas);
  expect(provider.seen[0]?.path).toBe('/v1/messages');
});

test.each([
  ['a premium for a longer context', 'context-1m-2025-08-07'],
  ['a faster answer at another price', 'fast-mode-2026-02-01'],
  ['a search at the provider', 'web-search-2025-03-05'],
  ['code that runs at the provider', 'code-execution-2025-08-25'],
  ['servers that the provider calls', 'mcp-client-2025-11-20'],
  ['files that are kept there', 'files-api-2025-04-14'],
  ['an answer of another model', 'server-side-fallback-2026-07-01'],
  ['a summary beyond the limit', 'compact-2026-01-12'],
  ['a name of an object', 'constructor'],
  ['what nobody knows', 'x'.repeat(3_000)],
])('%s is removed, and the call continues', async (_, beta) => {
  provider = await honest();
  await using rig = await openRig(provider.url);
  const lease = await rig.open();
  const known = 'effort-2025-11-24';
  const both = await ask(lease, { headers: { 'anthropic-beta': ` ${beta} ,${known},${known}` } });
  const alone = await ask(lease, { headers: { 'anthropic-beta': beta } });
  const counted = await ask(lease, {
    path: '/v1/messages/count_tokens',
    headers: { 'anthropic-beta': beta },
  });
  expect([both.status, alone.status, counted.status]).toEqual([200, 200, 200]);
  expect(provider.seen.map(({ headers }) => headers['anthropic-beta'])).toEqual([
    known,
    undefined,
    undefined,
  ]);
});

test('a removed value is logged once if it looks like a name', async () => {
  provider = await honest();
  await using rig = await openRig(provider.url);
  const lease = await rig.open();
  const headers = { 'anthropic-beta': 'fast-mode-2026-02-01,key="sk 1"' };
  await ask(lease, { headers });
  await ask(lease, { headers });
  const lines = rig.log.lines.filter((line) => line.includes('fast-mode'));
  expect(lines).toHaveLength(1);
  expect(rig.log.lines.join('\n')).not.toContain('sk 1');
});

test('every forwarded header is on the list, with a value from the list', async () => {
  provider = await honest();
  await using rig = await openRig(provider.url);
  const lease = await rig.open();
  const headers = {
    accept: 'application/vnd.other+json',
    'anthropic-version': '2023-01-01',
    'openai-beta': 'assistants=v2',
    'x-goog-user-project': 'other',
    'x-goog-api-client': 'other',
    'x-app': 'cli',
    'idempotency-key': 'other',
    'x-stainless-timeout': '1',
    prefer: 'wait',
    'anthropic-dangerous-direct-browser-access': 'true',
  };
  await ask(lease, { headers });
  await ask(lease, { path: '/v1/chat/completions', headers });
  await ask(lease, { path: '/v1beta/models/m:generateContent', headers, body: { contents: [] } });
  const ours = new Set([
    'accept-encoding',
    'connection',
    'content-length',
    'content-type',
    'host',
    'user-agent',
    'anthropic-version',
    'x-api-key',
    'authorization',
    'x-goog-api-key',
  ]);
  expect(provider.seen).toHaveLength(3);
  for (const seen of provider.seen)
    expect(Object.keys(seen.headers).filter((name) => !ours.has(name))).toEqual([]);
  // Another version would answer in events that our meter does not read.
  expect(provider.seen[0]?.headers['anthropic-version']).toBe('2023-06-01');
});

test('each beta feature on the list has a date and a reason', () => {
  for (const [name, reason] of Object.entries(BETAS)) {
    expect(name).toMatch(/-20\d\d-?\d\d-?\d\d$/);
    expect(reason.length).toBeGreaterThan(10);
  }
});
