import { describe, expect, test } from 'vitest';
import { CODER_STEP_LIMITS, type CoderStep } from '../../src/core/model/index.ts';
import type { Store } from '../../src/ports/index.ts';
import { bookRow } from '../world/ledger.ts';
import { githubOrigin } from '../world/origin.ts';

const step = (number: number, over: Partial<CoderStep> = {}): CoderStep => ({
  alias: 'A',
  number,
  at: 1000 + number,
  kind: 'says',
  text: `step ${number}`,
  ...over,
});
const candidate = (runId: string, alias: string, note = 'starts') => ({
  runId,
  alias,
  ordinal: 0,
  contestant: { agent: 'builtin', model: 'anthropic/claude-sonnet-5', prompt: 'plain' },
  state: 'coding' as const,
  usage: { usd: 0, tokensIn: 0, tokensOut: 0, calls: 0 },
  ms: 0,
  note,
});
const call = (over: { readonly usd: number; readonly at: number; readonly spender?: string }) => ({
  runId: 'r1',
  spender: 'A',
  repository: 'github-42',
  model: 'anthropic/claude-sonnet-5',
  tokensIn: 100,
  tokensOut: 50,
  tokensCached: 0,
  tokensReasoning: 0,
  exact: true,
  status: 200,
  ms: 10,
  ...over,
});

