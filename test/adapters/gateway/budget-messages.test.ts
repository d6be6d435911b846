import { afterEach, expect, test } from 'vitest';
import type { Grant } from '../../../src/ports/index.ts';
import { ask, json, message, openRig, PRICE, PROMPT, type Provider, startProvider } from './rig.ts';

let provider: Provider;
afterEach(() => provider.close());

/** Dollars of a call that writes what it may. */
const CALL = (300 * PRICE.input + 1000 * PRICE.output) / 1e6;
const ENOUGH = { repositoryUsd: 9, everythingUsd: 9 };
const ANEW = (name: string) => ` The operator sets it with ${name}; it resets at midnight UTC.`;
const SHORT = 'does not suffice for another call';
const TEXT = 'x'.repeat(6_000);
const LONG = { ...PROMPT, messages: [{ role: 'user', content: TEXT }] };

/** What people read after a call that went well and a long one that the cap stopped. */
async function sentence(grant: Partial<Grant>, dayCaps = ENOUGH): Promise<string> {
  provider = await startProvider((body, response) =>
    json(response, 200, message(300, body.max_tokens as number)),
  );
  await using rig = await openRig(provider.url, { dayCaps });
  const lease = await rig.open(grant);
  expect((await ask(lease)).status).toBe(200);
  expect((await ask(lease, { body: LONG })).status).toBe(402);
  return lease.refusal() ?? '';
}

const figures = (text: string) => {
  const found = /\$([\d.]+) of \$([\d.]+) spent, about \$([\d.]+) needed/.exec(text)?.slice(1).map(Number);
  const [spent = Number.NaN, cap = Number.NaN, needed = Number.NaN] = found ?? [];
  return { spent, cap, needed };
};

const CAP = 0.0145;
test.each<[string, Partial<Grant>, { repositoryUsd: number; everythingUsd: number }, string, string]>([
  ['a candidate', { capUsd: CAP }, ENOUGH, 'of A', ''],
  ['the run', { runCapUsd: CAP }, ENOUGH, 'of the run', ''],
  [
    'a repository’s day',
    {},
    { ...ENOUGH, repositoryUsd: CAP },
    'of this repository for today (UTC)',
    ANEW('MAX_BUDGET_REPOSITORY_DAY'),
  ],
  ['a day', {}, { ...ENOUGH, everythingUsd: CAP }, 'of everything for today (UTC)', ANEW('MAX_BUDGET_DAY')],
])(
  'the budget of %s is not reported as used up while a smaller call would fit',
  async (_, grant, caps, of, anew) => {
    const text = await sentence(grant, caps);
    expect(text).toBe(
      `The budget ${of} ${SHORT}: $${CALL.toFixed(4)} of $${CAP} spent, about $${figures(text).needed.toFixed(4)} needed.${anew}`,
    );
    const { spent, cap, needed } = figures(text);
    expect(needed).toBeGreaterThan(cap - spent);
    // The input newly cached, and the shortest answer that is of use.
    expect(needed).toBeCloseTo(((TEXT.length / 3 + 540) * PRICE.cacheWrite + 256 * PRICE.output) / 1e6, 3);
  },
);

test('a budget of zero is used up from the start', async () => {
  provider = await startProvider((_, response) => json(response, 200, message(1, 1)));
  await using rig = await openRig(provider.url);
  const lease = await rig.open({ capUsd: 0 });
  await ask(lease);
  expect(lease.refusal()).toMatch(
    /^The budget of A is used up: \$0\.00 of \$0\.00 spent, about \$0\.00\d\d needed\.$/,
  );
  await ask(lease, { path: '/v1/messages/count_tokens' });
  expect(lease.refusal()).toBe('The budget of A is used up: $0.00 of $0.00 spent.');
});

test.each([
  ['brief-2', 'the plan'],
  ['debate-1-qa', 'the debate'],
  ['A', 'A'],
])('a budget of %s is reported as that of %s', async (spender, work) => {
  provider = await startProvider((_, response) => json(response, 200, message(10, 10)));
  await using rig = await openRig(provider.url);
  const lease = await rig.open({ capUsd: 0, spender });
  expect((await ask(lease)).status).toBe(402);
  expect(lease.refusal()).toContain(`The budget of ${work} is used up`);
});

test('a budget of dollars is reported in cents where a call needs at least one', async () => {
  provider = await startProvider((body, response) =>
    json(response, 200, message(300, body.max_tokens as number)),
  );
  await using rig = await openRig(provider.url);
  const lease = await rig.open({ capUsd: 0.02 });
  expect((await ask(lease)).status).toBe(200);
  const long = { ...PROMPT, messages: [{ role: 'user', content: 'x'.repeat(30_000) }] };
  expect((await ask(lease, { body: long })).status).toBe(402);
  expect(lease.refusal()).toMatch(
    /^The budget of A does not suffice for another call: \$0\.02 of \$0\.02 spent, about \$0\.0[1-9] needed\.$/,
  );
});

test('a token budget has a message that counts tokens', async () => {
  provider = await startProvider((_, response) =>
    json(response, 200, { choices: [], usage: { prompt_tokens: 600, completion_tokens: 1000 } }),
  );
  await using rig = await openRig(provider.url);
  const lease = await rig.open({ models: ['openai/nobody-knows-this'], capTokens: 3_000 });
  const body = { ...PROMPT, model: 'nobody-knows-this' };
  const path = '/v1/chat/completions';
  expect((await ask(lease, { path, body })).status).toBe(200);
  expect((await ask(lease, { path, body: { ...LONG, model: body.model } })).status).toBe(402);
  const refusal = lease.refusal() ?? '';
  expect(refusal).toMatch(
    /^The budget of tokens of A for models without a known price does not suffice for another call: 1600 of 3000 spent, about \d+ needed\.$/,
  );
  expect(Number(/about (\d+)/.exec(refusal)?.[1])).toBeGreaterThan(3_000 - 1_600);
});

test('a budget that is reached stays the reason when a call that began before, or a free count, ends well', async () => {
  const first = Promise.withResolvers<void>();
  provider = await startProvider(async (body, response, request) => {
    if (request.url?.includes('count_tokens')) return json(response, 200, { input_tokens: 9 });
    if (body.max_tokens === 300) await first.promise;
    json(response, 200, message(10, 5));
  });
  await using rig = await openRig(provider.url);
  const lease = await rig.open({ capUsd: 0.02 });
  const long = { ...LONG, messages: [{ role: 'user', content: 'x'.repeat(60_000) }] };
  const earlier = ask(lease, { body: { ...PROMPT, max_tokens: 300 } });
  await expect.poll(() => provider.seen.length).toBe(1);
  expect((await ask(lease, { body: long })).status).toBe(402);
  first.resolve();
  expect((await earlier).status).toBe(200);
  expect(lease.capReached()).toBe('spender');
  expect((await ask(lease, { path: '/v1/messages/count_tokens' })).status).toBe(200);
  expect(lease.capReached()).toBe('spender');
  expect(lease.refusal()).toContain('The budget of A');
  // A later call that is paid for shows that the budget still suffices.
  expect((await ask(lease)).status).toBe(200);
  expect([lease.refusal(), lease.capReached()]).toEqual([null, null]);
});
