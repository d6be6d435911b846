import { createHash } from 'node:crypto';
import { Fault, type Sha } from '../../src/core/model/index.ts';
import { findMarker } from '../../src/core/reports/index.ts';
import type {
  CheckRun,
  CommentFacts,
  GitHub,
  GitHubReader,
  IssueFacts,
  LabelChange,
  Labelled,
  People,
  Permission,
  Publisher,
  PullDetails,
  RepositoryHandle,
  Workspaces,
} from '../../src/ports/index.ts';
import { inPages } from '../world/pages.ts';
import { partial } from '../world/partial.ts';
import { APP, mona } from './dialogue-world.ts';

export const REPOSITORY = 42;
export const SHA = '3f2a9c81d04be7765a1b2c3d4e5f60718293a4b5';

interface Pull extends Omit<PullDetails, 'headSha'> {
  /** Of a branch that is not in this repository. */
  readonly foreignSha?: Sha;
}

/** One repository on a pretended GitHub, with git: it keeps what was written, and stories change what it says. */
export interface Repository {
  readonly handle: RepositoryHandle;
  /** Its present name, if it was renamed since runs and tokens were stored. */
  renamed?: string;
  issue: IssueFacts;
  /** Issues that `findIssue` does not find. */
  readonly deleted: Set<number>;
  readonly labels: Map<number, Set<string>>;
  readonly comments: (CommentFacts & { readonly on: number; body: string })[];
  /** `900 eyes` on a comment, `line 900 eyes` on a line, `#7 eyes` on an issue. */
  readonly reactions: string[];
  readonly pulls: Map<number, Pull>;
  readonly branches: Map<string, Sha>;
  readonly checks: CheckRun[];
  readonly folded: number[];
  /** What `labelled` answers. */
  wanted: readonly Labelled[];
  /** What `labelChange` answers, of any label. */
  labelChange: LabelChange | null;
  installedAt: number;
  rights: Record<number, Permission>;
  /** What GitHub does at calls of this name, in place of an answer. */
  readonly trouble: Map<string, () => never>;
  nextId: number;
  readonly now: () => number;
}

export const down = (): never => {
  throw new Fault('GITHUB_UNAVAILABLE', 'GitHub answered 502.');
};
export const forbidden = (): never => {
  throw new Fault('GITHUB_REFUSED', 'GitHub answered 403: Resource not accessible by integration.');
};

export const newRepository = (now: () => number, over: Partial<RepositoryHandle> = {}): Repository => ({
  handle: { installationId: 1, repositoryId: REPOSITORY, owner: 'acme', name: 'lists', ...over },
  issue: {
    number: 7,
    title: 'last() returns undefined',
    body: 'It should return the last item.',
    open: true,
    locked: false,
    isPull: false,
    labels: [],
    author: { id: mona.id, login: mona.login },
  },
  deleted: new Set(),
  labels: new Map(),
  comments: [],
  reactions: [],
  pulls: new Map(),
  branches: new Map([['main', SHA]]),
  checks: [],
  folded: [],
  wanted: [],
  labelChange: null,
  installedAt: 0,
  rights: { [mona.id]: 'write' },
  trouble: new Map(),
  nextId: 1_000,
  now,
});

export const pullOf = (repository: Repository, number: number): PullDetails | null => {
  const found = repository.pulls.get(number);
  if (!found) return null;
  const { foreignSha, ...pull } = found;
  return { ...pull, headSha: foreignSha ?? repository.branches.get(pull.head) ?? SHA };
};

/** Opens a pull request of somebody's. */
export function openPull(repository: Repository, number: number, over: Partial<Pull> = {}): void {
  repository.pulls.set(number, {
    number,
    url: `https://github.test/acme/lists/pull/${number}`,
    draft: false,
    head: 'rounding',
    base: 'main',
    body: '',
    title: 'Round half up',
    author: { id: 8, login: 'ada' },
    state: 'open',
    headRepositoryId: repository.handle.repositoryId,
    ...over,
  });
}

const labelsOf = (repository: Repository, on: number): Set<string> => {
  const found = repository.labels.get(on) ?? new Set<string>();
  repository.labels.set(on, found);
  return found;
};

function issueOf(repository: Repository, number: number): IssueFacts {
  const labels = [...labelsOf(repository, number)];
  return { ...repository.issue, number, isPull: repository.pulls.has(number), labels };
}

