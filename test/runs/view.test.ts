import { expect, test } from 'vitest';
import type { TestTable } from '../../src/core/evidence/index.ts';
import { choiceText } from '../../src/core/reports/index.ts';
import type { Store } from '../../src/ports/index.ts';
import { viewOf } from '../../src/runs/index.ts';
import { RUN, waiting } from '../core/reports/sample.ts';
import { storeOf } from '../web/stored-run.ts';
import { memoryArtifacts } from '../world/memory-store.ts';
import { partial } from '../world/partial.ts';

test('where a person chooses, the question is the one that the table of inputs asks', async () => {
  const artifacts = memoryArtifacts();
  const clock = { now: () => 0, elapsed: () => 0, sleep: async () => {} };
  const table: TestTable = {
    columns: ['base', 'B', 'C'],
    suites: [],
    inputs: [{ input: 'slug("a b")', results: ['"a b"', '"a-b"', '"ab"'] }],
  };
  const parts = { table, outputs: [] };
  const store = partial<Store>(await storeOf(artifacts, waiting(), parts), ['intent']);
  const run = await store.run(RUN);
  if (!run) throw new Error('The run is not stored.');
  const view = await viewOf({ artifacts, clock, store }, run);
  expect(choiceText(view).title).toBe(
    'For `slug("a b")`, **B** returns `"a-b"`, **C** returns `"ab"`: which do you want?',
  );
});
