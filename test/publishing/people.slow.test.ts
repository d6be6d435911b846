import { describe, expect, test } from 'vitest';
import { git } from '../../packages/local-github/test/github-world.ts';
import { stopRunsOfIssue } from '../../src/commands/index.ts';
import { announceEndedRuns } from '../../src/runs/index.ts';
import { TOSS_UP } from '../core/reports/sample.ts';
import { branchesOf, commentsOn, kindsOf, labelsOf, pullsOf } from './outcome.ts';
import { ALICE, type Fixture, openFixture, sharedFixture } from './publishing-world.ts';
import { overRest } from './refs-over-rest.ts';

const shared = sharedFixture('file');

const stateOf = async ({ store, runId }: Fixture) => (await store.run(runId))?.state;
const alice = ({ shared: { hub } }: Fixture) => hub.github.as(ALICE);
const at = (fixture: Fixture, path: string) =>
  `/repos/${fixture.shared.hub.repository.owner}/${fixture.shared.hub.repository.name}/${path}`;
const branchOf = ({ issue, runId }: Fixture, alias: string) => `auto-dev/${issue}/${runId}/${alias}`;
const pushes = ({ shared: { hub } }: Fixture, branch: string) =>
  hub.push(branch, { 'README.md': 'By hand.\n' }, hub.github.token(ALICE));
/** Run ids and commits differ from run to run. */
const same = (fixture: Fixture, text: string | undefined) =>
  (text ?? '')
    .replaceAll(`${fixture.issue}/${fixture.runId}`, 'ISSUE/RUN')
    .replace(/`[0-9a-f]{10}`/g, '`COMMIT`');

/** A run with its draft pull request, and the number of that. */
async function published(pushing: 'git' | 'rest' = 'rest') {
  const fixture = await openFixture(shared(), { pushes: pushing });
  expect(await fixture.publishes()).toBe('published');
  const [pull] = await pullsOf(fixture);
  if (!pull) throw new Error('There is not a pull request.');
  return { fixture, pull };
}

describe('an existing branch or pull request', () => {
  test("F6: in the form of somebody else's branch of that name is left alone, and the issue says why", async () => {
    const fixture = await openFixture(shared());
    const theirs = await pushes(fixture, branchOf(fixture, 'B'));
    expect(await fixture.publishes()).toBe('published');
    expect(await pullsOf(fixture)).toEqual([]);
    expect((await branchesOf(fixture)).find(({ branch }) => branch.endsWith('/B'))?.sha).toBe(theirs);
    const outcome = (await fixture.store.run(fixture.runId))?.outcome;
    expect(same(fixture, outcome?.kind === 'table' ? outcome.refusedBecause : '')).toMatchInlineSnapshot(
      `"The branch \`auto-dev/ISSUE/RUN/B\` is at \`COMMIT\`, a commit that Runoff did not push, so Runoff does not move it."`,
    );
    expect(await kindsOf(fixture, fixture.issue)).toEqual(['outcome', 'status']);
    expect(await labelsOf(fixture)).toEqual(['auto-dev:none']);
    expect(same(fixture, await fixture.says('/auto-dev pick C'))).toMatch(
      /^Candidate C is the draft pull request/,
    );
    expect(await pullsOf(fixture)).toHaveLength(1);
    expect(await labelsOf(fixture)).toEqual(['auto-dev:done']);
  });

  test("F22: that somebody opened from Runoff's branch is adopted, not duplicated", async () => {
    const fixture = await openFixture(shared(), { pushes: 'rest' });
    let opened = 0;
    fixture.line.before(async ({ method, path }) => {
      if (method !== 'POST' || !path.endsWith('/pulls')) return;
      const pull = { head: branchOf(fixture, 'B'), base: 'main', title: 'By hand' };
      opened = await alice(fixture).openPull(fixture.shared.hub.repository, pull);
    });
    expect(await fixture.publishes()).toBe('published');
    expect((await pullsOf(fixture)).map(({ number }) => number)).toEqual([opened]);
    expect(await kindsOf(fixture, opened)).toEqual(['comparison']);
  });
});

describe('F7: a base that has moved', () => {
  test('is mentioned in the comparison, and the pull request keeps the frozen one', async () => {
    const fixture = await openFixture(shared(), { pushes: 'rest' });
    await pushes(fixture, 'main');
    expect(await fixture.publishes()).toBe('published');
    const [pull] = await pullsOf(fixture);
    const [comparison] = await commentsOn(fixture, pull?.number ?? 0);
    const line = comparison?.body.split('\n').find((each) => each.includes('moved'));
    expect(same(fixture, line).replace(/[0-9a-f]{12}/g, 'COMMIT')).toMatchInlineSnapshot(
      `"**The base branch has moved.** \`main\` is now at \`COMMIT\`; the candidates were built and tested on \`COMMIT\`."`,
    );
  });
});

