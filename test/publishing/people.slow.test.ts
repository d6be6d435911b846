import { describe, expect, test } from 'vitest';
import { git } from '../../packages/local-github/test/github-world.ts';
import { stopRunsOfIssue } from '../../src/commands/index.ts';
import { announceEndedRuns } from '../../src/runs/index.ts';
import { TOSS_UP } from '../core/reports/sample.ts';
import { overRest } from './refs.ts';
import { ALICE, furnished, openRoom, type Room } from './room.ts';
import { branchesOf, commentsOn, kindsOf, labelsOf, pullsOf } from './standing.ts';

const house = furnished('file');

const stateOf = async ({ store, runId }: Room) => (await store.run(runId))?.state;
const alice = ({ house: { hub } }: Room) => hub.github.as(ALICE);
const at = (room: Room, path: string) =>
  `/repos/${room.house.hub.repository.owner}/${room.house.hub.repository.name}/${path}`;
const branchOf = ({ issue, runId }: Room, alias: string) => `auto-dev/${issue}/${runId}/${alias}`;
const pushes = ({ house: { hub } }: Room, branch: string) =>
  hub.push(branch, { 'README.md': 'By hand.\n' }, hub.github.token(ALICE));
/** Run ids and commits differ from run to run. */
const same = (room: Room, text: string | undefined) =>
  (text ?? '').replaceAll(`${room.issue}/${room.runId}`, 'ISSUE/RUN').replace(/`[0-9a-f]{10}`/g, '`COMMIT`');

/** A run with its draft pull request, and the number of that. */
async function published(pushing: 'git' | 'rest' = 'rest') {
  const room = await openRoom(house(), { pushes: pushing });
  expect(await room.publishes()).toBe('published');
  const [pull] = await pullsOf(room);
  if (!pull) throw new Error('There is not a pull request.');
  return { room, pull };
}

describe('a branch or pull request that is there already', () => {
  test('F6: a branch of that name at a commit of somebody else is left alone, and the issue says why', async () => {
    const room = await openRoom(house());
    const theirs = await pushes(room, branchOf(room, 'B'));
    expect(await room.publishes()).toBe('published');
    expect(await pullsOf(room)).toEqual([]);
    expect((await branchesOf(room)).find(({ branch }) => branch.endsWith('/B'))?.sha).toBe(theirs);
    const outcome = (await room.store.run(room.runId))?.outcome;
    expect(same(room, outcome?.kind === 'table' ? outcome.refusedBecause : '')).toMatchInlineSnapshot(
      `"The branch \`auto-dev/ISSUE/RUN/B\` is at \`COMMIT\`, which Runoff did not push, and is not ours to move."`,
    );
    expect(await kindsOf(room, room.issue)).toEqual(['outcome', 'status']);
    expect(await labelsOf(room)).toEqual(['auto-dev:none']);
    expect(same(room, await room.says('/auto-dev pick C'))).toMatch(/^Candidate C is the draft pull request/);
    expect(await pullsOf(room)).toHaveLength(1);
    expect(await labelsOf(room)).toEqual(['auto-dev:done']);
  });

  test('F22: a pull request that somebody opened from our branch is taken, not doubled', async () => {
    const room = await openRoom(house(), { pushes: 'rest' });
    let opened = 0;
    room.line.before(async ({ method, path }) => {
      if (method !== 'POST' || !path.endsWith('/pulls')) return;
      const pull = { head: branchOf(room, 'B'), base: 'main', title: 'By hand' };
      opened = await alice(room).openPull(room.house.hub.repository, pull);
    });
    expect(await room.publishes()).toBe('published');
    expect((await pullsOf(room)).map(({ number }) => number)).toEqual([opened]);
    expect(await kindsOf(room, opened)).toEqual(['comparison']);
  });
});

