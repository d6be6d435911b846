import { execFileSync } from 'node:child_process';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { writeBelow } from '../../../src/adapters/sandbox/areas.ts';
import { tried } from '../../world/tried.ts';

const AS_ROOT = process.getuid?.() === 0;
const OWNER = AS_ROOT ? { uid: 64190, gid: 64190 } : null;

describe('files written below a folder that a command owns', () => {
  let root: string;
  let home: string;
  let outside: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'runoff-home-'));
    [home, outside] = [join(root, 'home'), join(root, 'outside')];
    mkdirSync(home);
    mkdirSync(outside);
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const refused = (files: Readonly<Record<string, string>>): void =>
    expect(() => writeBelow(home, files, OWNER)).toThrow('cannot be written');

  test('are new, private, and belong to the sandboxes’ user with their folders', () => {
    writeBelow(home, { 'a/b/c': 'deep', 'a/d': 'near', e: 'top' }, OWNER);
    expect(readFileSync(join(home, 'a/b/c'), 'utf8')).toBe('deep');
    expect(readFileSync(join(home, 'a/d'), 'utf8')).toBe('near');
    const found = ['a', 'a/b', 'a/b/c', 'a/d', 'e'].map((path) => statSync(join(home, path)));
    expect(found.map(({ mode }) => (mode & 0o7777).toString(8))).toEqual(['700', '700', '600', '600', '600']);
    const uid = OWNER?.uid ?? process.getuid?.();
    expect(new Set(found.map((file) => file.uid))).toEqual(new Set([uid]));
  });

  test('do not follow a link in place of a folder, unlike plain writing', () => {
    symlinkSync(outside, join(home, 'a'));
    refused({ 'a/planted': 'x' });
    refused({ 'a/b/planted': 'x' });
    expect(readdirSync(outside)).toEqual([]);
    writeFileSync(join(home, 'a/planted'), 'x');
    expect(readdirSync(outside)).toEqual(['planted']);
  });

  test.each([
    ['a link to a file', (from: string, to: string) => symlinkSync(to, from)],
    ['a second name of a file', (from: string, to: string) => linkSync(to, from)],
  ])('replace %s without changing its target', (_what, plant) => {
    writeFileSync(join(outside, 'kept'), 'as it was', { mode: 0o644 });
    plant(join(home, 'f'), join(outside, 'kept'));
    const before = statSync(join(outside, 'kept'));
    writeBelow(home, { f: 'new' }, OWNER);
    expect(readFileSync(join(home, 'f'), 'utf8')).toBe('new');
    expect(readFileSync(join(outside, 'kept'), 'utf8')).toBe('as it was');
    const { uid, mode } = statSync(join(outside, 'kept'));
    expect([uid, mode]).toEqual([before.uid, before.mode]);
  });

  test('do not follow a link that leads to nothing yet', () => {
    symlinkSync(join(outside, 'made'), join(home, 'f'));
    writeBelow(home, { f: 'new' }, OWNER);
    expect(readdirSync(outside)).toEqual([]);
  });

  test('are rejected if the folder is a link, a file is in place of a folder, or a folder in place of a file', () => {
    writeFileSync(join(home, 'file'), '');
    mkdirSync(join(home, 'folder'));
    refused({ 'file/x': 'x' });
    refused({ folder: 'x' });
    symlinkSync(outside, join(root, 'link'));
    expect(() => writeBelow(join(root, 'link'), { f: 'x' }, OWNER)).toThrow('cannot be written');
    expect(readdirSync(outside)).toEqual([]);
  });

  test('leave no descriptor open, whether they were written or refused', () => {
    const count = (): number => readdirSync('/proc/self/fd').length;
    symlinkSync(outside, join(home, 'link'));
    const before = count();
    for (let i = 0; i < 20; i += 1) {
      writeBelow(home, { [`a/b/${i}`]: 'x' }, OWNER);
      refused({ 'link/x': 'x' });
      refused({ 'a/b': 'x' });
    }
    expect(count()).toBe(before);
  });

  test.runIf(AS_ROOT)('are no reason to blame anybody when the disk is full', () => {
    tried({
      id: 'disk-full-home',
      part: 'Disks are full',
      what: 'The disk is full while the files of an agent are written, or an area is copied.',
      held: 'The fault says so, so that the candidate waits and does not fail.',
    });
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=755', 'tmpfs', home]);
    try {
      expect(() => writeBelow(home, { 'a/b': 'x'.repeat(1_000_000) }, OWNER)).toThrow(
        expect.objectContaining({ code: 'DISK_FULL' }),
      );
      writeBelow(home, { 'a/b': 'small' }, OWNER);
      expect(readFileSync(join(home, 'a/b'), 'utf8')).toBe('small');
    } finally {
      execFileSync('umount', ['-l', home]);
    }
  });
});
