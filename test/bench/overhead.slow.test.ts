import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const BENCH = join(import.meta.dirname, '../../bench/overhead.ts');

test('the bench of the overhead ends by itself, with goals beside the figures and a trace of each run', async () => {
  const traces = await mkdtemp(join(tmpdir(), 'runoff-bench-traces-'));
  try {
    const sizes = { FILES: '20', CANDIDATES: '2', RUNS: '0', IDLE_MS: '0', TRACE: traces };
    const { stdout } = await promisify(execFile)(process.execPath, [BENCH], {
      env: { ...process.env, ...sizes },
    });

    expect(stdout.match(/^\d+ files, \d candidates, run 0: label → last coder started /gm)).toHaveLength(1);
    for (const goal of ['≤ 1.00 s', '≤ 1.50 ×', '≤ 170 MiB']) expect(stdout).toContain(goal);
    expect(stdout).not.toContain('NaN');

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
