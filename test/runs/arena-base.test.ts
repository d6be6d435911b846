import { expect, test } from 'vitest';
import type { ResolvedRepoTask } from '../../src/core/arena/index.ts';
import { openTaskBase } from '../../src/runs/arena/verify.ts';
import { partial } from '../world/partial.ts';

const HIDDEN = "test('a sentence that only the hidden tests of this contest contain', () => {});\n";
const REFERENCE = 'A diff that only the reference of this contest contains, line by line.\n';

/** Opens a task on a base with these files: what is said about it, or `shown` if contestants would get it. */
async function opened(from: 'template' | 'commit', files: Readonly<Record<string, string>>): Promise<string> {
  const isTemplate = from === 'template';
  const task: ResolvedRepoTask = {
    id: 'one',
    kind: 'repo',
    base: isTemplate ? { template: 'list' } : { repository: '.', commit: 'a'.repeat(40) },
    statement: 'Say so.',
    verify: ['npm test'],
    hiddenTests: 'hidden',
    reference: 'references/fix.diff',
    start: 'a'.repeat(40),
    hidden: 'b'.repeat(64),
  };
  const ports = partial<Parameters<typeof openTaskBase>[0]>({
    templates: { commit: async () => ({ repository: '/data/templates', sha: 'a'.repeat(40) }) },
    workspaces: {
      describe: async () => ({
        top: '/srv/shop',
        dirty: false,
        branch: null,
        empty: false,
        unwritable: null,
      }),
      resolve: async () => 'a'.repeat(40),
      listFiles: async () => Object.keys(files),
      readFile: async (_source: unknown, _commit: string, path: string) => files[path] ?? null,
    },
  });
  const folder = partial<Parameters<typeof openTaskBase>[1]>({
    absolute: (path) => `/srv/shop/evals/${path}`,
    repository: async (path) => path,
    within: async () => null,
    files: async () => [{ path: 'test/one.test.js', text: HIDDEN }],
    text: async () => REFERENCE,
  });
  const options = { runId: 'a000000000', trust: false, signal: new AbortController().signal };
  return openTaskBase(ports, folder, task, options).then(
    () => 'shown',
    (thrown: Error) => (/has a copy of/.test(thrown.message) ? thrown.message : 'shown'),
  );
}

test.each(['template', 'commit'] as const)(
  'a %s that holds the reference or hidden tests is refused, wherever they lie',
  async (from) => {
    for (const path of ['fix.diff', 'notes/fix.diff', 'references/fix.diff'])
      expect(await opened(from, { [path]: REFERENCE })).toBe(
        `The base of the task one has a copy of fix.diff, which contestants must not see: ${path}. Start from a base without it.`,
      );
    expect(await opened(from, { 'old/test/one.test.js': HIDDEN })).toContain(
      'has a copy of test/one.test.js',
    );
    expect(await opened(from, { 'fix.diff': 'Another text of the same length and more than that.' })).toBe(
      'shown',
    );
    // What the base has at the same place may be a helper of its tests.
    expect(await opened(from, { 'test/one.test.js': HIDDEN })).toBe('shown');
  },
);
