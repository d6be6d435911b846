import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type GitHubContract, openGitHubContract } from '../contract/contract.ts';
import { type Delivery, type LocalGitHub, type Role, startLocalGitHub } from '../src/index.ts';

const run = promisify(execFile);

interface GitHubWorldOptions {
  /** Files of the first commit by path. Default: a small package with one test that fails. */
  readonly files?: Readonly<Record<string, string>>;
  /** Default: alice (owner), bob, tess, mallory. */
  readonly users?: readonly string[];
  /** Default: bob may push, tess may triage; mallory is an outsider. */
  readonly collaborators?: Readonly<Record<string, Role>>;
  /** Default false. */
  readonly private?: boolean;
  readonly onDelivery?: (delivery: Delivery) => void;
}

export interface GitHubWorld {
  readonly github: LocalGitHub;
  /** The repository `alice/demo`. */
  readonly repository: { readonly owner: string; readonly name: string };
  /** Every watched call and every webhook, checked against GitHub's own descriptions. */
  readonly contract: GitHubContract;
  /** A fetch for the App under test, whose calls the contract watches. */
  readonly fetch: typeof fetch;
  /** From now on, webhooks go to this address. */
  deliverTo(url: string): void;
  /** Pushes one commit on top of `main` to a branch, with this token; resolves with its SHA. */
  push(branch: string, files: Readonly<Record<string, string>>, token: string): Promise<string>;
  close(): Promise<void>;
}

const SAMPLE: Readonly<Record<string, string>> = {
  'README.md': '# demo\n',
  'package.json': '{"name":"demo","type":"module","scripts":{"test":"node --test"}}\n',
  'src/add.js': 'export const add = (a, b) => a - b;\n',
  'test/add.test.js':
    "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { add } from '../src/add.js';\n\ntest('adds', () => assert.equal(add(1, 2), 3));\n",
};

/** A local GitHub with one small repository, `alice/demo`, that records what breaks GitHub's contract. */
export async function openGitHubWorld(options: GitHubWorldOptions = {}): Promise<GitHubWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'github-world-'));
  const repository = { owner: 'alice', name: 'demo' };
  const contract = openGitHubContract();
  const watched = contract.watch(fetch, '/api/v3');
  let hook: string | undefined;
  const source = join(folder, 'source');
  try {
    await mkdir(source);
    await commitFiles(source, options.files ?? SAMPLE);
    const github = await startLocalGitHub({
      users: options.users ?? ['alice', 'bob', 'tess', 'mallory'],
      collaborators: options.collaborators ?? { bob: 'push', tess: 'triage' },
      repositories: [{ ...repository, from: source, private: options.private ?? false }],
      webhookUrl: () => hook,
      fetch: watched,
      onDelivery: (delivery) => {
        contract.webhook(delivery.event, delivery.payload);
        options.onDelivery?.(delivery);
      },
    });
    return {
      github,
      repository,
      contract,
      fetch: watched,
      deliverTo: (url) => {
        hook = url;
      },
      push: async (branch, changed, token) => {
        const clone = join(folder, `clone-${branch.replaceAll('/', '-')}`);
        const remote = `${github.url}/${repository.owner}/${repository.name}.git`;
        await git(folder, ['clone', '--quiet', remote, clone], token);
        await writeFiles(clone, changed);
        await git(clone, ['add', '--all']);
        await git(clone, ['commit', '--quiet', '--message', `Change ${branch}`]);
        await git(clone, ['push', '--quiet', 'origin', `HEAD:refs/heads/${branch}`], token);
        const sha = (await git(clone, ['rev-parse', 'HEAD'])).trim();
        await rm(clone, { recursive: true, force: true });
        return sha;
      },
      close: async () => {
        await github.close();
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Makes a repository of one commit; same files, same commit. */
export async function commitFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  await writeFiles(folder, files);
  await git(folder, ['init', '--quiet', '--initial-branch', 'main']);
  await git(folder, ['add', '--all']);
  await git(folder, ['commit', '--quiet', '--message', 'First commit']);
}

async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

/** When commits are made unless a test says otherwise, so that the same files make the same commit. */
const DATE = '2026-01-02T03:04:05Z';

/** Runs git as nobody in particular; a token goes by the environment only. Rejects with git's own words. */
export async function git(
  folder: string,
  args: readonly string[],
  token?: string,
  date = DATE,
): Promise<string> {
  const basic = Buffer.from(`x-access-token:${token ?? ''}`).toString('base64');
  const env = {
    PATH: process.env.PATH,
    HOME: '/nonexistent',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_AUTHOR_NAME: 'Alice',
    GIT_AUTHOR_EMAIL: 'alice@example.com',
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: 'Alice',
    GIT_COMMITTER_EMAIL: 'alice@example.com',
    GIT_COMMITTER_DATE: date,
    ...(token === undefined
      ? {}
      : {
          GIT_CONFIG_COUNT: '1',
          GIT_CONFIG_KEY_0: 'http.extraHeader',
          GIT_CONFIG_VALUE_0: `Authorization: Basic ${basic}`,
        }),
  };
  return (await run('git', ['-C', folder, ...args], { env })).stdout;
}