/** What the store promises to those who watch runs. */
export function liveContract(fresh: () => Promise<Store>): void {
  const withRun = async (): Promise<Store> => {
    const store = await fresh();
    await store.createRun({
      id: 'r1',
      origin: githubOrigin({ issue: 7 }),
      title: 'Fix',
      request: null,
      at: 1,
    });
    await store.putCandidate(candidate('r1', 'A'));
    await store.putCandidate(candidate('r1', 'B'));
    return store;
  };
  const numbers = (steps: readonly CoderStep[]) => steps.map(({ number }) => number);

  describe('steps of coders', () => {
    test('are read as they were reported, by candidate and in order, whatever they contain', async () => {
      const store = await withRun();
      const steps: readonly CoderStep[] = [
        step(1, { kind: 'start', text: 'The coder starts.' }),
        step(2, { kind: 'command', text: 'bash: npm test', call: 'toolu_1' }),
        step(3, {
          kind: 'result',
          text: '',
          detail: 'é\n\t1 failed 🎉',
          call: 'toolu_1',
          exitCode: 1,
          ok: false,
        }),
      ];
      await store.appendSteps('r1', [steps[2], steps[0], steps[1], step(1, { alias: 'B' })] as CoderStep[]);
      expect(await store.steps('r1', { alias: 'A', limit: 9 })).toEqual(steps);
      await store.appendSteps('r1', [step(2, { alias: 'B', text: 'nul \0 and \ud800', detail: '\0' })]);
      expect(await store.steps('r1', { alias: 'B', after: 1, limit: 9 })).toHaveLength(1);
      expect(await store.steps('r1', { alias: 'C', limit: 9 })).toEqual([]);
      expect(await store.steps('nope', { alias: 'A', limit: 9 })).toEqual([]);
    });

    test('are stored once, however often a write is repeated', async () => {
      const store = await withRun();
      await store.appendSteps('r1', [step(1), step(2)]);
      await store.appendSteps('r1', [step(1), step(2, { text: 'another process' }), step(3)]);
      const stored = await store.steps('r1', { alias: 'A', limit: 9 });
      expect(stored.map(({ text }) => text)).toEqual(['step 1', 'step 2', 'step 3']);
      await store.appendSteps('r1', []);
    });

    test('are found by number, kind and text in any case', async () => {
      const store = await withRun();
      await store.appendSteps('r1', [
        step(1, { kind: 'start' }),
        step(2, { kind: 'command', text: 'bash: npm TEST -- 100%_done' }),
        step(3, { kind: 'result', text: '', detail: 'Test failed' }),
        step(4, { kind: 'edit', text: 'edit: a.ts' }),
        step(5, { kind: 'command', text: 'bash: ls' }),
      ]);
      const read = async (query: object) =>
        numbers(await store.steps('r1', { alias: 'A', limit: 2, ...query }));
      expect(await read({})).toEqual([1, 2]);
      expect(await read({ after: 2 })).toEqual([3, 4]);
      expect(await read({ before: 5 })).toEqual([3, 4]);
      expect(await read({ kinds: ['command', 'edit'] })).toEqual([2, 4]);
      expect(await read({ kinds: [] })).toEqual([]);
      expect(await read({ text: 'tEsT' })).toEqual([2, 3]);
      expect(await read({ text: '100%_d' })).toEqual([2]);
      expect(await read({ text: '%' })).toEqual([2]);
      expect(await read({ text: 'o', kinds: ['command'], before: 9 })).toEqual([2]);
    });

    test('are limited: the newest stay, with their numbers', async () => {
      const store = await withRun();
      const { steps } = CODER_STEP_LIMITS;
      for (let from = 1; from <= steps + 200; from += 400) {
        await store.appendSteps(
          'r1',
          Array.from({ length: 400 }, (_, at) => step(from + at)),
        );
      }
      const [totals] = await store.stepTotals('r1');
      expect(totals).toMatchObject({ first: (totals?.last ?? 0) - steps + 1 });
      expect(await store.steps('r1', { alias: 'A', limit: 5000 })).toHaveLength(steps);
    });

    test('are added up by candidate, with the starts of its coder', async () => {
      const store = await withRun();
      await store.appendSteps('r1', [
        step(1, { kind: 'start' }),
        step(2, { detail: 'four' }),
        step(3, { kind: 'start' }),
        step(1, { alias: 'B', detail: 'two' }),
      ]);
      expect(await store.stepTotals('r1')).toEqual([
        { alias: 'A', first: 1, last: 3, starts: 2, details: 4 },
        { alias: 'B', first: 1, last: 1, starts: 0, details: 3 },
      ]);
      expect(await store.stepTotals('nope')).toEqual([]);
    });

    test('belong to a run: none without it, and none after it', async () => {
      const store = await withRun();
      await expect(store.appendSteps('nope', [step(1)])).rejects.toMatchObject({ code: 'RUN_UNKNOWN' });
      await store.appendSteps('r1', [step(1)]);
      await store.transition('r1', 'cancelled', 'enough', 2);
      await store.expire({ runs: 100, ledger: 100, keys: 100 }, false);
      expect(await store.run('r1')).toBeNull();
      expect(await store.steps('r1', { alias: 'A', limit: 9 })).toEqual([]);
      expect(await store.stepTotals('r1')).toEqual([]);
    });
  });

  test('calls of a spender are read in the order of booking, as they are in the ledger', async () => {
    const store = await withRun();
    await bookRow(store, call({ usd: 0.1, at: 1 }));
    await bookRow(store, call({ usd: 0.2, at: 2, spender: 'B' }));
    await bookRow(store, call({ usd: 0.3, at: 3 }));
    const calls = await store.callsOf('r1', 'A', { after: 0, limit: 9 });
    expect(calls.map(({ usd }) => usd)).toEqual([0.1, 0.3]);
    const [first] = calls;
    const later = await store.callsOf('r1', 'A', { after: first?.number ?? 0, limit: 9 });
    expect(later).toMatchObject([{ usd: 0.3, model: 'anthropic/claude-sonnet-5', tokensIn: 100 }]);
    expect(await store.callsOf('r1', 'A', { after: 0, limit: 1 })).toHaveLength(1);
  });

  describe('marks of runs', () => {
    const changes: readonly (readonly [string, (store: Store) => Promise<unknown>])[] = [
      ['its state', (store) => store.transition('r1', 'admitted', 'label', 2)],
      ['a field', (store) => store.updateRun('r1', { title: 'Other' }, 1)],
      ['a candidate', (store) => store.putCandidate(candidate('r1', 'A', 'reads'))],
      ['a stage', (store) => store.markStage('r1', 'admit', 'start', 5)],
      ['money', (store) => bookRow(store, call({ usd: 0.1, at: 1 }))],
      ['a vote', (store) => store.vote('r1', { alias: 'A', by: { id: 6, login: 'nina' }, at: 3 })],
      [
        'a pick',
        (store) =>
          store.addPick('r1', {
            ...{ alias: 'A', by: null, at: 3, key: 'k' },
            shown: { aliases: ['A'], first: 'A', votes: {} },
          }),
      ],
      ['a reply', (store) => store.addReply('r1', 'k', { kind: 'approve', text: '', by: null, at: 3 })],
    ];
    test.each(changes)('differ after a change of %s, and only then', async (_, change) => {
      const store = await withRun();
      const [before] = await store.runMarks(['r1']);
      expect(await store.runMarks(['r1'])).toEqual([before]);
      await change(store);
      const [after] = await store.runMarks(['r1']);
      expect(after?.version).not.toBe(before?.version);
      expect(after).toMatchObject({ id: 'r1', origin: { issue: 7 } });
    });

    test('differ when the cost of a call is known, even if it is nothing', async () => {
      const store = await withRun();
      const row = await bookRow(store, { ...call({ usd: 0, at: 1 }), status: 0 });
      const [before] = await store.runMarks(['r1']);
      await store.settleCall(row, call({ usd: 0, at: 1 }));
      const [after] = await store.runMarks(['r1']);
      expect(after?.version).not.toBe(before?.version);
    });

    test('have the last step of each candidate that has one', async () => {
      const store = await withRun();
      expect(await store.runMarks(['r1'])).toMatchObject([{ steps: {} }]);
      await store.appendSteps('r1', [step(1), step(2)]);
      expect(await store.runMarks(['r1'])).toMatchObject([{ steps: { A: 2 } }]);
    });

    test('are read of the runs asked for, or of those that changed last', async () => {
      const store = await withRun();
      for (const [id, at] of [
        ['r2', 5],
        ['r3', 3],
      ] as const)
        await store.createRun({ id, origin: githubOrigin({ issue: 8 }), title: 'x', request: null, at });
      const ids = async (which: Parameters<Store['runMarks']>[0]) =>
        (await store.runMarks(which)).map(({ id }) => id).toSorted();
      expect(await ids(['r1', 'r3', 'nope'])).toEqual(['r1', 'r3']);
      expect(await ids([])).toEqual([]);
      expect(await ids({ newest: 2 })).toEqual(['r2', 'r3']);
      await store.updateRun('r1', { title: 'y' }, 9);
      expect(await ids({ newest: 2 })).toEqual(['r1', 'r2']);
    });
  });
}
