import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { git } from '../../packages/local-github/test/github-world.ts';
import { recordPullState } from '../../src/commands/index.ts';
import { creditOf } from '../../src/core/learning/index.ts';
import type { Store } from '../../src/ports/index.ts';
import { retire, settleOutcomes, type World } from '../../src/runs/index.ts';
import { TOSS_UP } from '../core/reports/sample.ts';
import { pullsOf } from './outcome.ts';
import { ALICE, type Fixture, NOON, openFixture, sharedFixture } from './publishing-world.ts';

const shared = sharedFixture();
const DAY = 86_400_000;

/** A clone of the repository on a branch, in which alice works. */
async function inClone<T>(
  { shared: { hub } }: Fixture,
  branch: string,
  work: (folder: string, token: string) => Promise<T>,
): Promise<T> {
  const token = hub.github.token(ALICE);
  const folder = await mkdtemp(join(tmpdir(), 'runoff-clone-'));
  const { owner, name } = hub.repository;
  try {
    await git(
      folder,
      ['clone', '--quiet', '--branch', branch, `${hub.github.url}/${owner}/${name}.git`, '.'],
      token,
    );
    return await work(folder, token);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** One more commit on a branch. */
const edits = (fixture: Fixture, branch: string, files: Readonly<Record<string, string>>) =>
  inClone(fixture, branch, async (folder, token) => {
    for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text);
    await git(folder, ['commit', '--quiet', '--all', '--message', 'By hand']);
    await git(folder, ['push', '--quiet', 'origin', `HEAD:${branch}`], token);
  });

/** Reverts the newest commit of the default branch, as a maintainer does. */
const revertsNewest = (fixture: Fixture) =>
  inClone(fixture, 'main', async (folder, token) => {
    const mainline =
      (await git(folder, ['rev-list', '--parents', '-1', 'HEAD'])).trim().split(' ').length > 2;
    await git(folder, ['revert', '--no-edit', ...(mainline ? ['-m', '1'] : []), 'HEAD']);
    await git(folder, ['push', '--quiet', 'origin', 'HEAD:main'], token);
  });

async function merges({ shared: { hub } }: Fixture, number: number): Promise<void> {
  const alice = hub.github.as(ALICE);
  await alice.readyForReview(hub.repository, number);
  await alice.mergePull(hub.repository, number);
}

const outcomesOf = async ({ store, runId }: Fixture) =>
  (await store.outcomes({ runs: 100 })).filter((one) => one.runId === runId);

/** A run with its draft pull request. */
async function published(options: Parameters<typeof openFixture>[1] = {}) {
  const fixture = await openFixture(shared(), options);
  expect(await fixture.publishes()).toBe('published');
  const [pull] = await pullsOf(fixture);
  if (!pull) throw new Error('There is not a pull request.');
  return { fixture, pull };
}

const webhook = (
  fixture: Fixture,
  { number, head }: { readonly number: number; readonly head: { readonly ref: string } },
  state: 'open' | 'closed' | 'merged',
) =>
  recordPullState(fixture.world, {
    repositoryId: fixture.shared.hub.github.handle(
      fixture.shared.hub.repository.owner,
      fixture.shared.hub.repository.name,
    ).repositoryId,
    number,
    head: head.ref,
    state,
  });

test('a merge counts, less what people edited before it, until its revert', async () => {
  const { fixture, pull } = await published();
  await edits(fixture, pull.head.ref, { 'src/add.js': 'export const add = (a, b) => b + a;\n' });
  await merges(fixture, pull.number);
  expect(await webhook(fixture, pull, 'merged')).toBe(true);
  const atOnce = (await outcomesOf(fixture)).find(({ shown }) => shown);
  expect(atOnce).toMatchObject({ first: 'likely', pull: { state: 'merged', edited: null } });

  await settleOutcomes(fixture.world);
  const settled = await outcomesOf(fixture);
  const shown = settled.find((one) => one.shown);
  // One line replaced in a patch that replaces one line.
  expect(shown?.pull).toMatchObject({ state: 'merged', edited: 1, revertedAt: null });
  expect(shown?.pull?.merged).toMatchObject({ number: pull.number, base: 'main' });
  // Nothing was left of it, so the others have not lost to it.
  expect(settled.filter((one) => !one.shown).map(creditOf)).toEqual([null, null]);

  await revertsNewest(fixture);
  await settleOutcomes(fixture.world);
  const reverted = (await outcomesOf(fixture)).find((one) => one.shown);
  expect(reverted?.pull?.revertedAt).toBeGreaterThan(0);
  expect(reverted && creditOf(reverted)).toBe(0);
});

test('a merge whose webhook never came is found, and as it was it counts whole', async () => {
  const { fixture, pull } = await published();
  await merges(fixture, pull.number);
  await settleOutcomes(fixture.world);
  expect((await fixture.store.run(fixture.runId))?.state).toBe('merged');
  const shown = (await outcomesOf(fixture)).find((one) => one.shown);
  expect(shown?.pull).toMatchObject({ state: 'merged', edited: 0, revertedAt: null });
  // Again, it changes nothing.
  const before = await outcomesOf(fixture);
  await settleOutcomes(fixture.world);
  expect(await outcomesOf(fixture)).toEqual(before);
});

test('a person who picks against our first is believed, and what is closed counts for nobody', async () => {
  const fixture = await openFixture(shared(), { decision: TOSS_UP });
  await fixture.publishes();
  const first = (await outcomesOf(fixture)).length;
  expect(first).toBe(0);
  await fixture.says('/auto-dev pick C');
  const picked = await outcomesOf(fixture);
  expect(picked.map(({ alias, pick, shown }) => ({ alias, pick, shown }))).toEqual([
    { alias: 'A', pick: 'other', shown: false },
    { alias: 'B', pick: 'other', shown: false },
    { alias: 'C', pick: 'this', shown: true },
  ]);
  expect(picked.find(({ alias }) => alias === 'C')).toMatchObject({ first: null });
  const [pull] = await pullsOf(fixture);
  if (!pull) throw new Error('There is not a pull request.');
  await fixture.shared.hub.github.as(ALICE).closePull(fixture.shared.hub.repository, pull.number);
  await webhook(fixture, pull, 'closed');
  expect((await outcomesOf(fixture)).map(creditOf)).toEqual([null, null, 0]);
});

test('an expired run is deleted and its outcomes stay, without a word of code or issue', async () => {
  const { fixture, pull } = await published();
  await merges(fixture, pull.number);
  await webhook(fixture, pull, 'merged');
  await settleOutcomes(fixture.world);
  const before = await outcomesOf(fixture);
  const clock = { ...fixture.world.clock, now: () => NOON + 400 * DAY };
  const engine = { ...fixture.world.engine, forget: async () => 0 };
  const later = { ...fixture.world, clock, engine } as World;
  expect(await retire(later, { runs: 180 * DAY, ledger: 180 * DAY })).toMatchObject({ runs: 1 });
  expect(await fixture.store.run(fixture.runId)).toBeNull();
  expect(await outcomesOf(fixture)).toEqual(before);
  const text = JSON.stringify(before);
  for (const word of ['Add is wrong', 'export const', 'src/add.js']) expect(text).not.toContain(word);
  // Without the run, nothing more is asked of GitHub about it.
  const calls = fixture.line.calls.length;
  await settleOutcomes(later);
  expect(fixture.line.calls.length).toBe(calls);
});

test('while GitHub is away nothing is lost and nobody else waits', async () => {
  const { fixture, pull } = await published();
  await merges(fixture, pull.number);
  fixture.line.fails({ kind: 'outage', at: fixture.line.calls.length });
  await settleOutcomes(fixture.world);
  fixture.line.mended();
  await settleOutcomes(fixture.world);
  expect((await outcomesOf(fixture)).find((one) => one.shown)?.pull).toMatchObject({
    state: 'merged',
    edited: 0,
  });
});

test('a process that is killed before it keeps an outcome leaves it to the next one', async () => {
  let killed = true;
  const dying = (inner: Store): Store => ({
    ...inner,
    async keepOutcomes(...given) {
      if (killed) throw new Error('killed');
      await inner.keepOutcomes(...given);
    },
  });
  const { fixture, pull } = await published({ store: dying });
  await merges(fixture, pull.number);
  expect(await webhook(fixture, pull, 'merged')).toBe(true);
  expect(await outcomesOf(fixture)).toEqual([]);
  killed = false;
  await settleOutcomes(fixture.world);
  expect((await outcomesOf(fixture)).find((one) => one.shown)?.pull).toMatchObject({
    state: 'merged',
    edited: 0,
  });
});

test('a pull request that is closed, reopened and merged counts as merged, whichever webhooks arrive', async () => {
  const { fixture, pull } = await published();
  const alice = fixture.shared.hub.github.as(ALICE);
  await alice.closePull(fixture.shared.hub.repository, pull.number);
  await webhook(fixture, pull, 'closed');
  expect((await outcomesOf(fixture)).find((one) => one.shown)?.pull?.state).toBe('closed');
  await alice.reopenPull(fixture.shared.hub.repository, pull.number);
  await settleOutcomes(fixture.world);
  expect((await fixture.store.run(fixture.runId))?.state).toBe('published');
  expect((await outcomesOf(fixture)).find((one) => one.shown)?.pull?.state).toBe('open');
  await webhook(fixture, pull, 'closed');
  await merges(fixture, pull.number);
  await settleOutcomes(fixture.world);
  expect((await outcomesOf(fixture)).find((one) => one.shown)?.pull).toMatchObject({
    state: 'merged',
    edited: 0,
  });
});

test('bringing the branch up to date is no edit', async () => {
  const fixture = await openFixture(shared());
  const added = '// From main, in the file that the candidate changes.\n';
  await inClone(fixture, 'main', async (folder, token) => {
    await writeFile(join(folder, 'src/add.js'), added, { flag: 'a' });
    await git(folder, ['commit', '--quiet', '--all', '--message', 'Meanwhile']);
    await git(folder, ['push', '--quiet', 'origin', 'HEAD:main'], token);
  });
  await fixture.publishes();
  const [pull] = await pullsOf(fixture);
  if (!pull) throw new Error('There is not a pull request.');
  await inClone(fixture, pull.head.ref, async (folder, token) => {
    await git(folder, ['fetch', '--quiet', 'origin', 'main']);
    // The lines are next to each other, so people have to resolve it.
    await git(folder, ['merge', '--quiet', '--no-commit', '--strategy=ours', 'FETCH_HEAD']);
    await writeFile(join(folder, 'src/add.js'), added, { flag: 'a' });
    await git(folder, ['commit', '--quiet', '--all', '--no-edit']);
    await git(folder, ['push', '--quiet', 'origin', `HEAD:${pull.head.ref}`], token);
  });
  await merges(fixture, pull.number);
  await settleOutcomes(fixture.world);
  expect((await outcomesOf(fixture)).find((one) => one.shown)?.pull).toMatchObject({
    state: 'merged',
    edited: 0,
  });
});

test('a commit that only says that it reverts counts for nothing, nor does the revert of a person', async () => {
  const { fixture, pull } = await published();
  await edits(fixture, pull.head.ref, { 'README.md': 'By hand.\n' });
  await merges(fixture, pull.number);
  await settleOutcomes(fixture.world);
  const revertedAt = async () => {
    await settleOutcomes(fixture.world);
    return (await outcomesOf(fixture)).find((one) => one.shown)?.pull?.revertedAt;
  };
  const sha = (await outcomesOf(fixture)).find((one) => one.shown)?.pull?.merged?.shas[0] ?? '?';
  await inClone(fixture, 'main', async (folder, token) => {
    await git(folder, ['commit', '--quiet', '--allow-empty', '--message', `This reverts commit ${sha}.`]);
    // The person's own commit on the branch.
    await git(folder, ['revert', '--no-edit', 'HEAD~1^2']);
    await git(folder, ['push', '--quiet', 'origin', 'HEAD:main'], token);
  });
  expect(await revertedAt()).toBeNull();
  // Runoff's commit, below it.
  await inClone(fixture, 'main', async (folder, token) => {
    await git(folder, ['revert', '--no-edit', sha]);
    await git(folder, ['push', '--quiet', 'origin', 'HEAD:main'], token);
  });
  expect(await revertedAt()).toBeGreaterThan(0);
  // It is put back.
  await inClone(fixture, 'main', async (folder, token) => {
    await git(folder, ['revert', '--no-edit', 'HEAD']);
    await git(folder, ['push', '--quiet', 'origin', 'HEAD:main'], token);
  });
  expect(await revertedAt()).toBeNull();
});
