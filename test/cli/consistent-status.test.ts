import { afterEach, expect, test } from 'vitest';
import { openMetrics } from '../../src/adapters/metrics/index.ts';
import { openStore } from '../../src/adapters/store/index.ts';
import { instrumentedLedger } from '../../src/compose/instrumentation.ts';
import type { Task } from '../../src/core/model/index.ts';
import { statusComment, statusReply } from '../../src/core/reports/index.ts';
import { Settings } from '../../src/core/settings/index.ts';
import { viewOf } from '../../src/runs/index.ts';
import { freshDatabase } from '../world/database.ts';
import { bookRow } from '../world/ledger.ts';
import { githubOrigin } from '../world/origin.ts';
import { shellOver } from './shell.ts';

const RUN = 'r0000000002';
const MODEL = 'anthropic/claude-sonnet-4-5';
const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanUp.splice(0).toReversed()) await clean();
});

const originOf = (issue: number) => githubOrigin({ issue });

/** A stored run beside an older one, and everything that tells of it. */
async function told() {
  const database = await freshDatabase();
  cleanUp.push(() => database.drop());
  const store = await openStore(database.url);
  cleanUp.push(() => store.close());
  for (const [issue, id] of [RUN.replace('2', '1'), RUN].entries()) {
    await store.createRun({ id, origin: originOf(issue), title: 'Quotes', request: {}, at: issue });
    await store.updateRun(id, { queueEntry: { share: 'repository 42', priority: 1, since: issue } }, 2);
  }
  const metrics = openMetrics({ census: () => store.census() });
  const clock = { now: () => 60_000, elapsed: () => 0, sleep: async () => {} };
  const world = { store, clock, engine: { activeExecutors: async () => new Set<string>() } };

  async function typed(...argv: string[]): Promise<string> {
    const { type, out, err } = shellOver(world);
    expect([await type(...argv), err()]).toEqual([0, '']);
    return out();
  }
  async function all() {
    const run = await store.run(RUN);
    if (!run) throw new Error('The run is not stored.');
    const view = await viewOf(world, run);
    const [listed] = JSON.parse(await typed('runs', '--json')) as { run: object }[];
    return {
      runs: (await typed('runs')).split('\n').find((line) => line.startsWith(RUN)),
      status: await typed('status', RUN),
      show: await typed('show', RUN),
      json: [
        listed,
        JSON.parse(await typed('status', RUN, '--json')),
        JSON.parse(await typed('show', RUN, '--json')),
      ],
      comment: statusComment(view).body,
      reply: statusReply(1, view, null).body,
      metrics: (await metrics.exposition()).text,
    };
  }
  return { store, ledger: instrumentedLedger(store, { metrics }), all };
}

test('every report on a queued run shows the same position', async () => {
  const { all } = await told();
  const { runs, status, show, json, comment, reply, metrics } = await all();
  for (const text of [runs, status, show, comment, reply]) expect(text).toContain('2nd in line');
  for (const { run } of json) expect(run).toMatchObject({ state: 'queued', queue: { position: 2, of: 2 } });
  expect(metrics).toContain('runoff_runs{state="queued"} 2\n');
  expect(metrics).toContain('runoff_queued_runs 2\n');
});

test("every report on an active run shows the same state and the ledger's cost", async () => {
  const { store, ledger, all } = await told();
  const task: Task = {
    runId: RUN,
    origin: originOf(1),
    title: 'Quotes',
    body: 'They break.',
    comments: [],
    base: { ref: 'main', sha: '0'.repeat(40) },
    settings: Settings.parse({ budget: { run: 5 } }),
    lowered: [],
  };
  await store.markStage(RUN, 'admit', 'start', 3);
  await store.updateRun(RUN, { task }, 3);
  await store.transition(RUN, 'admitted', 'may start', 3);
  await store.transition(RUN, 'awaiting_answer', 'asks', 4);
  // The candidate's own sum is what its lease said last; the planner's call is nobody's candidate.
  for (const [spender, usd] of [
    ['planner', 0.25],
    ['A', 1.09],
  ] as const) {
    const counted = { tokensIn: 9, tokensOut: 1, tokensCached: 0, tokensReasoning: 0, usd, exact: true };
    const row = { runId: RUN, spender, repository: 'github-42', model: MODEL, ...counted, ms: 5, at: 5 };
    await ledger.settleCall(await bookRow(ledger, { ...row, status: 0 }), { ...row, status: 200 });
  }

  const { runs, status, show, json, comment, reply, metrics } = await all();
  expect(runs).toContain('awaiting_answer');
  for (const text of [status, show, comment, reply]) {
    expect(text).toMatch(/stage 2 of 6[:,] waiting for an answer/i);
    expect(text).toMatch(/\$1\.34 of (?:\$|<span>\$<\/span>)5\.00/);
  }
  for (const { run } of json) {
    expect(run).toMatchObject({ state: 'awaiting_answer', queue: null, budget: { run: 5, spent: 1.34 } });
  }
  expect(metrics).toContain('runoff_runs{state="awaiting_answer"} 1\n');
  expect(metrics).toContain('runoff_queued_runs 1\n');
  expect(Number(/runoff_model_dollars_total\{.*\} (\S+)/.exec(metrics)?.[1])).toBeCloseTo(1.34, 9);
});
