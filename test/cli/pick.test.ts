import { expect, test } from 'vitest';
import type { Origin } from '../../src/core/model/index.ts';
import type { Decision } from '../../src/core/ranking/index.ts';
import type { World } from '../../src/runs/index.ts';
import type { Shell } from '../../src/shell.ts';
import { candidate, evidence, judged, RUN, TOSS_UP } from '../core/reports/sample.ts';
import { memoryArtifacts, memoryStore } from '../world/memory-store.ts';
import { githubOrigin } from '../world/origin.ts';
import type { Parts } from '../world/partial.ts';
import { shellOver } from './shell.ts';

const LOCAL: Origin = { kind: 'local', path: '/home/ada/tally' };
const ON_GITHUB = githubOrigin();

/** A shell with one run: A and B survived, C tampers with tests, D left no patch. */
async function shellWith({
  origin = LOCAL,
  over = true,
  survivors = true,
  shell = {},
  world = {},
}: {
  origin?: Origin;
  over?: boolean;
  survivors?: boolean;
  shell?: Parts<Shell>;
  world?: Parts<World>;
} = {}) {
  const store = memoryStore();
  await store.createRun({ id: RUN, origin, title: 'x', request: {}, at: 0 });
  for (const alias of ['A', 'B', 'C']) await store.putCandidate(candidate(alias));
  const { patch: _, ...without } = candidate('D');
  await store.putCandidate(without);
  const branches = { A: `runoff/${RUN}/A`, B: `runoff/${RUN}/B`, C: `runoff/${RUN}/C` };
  const tampering = { gate: 'untampered', passed: false, because: 'One test was removed.' } as const;
  const { ranking, decision } = judged();
  await store.updateRun(
    RUN,
    {
      evidence: [evidence('A'), evidence('B'), evidence('C', {}, tampering)],
      ranking: survivors ? ranking : ranking.map((one) => ({ ...one, survivor: false })),
      ...(decision ? { decision } : {}),
      outcome: { kind: 'branches', branches },
    },
    1,
  );
  const way = ['admitted', 'briefed', 'coded', 'examined', 'judged', 'published'] as const;
  for (const state of over ? way : way.slice(0, 3)) await store.transition(RUN, state, 'test', 1);
  let typed = 0;
  const { type, out, err } = shellOver(
    { store, artifacts: memoryArtifacts(), clock: { now: () => 9 }, ...world },
    { newRunId: () => `r000000000${typed++}`, cwd: '/home/ada', ...shell },
  );
  const picks = async () => (await store.picks(RUN)).map(({ number, alias, by }) => ({ number, alias, by }));
  return { type, picks, store, out, err };
}

test('a person picks a candidate and is told how to merge it; the last pick counts', async () => {
  const { type, picks, store, out } = await shellWith();
  expect(await type('pick', RUN, 'b')).toBe(0);
  expect(out()).toBe(
    `Picked candidate B, branch runoff/${RUN}/B. To get its changes, run:\n  git -C /home/ada/tally merge runoff/${RUN}/B\n`,
  );
  expect(await type('pick', RUN, 'none')).toBe(0);
  expect(out()).toContain(`Rejected all candidates of run ${RUN}; their branches remain.\n`);
  expect(await picks()).toEqual([
    { number: 1, alias: 'B', by: null },
    { number: 2, alias: null, by: null },
  ]);
  const [first] = await store.picks(RUN);
  expect(first?.shown.aliases).toContain('A');
  expect((await store.outcomes({ runs: 9 })).map(({ pick }) => pick)).toEqual([
    'none',
    'none',
    'none',
    'none',
  ]);
});

test('a pick prints JSON', async () => {
  const { type, out } = await shellWith();
  expect(await type('pick', RUN, 'A', '--json')).toBe(0);
  expect(JSON.parse(out())).toEqual({
    run: RUN,
    picked: 'A',
    branch: `runoff/${RUN}/A`,
    merge: `git -C /home/ada/tally merge runoff/${RUN}/A`,
  });
  expect(await type('pick', '--help')).toBe(0);
  expect(out()).toContain('letter of the candidate, or "none"');
  expect(await type('pick', RUN)).toBe(2);
});

test.each([
  ['C', {}, 'CANDIDATE_UNKNOWN', 'it failed the gate `untampered` (One test was removed).'],
  ['D', {}, 'CANDIDATE_UNKNOWN', 'it left no patch.'],
  ['Z', {}, 'CANDIDATE_UNKNOWN', 'there is no candidate with this letter.'],
  ['AB', {}, 'CANDIDATE_UNKNOWN', 'give one letter, or "none".'],
  ['A', { over: false }, 'RUN_NOT_WAITING', 'is still active'],
  ['A', { origin: ON_GITHUB }, 'RUN_NOT_WAITING', 'pick there: comment `/auto-dev pick B`.'],
])('%s of %j is refused with %s', async (word, how, code, why) => {
  const { type, picks, out } = await shellWith(how);
  expect(await type('pick', RUN, word, '--json')).toBeGreaterThan(0);
  expect(JSON.parse(out())).toMatchObject({ error: { code, message: expect.stringContaining(why) } });
  expect(await picks()).toEqual([]);
});

