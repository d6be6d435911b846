import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openContests } from '../../../src/adapters/arena/index.ts';
import { lockFile } from '../../../src/adapters/git/index.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'runoff-arena-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const contests = () => openContests({ dir, dataDir: join(dir, 'data'), lock: lockFile });
const samplesOf = () => readFile(join(dir, 'first', 'samples.jsonl'), 'utf8');

test('lines are appended in the order of the calls', async () => {
  const folder = await contests().open(join(dir, 'first'), 'write');
  const lines = Array.from({ length: 50 }, (_, n) => `${JSON.stringify({ n, text: 'x'.repeat(n * 97) })}\n`);
  await Promise.all(lines.map((line) => folder.append('samples.jsonl', line)));
  await folder.close();
  expect(await samplesOf()).toBe(lines.join(''));
});

test.each([
  ['the rest of a line whose writer was killed is removed', '{"n":1}\n{"n":2,"te', '{"n":1}\n{"n":3}\n'],
  ['so is one that is longer than a block', `{"n":1}\n{"text":"${'y'.repeat(200_000)}`, '{"n":1}\n{"n":3}\n'],
  ['a complete line without a line end is kept', '{"n":1}\n{"n":2}', '{"n":1}\n{"n":2}\n{"n":3}\n'],
  ['a file with nothing but such a rest becomes a sound one', '{"n"', '{"n":3}\n'],
  ['an empty file is one', '', '{"n":3}\n'],
])('%s', async (_, before, after) => {
  await mkdir(join(dir, 'first'));
  await writeFile(join(dir, 'first', 'samples.jsonl'), before);
  const folder = await contests().open(join(dir, 'first'), 'write');
  await folder.append('samples.jsonl', '{"n":3}\n');
  await folder.close();
  expect(await samplesOf()).toBe(after);
});

test('a second process is refused, and readers are not', async () => {
  const folder = await contests().open(join(dir, 'first'), 'write');
  await expect(contests().open(join(dir, 'first'), 'write')).rejects.toMatchObject({
    code: 'ALREADY_RUNNING',
  });
  const reader = await contests().open(join(dir, 'first'), 'read');
  expect(await reader.text('contest.yml')).toBeNull();
  await expect(reader.append('samples.jsonl', '{}\n')).rejects.toMatchObject({ code: 'INTERNAL' });
  await folder.close();
  await (await contests().open(join(dir, 'first'), 'write')).close();
});

// A file system that can be filled takes a mount, and so root.
test.runIf(process.getuid?.() === 0)('a full disk is a sentence, and no line is lost or halved', async () => {
  const small = join(dir, 'first');
  await mkdir(small);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=755', 'tmpfs', small]);
  try {
    const folder = await contests().open(small, 'write');
    await folder.append('samples.jsonl', '{"n":1}\n');
    const large = `${JSON.stringify({ text: 'x'.repeat(200_000) })}\n`;
    await expect(folder.append('samples.jsonl', large)).rejects.toMatchObject({
      code: 'DISK_FULL',
      message: expect.stringContaining('There is no space left for the files of the contest'),
    });
    expect(await samplesOf()).toBe('{"n":1}\n');
    execFileSync('mount', ['-o', 'remount,size=8m', small]);
    await folder.append('samples.jsonl', large);
    await folder.close();
    expect(await samplesOf()).toBe(`{"n":1}\n${large}`);
  } finally {
    execFileSync('umount', ['-l', small]);
  }
});

test('a line that was cut within a character is ignored by readers and removed by the next writer', async () => {
  const folder = await contests().open(join(dir, 'first'), 'write');
  const file = join(dir, 'first', 'samples.jsonl');
  const cut = Buffer.from('{"answer":"😀').subarray(0, -2);
  await writeFile(file, Buffer.concat([Buffer.from('{"n":1}\n'), cut]));
  expect(await folder.records('samples.jsonl')).toBe('{"n":1}\n{"answer":"');
  await folder.append('samples.jsonl', '{"n":2}\n');
  expect(await folder.records('samples.jsonl')).toBe('{"n":1}\n{"n":2}\n');
  await writeFile(file, Buffer.concat([cut, Buffer.from('\n')]));
  await expect(folder.records('samples.jsonl')).rejects.toMatchObject({ code: 'CONTEST_INVALID' });
  await writeFile(file, cut);
  await expect(folder.text('samples.jsonl')).rejects.toMatchObject({ code: 'CONTEST_INVALID' });
  await folder.close();
});

