import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { MAINTAINER, REPOSITORY } from '../../src/demo/stage.ts';
import { onStage } from '../world/theatre.ts';

const MINUTES = 60_000;
const coders = (...names: string[]) =>
  names.map((name) => ({ agent: 'builtin', model: `anthropic/scripted-${name}` }));
const settings = (more: object) => stringify({ budget: { run: 2, candidate: 0.5 }, ...more });

test('nothing survives: no pull request, an honest table on the issue', { timeout: 3 * MINUTES }, () =>
  onStage({ settings: settings({ candidates: 2, coders: coders('mole', 'idle') }) }, async (stage) => {
    const issue = await stage.label();
    const view = await stage.run(issue);

    expect(view.state).toBe('published');
    expect(view.decision).toMatchObject({ kind: 'none', decidedBy: 'gates' });
    expect(await stage.theatre.github.as(MAINTAINER).pulls(REPOSITORY)).toEqual([]);
    const comments = await stage.comments(issue);
    expect(comments.filter((c) => c.includes(`runoff:outcome:${view.id}`))).toHaveLength(1);
    expect(await stage.labels(issue)).toEqual(['auto-dev', 'auto-dev:none']);
  }),
);

test(
  'somebody without write permission labels: a reaction, no comment, no run',
  { timeout: 2 * MINUTES },
  () =>
    onStage({ collaborators: { tess: 'triage' } }, async (stage) => {
      const issue = await stage.label('tess');
      const view = await stage.run(issue);

      expect(view.state).toBe('refused');
      expect(view.candidates).toEqual([]);
      expect(await stage.comments(issue)).toEqual([]);
      expect(stage.theatre.github.reactions.map((r) => r.content)).toEqual(['confused']);
    }),
);

test('the settings file has a mistake: refused with line and suggestion', { timeout: 2 * MINUTES }, () =>
  onStage({ settings: 'candidates: 4\ncandidate: 3\n' }, async (stage) => {
    const issue = await stage.label();
    const view = await stage.run(issue);

    expect(view.state).toBe('refused');
    const [comment] = await stage.comments(issue);
    expect(comment).toContain('auto-dev.yml:2:1');
    expect(comment).toContain('candidates');
  }),
);

test(
  'the tests do not run on the base commit: it ends before a coder is paid',
  { timeout: 2 * MINUTES },
  () =>
    onStage(
      { settings: settings({ candidates: 1, coders: coders('heron'), checks: { test: 'exit 7' } }) },
      async (stage) => {
        const issue = await stage.label();
        const view = await stage.run(issue);

        expect(view.state).toBe('failed');
        expect(view.trouble).toMatchObject({
          code: 'BASE_BROKEN',
          message: expect.stringContaining('exit code 7'),
        });
        expect(view.candidates).toEqual([]);
        expect(await stage.labels(issue)).toEqual(['auto-dev', 'auto-dev:failed']);
      },
    ),
);

test(
  'the label is taken off while coders work: cancelled, nothing left running',
  { timeout: 2 * MINUTES },
  () =>
    onStage({ settings: settings({ candidates: 2, coders: coders('stork') }) }, async (stage) => {
      const issue = await stage.label();
      await stage.run(issue, (view) => view.candidates.filter((c) => c.state === 'coding').length === 2);
      await stage.theatre.github.as(MAINTAINER).removeLabel(REPOSITORY, issue, 'auto-dev');
      const view = await stage.run(issue);

      expect(view.state).toBe('cancelled');
      expect(view.candidates.map((c) => c.state)).toEqual(['cancelled', 'cancelled']);
      await stage.theatre.github.settled();
      expect(await stage.labels(issue)).toEqual([]);
    }),
);

test(
  'a coder that never answers is stopped at its time limit, the others go on',
  { timeout: 3 * MINUTES },
  () =>
    onStage(
      {
        settings: settings({
          candidates: 2,
          coders: coders('stork', 'heron'),
          timeout: { candidate: '12s', silence: '10s' },
        }),
      },
      async (stage) => {
        const view = await stage.run(await stage.label());
        const stork = view.candidates.find((c) => c.contestant.model.endsWith('stork'));
        const heron = view.candidates.find((c) => c.contestant.model.endsWith('heron'));

        expect(stork).toMatchObject({ state: 'failed', note: expect.stringContaining('stopped') });
        expect(view.decision).toMatchObject({ kind: 'winner', alias: heron?.alias });
      },
    ),
);

test('the same delivery twice, and the same label replayed, make one run', { timeout: 3 * MINUTES }, () =>
  onStage({ settings: settings({ candidates: 1, coders: coders('heron') }) }, async (stage) => {
    const issue = await stage.label();
    await stage.run(issue);
    const { github, world } = stage.theatre;
    const labelled = github.deliveries.find((d) => d.event === 'issues' && d.action === 'labeled');
    await github.redeliver(labelled?.guid ?? '');

    expect((await world.store.runs(10)).length).toBe(1);
    expect(await github.as(MAINTAINER).pulls(REPOSITORY)).toHaveLength(1);
  }),
);
