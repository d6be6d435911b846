import fc from 'fast-check';
import { test } from 'vitest';
import type { AdmittedCall } from '../../src/adapters/gateway/admission.ts';
import {
  type CallReservation,
  midnightBefore,
  planFor,
  scopesOf,
  take,
} from '../../src/adapters/gateway/caps.ts';
import { measure } from '../../src/adapters/gateway/input-tokens.ts';
import { bookedRow, loweredRow, reportOf, settledRow, sumsOf } from '../../src/adapters/gateway/ledger.ts';
import { createMeter } from '../../src/adapters/gateway/meter.ts';
import { priceBook } from '../../src/adapters/gateway/providers.ts';
import type { LedgerRow } from '../../src/ports/index.ts';
import {
  type Billed,
  type Caps,
  expectWithin,
  mostly,
  share,
  USAGES,
  usageName,
} from '../adapters/gateway/bills.ts';
import { message } from '../adapters/gateway/rig.ts';

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
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('begin' as const), which: fc.nat(), input: mostly() }),
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
  /** What its stream report at the beginning that it bills. */
  readonly said: number | null;
}

/** What a call has beside its text. */
interface Media {
  readonly protocol: 'anthropic' | 'openai-chat';
  readonly images: number;
  readonly documents: number;
  /** A document may be sent as what it is, or as a part for images. */
  readonly documentsAs: 'document' | 'image';
}

function partsOf({ protocol, images, documents, documentsAs }: Media): readonly object[] {
  const part = (type: string, as: Media['documentsAs']): object => {
    if (protocol === 'anthropic')
      return { type: as, source: { type: 'base64', media_type: type, data: 'AAAA' } };
    const data = `data:${type};base64,AAAA`;
    return as === 'image'
      ? { type: 'image_url', image_url: { url: data } }
      : { type: 'file', file: { file_data: data } };
  };
  return [
    ...Array.from({ length: images }, () => part('image/png', 'image')),
    ...Array.from({ length: documents }, () => part('application/pdf', documentsAs)),
  ];
}

/** As published: 92 × 92 patches; 8 tiles and the whole; and for documents the longest context window of all models. */
const IMAGE = { anthropic: 8_464, 'openai-chat': 48_169 } as const;
const DOCUMENTS = 1_310_720;

/** The same usage in the words of the protocol; Chat has no price of its own for newly cached input. */
function usageIn(protocol: Media['protocol'], usage: Readonly<Record<string, unknown>> | undefined) {
  if (protocol === 'anthropic' || usage === undefined) return usage;
  const { input_tokens, cache_creation_input_tokens, output_tokens } = usage;
  const prompt = cache_creation_input_tokens ?? input_tokens;
  return {
    ...(prompt === undefined ? {} : { prompt_tokens: prompt }),
    ...(output_tokens === undefined ? {} : { completion_tokens: output_tokens }),
  };
}
const ANSWERS = {
  anthropic: message(0, 0),
  'openai-chat': {
    id: 'c',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  },
} as const;

