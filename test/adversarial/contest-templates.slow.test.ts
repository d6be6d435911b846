import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { atTerminal, type Terminal } from '../world/terminal.ts';

const SECRET = 'secret-key-material';

/** A repository whose settings start a program as soon as git adds a file in it, with a file that is ignored. */
async function makeTrap(folder: string, canary: string): Promise<(...argv: string[]) => string> {
  await mkdir(folder, { recursive: true });
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org'];
  const git = (...argv: string[]): string =>
    execFileSync('git', ['-C', folder, ...author, ...argv], { encoding: 'utf8' }).trim();
  git('init', '-q');
  await writeFile(join(folder, 'a.txt'), 'a\n');
  await writeFile(join(folder, '.gitignore'), 'secret\n');
  git('add', '.');
  git('commit', '-qm', 'Precious');
  await writeFile(join(folder, 'secret'), `${SECRET}\n`);
  await writeFile(join(folder, '.gitattributes'), '* filter=evil\n');
  git('config', 'filter.evil.clean', `sh -c 'touch ${canary}; cat'`);
  return git;
}

async function writeContest(me: Terminal, template: string): Promise<string> {
  const folder = join(me.repository, 'evals', 'first');
  await mkdir(join(folder, 'templates'), { recursive: true });
  await writeFile(
    join(folder, 'contest.yml'),
    `version: 1
name: first
prompts: { p: Be brief. }
contestants: { prompts: [p], models: [anthropic/scripted-heron] }
tasks:
  - { id: one, kind: repo, base: { template: ${template} }, statement: What says secret?, verify: "false" }
`,
  );
  return folder;
}

const scripts = { 'scripted-heron': { turns: [{ kind: 'text', text: 'Prose.' }] as const } };
const gen = (me: Terminal) => me.runoff('arena', 'gen', 'first', '--dir', 'evals/first');

test("a template that is a link: git does not work in the link's target, and what it ignores stays unread", async () => {
  await atTerminal({ scripts }, async (me) => {
    const victim = join(me.home, 'victim');
    const git = await makeTrap(victim, join(me.home, 'sang'));
    const before = [
      git('rev-parse', 'HEAD'),
      git('ls-files', '-s'),
      (await readdir(join(victim, '.git'))).length,
    ];
    const folder = await writeContest(me, 'templates/innocent');
    await symlink(victim, join(folder, 'templates/innocent'));
    await gen(me);
    expect(existsSync(join(me.home, 'sang'))).toBe(false);
    expect([
      git('rev-parse', 'HEAD'),
      git('ls-files', '-s'),
      (await readdir(join(victim, '.git'))).length,
    ]).toEqual(before);

    // A relative link would lead from the copy to somewhere in the data folder.
    await writeContest(me, 'templates/up');
    await symlink('..', join(folder, 'templates/up'));
    await gen(me);
    expect(existsSync(join(me.home, 'data/.git'))).toBe(false);
    expect(existsSync(join(me.home, 'data/templates/.git'))).toBe(false);
  });
});

test('a repository in a template brings its files and nothing else: no settings, history or filters', async () => {
  await atTerminal({ scripts }, async (me) => {
    const folder = await writeContest(me, 'templates/nested');
    const git = await makeTrap(join(folder, 'templates/nested'), join(me.home, 'sang'));
    await makeTrap(join(folder, 'templates/nested/inner'), join(me.home, 'sang'));
    const before = [git('rev-parse', 'HEAD'), git('ls-files', '-s')];
    expect(await gen(me)).toMatchObject({ code: 0 });
    expect(existsSync(join(me.home, 'sang'))).toBe(false);
    expect([git('rev-parse', 'HEAD'), git('ls-files', '-s')]).toEqual(before);
    const asked = me.asked.map(({ body }) => body).join('\n');
    expect(asked).toContain('inner/a.txt');
    expect(asked).not.toContain('refs/heads');
    expect(await readFile(join(folder, 'bases.jsonl'), 'utf8')).toContain('"rated":true');
  });
});

test('hidden tests, references and files of the contest never reach contestants, wherever they lie', async () => {
  await atTerminal({ scripts, env: { MAX_BUDGET_RUN: '0.5' } }, async (me) => {
    const folder = join(me.repository, 'evals', 'first');
    const hidden = "test('a sentence that only the hidden tests of this contest contain', () => {});\n";
    await mkdir(join(folder, 'hidden/one/test'), { recursive: true });
    await writeFile(join(folder, 'hidden/one/test/one.test.js'), hidden);
    const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org'];
    const before = await me.git('rev-parse', 'HEAD');
    await me.git('add', '-f', 'evals');
    await me.git(...author, 'commit', '-qm', 'Hidden tests in the base');
    const task = (base: string, more = 'hiddenTests: hidden/one') =>
      writeFile(
        join(folder, 'contest.yml'),
        `version: 1
name: first
budget: 100
prompts: { p: Be brief. }
contestants: { prompts: [p], models: [anthropic/scripted-heron] }
tasks:
  - { id: one, kind: repo, base: ${base}, statement: one.test.js, setup: "", build: "", verify: "false", ${more} }
`,
      );
    const refused = async (dir: string, says: string): Promise<void> => {
      const { code, err } = await me.runoff('arena', 'gen', 'first', '--dir', dir);
      expect(err).toContain(says);
      expect(code).not.toBe(0);
    };
    await symlink(me.repository, join(me.home, 'link'));
    const committed = `{ repository: ../.., commit: ${await me.git('rev-parse', 'HEAD')} }`;
    await task(committed);
    await refused('evals/first', 'could read this file of the contest: evals/first/hidden');
    await refused(
      join(me.home, 'link/evals/first'),
      'could read this file of the contest: evals/first/hidden',
    );
    // Also without hidden tests: the folder holds what others answered.
    await task(committed, 'origin: {}');
    await refused('evals/first', 'could read this file of the contest');

    // A copy that another contest left in an earlier commit.
    await me.git('mv', 'evals', 'old');
    await me.git(...author, 'commit', '-qm', 'Moved');
    await mkdir(join(folder, 'hidden/one/test'), { recursive: true });
    await writeFile(join(folder, 'hidden/one/test/one.test.js'), hidden);
    await task(`{ repository: ../.., commit: ${await me.git('rev-parse', 'HEAD')} }`);
    await refused('evals/first', 'has a copy of test/one.test.js');

    await mkdir(join(folder, 'templates/list'), { recursive: true });
    await writeFile(join(folder, 'templates/list/a.js'), 'a\n');
    await symlink('../hidden', join(folder, 'templates/hidden'));
    for (const template of ['.', 'hidden/one', 'templates/hidden']) {
      await task(`{ template: ${template} }`);
      await refused('evals/first', 'which contestants must not see');
    }
    expect(me.asked).toHaveLength(0);

    await task(`{ repository: ../.., commit: ${before} }`);
    const { err } = await me.runoff('arena', 'gen', 'first', '--dir', join(me.home, 'link/evals/first'));
    expect(err).toContain('budget was lowered from $100 to $0.5, which MAX_BUDGET_RUN allows.');
    expect(me.asked.length).toBeGreaterThan(0);
    expect(me.asked.some(({ body }) => body.includes('a sentence that only'))).toBe(false);
  });
});
