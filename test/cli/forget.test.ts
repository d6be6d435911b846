import { expect, test } from 'vitest';
import { outcome } from '../core/learning/sample.ts';
import { memoryStore } from '../world/memory-store.ts';
import { shellOver } from './shell.ts';

test('outcomes of a repository are counted, then deleted under all its names; others stay', async () => {
  const store = memoryStore();
  await store.keepOutcomes('r1', [outcome(), outcome({ alias: 'B' })], 1);
  await store.keepOutcomes('r2', [outcome({ runId: 'r2', repositoryName: 'acme/store' })], 1);
  const other = outcome({ runId: 'r3', repository: 'local-/srv/x', repositoryName: '/srv/x' });
  await store.keepOutcomes('r3', [other], 1);
  const cli = shellOver({ store });
  expect(await cli.type('forget', 'Acme/Store', '--dry-run')).toBe(0);
  expect(cli.out()).toBe('3 outcomes of candidates of Acme/Store would be deleted.\n');
  expect(await store.outcomes({ runs: 9 })).toHaveLength(4);
  const again = shellOver({ store });
  expect(await again.type('forget', 'Acme/Store')).toBe(0);
  expect(again.out()).toBe('3 outcomes of candidates of Acme/Store were deleted.\n');
  expect(await store.outcomes({ runs: 9 })).toEqual([other]);
  const unknown = shellOver({ store });
  expect(await unknown.type('forget', 'acme/store')).toBe(1);
  expect(unknown.err()).toContain('Nothing is kept about candidates of acme/store.');
});
