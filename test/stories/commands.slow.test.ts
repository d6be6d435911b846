import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { MAINTAINER, REPOSITORY } from '../../src/demo/environment.ts';
import { type DemoApp, PERSON_PICKS, withDemoApp } from '../world/demo-app.ts';

const run = promisify(execFile);

/** The first comment there that holds all of these texts, once there is one. */
async function comment(demo: DemoApp, on: number, ...texts: readonly string[]) {
  const { github, world } = demo.environment;
  for (const until = Date.now() + 120_000; Date.now() < until; await world.clock.sleep(50)) {
    const all = await github.as(MAINTAINER).comments(REPOSITORY, on);
    const found = all.find(({ body }) => texts.every((text) => body.includes(text)));
    if (found) return found;
  }
  const all = (await github.as(MAINTAINER).comments(REPOSITORY, on)).map(({ body }) => body.slice(0, 500));
  throw new Error(`No comment on #${on} says ${texts.join(' and ')}, but: ${all.join('\n---\n')}`);
}

test('a person picks by a tick, starts a review run, picks another candidate, and releases CI', () =>
  withDemoApp({ settings: PERSON_PICKS, collaborators: { bob: 'push', tess: 'triage' } }, async (demo) => {
    const { github, world } = demo.environment;
    const as = (login: string) => github.as(login);
    const issue = await demo.label();
    const view = await demo.run(issue);
    const by = Object.fromEntries(
      view.candidates.map((c) => [c.contestant?.model.split('scripted-')[1], c.alias]),
    ) as Record<'heron' | 'otter', string>;

    // Nothing is opened: the comparison is on the issue, with a box for each.
    expect(view.state).toBe('awaiting_pick');
    expect(await as(MAINTAINER).pulls(REPOSITORY)).toEqual([]);
    expect(await demo.labels(issue)).toEqual(['auto-dev:pick']);
    const choice = await comment(demo, issue, 'runoff:choice');
    expect(choice.body.match(/^- \[ \] /gm)).toHaveLength(3);

    // Who may not write is not heard; a writer's vote is counted.
    await as('tess').comment(REPOSITORY, issue, `/auto-dev pick ${by.heron}`);
    await as('bob').comment(REPOSITORY, issue, `/auto-dev vote ${by.heron}`);
    await comment(demo, issue, 'runoff:choice', '`bob`');
    expect(await as(MAINTAINER).pulls(REPOSITORY)).toEqual([]);

    // A tick decides. What was not picked stays a branch.
    const now = await comment(demo, issue, 'runoff:choice');
    const line = now.body
      .split('\n')
      .find((each) => each.startsWith('- [ ] ') && each.includes(`**${by.otter}**`));
    const path = `/repos/${REPOSITORY.owner}/${REPOSITORY.name}/issues/comments/${now.id}`;
    await as(MAINTAINER).request('PATCH', path, {
      body: now.body.replace(line ?? '?', (line ?? '').replace('[ ]', '[x]')),
    });
    const published = await demo.run(issue, ({ state }) => state === 'published');
    const outcome = published.outcome;
    if (outcome?.kind !== 'pull') throw new Error('There is not a pull request.');
    const pullOf = async (number: number) =>
      (await as(MAINTAINER).pulls(REPOSITORY)).find((one) => one.number === number);
    expect(await pullOf(outcome.number)).toMatchObject({ draft: true, head: { ref: outcome.branch } });
    expect(outcome.branch).toMatch(new RegExp(`/${by.otter}$`));
    await comment(demo, outcome.number, 'runoff:comparison');
    await comment(demo, issue, 'runoff:choice', '`alice`');
    expect(await world.store.picks(view.id)).toMatchObject([
      { alias: by.otter, by: { login: MAINTAINER }, shown: { votes: { [by.heron]: 1 } } },
    ]);

    // A review is answered by a run on the branch, whose result goes into that branch.
    await as('bob').comment(REPOSITORY, outcome.number, 'ignored: no command');
    await as('bob').commentOnLine(REPOSITORY, outcome.number, {
      path: 'src/csv.js',
      line: 1,
      body: 'Quotes that are doubled are read wrongly.',
    });
    await as('bob').comment(REPOSITORY, outcome.number, '/auto-dev review');
    const second = await demo.run(outcome.number, ({ state }) => state === 'awaiting_pick');
    expect(second.base?.ref).toBe(outcome.branch);
    const secondHeron = second.candidates.find((c) => c.contestant?.model.endsWith('heron'))?.alias ?? '?';
    await as('bob').comment(REPOSITORY, outcome.number, `/auto-dev pick ${secondHeron}`);
    const stacked = (await demo.run(outcome.number, ({ state }) => state === 'published')).outcome;
    if (stacked?.kind !== 'pull') throw new Error('There is no stacked pull request.');
    expect(await pullOf(stacked.number)).toMatchObject({ draft: true, base: { ref: outcome.branch } });
    expect((await pullOf(stacked.number))?.body).not.toMatch(/Fixes #/);

    // Another pick puts the other candidate's files on top of the branch; nobody codes again, nothing is forced.
    const bare = github.directory(REPOSITORY.owner, REPOSITORY.name);
    const git = async (...args: string[]) => (await run('git', ['-C', bare, ...args])).stdout.trim();
    const before = await git('rev-parse', outcome.branch);
    const spent = (await world.store.usage(view.id)).usd;
    await as(MAINTAINER).comment(REPOSITORY, issue, `/auto-dev pick ${by.heron}`);
    await comment(demo, outcome.number, 'runoff:comparison', `**${by.heron}** — picked by`);
    const after = await git('rev-parse', outcome.branch);
    expect(await git('rev-parse', `${after}^`)).toBe(before);
    const branch = `auto-dev/${issue}/${view.id}/${by.heron}`;
    expect(await git('rev-parse', `${after}^{tree}`)).toBe(await git('rev-parse', `${branch}^{tree}`));
    expect(await git('log', '-1', '--format=%B', after)).toContain('[skip ci]');
    expect((await world.store.usage(view.id)).usd).toBe(spent);

    // CI is held until somebody says so.
    await as('bob').comment(REPOSITORY, issue, '/auto-dev ci');
    await as('bob').comment(REPOSITORY, issue, `/auto-dev explain ${by.otter}`);
    const explained = await comment(demo, issue, 'runoff:reply', `### Candidate ${by.otter}`);
    expect(explained.body).not.toMatch(/^\/auto-dev/m);
    const released = await git('rev-parse', outcome.branch);
    expect(await git('rev-parse', `${released}^`)).toBe(after);
    expect(await git('log', '-1', '--format=%B', released)).not.toMatch(/skip/i);

    // Who asked for what, and what came of it.
    const { repositoryId } = github.handle(REPOSITORY.owner, REPOSITORY.name);
    const audit = async () =>
      (await world.store.commands(repositoryId, 20)).map(
        (one) => `${one.by.login}: ${one.text} ${one.outcome?.kind}`,
      );
    await expect
      .poll(audit, { timeout: 240_000 })
      .toEqual([
        `bob: /auto-dev explain ${by.otter} done`,
        'bob: /auto-dev ci done',
        `alice: /auto-dev pick ${by.heron} done`,
        `bob: /auto-dev pick ${secondHeron} done`,
        'bob: /auto-dev review done',
        `alice: /auto-dev pick ${by.otter} done`,
        `bob: /auto-dev vote ${by.heron} done`,
        `tess: /auto-dev pick ${by.heron} ignored`,
      ]);
  }));

test('a person keeps the commands that a run found, by a draft pull request that never changes a file', () =>
  withDemoApp({ settings: PERSON_PICKS }, async (demo) => {
    const { github, world } = demo.environment;
    const as = github.as(MAINTAINER);
    const bare = github.directory(REPOSITORY.owner, REPOSITORY.name);
    const git = async (...args: string[]) => (await run('git', ['-C', bare, ...args])).stdout.trim();
    const issue = await demo.label();
    const view = await demo.run(issue);

    await as.comment(REPOSITORY, issue, '/auto-dev settings');
    await comment(
      demo,
      issue,
      'runoff:reply',
      'exists already, and Runoff never changes it',
      '`test: "node --test"`',
    );

    // Without the file, the same command opens the pull request, once.
    const head = await git('rev-parse', 'main');
    const index = { ...process.env, GIT_INDEX_FILE: `${demo.environment.home}/index` };
    const script = `set -e; git read-tree main; git rm -q --cached .github/auto-dev.yml
      tree=$(git write-tree); git -c user.name=a -c user.email=a@b.c commit-tree -p main -m 'No settings' $tree`;
    const without = await run('sh', ['-c', script], { cwd: bare, env: index });
    await git('update-ref', 'refs/heads/main', without.stdout.trim(), head);
    await as.comment(REPOSITORY, issue, '/auto-dev settings');
    await comment(demo, issue, 'runoff:reply', 'The draft pull request #2 keeps the commands');
    const opened = (await as.pulls(REPOSITORY)).filter(({ head: { ref } }) =>
      ref.startsWith('auto-dev/settings/'),
    );
    expect(opened).toMatchObject([
      { draft: true, base: { ref: 'main' }, head: { ref: `auto-dev/settings/${view.id}` } },
    ]);
    expect(opened[0]?.body).toContain('| `test: node --test` |');
    const branch = `auto-dev/settings/${view.id}`;
    expect(await git('diff', '--name-status', 'main', branch)).toBe('A\t.github/auto-dev.yml');
    expect(await git('show', `${branch}:.github/auto-dev.yml`)).toBe(
      'checks:\n  build: "node scripts/build.mjs"\n  test: "node --test"',
    );
    await as.comment(REPOSITORY, issue, '/auto-dev settings');
    await demo.environment.github.settled();
    expect(await as.pulls(REPOSITORY)).toHaveLength(1);
    expect((await world.store.usage(view.id)).usd).toBeGreaterThan(0);
  }));