describe("F8: people's changes to a pull request are kept:", () => {
  test('a closed one is not reopened', async () => {
    const { fixture, pull } = await published();
    await alice(fixture).closePull(fixture.shared.hub.repository, pull.number);
    const said = await fixture.says('/auto-dev pick C', { on: pull.number });
    expect(said.replace(/#\d+/, '#N')).toMatchInlineSnapshot(
      `"refused: The pull request #N is closed. To work on the issue again, comment \`/auto-dev retry\` there."`,
    );
    expect(
      (await fixture.says('/auto-dev ci', { on: pull.number })).replace(/#\d+/, '#N'),
    ).toMatchInlineSnapshot(
      `"refused: The pull request #N is closed. To work on the issue again, comment \`/auto-dev retry\` there."`,
    );
    expect(await pullsOf(fixture)).toMatchObject([{ state: 'closed', head: { sha: pull.head.sha } }]);
  });

  test('pushed commits are not overwritten', async () => {
    const { fixture, pull } = await published();
    const rest = overRest(fixture.shared);
    const checkout = await rest.prepare({ kind: 'local', path: '' }, fixture.shared.base);
    const theirs = await rest.commit(checkout, {
      base: pull.head.sha,
      tree: fixture.shared.patches.A?.tree ?? '',
      message: 'By hand',
      author: { name: 'Alice', email: 'alice@example.com' },
      at: 1_770_000_000,
    });
    const remote = { url: '', credential: { username: '', password: '' } };
    await rest.push(checkout, remote, pull.head.ref, theirs, pull.head.sha);
    const said = await fixture.says('/auto-dev pick C', { on: pull.number });
    expect(said.replace(/#\d+/, '#N')).toMatchInlineSnapshot(
      `"refused: Someone pushed to the branch of #N, so Runoff no longer changes it."`,
    );
    expect(
      (await fixture.says('/auto-dev ci', { on: pull.number })).replace(/#\d+/, '#N'),
    ).toMatchInlineSnapshot(`"refused: Someone pushed to the branch of #N, so Runoff no longer changes it."`);
    expect((await branchesOf(fixture)).find(({ branch }) => branch === pull.head.ref)?.sha).toBe(theirs);
  });

  test('a deleted branch is not recreated', async () => {
    const { fixture, pull } = await published('git');
    const { hub } = fixture.shared;
    const remote = `${hub.github.url}/alice/demo.git`;
    const from = fixture.shared.git.repository({ a: 'a' }).path;
    await git(from, ['push', '-q', remote, `:refs/heads/${pull.head.ref}`], hub.github.token(ALICE));
    const said = await fixture.says('/auto-dev pick C', { on: pull.number });
    expect(same(fixture, said).replace(/#\d+/, '#N')).toMatchInlineSnapshot(
      `"refused: The branch \`auto-dev/ISSUE/RUN/B\` is gone."`,
    );
    expect((await branchesOf(fixture)).map(({ branch }) => branch)).not.toContain(pull.head.ref);
  });
});

describe('while a person must pick', () => {
  test('F9: closing the issue ends the wait, and a later pick is refused', async () => {
    const fixture = await openFixture(shared(), { decision: TOSS_UP, pushes: 'rest' });
    await fixture.publishes();
    expect(await labelsOf(fixture)).toEqual(['auto-dev:pick']);
    const { repositoryId } = fixture.shared.hub.github.handle('alice', 'demo');
    await stopRunsOfIssue(fixture.world, {
      repositoryId,
      issue: fixture.issue,
      cause: 'the issue was closed',
    });
    expect([await stateOf(fixture), await labelsOf(fixture)]).toEqual(['closed', []]);
    expect(await fixture.says('/auto-dev pick C')).toMatchInlineSnapshot(
      `"refused: The run has ended without a pull request. To start again, comment \`/auto-dev retry\` on the issue."`,
    );
    expect(await pullsOf(fixture)).toEqual([]);
  });

  test('picking none opens no pull request, and the issue says who picked', async () => {
    const fixture = await openFixture(shared(), { decision: TOSS_UP, pushes: 'rest' });
    await fixture.publishes();
    expect(await fixture.says('/auto-dev pick none')).toMatchInlineSnapshot(
      `"None of the candidates was picked. No pull request was opened."`,
    );
    expect([await stateOf(fixture), await labelsOf(fixture), await pullsOf(fixture)]).toEqual([
      'closed',
      [],
      [],
    ]);
    const [choice] = await commentsOn(fixture, fixture.issue);
    expect(choice?.body).toContain('`alice`');
  });
});

describe('a deleted', () => {
  test('comparison does not prevent a pick, and is not rewritten', async () => {
    const { fixture, pull } = await published();
    const [comparison] = await commentsOn(fixture, pull.number);
    await alice(fixture).request('DELETE', at(fixture, `issues/comments/${comparison?.id}`));
    const said = await fixture.says('/auto-dev pick C', { on: pull.number });
    expect(said).toBe(`The pull request #${pull.number} now shows candidate C.`);
    expect(await kindsOf(fixture, pull.number)).toEqual([]);
    expect((await pullsOf(fixture))[0]?.title).toContain('Add is wrong');
  });

  test('status comment does not prevent the end of the run', async () => {
    const fixture = await openFixture(shared(), { decision: TOSS_UP, pushes: 'rest' });
    await fixture.publishes();
    for (const { id } of await commentsOn(fixture, fixture.issue)) {
      await alice(fixture).request('DELETE', at(fixture, `issues/comments/${id}`));
    }
    expect(await fixture.says('/auto-dev pick C')).toMatch(/^Candidate C is the draft pull request/);
    expect([await stateOf(fixture), await labelsOf(fixture)]).toEqual(['published', ['auto-dev:done']]);
    expect(await kindsOf(fixture, fixture.issue)).toEqual([]);
  });

  test('label is recreated when it is set', async () => {
    const { fixture } = await published();
    await alice(fixture).request('DELETE', at(fixture, 'labels/auto-dev%3Adone'));
    const next = await openFixture(shared(), { pushes: 'rest', issue: fixture.issue, beside: fixture });
    expect(await next.publishes()).toBe('published');
    expect(await labelsOf(next)).toEqual(['auto-dev:done']);
  });
});

describe('a further run of an issue', () => {
  test('folds the older comparison, and nobody is asked to pick there', async () => {
    const older = await openFixture(shared(), { decision: TOSS_UP, pushes: 'rest' });
    await older.publishes();
    const [choice] = await commentsOn(older, older.issue);
    const { minimised } = older.shared.hub.github;
    const before = minimised.length;
    const newer = await openFixture(shared(), { pushes: 'rest', issue: older.issue, beside: older });
    expect(await newer.publishes()).toBe('published');
    expect(minimised.slice(before).map(({ comment }) => comment)).toEqual([choice?.id]);
    expect([await stateOf(older), await stateOf(newer)]).toEqual(['closed', 'published']);
    expect(await labelsOf(newer)).toEqual(['auto-dev:done']);
  });

  test("keeps its labels when the older run's end is announced late", async () => {
    const older = await openFixture(shared(), { decision: TOSS_UP, pushes: 'rest' });
    await older.publishes();
    const newer = await openFixture(shared(), { pushes: 'rest', issue: older.issue, beside: older });
    await newer.publishes();
    await older.store.fulfil(older.runId, 'said', false);
    await announceEndedRuns(older.world);
    expect(await labelsOf(newer)).toEqual(['auto-dev:done']);
  });
});

describe('a cancel while a pull request is being published', () => {
  test.each([
    ['after it is opened', /\/issues\/\d+\/comments$/, 'refused: ', 'published'],
    ['as it is opened', /\/pulls$/, 'the run is cancelled', 'cancelled'],
  ] as const)('%s leaves no pull request that nothing knows of', async (_what, when, note, state) => {
    const fixture = await openFixture(shared(), { pushes: 'rest' });
    let said: Promise<string> | undefined;
    fixture.line.before(async ({ method, path }) => {
      if (method !== 'POST' || !when.test(path) || said) return;
      said = fixture.says('/auto-dev cancel');
      await said;
    });
    expect(await fixture.publishes()).toBe('published');
    expect(await said).toContain(note);
    const [pull, ...others] = await pullsOf(fixture);
    const stored = await fixture.store.run(fixture.runId);
    expect([stored?.state, stored?.outcome, others]).toMatchObject([state, { number: pull?.number }, []]);
    expect(await kindsOf(fixture, pull?.number ?? 0)).toEqual(['comparison']);
  });
});
