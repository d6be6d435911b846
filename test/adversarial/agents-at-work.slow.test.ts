import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AGENTS } from '../../src/adapters/coders/index.ts';
import type { SeenRequest, TokenCounts } from '../../src/demo/scripted-models/index.ts';
import { INSTALL_MS, TEST_AGENTS } from '../setup/agents.ts';
import { type AgentBench, openAgentBench, PRICE } from '../world/agents.ts';

/** Of every kind of token some, and other numbers in every call: one that is lost or booked twice shows. */
const figures = (turn: number): TokenCounts => ({
  tokensIn: 10_000 + turn * 1111,
  tokensCached: 4000 + turn * 222,
  tokensWritten: 300 + turn * 33,
  tokensOut: 500 + turn * 44,
  tokensReasoning: 100 + turn * 5,
});

const GREETING = 'It\'s "quoted", with $HOME, `ticks` and ünïcode.\n';

const scripts = {
  'scripted-author': {
    turns: [
      {
        kind: 'do',
        text: 'I write.',
        action: { do: 'write', path: '/repo/greeting.txt', content: GREETING },
      },
      { kind: 'do', text: 'I run.', action: { do: 'shell', command: 'git log --format=%s > log.txt' } },
      { kind: 'text', text: 'Both are there.' },
    ],
    usage: [figures(1), figures(2), figures(3)],
  },
} as const;

let bench: AgentBench;
beforeAll(async () => {
  // Not all at once: some agents hang up as soon as they have read the end.
  bench = await openAgentBench({ scripts, paceMs: 20 });
}, INSTALL_MS);
afterAll(() => bench.close());

/** What the server reported, in the ledger's words. */
function reported({ usage }: SeenRequest) {
  if (!usage) throw new Error('An answer was not sent as a whole.');
  const { tokensIn, tokensCached, tokensWritten, tokensOut, tokensReasoning } = usage;
  const plain = tokensIn - tokensCached - tokensWritten;
  const dollars =
    (plain * PRICE.input +
      tokensCached * PRICE.cacheRead +
      tokensWritten * PRICE.cacheWrite +
      tokensOut * PRICE.output) /
    1e6;
  return {
    tokensIn,
    tokensCached,
    tokensOut,
    tokensReasoning,
    usd: expect.closeTo(dollars, 9),
    exact: true,
    status: 200,
  };
}

describe.each(TEST_AGENTS)('%s in a sandbox', (agent) => {
  test('changes files by its tools, and the ledger holds what the provider reported', async () => {
    const work = await bench.work({ agent, script: 'scripted-author' });
    const { result, collected, requests, calls, usage } = work;
    expect(result, result.stderr.slice(-2000)).toMatchObject({ exitCode: 0, stopped: null });
    expect(collected.kind).toBe('patch');
    const patch = collected.kind === 'patch' ? collected.patch.text : '';
    expect(patch).toContain('diff --git a/greeting.txt b/greeting.txt');
    expect(patch).toContain('diff --git a/log.txt b/log.txt');
    expect(patch.match(/^diff --git/gm)).toHaveLength(2);
    expect(work.left.get('repo/greeting.txt')?.toString()).toBe(GREETING);
    expect(work.left.get('repo/log.txt')?.toString()).toBe('Start\n');

    expect(requests.length).toBeGreaterThanOrEqual(3);
    const byInput = <T extends { readonly tokensIn: number }>(rows: readonly T[]) =>
      rows.toSorted((a, b) => a.tokensIn - b.tokensIn);
    expect(byInput(calls)).toMatchObject(byInput(requests.map(reported)));
    expect(calls).toHaveLength(requests.length);
    const total = calls.reduce((sum, call) => sum + call.usd, 0);
    expect(usage).toMatchObject({ calls: requests.length, usd: expect.closeTo(total, 9) });
    expect(work.refusal).toBeNull();
    // Every field that it sends is on the gateway's list (src/adapters/gateway/bodies): an update may bring new ones.
    expect(bench.log.filter((line) => line.includes('Unknown fields or beta features'))).toEqual([]);

    // People see what it does, and how it ended.
    expect(work.events.filter(({ kind }) => kind === 'command').length).toBeGreaterThanOrEqual(1);
    expect(work.events.filter(({ kind }) => kind === 'result').length).toBeGreaterThanOrEqual(1);
    expect(work.events.map(({ text }) => text).join('\n')).toContain('git log');
  });

  test('gets a task of 200 KB whole', async () => {
    const lines = Array.from(
      { length: 4200 },
      (_, index) => `Line ${index} of a very long brief: "quoted" $(date).`,
    );
    const prompt = lines.join('\n');
    expect(Buffer.byteLength(prompt)).toBeGreaterThan(200_000);
    const work = await bench.work({ agent, script: 'scripted-author', prompt });
    expect(work.result, work.result.stderr.slice(-2000)).toMatchObject({ exitCode: 0, stopped: null });
    expect(work.requests[0]?.body).toContain(JSON.stringify(prompt).slice(1, -1));
    expect(work.left.has('repo/greeting.txt')).toBe(true);
  });

  test('is known by its version', async () => {
    const tested = AGENTS.find(({ name }) => name === agent)?.tested;
    expect(await bench.coder(agent).version()).toBe(tested);
  });
});
