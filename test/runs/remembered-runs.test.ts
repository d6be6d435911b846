import { expect, test } from 'vitest';
import { Settings } from '../../src/core/settings/index.ts';
import type { BaseCheckout, ProvidedTools } from '../../src/ports/index.ts';
import { withTools } from '../../src/runs/base/index.ts';
import { type CheckRunner, rememberInMemory } from '../../src/runs/examine/areas.ts';
import { runOn, type Tree } from '../../src/runs/examine/trees.ts';
import { partial } from '../world/partial.ts';

const BASE: BaseCheckout = { sha: 'a'.repeat(40), repositoryKey: 'k', lower: '/lower', layers: ['/layer'] };
const provided = (version: string, folder?: string): ProvidedTools => ({
  tools: {
    mounts: folder ? [{ from: folder, to: folder }] : [],
    path: folder ? [`${folder}/bin`] : [],
  },
  found: [{ name: `Node ${version}`, from: folder ? 'machine' : 'sandbox' }],
  missing: [],
});

/** Under which key a test run on this base is remembered. */
async function keyOn(base: BaseCheckout): Promise<string> {
  const keys: string[] = [];
  const runner = partial<CheckRunner>(
    {
      base,
      plan: { commands: [{ command: 'node --test', args: [], env: {}, report: null, prefix: '' }] },
      task: { settings: Settings.parse({}) },
      async remember<T>(key: string): Promise<T> {
        keys.push(key);
        return { kind: 'refused', why: '' } as T;
      },
    },
    ['binds', 'surroundings', 'codeRan', 'keeps', 'locksAssertions', 'testSeconds'],
  );
  await runOn(
    runner,
    partial<Tree>({ patch: '', built: partial<Tree['built']>({ ownPackages: false, upper: '' }) }),
    {
      id: 'r1-x-A',
    },
  );
  return keys.join();
}

test('a test run is remembered for the tools that it ran with, whoever has them', async () => {
  const bases = [
    BASE,
    withTools(BASE, provided('22.1.0')),
    withTools(BASE, provided('22.2.0')),
    withTools(BASE, provided('22.2.0', '/opt/node')),
    withTools(BASE, provided('22.2.0', '/opt/node-2')),
  ];
  const keys = await Promise.all(bases.map(keyOn));
  expect(new Set(keys).size).toBe(bases.length);
  expect(await keyOn(withTools(BASE, provided('22.1.0')))).toBe(keys[1]);
});

test('a result that is not to be kept is returned, and computed again', async () => {
  let computed = 0;
  const remember = rememberInMemory();
  const ask = (keeps: boolean) =>
    remember(
      'key',
      async () => {
        computed += 1;
        return computed;
      },
      () => keeps,
    );
  expect(await Promise.all([ask(false), ask(false)])).toEqual([1, 1]);
  expect([await ask(true), await ask(true)]).toEqual([2, 2]);
});
