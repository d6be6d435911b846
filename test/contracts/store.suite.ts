import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { NewReply } from '../../src/core/brief/index.ts';
import {
  type Candidate,
  type GitHubOrigin,
  type LocalOrigin,
  NO_USAGE,
  type RunState,
  type Task,
} from '../../src/core/model/index.ts';
import { Settings } from '../../src/core/settings/index.ts';
import type { KeptAnswer, LedgerRow, RunOutcome, Store } from '../../src/ports/index.ts';
import { bookRow, readSums, spentSince } from '../world/ledger.ts';
import { githubOrigin } from '../world/origin.ts';
import { recipesContract } from './recipes.suite.ts';
import { apiContract } from './store.api.ts';
import { auditContract } from './store.audit.ts';
import { commandsContract, countsContract, picksContract } from './store.commands.ts';
import { liveContract } from './store.live.ts';
import { outcomesContract } from './store.outcomes.ts';
import { pagesContract } from './store.pages.ts';

export interface OpenStore {
  readonly store: Store;
  close(): Promise<void>;
}

const local: LocalOrigin = { kind: 'local', path: '/srv/repo' };
const issue = (number: number, repositoryId = 42) => githubOrigin({ issue: number, repositoryId });

const sha = 'a'.repeat(40);
const candidate = (runId: string, alias: string, over: Partial<Candidate> = {}): Candidate => ({
  runId,
  alias,
  ordinal: 0,
  contestant: { agent: 'builtin', model: 'anthropic/claude-sonnet-4-5', prompt: 'plain' },
  state: 'coding',
  usage: { usd: 0.25, tokensIn: 10, tokensOut: 20, calls: 3 },
  ms: 1234.5,
  note: 'reads the tests',
  ...over,
});
const call = (over: Partial<LedgerRow>): LedgerRow => ({
  runId: 'r1',
  spender: 'A',
  repository: 'github-42',
  model: 'anthropic/claude-sonnet-4-5',
  tokensIn: 100,
  tokensOut: 50,
  tokensCached: 10,
  tokensReasoning: 5,
  usd: 0.5,
  exact: true,
  status: 200,
  ms: 12.5,
  at: 1,
  ...over,
});
const task = (runId: string): Task => ({
  runId,
  origin: local,
  title: 'Fix the rounding',
  body: 'It rounds down.\n\n"quotes", \\backslashes\\ and ünïcødé 🎉',
  comments: [{ author: 'mona', body: 'please' }],
  base: { ref: 'main', sha },
  settings: Settings.parse({}),
  lowered: [],
});

