import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AdmittedCall } from '../../src/adapters/gateway/admission.ts';
import { take } from '../../src/adapters/gateway/caps.ts';
import { measure } from '../../src/adapters/gateway/content.ts';
import { sumsOf } from '../../src/adapters/gateway/memory-ledger.ts';
import { createMeter } from '../../src/adapters/gateway/meter.ts';
import { type CallReservation, planFor } from '../../src/adapters/gateway/plan.ts';
import { priceBook } from '../../src/adapters/gateway/prices.ts';
import { bookedRow, settledRow, toldBy } from '../../src/adapters/gateway/rows.ts';
import { midnightBefore, scopesOf } from '../../src/adapters/gateway/scopes.ts';
import { openStore } from '../../src/adapters/store/index.ts';
import type { LedgerRow } from '../../src/ports/index.ts';
import { begin, json, message, openRig, PROMPT, sse, startProvider } from '../adapters/gateway/rig.ts';
import { freshDatabase } from '../world/database.ts';

/** A bill of one call, and for whom it was. */
interface Billed {
  readonly spender: string;
  readonly run: string;
  readonly repository: string;
  readonly day: number;
  readonly usd: number;
  /** The most that was booked for the call. */
  readonly most: number;
}

interface Caps {
  readonly spender: number;
  readonly run: number;
  readonly repository: number;
  readonly day: number;
}

/** By which of a bill's fields each cap adds up. */
const SHARED: Readonly<Record<keyof Caps, readonly (keyof Billed)[]>> = {
  spender: ['run', 'spender'],
  run: ['run'],
  repository: ['repository', 'day'],
  day: ['day'],
};

/** No cap is passed by more than the dearest of its calls can cost. */
function expectWithin(caps: Caps, bills: readonly Billed[]): void {
  for (const [cap, fields] of Object.entries(SHARED) as [keyof Caps, readonly (keyof Billed)[]][]) {
    const groups = Map.groupBy(bills, (bill) => JSON.stringify(fields.map((field) => bill[field])));
    for (const group of groups.values()) {
      const usd = group.reduce((sum, bill) => sum + bill.usd, 0);
      expect(usd, cap).toBeLessThanOrEqual(caps[cap] + Math.max(...group.map(({ most }) => most)) + 1e-9);
    }
  }
}

const share = () => fc.double({ min: 0, max: 1, noNaN: true });
/** Mostly all: a provider that bills little finds no mistake. */
const mostly = () => fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: share() });

/** All newly cached, as it is billed. */
const written = (input: number) => ({ input_tokens: 0, cache_creation_input_tokens: input });

/** What a provider says that it used, of what it did use; it never says less, but may say it so that nobody can read it. */
const USAGES = {
  right: (input: number, output: number) => ({ ...written(input), output_tokens: output }),
  missing: () => undefined,
  'without input': (_input: number, output: number) => ({ output_tokens: output }),
  'without output': (input: number) => written(input),
  'no input': (_input: number, output: number) => ({ input_tokens: 0, output_tokens: output }),
  'as text': (input: number, output: number) => ({ input_tokens: `${input}`, output_tokens: `${output}` }),
  negative: (_input: number, output: number) => ({ input_tokens: -5, output_tokens: output }),
  'no numbers': () => ({ input_tokens: null, output_tokens: [] }),
  huge: (input: number, output: number) => ({ input_tokens: input * 1e4 + 1e7, output_tokens: output + 1e6 }),
} as const;
type UsageName = keyof typeof USAGES;
const usageName = fc.constantFrom(...(Object.keys(USAGES) as UsageName[]));

const DAY = 24 * 3_600_000;
const UNDER_WAY = 22 * 60_000;

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('call' as const),
      run: fc.constantFrom('r1', 'r2'),
      spender: fc.constantFrom('A', 'B'),
      repository: fc.constantFrom('x', 'y'),
      /** Of the size that calls have in this play. */
      size: fc.constantFrom(1, 1, 1, 0.5, 0.1),
      hour: fc.constantFrom(false, false, true),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      which: fc.nat(),
      how: fc.constantFrom(
        'whole' as const,
        'whole' as const,
        'cut' as const,
        'cut' as const,
        'unbilled' as const,
      ),
      usage: usageName,
      counts: fc.boolean(),
      input: mostly(),
      output: mostly(),
      cutAt: share(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const), which: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('time' as const),
      ms: fc.constantFrom(60_000, 60_000, UNDER_WAY, DAY),
    }),
  },
);
const prices = fc.record({
  input: fc.double({ min: 0.01, max: 30, noNaN: true }),
  output: fc.double({ min: 0.01, max: 150, noNaN: true }),
  writes: fc.constantFrom(1, 1.25, 2),
});

interface UnderWay {
  readonly row: number;
  readonly bill: number;
  readonly call: AdmittedCall;
  readonly reserved: CallReservation;
  /** Of the input, as the provider can bill them at most. */
  readonly tokens: number;
}

