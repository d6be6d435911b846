import { expect, test } from 'vitest';
import { pruneUnused } from '../../src/compose/upkeep.ts';
import type { Log, RunRecord, Workspaces } from '../../src/ports/index.ts';

const DAY = 24 * 60 * 60_000;
const NOW = 1_800_000_000_000;
type Wish = Parameters<Workspaces['prune']>[0];

test('what no run used for two weeks goes, but nothing of a run that is not over', async () => {
  const wishes: Wish[] = [];
  const said: string[] = [];
  const log = { info: (_: object, text: string) => said.push(text) } as unknown as Log;
  await pruneUnused({
    clock: { now: () => NOW, sleep: () => Promise.resolve() },
    log,
    store: { unfinished: async () => [{ id: 'ropen' } as RunRecord] },
    workspaces: {
      async prune(wish) {
        wishes.push(wish);
        return { checkouts: 1, layers: 0, patches: 0, repositories: 0, bytes: 5e6, busy: 0 };
      },
    },
  });
  expect(wishes[0]?.before).toBe(NOW - 14 * DAY);
  expect(wishes[0]?.keep('ropen-A')).toBe(true);
  expect(wishes[0]?.keep('ropenother-A')).toBe(false);
  expect(said).toEqual(['Freed 5 MB that no run used for two weeks.']);
});
