import { describe, expect, test } from 'vitest';
import { type CandidateState, NO_USAGE } from '../../src/core/model/index.ts';
import type { AuditEntry, NewCommand, Store } from '../../src/ports/index.ts';
import { githubOrigin } from '../world/origin.ts';

type Fresh = () => Promise<Store>;

const mona = { id: 5, login: 'mona' };
const origin = githubOrigin();
const place = {
  installationId: 1,
  repositoryId: 42,
  owner: 'acme',
  name: 'shop',
  thread: 7,
  isPull: false,
} as const;
const command: NewCommand = {
  id: 'comment:991',
  place: { ...place, comment: 991, on: 'conversation' },
  by: mona,
  text: `/auto-dev cancel ${'and so on '.repeat(100)}`,
  at: 9,
};
const write: AuditEntry = {
  kind: 'write',
  what: 'comment',
  repository: 'acme/shop',
  thread: 7,
  outcome: 'done',
};
const create = (store: Store, id: string) => store.createRun({ id, origin, title: id, request: null, at: 1 });

/** Who did what, and how much there is of what. */
export function auditContract(fresh: Fresh): void {
  describe('the audit', () => {
    test('has one row for a command with its first outcome', async () => {
      const store = await fresh();
      await store.recordCommand(command);
      expect(await store.audited({ limit: 9 })).toEqual([]);
      await store.settleCommand(command.id, { kind: 'done', note: 'Cancelled.' }, 11, 'r1');
      await store.settleCommand(command.id, { kind: 'refused', why: 'Too late.' }, 12, 'r1');
      const [row, ...others] = await store.audited({ limit: 9 });
      expect(others).toEqual([]);
      expect(row).toMatchObject({ at: 11, repositoryId: 42, run: 'r1' });
      const text = command.text.slice(0, 500);
      const outcome = { kind: 'done', note: 'Cancelled.' };
      expect(row?.entry).toEqual({
        kind: 'command',
        command: 'comment:991',
        by: mona,
        text,
        thread: 7,
        outcome,
      });
    });

    test('says by which token of the API a command came', async () => {
      const store = await fresh();
      await store.recordCommand({ ...command, id: 'api:5:k', token: '0123456789ab' });
      await store.settleCommand('api:5:k', { kind: 'done', note: 'Cancelled.' }, 11, 'r1');
      const [row] = await store.audited({ limit: 9 });
      expect(row?.entry).toMatchObject({ kind: 'command', command: 'api:5:k', token: '0123456789ab' });
    });

    test('has a row for a run that is refused or cancelled', async () => {
      const store = await fresh();
      for (const id of ['r1', 'r2', 'r3']) await create(store, id);
      await store.transition('r1', 'refused', 'may not write', 2);
      await store.transition('r2', 'admitted', 'may write', 3);
      await store.transition('r2', 'cancelled', 'cancelled by mona', 4);
      await store.transition('r2', 'cancelled', 'again', 5);
      await store.transition('r3', 'failed', 'a fault', 6);
      const rows = (await store.audited({ limit: 9 })).toReversed();
      expect(rows.map(({ run, at, repositoryId, entry }) => ({ run, at, repositoryId, ...entry }))).toEqual([
        {
          kind: 'refusal',
          run: 'r1',
          at: 2,
          repositoryId: 42,
          from: 'queued',
          to: 'refused',
          cause: 'may not write',
        },
        {
          kind: 'transition',
          run: 'r2',
          at: 4,
          repositoryId: 42,
          from: 'admitted',
          to: 'cancelled',
          cause: 'cancelled by mona',
        },
      ]);
    });

    test('is read newest first, of one run or of all, as many rows as were asked for', async () => {
      const store = await fresh();
      for (const [at, run] of [
        [1, 'r1'],
        [2, 'r2'],
        [3, 'r1'],
      ] as const)
        await store.audit(write, { at, run });
      await store.audit(write, { at: 4 });
      const times = async (wish: Parameters<Store['audited']>[0]) =>
        (await store.audited(wish)).map(({ at }) => at);
      expect(await times({ limit: 9 })).toEqual([4, 3, 2, 1]);
      expect(await times({ limit: 2 })).toEqual([4, 3]);
      expect(await times({ run: 'r1', limit: 9 })).toEqual([3, 1]);
      const [last] = await store.audited({ limit: 1 });
      expect(last).toEqual({ number: last?.number, at: 4, entry: write });
    });
  });

  test('a census counts runs by state, queued runs, and waiting coders of active runs', async () => {
    const store = await fresh();
    for (const id of ['r1', 'r2', 'r3', 'r4', 'r5']) await create(store, id);
    // r4 waits for a place, r5 has begun, and of r1 it is not known yet whether it may.
    const queueEntry = { share: 'repository 42', priority: 1, since: 1 };
    for (const id of ['r4', 'r5']) await store.updateRun(id, { queueEntry }, 2);
    await store.markStage('r5', 'admit', 'start', 3);
    for (const id of ['r2', 'r3']) {
      await store.transition(id, 'admitted', 'may', 2);
      await store.transition(id, 'briefed', 'is', 3);
      const states: readonly CandidateState[] = ['queued', 'coding', 'queued'];
      for (const [ordinal, state] of states.entries()) {
        const contestant = { agent: 'builtin', model: 'x/y', prompt: 'plain' };
        const alias = 'ABC'[ordinal] as string;
        await store.putCandidate({
          runId: id,
          alias,
          ordinal,
          contestant,
          state,
          usage: NO_USAGE,
          ms: 0,
          note: '',
        });
      }
    }
    await store.transition('r3', 'cancelled', 'by mona', 4);
    const { runs, ...rest } = await store.census();
    expect(rest).toEqual({ queuedRuns: 1, codersWaiting: 2, executors: {} });
    expect(Object.entries(runs).filter(([, number]) => number > 0)).toEqual([
      ['queued', 3],
      ['briefed', 1],
      ['cancelled', 1],
    ]);
  });
}
