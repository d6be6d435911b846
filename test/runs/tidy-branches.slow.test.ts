import { afterAll, beforeAll, expect, test } from 'vitest';
import { tidyBranches } from '../../src/runs/index.ts';
import { type GitWorld, git, openGitWorld, writeFiles } from '../adapters/git/world.ts';
import { candidate, judged, RUN } from '../core/reports/sample.ts';
import { memoryStore } from '../world/memory-store.ts';

let world: GitWorld;
beforeAll(() => {
  world = openGitWorld();
});
afterAll(() => world.close());

const TOSS_UP = {
  kind: 'toss-up',
  decidedBy: 'tie',
  because: 'Nothing separates them.',
  chance: 0.5,
} as const;

/** A repository with the branches A to D of a run whose winner is B. */
async function repository({ over = true, inconclusive = false } = {}) {
  const { path } = world.repository({ 'a.js': 'one\n' });
  const store = memoryStore();
  await store.createRun({ id: RUN, origin: { kind: 'local', path }, title: 'x', request: {}, at: 0 });
  for (const alias of ['A', 'B', 'C', 'D']) {
    git(path, 'checkout', '-q', '-b', `runoff/${RUN}/${alias}`, 'main');
    writeFiles(path, { 'a.js': `${alias}\n` });
    git(path, 'commit', '-q', '-a', '-m', alias);
    const one = candidate(alias);
    const tree = git(path, 'rev-parse', 'HEAD^{tree}');
    await store.putCandidate(one.patch ? { ...one, patch: { ...one.patch, tree } } : one);
  }
  git(path, 'checkout', '-q', 'main');
  const { ranking, decision } = judged();
  const found = inconclusive ? ({ ...TOSS_UP, alias: 'B', among: ['B', 'C'] } as const) : decision;
  await store.updateRun(RUN, { ranking, ...(found ? { decision: found } : {}) }, 1);
  const way = ['admitted', 'briefed', 'coded', 'examined', 'judged', 'published'] as const;
  for (const state of over ? way : way.slice(0, 3)) await store.transition(RUN, state, 'test', 1);
  const tidy = async (dry = false) => {
    const tidied = await tidyBranches({ store, workspaces: world.workspaces }, path, dry);
    return Object.fromEntries(tidied.map(({ branch, kept }) => [branch.split('/').at(-1), kept]));
  };
  const left = () => git(path, 'for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n');
  return { path, store, tidy, left };
}

const CHOSEN = 'it was chosen and is not merged';

test('branches of losing candidates are deleted; the chosen one stays until it is merged', async () => {
  const { path, tidy, left } = await repository();
  expect(await tidy(true)).toEqual({ A: null, B: CHOSEN, C: null, D: null });
  expect(left()).toHaveLength(5);
  expect(await tidy()).toEqual({ A: null, B: CHOSEN, C: null, D: null });
  expect(left()).toEqual(['main', `runoff/${RUN}/B`]);
  git(path, 'merge', '-q', '--no-ff', '-m', 'take it', `runoff/${RUN}/B`);
  expect(await tidy()).toEqual({ B: null });
  expect(left()).toEqual(['main']);
});

test('what a person picked stays in place of the winner', async () => {
  const { store, tidy } = await repository();
  await store.addPick(RUN, {
    alias: 'C',
    by: null,
    at: 2,
    key: 'k',
    shown: { aliases: ['A'], first: 'B', votes: {} },
  });
  expect(await tidy(true)).toEqual({ A: null, B: null, C: CHOSEN, D: null });
});

test('while nobody has picked after an inconclusive result, the candidates to choose from stay', async () => {
  const { store, tidy } = await repository({ inconclusive: true });
  const open = 'nobody has picked a candidate of its run yet';
  expect(await tidy(true)).toEqual({ A: null, B: open, C: open, D: null });
  await store.addPick(RUN, {
    alias: 'C',
    by: null,
    at: 2,
    key: 'k',
    shown: { aliases: ['B', 'C'], first: 'B', votes: {} },
  });
  expect(await tidy(true)).toEqual({ A: null, B: null, C: CHOSEN, D: null });
});

test('a branch that is checked out, or that somebody committed to, stays', async () => {
  const { path, tidy } = await repository();
  git(path, 'checkout', '-q', `runoff/${RUN}/A`);
  writeFiles(path, { 'b.js': 'mine\n' });
  git(path, 'add', '-A');
  git(path, 'commit', '-q', '-m', 'mine');
  git(path, 'checkout', '-q', `runoff/${RUN}/C`);
  expect(await tidy()).toEqual({
    A: 'its files are not those that Runoff committed',
    B: CHOSEN,
    C: 'it is checked out',
    D: null,
  });
});

test('branches of active and of unknown runs stay, and no others are looked at', async () => {
  const { path, tidy, left } = await repository({ over: false });
  git(path, 'branch', 'runoff/r0000000000/Z', 'main');
  git(path, 'branch', 'runoff/notes', 'main');
  const found = await tidy();
  expect(new Set(Object.values(found))).toEqual(
    new Set(['its run has not ended', 'its run is not in this database']),
  );
  expect(left()).toHaveLength(7);
});
