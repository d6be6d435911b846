import { describe, expect, test } from 'vitest';
import type { AuditRecord } from '../../src/ports/index.ts';
import { TOSS_UP } from '../core/reports/sample.ts';
import { branchesOf } from './outcome.ts';
import { type Fixture, openFixture, sharedFixture } from './publishing-world.ts';

const shared = sharedFixture('file');

/** How each kind of write looks on the line; GitHub's own paths, without the repository. */
const ON_THE_LINE: Readonly<Record<string, RegExp>> = {
  react: /^POST \/(?:issues|issues\/comments|pulls\/comments)\/\d+\/reactions$/,
  comment: /^POST \/issues\/\d+\/comments$/,
  'edit-comment': /^PATCH \/issues\/comments\/\d+$/,
  'create-label': /^POST \/labels$/,
  label: /^POST \/issues\/\d+\/labels$/,
  unlabel: /^DELETE \/issues\/\d+\/labels\/[^/]+$/,
  'open-pull': /^POST \/pulls$/,
  'edit-pull': /^PATCH \/pulls\/\d+$/,
  'show-check': /^(?:POST|PATCH) \/check-runs(?:\/\d+)?$/,
  'delete-branch': /^DELETE \/git\/refs\/heads%2F[^/]+$/,
  'fold-comment': /^POST \/graphql$/,
};

const writesOnTheLine = ({ line }: Fixture): readonly string[] =>
  line.calls
    .filter(({ method, path }) => method !== 'GET' && !/\/access_tokens$|^\/installation\/token$/.test(path))
    .map(
      ({ method, path }) => `${method} ${path.replace(/^\/(?:repos\/[^/]+\/[^/]+|repositories\/\d+)/, '')}`,
    );

const oldestFirst = async ({ store }: Fixture): Promise<readonly AuditRecord[]> =>
  (await store.audited({ limit: 1_000 })).toReversed();

const writesIn = (records: readonly AuditRecord[]) =>
  records.flatMap(({ entry, ...place }) => (entry.kind === 'write' ? [{ ...entry, ...place }] : []));

/** Each write of the audit, in order, is the write on the line at the same place, and there are no others. */
async function expectSame(fixture: Fixture): Promise<void> {
  const audited = writesIn(await oldestFirst(fixture)).filter(({ what }) => what !== 'push');
  const sent = writesOnTheLine(fixture);
  expect(audited.map(({ what }) => what)).toEqual(
    sent.map((call) => Object.entries(ON_THE_LINE).find(([, form]) => form.test(call))?.[0] ?? call),
  );
}

describe('the audit', () => {
  test('lists exactly the writes of a run and its pick, including pushes, and who requested what', async () => {
    const fixture = await openFixture(shared(), { audited: true, decision: TOSS_UP });
    await fixture.publishes();
    await fixture.says('/auto-dev pick B', { login: 'mallory' });
    await fixture.says('/auto-dev pick Z');
    await fixture.says('/auto-dev pick B');
    await expectSame(fixture);
    const records = await oldestFirst(fixture);
    const pushed = writesIn(records).flatMap(({ branch }) => branch ?? []);
    // Several at a time; a pick pushes again what may be there already.
    const branches = (await branchesOf(fixture)).map(({ branch }) => branch);
    expect([...new Set(pushed)].toSorted()).toEqual(branches.toSorted());
    const { repositoryId } = shared().hub.github.handle('alice', 'demo');
    for (const write of writesIn(records)) {
      expect([write.outcome, write.repository, write.repositoryId]).toEqual([
        'done',
        'alice/demo',
        repositoryId,
      ]);
      // Reactions and answers to a command are the command's own.
      if (!['react', 'comment'].includes(write.what))
        expect([write.what, write.run]).toEqual([write.what, fixture.runId]);
    }
    const commands = records.flatMap(({ entry }) => (entry.kind === 'command' ? [entry] : []));
    expect(commands.map(({ by, text, outcome }) => [by.login, text, outcome.kind])).toEqual([
      ['mallory', '/auto-dev pick B', 'ignored'],
      ['alice', '/auto-dev pick Z', 'refused'],
      ['alice', '/auto-dev pick B', 'done'],
    ]);
  });

  test('lists a write that failed, and its repetition', async () => {
    const fixture = await openFixture(shared(), { audited: true, pushes: 'rest' });
    const { faults } = shared().hub.github;
    faults.add({ method: 'POST', path: /\/pulls$/, status: 502, body: {}, times: 1 });
    await fixture.publishes();
    await expectSame(fixture);
    faults.clear();
    const pulls = writesIn(await oldestFirst(fixture)).filter(({ what }) => what === 'open-pull');
    expect(pulls.map(({ outcome, status }) => [outcome, status])).toEqual([
      ['failed', 502],
      ['done', undefined],
    ]);
  });
});
