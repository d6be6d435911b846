import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore } from '../../../src/adapters/store/index.ts';
import type { ArtifactRef, GitHubOrigin, RunState } from '../../../src/core/model/index.ts';
import type { RunOutcome, Store } from '../../../src/ports/index.ts';
import { freshDatabase, type TestDatabase } from '../../world/database.ts';
import { bookRow } from '../../world/ledger.ts';
import { githubOrigin } from '../../world/origin.ts';

const ORIGIN: GitHubOrigin = githubOrigin();
const LONG_AGO = 1_000;
const NOW = 9_000;
const WAY: readonly RunState[] = ['admitted', 'briefed', 'coded', 'examined', 'judged'];
const PULL: RunOutcome = {
  kind: 'pull',
  number: 12,
  url: 'https://github.test/p/12',
  branch: 'auto-dev/7/r/A',
  headSha: 'b'.repeat(40),
  branches: {},
  comparisonUrl: 'https://github.test/c/1',
};

let database: TestDatabase;
let store: Store;
beforeAll(async () => {
  database = await freshDatabase();
  store = await openStore(database.url);
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

/** A run that came to this state and was not touched since. */
async function run(id: string, end: readonly RunState[], at = LONG_AGO, outcome?: RunOutcome) {
  await store.createRun({ id, origin: ORIGIN, title: id, request: null, at });
  for (const state of end) await store.transition(id, state, 'test', at);
  await store.updateRun(id, outcome ? { outcome } : {}, at);
  await store.intend(id, 'status');
  await bookRow(store, {
    runId: id,
    spender: 'A',
    repository: 'github-42',
    model: 'm',
    tokensIn: 1,
    tokensOut: 1,
    tokensCached: 0,
    tokensReasoning: 0,
    usd: 1,
    exact: true,
    status: 200,
    ms: 1,
    at,
  });
  await database.query(`insert into runoff.model_answer values ($1, 'A', 'q', 0, '{}', '{}', $2)`, [id, at]);
}

test('old runs that are over are deleted with their rows, except those that somebody may return to or picked', async () => {
  await run('r-failed', ['failed']);
  await run('r-table', [...WAY, 'published'], LONG_AGO, { kind: 'table', branches: {} });
  await run('r-fresh', ['failed'], NOW);
  await run('r-open', [...WAY, 'published'], LONG_AGO, PULL);
  await run('r-waits', [...WAY, 'awaiting_pick']);
  await run('r-works', ['admitted']);
  await run('r-picked', [...WAY, 'awaiting_pick', 'closed']);
  const shown = { aliases: ['A'], first: 'A', votes: {} };
  await store.addPick('r-picked', { alias: null, by: null, at: 1, key: 'k', shown });
  await database.query(
    `insert into runoff.audit (at, kind, entry) values (10, 'write', '{}'), (9000, 'write', '{}')`,
  );
  await store.intend('day:0:repository:42', 'slot:1');

  const key = { owner: 'token:a', request: 'POST', holder: 'p', expired: 0 };
  await store.claimKey({ ...key, key: 'old', work: 'w-1', at: 6_999 });
  await store.claimKey({ ...key, key: 'new', work: 'w-2', at: 7_000 });

  const before = { runs: 5_000, ledger: 5_000, keys: 7_000 };
  const except = { ...before, except: ['r-table'] };
  expect((await store.expire(except, true)).runs).toEqual(['r-failed']);
  const planned = await store.expire(before, true);
  expect(planned).toEqual({ runs: ['r-failed', 'r-table'], calls: 2, audit: 2, answers: 6 });
  expect(await store.runs(20)).toHaveLength(7);
  expect((await store.usage('r-open')).calls).toBe(1);

  const { answers, ...gone } = await store.expire(before, false);
  expect(gone).toEqual({ runs: ['r-failed', 'r-table'], calls: 2, audit: 2 });
  // What a kept run has cost counts against its cap.
  expect((await store.usage('r-open')).calls).toBe(1);
  // Those of the runs that are gone as well: nobody can repeat them.
  expect(answers).toBe(6);
  const left = (await store.runs(20)).map(({ id }) => id).toSorted();
  expect(left).toEqual(['r-fresh', 'r-open', 'r-picked', 'r-waits', 'r-works']);
  expect(await store.intent('r-failed', 'status')).toBeNull();
  expect(await database.query('select key from runoff.idempotency_key')).toEqual([{ key: 'new' }]);
  expect(await store.intent('r-open', 'status')).toEqual({ state: 'planned' });
  expect(await store.expire(before, false)).toEqual({ runs: [], calls: 0, audit: 0, answers: 0 });
  expect((await database.query('select run_id from runoff.model_answer')).map((row) => row.run_id)).toEqual([
    'r-works',
  ]);
});

test("an artifact is in use while any row refers to it, the engine's rows included", async () => {
  const [ours, theirs, longer] = ['a', 'b', 'c'].map((digit) => digit.repeat(64));
  await run('r-patch', ['failed'], NOW);
  await store.updateRun('r-patch', { request: { body: { sha256: ours, bytes: 3 } } } as never, NOW);
  await database.query('create schema if not exists dbos');
  await database.query('create table dbos.sample (output text)');
  await database.query('insert into dbos.sample values ($1)', [`{"ref":"${theirs}","not":"${longer}c"}`]);
  expect([...(await store.artifactsInUse())].toSorted()).toEqual([ours, theirs]);
});

test('a database gets one name, however many ask for it at once, but none while another one owns the artifacts', async () => {
  const named = "select 1 from runoff.intent where scope = 'database'";
  expect([await store.databaseName('another'), await database.query(named)]).toEqual(['', []]);
  const names = await Promise.all(Array.from({ length: 4 }, () => store.databaseName(null)));
  expect(new Set([...names, await store.databaseName('another')])).toEqual(
    new Set([expect.stringMatching(/^[0-9a-f-]{36}$/)]),
  );
});

test('what a command has said is deleted with it, and answers to work without a run after the same time', async () => {
  const place = { ...ORIGIN, thread: 7, isPull: false, on: 'conversation' as const };
  const by = { id: 5, login: 'mona' };
  for (const comment of [1, 2, 3]) {
    const id = `comment:${comment}`;
    await store.recordCommand({ id, place: { ...place, comment }, by, text: '/auto-dev explain B', at: 1 });
    await store.intend(`command:${id}`, 'result');
    await store.fulfil(`command:${id}`, 'result', { reply: 'Candidate B …' });
  }
  await store.settleCommand('comment:1', { kind: 'done', note: 'explained' }, LONG_AGO);
  await store.settleCommand('comment:2', { kind: 'done', note: 'explained' }, NOW);
  const [expired, recent] = ['e', 'd'].map((digit) => ({ sha256: digit.repeat(64), bytes: 3 }));
  await store.keep('debate', 'expired', expired as ArtifactRef);
  await store.keep('debate', 'recent', recent as ArtifactRef);
  await database.query(`update runoff.answer set at = $1 where key = 'expired'`, [LONG_AGO]);

  await store.expire({ runs: 5_000, ledger: 5_000, keys: 7_000 }, false);
  const kept = [1, 2, 3].map((comment) => store.intent(`command:comment:${comment}`, 'result'));
  expect((await Promise.all(kept)).map((intent) => intent?.state)).toEqual([undefined, 'done', 'done']);
  expect([await store.kept('debate', 'expired'), await store.kept('debate', 'recent')]).toEqual([
    null,
    recent,
  ]);
  expect((await store.artifactsInUse()).has('e'.repeat(64))).toBe(false);
});
