import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

interface SmallBench {
  readonly sizes: Readonly<Record<string, string>>;
  /** What stands in its output, besides the figures. */
  readonly prints: RegExp;
}

const SMALL: Readonly<Record<string, SmallBench>> = {
  clones: { sizes: { FILES: '50' }, prints: /^\| area, and a first command in its sandbox \| 8 \| \d/m },
  sandbox: { sizes: { CALLS: '2', CANDIDATES: '1' }, prints: /^\| candidate with 9 model calls .* \| \d/m },
  selection: { sizes: { TASKS: '1' }, prints: /^picked \d, at random .*: gap closed -?\d+ %/m },
  'written-tests': { sizes: {}, prints: /^\| all right tests \| \d .* \| 1 of 1 \| 1 of 1 \| 0 \| 0 \|$/m },
  debate: { sizes: { CASES: '1' }, prints: /three critics agree when challenged.*consensus/ },
  scale: {
    sizes: { CODERS: '2', SECONDS: '1', MACHINES: '1', RUNS: '2' },
    prints: /^\| 1 \| \d[\s\S]*^\| 2 \| \d[\s\S]*^\| another machine, from the kill .* \| \d/m,
  },
  storm: { sizes: { LABELS: '2', SECONDS: '1' }, prints: /^webhooks answered within: p50 \d/m },
  flood: {
    sizes: { CONNECTIONS: '4', SECONDS: '1' },
    prints: /^32 complete bodies at a time with a fake signature: \d+ MB before/m,
  },
  pages: {
    sizes: { TESTS: '20', DIFF_KIB: '4', ROUNDS: '1', MOST_MS: '60000' },
    prints: /^\| comparison \| \d/m,
  },
  viewers: { sizes: { VIEWERS: '2', SECONDS: '4' }, prints: /^2 viewers of a live run: -?\d/m },
};

describe('`npm run bench`', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };

  test('runs the benches that are tested here, and that of the overhead', () => {
    const names = /for bench in ([^;]+);/.exec(scripts.bench ?? '')?.[1]?.split(' ') ?? [];
    expect(names.toSorted()).toEqual([...Object.keys(SMALL), 'overhead'].toSorted());
  });

  test.each(Object.entries(SMALL))('%s ends by itself and prints its figures', async (name, small) => {
    const env = { ...process.env, ...small.sizes };
    const bench = join(ROOT, 'bench', `${name}.ts`);
    const { stdout } = await promisify(execFile)(process.execPath, [bench], { env });
    expect(stdout).toMatch(small.prints);
    expect(stdout).not.toContain('NaN');
  });
});
