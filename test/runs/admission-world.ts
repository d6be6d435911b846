import { Fault, type GitHubOrigin, type Task } from '../../src/core/model/index.ts';
import type {
  CommentFacts,
  FailedCheck,
  GitHub,
  GitHubReader,
  IssueFacts,
  LabelChange,
  People,
  Permission,
  Publisher,
  PullDetails,
  Remark,
  RepositoryFacts,
} from '../../src/ports/index.ts';
import { admit, permit, type RunRequest } from '../../src/runs/admit/index.ts';
import { loadRun } from '../../src/runs/context.ts';
import type { World } from '../../src/runs/index.ts';
import { memoryArtifacts, memoryStore } from '../world/memory-store.ts';
import { githubOrigin } from '../world/origin.ts';
import { inPages } from '../world/pages.ts';
import { partial } from '../world/partial.ts';
import { silent } from '../world/silent-log.ts';
import { clockAt, coderNamed, quietAnnouncer } from '../world/stand-ins.ts';

export const APP = 77;
export const mona = { id: 5, login: 'mona' };
export const tria = { id: 6, login: 'tria' };
export const mallory = { id: 9, login: 'mallory' };
/** Noon of a day. */
export const NOON = 20_000 * 86_400_000 + 43_200_000;
export const MAIN = 'a'.repeat(40);
export const HEAD = 'b'.repeat(40);

const RULES = 'checks: { test: npm test }\n';

export const ORIGIN: GitHubOrigin = githubOrigin();

/** A repository on GitHub as it is now; stories change it. */
export interface RepositoryNow {
  facts: RepositoryFacts;
  /** Stands for every issue, each with labels of its own. */
  issue: IssueFacts;
  /** Issues whose label was taken off. */
  readonly unlabelled: Set<number>;
  pull: PullDetails | null;
  comments: CommentFacts[];
  remarks: Remark[];
  /** Who did what to the label last. */
  labelChange: LabelChange | null;
  checks: FailedCheck[];
  /** By user id; a function is what asking GitHub does. */
  rights: Record<number, Permission | (() => Promise<unknown>)>;
  /** Ref or commit → commit. */
  refs: Record<string, string>;
  /** Which of them are branches. */
  branches: string[];
  /** `commit:path` → text. */
  files: Record<string, string>;
  caps: {
    runsOfRepository: number;
    runsOfUser: number;
    runsOfInstallation: number;
    budgetOfUser: number;
    budgetOfInstallation: number;
  };
  now: number;
}

const scene = (): RepositoryNow => ({
  facts: {
    id: 42,
    fullName: 'acme/shop',
    private: false,
    archived: false,
    defaultBranch: 'main',
    htmlUrl: 'https://github.test/acme/shop',
    cloneUrl: 'https://github.test/acme/shop.git',
  },
  issue: {
    number: 7,
    title: 'Rounding',
    body: 'It is wrong.',
    open: true,
    locked: false,
    isPull: false,
    labels: ['auto-dev'],
    author: mona,
  },
  unlabelled: new Set(),
  pull: {
    number: 12,
    url: 'https://github.test/p/12',
    draft: false,
    title: 'Round half up',
    author: mona,
    state: 'open',
    head: 'rounding',
    headSha: HEAD,
    headRepositoryId: 42,
    base: 'main',
    body: '',
  },
  comments: [],
  remarks: [],
  checks: [],
  labelChange: null,
  rights: { [mona.id]: 'write', [tria.id]: 'triage', [mallory.id]: 'read' },
  refs: { main: MAIN, [HEAD]: HEAD },
  branches: ['main', 'rounding'],
  files: { [`${MAIN}:.github/auto-dev.yml`]: RULES },
  caps: {
    runsOfRepository: 50,
    runsOfUser: 20,
    runsOfInstallation: 200,
    budgetOfUser: 50,
    budgetOfInstallation: 100,
  },
  now: NOON,
});

const UNUSED = 'no story of admission comes here';
const unused = async (): Promise<never> => {
  throw new Error(UNUSED);
};

function readerOf(now: RepositoryNow): GitHubReader {
  return {
    repository: async () => now.facts,
    issue: async (number) => {
      const labels = now.issue.labels.filter((one) => one !== 'auto-dev' || !now.unlabelled.has(number));
      return { ...now.issue, number, labels };
    },
    findIssue: unused,
    commentPages: () => inPages(now.comments),
    async permission({ id }) {
      const right = now.rights[id] ?? 'none';
      return (typeof right === 'function' ? await right() : right) as Permission;
    },
    pull: async () => now.pull,
    openPulls: unused,
    pullFiles: unused,
    remarkPages: (_pull, of) =>
      inPages(now.remarks.filter(({ path }) => (path === undefined) === (of === 'reviews'))),
    failedChecks: async (sha) => (sha === now.pull?.headSha ? now.checks : []),
    pullByHead: unused,
    branchHead: async (branch) => (now.branches.includes(branch) ? (now.refs[branch] ?? null) : null),
    labelled: unused,
    labelChange: async () => now.labelChange,
    credential: unused,
  };
}