/** The gateway's decisions over one ledger, and a provider that bills as much as it may. */
function playedOut(caps: Caps, price: { input: number; output: number; writes: number }, media: Media) {
  const { protocol } = media;
  const token = { input: price.input, output: price.output, cacheWrite: price.input * price.writes };
  const book = priceBook({ 'anthropic/m': token }, {});
  const dearestInput = protocol === 'anthropic' ? Math.max(token.input, token.cacheWrite) : token.input;
  const rows: LedgerRow[] = [];
  const bills: Billed[] = [];
  const open: UnderWay[] = [];
  let now = DAY * 400;
  const bill = (at: number, input: number, output: number) => {
    const usd = (input * dearestInput + output * token.output) / 1e6;
    const own = bills[at];
    if (own) bills[at] = { ...own, usd };
  };
  const admitted = (bytes: number, limit: number | null, hourCache: boolean): AdmittedCall => {
    const body = { messages: [{ role: 'user', content: partsOf(media) }] };
    const measured = measure(protocol, body, bytes + JSON.stringify(body).length, true);
    if (measured.kind === 'forbidden') throw new Error(measured.why);
    return {
      kind: 'call',
      endpoint: { kind: 'generate', protocol, path: '/messages', query: '' },
      provider: 'anthropic',
      access: { key: 'k', baseUrl: 'http://x', official: true, protocols: [protocol] },
      model: 'm',
      body,
      input: measured.input,
      hourCache,
      limit: { asked: limit ?? 32_000, set: () => {} },
      unknown: [],
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
      open.push({ row, bill: bills.push(of) - 1, call, reserved, tokens, said: null });
      // Until something else is heard of it, it may have cost all.
      bill(bills.length - 1, tokens, reserved.outputTokens);
    },
    crash(which: number) {
      open.splice(which % Math.max(1, open.length), 1);
    },
    begin(which: number, part: number) {
      const at = which % Math.max(1, open.length);
      const begun = open[at];
      const booked = begun && rows[begun.row];
      // A chat tells its input at its end.
      if (!begun || !booked || begun.said !== null || protocol !== 'anthropic') return;
      const { call, reserved } = begun;
      const said = Math.ceil(part * begun.tokens);
      const meter = createMeter('anthropic', true);
      const message = { usage: { input_tokens: 0, cache_creation_input_tokens: said, output_tokens: 1 } };
      meter.see(Buffer.from(`data: ${JSON.stringify({ type: 'message_start', message })}\n`));
      const report = meter.input();
      const grant = { ...booked, models: [], capUsd: 0, runCapUsd: 0, ttlMs: 1 };
      const row = report && loweredRow(grant, call, { reservation: reserved, at: booked.at }, report, book);
      if (row) rows[begun.row] = row;
      open[at] = { ...begun, said };
      bill(begun.bill, said, reserved.outputTokens);
    },
    end(which: number, end: Extract<Step, { kind: 'end' }>) {
      const [ended] = open.splice(which % Math.max(1, open.length), 1);
      if (!ended) return;
      const { call, reserved, tokens, said } = ended;
      const input = end.how === 'unbilled' ? 0 : (said ?? Math.ceil(end.input * tokens));
      const output = end.how === 'unbilled' ? 0 : Math.ceil(end.output * reserved.outputTokens);
      bill(ended.bill, input, output);
      const meter = createMeter(protocol, false);
      const usage = usageIn(protocol, USAGES[end.usage](input, output));
      const whole = JSON.stringify({ ...ANSWERS[protocol], usage });
      meter.see(Buffer.from(end.how === 'cut' ? whole.slice(0, whole.length * end.cutAt) : whole));
      const report = reportOf({ status: 200, meter, how: end.how, trouble: null });
      const counted = end.counts ? Math.max(1, input) : null;
      const booked = rows[ended.row];
      if (!booked) return;
      const grant = { ...booked, models: [], capUsd: 0, runCapUsd: 0, ttlMs: 1 };
      const when = { startedAt: booked.at, ms: 1 };
      rows[ended.row] = settledRow(grant, call, reserved, report, counted, book, when);
    },
    admitted,
  };
}
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/**
 * Calls of one size, and caps that are some of them: where a cap is many calls or less than one, mistakes are not seen.
 */
const play = fc.record({
  price: prices,
  bytes: fc.oneof(fc.integer({ min: 1, max: 3_000 }), fc.integer({ min: 3_000, max: 400_000 })),
  media: fc.record({
    protocol: fc.constantFrom('anthropic' as const, 'openai-chat' as const),
    images: fc.constantFrom(0, 0, 0, 1, 2),
    documents: fc.constantFrom(0, 0, 0, 1, 2),
    documentsAs: fc.constantFrom('document' as const, 'image' as const),
  }),
  limit: fc.constantFrom(null, 1, 500, 8_000, 32_000),
  calls: fc.record({ spender: multiple(), run: multiple(), repository: multiple(), day: multiple() }),
  steps: fc.array(step, { minLength: 10, maxLength: 80, size: 'max' }),
});
function multiple() {
  return fc.double({ min: 0.2, max: 6, noNaN: true });
}

test("no cap is exceeded by more than one call's maximum, whatever the calls, answers, cuts, crashes and prices", () => {
  fc.assert(
    fc.property(play, ({ price, bytes, media, limit, calls, steps }) => {
      // A token for each byte, what is not text, and the largest prompt for tools that is published.
      const fixed = media.images * IMAGE[media.protocol] + (media.documents > 0 ? DOCUMENTS : 0) + 530;
      const tokensOf = (size: number) => Math.ceil(bytes * size) + fixed;
      const one = (tokensOf(1) * price.input * price.writes + (limit ?? 32_000) * price.output) / 1e6;
      const caps: Caps = {
        spender: calls.spender * one,
        run: calls.run * one,
        repository: calls.repository * one,
        day: calls.day * one,
      };
      const played = playedOut(caps, price, media);
      for (const next of steps) {
        if (next.kind === 'call')
          played.start(
            next,
            played.admitted(Math.ceil(bytes * next.size), limit, next.hour),
            tokensOf(next.size),
          );
        if (next.kind === 'end') played.end(next.which, next);
        if (next.kind === 'begin') played.begin(next.which, next.input);
        if (next.kind === 'crash') played.crash(next.which);
        if (next.kind === 'time') played.pass(next.ms);
        expectWithin(caps, played.bills);
      }
    }),
    { numRuns: 1_000 },
  );
});
