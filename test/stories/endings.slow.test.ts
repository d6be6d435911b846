import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { MAINTAINER, REPOSITORY } from '../../src/demo/environment.ts';
import { withDemoApp } from '../world/demo-app.ts';

const coders = (...names: string[]) =>
  names.map((name) => ({ agent: 'builtin', model: `anthropic/scripted-${name}` }));
/** As the sample's scripts have them; npm takes longer to start than they take. */
const CHECKS = { build: 'node scripts/build.mjs', test: 'node --test' };
const settings = (more: object) => stringify({ budget: { run: 2, candidate: 0.5 }, checks: CHECKS, ...more });

test('without a survivor there is a table and no pull request, and the label starts a new run', () =>
  withDemoApp({ settings: settings({ candidates: 2, coders: coders('mole', 'idle') }) }, async (demo) => {
    const issue = await demo.label();
    const view = await demo.run(issue);

    expect(view.state).toBe('published');
    expect(view.decision).toMatchObject({ kind: 'none', decidedBy: 'regressions' });
    expect(view.budget.spent).toBeLessThanOrEqual(view.budget.run);
    const maintainer = demo.environment.github.as(MAINTAINER);
    expect(await maintainer.pulls(REPOSITORY)).toEqual([]);
    const tables = (await demo.comments(issue)).filter((c) => c.includes(`runoff:outcome:${view.id}`));
    expect(tables).toHaveLength(1);
    // The one that its author was asked to mend stands in it as well.
    expect(view.candidates.map(({ contestant }) => contestant?.round?.kind)).toEqual([
      undefined,
      undefined,
      'repair',
    ]);
    for (const { alias } of view.candidates) expect(tables[0]).toContain(`**${alias}**`);
    expect(await demo.labels(issue)).toEqual(['auto-dev:none']);

    await maintainer.addLabel(REPOSITORY, issue, 'auto-dev');
    const second = await demo.run(issue, (again) => again.id !== view.id && again.state !== 'queued');
    expect(second.state).not.toBe('refused');
    await maintainer.closeIssue(REPOSITORY, issue);
    expect((await demo.run(issue, ({ state }) => state === 'cancelled')).id).toBe(second.id);
  }));

test('a label by somebody without write access gets one refusal and starts no run', () =>
  withDemoApp({ collaborators: { tess: 'triage' } }, async (demo) => {
    const issue = await demo.label('tess');
    const view = await demo.run(issue);

    expect(view.state).toBe('refused');
    expect(view.candidates).toEqual([]);
    const [said, ...more] = await demo.comments(issue);
    expect(said).toContain('starting a run requires write access to this repository');
    expect(more).toEqual([]);
    expect(await demo.labels(issue)).toEqual([]);
    expect(demo.environment.github.reactions.map((r) => r.content)).toEqual(['confused']);
  }));

test('a mistake in the settings file is refused with line and suggestion', () =>
  withDemoApp({ settings: 'candidates: 4\ncandidate: 3\n' }, async (demo) => {
    const issue = await demo.label();
    const view = await demo.run(issue);

    expect(view.state).toBe('refused');
    const [comment] = await demo.comments(issue);
    expect(comment).toContain('auto-dev.yml:2:1');
    expect(comment).toContain('candidates');
  }));

test('a build that fails on the base commit ends the run before a coder is paid', () =>
  withDemoApp(
    {
      settings: settings({
        candidates: 1,
        coders: coders('heron'),
        checks: { build: 'exit 7', test: 'true' },
      }),
    },
    async (demo) => {
      const issue = await demo.label();
      const view = await demo.run(issue);

      expect(view.state).toBe('failed');
      expect(view.trouble).toMatchObject({
        code: 'BASE_BROKEN',
        message: expect.stringContaining('exit code 7'),
      });
      expect(view.candidates).toEqual([]);
      expect(await demo.labels(issue)).toEqual(['auto-dev:failed']);
    },
  ));

test('removing the running label during coding cancels the run, and leaves nothing running', () =>
  withDemoApp({ settings: settings({ candidates: 2, coders: coders('stork') }) }, async (demo) => {
    const issue = await demo.label();
    await demo.run(issue, (view) => view.candidates.filter((c) => c.state === 'coding').length === 2);
    await demo.environment.github.as(MAINTAINER).removeLabel(REPOSITORY, issue, 'auto-dev:running');
    // The run is cancelled before its candidates are.
    await demo.environment.github.settled();
    const view = await demo.run(issue);

    expect(view.state).toBe('cancelled');
    expect(view.candidates.map((c) => c.state)).toEqual(['cancelled', 'cancelled']);
    await demo.environment.github.settled();
    expect(await demo.labels(issue)).toEqual([]);
  }));

test('a coder that never answers is stopped, and the others continue', () =>
  withDemoApp(
    {
      settings: settings({
        candidates: 2,
        coders: coders('stork', 'heron'),
        evaluator: ['evidence'],
        timeout: { candidate: '5m', silence: '15s' },
      }),
    },
    async (demo) => {
      const view = await demo.run(await demo.label());
      const stork = view.candidates.find((c) => c.contestant?.model.endsWith('stork'));
      const heron = view.candidates.find((c) => c.contestant?.model.endsWith('heron'));

      expect(stork).toMatchObject({ state: 'failed', note: 'stopped: it exceeded the output-silence limit' });
      expect(view.decision).toMatchObject({ kind: 'winner', alias: heron?.alias });
    },
  ));
