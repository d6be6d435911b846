import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type LocalGitHub, startLocalGitHub } from '@runoff/local-github';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { git } from '../../packages/local-github/test/github-world.ts';
import { readTasks } from '../../src/core/arena/index.ts';
import { furnish } from '../world/data-folder.ts';

const main = new URL('../../src/main.ts', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'mine-issues-'));
// Sandboxes of a root process run as another user.
chmodSync(folder, 0o755);
const repository = join(folder, 'words');
const at = { owner: 'alice', name: 'words' };
let github: LocalGitHub;
let env: Record<string, string | undefined>;

async function commit(message: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(repository, path)), { recursive: true });
    writeFileSync(join(repository, path), text);
  }
  await git(repository, ['add', '--all']);
  await git(repository, ['commit', '--quiet', '--message', message], undefined, new Date().toISOString());
}

const testOf = (name: string, line: string) =>
  `import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport * as words from '../src/words.js';\ntest('${name}', () => { ${line} });\n`;
const SAME = 'export const same = (text) => text;\n';
const SHOUT = 'export const shout = (text) => text.toUpperCase();\n';
const TITLE = 'export const title = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);\n';

beforeAll(async () => {
  await furnish(join(folder, 'data'));
  mkdirSync(repository);
  await git(repository, ['init', '--quiet', '--initial-branch', 'main']);
  const manifest = JSON.stringify({ name: 'words', type: 'module', scripts: { test: 'node --test' } });
  await commit('first', {
    'package.json': manifest,
    'src/words.js': SAME,
    'test/same.test.js': testOf('same', "assert.equal(words.same('a'), 'a');"),
  });
  github = await startLocalGitHub({
    users: ['alice'],
    repositories: [{ ...at, from: repository, private: true }],
    webhookUrl: () => undefined,
  });
  const number = await github.as('alice').openIssue(at, {
    title: 'The first letter of a title is a capital',
    body: 'Only the first one: `one Two` becomes `One Two`.\n\n<!-- Use slice. -->',
  });
  await git(repository, ['remote', 'add', 'origin', `${github.url}/alice/words.git`]);
  await commit('Words are shouted in capital letters\n\nFixes #999', {
    'src/words.js': SAME + SHOUT,
    'test/shout.test.js': testOf('shout', "assert.equal(words.shout('a'), 'A');"),
  });
  await commit(`fix\n\nFixes #${number}`, {
    'src/words.js': SAME + SHOUT + TITLE,
    'test/title.test.js': testOf('title', "assert.equal(words.title('one Two'), 'One Two');"),
  });
  env = {
    PATH: process.env.PATH,
    HOME: folder,
    RUNOFF_DATA: join(folder, 'data'),
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    NETWORK_ALLOW: 'none',
    GITHUB_API_URL: github.apiUrl,
  };
});
afterAll(async () => {
  await github?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The tasks of a contest after mining, and what was said. GitHub answers in this process, so nothing may block it. */
async function mined(contest: string, extra: Record<string, string> = {}) {
  const argv = [main, 'arena', 'mine', contest, '--repo', repository];
  const child = spawn(process.execPath, argv, { cwd: folder, env: { ...env, ...extra } });
  const text = { out: '', err: '' };
  child.stdout.on('data', (data: Buffer) => (text.out += data.toString()));
  child.stderr.on('data', (data: Buffer) => (text.err += data.toString()));
  const status = await new Promise((resolve) => child.on('close', resolve));
  if (status !== 0) throw new Error(text.err);
  const dataset = readFileSync(join(folder, 'data/arena', contest, 'tasks.jsonl'), 'utf8');
  const { tasks } = readTasks(dataset, 'tasks.jsonl');
  return { ...text, tasks };
}

test('tasks are stated by the issues that their changes closed, without what nobody saw in them', async () => {
  const { tasks, out } = await mined('words', {
    APP_ID: String(github.appId),
    PRIVATE_KEY: github.privateKey,
    WEBHOOK_SECRET: github.webhookSecret,
  });
  expect(tasks).toMatchObject([
    {
      id: expect.stringMatching(/^the-first-letter-of-a-title-is-a-capital-/),
      statement:
        'The first letter of a title is a capital\n\nOnly the first one: `one Two` becomes `One Two`.\n\n(…)',
      origin: { issue: '#1', statement: 'issue' },
    },
    {
      statement: 'Words are shouted in capital letters',
      origin: { issue: '#999', statement: 'message' },
    },
  ]);
  expect(out).toContain('1 task stated by the text of issues.');
  expect(out).toContain('1 task stated by the commit message: the issue is gone, or may not be read.');
});

test('without the App, messages state the tasks, and a change whose message says nothing is left out', async () => {
  const { tasks, out, err } = await mined('messages');
  expect(tasks).toMatchObject([
    { statement: 'Words are shouted in capital letters', origin: { statement: 'message' } },
  ]);
  expect(err).toContain('no GitHub App is configured (APP_ID, PRIVATE_KEY and WEBHOOK_SECRET)');
  expect(out).toMatch(/^ +has a message that says nothing about the task +1$/m);
});
