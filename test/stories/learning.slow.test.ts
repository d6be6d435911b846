import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { git } from '../../packages/local-github/test/github-world.ts';
import { MAINTAINER, REPOSITORY } from '../../src/demo/environment.ts';
import { settleOutcomes } from '../../src/runs/index.ts';
import { shellOver } from '../cli/shell.ts';
import { type DemoApp, withDemoApp } from '../world/demo-app.ts';

const SETTINGS = stringify({
  budget: { run: 2, candidate: 0.5 },
  checks: { build: 'node scripts/build.mjs', test: 'node --test' },
  coders: 'auto',
  candidates: 2,
  evaluator: ['evidence', 'human'],
  adaptive: { repair: false, oneMore: false },
});
const MODELS = ['anthropic/scripted-heron', 'openai/scripted-otter'];

async function clone(
  demo: DemoApp,
  branch: string,
  work: (folder: string, token: string) => Promise<unknown>,
) {
  const { github } = demo.environment;
  const folder = await mkdtemp(join(tmpdir(), 'runoff-clone-'));
  const token = github.token(MAINTAINER);
  const url = `${github.url}/${REPOSITORY.owner}/${REPOSITORY.name}.git`;
  try {
    await git(folder, ['clone', '--quiet', '--branch', branch, url, '.'], token);
    await work(folder, token);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test('a run with a drawn field leaves outcomes that follow the pick, the merge, its edits and its revert', () =>
  withDemoApp({ settings: SETTINGS, environment: { MULTI_AGENT_MODELS: MODELS.join(',') } }, async (demo) => {
    const { github, world } = demo.environment;
    const issue = await demo.label();
    const view = await demo.run(issue);
    expect(view.state).toBe('awaiting_pick');
    expect(view.learned?.[0]).toMatch(/^`coders: auto` chose 2 contestants of 8 for a bug/);
    for (const { contestant } of view.candidates) expect(MODELS).toContain(contestant?.model);
    const outcomes = () => world.store.outcomes({ runs: 9 });
    await expect.poll(async () => (await outcomes()).length, { timeout: 240_000 }).toBe(2);
    expect((await outcomes()).map(({ kind, language, pick }) => ({ kind, language, pick }))).toEqual([
      { kind: 'bug', language: 'js', pick: null },
      { kind: 'bug', language: 'js', pick: null },
    ]);
    const survivors = view.ranking.filter(({ survivor }) => survivor);
    const other = survivors.at(-1)?.alias ?? '?';

    // A person picks the last, edits it, and merges.
    await github.as(MAINTAINER).comment(REPOSITORY, issue, `/auto-dev pick ${other}`);
    const { outcome } = await demo.run(issue, ({ state }) => state === 'published');
    if (outcome?.kind !== 'pull') throw new Error('There is not a pull request.');
    await clone(demo, outcome.branch, async (folder, token) => {
      await writeFile(join(folder, 'src', 'csv.js'), '// Rewritten by hand.\n', { flag: 'a' });
      await git(folder, ['commit', '--quiet', '--all', '--message', 'A note']);
      await git(folder, ['push', '--quiet', 'origin', `HEAD:${outcome.branch}`], token);
    });
    await github.as(MAINTAINER).readyForReview(REPOSITORY, outcome.number);
    await github.as(MAINTAINER).mergePull(REPOSITORY, outcome.number);
    await demo.run(issue, ({ state }) => state === 'merged');
    await expect
      .poll(async () => (await outcomes()).find(({ alias }) => alias === other)?.pull?.state, {
        timeout: 240_000,
      })
      .toBe('merged');
    await settleOutcomes(world);
    const merged = (await outcomes()).find(({ alias }) => alias === other);
    expect(merged).toMatchObject({ pick: 'this', shown: true, pull: { state: 'merged', revertedAt: null } });
    expect(merged?.pull?.edited).toBeGreaterThan(0);
    expect(merged?.pull?.edited).toBeLessThan(0.5);

    // The leaderboard knows it, from the command line.
    const cli = shellOver(world);
    expect(await cli.type('leaderboard', '--repo', 'ALICE/tally', '--kind', 'bug')).toBe(0);
    expect(cli.out()).toContain('1 run of the kind `bug` in alice/tally');
    expect(cli.out()).toContain('1 merge came after people had edited the code.');

    // It is taken back.
    await clone(demo, 'main', async (folder, token) => {
      // Runoff looks at the last 90 days.
      const today = new Date().toISOString();
      await git(folder, ['revert', '--no-edit', '-m', '1', 'HEAD'], token, today);
      await git(folder, ['push', '--quiet', 'origin', 'HEAD:main'], token);
    });
    await settleOutcomes(world);
    expect((await outcomes()).find(({ alias }) => alias === other)?.pull?.revertedAt).toBeGreaterThan(0);
  }));
