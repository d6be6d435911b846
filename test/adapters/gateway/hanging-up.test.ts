import { afterEach, describe, expect, test } from 'vitest';
import { startScriptedModels } from '../../../src/demo/scripted-models/index.ts';
import { tried } from '../../world/tried.ts';
import { begin, openRig, PRICE, type Provider, sse, startProvider } from './rig.ts';
import { hangUpAfter, IN, OUT, PROTOCOLS, stalls } from './streams.ts';

let provider: Provider | undefined;
afterEach(async () => {
  await provider?.close();
  provider = undefined;
});

const exact = {
  tokensIn: IN,
  tokensOut: OUT,
  usd: expect.closeTo((IN * PRICE.input + OUT * PRICE.output) / 1e6, 9),
  exact: true,
  status: 200,
};

describe.each(PROTOCOLS)(
  'an agent that disconnects from a stream of %s',
  (_, { call, before, last, after }) => {
    test("right after the last usage figures pays exactly these, with the provider's status", async () => {
      tried({
        id: 'agent-hangs-up',
        part: 'Model calls break off',
        what: 'An agent disconnects right after the last usage figures of a stream.',
        held: 'Exactly these are charged.',
      });
      provider = await stalls([...before, last]);
      await using rig = await openRig(provider.url);
      const lease = await rig.open();
      await hangUpAfter(before.length + 1, lease, call);
      await provider.aborted;
      await lease.close();
      expect(rig.ledger.rows).toMatchObject([exact]);
      expect(lease.refusal()).toBeNull();
    });

    test('at the very last event pays the same', async () => {
      provider = await stalls([...before, last, ...after]);
      await using rig = await openRig(provider.url);
      const lease = await rig.open();
      await hangUpAfter(before.length + 1 + after.length, lease, call);
      await provider.aborted;
      await lease.close();
      expect(rig.ledger.rows).toMatchObject([exact]);
    });

    test('right before them pays the maximum', async () => {
      provider = await stalls(before);
      await using rig = await openRig(provider.url);
      const lease = await rig.open();
      await hangUpAfter(before.length, lease, call);
      await provider.aborted;
      await lease.close();
      expect(rig.ledger.rows).toMatchObject([{ tokensOut: 1000, exact: false, status: 499 }]);
      expect(rig.ledger.rows[0]?.usd).toBeGreaterThan((IN * PRICE.input + OUT * PRICE.output) / 1e6);
    });

    test('pays exactly also if the provider breaks off after the last figures', async () => {
      const read = Promise.withResolvers<void>();
      provider = await startProvider(async (_body, response) => {
        sse(response, ...before, last);
        await read.promise;
        response.destroy();
      });
      await using rig = await openRig(provider.url);
      const lease = await rig.open();
      const answer = await begin(lease, call);
      const cut = new Promise((resolve) => answer.once('error', resolve));
      let text = '';
      answer.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (text.includes(JSON.stringify(last))) read.resolve();
      });
      await cut;
      await lease.close();
      expect(rig.ledger.rows).toMatchObject([exact]);
      expect(lease.refusal()).toBeNull();
    });

    test('pays what a slow provider reports between two events', async () => {
      const figures = { tokensIn: IN, tokensCached: 0, tokensWritten: 0, tokensOut: OUT, tokensReasoning: 0 };
      const script = { turns: [{ kind: 'text', text: 'hello' } as const], usage: [figures] as const };
      const models = await startScriptedModels({ scripts: { m: script }, paceMs: 150 });
      try {
        await using rig = await openRig(models.url);
        const lease = await rig.open();
        // Counted on an answer that is read to its end.
        const whole = await begin(lease, call);
        let text = '';
        for await (const chunk of whole) text += String(chunk);
        const events = text.match(/^data:/gm)?.length ?? 0;
        expect(events).toBeGreaterThan(1);
        await hangUpAfter(events, lease, call);
        await lease.close();
        expect(rig.ledger.rows).toMatchObject([exact, exact]);
      } finally {
        await models.close();
      }
    });
  },
);