/** The gateway's decisions over one ledger, and a provider that bills as much as it may. */
function playedOut(caps: Caps, price: { input: number; output: number; writes: number }) {
  const token = { input: price.input, output: price.output, cacheWrite: price.input * price.writes };
  const book = priceBook({ 'anthropic/m': token }, {});
  const dearestInput = Math.max(token.input, token.cacheWrite);
  const rows: LedgerRow[] = [];
  const bills: Billed[] = [];
  const open: UnderWay[] = [];
  let now = DAY * 400;
  const bill = (at: number, input: number, output: number) => {
    const usd = (input * dearestInput + output * token.output) / 1e6;
    const own = bills[at];
    if (own) bills[at] = { ...own, usd };
  };
  const admitted = (
    bytes: number,
    images: number,
    limit: number | null,
    hourCache: boolean,
  ): AdmittedCall => {
    const image = { type: 'image', source: { type: 'base64', data: 'AAAA' } };
    const body = { messages: [{ role: 'user', content: Array.from({ length: images }, () => image) }] };
    const measured = measure('anthropic', body, bytes + JSON.stringify(body).length, true);
    if (measured.kind === 'forbidden') throw new Error(measured.why);
    return {
      kind: 'call',
      endpoint: { kind: 'generate', protocol: 'anthropic', path: '/messages', query: '' },
      provider: 'anthropic',
      access: { key: 'k', baseUrl: 'http://x', official: true, protocols: ['anthropic'] },
      model: 'm',
      body,
      input: measured.input,
      hourCache,
      limit: { asked: limit, set: () => {} },
    };
  };
  return {
    bills,
    pass: (ms: number) => {
      now += ms;
    },
    start(on: { run: string; spender: string; repository: string }, call: AdmittedCall, tokens: number) {
      const payer = { runId: on.run, spender: on.spender, repository: on.repository };
      const grant = { ...payer, capUsd: caps.spender, runCapUsd: caps.run, models: [], ttlMs: 1 };
      const whose = { ...payer, dayFrom: midnightBefore(now), underWayFrom: now - UNDER_WAY };
      const dayCaps = { repositoryUsd: caps.repository, everythingUsd: caps.day };
      const taken = take(scopesOf(grant, dayCaps, sumsOf(rows, whose)), planFor(call, book, now));
      if (taken.kind !== 'taken') return;
      const { reservation: reserved } = taken;
      const row = rows.push(bookedRow(grant, call, reserved, now)) - 1;
      const of = { ...on, day: midnightBefore(now), usd: 0, most: reserved.usd };
      open.push({ row, bill: bills.push(of) - 1, call, reserved, tokens });
      // Until something else is heard of it, it may have cost all.
      bill(bills.length - 1, tokens, reserved.outputTokens);
    },
    crash(which: number) {
      open.splice(which % Math.max(1, open.length), 1);
    },
    end(which: number, end: Extract<Step, { kind: 'end' }>) {
      const [ended] = open.splice(which % Math.max(1, open.length), 1);
      if (!ended) return;
      const { call, reserved, tokens } = ended;
      const input = end.how === 'unbilled' ? 0 : Math.ceil(end.input * tokens);
      const output = end.how === 'unbilled' ? 0 : Math.ceil(end.output * reserved.outputTokens);
      bill(ended.bill, input, output);
      const meter = createMeter('anthropic', false);
      const usage = USAGES[end.usage](input, output);
      const whole = JSON.stringify({ ...message(0, 0), usage });
      meter.see(Buffer.from(end.how === 'cut' ? whole.slice(0, whole.length * end.cutAt) : whole));
      const told = toldBy({ status: 200, meter, how: end.how, trouble: null });
      const counted = end.counts ? Math.max(1, input) : null;
      const booked = rows[ended.row];
      if (!booked) return;
      const grant = { ...booked, models: [], capUsd: 0, runCapUsd: 0, ttlMs: 1 };
      const when = { startedAt: booked.at, ms: 1 };
      rows[ended.row] = settledRow(grant, call, reserved, told, counted, book, when);
    },
    admitted,
  };
}
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Calls of one size, and caps that are some of them: where a cap is many calls or less than one, mistakes are not seen. */
const play = fc.record({
  price: prices,
  bytes: fc.oneof(fc.integer({ min: 1, max: 3_000 }), fc.integer({ min: 3_000, max: 400_000 })),
  images: fc.constantFrom(0, 0, 0, 1, 2),
  limit: fc.constantFrom(null, 1, 500, 8_000, 32_000),
  calls: fc.record({ spender: multiple(), run: multiple(), repository: multiple(), day: multiple() }),
  steps: fc.array(step, { minLength: 10, maxLength: 80, size: 'max' }),
});
function multiple() {
  return fc.double({ min: 0.2, max: 6, noNaN: true });
}

test('whatever calls, answers, cuts, crashes and prices come, no cap is passed by more than one call’s most', () => {
  fc.assert(
    fc.property(play, ({ price, bytes, images, limit, calls, steps }) => {
      // A token for each byte, 8,464 for an image, and the largest prompt for tools that is published.
      const tokensOf = (size: number) => Math.ceil(bytes * size) + images * 8_464 + 530;
      const one = (tokensOf(1) * price.input * price.writes + (limit ?? 32_000) * price.output) / 1e6;
      const caps: Caps = {
        spender: calls.spender * one,
        run: calls.run * one,
        repository: calls.repository * one,
        day: calls.day * one,
      };
      const played = playedOut(caps, price);
      for (const next of steps) {
        if (next.kind === 'call')
          played.start(
            next,
            played.admitted(Math.ceil(bytes * next.size), images, limit, next.hour),
            tokensOf(next.size),
          );
        if (next.kind === 'end') played.end(next.which, next);
        if (next.kind === 'crash') played.crash(next.which);
        if (next.kind === 'time') played.pass(next.ms);
        expectWithin(caps, played.bills);
      }
    }),
    { numRuns: 1_000 },
  );
});

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

test('two gateways on one real ledger keep all four caps against a provider that bills as much as it may', async () => {
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