/** `open` gives an empty store. */
export function storeContract(name: string, open: () => Promise<OpenStore>): void {
  const opened: OpenStore[] = [];
  const fresh = async (): Promise<Store> => {
    const one = await open();
    opened.push(one);
    return one.store;
  };
  const create = (store: Store, id: string, at = 1) =>
    store.createRun({ id, origin: local, title: `Run ${id}`, request: { kind: 'prompt' }, at });

  describe(`store: ${name}`, () => {
    afterEach(async () => {
      for (const one of opened.splice(0)) await one.close();
    });

    describe('runs', () => {
      test('a new run is queued and holds what it was created with', async () => {
        const store = await fresh();
        const request = { kind: 'prompt', text: 'fix it', n: [1, null, true] };
        expect(await store.createRun({ id: 'r1', origin: local, title: 'Fix', request, at: 7 })).toBe(true);
        expect(await store.run('r1')).toEqual({
          id: 'r1',
          origin: local,
          state: 'queued',
          createdAt: 7,
          updatedAt: 7,
          title: 'Fix',
          request,
          stages: [],
        });
      });

      test('a second run of the same id changes nothing', async () => {
        const store = await fresh();
        await create(store, 'r1', 1);
        expect(await create(store, 'r1', 2)).toBe(false);
        expect(await store.run('r1')).toMatchObject({ createdAt: 1 });
      });

      test('an unknown run reads as null, and writing to it is a fault', async () => {
        const store = await fresh();
        expect(await store.run('nope')).toBeNull();
        expect(await store.candidates('nope')).toEqual([]);
        expect(await store.transitions('nope')).toEqual([]);
        const fault = { code: 'RUN_UNKNOWN' };
        await expect(store.updateRun('nope', { title: 'x' }, 1)).rejects.toMatchObject(fault);
        await expect(store.transition('nope', 'admitted', 'x', 1)).rejects.toMatchObject(fault);
        await expect(store.markStage('nope', 'code', 'start', 1)).rejects.toMatchObject(fault);
        await expect(store.putCandidate(candidate('nope', 'A'))).rejects.toMatchObject(fault);
      });

      test('a patch sets its fields and leaves the others', async () => {
        const store = await fresh();
        await create(store, 'r1', 1);
        const trouble = { code: 'REFUSED', message: 'No.', advice: 'Ask.' } as const;
        await store.updateRun('r1', { task: task('r1'), checks: { test: 'npm test' } }, 2);
        await store.updateRun('r1', { title: 'Better', evidence: [], trouble }, 3);
        expect(await store.run('r1')).toMatchObject({
          title: 'Better',
          updatedAt: 3,
          createdAt: 1,
          task: task('r1'),
          checks: { test: 'npm test' },
          evidence: [],
          trouble,
        });
        expect(await store.run('r1')).not.toHaveProperty('decision');
      });

      test('patches made of what is stored do not overwrite each other', async () => {
        const store = await fresh();
        await create(store, 'r1', 1);
        await Promise.all(
          Array.from({ length: 8 }, () =>
            store.updateRun('r1', ({ title }) => ({ title: `${title}!`, checks: { test: title } }), 2),
          ),
        );
        expect(await store.run('r1')).toMatchObject({
          title: 'Run r1!!!!!!!!',
          checks: { test: 'Run r1!!!!!!!' },
          updatedAt: 2,
        });
        const patch = () => expect.fail('There is nothing to change.');
        await expect(store.updateRun('nope', patch, 1)).rejects.toMatchObject({ code: 'RUN_UNKNOWN' });
      });

      test('the sandbox of the candidates is stored', async () => {
        const store = await fresh();
        await create(store, 'r1', 1);
        expect(await store.run('r1')).not.toHaveProperty('sandbox');
        const sandbox = { backend: 'container', detail: 'podman 5', weaker: ['It shares a kernel.'] };
        await store.updateRun('r1', { sandbox }, 2);
        await store.updateRun('r1', { title: 'Later' }, 3);
        expect(await store.run('r1')).toMatchObject({ sandbox, title: 'Later' });
      });

      test('lists are newest first, and limited as requested', async () => {
        const store = await fresh();
        for (const [id, at] of [
          ['r2', 20],
          ['r1', 10],
          ['r3', 30],
        ] as const)
          await create(store, id, at);
        expect((await store.runs(2)).map((run) => run.id)).toEqual(['r3', 'r2']);
        expect(await store.runs(0)).toEqual([]);
      });

      test('runs are found by their issue and by the pull request that they led to, newest first', async () => {
        const store = await fresh();
        const start = (id: string, origin: GitHubOrigin, at: number) =>
          store.createRun({ id, origin, title: id, request: null, at });
        const pull = (number: number): RunOutcome => ({
          kind: 'pull',
          number,
          url: `https://github.test/p/${number}`,
          branch: 'auto-dev/7/r1/A',
          headSha: 'b'.repeat(40),
          branches: { A: 'auto-dev/7/r1/A' },
          comparisonUrl: 'https://github.test/c/1',
        });
        await start('r1', issue(7), 10);
        await start('r2', issue(7), 30);
        await start('r3', { ...issue(12), work: 'review' }, 20);
        await start('r4', issue(12, 43), 40);
        await create(store, 'local', 50);
        await store.updateRun('r1', { outcome: pull(12) }, 60);
        await store.updateRun('r2', { outcome: { kind: 'branches', branches: {} } }, 60);
        const ids = async (repositoryId: number, thread: number) =>
          (await store.runsAt(repositoryId, thread)).map((run) => run.id);
        expect(await ids(42, 7)).toEqual(['r2', 'r1']);
        expect(await ids(42, 12)).toEqual(['r3', 'r1']);
        expect(await ids(43, 12)).toEqual(['r4']);
        expect(await ids(42, 99)).toEqual([]);
        expect((await store.runsAt(42, 7))[1]).toMatchObject({ id: 'r1', outcome: pull(12), stages: [] });
      });

      test('the newest 50 runs of an issue are listed', async () => {
        const store = await fresh();
        for (let n = 0; n < 52; n++) {
          await store.createRun({ id: `r${n}`, origin: issue(7), title: 'x', request: null, at: n });
        }
        const found = await store.runsAt(42, 7);
        expect(found).toHaveLength(50);
        expect([found[0]?.id, found[49]?.id]).toEqual(['r51', 'r2']);
      });

      test('of more than 50 runs of an issue, unfinished ones and those of people with write access are listed', async () => {
        const store = await fresh();
        const start = (id: string, at: number) =>
          store.createRun({ id, origin: issue(7), title: id, request: null, at });
        for (const id of ['waits', 'ended', 'left-the-queue']) {
          await start(id, 1);
          await store.transition(id, 'admitted', 'test', 1);
        }
        await store.updateRun('ended', { task: task('ended') }, 2);
        await store.updateRun('left-the-queue', { queueEntry: { share: 'x', priority: 1, since: 1 } }, 2);
        for (const id of ['ended', 'left-the-queue']) await store.transition(id, 'cancelled', 'asked', 3);
        for (let n = 0; n < 50; n++) {
          await start(`r${n}`, 10 + n);
          await store.transition(`r${n}`, 'refused', 'no write access', 10 + n);
        }
        const found = (await store.runsAt(42, 7)).map(({ id }) => id);
        expect(found).toHaveLength(50);
        expect(found.slice(0, 2)).toEqual(['r49', 'r48']);
        expect(found.slice(-4)).toEqual(['r3', 'waits', 'left-the-queue', 'ended']);
      });

      test('active runs of an issue are listed oldest first', async () => {
        const store = await fresh();
        const start = (id: string, origin: GitHubOrigin, at: number) =>
          store.createRun({ id, origin, title: id, request: null, at });
        await start('young', issue(7), 30);
        await start('old', issue(7), 10);
        await start('ended', issue(7), 20);
        await start('elsewhere', issue(8), 20);
        await start('other-repository', issue(7, 43), 20);
        await create(store, 'local', 5);
        await store.transition('ended', 'cancelled', 'asked', 40);
        expect((await store.activeRuns(42, 7)).map((run) => run.id)).toEqual(['old', 'young']);
        expect((await store.runsIn(['queued'])).map((run) => run.id)).toEqual([
          'local',
          'old',
          'elsewhere',
          'other-repository',
          'young',
        ]);
        await store.transition('old', 'admitted', 'may start', 50);
        expect(await store.idsIn(['queued'])).toEqual(['local', 'elsewhere', 'other-repository', 'young']);
        expect(await store.idsIn(['admitted', 'cancelled'])).toEqual(['old', 'ended']);
        expect(await store.idsIn(['coded'])).toEqual([]);
        expect(await store.idsIn([])).toEqual([]);
        const found = await store.runsIn(['admitted', 'cancelled']);
        expect(found).toEqual([await store.run('old'), await store.run('ended')]);
        expect(await store.runsIn([])).toEqual([]);
      });

      test('unannounced ends of runs are found, oldest first, however many runs followed', async () => {
        const store = await fresh();
        const ends = async (
          id: string,
          at: number,
          over: Parameters<Store['updateRun']>[1] = { task: task(id) },
        ) => {
          await store.createRun({ id, origin: issue(7), title: id, request: null, at: 1 });
          await store.updateRun(id, over, at);
          await store.transition(id, 'cancelled', 'asked', at);
        };
        const queueEntry = { share: 'repository 42', priority: 1, since: 1 };
        await ends('late', 30);
        await ends('early', 20);
        await ends('planned', 25);
        await ends('half-said', 40);
        await ends('said', 20);
        await ends('long-ago', 9);
        await ends('never-spoken-of', 20, {});
        await ends('left-the-line', 50, { queueEntry });
        await store.createRun({ id: 'at-work', origin: issue(7), title: '', request: null, at: 60 });
        await store.updateRun('at-work', { task: task('at-work') }, 60);
        await create(store, 'local', 60);
        await store.updateRun('local', { task: task('local') }, 60);
        await store.transition('local', 'cancelled', 'asked', 60);
        for (const id of ['planned', 'half-said', 'said']) await store.intend(id, 'end');
        await store.fulfil('half-said', 'end', false);
        await store.fulfil('said', 'end', true);
        const found = async (limit: number) =>
          (await store.endedWithout('end', 10, limit)).map(({ id }) => id);
        expect(await found(9)).toEqual(['early', 'planned', 'late', 'half-said', 'left-the-line']);
        expect(await found(2)).toEqual(['early', 'planned']);
      });

      test('any text and any JSON can be stored', async () => {
        const store = await fresh();
        await create(store, 'r1', 1);
        await fc.assert(
          fc.asyncProperty(
            fc.string({ unit: 'binary', maxLength: 200 }).map((text) => text.replaceAll('\0', '')),
            fc
              .jsonValue({ noUnicodeString: false })
              .filter((value) => !JSON.stringify(value).includes('\\u')),
            async (title, value) => {
              await store.updateRun('r1', { title, request: { value } }, 2);
              const run = await store.run('r1');
              expect(run?.title).toBe(title);
              // Minus zero has no JSON.
              expect(run?.request).toEqual(JSON.parse(JSON.stringify({ value })));
            },
          ),
          { numRuns: 40 },
        );
      });

      test('text that Postgres rejects is stored, too', async () => {
        const store = await fresh();
        await create(store, 'r1', 1);
        const odd = 'a\0b \ud800 c';
        await store.updateRun('r1', { title: odd, request: { [odd]: odd } }, 2);
        await store.putCandidate(candidate('r1', 'A', { note: odd }));
        await store.transition('r1', 'failed', odd, 3);
        expect((await store.run('r1'))?.title).toMatch(/^a.b . c$/s);
      });
    });

    describe('states', () => {
      test('a legal transition is recorded with its cause and time', async () => {
        const store = await fresh();
        await create(store, 'r1', 1);
        expect(await store.transition('r1', 'admitted', 'label by mona', 2)).toBe('admitted');
        expect(await store.transition('r1', 'briefed', 'planned', 3)).toBe('briefed');
        expect(await store.run('r1')).toMatchObject({ state: 'briefed', updatedAt: 3 });
        expect(await store.transitions('r1')).toEqual([
          { from: 'queued', to: 'admitted', cause: 'label by mona', at: 2 },
          { from: 'admitted', to: 'briefed', cause: 'planned', at: 3 },
        ]);
      });

      test('an illegal or repeated transition changes nothing and returns the current state', async () => {
        const store = await fresh();
        await create(store, 'r1', 1);
        expect(await store.transition('r1', 'judged', 'skipped ahead', 2)).toBe('queued');
        await store.transition('r1', 'cancelled', 'asked', 3);
        expect(await store.transition('r1', 'cancelled', 'asked twice', 4)).toBe('cancelled');
        expect(await store.transition('r1', 'admitted', 'too late', 5)).toBe('cancelled');
        expect(await store.run('r1')).toMatchObject({ state: 'cancelled', updatedAt: 3 });
        expect(await store.transitions('r1')).toHaveLength(1);
      });

      test('exactly one of many simultaneous transitions succeeds', async () => {
        const store = await fresh();
        await create(store, 'r1', 1);
        const wishes = Array.from({ length: 12 }, (_, i): RunState => (i % 2 === 0 ? 'admitted' : 'refused'));
        const answers = await Promise.all(wishes.map((to, i) => store.transition('r1', to, `${i}`, i)));
        const transitions = await store.transitions('r1');
        expect(transitions).toHaveLength(1);
        expect(new Set(answers)).toEqual(new Set([transitions[0]?.to]));
      });

      test('stages are listed in order; a repeated start keeps the first time and reopens the stage', async () => {
        const store = await fresh();
        await create(store, 'r1', 1);
        await store.markStage('r1', 'code', 'start', 30);
        await store.markStage('r1', 'admit', 'start', 10);
        await store.markStage('r1', 'admit', 'end', 20);
        await store.markStage('r1', 'judge', 'end', 25);
        expect((await store.run('r1'))?.stages).toEqual([
          { stage: 'admit', startedAt: 10, endedAt: 20 },
          { stage: 'code', startedAt: 30 },
        ]);
        await store.markStage('r1', 'admit', 'start', 40);
        expect((await store.run('r1'))?.stages[0]).toEqual({ stage: 'admit', startedAt: 10 });
        expect((await store.runs(1))[0]?.stages).toHaveLength(2);
      });
    });

    describe('candidates', () => {
      test('a candidate is replaced by its run and alias, and the list is by alias', async () => {
        const store = await fresh();
        await create(store, 'r1');
        await create(store, 'r2');
        await store.putCandidate(candidate('r1', 'B', { ordinal: 0 }));
        await store.putCandidate(candidate('r1', 'A', { ordinal: 1, coderVersion: '1.2.3' }));
        await store.putCandidate(candidate('r2', 'A'));
        const patch = {
          files: 1,
          additions: 2,
          deletions: 3,
          sha256: 'f'.repeat(64),
          tree: sha,
          text: { sha256: 'e'.repeat(64), bytes: 9 },
          raw: { sha256: 'd'.repeat(64), bytes: 8 },
        };
        const coded = candidate('r1', 'B', { state: 'coded', patch, note: 'done' });
        await store.putCandidate(coded);
        expect(await store.candidates('r1')).toEqual([
          candidate('r1', 'A', { ordinal: 1, coderVersion: '1.2.3' }),
          coded,
        ]);
      });

      test('a contestant keeps its program and which repetition it is', async () => {
        const store = await fresh();
        await create(store, 'r1');
        const contestant = {
          agent: 'command',
          model: 'openai/gpt-5.5',
          prompt: 'plain',
          argv: ['/opt/aider/bin/aider', '--message-file', '-'],
          seed: 2,
        } as const;
        await store.putCandidate(candidate('r1', 'A', { contestant }));
        expect((await store.candidates('r1'))[0]?.contestant).toEqual(contestant);
      });

      test('a patch that the replacement lacks is removed from the store', async () => {
        const store = await fresh();
        await create(store, 'r1');
        await store.putCandidate(candidate('r1', 'A', { coderVersion: '1' }));
        await store.putCandidate(candidate('r1', 'A'));
        expect((await store.candidates('r1'))[0]).not.toHaveProperty('coderVersion');
      });
    });

    describe('ledger', () => {
      test('usage adds up a run, or one spender in it', async () => {
        const store = await fresh();
        await bookRow(store, call({}));
        await bookRow(store, call({ usd: 0.25, tokensIn: 3_000_000_000 }));
        await bookRow(store, call({ spender: 'brief', usd: 1 }));
        await bookRow(store, call({ runId: 'r2', usd: 100 }));
        expect(await store.usage('r1', 'A')).toEqual({
          usd: 0.75,
          tokensIn: 3_000_000_100,
          tokensOut: 100,
          calls: 2,
        });
        expect(await store.usage('r1')).toMatchObject({ usd: 1.75, calls: 3 });
        expect(await store.usage('r3')).toEqual(NO_USAGE);
        expect(await store.usage('r1', 'B')).toEqual(NO_USAGE);
      });

      test('shows what each spender paid to each model, the dearest first', async () => {
        const store = await fresh();
        await bookRow(store, call({}));
        await bookRow(store, call({ usd: 0.25, exact: false }));
        await bookRow(store, call({ spender: 'brief', usd: 1 }));
        await bookRow(store, call({ usd: 0, status: 402 }));
        await bookRow(store, call({ runId: 'r2', usd: 100 }));
        const { model } = call({});
        expect(await store.spendingOf('r1')).toMatchObject([
          { spender: 'brief', model, usd: 1, calls: 1, estimated: 0 },
          { spender: 'A', model, usd: 0.75, calls: 2, estimated: 1 },
        ]);
        expect(await store.spendingOf('r3')).toEqual([]);
      });

      test('a booked call counts in full until it is settled', async () => {
        const store = await fresh();
        const booked = call({ usd: 3, tokensOut: 9_000, exact: false, status: 0 });
        const [first, second] = [await bookRow(store, booked), await bookRow(store, booked)];
        expect(first).not.toBe(second);
        expect(await store.usage('r1')).toMatchObject({ usd: 6, tokensOut: 18_000, calls: 2 });
        await store.settleCall(second, call({ usd: 0.5 }));
        expect(await store.usage('r1')).toMatchObject({ usd: 3.5, tokensOut: 9_050, calls: 2 });
        await store.settleCall(second, call({ usd: 0.25 }));
        expect(await store.usage('r1')).toMatchObject({ usd: 3.25, calls: 2 });
      });

      test('an answer is kept with its settled call for this spender until the run is over', async () => {
        const store = await fresh();
        const answer = (number: number, sha256 = 'b'.repeat(64)): KeptAnswer => ({
          question: 'a'.repeat(64),
          number,
          status: 200,
          headers: { 'content-type': 'text/event-stream' },
          body: { sha256, bytes: 2 },
          at: 5,
        });
        const [first, second] = [await bookRow(store, call({})), await bookRow(store, call({}))];
        await store.settleCall(first, call({ usd: 0.5 }), answer(0));
        await store.settleCall(second, call({ usd: 0.25 }), answer(1));
        expect(await store.usage('r1')).toMatchObject({ usd: 0.75, calls: 2 });
        const kept = (await store.keptAnswers('r1', 'A')).toSorted((a, b) => a.number - b.number);
        expect(kept).toEqual([answer(0), answer(1)]);
        expect(await store.keptAnswers('r1', 'B')).toEqual([]);
        expect(await store.keptAnswers('r2', 'A')).toEqual([]);

        // Written again, as after a try whose end nobody heard of, or because its body was gone.
        await store.settleCall(second, call({ usd: 0.25 }), answer(1, 'c'.repeat(64)));
        expect(await store.keptAnswers('r1', 'A')).toContainEqual(answer(1, 'c'.repeat(64)));
        expect(await store.usage('r1')).toMatchObject({ calls: 2 });
      });

      test('a booking reports the use of each cap, including active calls', async () => {
        const store = await fresh();
        const underWay = { status: 0, exact: false } as const;
        await bookRow(store, call({ at: 100, usd: 1 }));
        await bookRow(store, call({ at: 100, usd: 2, ...underWay }));
        await bookRow(store, call({ at: 90, usd: 4, ...underWay }));
        await bookRow(store, call({ at: 100, usd: 8, spender: 'B', ...underWay }));
        await bookRow(store, call({ at: 100, usd: 16, runId: 'r2' }));
        await bookRow(store, call({ at: 100, usd: 32, runId: 'r2', repository: 'github-43', ...underWay }));
        const whose = { runId: 'r1', spender: 'A', repository: 'github-42', dayFrom: 95, underWayFrom: 95 };
        expect(await readSums(store, whose)).toEqual({
          spender: { booked: 7, held: 2 },
          spenderTokens: { booked: 450, held: 150 },
          run: { booked: 15, held: 10 },
          repositoryDay: { booked: 27, held: 10 },
          day: { booked: 59, held: 42 },
          runCap: null,
        });
        expect(await readSums(store, { ...whose, spender: 'nobody' })).toMatchObject({
          spender: { booked: 0, held: 0 },
          spenderTokens: { booked: 0, held: 0 },
        });
        await create(store, 'r1');
        await store.updateRun('r1', { task: task('r1') }, 2);
        expect((await readSums(store, whose)).runCap).toBe(task('r1').settings.budget.run);
      });

      test('no other booking happens between reading the sums and booking', async () => {
        const store = await fresh();
        const whose = { runId: 'r1', spender: 'A', repository: 'github-42', dayFrom: 0, underWayFrom: 0 };
        const booked = await Promise.all(
          Array.from({ length: 20 }, () =>
            store.bookCall(whose, ({ run }) => (run.booked + 1 <= 5 ? call({ usd: 1, status: 0 }) : null)),
          ),
        );
        expect(booked.filter((number) => number !== null)).toHaveLength(5);
        expect(await store.usage('r1')).toMatchObject({ usd: 5, calls: 5 });
      });

      test('a call that was never booked cannot be settled, and leaves no answer', async () => {
        const store = await fresh();
        const body = { sha256: 'b'.repeat(64), bytes: 2 };
        const answer = { question: 'a'.repeat(64), number: 0, status: 200, headers: {}, body, at: 5 };
        await expect(store.settleCall(4711, call({}), answer)).rejects.toMatchObject({ code: 'INTERNAL' });
        expect(await store.keptAnswers('r1', 'A')).toEqual([]);
        expect(await store.usage('r1')).toEqual(NO_USAGE);
      });

      test('cost is added up from a given time, for everything or one repository', async () => {
        const store = await fresh();
        await bookRow(store, call({ at: 99, usd: 16 }));
        const open = await bookRow(store, call({ at: 100, usd: 8, status: 0 }));
        await bookRow(store, call({ at: 101, usd: 2, runId: 'r2' }));
        await bookRow(store, call({ at: 101, usd: 1, repository: 'local-/srv/repo' }));
        expect(await spentSince(store, 100)).toBe(11);
        expect(await spentSince(store, 100, 'github-42')).toBe(10);
        expect(await spentSince(store, 100, 'local-/srv/repo')).toBe(1);
        expect(await spentSince(store, 100, 'github-4')).toBe(0);
        await store.settleCall(open, call({ at: 100, usd: 4 }));
        expect(await spentSince(store, 100)).toBe(7);
        expect(await spentSince(store, 102)).toBe(0);
      });
    });

    describe('inbox and intents', () => {
      const run = { origin: issue(7), title: 'Issue 7', request: { kind: 'issue' }, at: 1 };
      const delivery = { id: 'd1', event: 'issues.labeled', semanticKey: '42#7:label:9', runId: 'r1' };

      test('a delivery is accepted once, and a replay under another id finds its key taken', async () => {
        const store = await fresh();
        expect(await store.acceptDelivery(delivery, run)).toBe(true);
        expect(await store.acceptDelivery(delivery, run)).toBe(false);
        expect(await store.acceptDelivery({ ...delivery, id: 'd2', runId: 'r2' }, run)).toBe(false);
        expect(await store.acceptDelivery({ ...delivery, semanticKey: 'other', runId: 'r3' }, run)).toBe(
          false,
        );
        expect((await store.runs(9)).map((one) => one.id)).toEqual(['r1']);
        expect(await store.run('r1')).toMatchObject({ title: 'Issue 7', state: 'queued', origin: issue(7) });
      });

      test('one of many simultaneous replays starts a run', async () => {
        const store = await fresh();
        const accepted = await Promise.all(
          Array.from({ length: 10 }, (_, i) =>
            store.acceptDelivery({ ...delivery, id: `d${i}`, runId: `r${i}` }, run),
          ),
        );
        expect(accepted.filter(Boolean)).toHaveLength(1);
        expect(await store.runs(99)).toHaveLength(1);
      });

      test('a delivery for a run that exists leaves nothing behind', async () => {
        const store = await fresh();
        await create(store, 'r1');
        await expect(store.acceptDelivery(delivery, run)).rejects.toMatchObject({ code: 'INTERNAL' });
        expect(await store.acceptDelivery({ ...delivery, runId: 'r2' }, run)).toBe(true);
      });

      test('an intent is fresh once, planned until fulfilled, and then tells its result', async () => {
        const store = await fresh();
        await create(store, 'r1');
        await create(store, 'r2');
        expect(await store.intend('r1', 'pull')).toEqual({ fresh: true, intent: { state: 'planned' } });
        expect(await store.intend('r1', 'pull')).toEqual({ fresh: false, intent: { state: 'planned' } });
        await store.fulfil('r1', 'pull', { number: 12 });
        expect(await store.intend('r1', 'pull')).toEqual({
          fresh: false,
          intent: { state: 'done', result: { number: 12 } },
        });
        expect(await store.intend('r2', 'pull')).toMatchObject({ fresh: true });
        await store.intend('r1', 'react');
        await store.fulfil('r1', 'react', undefined);
        expect((await store.intend('r1', 'react')).intent).toEqual({ state: 'done', result: null });
      });

      test('reading an intent does not plan it', async () => {
        const store = await fresh();
        await create(store, 'r1');
        expect(await store.intent('r1', 'pull')).toBeNull();
        expect(await store.intent('nope', 'pull')).toBeNull();
        expect(await store.intend('r1', 'pull')).toMatchObject({ fresh: true });
        expect(await store.intent('r1', 'pull')).toEqual({ state: 'planned' });
        await store.fulfil('r1', 'pull', { number: 12 });
        expect(await store.intent('r1', 'pull')).toEqual({ state: 'done', result: { number: 12 } });
      });

      test('a command without a run can have intents', async () => {
        const store = await fresh();
        await create(store, 'r1');
        expect(await store.intend('c991', 'reply')).toMatchObject({ fresh: true });
        expect(await store.intend('r1', 'reply')).toMatchObject({ fresh: true });
        await store.fulfil('c991', 'reply', { id: 992 });
        expect(await store.intend('c991', 'reply')).toEqual({
          fresh: false,
          intent: { state: 'done', result: { id: 992 } },
        });
        expect(await store.intent('r1', 'reply')).toEqual({ state: 'planned' });
      });

      test('an unknown intent cannot be fulfilled', async () => {
        const store = await fresh();
        await create(store, 'r1');
        await expect(store.fulfil('r1', 'pull', 1)).rejects.toMatchObject({ code: 'INTERNAL' });
      });

      test('one of many simultaneous equal intents is fresh', async () => {
        const store = await fresh();
        await create(store, 'r1');
        const answers = await Promise.all(Array.from({ length: 10 }, () => store.intend('r1', 'pull')));
        expect(answers.filter((answer) => answer.fresh)).toHaveLength(1);
      });
    });

    describe('recipes', () => recipesContract(fresh));

    describe('answers that belong to no run', () => {
      test('are found by scope and key, and the first one is kept', async () => {
        const store = await fresh();
        expect(await store.kept('d1', 'k')).toBeNull();
        await store.keep('d1', 'k', { sha256: 'aa', bytes: 2 });
        await store.keep('d1', 'k', { sha256: 'bb', bytes: 3 });
        expect(await store.kept('d1', 'k')).toEqual({ sha256: 'aa', bytes: 2 });
        expect(await store.kept('d2', 'k')).toBeNull();
      });
    });

    describe('replies', () => {
      const reply = (text: string): NewReply => ({
        kind: 'answer',
        text,
        by: { id: 5, login: 'mona' },
        at: 9,
      });

      test('are numbered per run from 1 in order of arrival', async () => {
        const store = await fresh();
        await create(store, 'r1');
        await create(store, 'r2');
        expect(await store.replies('r1')).toEqual([]);
        const option: NewReply = { kind: 'answer', option: 2, text: '', by: null, at: 10 };
        expect(await store.addReply('r1', 'comment:7', reply('half up'))).toEqual({
          number: 1,
          ...reply('half up'),
        });
        expect(await store.addReply('r1', 'comment:8', option)).toEqual({ number: 2, ...option });
        expect(await store.addReply('r2', 'comment:7', reply('down'))).toMatchObject({ number: 1 });
        expect(await store.replies('r1')).toEqual([
          { number: 1, ...reply('half up') },
          { number: 2, ...option },
        ]);
      });

      test('are stored once per key', async () => {
        const store = await fresh();
        await create(store, 'r1');
        await store.addReply('r1', 'comment:7', reply('half up'));
        expect(await store.addReply('r1', 'comment:7', reply('half down'))).toBeNull();
        expect(await store.replies('r1')).toEqual([{ number: 1, ...reply('half up') }]);
        expect(await store.addReply('r1', 'comment:8', reply('x'))).toMatchObject({ number: 2 });
      });

      test('each of many at once gets its own number', async () => {
        const store = await fresh();
        await create(store, 'r1');
        const keys = Array.from({ length: 12 }, (_, i) => `comment:${i % 6}`);
        const kept = await Promise.all(keys.map((key) => store.addReply('r1', key, reply(key))));
        expect(kept.filter((one) => one !== null)).toHaveLength(6);
        const said = await store.replies('r1');
        expect(said.map((one) => one.number)).toEqual([1, 2, 3, 4, 5, 6]);
        expect(new Set(said.map((one) => one.text)).size).toBe(6);
      });

      test('are not accepted for an unknown run', async () => {
        const store = await fresh();
        expect(await store.replies('nope')).toEqual([]);
        await expect(store.addReply('nope', 'comment:7', reply('x'))).rejects.toMatchObject({
          code: 'RUN_UNKNOWN',
        });
      });
    });

    commandsContract(fresh);
    auditContract(fresh);
    picksContract(fresh);
    outcomesContract(fresh);
    apiContract(fresh);
    liveContract(fresh);
    countsContract(fresh);
    pagesContract(fresh);
  });
}
