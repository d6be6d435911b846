import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Actor } from '../../src/core/model/index.ts';
import type {
  GitHub,
  GitHubReader,
  Publisher,
  ReactionTarget,
  RepositoryHandle,
} from '../../src/ports/index.ts';
import { allOf } from '../world/pages.ts';

/** What the suite needs besides the port: people on the other side, and their eyes. */
export interface GitHubBench {
  readonly github: GitHub;
  /** Owned by `alice`; `bob` may push, `tess` may triage, `mallory` has no role. */
  readonly repository: RepositoryHandle;
  readonly isPrivate: boolean;
  /** Where the repository is fetched from. */
  readonly cloneUrl: string;
  account(login: string): Promise<Actor>;
  /** The App's own account. */
  bot(): Promise<Actor>;
  openIssue(issue: { title: string; body?: string; labels?: string[] }): Promise<number>;
  comment(login: string, issue: number, body: string): Promise<number>;
  labels(issue: number): Promise<readonly string[]>;
  reactions(target: ReactionTarget): Promise<readonly string[]>;
  /** Pushes a branch with one commit over `main`. */
  push(branch: string): Promise<string>;
  closePull(number: number): Promise<void>;
  mergePull(number: number): Promise<void>;
  /** `bob` opens a pull request from a branch that is there. */
  openPull(head: string): Promise<number>;
  /** `mallory` opens a pull request from a branch of a fork; null where they cannot. */
  openForkPull(): Promise<number | null>;
  review(login: string, pull: number, body: string): Promise<void>;
  commentOnLine(
    login: string,
    pull: number,
    at: { path: string; line?: number },
    body: string,
  ): Promise<number>;
  /** A check of another App, and a status. */
  check(sha: string, check: { name: string; conclusion: string; summary?: string }): Promise<void>;
  status(sha: string, status: { context: string; state: string; description?: string }): Promise<void>;
  /** The check runs of this App on a commit. */
  ownChecks(
    sha: string,
  ): Promise<readonly { externalId: string | null; conclusion: string | null; title: string | null }[]>;
  /** Ids of comments that are folded. */
  minimised(): readonly number[];
  label(login: string, issue: number, label: string): Promise<void>;
  unlabel(issue: number, label: string): Promise<void>;
  closeIssue(issue: number): Promise<void>;
  rename(name: string): Promise<void>;
  archive(archived: boolean): Promise<void>;
  /** The owner suspends the App, or lets it go on. */
  suspend(suspended: boolean): Promise<void>;
  /** The owner takes the repository out of the installation, or puts it back. */
  install(installed: boolean): Promise<void>;
  setRole(login: string, role: 'push' | 'pull'): Promise<void>;
  /** Does this git password let its holder read, and write, the repository? */
  tries(password: string): Promise<{ readonly fetch: boolean; readonly push: boolean }>;
  close(): Promise<void>;
}

