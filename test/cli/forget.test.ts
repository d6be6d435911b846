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
  const counted = shellOver({ store });
  expect(await counted.type('forget', 'Acme/Store', '--dry-run', '--json')).toBe(0);
  expect(JSON.parse(counted.out())).toEqual({ dryRun: true, repository: 'github-42', outcomes: 3 });
  const again = shellOver({ store });
  expect(await again.type('forget', 'Acme/Store')).toBe(0);
  expect(again.out()).toBe('3 outcomes of candidates of Acme/Store were deleted.\n');
  expect(await store.outcomes({ runs: 9 })).toEqual([other]);
  const unknown = shellOver({ store, workspaces: { describe: async () => ({ top: '/x' }) as never } });
  expect(await unknown.type('forget', 'acme/store')).toBe(2);
  expect(unknown.err()).toContain(
    'No outcomes of acme/store are kept; there are some of /srv/x.\n→ Name it as',
  );
});

test('a name that another repository had before deletes nothing, and the keys tell them apart', async () => {
  const store = memoryStore();
  const former = outcome({ at: 1 });
  const renamed = outcome({ runId: 'r2', at: 2, repositoryName: 'acme/old' });
  const present = outcome({ runId: 'r3', at: 3, repository: 'github-43' });
  for (const one of [former, renamed, present]) await store.keepOutcomes(one.runId, [one], 1);
  const unclear = shellOver({ store });
  expect(await unclear.type('forget', 'acme/shop')).toBe(2);
  expect(unclear.err()).toContain(
    'Nothing was deleted, because several repositories were called acme/shop, newest first: github-43, last called acme/shop; github-42, last called acme/old.',
  );
  expect(await store.outcomes({ runs: 9 })).toHaveLength(3);
  const clear = shellOver({ store });
  expect(await clear.type('forget', 'github-43')).toBe(0);
  expect(await store.outcomes({ runs: 9 })).toEqual([former, renamed]);
  const now = shellOver({ store });
  expect(await now.type('forget', 'acme/shop')).toBe(0);
  expect(await store.outcomes({ runs: 9 })).toEqual([]);
});
