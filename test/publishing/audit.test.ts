import { describe, expect, test } from 'vitest';
import type { AuditRecord } from '../../src/ports/index.ts';
import { TOSS_UP } from '../core/reports/sample.ts';
import { furnished, openRoom, type Room } from './room.ts';
import { branchesOf } from './standing.ts';

const house = furnished('file');

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

const writesOnTheLine = ({ line }: Room): readonly string[] =>
  line.calls
    .filter(({ method, path }) => method !== 'GET' && !/\/access_tokens$|^\/installation\/token$/.test(path))
    .map(
      ({ method, path }) => `${method} ${path.replace(/^\/(?:repos\/[^/]+\/[^/]+|repositories\/\d+)/, '')}`,
    );

const oldestFirst = async ({ store }: Room): Promise<readonly AuditRecord[]> =>
  (await store.audited({ limit: 1_000 })).toReversed();

const writesIn = (records: readonly AuditRecord[]) =>
  records.flatMap(({ entry, ...place }) => (entry.kind === 'write' ? [{ ...entry, ...place }] : []));

/** Each write of the audit, in order, is the write on the line at the same place, and there are no others. */
async function expectSame(room: Room): Promise<void> {
  const audited = writesIn(await oldestFirst(room)).filter(({ what }) => what !== 'push');
  const sent = writesOnTheLine(room);
  expect(audited.map(({ what }) => what)).toEqual(
    sent.map((call) => Object.entries(ON_THE_LINE).find(([, form]) => form.test(call))?.[0] ?? call),
  );
}

describe('the audit', () => {
  test('lists exactly the writes of a run and of its pick, pushes included, and who asked for what', async () => {
    const room = await openRoom(house(), { audited: true, decision: TOSS_UP });
    await room.publishes();
    await room.says('/auto-dev pick B', { login: 'mallory' });
    await room.says('/auto-dev pick Z');
    await room.says('/auto-dev pick B');
    await expectSame(room);
    const records = await oldestFirst(room);
    const pushed = writesIn(records).flatMap(({ branch }) => branch ?? []);
    // A pick pushes again what may be there already.
    expect([...new Set(pushed)]).toEqual((await branchesOf(room)).map(({ branch }) => branch));
    const { repositoryId } = house().hub.github.handle('alice', 'demo');
    for (const write of writesIn(records)) {
      expect([write.outcome, write.repository, write.repositoryId]).toEqual([
        'done',
        'alice/demo',
        repositoryId,
      ]);
      // Reactions and answers to a command are the command's own.
      if (!['react', 'comment'].includes(write.what))
        expect([write.what, write.run]).toEqual([write.what, room.runId]);
    }
    const commands = records.flatMap(({ entry }) => (entry.kind === 'command' ? [entry] : []));
    expect(commands.map(({ by, text, outcome }) => [by.login, text, outcome.kind])).toEqual([
      ['mallory', '/auto-dev pick B', 'ignored'],
      ['alice', '/auto-dev pick Z', 'refused'],
      ['alice', '/auto-dev pick B', 'done'],
    ]);
  });

  test('has a write whose answer was an error, and the one that was tried again', async () => {
    const room = await openRoom(house(), { audited: true, pushes: 'rest' });
    const { faults } = house().hub.github;
    faults.add({ method: 'POST', path: /\/pulls$/, status: 502, body: {}, times: 1 });
    await room.publishes();
    await expectSame(room);
    faults.clear();
    const pulls = writesIn(await oldestFirst(room)).filter(({ what }) => what === 'open-pull');
    expect(pulls.map(({ outcome, status }) => [outcome, status])).toEqual([
      ['failed', 502],
      ['done', undefined],
    ]);
  });
});