/** The promises of the GitHub port. */
export function githubContract(name: string, open: () => Promise<GitHubBench>): void {
  describe(`GitHub, ${name}`, () => {
    let bench: GitHubBench;
    let reader: GitHubReader;
    let publisher: Publisher;

    beforeAll(async () => {
      bench = await open();
      reader = await bench.github.reader(bench.repository);
      publisher = await bench.github.publisher(bench.repository);
    });
    afterAll(async () => {
      await publisher.close();
      await bench.close();
    });

    test('tells what the repository is and where to fetch it', async () => {
      expect(await reader.repository()).toMatchObject({
        id: bench.repository.repositoryId,
        fullName: 'alice/demo',
        private: bench.isPrivate,
        archived: false,
        defaultBranch: 'main',
        cloneUrl: bench.cloneUrl,
      });
    });

    test('refuses another repository that has taken the name', async () => {
      const other = { ...bench.repository, repositoryId: bench.repository.repositoryId + 1 };
      const stranger = await bench.github.reader(other);
      await expect(stranger.repository()).rejects.toMatchObject({ code: 'GITHUB_REFUSED' });
    });

    test('reads an issue with its labels and author', async () => {
      const number = await bench.openIssue({ title: 'Broken', body: 'It is.', labels: ['auto-dev'] });
      const found = await reader.issue(number);
      expect(await reader.findIssue(number)).toEqual(found);
      expect(found).toEqual({
        number,
        title: 'Broken',
        body: 'It is.',
        open: true,
        locked: false,
        isPull: false,
        labels: ['auto-dev'],
        author: await bench.account('alice'),
      });
    });

    test('an issue without a body has an empty one', async () => {
      expect(await reader.issue(await bench.openIssue({ title: 'Short' }))).toMatchObject({ body: '' });
    });

    test('an issue that is not there is refused', async () => {
      await expect(reader.issue(4711)).rejects.toMatchObject({ code: 'GITHUB_REFUSED' });
      expect(await reader.findIssue(4711)).toBeNull();
    });

    test('reads over a hundred comments, oldest first', async () => {
      const issue = await bench.openIssue({ title: 'Long talk' });
      for (let i = 1; i <= 103; i++) await bench.comment('bob', issue, `comment ${i}`);
      const comments = await allOf(reader.commentPages(issue));
      expect(comments.map((comment) => comment.body)).toEqual(
        Array.from({ length: 103 }, (_, i) => `comment ${i + 1}`),
      );
      expect(comments[0]).toMatchObject({ author: await bench.account('bob'), authorIsBot: false });
      expect(comments[0]?.performedByAppId).toBeNull();
      expect(comments[0]?.updatedAt).toBe(comments[0]?.createdAt);
    });

    test.each([
      ['alice', 'admin'],
      ['bob', 'write'],
      ['tess', 'triage'],
    ])('%s has the permission %s', async (login, permission) => {
      expect(await reader.permission(await bench.account(login))).toBe(permission);
    });

    test('an outsider may read what is public and nothing else', async () => {
      const permission = await reader.permission(await bench.account('mallory'));
      expect(permission).toBe(bench.isPrivate ? 'none' : 'read');
    });

    test('a login that belongs to another account has no permission', async () => {
      const mallory = await bench.account('mallory');
      expect(await reader.permission({ id: mallory.id, login: 'alice' })).toBe('none');
    });

    test('an App has no permission', async () => {
      expect(await reader.permission(await bench.bot())).toBe('none');
    });

    test('a permission that was taken away is gone at once', async () => {
      const bob = await bench.account('bob');
      await bench.setRole('bob', 'pull');
      expect(await reader.permission(bob)).toBe('read');
      await bench.setRole('bob', 'push');
      expect(await reader.permission(bob)).toBe('write');
    });

    test('reacts to issues and comments, with each reaction once', async () => {
      const issue = await bench.openIssue({ title: 'React' });
      const comment = await bench.comment('alice', issue, '/auto-dev status');
      await publisher.react({ issue }, 'eyes');
      await publisher.react({ issue }, 'eyes');
      await publisher.react({ comment }, '-1');
      expect(await bench.reactions({ issue })).toEqual(['eyes']);
      expect(await bench.reactions({ comment })).toEqual(['-1']);
    });

    test('comments, and knows its own comment again', async () => {
      const issue = await bench.openIssue({ title: 'Comment' });
      const { id, url } = await publisher.comment(issue, 'Started.');
      await publisher.editComment(id, 'Done.');
      const [comment] = await allOf(reader.commentPages(issue));
      expect(comment).toMatchObject({
        id,
        url,
        body: 'Done.',
        author: await bench.bot(),
        authorIsBot: true,
        performedByAppId: bench.github.appId,
      });
      expect(comment?.updatedAt).toBeGreaterThanOrEqual(comment?.createdAt ?? 0);
    });

    test('never edits what somebody else wrote', async () => {
      const issue = await bench.openIssue({ title: 'Hands off' });
      const comment = await bench
        .comment('mallory', issue, 'mine')
        .catch(() => bench.comment('alice', issue, 'mine'));
      await expect(publisher.editComment(comment, 'theirs')).rejects.toMatchObject({ code: 'INTERNAL' });
      expect((await allOf(reader.commentPages(issue))).map(({ body }) => body)).toEqual(['mine']);
    });

    test('adds and removes labels of its own', async () => {
      const issue = await bench.openIssue({ title: 'Label', labels: ['bug', 'auto-dev'] });
      await publisher.setLabels(issue, { add: ['auto-dev:running'], remove: ['auto-dev'] });
      expect(await bench.labels(issue)).toEqual(['bug', 'auto-dev:running']);
      await publisher.setLabels(issue, { add: ['auto-dev:running'], remove: ['auto-dev:never-there'] });
      expect(await bench.labels(issue)).toEqual(['bug', 'auto-dev:running']);
    });

    test('removes its own label whatever its letter case', async () => {
      const issue = await bench.openIssue({ title: 'Label', labels: ['Auto-Dev', 'bug'] });
      await publisher.setLabels(issue, { add: [], remove: ['auto-dev'] });
      expect(await bench.labels(issue)).toEqual(['bug']);
    });

    test.each(['bug', 'auto-developer', 'Auto-dev:x', ''])('leaves the label %j alone', async (label) => {
      const issue = await bench.openIssue({ title: 'Label', labels: ['bug'] });
      const change = { add: [], remove: [label] };
      await expect(publisher.setLabels(issue, change)).rejects.toMatchObject({ code: 'INTERNAL' });
      expect(await bench.labels(issue)).toEqual(['bug']);
    });

    test('opens a draft pull request and finds it again', async () => {
      const issue = await bench.openIssue({ title: 'Fix me' });
      const head = `auto-dev/${issue}/r1/A`;
      expect(await reader.pullByHead(head)).toBeNull();
      const sha = await bench.push(head);
      const body = `Fixes #${issue}`;
      const pull = await publisher.openDraftPull({ head, base: 'main', title: 'Fix', body });
      expect(pull).toMatchObject({ draft: true, head, headSha: sha, base: 'main', body });
      expect(await reader.pullByHead(head)).toEqual(pull);
      expect(await reader.issue(pull.number)).toMatchObject({ isPull: true, title: 'Fix', open: true });

      await publisher.comment(pull.number, 'The comparison.');
      expect(await allOf(reader.commentPages(pull.number))).toHaveLength(1);
      await publisher.react({ issue: pull.number }, 'rocket');
      expect(await bench.reactions({ issue: pull.number })).toEqual(['rocket']);

      const again = publisher.openDraftPull({ head, base: 'main', title: 'Fix', body });
      await expect(again).rejects.toMatchObject({
        code: 'GITHUB_REFUSED',
        message: expect.stringContaining('already exists'),
      });
      await bench.closePull(pull.number);
      expect(await reader.pullByHead(head)).toMatchObject({ number: pull.number });
    });

    test('lists open pull requests with their files', async () => {
      await bench.push('shelf');
      const number = await bench.openPull('shelf');
      await bench.push('gone');
      const closed = await bench.openPull('gone');
      await bench.closePull(closed);
      const found = await reader.openPulls();
      expect(found).toContainEqual({
        number,
        head: 'shelf',
        headRepositoryId: bench.repository.repositoryId,
      });
      const { files, hasMore } = await reader.pullFiles(number);
      expect(hasMore).toBe(false);
      expect(files.length).toBeGreaterThan(0);
      expect(await reader.pullFiles(number)).toEqual({ files, hasMore });
      expect(found.map((one) => one.number)).not.toContain(closed);
    });

    test('reads a pull request with where its code comes from', async () => {
      const sha = await bench.push('topic');
      const number = await bench.openPull('topic');
      expect(await reader.pull(number)).toMatchObject({
        number,
        title: 'From topic',
        author: await bench.account('bob'),
        state: 'open',
        draft: false,
        head: 'topic',
        headSha: sha,
        base: 'main',
        headRepositoryId: bench.repository.repositoryId,
      });
      await bench.closePull(number);
      expect(await reader.pull(number)).toMatchObject({ state: 'closed' });
      expect(await reader.pull(4711)).toBeNull();
      const issue = await bench.openIssue({ title: 'No pull request' });
      expect(await reader.pull(issue)).toBeNull();
    });

    test('a merged pull request says so', async () => {
      await bench.push('merged');
      const number = await bench.openPull('merged');
      await bench.mergePull(number);
      expect(await reader.pull(number)).toMatchObject({ state: 'merged' });
    });

    test('a pull request from a fork comes from another repository', async () => {
      const number = await bench.openForkPull();
      if (number === null) return expect(bench.isPrivate).toBe(true);
      const found = await reader.pull(number);
      expect(found?.headRepositoryId).toEqual(expect.any(Number));
      expect(found?.headRepositoryId).not.toBe(bench.repository.repositoryId);
    });

    test('edits the text of its own pull request, and no other', async () => {
      await bench.push('auto-dev/edit/r1/A');
      const text = { title: 'Fix', body: 'First.' };
      const pull = await publisher.openDraftPull({ head: 'auto-dev/edit/r1/A', base: 'main', ...text });
      await publisher.editPull(pull.number, { title: 'Fix it', body: 'Second.' });
      expect(await reader.pull(pull.number)).toMatchObject({ title: 'Fix it', body: 'Second.' });

      await bench.push('auto-dev/of-a-person');
      await bench.push('theirs');
      for (const head of ['theirs', 'auto-dev/of-a-person']) {
        const number = await bench.openPull(head);
        const edit = publisher.editPull(number, { title: 'x', body: 'x' });
        await expect(edit).rejects.toMatchObject({ code: 'INTERNAL' });
        expect(await reader.pull(number)).toMatchObject({ title: `From ${head}` });
      }
    });

    test('reads what was said in reviews and on lines, oldest first', async () => {
      await bench.push('reviewed');
      const pull = await bench.openPull('reviewed');
      const remarks = async () => [
        ...(await allOf(reader.remarkPages(pull, 'reviews'))),
        ...(await allOf(reader.remarkPages(pull, 'lines'))),
      ];
      expect(await remarks()).toEqual([]);
      await bench.review('alice', pull, 'Not yet.');
      const comment = await bench.commentOnLine('bob', pull, { path: 'fix.txt', line: 1 }, 'Why this?');
      await bench.commentOnLine('alice', pull, { path: 'fix.txt' }, 'The whole file.');
      const [words, line, file, ...more] = await remarks();
      const alice = await bench.account('alice');
      expect(words).toEqual({
        author: alice,
        authorIsBot: false,
        association: expect.stringMatching(/^[A-Z_]+$/),
        body: 'Not yet.',
        createdAt: expect.any(Number),
        updatedAt: expect.any(Number),
      });
      expect(line).toMatchObject({
        author: await bench.account('bob'),
        body: 'Why this?',
        path: 'fix.txt',
        line: 1,
      });
      expect(file).toMatchObject({ author: alice, path: 'fix.txt' });
      expect(file).not.toHaveProperty('line');
      expect(more).toEqual([]);
      expect(line?.updatedAt).toBeGreaterThanOrEqual(words?.updatedAt ?? Number.POSITIVE_INFINITY);

      await publisher.react({ reviewComment: comment }, 'rocket');
      expect(await bench.reactions({ reviewComment: comment })).toEqual(['rocket']);
    });

    test('reads checks and statuses that failed, and not its own', async () => {
      const sha = await bench.push('checked');
      expect(await reader.failedChecks(sha)).toEqual([]);
      await bench.check(sha, { name: 'lint', conclusion: 'success' });
      await bench.check(sha, { name: 'unit', conclusion: 'failure', summary: 'x'.repeat(9_000) });
      await bench.check(sha, { name: 'slow', conclusion: 'timed_out' });
      await bench.check(sha, { name: 'flaky', conclusion: 'failure' });
      await bench.check(sha, { name: 'flaky', conclusion: 'success' });
      await bench.status(sha, { context: 'ci/old', state: 'failure', description: 'Build 7 failed.' });
      await bench.status(sha, { context: 'ci/well', state: 'error' });
      await bench.status(sha, { context: 'ci/well', state: 'success' });
      const own = { headSha: sha, externalId: 'r7', title: 'Nothing', summary: 'None.' } as const;
      await publisher.showCheck({ ...own, conclusion: 'failure' });

      const failed = await reader.failedChecks(sha);
      expect(failed.map(({ name, conclusion }) => `${name} ${conclusion}`)).toEqual([
        'ci/old failure',
        'slow timed_out',
        'unit failure',
      ]);
      expect(failed[0]?.text).toBe('Build 7 failed.');
      expect(failed[2]?.text).toHaveLength(4_000);
    });

    test('shows one check for each run, updated when shown again', async () => {
      const sha = await bench.push('shown');
      const check = { headSha: sha, externalId: 'r1', title: 'B wins', summary: 'By its tests.' } as const;
      await publisher.showCheck({ ...check, conclusion: 'neutral' });
      await publisher.showCheck({ ...check, conclusion: 'success', title: 'A wins' });
      await publisher.showCheck({ ...check, externalId: 'r2', conclusion: 'failure' });
      const shown = await bench.ownChecks(sha);
      expect(shown).toHaveLength(2);
      expect(shown).toContainEqual({ externalId: 'r1', conclusion: 'success', title: 'A wins' });
      expect(shown).toContainEqual({ externalId: 'r2', conclusion: 'failure', title: 'B wins' });
    });

    test('folds its own comment, and no other', async () => {
      const issue = await bench.openIssue({ title: 'Fold' });
      const { id } = await publisher.comment(issue, 'Old news.');
      await publisher.minimise(id);
      expect(bench.minimised()).toContain(id);
      const theirs = await bench.comment('alice', issue, 'mine');
      await expect(publisher.minimise(theirs)).rejects.toMatchObject({ code: 'INTERNAL' });
      expect(bench.minimised()).not.toContain(theirs);
    });

    test('tells what a branch points to now', async () => {
      expect(await reader.branchHead('topics/new')).toBeNull();
      const sha = await bench.push('topics/new');
      expect(await reader.branchHead('topics/new')).toBe(sha);
      expect(await reader.branchHead('topics')).toBeNull();
    });

    test('lists open issues with a label, and who set it last', async () => {
      const label = 'auto-dev:listed';
      expect(await reader.labelled(label, 0)).toEqual([]);
      const first = await bench.openIssue({ title: 'First' });
      const second = await bench.openIssue({ title: 'Second' });
      const closed = await bench.openIssue({ title: 'Closed' });
      const before = Date.now() - 1_000;
      await bench.label('alice', first, label);
      await bench.unlabel(first, label);
      await bench.label('bob', first, label);
      await publisher.setLabels(second, { add: [label], remove: [] });
      await bench.label('alice', closed, label);
      await bench.closeIssue(closed);
      const found = await reader.labelled(label, before);
      expect(found.map(({ issue }) => issue.number)).toEqual([first, second]);
      expect(found[0]?.set).toMatchObject({ by: await bench.account('bob'), byBot: false });
      expect(found[0]?.set?.at).toBeGreaterThan(before);
      expect(found[1]?.set).toMatchObject({ by: await bench.bot(), byBot: true });
      for (const { set, touchedAt } of found) expect(touchedAt + 1_000).toBeGreaterThan(set?.at ?? 0);
      expect(await reader.labelled(label, Date.now() + 60_000)).toEqual([]);
    });

    test('reads the last event of a label, its author and time', async () => {
      const label = 'auto-dev:changed';
      const alice = await bench.account('alice');
      await bench.push('changed');
      const pull = await bench.openPull('changed');
      for (const number of [await bench.openIssue({ title: 'Changed' }), pull]) {
        const before = Date.now() - 1_000;
        expect(await reader.labelChange(number, label)).toBeNull();
        await publisher.setLabels(number, { add: [label], remove: [] });
        expect(await reader.labelChange(number, label)).toMatchObject({
          how: 'set',
          by: await bench.bot(),
          byBot: true,
        });
        await bench.unlabel(number, label);
        await bench.label('bob', number, 'auto-dev:other');
        const last = await reader.labelChange(number, 'Auto-Dev:Changed');
        expect(last).toMatchObject({ how: 'taken-off', by: alice, byBot: false });
        expect(last?.at).toBeGreaterThan(before);
      }
    });

    test('no pull request comes from a branch that is not its own', async () => {
      await bench.push('feature');
      const pull = { head: 'feature', base: 'main', title: 'x', body: '' };
      await expect(publisher.openDraftPull(pull)).rejects.toMatchObject({ code: 'INTERNAL' });
    });

    test('a branch that was never pushed is refused', async () => {
      const pull = { head: 'auto-dev/9/r1/A', base: 'main', title: 'x', body: '' };
      await expect(publisher.openDraftPull(pull)).rejects.toMatchObject({ code: 'GITHUB_REFUSED' });
    });

    test("deletes only a candidate's branch that is unchanged and has no open pull request", async () => {
      const branch = (letter: string) => `auto-dev/4/r000000000x/${letter}`;
      const sha = await bench.push(branch('A'));
      const other = 'f'.repeat(40);
      expect(await publisher.deleteBranch(branch('A'), other)).toBe('moved');
      const pull = await bench.openPull(branch('A'));
      expect(await publisher.deleteBranch(branch('A'), sha)).toBe('shown');
      expect(await reader.branchHead(branch('A'))).toBe(sha);
      await bench.closePull(pull);
      expect(await publisher.deleteBranch(branch('A'), sha)).toBe('deleted');
      expect(await reader.branchHead(branch('A'))).toBeNull();
      expect(await publisher.deleteBranch(branch('A'), sha)).toBe('gone');

      const main = await reader.branchHead('main');
      for (const foreign of ['main', 'auto-dev/mine', 'auto-dev/4/r000000000x/../../../main'])
        await expect(publisher.deleteBranch(foreign, main ?? '')).rejects.toMatchObject({ code: 'INTERNAL' });
      expect(await reader.branchHead('main')).toBe(main);
    });

    test("the reader's credential fetches; the publisher's pushes too", async () => {
      const read = await reader.credential();
      const write = await publisher.credential();
      expect(await bench.tries(read.password)).toEqual({ fetch: true, push: false });
      expect(await bench.tries(write.password)).toEqual({ fetch: true, push: true });
    });

    test('a closed publisher gives its tokens back', async () => {
      const short = await bench.github.publisher(bench.repository);
      const { password } = await short.credential();
      await short.close();
      expect(await bench.tries(password)).toEqual({ fetch: false, push: false });
      await expect(short.comment(1, 'late')).rejects.toMatchObject({ code: 'INTERNAL' });
    });

    test('continues under a new repository name', async () => {
      const issue = await bench.openIssue({ title: 'Moving' });
      const known = await reader.repository();
      await bench.rename('moved');
      try {
        expect(await reader.issue(issue)).toMatchObject({ title: 'Moving' });
        expect(await reader.repository()).toMatchObject({
          id: known.id,
          fullName: 'alice/moved',
          cloneUrl: bench.cloneUrl.replace('/demo.git', '/moved.git'),
        });
        await publisher.comment(issue, 'Still here.');
        const late = await bench.github.reader(bench.repository);
        expect(await allOf(late.commentPages(issue))).toHaveLength(1);
      } finally {
        await bench.rename('demo');
      }
      expect(await reader.issue(issue)).toMatchObject({ title: 'Moving' });
    });

    test('reports an archived repository, which accepts no writes', async () => {
      const issue = await bench.openIssue({ title: 'Frozen' });
      await bench.archive(true);
      try {
        expect(await reader.repository()).toMatchObject({ archived: true });
        await expect(publisher.comment(issue, 'x')).rejects.toMatchObject({ code: 'GITHUB_REFUSED' });
      } finally {
        await bench.archive(false);
      }
    });

    test('lists the current installations of the App', async () => {
      const installed = [{ ...bench.repository, installedAt: expect.any(Number) }];
      expect(await bench.github.repositories()).toEqual(installed);
      expect((await bench.github.repositories())[0]?.installedAt).toBeLessThanOrEqual(Date.now());
      await bench.install(false);
      expect(await bench.github.repositories()).toEqual([]);
      await bench.install(true);
      await bench.suspend(true);
      expect(await bench.github.repositories()).toEqual([]);
      const suspended = bench.github.publisher(bench.repository);
      await expect(suspended).rejects.toMatchObject({ code: 'GITHUB_REFUSED' });
      await bench.suspend(false);
      expect(await bench.github.repositories()).toEqual(installed);
    });

    test('there is no publisher for a repository that is not ours', async () => {
      const foreign = { ...bench.repository, repositoryId: 4711 };
      await expect(bench.github.publisher(foreign)).rejects.toMatchObject({ code: 'GITHUB_REFUSED' });
    });
  });
}
