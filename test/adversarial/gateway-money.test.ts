import { afterEach, describe, expect, test } from 'vitest';
import type { LedgerRow } from '../../src/ports/index.ts';
import {
  ANTHROPIC_KEY,
  ask,
  begin,
  json,
  message,
  openRig,
  PROMPT,
  type Provider,
  type Rig,
  startProvider,
} from '../adapters/gateway/rig.ts';

let provider: Provider | undefined;
afterEach(async () => {
  await provider?.close();
  provider = undefined;
});

/** Dollars for a million tokens, as Claude Sonnet costs. */
const SONNET = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
/** Published measurements of a page that is an image: about 1,592 tokens. */
const PAGE_TOKENS = 1_592;
const SOCKETS = 24;

/** A valid PDF of about a kilobyte whose page tree names one page a hundred times. */
function hundredPages(): string {
  const kids = '3 0 R '.repeat(100).trim();
  const objects = [
    '1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj',
    `2 0 obj<</Type/Pages/Count 100/Kids[${kids}]>>endobj`,
    '3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]>>endobj',
  ];
  const starts = objects.map((_, at) => 9 + objects.slice(0, at).join('\n').length + (at > 0 ? 1 : 0));
  const body = `%PDF-1.4\n${objects.join('\n')}\n`;
  const table = starts.map((start) => `${String(start).padStart(10, '0')} 00000 n \n`).join('');
  const xref = `xref\n0 4\n0000000000 65535 f \n${table}`;
  return `${body}${xref}trailer<</Size 4/Root 1 0 R>>\nstartxref\n${body.length}\n%%EOF\n`;
}

interface Bill {
  usd: number;
  calls: number;
}

/** Tokens of the input as the provider counts them: pages as images, and a token for each byte of text. */
function tokensOf(body: Record<string, unknown>): number {
  const text = JSON.stringify(body.messages);
  const pages = [...text.matchAll(/"data":"([^"]+)"/g)].map(([, data = '']) =>
    Number(/\/Count (\d+)/.exec(Buffer.from(data, 'base64').toString('latin1'))?.[1] ?? 0),
  );
  const written = [...text.matchAll(/"text":"([^"]*)"/g)].map(([, words = '']) => Buffer.byteLength(words));
  return [...pages.map((count) => count * PAGE_TOKENS), ...written].reduce((sum, count) => sum + count, 10);
}

/**
 * A vendor with prices of its own: the input is billed when it is there, whatever becomes of the connection. It answers
 * after a while, so that a burst is with it all at once, or never.
 */
async function startVendor(answers: boolean) {
  const bill: Bill = { usd: 0, calls: 0 };
  let arrival = Promise.withResolvers<void>();
  provider = await startProvider((body, response, request) => {
    const input = tokensOf(body);
    if (request.url?.endsWith('/count_tokens')) return json(response, 200, { input_tokens: input });
    const output = answers ? 10 : Number(body.max_tokens);
    bill.usd += (input * SONNET.cacheWrite + output * SONNET.output) / 1e6;
    bill.calls += 1;
    arrival.resolve();
    arrival = Promise.withResolvers<void>();
    if (answers) setTimeout(() => json(response, 200, message(input, output)), 200);
  });
  return { url: provider.url, bill, next: () => arrival.promise };
}

const anthropic = (url: string, official: boolean) => ({
  providers: { anthropic: { baseUrl: url, key: ANTHROPIC_KEY, official, protocols: ['anthropic'] as const } },
  prices: { 'anthropic/m': SONNET },
});

const pdf = {
  type: 'document',
  source: {
    type: 'base64',
    media_type: 'application/pdf',
    data: Buffer.from(hundredPages(), 'latin1').toString('base64'),
  },
};
const asking = (content: readonly unknown[]) => ({
  body: { ...PROMPT, max_tokens: 500, messages: [{ role: 'user', content }] },
});

/** Dollars of the dearest call that was booked. */
const oneCall = ({ ledger }: Rig): number => Math.max(0, ...ledger.booked.map(({ usd }: LedgerRow) => usd));

