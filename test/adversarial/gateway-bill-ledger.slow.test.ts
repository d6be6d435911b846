import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openStore } from '../../src/adapters/store/index.ts';
import {
  type Billed,
  type Caps,
  expectWithin,
  mostly,
  USAGES,
  usageName,
} from '../adapters/gateway/bills.ts';
import { begin, json, message, openRig, PROMPT, sse, startProvider } from '../adapters/gateway/rig.ts';
import { freshDatabase } from '../world/database.ts';

const realCall = fc.record({
  process: fc.nat({ max: 1 }),
  run: fc.constantFrom('r1', 'r2'),
  spender: fc.constantFrom('A', 'B'),
  bytes: fc.constantFrom(20_000, 20_000, 20_000, 60_000, 100),
  limit: fc.constantFrom(500, 500, 3_000),
  density: mostly(),
  written: mostly(),
  usage: usageName,
  stream: fc.boolean(),
  /** Events after which the client hangs up; null: it does not. */
  hangsUp: fc.option(fc.nat({ max: 2 })),
  breaks: fc.boolean(),
  afterMs: fc.nat({ max: 15 }),
});
type RealCall = typeof realCall extends fc.Arbitrary<infer T> ? T : never;

/** Dollars for a million tokens; a cent for about three thousand bytes. */
const PRICE = { input: 3, output: 15, cacheWrite: 3.75 };

/** Bills each call when it is there, for what it may come to, and answers as the call says. */
function startAdversary() {
  const bills: { readonly call: number; usd: number }[] = [];
  const provider = startProvider((body, response) => {
    const [{ content }] = body.messages as [{ content: string }];
    const plan = JSON.parse(content.slice(0, content.indexOf('}') + 1)) as RealCall & { number: number };
    const input = Math.ceil(plan.density * Buffer.byteLength(content)) + 1;
    const output = Math.ceil(plan.written * Number(body.max_tokens));
    bills.push({ call: plan.number, usd: (input * PRICE.cacheWrite + output * PRICE.output) / 1e6 });
    const usage = USAGES[plan.usage](input, output);
    setTimeout(() => {
      if (plan.breaks && !plan.stream) return response.destroy();
      if (!plan.stream) return json(response, 200, { ...message(0, 0), usage });
      sse(response, { type: 'message_start', message: { usage: usage && { ...usage, output_tokens: 1 } } });
      sse(response, { type: 'content_block_delta', delta: { type: 'text_delta', text: 'x' } });
      if (plan.breaks) return response.destroy();
      sse(response, { type: 'message_delta', delta: { stop_reason: 'end_turn' }, ...(usage && { usage }) });
      sse(response, { type: 'message_stop' });
      response.end();
    }, plan.afterMs);
  });
  return { provider, bills };
}

/** Makes one call, and hangs up where it says so. */
async function made(lease: Parameters<typeof begin>[0], call: RealCall, number: number): Promise<void> {
  const leave = new AbortController();
  const { bytes, limit, stream, hangsUp } = call;
  const content = `${JSON.stringify({ ...call, number })}${'y'.repeat(bytes)}`;
  const body = { ...PROMPT, stream, max_tokens: limit, messages: [{ role: 'user', content }] };
  const asked = begin(lease, { body }, leave.signal);
  if (hangsUp === 0) setTimeout(() => leave.abort(), call.afterMs / 2);
  try {
    let events = 0;
    for await (const chunk of await asked) {
      events += String(chunk).split('\n\n').length - 1;
      if (hangsUp !== null && events >= hangsUp) break;
    }
  } catch {
    // Its own hanging up, or that of the provider.
  }
  leave.abort();
}

test('two gateways on one real ledger keep all four caps against a provider that bills the maximum', async () => {
  const database = await freshDatabase();
  const stores = [await openStore(database.url), await openStore(database.url)];
  const clock = { now: () => Date.now(), elapsed: () => performance.now(), sleep: async () => {} };
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          // Most calls cost nine cents.
          spender: fc.double({ min: 0.05, max: 0.6, noNaN: true }),
          run: fc.double({ min: 0.05, max: 0.6, noNaN: true }),
          day: fc.double({ min: 0.05, max: 0.9, noNaN: true }),
        }),
        fc.array(realCall, { minLength: 8, maxLength: 30 }),
        async (drawn, calls) => {
          await database.query('delete from runoff.gateway_call');
          const caps: Caps = { ...drawn, repository: drawn.day * 0.8 };
          const { provider: starting, bills } = startAdversary();
          const provider = await starting;
          const options = {
            clock,
            prices: { 'anthropic/m': PRICE },
            dayCaps: { repositoryUsd: caps.repository, everythingUsd: caps.day },
            budgetWaitMs: 300,
          };
          const rigs = await Promise.all(
            stores.map((ledger) => openRig(provider.url, { ...options, ledger })),
          );
          const lease = async ({ process, run, spender }: RealCall) =>
            rigs[process]?.open({
              models: ['anthropic/m'],
              runId: run,
              spender,
              capUsd: caps.spender,
              runCapUsd: caps.run,
            });
          const leases = await Promise.all(calls.map(lease));
          await Promise.all(
            calls.map(async (call, number) => {
              const own = leases[number];
              if (own) await made(own, call, number);
            }),
          );
          for (const rig of rigs) await rig[Symbol.asyncDispose]();
          await provider.close();
          const rows = await database.query('select * from runoff.gateway_call');
          const most = Math.max(0, ...calls.map(mostOf));
          const billed = bills.map(({ call, usd }): Billed => {
            const { run = '', spender = '' } = calls[call] ?? {};
            return { run, spender, repository: 'github-42', day: 0, usd, most };
          });
          if (billed.length > 0) expectWithin(caps, billed);
          // Every call is settled, and together at no less than the bill.
          expect(rows.filter(({ status }) => status === 0)).toEqual([]);
          const settled = rows.reduce((sum, { usd }) => sum + Number(usd), 0);
          expect(settled).toBeGreaterThanOrEqual(billed.reduce((sum, { usd }) => sum + usd, 0) - 1e-9);
        },
      ),
      // Each play takes a second: what it found is said at once, unshrunk.
      { numRuns: 25, endOnFailure: true },
    );
  } finally {
    await Promise.all(stores.map((store) => store.close()));
    await database.drop();
  }
}, 600_000);

/** All bytes of a call as tokens, what vendors add, and all its output. */
const mostOf = (call: RealCall): number =>
  ((call.bytes + 2_600) * PRICE.cacheWrite + call.limit * PRICE.output) / 1e6;
