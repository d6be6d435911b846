import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readTasks } from '../../src/core/arena/index.ts';
import type { MinedRecord } from '../../src/core/mining/index.ts';
import { startScriptedModels } from '../../src/demo/scripted-models/index.ts';
import { furnish } from '../world/data-folder.ts';

const main = new URL('../../src/main.ts', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'mine-'));
// Sandboxes of a root process run as another user.
chmodSync(folder, 0o755);
const repository = join(folder, 'words');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function git(cwd: string, ...args: readonly string[]): string {
  const done = spawnSync('git', ['-c', 'user.name=R', '-c', 'user.email=r@example.org', ...args], {
    cwd,
    encoding: 'utf8',
  });
  if (done.status !== 0) throw new Error(`git ${args.join(' ')}: ${done.stderr}`);
  return done.stdout.trim();
}

/** Changes files and commits them; a null text deletes one. Returns the commit. */
function commit(message: string, files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(repository, path)), { recursive: true });
    writeFileSync(join(repository, path), text);
  }
  git(repository, 'add', '--all');
  git(repository, 'commit', '--quiet', '--message', message);
  return git(repository, 'rev-parse', 'HEAD');
}

const env = {
  PATH: process.env.PATH,
  HOME: folder,
  RUNOFF_DATA: join(folder, 'data'),
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  NETWORK_ALLOW: 'none',
};
const argvOf = (words: readonly string[]) => [main, 'arena', 'mine', ...words];
const mine = (...words: readonly string[]) =>
  spawnSync(process.execPath, argvOf(['--repo', repository, ...words]), {
    cwd: folder,
    env,
    encoding: 'utf8',
  });

const testsOf = (name: string, ...lines: readonly string[]) =>
  `import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport * as words from '../src/words.js';\n${lines
    .map((line, at) => `test('${name} ${at}', () => { ${line} });\n`)
    .join('')}`;

const MANIFEST = JSON.stringify({ name: 'words', type: 'module', scripts: { test: 'node --test' } });
const SHOUT = 'export const shout = (text) => text.toUpperCase();\n';
const TITLE = `${SHOUT}export const title = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);\n`;
const HOSTILE =
  'Titles keep the rest of a word as it is\u001b[2J\n\n' +
  'Only the first letter of a title becomes a capital.\n\n' +
  'Fixes #12\nhttps://github.com/o/r/commit/0123456789012345678901234567890123456789\n' +
  '```diff\n- export const title = wrong;\n+ export const title = right;\n```\n\nCo-authored-by: $(touch x) <a@example.org>\n';

const commits: Record<string, string> = {};

/** A history with one change of each kind, the good one in the middle. */
beforeAll(() => furnish(env.RUNOFF_DATA));
beforeAll(() => {
  mkdirSync(repository);
  git(repository, 'init', '--quiet', '--initial-branch', 'main');
  commit('first', {
    'package.json': MANIFEST,
    'src/words.js': SHOUT,
    'test/shout.test.js': testsOf('shout', "assert.equal(words.shout('a'), 'A');"),
  });
  commits.good = commit(HOSTILE, {
    'src/words.js': TITLE,
    'test/title.test.js': testsOf('title', "assert.equal(words.title('one Two'), 'One Two');"),
    'test/data/odd "name" $(x).txt': 'data',
  });
  commits.before = commit('Comments explain what each of the functions returns', {
    'src/words.js': `// Functions on words.\n${TITLE}`,
    'test/again.test.js': testsOf('again', "assert.equal(words.shout('b'), 'B');"),
  });
  commits.flaky = commit('Words are whispered in lower case letters', {
    'src/words.js': `${TITLE}export const whisper = (text) => text.toLowerCase();\n`,
    'test/whisper.test.js': testsOf(
      'whisper',
      "assert.equal(words.whisper('A'), 'a');",
      'assert.ok(Math.random() < 0.02);',
    ),
  });
  commits.reverted = commit('Words are counted by their spaces in the text', {
    'src/words.js': `${TITLE}export const count = (text) => text.split(' ').length;\n`,
    'test/count.test.js': testsOf('count', "assert.equal(words.count('a b'), 2);"),
  });
  git(repository, 'revert', '--no-edit', 'HEAD');
  commit('The manifest is written anew for the package manager', { 'package.json': '{ no manifest' });
  commits.unbuildable = commit('Words are repeated as often as somebody wants', {
    'src/words.js': `${TITLE}export const repeat = (text, times) => text.repeat(times);\n`,
    'test/repeat.test.js': testsOf('repeat', "assert.equal(words.repeat('a', 2), 'aa');"),
  });
  for (const name of ['whisper', 'repeat']) rmSync(join(repository, `test/${name}.test.js`));
  commit('fix', { 'package.json': MANIFEST });
  commit('wip', {
    'src/words.js': TITLE,
    'test/more.test.js': testsOf('more', "assert.equal(words.title(''), '');"),
  });
  rmSync(join(repository, 'test/title.test.js'));
  commits.renamed = commit('Titles have one capital, whatever stands in the text', {
    'src/words.js': TITLE.replace('text.slice(1)', 'text.slice(1).toLowerCase()'),
    'test/titles.test.js': testsOf('titles', "assert.equal(words.title('one Two'), 'One two');"),
  });
});

