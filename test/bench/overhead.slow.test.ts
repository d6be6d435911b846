import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** What the bench printed; rejects unless it ended with exit code 0. */
async function overhead(sizes: Readonly<Record<string, string>>): Promise<string> {
  const bench = join(import.meta.dirname, '../../bench/overhead.ts');
  const env = { ...process.env, FILES: '20', ...sizes };
  const { stdout } = await promisify(execFile)(process.execPath, [bench], { env });
  expect(stdout).not.toContain('NaN');
  return stdout;
}

test('the bench of the overhead ends by itself, with goals beside the figures and a trace of each run', async () => {
  const traces = await mkdtemp(join(tmpdir(), 'runoff-bench-traces-'));
  try {
    const printed = await overhead({ ONLY: 'time', CANDIDATES: '2', RUNS: '0', TRACE: traces });
    expect(printed.match(/^20 files, 2 candidates, run 0: label → last coder started /gm)).toHaveLength(1);
    for (const goal of ['≤ 1.00 s', '≤ 1.50 ×']) expect(printed).toContain(goal);

    const files = await readdir(traces);
    expect(files).toHaveLength(1);
    const text = await readFile(join(traces, files[0] ?? ''), 'utf8');
    const events = JSON.parse(`${text.replace(/,\n$/, '')}]`) as readonly { readonly name: string }[];
    const names = events.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['examine', 'publish', 'x-A-probe node', 'push']));
    // Tests of the other candidates run as well.
    expect(names.some((name) => /^x-[AB]-from-[AB] /.test(name))).toBe(true);
  } finally {
    await rm(traces, { recursive: true });
  }
});

test('it measures the memory of an App that is idle, and of one that examines runs', async () => {
  const printed = await overhead({ ONLY: 'memory', CANDIDATES: '1', IDLE_MS: '0', EXAMINED: '1' });
  expect(printed).toMatch(/^idle App with embedded database: \d+ MiB \(PSS\); goal: ≤ 170 MiB/m);
  expect(printed).toMatch(
    /^App that examines 1 run \(1 at the same time;.*: \d+ MiB \(PSS\); goal: ≤ 400 MiB/m,
  );
});
