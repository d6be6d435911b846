import { expect, test } from 'vitest';
import { openStore } from '../../../src/adapters/store/index.ts';
import { freshDatabase } from '../../world/database.ts';

test('more runs than a statement may have parameters are read and expire at once', async () => {
  const many = 66_000;
  const database = await freshDatabase();
  const store = await openStore(database.url);
  await database.query(
    `insert into runoff.run (id, origin, state, title, request, created_at, updated_at)
     select 'r-' || n, '{"kind":"local","path":"/x"}', 'refused', 't', 'null', 1, 1
     from generate_series(1, ${many}) as n`,
  );
  expect(await store.runsIn(['refused'])).toHaveLength(many);
  const { runs } = await store.expire({ runs: 5_000, ledger: 5_000, keys: 5_000 }, false);
  expect(runs).toHaveLength(many);
  expect(await store.idsIn(['refused'])).toEqual([]);
  await store.close();
  await database.drop();
});
