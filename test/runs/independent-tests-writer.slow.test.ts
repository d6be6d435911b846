import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WrittenTest } from '../../src/core/independent-tests/index.ts';
import { admitTests } from '../../src/runs/examine/admit.ts';
import { writeIndependentTests } from '../../src/runs/examine/independent-tests.ts';
import {
  expecting,
  type Fixture,
  HASTY,
  openSharedFixture,
  REPOSITORY,
  RIGHT,
  type SharedFixture,
} from './independent-tests-world.ts';

const PROMPT = 'You write tests.';
const SPACE: WrittenTest = {
  title: 'white space around a cell',
  quote: 'White space around a cell should be removed',
  why: '',
  now: 'fails',
  file: expecting(' a ,b', ['a', 'b']),
};
const EMPTY: WrittenTest = {
  ...SPACE,
  title: 'an empty line',
  quote: 'An empty line should give no cells',
  file: expecting('', []),
};

describe('a writer of independent tests', () => {
  let shared: SharedFixture;
  let fixture: Fixture;
  beforeAll(async () => {
    shared = await openSharedFixture();
    fixture = await shared.fixture();
  });
  afterAll(() => shared.close());

  test("has its tests placed beside the repository's and executed separately", async () => {
    const desk = await shared.desk([{ tests: [SPACE, EMPTY], note: 'No more.' }]);
    const written = await writeIndependentTests(fixture.bench, desk, PROMPT);
    expect(written).toMatchObject({ rejected: [], note: 'No more.', model: 'openai/m' });
    expect(written.tests.map(({ id, path }) => [id, path])).toEqual([
      ['writer-1', 'test/independent-1.test.js'],
      ['writer-2', 'test/independent-2.test.js'],
    ]);
    const survivors = [await fixture.survivor('A', HASTY), await fixture.survivor('B', RIGHT)];
    const { byAlias } = await admitTests(fixture.bench, written.tests, {
      survivors,
      onBase: fixture.onBase,
      taskKind: 'change',
      name: 'n',
    });
    expect(byAlias).toMatchObject({
      A: { passed: 1, total: 2, failing: [{ id: 'writer-2', origin: 'writer' }] },
      B: { passed: 2, total: 2 },
    });
  });

  test('sees issue, brief, declarations, an example and its paths, but no candidate', async () => {
    const desk = await shared.desk([{ tests: [], note: '' }]);
    expect(await writeIndependentTests(fixture.bench, desk, PROMPT)).toEqual({
      tests: [],
      rejected: [],
      model: 'openai/m',
    });
    const sent = JSON.parse(desk.provider.seen[0]?.body ?? '{}') as { messages: { content: string }[] };
    const [instructions, prompt] = sent.messages.map(({ content }) => content);
    expect(instructions).toContain(PROMPT);
    const nonce = /<<<TASK (\w+)/.exec(prompt ?? '')?.[1] ?? '';
    expect(prompt?.replaceAll(nonce, 'N')).toMatchInlineSnapshot(`
      "<<<TASK N
      Cells keep white space around them

      White space around a cell should be removed. An empty line should give no cells. Anything else stays as it is.
      TASK N>>>

      <<<BRIEF N
      White space around a cell is removed, and an empty line gives no cells.

      Done means:
      - \`splitLine(" a , b ")\` gives \`["a", "b"]\`
      BRIEF N>>>

      <<<DECLARATIONS N
      src/csv.js
        export function splitLine(line) {
      DECLARATIONS N>>>

      <<<EXAMPLE N
      test/csv.test.js

      import assert from 'node:assert/strict';
      import { test } from 'node:test';
      import { splitLine } from '../src/csv.js';

      test('cells are split at commas', () => {
        assert.deepEqual(splitLine('a,b'), ['a', 'b']);
      });
      EXAMPLE N>>>

      The tests will stand at these paths, in this order:
      test/independent-1.test.js
      test/independent-2.test.js
      test/independent-3.test.js
      test/independent-4.test.js
      test/independent-5.test.js
      test/independent-6.test.js
      test/independent-7.test.js
      test/independent-8.test.js

      Write the tests."
    `);
  });

  test('is paid by its own spender with a share of the budget', async () => {
    const desk = await shared.desk([{ tests: [SPACE], note: '' }]);
    const grants: unknown[] = [];
    const open: typeof desk.gateway.open = (grant, onUsage) => {
      grants.push(grant);
      return desk.rig.gateway.open(grant, onUsage);
    };
    await writeIndependentTests(fixture.bench, { ...desk, gateway: { ...desk.gateway, open } }, PROMPT);
    expect(grants).toMatchObject([{ spender: 'writer', capUsd: 0.2, runCapUsd: 2, models: ['openai/m'] }]);
    expect(desk.rig.ledger.rows).toMatchObject([{ spender: 'writer', runId: 'r1' }]);
  });

  test('is not paid twice for an answer', async () => {
    const desk = await shared.desk([{ tests: [SPACE], note: '' }]);
    const first = await writeIndependentTests(fixture.bench, desk, PROMPT);
    expect(await writeIndependentTests(fixture.bench, desk, PROMPT)).toEqual(first);
    expect(desk.provider.seen).toHaveLength(1);
  });

  test('can report that it cannot write tests, without a fault', async () => {
    const unfit = await shared.desk(['I would rather not.']);
    expect(await writeIndependentTests(fixture.bench, unfit, PROMPT)).toMatchObject({
      tests: [],
      note: expect.stringContaining('not in the form asked for'),
    });
    const nobody = await shared.desk([], { models: [] });
    expect(await writeIndependentTests(fixture.bench, nobody, PROMPT)).toMatchObject({
      note: expect.stringContaining('No model is configured'),
    });
    const keyless = await shared.desk([], { models: ['elsewhere/m'] });
    expect((await writeIndependentTests(fixture.bench, keyless, PROMPT)).note).toContain('elsewhere');
    expect(keyless.provider.seen).toHaveLength(0);
  });

  test('is not asked with a used up budget, without a fault', async () => {
    const poor = await shared.desk([{ tests: [SPACE], note: '' }]);
    const { budget, ...settings } = poor.task.settings;
    const task = { ...poor.task, settings: { ...settings, budget: { ...budget, run: 1e-7 } } };
    const { tests, note } = await writeIndependentTests(fixture.bench, { ...poor, task }, PROMPT);
    expect([tests, note]).toEqual([[], expect.stringMatching(/budget|cap|used up/i)]);
    expect(poor.provider.seen).toHaveLength(0);
  });

  test('is replaced by the next model after an invalid answer', async () => {
    const desk = await shared.desk(['no', 'no', 'no', { tests: [SPACE], note: '' }], {
      models: ['openai/m', 'google/m', 'anthropic/m'],
    });
    // The second route is of another protocol, which this provider does not speak.
    const gateway = { ...desk.gateway, route: () => desk.rig.gateway.route('openai/m') };
    const open: typeof desk.gateway.open = (grant) =>
      desk.rig.gateway.open({ ...grant, models: ['openai/m'] });
    const written = await writeIndependentTests(
      fixture.bench,
      { ...desk, gateway: { ...gateway, open } },
      PROMPT,
    );
    expect(written).toMatchObject({ model: 'google/m', tests: [{ id: 'writer-1' }] });
  });

  test('is asked again after a cancellation', async () => {
    const stop = new AbortController();
    const desk = await shared.desk([{ tests: [SPACE], note: '' }]);
    stop.abort();
    await expect(
      writeIndependentTests(fixture.bench, { ...desk, signal: stop.signal }, PROMPT),
    ).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect((await writeIndependentTests(fixture.bench, desk, PROMPT)).tests).toHaveLength(1);
  });

  test('is not asked if the base has no tests as an example', async () => {
    const { 'test/csv.test.js': _, ...rest } = REPOSITORY;
    const bare = await shared.fixture({ files: rest, test: 'true' });
    const desk = await shared.desk([{ tests: [SPACE], note: '' }]);
    expect(await writeIndependentTests(bare.bench, desk, PROMPT)).toMatchObject({
      tests: [],
      note: expect.stringContaining('no test file'),
    });
    expect(desk.provider.seen).toHaveLength(0);
  });
});
