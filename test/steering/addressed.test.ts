import { describe, expect, test } from 'vitest';
import { RUN } from './pretend.ts';
import { down } from './repository.ts';
import { type Scene, scene, shown, tick } from './scene.ts';

const REVIEW = 'r0000000009';
const OURS = `auto-dev/7/${RUN}/B`;
const picked = async ({ store }: Scene, id: string) => (await store.picks(id)).map(({ alias }) => alias);

/** Pull request #11 is ours, made for issue #7; a review there led to a pull request of its own, or asks for a pick. */
async function reviewed(how: 'pull' | 'choice'): Promise<Scene> {
  const s = scene();
  await shown(s, 'pull');
  s.later(1_000);
  await shown(s, how, { id: REVIEW, origin: { issue: 11, work: 'review' } });
  return s;
}

describe('on a pull request of ours that was reviewed', () => {
  test('commands mean the run that opened it, not the one that a review led to', async () => {
    const s = await reviewed('pull');
    const theirs = `auto-dev/11/${REVIEW}/B`;
    const before = [s.repository.branches.get(OURS), s.repository.branches.get(theirs)];
    const ci = await s.say('/auto-dev ci', { on: 11 });
    expect(ci.note).toContain('pushed to #11:');
    expect(s.repository.branches.get(OURS)).not.toBe(before[0]);
    expect((await s.say('/auto-dev explain B', { on: 11 })).reply).toContain(RUN);
    expect((await s.say('/auto-dev vote C', { on: 11 })).outcome).toBe('done');
    expect((await s.say('/auto-dev pick C', { on: 11 })).note).toBe(
      'The pull request #11 shows candidate C now.',
    );
    expect([await picked(s, RUN), await picked(s, REVIEW)]).toEqual([['C'], []]);
    expect([await s.store.votes(RUN), await s.store.votes(REVIEW)]).toMatchObject([[{ alias: 'C' }], []]);
    expect(s.repository.branches.get(theirs)).toBe(before[1]);
  });

  test('while the review asks there, votes, explanations and the pick mean what it asks; CI never does', async () => {
    const s = await reviewed('choice');
    const ours = s.repository.branches.get(OURS);
    expect((await s.say('/auto-dev ci', { on: 11 })).note).toContain('pushed to #11:');
    expect(s.repository.branches.get(OURS)).not.toBe(ours);
    expect((await s.say('/auto-dev explain B', { on: 11 })).reply).toContain(REVIEW);
    await s.say('/auto-dev vote C', { on: 11 });
    expect((await s.say('/auto-dev pick C', { on: 11 })).note).toBe(
      'Candidate C is the draft pull request #12.',
    );
    expect([await picked(s, RUN), await picked(s, REVIEW)]).toEqual([[], ['C']]);
    expect([await s.store.votes(RUN), await s.store.votes(REVIEW)]).toMatchObject([[], [{ alias: 'C' }]]);
    expect((await s.say('/auto-dev pick A', { on: 11 })).note).toBe(
      'The pull request #11 shows candidate A now.',
    );
  });

  test('on the one that the review led to, they mean the review', async () => {
    const s = await reviewed('pull');
    expect((await s.say('/auto-dev ci', { on: 12 })).note).toContain('pushed to #12:');
    await s.say('/auto-dev pick C', { on: 12 });
    expect([await picked(s, RUN), await picked(s, REVIEW)]).toEqual([[], ['C']]);
  });
});

test('a tick means the run whose comparison it stands in, whichever has a result when its turn comes', async () => {
  const s = scene();
  await shown(s, 'choice');
  s.repository.trouble.set('permission', down);
  const { heeded } = await tick(s, 'C');
  s.later(1_000);
  await shown(s, 'pull', { id: REVIEW });
  s.repository.trouble.clear();
  await s.again();
  expect([await picked(s, RUN), await picked(s, REVIEW)]).toEqual([[], []]);
  const { outcome, runId } =
    (heeded.kind === 'heard' && (await s.store.command(heeded.command))) || expect.fail();
  expect(runId).toBe(RUN);
  expect(outcome).toMatchObject({
    kind: 'refused',
    why: expect.stringContaining('The run is over (closed)'),
  });
});
