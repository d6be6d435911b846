import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createBelow } from '../../src/compose/index.ts';

let folder: string;
let top: string;
let home: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'new-file-'));
  top = join(folder, 'clone');
  home = join(folder, 'home');
  for (const one of [top, home]) mkdirSync(one);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const create = () => createBelow(top, '.github/auto-dev.yml', 'ours\n');

test('makes the file and its folder', async () => {
  expect(await create()).toBeNull();
  expect(readFileSync(join(top, '.github/auto-dev.yml'), 'utf8')).toBe('ours\n');
});

test('leaves a file that is there as it is', async () => {
  mkdirSync(join(top, '.github'));
  writeFileSync(join(top, '.github/auto-dev.yml'), 'theirs\n');
  expect(await create()).toMatch(/^it exists already and is not committed$/);
  expect(readFileSync(join(top, '.github/auto-dev.yml'), 'utf8')).toBe('theirs\n');
});

test.each(['../../home/.bash_aliases', '../../home', '/dev/null'])(
  'writes nothing through a link to %s in place of the file',
  async (to) => {
    mkdirSync(join(top, '.github'));
    symlinkSync(to, join(top, '.github/auto-dev.yml'));
    expect(await create()).toMatch(/^it exists already and is not committed$/);
    expect(readdirSync(home)).toEqual([]);
  },
);

test.each(['../home', '../home/none', 'real'])(
  'writes nothing through a link to %s in place of the folder',
  async (to) => {
    mkdirSync(join(top, 'real'));
    symlinkSync(to, join(top, '.github'));
    expect(await create()).toMatch(/\.github is not a folder but a link or a file$/);
    expect([readdirSync(home), readdirSync(join(top, 'real'))]).toEqual([[], []]);
  },
);