describe('runoff arena mine', () => {
  test('goes on where a killed process stopped, keeps what execution proves, and says why it drops the rest', async () => {
    const child = spawn(process.execPath, argvOf(['--repo', repository, 'words']), { cwd: folder, env });
    // After the first outcome and before the last one.
    await new Promise<void>((resolve) => {
      child.stderr.on('data', (text: Buffer) => text.toString().includes('dropped') && child.kill('SIGKILL'));
      child.on('close', () => resolve());
    });
    // What it may have written of a further task.
    appendFileSync(join(folder, 'data/arena/words/tasks.jsonl'), '{"version":1,"id":"words-are-');
    const { status, stdout, stderr } = mine('words', '--json');
    expect([status, stderr]).toEqual([0, expect.stringMatching(/^11 commits, .* [12] executed before\.$/m)]);
    const { summary, dataset } = JSON.parse(stdout);
    expect(summary).toMatchObject({ found: 5, kept: 1, unchecked: 0, stop: 'done' });
    expect(summary.leftOut).toMatchObject({ root: 1, revert: 1, reverted: 1, 'no-statement': 1 });
    const beside = (path: string) => readFileSync(join(dirname(dataset), path), 'utf8');
    const noted = beside('mined.jsonl')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as MinedRecord);
    expect(noted).toHaveLength(5);
    expect(Object.fromEntries(noted.map(({ commit, outcome }) => [commit, outcome]))).toEqual({
      [commits.good ?? '']: 'kept',
      [commits.before ?? '']: 'passes-before',
      [commits.flaky ?? '']: expect.stringMatching(/^(?:flaky|fails-after)$/),
      [commits.unbuildable ?? '']: 'base-broken',
      [commits.renamed ?? '']: 'unusable',
    });
    expect(noted.find(({ commit }) => commit === commits.renamed)?.why).toMatch(
      /^It deletes or renames tests, which a task cannot do\. Tests fail .*test\/title\.test\.js/,
    );

    const { tasks, problems } = readTasks(readFileSync(dataset, 'utf8'), 'tasks.jsonl');
    expect(problems).toEqual([]);
    const [task] = tasks;
    expect(tasks).toHaveLength(1);
    expect(task).toMatchObject({
      kind: 'repo',
      base: { repository, commit: git(repository, 'rev-parse', `${commits.good}^`) },
      statement:
        'Titles keep the rest of a word as it is\n\nOnly the first letter of a title becomes a capital.',
      verify: ['npm test'],
      origin: { commit: commits.good, issue: '#12' },
    });
    if (task?.kind !== 'repo') throw new Error('no task');
    expect(beside(`${task.hiddenTests}/test/title.test.js`)).toContain("words.title('one Two')");
    expect(beside(`${task.hiddenTests}/test/data/odd "name" $(x).txt`)).toBe('data');
    expect(beside(task.reference ?? '')).toContain('+export const title');
    expect(beside(task.reference ?? '')).not.toContain('title.test.js');
    expect(existsSync(join(folder, 'x'))).toBe(false);

    const again = mine('words');
    expect(again.stderr).toContain('5 executed before');
    expect(again.stderr).not.toContain('kept (');
    expect(again.stdout).toMatch(/^kept as tasks +1$/m);
    expect(again.stdout).toContain('runoff arena init words');
  });

  test('its tasks are answered, decided without their hidden tests, and reported', async () => {
    const contest = join(folder, 'data/arena/words');
    const [task] = readTasks(readFileSync(join(contest, 'tasks.jsonl'), 'utf8'), 'tasks.jsonl').tasks;
    if (task?.kind !== 'repo') throw new Error('no task');
    const right = readFileSync(join(contest, task.reference ?? ''), 'utf8');
    const wrong = right.replace('+ text.slice(1)', '+ text.slice(1).toLowerCase()');
    const answer = (patch: string) => ({
      turns: [{ kind: 'text', text: `\`\`\`diff\n${patch}\n\`\`\`` } as const],
    });
    const models = await startScriptedModels({
      scripts: { 'scripted-right': answer(right), 'scripted-wrong': answer(wrong) },
    });
    const names = ['anthropic/scripted-right', 'anthropic/scripted-wrong'];
    const price = { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 };
    const paid = {
      ...env,
      ANTHROPIC_API_KEY: 'scripted',
      ANTHROPIC_BASE_URL: models.url,
      MODEL_PRICES: JSON.stringify(Object.fromEntries(names.map((name) => [name, price]))),
    };
    const arena = async (...words: readonly string[]) => {
      const child = spawn(process.execPath, [main, 'arena', ...words], { cwd: folder, env: paid });
      const text = { out: '', err: '' };
      child.stdout.on('data', (data: Buffer) => (text.out += data.toString()));
      child.stderr.on('data', (data: Buffer) => (text.err += data.toString()));
      const status = await new Promise((resolve) => child.on('close', resolve));
      return { ...text, status };
    };
    writeFileSync(
      join(contest, 'contest.yml'),
      `version: 1\nname: words\nprompts: { plain: Answer. }\ncontestants: { prompts: [plain], models: [${names.join(', ')}] }\ntasks: tasks.jsonl\n`,
    );
    try {
      expect(await arena('gen', 'words', '--repo', repository)).toMatchObject({ status: 0 });
      for (const { body } of models.requests) expect(body).not.toContain('one Two');
      const decided = await arena('decide', 'words', '--repo', repository, '--json');
      expect(decided).toMatchObject({ status: 0 });
      const { competition, decisions } = JSON.parse(decided.out);
      expect(competition).toMatchObject({ pools: 1, contestants: 2, undecided: 0 });
      expect(competition.ways).toContainEqual(expect.objectContaining({ way: 'ceiling', solved: 1 }));
      expect(competition.ways).toContainEqual(expect.objectContaining({ way: 'single', solved: 0.5 }));
      expect(JSON.stringify(decisions)).not.toContain('one Two');
      expect((await arena('decide', 'words', '--repo', repository)).err).toContain('1 decided before');
      expect((await arena('report', 'words')).out).toContain('What competing is worth');
    } finally {
      await models.close();
    }
  });

  test.each([
    { words: ['x', '--since', 'yesterday'], status: 2, says: 'Give a time such as 90d, 8w, 12mo or 2y' },
    { words: ['x', '--since', '2999-01-01'], status: 2, says: 'a date of the past' },
    { words: [], status: 2, says: 'give the name of a contest or --out FILE' },
    { words: ['x', '--repo', '/'], status: 2, says: 'is not inside a git working tree' },
    { words: ['../x'], status: 2, says: 'is no name of a contest' },
  ])('refuses $words', ({ words, status, says }) => {
    const ended = mine(...words);
    expect(ended.stderr).toContain(says);
    expect(ended.status).toBe(status);
  });

  test('says how to deepen a shallow clone', () => {
    const shallow = join(folder, 'shallow');
    git(folder, 'clone', '--quiet', '--depth', '1', `file://${repository}`, shallow);
    const { status, stdout } = mine('shallow', '--repo', shallow);
    expect(stdout).toContain('git fetch --unshallow');
    expect(status).toBe(3);
  });
});
