import { describe, expect, test } from 'vitest';
import type { Alias } from '../../src/core/model/index.ts';
import { TOSS_UP } from '../core/reports/sample.ts';
import { tried } from '../world/tried.ts';
import { branchesOf, commentsOn, labelsOf, pullsOf } from './outcome.ts';
import { type Fixture, openFixture, sharedFixture } from './publishing-world.ts';

const shared = sharedFixture();
const LATER = Date.now() + 24 * 60 * 60_000;

/** Loses what one candidate changed, as text and as a tree. */
async function lose({ world, store, runId, shared: { git } }: Fixture, alias: Alias): Promise<void> {
  const text = (await store.candidates(runId)).find((one) => one.alias === alias)?.patch?.text;
  await world.artifacts.sweep({ keep: (hash) => hash !== text?.sha256, before: LATER });
  // Then nobody has the tree either.
  await git.workspaces.prune({ keep: () => false, before: LATER });
}

const branches = async (fixture: Fixture) =>
  (await branchesOf(fixture)).map(({ branch }) => branch.split('/').at(-1)).toSorted();

describe('a patch that is damaged after it was examined', () => {
  test('of the winner makes a table that says so, with the other candidates', async () => {
    tried({
      id: 'patch-damaged-later',
      part: 'Stored data is damaged',
      what: 'The patch of a candidate is gone before judging, review or publishing, and its tree with it.',
      held: 'Judges and review go on without it; a winner without a patch becomes a table that says so, with all other branches.',
    });
    const fixture = await openFixture(shared());
    await lose(fixture, 'B');
    expect(await fixture.publishes()).toBe('published');
    expect([await pullsOf(fixture), await branches(fixture)]).toEqual([[], ['A', 'C']]);
    expect(await labelsOf(fixture)).toEqual(['auto-dev:none']);
    const texts = (await commentsOn(fixture, fixture.issue)).map(({ body }) => body);
    const sentence =
      'What candidate B changed was stored when it was examined, and is damaged now on the machine that runs Runoff.';
    expect(texts.filter((text) => text.includes(sentence))).toHaveLength(2);
    expect(texts.join('\n')).not.toContain('GitHub reports');
    expect(await fixture.says('/auto-dev pick C')).toMatch(/^Candidate C is the draft pull request/);
  });

  test('cannot be picked, and the other ones can', async () => {
    const fixture = await openFixture(shared(), { decision: TOSS_UP });
    expect(await fixture.publishes()).toBe('published');
    await lose(fixture, 'B');
    expect(await fixture.says('/auto-dev pick B')).toMatch(
      /^refused: What candidate B changed .* damaged now/,
    );
    expect([await pullsOf(fixture), await labelsOf(fixture)]).toEqual([[], ['auto-dev:pick']]);
    expect(await fixture.says('/auto-dev pick C')).toMatch(/^Candidate C is the draft pull request/);
  });
});

test('a comparison whose stored text is damaged takes no ticks, and nobody loses it', async () => {
  const fixture = await openFixture(shared(), { decision: TOSS_UP, pushes: 'rest' });
  await fixture.publishes();
  const [choice] = await commentsOn(fixture, fixture.issue);
  if (!choice) throw new Error('There is no comparison.');
  await fixture.world.artifacts.sweep({ keep: () => false, before: LATER });
  const { repositoryId, ...handle } = fixture.shared.hub.github.handle('alice', 'demo');
  const edited = choice.body.replace('- [ ]', '- [x]');
  expect(edited).not.toBe(choice.body);
  await fixture.intake.onEdit({
    place: {
      ...handle,
      repositoryId,
      thread: fixture.issue,
      isPull: false,
      comment: choice.id,
      on: 'conversation',
    },
    body: edited,
    performedByAppId: fixture.shared.hub.github.appId,
    at: Date.now(),
    actor: { id: 1, login: 'alice', isBot: false },
  });
  await fixture.intake.idle();
  expect((await commentsOn(fixture, fixture.issue))[0]?.body).toBe(choice.body);
  expect(await fixture.says('/auto-dev pick C')).toMatch(/^Candidate C is the draft pull request/);
});