test('no file is overwritten', async () => {
  const folder = await contests().open(join(dir, 'first'), 'write');
  expect(await folder.create('contest.yml', 'a')).toBe('created');
  expect(await folder.create('contest.yml', 'b')).toBe('exists');
  expect(await folder.text('contest.yml')).toBe('a');
  await folder.close();
});

test('files below a folder are read in order; links and other content are refused by name', async () => {
  const top = join(dir, 'first');
  await mkdir(join(top, 'hidden', 'test'), { recursive: true });
  await writeFile(join(top, 'hidden', 'test', 'b.test.js'), 'b');
  await writeFile(join(top, 'hidden', 'a.js'), 'a');
  const folder = await contests().open(top, 'read');
  expect(await folder.files('hidden')).toEqual([
    { path: 'a.js', text: 'a' },
    { path: 'test/b.test.js', text: 'b' },
  ]);
  expect(await folder.files('absent')).toBeNull();
  await writeFile(join(top, 'hidden', 'c.bin'), Buffer.from([0xff, 0xfe]));
  await expect(folder.files('hidden')).rejects.toMatchObject({ code: 'CONTEST_INVALID' });
  await rm(join(top, 'hidden', 'c.bin'));
  await symlink('/etc/passwd', join(top, 'hidden', 'c'));
  await expect(folder.files('hidden')).rejects.toMatchObject({ code: 'CONTEST_INVALID' });
});

test('the fingerprint of a folder changes with names, contents and executable bits, and with nothing else', async () => {
  const top = join(dir, 'first', 'template');
  await mkdir(join(top, 'src'), { recursive: true });
  await writeFile(join(top, 'src', 'a.js'), Buffer.from([0xff, 0x00, 0x61]));
  const folder = await contests().open(join(dir, 'first'), 'read');
  const before = await folder.fingerprint('template');
  expect(before).toMatch(/^[0-9a-f]{64}$/);
  await mkdir(join(top, '.git'));
  await writeFile(join(top, '.git', 'HEAD'), 'ref: x');
  expect(await folder.fingerprint('template')).toBe(before);
  await chmod(join(top, 'src', 'a.js'), 0o755);
  const executable = await folder.fingerprint('template');
  await rename(join(top, 'src', 'a.js'), join(top, 'src', 'b.js'));
  const renamed = await folder.fingerprint('template');
  await writeFile(join(top, 'src', 'b.js'), 'other');
  const changed = await folder.fingerprint('template');
  expect(new Set([before, executable, renamed, changed]).size).toBe(4);
  expect(await folder.fingerprint('absent')).toBeNull();
});

test('contests in the data folder are for its owner alone', async () => {
  const data = join(dir, 'arena');
  const inData = openContests({ dir: data, dataDir: dir, lock: lockFile });
  await (await inData.open(inData.folderOf('first'), 'write')).close();
  expect((await stat(data)).mode & 0o777).toBe(0o700);
});

/** A repository with a contest in it, a data folder, and somebody's private files beside them. */
async function surroundings() {
  const [repository, data, home] = ['repository', 'data', 'private'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ];
  const top = join(repository, 'evals', 'first');
  for (const folder of [top, join(repository, '.git'), join(repository, 'list'), join(data, 'arena'), home])
    await mkdir(folder, { recursive: true });
  await writeFile(join(home, 'key'), 'secret');
  await writeFile(join(repository, 'list', 'a.js'), 'a');
  await writeFile(join(repository, '.git', 'config'), 'secret');
  return {
    ...{ repository, data, home, top },
    contests: openContests({ dir: join(data, 'arena'), dataDir: data, lock: lockFile }),
  };
}

test.each([
  ['an absolute path', (at: { home: string }) => join(at.home, 'key'), (at: { home: string }) => at.home],
  ['a path that leads out', () => '../../../private/key', () => '../../../private'],
  ['a link', () => 'link/key', () => 'link'],
  ['settings of git', () => '../../.git/config', () => '../../.git'],
  [
    'the data folder',
    (at: { data: string }) => join(at.data, 'gitconfig'),
    (at: { data: string }) => at.data,
  ],
  ['a folder around the data folder', () => '../../../private/key', () => '../../..'],
])('%s is neither read, copied nor fingerprinted', async (_, file, folder) => {
  const at = await surroundings();
  await symlink(at.home, join(at.top, 'link'));
  await writeFile(join(at.data, 'gitconfig'), 'x');
  const opened = await at.contests.open(at.top, 'read');
  const into = join(dir, 'into');
  await mkdir(into);
  const refused = {
    code: 'CONTEST_INVALID',
    message: expect.stringMatching(
      /^The contest names .*A contest may read its own folder and the working tree around it/,
    ),
  };
  await expect(opened.text(file(at))).rejects.toMatchObject(refused);
  await expect(opened.records(file(at))).rejects.toMatchObject(refused);
  await expect(opened.files(folder(at))).rejects.toMatchObject(refused);
  await expect(opened.fingerprint(folder(at))).rejects.toMatchObject(refused);
  await expect(opened.copy(folder(at), into)).rejects.toMatchObject(refused);
});

