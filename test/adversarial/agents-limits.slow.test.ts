import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Scripts, Turn } from '../../src/demo/scripted-models/index.ts';
import type { Lease } from '../../src/ports/index.ts';
import { INSTALL_MS, TEST_AGENTS } from '../setup/agents.ts';
import { type AgentBench, openAgentBench, type Work } from '../world/agents.ts';

const CALL = { tokensIn: 10_000, tokensCached: 0, tokensWritten: 0, tokensOut: 500, tokensReasoning: 0 };
/** Of one call, at the bench's price. */
const CALL_USD = 0.025;

const scripts = {
  /** Comes to no end that anybody could pay for. Never the same twice: some agents see that, and stop. */
  'scripted-looper': {
    turns: Array.from({ length: 100 }, (_, index): Turn => {
      const command = `echo ${index} >> /repo/loop.txt`;
      return { kind: 'do', text: `Step ${index}.`, action: { do: 'shell', command } };
    }),
    usage: [CALL],
  },
  /** Stops in the middle of a sentence. */
  'scripted-stutterer': {
    turns: [{ kind: 'hang', text: 'I will now think about this for a very long time. '.repeat(20) }],
    afterwards: 'repeat',
  },
  /** Has no time for anybody. */
  'scripted-busy': { turns: [{ kind: 'status', status: 429 }], afterwards: 'repeat' },
} satisfies Scripts;

/** Processes of this machine that have the key in their environment. */
function processesWith(key: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false;
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(key);
    } catch {
      // Gone, or not ours to look at.
      return false;
    }
  });
}

let bench: AgentBench;
beforeAll(async () => {
  bench = await openAgentBench({ scripts });
}, INSTALL_MS);
afterAll(() => bench.close());

const refusals = ({ runId }: Work): number =>
  bench.log.filter((line) => line.includes(`"run":"${runId}"`) && line.includes('"status":402')).length;

describe.each(TEST_AGENTS)('%s', (agent) => {
  test('whose model loops ends when the budget is used up', async () => {
    const capUsd = 6 * CALL_USD;
    const work = await bench.work({ agent, script: 'scripted-looper', capUsd });
    expect(work.result.stopped).toBeNull();
    expect(work.refusal).toMatch(/budget/i);
    // It did loop, paid for all of it, and the cap held.
    expect(work.calls.length).toBeGreaterThanOrEqual(2);
    expect(work.usage.calls).toBe(work.calls.length);
    expect(work.usage.usd).toBeCloseTo(work.calls.length * CALL_USD, 9);
    expect(work.usage.usd).toBeLessThanOrEqual(capUsd + CALL_USD);
    const loops = work.left.get('repo/loop.txt')?.toString() ?? '';
    expect(loops.match(/^\d+$/gm)).toHaveLength(work.calls.length);
    // Agents may ask again; one that goes on for ever would be a cost in time.
    expect(refusals(work)).toBeGreaterThanOrEqual(1);
    expect(refusals(work)).toBeLessThanOrEqual(6);
    // What it had done until then is there to be judged.
    expect(work.collected.kind).toBe('patch');
  });

  test('cancelled during a stream is gone, and its call is booked', async () => {
    const stop = new AbortController();
    let lease: Lease | undefined;
    const working = bench.work({
      agent,
      script: 'scripted-stutterer',
      signal: stop.signal,
      onStart: (opened) => {
        lease = opened;
      },
    });
    // Awaited below: a fault must not count as unhandled until then.
    working.catch(() => {});
    await expect.poll(() => lease?.lastActivity() ?? null, { timeout: 120_000 }).not.toBeNull();
    const key = lease?.key ?? '';
    expect(processesWith(key).length).toBeGreaterThanOrEqual(1);
    const cancelledAt = performance.now();
    stop.abort();
    const work = await working;
    expect(performance.now() - cancelledAt).toBeLessThan(15_000);
    expect(work.result.stopped).toBe('cancelled');
    expect(processesWith(key)).toEqual([]);
    expect(existsSync(work.socket)).toBe(false);

    // The provider is told, and the words that did come are paid for.
    await expect.poll(() => work.requests.map(({ left }) => left)).toEqual(work.requests.map(() => true));
    expect(work.calls).toHaveLength(work.requests.length);
    for (const call of work.calls) {
      expect(call.exact).toBe(false);
      expect(call.usd).toBeGreaterThan(0);
    }
    expect(work.usage.calls).toBe(work.calls.length);
  });

  test('whose provider always answers 429 ends within its time', async () => {
    const script = 'scripted-busy';
    const before = bench.models.requests.length;
    // As long as a slow machine needs for its start; then it has had its time.
    const onLimit = () => (bench.models.requests.length > before ? 0 : 1000);
    const work = await bench.work({ agent, script, limits: { wallMs: 6000 }, onLimit });
    expect([null, 'wall']).toContain(work.result.stopped);
    expect(processesWith(work.key)).toEqual([]);
    expect(work.requests.length).toBeGreaterThanOrEqual(1);
    // One more may have been under way, booked but not yet answered, when its time was over.
    const answered = work.calls.filter(({ status }) => status === 429);
    expect(work.calls.length - answered.length).toBeLessThanOrEqual(1);
    expect(work.requests.length - answered.length).toBeLessThanOrEqual(1);
    expect(answered.length).toBeGreaterThanOrEqual(1);
    for (const call of answered) expect(call.usd).toBe(0);
    expect(work.collected.kind).toBe('empty');
  });
});