/** A person who chooses these from the lists that they are shown, in order. */
function chooser(...choices: readonly (string | null)[]) {
  const left = [...choices];
  const offered: string[][] = [];
  const chooseOne: Shell['chooseOne'] = async (_question, from) => {
    offered.push(from.map(({ value }) => value));
    return left.shift() ?? null;
  };
  return { offered, chooseOne };
}

test('without a letter, a person at a terminal chooses from the candidates that passed', async () => {
  const { offered, chooseOne } = chooser('B');
  const { type, picks } = await shellWith({ shell: { chooseOne } });
  expect(await type('pick', RUN)).toBe(0);
  expect(offered).toEqual([['B', 'C', 'A', 'diff:B', 'diff:C', 'diff:A', 'none', 'later']]);
  expect(await picks()).toEqual([{ number: 1, alias: 'B', by: null }]);
});

test.each([
  ['an active run', { over: false }, 'is still active, so there is nothing to pick from yet.'],
  ['a run on GitHub', { origin: ON_GITHUB }, 'pick there: comment `/auto-dev pick B`.'],
  ['a run without survivors', { survivors: false }, 'can be picked: none passed every gate.'],
])('without a letter, %s is refused before a list is shown', async (_name, how, why) => {
  const { offered, chooseOne } = chooser('A');
  const { type, picks, err } = await shellWith({ ...how, shell: { chooseOne } });
  expect(await type('pick', RUN)).toBe(1);
  expect(err()).toContain(why);
  expect(offered).toEqual([]);
  expect(await picks()).toEqual([]);
});

test('who leaves the list, or decides later, picks nothing; `none` rejects all', async () => {
  for (const [choice, picked] of [
    [null, []],
    ['later', []],
    ['none', [{ number: 1, alias: null, by: null }]],
  ] as const) {
    const { chooseOne } = chooser(choice);
    const { type, picks } = await shellWith({ shell: { chooseOne } });
    expect(await type('pick', RUN)).toBe(0);
    expect(await picks()).toEqual(picked);
  }
});

const NONE = { kind: 'none', decidedBy: 'gates', because: 'Nobody passed.' } as const;

/** Types `runoff resume` for a run that has just ended with this decision. */
async function ends(decision: Decision, choice: string | null, picked?: string | null) {
  const engine = { launch: async () => {}, start: async () => {}, settled: async () => {} };
  const { chooseOne } = chooser(choice);
  const { type, store, err } = await shellWith({
    world: { engine: engine as never },
    shell: { chooseOne, exit: () => {}, onInterrupt: () => () => {} },
  });
  await store.updateRun(RUN, { decision }, 2);
  if (picked !== undefined)
    await store.addPick(RUN, {
      ...{ alias: picked, by: null, at: 3, key: 'page:1' },
      shown: { aliases: ['A', 'B'], first: null, votes: {} },
    });
  const code = await type('resume', RUN);
  expect(err()).toContain(`Run ${RUN} has ended, so there is nothing to resume.`);
  return code;
}

test('a run ends with 0 while a candidate stands, and with 3 if none does, whoever decided that', async () => {
  expect(await ends(judged().decision as Decision, null)).toBe(0);
  expect(await ends(TOSS_UP, null)).toBe(0);
  expect(await ends(TOSS_UP, 'B')).toBe(0);
  expect(await ends(TOSS_UP, 'none')).toBe(3);
  expect(await ends(NONE, null)).toBe(3);
  expect(await ends(NONE, null, 'A')).toBe(0);
  expect(await ends(judged().decision as Decision, null, null)).toBe(3);
});

test('a run that has failed is not resumed: that is said before its report', async () => {
  const engine = { launch: async () => {}, start: async () => {}, settled: async () => {} };
  const { type, store, err } = await shellWith({
    ...{ over: false, world: { engine: engine as never } },
    shell: { exit: () => {}, onInterrupt: () => () => {} },
  });
  await store.transition(RUN, 'failed', 'test', 2);
  expect(await type('resume', RUN)).toBe(1);
  expect(err()).toContain(
    `Run ${RUN} has failed and cannot be resumed. \`runoff run\` with the same task starts a new run.`,
  );
  expect(err()).not.toContain('Ctrl-C');
});

test.each([
  ['show', 'nope'],
  ['status', 'nope'],
  ['explain', 'nope', 'A'],
  ['pick', 'nope', 'A'],
  ['resume', 'nope'],
  ['cancel', 'nope'],
  ['answer', 'nope', '1'],
  ['show', RUN, 'Z'],
  ['pick', RUN, 'Z'],
])('a name that is not there gives exit code 2: runoff %s %s %s', async (...argv) => {
  const engine = { launch: async () => {} };
  const { type, err } = await shellWith({
    world: { engine: engine as never },
    shell: { exit: () => {}, onInterrupt: () => () => {} },
  });
  expect(await type(...argv.filter((word) => word !== undefined))).toBe(2);
  expect(err()).toMatch(/no run nope|no candidate/);
});

test('without a letter and without a terminal, nothing is picked and the message says what to give', async () => {
  const { type, picks, err } = await shellWith();
  expect(await type('pick', RUN)).toBe(2);
  expect(err()).toContain('name a candidate by its letter, or "none"');
  expect(await picks()).toEqual([]);
});