function readerOf(repository: Repository): GitHubReader {
  const asked = (name: string) => repository.trouble.get(name)?.();
  return partial<GitHubReader>({
    async repository() {
      asked('repository');
      const { owner, name: former, repositoryId } = repository.handle;
      const name = repository.renamed ?? former;
      const htmlUrl = `https://github.test/${owner}/${name}`;
      const facts = { private: false, archived: false, defaultBranch: 'main', htmlUrl };
      return { ...facts, id: repositoryId, fullName: `${owner}/${name}`, cloneUrl: `${htmlUrl}.git` };
    },
    async issue(number: number) {
      asked('issue');
      return issueOf(repository, number);
    },
    async findIssue(number: number) {
      asked('issue');
      return repository.deleted.has(number) ? null : issueOf(repository, number);
    },
    commentPages: (on: number) => inPages(repository.comments.filter((one) => one.on === on)),
    async permission({ id }: { id: number }) {
      asked('permission');
      return repository.rights[id] ?? 'none';
    },
    async pullByHead(branch: string) {
      const found = [...repository.pulls.values()].find(({ head }) => head === branch);
      return found ? pullOf(repository, found.number) : null;
    },
    async pull(number: number) {
      asked('pull');
      return pullOf(repository, number);
    },
    branchHead: async (branch: string) => repository.branches.get(branch) ?? null,
    async labelled() {
      asked('labelled');
      return repository.wanted;
    },
    async labelChange() {
      asked('labelChange');
      return repository.labelChange;
    },
  });
}

function write(repository: Repository, on: number, body: string) {
  const id = ++repository.nextId;
  const at = repository.now();
  const url = `https://github.test/c/${id}`;
  const author = { id: 1, login: 'runoff[bot]' };
  const facts = { author, authorIsBot: true, association: 'NONE', performedByAppId: APP };
  repository.comments.push({ id, on, body, url, ...facts, createdAt: at, updatedAt: at });
  return { id, url };
}

function publisherOf(repository: Repository): Publisher {
  const asked = (name: string) => repository.trouble.get(name)?.();
  return {
    async react(target, reaction) {
      asked('react');
      const on =
        'issue' in target
          ? `#${target.issue}`
          : 'comment' in target
            ? target.comment
            : `line ${target.reviewComment}`;
      repository.reactions.push(`${on} ${reaction}`);
    },
    async comment(on, body) {
      asked('comment');
      return write(repository, on, body);
    },
    async editComment(id, body) {
      asked('editComment');
      const found = repository.comments.find((one) => one.id === id);
      if (!found) throw new Fault('GITHUB_REFUSED', `There is no comment ${id}.`);
      found.body = body;
    },
    async setLabels(issue, { add, remove }) {
      const labels = labelsOf(repository, issue);
      for (const one of remove) labels.delete(one);
      for (const one of add) labels.add(one);
    },
    async openDraftPull({ head, base, title, body }) {
      asked('openDraftPull');
      const number = 11 + repository.pulls.size;
      openPull(repository, number, {
        head,
        base,
        title,
        body,
        draft: true,
        author: { id: 1, login: 'runoff[bot]' },
      });
      return pullOf(repository, number) as PullDetails;
    },
    async editPull(number, text) {
      asked('editPull');
      const found = repository.pulls.get(number);
      if (found) repository.pulls.set(number, { ...found, ...text });
    },
    async showCheck(check) {
      repository.checks.push(check);
    },
    async minimise(comment) {
      repository.folded.push(comment);
    },
    deleteBranch: () => Promise.reject(new Error('No test of commands deletes a branch.')),
    credential: async () => ({ username: 'x', password: 'y' }),
    async close() {},
  };
}

/** A GitHub of these repositories, each found by its number. */
export function pretendedGitHub(repositories: readonly Repository[]): GitHub {
  const find = ({ repositoryId }: RepositoryHandle): Repository => {
    const found = repositories.find(({ handle }) => handle.repositoryId === repositoryId);
    if (!found) throw new Fault('GITHUB_REFUSED', `There is no repository ${repositoryId}.`);
    found.trouble.get('reader')?.();
    return found;
  };
  return {
    appId: APP,
    asPublished: (text) => text,
    people: partial<People>({}),
    repositories: async () => repositories.map(({ handle, installedAt }) => ({ ...handle, installedAt })),
    reader: async (handle) => readerOf(find(handle)),
    publisher: async (handle) => publisherOf(find(handle)),
  };
}

/** Git without files: a commit is the hash of what it says, a push keeps to the promises of the port. */
export const pretendedGit = (repository: Repository): Workspaces =>
  partial<Workspaces>({
    prepare: async (_: unknown, sha: Sha) => ({ sha, repositoryKey: 'key', lower: '/', layers: [] }),
    commit: async (_: unknown, spec: object) => createHash('sha1').update(JSON.stringify(spec)).digest('hex'),
    async push(_: unknown, _remote: unknown, name: string, sha: Sha, onto?: Sha) {
      repository.trouble.get('push')?.();
      const at = repository.branches.get(name) ?? null;
      if (at !== sha && at !== (onto ?? null)) return { kind: 'exists', at };
      repository.branches.set(name, sha);
      return { kind: 'pushed' };
    },
    // Where it was collected is where it is picked.
    holds: async () => true,
    sweep: async () => [],
  });

/** What we answered to a comment, without the hidden line; null where nothing was. */
export function answerTo({ comments }: Repository, comment: number): string | null {
  const found = comments.filter(({ body }) => findMarker(body)?.run === `c${comment}`);
  if (found.length > 1) throw new Error(`Comment ${comment} was answered ${found.length} times.`);
  return found[0] ? found[0].body.split('\n').slice(2).join('\n').trim() : null;
}
