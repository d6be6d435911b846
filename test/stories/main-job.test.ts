import { describe, expect, test } from 'vitest';
import { runJson } from '../../src/cli/index.ts';
import { MAINTAINER, REPOSITORY } from '../../src/demo/environment.ts';
import { withDemoApp } from '../world/demo-app.ts';

describe('a maintainer labels an issue', () => {
  test('and the candidate that survives the evidence becomes a draft pull request', () =>
    withDemoApp({}, async (demo) => {
      const issue = await demo.label();
      const view = await demo.run(issue);
      const document = runJson(view);

      expect(document.run.state).toBe('published');
      expect(document.run.stages.map((s) => s.stage)).toEqual([
        'admit',
        'brief',
        'code',
        'examine',
        'judge',
        'publish',
      ]);
      const by = Object.fromEntries(
        view.candidates.map((c) => [c.contestant?.model.split('/scripted-')[1], c.alias]),
      );
      const gates = (name: string) => view.evidence.find((e) => e.alias === by[name])?.gates ?? [];
      const failed = (name: string) => gates(name).find((gate) => !gate.passed);

      // The outcome is decided by what really executed.
      expect(view.decision).toMatchObject({
        kind: 'winner',
        alias: by.heron,
        confidence: 'clear',
        decidedBy: 'independent',
      });
      expect(failed('heron')).toBeUndefined();
      expect(failed('otter')).toBeUndefined();
      expect(failed('mole')).toMatchObject({ gate: 'untampered', hunk: expect.stringContaining('-') });
      expect(failed('wren')).toMatchObject({ gate: expect.stringMatching(/parses|builds/) });
      const otter = view.evidence.find((e) => e.alias === by.otter);
      expect(otter?.baseTests?.regressions).toEqual([]);
      expect(otter?.peerTests[0]?.passed).toBeLessThan(otter?.peerTests[0]?.total ?? 0);

      // Every candidate was metered.
      for (const candidate of view.candidates) expect(candidate.usage?.usd).toBeGreaterThan(0);

      // One draft pull request, from our branch, that closes the issue by our own line only.
      const pulls = await demo.environment.github.as(MAINTAINER).pulls(REPOSITORY);
      expect(pulls).toHaveLength(1);
      expect(pulls[0]).toMatchObject({
        draft: true,
        state: 'open',
        head: { ref: `auto-dev/${issue}/${view.id}/${by.heron}` },
        base: { ref: 'main' },
      });
      expect(pulls[0]?.body).toContain(`Fixes #${issue}`);

      // The comparison with every losing diff stands on it.
      const [comparison, ...more] = await demo.comments(pulls[0]?.number ?? 0);
      expect(more).toEqual([]);
      expect(comparison).toContain(`<!-- runoff:comparison:${view.id} -->`);
      for (const name of ['otter', 'mole', 'wren']) expect(comparison).toContain(`scripted-${name}`);
      expect(comparison?.match(/^`{3,}diff$/gm)?.length).toBeGreaterThanOrEqual(3);

      // The issue tells its end: one status comment, label and reactions.
      const comments = await demo.comments(issue);
      expect(comments).toHaveLength(1);
      expect(comments[0]).toContain(`#${pulls[0]?.number}`);
      expect(await demo.labels(issue)).toEqual(['auto-dev:done']);
      const reactions = demo.environment.github.reactions.filter((r) => r.target === `issues/${issue}`);
      expect(reactions.map((r) => r.content).toSorted()).toEqual(['eyes', 'rocket']);

      // The same delivery once more, with the same label in it, makes no second run.
      const { github, world } = demo.environment;
      const labelled = github.deliveries.find((d) => d.event === 'issues' && d.action === 'labeled');
      await github.redeliver(labelled?.guid ?? '');
      await github.settled();
      expect(await world.store.runs(10)).toHaveLength(1);
      expect(await github.as(MAINTAINER).pulls(REPOSITORY)).toHaveLength(1);
    }));
});
