import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { prepareContainerFiles } from '../../../src/adapters/sandbox/container/flags.ts';
import { USUAL_SURROUNDINGS } from '../../../src/core/model/index.ts';

const DAY_MS = 24 * 3_600_000;

let scratch: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'runoff-container-files-'));
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

const filesOf = (user: string): string =>
  prepareContainerFiles(scratch, { uid: 1234, gid: 1234 }, { ...USUAL_SURROUNDINGS, user }).etc;

function useLast(folder: string, days: number): void {
  const then = new Date(Date.now() - days * DAY_MS);
  utimesSync(folder, then, then);
}

test('files of containers stand in one folder, and those that no run has used for days are removed', () => {
  const [unused, used] = [filesOf('ann'), filesOf('ben')];
  expect(readFileSync(join(unused, 'passwd'), 'utf8')).toContain('ann:x:1234:1234:');
  expect(readdirSync(scratch).sort()).toEqual(['container-files', 'etc']);
  for (const folder of [unused, used]) useLast(folder, 4);
  expect(filesOf('ben')).toBe(used);
  const fresh = filesOf('cleo');
  expect(existsSync(unused)).toBe(false);
  expect([used, fresh].map((folder) => existsSync(join(folder, 'entry.mjs')))).toEqual([true, true]);
  expect(readdirSync(dirname(fresh))).toHaveLength(2);
});