/** Bursts over as many sockets as a lease has, until one brings nothing but refusals. */
async function burst(one: () => Promise<number>): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (let round = 0; round < 30; round += 1) {
    const answered = await Promise.all(Array.from({ length: SOCKETS }, one));
    statuses.push(...answered);
    if (answered.every((status) => status === 402)) break;
  }
  return statuses;
}

describe('a PDF of one kilobyte and a hundred pages, over 24 sockets at once,', () => {
  test.each<[string, unknown]>([
    ['in a message', pdf],
    ['in the result of a tool', { type: 'tool_result', tool_use_id: 't', content: [pdf] }],
    ['with a mark for the cache', { ...pdf, cache_control: { type: 'ephemeral', ttl: '1h' } }],
  ])('%s is refused where the longest document does not fit the cap', async (_, part) => {
    const { url, bill } = await startVendor(true);
    await using rig = await openRig(url, anthropic(url, true));
    const lease = await rig.open({ models: ['anthropic/m'], capUsd: 2, runCapUsd: 5 });
    const statuses = await burst(async () => (await ask(lease, asking([part]))).status);
    expect(new Set(statuses)).toEqual(new Set([402]));
    expect(bill).toEqual({ usd: 0, calls: 0 });
    expect((await ask(lease, asking([part]))).text).toContain(
      'images and documents are counted at their maximum',
    );
    // The budget is not used up for anything else.
    expect((await ask(lease, asking([{ type: 'text', text: 'hello' }]))).status).toBe(200);
  });

  test('is read, one at a time, where it fits, and the cap holds', async () => {
    const { url, bill } = await startVendor(true);
    await using rig = await openRig(url, anthropic(url, true));
    const lease = await rig.open({ models: ['anthropic/m'], capUsd: 7, runCapUsd: 20 });
    const statuses = await burst(async () => (await ask(lease, asking([pdf]))).status);
    expect(statuses).toContain(200);
    expect(bill.calls).toBeGreaterThan(1);
    expect(bill.usd).toBeLessThanOrEqual(7);
  });
});

/** Text of which each byte is a token, as rare characters are. */
const dense = { type: 'text', text: 'ŧ'.repeat(60_000) };

describe('calls that are hung up as soon as they are at the provider, in a burst,', () => {
  test.each([
    { what: 'dense text', part: dense, capUsd: 2, official: true },
    { what: 'dense text', part: dense, capUsd: 2, official: false },
    { what: 'a PDF', part: pdf, capUsd: 2, official: true },
    { what: 'a PDF', part: pdf, capUsd: 7, official: true },
  ])(
    'cost no more than the cap and one call: $what, cap $capUsd, vendor that counts: $official',
    async (on) => {
      const { url, bill, next } = await startVendor(false);
      await using rig = await openRig(url, anthropic(url, on.official));
      const lease = await rig.open({ models: ['anthropic/m'], capUsd: on.capUsd, runCapUsd: 20 });
      const statuses = await burst(async () => {
        const leave = new AbortController();
        const arrived = next();
        const asked = begin(lease, asking([on.part]), leave.signal).then(
          (answer) => answer.resume().statusCode ?? 0,
          () => 0,
        );
        // The moment in which its own call, or that of another socket, has come through.
        await Promise.race([asked, arrived]);
        leave.abort();
        return asked;
      });
      await lease.close();
      expect(statuses.at(-1)).toBe(402);
      expect(bill.usd).toBeLessThanOrEqual(on.capUsd + oneCall(rig));
      // The ledger never says less than the bill.
      const booked = await rig.ledger.usage('r1');
      expect(booked.usd).toBeGreaterThanOrEqual(bill.usd - 1e-9);
      // What is known exactly is only that a call cost nothing, because it ended before it was connected.
      const known = rig.ledger.rows.filter(({ exact }) => exact);
      expect(known.every(({ usd }) => usd === 0)).toBe(true);
    },
    60_000,
  );
});
