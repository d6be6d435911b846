import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const FILES = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', 'test', 'packages'],
  {
    cwd: ROOT,
    encoding: 'utf8',
  },
).split('\n');

/** This file and all of the tests' own that it loads, by paths from the project's folder. */
function loadedBy(path: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  for (const [, target = ''] of read(path).matchAll(/(?:from|import) '(\.[^']+\.ts)'/g)) {
    const found = relative(ROOT, join(ROOT, dirname(path), target));
    // What stands in a text of a test leads nowhere.
    if (/^(?:test|packages)\//.test(found) && existsSync(join(ROOT, found))) loadedBy(found, seen);
  }
  return seen;
}

describe('the fast tests', () => {
  const fast = FILES.filter((path) => path.endsWith('.test.ts') && !path.endsWith('.slow.test.ts'));

  test.each([
    ['install no agent', 'test/setup/agents.ts'],
    ['kill no App', 'test/chaos/prepared-chaos-environment.ts'],
  ])('%s', (_, helper) => {
    expect(FILES).toContain(helper);
    expect(fast.filter((path) => loadedBy(path).has(helper))).toEqual([]);
    const slow = FILES.filter((path) => path.endsWith('.slow.test.ts'));
    expect(slow.filter((path) => loadedBy(path).has(helper)).length).toBeGreaterThan(2);
  });

  test('include the story of the main job, the contract of the sandbox and hostile collection', () => {
    expect(fast).toEqual(
      expect.arrayContaining([
        'test/stories/main-job.test.ts',
        'test/adapters/sandbox/bubblewrap.test.ts',
        'test/adversarial/collect-hostile-sandbox.test.ts',
        'test/adversarial/collect-verdict.test.ts',
      ]),
    );
  });
});

test('`.ci/run` runs the fast tier as the README does, and an eighth of the slow one', () => {
  const lines = read('.ci/run').split('\n');
  expect(lines).toContain('npm test');
  expect(lines).toContain('npm run test:full -- --project slow --shard "$eighth/8"');
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  expect(scripts.test).toBe(`${scripts['test:full']} --project fast`);
});
