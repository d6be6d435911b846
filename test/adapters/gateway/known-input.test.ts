import { afterEach, expect, test } from 'vitest';
import {
  ANTHROPIC_KEY,
  ask,
  begin,
  openRig,
  PRICE,
  PROMPT,
  type Provider,
  sse,
  startProvider,
} from './rig.ts';

let provider: Provider;
afterEach(() => provider.close());

const OUTPUT = 1_000;
const body = { ...PROMPT, max_tokens: OUTPUT, system: 'x'.repeat(60_000), stream: true };
/** As Anthropic tells it in the first event: most of the input was read from its cache. */
const usage = { input_tokens: 100, cache_read_input_tokens: 15_000, output_tokens: 1 };
const HELD = (100 * PRICE.input + 15_000 * PRICE.cacheRead + OUTPUT * PRICE.output) / 1e6;
const START = { type: 'message_start', message: { usage } };
const END = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 40 } },
  { type: 'message_stop' },
];
/** One call at its most, and another one at its estimate, do not fit together. */
const CAPS = { capUsd: 0.15, runCapUsd: 0.15, models: ['anthropic/m'] };

/** The first call begins its answer and is finished when the test says so; every other one is answered at once. */
async function slowFirst(begins: readonly unknown[]): Promise<{ readonly finish: () => void }> {
  const finished = Promise.withResolvers<void>();
  provider = await startProvider(async (_body, response) => {
    sse(response, ...begins);
    if (provider.seen.length === 1) await finished.promise;
    sse(response, ...(begins.length > 0 ? [] : [START]), ...END);
    response.end();
  });
  return { finish: finished.resolve };
}

const rigOf = (official: boolean) =>
  openRig(provider.url, {
    providers: {
      anthropic: { baseUrl: provider.url, key: ANTHROPIC_KEY, official, protocols: ['anthropic'] },
    },
  });

test('a call whose input is known releases the rest, and a waiting call is sent', async () => {
  const first = await slowFirst([START]);
  await using rig = await rigOf(true);
  const [one, two] = [await rig.open(CAPS), await rig.open({ ...CAPS, spender: 'B' })];
  const answer = await begin(one, { body });
  // Without the early release it would wait until the first call ends, which is after this one.
  expect((await ask(two, { body })).status).toBe(200);
  expect(rig.ledger.rows).toMatchObject([
    { status: 0, exact: false, usd: expect.closeTo(HELD, 9), tokensIn: 15_100, tokensOut: OUTPUT },
    { status: 200, exact: true },
  ]);
  expect(rig.ledger.booked[0]?.usd).toBeGreaterThan(0.12);
  first.finish();
  await answer.resume().toArray();
  await one.close();
  // What it came to stands over what it held.
  expect(rig.ledger.rows[0]).toMatchObject({ status: 200, exact: true, tokensOut: 40 });
  expect(one.usage()).toMatchObject({ calls: 1, tokensOut: 40 });
});

test('a call that is cut after the first event is settled at its booking', async () => {
  const first = await slowFirst([START]);
  await using rig = await rigOf(true);
  const lease = await rig.open(CAPS);
  const answer = await begin(lease, { body });
  answer.destroy();
  await provider.aborted;
  await lease.close();
  expect(rig.ledger.rows).toMatchObject([{ status: 499, exact: false, usd: expect.closeTo(HELD, 9) }]);
  first.finish();
});

test.each([
  ['another vendor in the place of Anthropic', false, usage],
  ['no figure', true, { input_tokens: 0, output_tokens: 1 }],
  ['a figure that is no number', true, { input_tokens: '5', output_tokens: 1 }],
  ['more than was booked', true, { input_tokens: 900_000, output_tokens: 1 }],
])('a booking stays until the end: %s', async (_, official, told) => {
  const first = await slowFirst([{ type: 'message_start', message: { usage: told } }]);
  await using rig = await rigOf(official);
  const lease = await rig.open(CAPS);
  const answer = await begin(lease, { body });
  await answer.take(1).toArray();
  expect(rig.ledger.rows).toEqual(rig.ledger.booked);
  first.finish();
  await lease.close();
});

test('a ledger that misses the release gets the final figures', async () => {
  const first = await slowFirst([]);
  await using rig = await rigOf(true);
  const lease = await rig.open(CAPS);
  const answered = ask(lease, { body });
  await expect.poll(() => provider.seen.length).toBe(1);
  rig.ledger.break(true);
  first.finish();
  await answered;
  rig.ledger.break(false);
  await lease.close();
  expect(rig.ledger.rows).toMatchObject([{ status: 200, exact: true, tokensOut: 40 }]);
});
