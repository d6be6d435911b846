import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { writeOutput } from '../../../src/adapters/system/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'output-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('an output is written into folders that are created, and replaced', async () => {
  const file = join(folder, 'a', 'b', 'report.md');
  await writeOutput(file, 'first');
  await writeOutput(file, 'second');
  expect(readFileSync(file, 'utf8')).toBe('second');
});

// Node's own recursive `mkdir` never ends there.
test.runIf(process.platform === 'linux')('an output below /proc is refused', async () => {
  await expect(writeOutput('/proc/nope/report.md', 'x')).rejects.toThrow('/proc/nope');
  await expect(writeOutput('/proc/1/nope/deeper/report.md', 'x')).rejects.toThrow('/proc/1/nope');
});
