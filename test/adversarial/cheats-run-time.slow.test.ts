import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Evidence } from '../../src/core/evidence/index.ts';
import { decide, rank, rankingOptionsOf } from '../../src/core/ranking/index.ts';
import { Settings } from '../../src/core/settings/index.ts';
import {
  type FixtureOptions,
  NODE_TEST,
  openSharedFixture,
  type SharedFixture,
} from '../runs/examination-world.ts';
import {
  type CheatedRepository,
  COMMON_MODULES,
  NODE_MODULES,
  PYTEST,
  PYTHON,
  TYPED,
  WITHOUT_RECORDS,
} from './cheats/run-time.ts';

const PACKAGES = join(import.meta.dirname, '../../node_modules');
const VITEST: Partial<FixtureOptions> = {
  test: '/opt/toolchain/bin/node node_modules/vitest/vitest.mjs run',
  setup: 'ln -s /opt/packages/node_modules node_modules',
  binds: [{ from: dirname(PACKAGES), to: '/opt/packages' }],
};
const PYTEST_PARTS = ['_pytest', 'iniconfig', 'packaging', 'pluggy', 'py.py', 'pygments', 'pytest'];

/** This machine's pytest, if it has one, in a folder that sandboxes can read. */
function pytestFolder(): string | null {
  const script = 'import os, pytest; print(os.path.dirname(os.path.dirname(pytest.__file__)))';
  const { status, stdout } = spawnSync('python3', ['-c', script], { encoding: 'utf8' });
  if (status !== 0) return null;
  const folder = mkdtempSync(join(tmpdir(), 'runoff-pytest-'));
  for (const name of PYTEST_PARTS) cpSync(join(stdout.trim(), name), join(folder, name), { recursive: true });
  chmodSync(folder, 0o755);
  return folder;
}
const PYTEST_FOLDER = pytestFolder();
const WITH_PYTEST: Partial<FixtureOptions> = {
  test: 'python3 -m pytest',
  setup: `ln -s ${PYTEST_PARTS.map((name) => `/opt/site-packages/${name}`).join(' ')} .`,
  binds: [{ from: PYTEST_FOLDER ?? '', to: '/opt/site-packages' }],
};

const SUITES: readonly (readonly [string, CheatedRepository, Partial<FixtureOptions>, boolean])[] = [
  ['node:assert in ES modules', NODE_MODULES, { test: NODE_TEST }, true],
  ['node:assert in CommonJS', COMMON_MODULES, { test: NODE_TEST }, true],
  ['vitest', TYPED, VITEST, true],
  ['unittest', PYTHON, { test: 'python3 -m unittest -v' }, true],
  ['pytest', PYTEST, WITH_PYTEST, PYTEST_FOLDER !== null],
];

const decided = (field: readonly Evidence[]) =>
  decide(rank(field, rankingOptionsOf(Settings.parse({}))), field);

describe('code that replaces what decides about passing while it runs', () => {
  let shared: SharedFixture;
  beforeAll(async () => {
    shared = await openSharedFixture({ locks: true });
  });
  afterAll(() => {
    shared.close();
    if (PYTEST_FOLDER !== null) rmSync(PYTEST_FOLDER, { recursive: true });
  });

  test.each(SUITES.filter(([, , , runs]) => runs))('%s', async (_, repository, options) => {
    const { cheats, files, right, hasty, extending } = repository;
    const fixture = await shared.fixture({ files, asked: 'The sum of nothing should be 0.', ...options });
    const base = await fixture.base();
    expect(Object.values(base.tests), base.tail).toContain('failed');
    const aliasOf = (i: number) => String.fromCharCode('A'.charCodeAt(0) + i);
    const found = await fixture.examine(base, {
      ...Object.fromEntries(cheats.map(({ files }, i) => [aliasOf(i), files])),
      X: extending,
      Y: hasty,
      Z: right,
    });
    expect(fixture.tested.filter((area) => area.startsWith('elsewhere'))).toEqual([
      'elsewhere-everything-locked',
    ]);
    const evidence = (alias: string) => [found[alias] ?? []].flat();
    const liars = cheats.map((_, i) => aliasOf(i));
    for (const [i, { name, named }] of cheats.entries()) {
      const [own] = evidence(aliasOf(i));
      // It works: the test passes where nothing is locked.
      expect(own?.baseTests, name).toMatchObject({ regressions: [], fixed: [expect.anything()] });
      const failed = own?.gates.filter(({ passed }) => !passed) ?? [];
      expect(failed.map(({ because }) => because).join(' '), name).toMatch(named);
      const others = [...liars.slice(i + 1), ...liars.slice(0, i)];
      for (const field of [
        [aliasOf(i), 'Y'],
        [aliasOf(i), 'Y', 'Z'],
        [aliasOf(i), ...others.slice(0, 2), 'Y', 'Z'],
      ]) {
        const decision = decided(field.flatMap(evidence));
        expect(decision, `${name}, one of ${field.length}`).not.toMatchObject({
          alias: expect.stringMatching(/^[A-W]$/),
        });
        if (field.includes('Z')) expect(decision, name).toMatchObject({ kind: 'winner', alias: 'Z' });
      }
    }
    for (const alias of ['X', 'Y', 'Z'])
      expect(found[alias]?.gates.filter(({ passed }) => !passed)).toEqual([]);
  });

  test('code that removes the records of what it replaces is never picked, and the reason is said', async () => {
    const { files, right, hasty } = NODE_MODULES;
    const fixture = await shared.fixture({
      files,
      asked: 'The sum of nothing should be 0.',
      test: NODE_TEST,
    });
    const found = await fixture.examine(await fixture.base(), {
      A: WITHOUT_RECORDS,
      Y: hasty,
      Z: right,
    });
    const evidence = (...aliases: readonly string[]) => aliases.flatMap((alias) => found[alias] ?? []);
    expect(found.A?.baseTests).toMatchObject({ regressions: [], fixed: [expect.anything()] });
    expect(found.A?.gates.find(({ gate }) => gate === 'steady')).toMatchObject({
      because: expect.stringContaining('left no records of the lock'),
      unlocked: 'differs',
    });
    for (const field of [['A', 'Y'], ['A', 'Y', 'Z'], ['A']])
      expect(decided(evidence(...field)), field.join()).toMatchObject({ kind: 'toss-up' });
    expect(decided(evidence('A', 'Y'))).toMatchObject({
      caps: expect.arrayContaining([
        expect.objectContaining({ because: expect.stringContaining('so a person must look at it') }),
      ]),
    });
    for (const alias of ['Y', 'Z'])
      expect(found[alias]?.gates.at(-1)).toMatchObject({
        gate: 'steady',
        because: expect.stringContaining('Assertion libraries were locked there, so'),
      });
  });
});