test('the working tree around a contest is its to read, and a folder that is reached through a link is the same', async () => {
  const at = await surroundings();
  await symlink(at.repository, join(dir, 'linked'));
  for (const path of [at.top, join(dir, 'linked', 'evals', 'first')]) {
    const opened = await at.contests.open(path, 'read');
    expect(await opened.files('../../list')).toEqual([{ path: 'a.js', text: 'a' }]);
    expect(await opened.files(join(at.repository, 'list'))).toHaveLength(1);
    expect(await opened.within('../..', join(at.repository, 'evals/first/hidden'))).toBe(
      'evals/first/hidden',
    );
    expect(await opened.text('absent.yml')).toBeNull();
  }
});

test('a contest in the data folder reads only itself; no other part of the data folder is a contest', async () => {
  const at = await surroundings();
  await mkdir(join(at.data, '.git'));
  await mkdir(join(at.data, 'mirrors'));
  await (await at.contests.open(at.contests.folderOf('other'), 'write')).close();
  const opened = await at.contests.open(at.contests.folderOf('first'), 'write');
  await expect(opened.fingerprint('../other')).rejects.toMatchObject({ code: 'CONTEST_INVALID' });
  await expect(opened.fingerprint('..')).rejects.toMatchObject({ code: 'CONTEST_INVALID' });
  expect(await opened.fingerprint('.')).toMatch(/^[0-9a-f]{64}$/);
  await opened.close();
  for (const path of [at.data, join(at.data, 'arena'), join(at.data, 'mirrors', 'x')])
    await expect(at.contests.open(path, 'write')).rejects.toMatchObject({ code: 'CONTEST_INVALID' });
});

test('a repository is the one around the contest or the one that was named', async () => {
  const at = await surroundings();
  const other = join(dir, 'other');
  await mkdir(join(other, '.git'), { recursive: true });
  await mkdir(join(at.top, 'inner', '.git'), { recursive: true });
  const opened = await at.contests.open(at.top, 'read');
  expect(await opened.repository('../..')).toBe(at.repository);
  for (const path of [other, 'inner', at.home])
    await expect(opened.repository(path)).rejects.toMatchObject({
      code: 'CONTEST_INVALID',
      message: expect.stringContaining('pass --repo '),
    });
  const named = await at.contests.open(at.top, 'read', { repository: other });
  expect(await named.repository(other)).toBe(other);
});

test('pipes end nothing, and no link is written through', async () => {
  const at = await surroundings();
  await mkdir(join(at.top, 'template'));
  execFileSync('mkfifo', [join(at.top, 'template', 'pipe')]);
  execFileSync('mkfifo', [join(at.top, 'contest.yml')]);
  await symlink(join(at.home, 'created'), join(at.top, 'samples.jsonl'));
  await symlink(at.home, join(at.top, 'hidden'));
  const opened = await at.contests.open(at.top, 'write');
  const invalid = { code: 'CONTEST_INVALID' };
  await expect(opened.fingerprint('template')).rejects.toMatchObject(invalid);
  await expect(opened.files('template')).rejects.toMatchObject(invalid);
  await expect(opened.text('contest.yml')).rejects.toMatchObject(invalid);
  await expect(opened.append('samples.jsonl', '{}\n')).rejects.toMatchObject(invalid);
  await expect(opened.write('hidden/a.js', 'a')).rejects.toMatchObject(invalid);
  await opened.close();
  await rm(join(at.top, '.lock'));
  await symlink(join(at.home, 'created'), join(at.top, '.lock'));
  await expect(at.contests.open(at.top, 'write')).rejects.toMatchObject({
    ...invalid,
    message: expect.stringContaining('.lock is a link'),
  });
  await expect(stat(join(at.home, 'created'))).rejects.toMatchObject({ code: 'ENOENT' });
});
