import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Actor } from '../../src/core/model/index.ts';
import type { GitHub, GitHubReader, Publisher, RepositoryHandle } from '../../src/ports/index.ts';

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
  reactions(target: { issue: number } | { comment: number }): Promise<readonly string[]>;
  /** Pushes a branch with one commit over `main`. */
  push(branch: string): Promise<string>;
  closePull(number: number): Promise<void>;
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
      expect(await reader.issue(number)).toEqual({
        number,
        title: 'Broken',
        body: 'It is.',
        open: true,
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
    });

    test('reads over a hundred comments, oldest first', async () => {
      const issue = await bench.openIssue({ title: 'Long talk' });
      for (let i = 1; i <= 103; i++) await bench.comment('bob', issue, `comment ${i}`);
      const comments = await reader.comments(issue);
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

    test('reacts to issues and comments, as often as it is told', async () => {
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
      const [comment] = await reader.comments(issue);
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
      expect((await reader.comments(issue)).map(({ body }) => body)).toEqual(['mine']);
    });

    test('adds and removes labels of its own', async () => {
      const issue = await bench.openIssue({ title: 'Label', labels: ['bug', 'auto-dev'] });
      await publisher.setLabels(issue, { add: ['auto-dev:running'], remove: ['auto-dev'] });
      expect(await bench.labels(issue)).toEqual(['bug', 'auto-dev:running']);
      await publisher.setLabels(issue, { add: ['auto-dev:running'], remove: ['auto-dev:never-there'] });
      expect(await bench.labels(issue)).toEqual(['bug', 'auto-dev:running']);
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
      expect(await reader.comments(pull.number)).toHaveLength(1);
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

    test('no pull request comes from a branch that is not its own', async () => {
      await bench.push('feature');
      const pull = { head: 'feature', base: 'main', title: 'x', body: '' };
      await expect(publisher.openDraftPull(pull)).rejects.toMatchObject({ code: 'INTERNAL' });
    });

    test('a branch that was never pushed is refused', async () => {
      const pull = { head: 'auto-dev/9/r1/A', base: 'main', title: 'x', body: '' };
      await expect(publisher.openDraftPull(pull)).rejects.toMatchObject({ code: 'GITHUB_REFUSED' });
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

    test('there is no publisher for a repository that is not ours', async () => {
      const foreign = { ...bench.repository, repositoryId: 4711 };
      await expect(bench.github.publisher(foreign)).rejects.toMatchObject({ code: 'GITHUB_REFUSED' });
    });
  });
}