describe('F7: a base that moved meanwhile', () => {
  test('is told in the comparison; the pull request stands on the frozen one', async () => {
    const room = await openRoom(house(), { pushes: 'rest' });
    await pushes(room, 'main');
    expect(await room.publishes()).toBe('published');
    const [pull] = await pullsOf(room);
    const [comparison] = await commentsOn(room, pull?.number ?? 0);
    const line = comparison?.body.split('\n').find((each) => each.includes('moved'));
    expect(same(room, line).replace(/[0-9a-f]{12}/g, 'COMMIT')).toMatchInlineSnapshot(
      `"**The base branch has moved.** \`main\` is now at \`COMMIT\`; the candidates were built and tested on \`COMMIT\`."`,
    );
  });
});

describe('F8: what people did to a pull request stays', () => {
  test('closed: nothing is reopened', async () => {
    const { room, pull } = await published();
    await alice(room).closePull(room.house.hub.repository, pull.number);
    const said = await room.says('/auto-dev pick C', { on: pull.number });
    expect(said.replace(/#\d+/, '#N')).toMatchInlineSnapshot(
      `"refused: The pull request #N is closed. To work on the issue again, comment \`/auto-dev retry\` there."`,
    );
    expect(
      (await room.says('/auto-dev ci', { on: pull.number })).replace(/#\d+/, '#N'),
    ).toMatchInlineSnapshot(
      `"refused: The pull request #N is closed. To work on the issue again, comment \`/auto-dev retry\` there."`,
    );
    expect(await pullsOf(room)).toMatchObject([{ state: 'closed', head: { sha: pull.head.sha } }]);
  });

  test('pushed to: nothing is overwritten', async () => {
    const { room, pull } = await published();
    const rest = overRest(room.house);
    const checkout = await rest.prepare({ kind: 'local', path: '' }, room.house.base);
    const theirs = await rest.commit(checkout, {
      base: pull.head.sha,
      tree: room.house.patches.A?.tree ?? '',
      message: 'By hand',
      author: { name: 'Alice', email: 'alice@example.com' },
      at: 1_770_000_000,
    });
    const remote = { url: '', credential: { username: '', password: '' } };
    await rest.push(checkout, remote, pull.head.ref, theirs, pull.head.sha);
    const said = await room.says('/auto-dev pick C', { on: pull.number });
    expect(said.replace(/#\d+/, '#N')).toMatchInlineSnapshot(
      `"refused: Somebody has pushed to the branch of #N, so Runoff leaves it alone from now on."`,
    );
    expect(
      (await room.says('/auto-dev ci', { on: pull.number })).replace(/#\d+/, '#N'),
    ).toMatchInlineSnapshot(
      `"refused: Somebody has pushed to the branch of #N, so Runoff leaves it alone from now on."`,
    );
    expect((await branchesOf(room)).find(({ branch }) => branch === pull.head.ref)?.sha).toBe(theirs);
  });

  test('its branch deleted: it is not made again', async () => {
    const { room, pull } = await published('git');
    const { hub } = room.house;
    const remote = `${hub.github.url}/alice/demo.git`;
    const from = room.house.git.repository({ a: 'a' }).path;
    await git(from, ['push', '-q', remote, `:refs/heads/${pull.head.ref}`], hub.github.token(ALICE));
    const said = await room.says('/auto-dev pick C', { on: pull.number });
    expect(same(room, said).replace(/#\d+/, '#N')).toMatchInlineSnapshot(
      `"refused: The branch \`auto-dev/ISSUE/RUN/B\` is gone."`,
    );
    expect((await branchesOf(room)).map(({ branch }) => branch)).not.toContain(pull.head.ref);
  });
});

describe('while a person must pick', () => {
  test('F9: closing the issue ends the waiting, and a later pick is refused', async () => {
    const room = await openRoom(house(), { decision: TOSS_UP, pushes: 'rest' });
    await room.publishes();
    expect(await labelsOf(room)).toEqual(['auto-dev:pick']);
    const { repositoryId } = room.house.hub.github.handle('alice', 'demo');
    await stopRunsOfIssue(room.world, { repositoryId, issue: room.issue, cause: 'the issue was closed' });
    expect([await stateOf(room), await labelsOf(room)]).toEqual(['closed', []]);
    expect(await room.says('/auto-dev pick C')).toMatchInlineSnapshot(
      `"refused: The run has ended (closed). To start again, comment \`/auto-dev retry\` on the issue."`,
    );
    expect(await pullsOf(room)).toEqual([]);
  });

  test('none of them: no pull request, and the issue says who picked', async () => {
    const room = await openRoom(house(), { decision: TOSS_UP, pushes: 'rest' });
    await room.publishes();
    expect(await room.says('/auto-dev pick none')).toMatchInlineSnapshot(
      `"None of the candidates was picked. No pull request was opened."`,
    );
    expect([await stateOf(room), await labelsOf(room), await pullsOf(room)]).toEqual(['closed', [], []]);
    const [choice] = await commentsOn(room, room.issue);
    expect(choice?.body).toContain('`alice`');
  });
});

describe('what somebody deleted', () => {
  test('a comparison: the pick is applied, and it is not written again', async () => {
    const { room, pull } = await published();
    const [comparison] = await commentsOn(room, pull.number);
    await alice(room).request('DELETE', at(room, `issues/comments/${comparison?.id}`));
    const said = await room.says('/auto-dev pick C', { on: pull.number });
    expect(said).toBe(`The pull request #${pull.number} shows candidate C now.`);
    expect(await kindsOf(room, pull.number)).toEqual([]);
    expect((await pullsOf(room))[0]?.title).toContain('Add is wrong');
  });

  test('the status comment: the run ends all the same', async () => {
    const room = await openRoom(house(), { decision: TOSS_UP, pushes: 'rest' });
    await room.publishes();
    for (const { id } of await commentsOn(room, room.issue)) {
      await alice(room).request('DELETE', at(room, `issues/comments/${id}`));
    }
    expect(await room.says('/auto-dev pick C')).toMatch(/^Candidate C is the draft pull request/);
    expect([await stateOf(room), await labelsOf(room)]).toEqual(['published', ['auto-dev:done']]);
    expect(await kindsOf(room, room.issue)).toEqual([]);
  });

  test('a label: it is made again when it is set', async () => {
    const { room } = await published();
    await alice(room).request('DELETE', at(room, 'labels/auto-dev%3Adone'));
    const next = await openRoom(house(), { pushes: 'rest', issue: room.issue, beside: room });
    expect(await next.publishes()).toBe('published');
    expect(await labelsOf(next)).toEqual(['auto-dev:done']);
  });
});

describe('a run of an issue that had one before', () => {
  test('folds what the older one compared, and nobody is asked to pick there any more', async () => {
    const older = await openRoom(house(), { decision: TOSS_UP, pushes: 'rest' });
    await older.publishes();
    const [choice] = await commentsOn(older, older.issue);
    const { minimised } = older.house.hub.github;
    const before = minimised.length;
    const newer = await openRoom(house(), { pushes: 'rest', issue: older.issue, beside: older });
    expect(await newer.publishes()).toBe('published');
    expect(minimised.slice(before).map(({ comment }) => comment)).toEqual([choice?.id]);
    expect([await stateOf(older), await stateOf(newer)]).toEqual(['closed', 'published']);
    expect(await labelsOf(newer)).toEqual(['auto-dev:done']);
  });

  test('keeps its labels when the end of the older one is said late', async () => {
    const older = await openRoom(house(), { decision: TOSS_UP, pushes: 'rest' });
    await older.publishes();
    const newer = await openRoom(house(), { pushes: 'rest', issue: older.issue, beside: older });
    await newer.publishes();
    await older.store.fulfil(older.runId, 'said', false);
    await announceEndedRuns(older.world);
    expect(await labelsOf(newer)).toEqual(['auto-dev:done']);
  });
});