/** Writes down what is written, and takes labels off as GitHub does. */
function publisherOf(now: RepositoryNow, written: string[]): Publisher {
  return {
    async react(target, reaction) {
      written.push(`${JSON.stringify(target)} ${reaction}`);
    },
    async comment(issue, body) {
      if (now.issue.locked)
        throw new Fault('GITHUB_REFUSED', 'Unable to create comment because issue is locked.');
      written.push(`#${issue}: ${body}`);
      return { id: 1_000 + written.length, url: `https://github.test/c/${written.length}` };
    },
    async setLabels(issue, { add, remove }) {
      written.push(`#${issue} labels ${[...add.map((one) => `+${one}`), ...remove.map((one) => `-${one}`)]}`);
      if (remove.includes('auto-dev')) now.unlabelled.add(issue);
    },
    async close() {},
    editComment: unused,
    openDraftPull: unused,
    editPull: unused,
    showCheck: unused,
    minimise: unused,
    deleteBranch: unused,
    credential: unused,
  };
}

/** Admission against a pretended GitHub: all it reads is in `now`, all it writes in `written`. */
export function admissionWorld() {
  const now = scene();
  const written: string[] = [];
  const reader = readerOf(now);
  const store = memoryStore();
  const artifacts = memoryArtifacts();
  const github = {
    appId: APP,
    asPublished: (text: string) => text,
    people: partial<People>({}),
    reader: async () => reader,
    publisher: async () => publisherOf(now, written),
    repositories: unused,
  } satisfies GitHub;
  const world = partial<World>({
    store,
    artifacts,
    github,
    ...machine(now),
    ceilings: {
      candidates: 6,
      budgetRun: 10,
      budgetCandidate: 5,
      timeoutCandidateSeconds: 7_200,
      runSeconds: 86_400,
      networkAllow: [],
      debates: true,
      get day() {
        return now.caps;
      },
    },
    announcer: quietAnnouncer,
    clock: clockAt(() => now.now),
    log: silent,
  });

  let runs = 0;
  /** Asks for a run as intake does: the run is stored before anything is decided. */
  async function ask(
    origin: Partial<GitHubOrigin> = {},
    over: Partial<RunRequest> = {},
  ): Promise<RunRequest> {
    runs += 1;
    const runId = `r${String(runs).padStart(10, '0')}`;
    const text = { title: now.issue.title, body: await artifacts.put(now.issue.body) };
    const request: RunRequest = {
      runId,
      text,
      triggeredAt: now.now,
      overrides: {},
      trigger: 'label',
      ...over,
    };
    const from = { ...ORIGIN, ...origin };
    await store.createRun({ id: runId, origin: from, title: text.title, request, at: now.now });
    return request;
  }
  const decide = async (request: RunRequest): Promise<'go' | 'refused'> => {
    const run = await loadRun(world, request.runId);
    return (await permit(world, run, request)) === 'go' ? admit(world, run, request) : 'refused';
  };
  async function start(origin: Partial<GitHubOrigin> = {}, over: Partial<RunRequest> = {}) {
    const request = await ask(origin, over);
    const answer = await decide(request);
    const run = await store.run(request.runId);
    return { answer, run, request, trouble: run?.trouble?.message };
  }
  const taskOf = async (request: RunRequest): Promise<Task | undefined> =>
    (await store.run(request.runId))?.task;
  /** Of what was written, the comments. */
  const said = () => written.filter((one) => one.includes('<!-- runoff:'));
  return { now, world, store, written, said, ask, decide, start, taskOf };
}

/** What settings need of the machine: one coder, tests that are known, a sandbox. */
const machine = (now: RepositoryNow) => ({
  workspaces: {
    resolve: async (_: unknown, ref: string) => now.refs[ref] ?? null,
    readFile: async (_: unknown, sha: string, path: string) => now.files[`${sha}:${path}`] ?? null,
    listFiles: async () => ['package.json'],
    messages: async () => [],
  },
  coders: new Map([['builtin', coderNamed('builtin')]]),
  gateway: { route: (model: string) => ({ protocol: 'anthropic', model }) as const, defaultModels: () => [] },
  defaults: { models: ['anthropic/claude-sonnet-5'], providers: ['anthropic'] },
  prompts: {
    coder: new Map([['plain', 'Do it.']]),
    personas: new Map(['qa', 'product', 'security'].map((name) => [name, { spec: '', code: '' }])),
  },
  sandbox: {
    probe: async () => ({ kind: 'ready', backend: 'bubblewrap', detail: 'test', weaker: [] }) as const,
  },
});

export const comment = (
  author: { id: number; login: string },
  body: string,
  over: Partial<CommentFacts> = {},
): CommentFacts => ({
  id: 1,
  author,
  authorIsBot: false,
  association: 'MEMBER',
  body,
  url: 'https://github.test/c/1',
  performedByAppId: null,
  createdAt: NOON - 1,
  updatedAt: NOON - 1,
  ...over,
});

export const remark = (
  author: { id: number; login: string },
  body: string,
  over: Partial<Remark> = {},
): Remark => ({
  author,
  authorIsBot: false,
  association: 'MEMBER',
  body,
  createdAt: NOON - 1,
  updatedAt: NOON - 1,
  ...over,
});
