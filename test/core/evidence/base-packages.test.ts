import { describe, expect, test } from 'vitest';
import { type BaseTests, type GateReport, withPackagesNote } from '../../../src/core/evidence/index.ts';
import type { Patch } from '../../../src/core/patches/index.ts';

const patchOf = (sections: Readonly<Record<string, string>>): Patch => {
  const files = Object.entries(sections).map(([path, section]) => ({
    path,
    change: 'modified' as const,
    oldMode: '100644',
    newMode: '100644',
    role: 'production' as const,
    additions: 1,
    deletions: 0,
    binary: false,
    hunks: [],
    section,
  }));
  return { text: '', files, production: files, tests: [] };
};
const ASKS = patchOf({
  'src/a.js': "+import leftPad from 'left-pad';",
  'package.json': '+    "left-pad": "^1.3.0",',
  'package-lock.json': '+  "node_modules/left-pad": {',
});
const builds = (passed: boolean): GateReport => ({
  gate: 'builds',
  passed,
  because: passed ? 'The build ends with exit code 0.' : 'The build ends with exit code 1.',
});
const tests = (regressions: readonly string[]): BaseTests => ({
  passed: 1,
  failed: regressions.length,
  total: 1 + regressions.length,
  regressions,
  fixed: [],
  notes: ['A note.'],
  source: 'report',
  exitCode: 1,
  ms: 1,
});

describe('a candidate that asks for another package', () => {
  test('and cannot be built: the gate names the files', () => {
    const { gates } = withPackagesNote('B', ASKS, { gates: [builds(false)] });
    expect(gates[0]?.because).toBe(
      'The build ends with exit code 1. It changes package.json, package-lock.json, but is built and tested with the packages of the base commit: others may be missing.',
    );
  });

  test('and breaks tests: the comparison names the files', () => {
    const found = { gates: [builds(true)], baseTests: tests(['a.test.js > adds']) };
    const told = withPackagesNote('B', ASKS, found);
    expect(told.gates).toEqual(found.gates);
    expect(told.baseTests?.notes).toEqual([
      'A note.',
      'B changes package.json, package-lock.json, but is built and tested with the packages of the base commit: others may be missing.',
    ]);
  });

  test('and fails nothing: nothing is said', () => {
    const found = { gates: [builds(true)], baseTests: tests([]) };
    expect(withPackagesNote('B', ASKS, found)).toBe(found);
  });
});

test('another change of a manifest is no reason for a failure', () => {
  const found = { gates: [builds(false)] };
  expect(withPackagesNote('B', patchOf({ 'package.json': '+    "lint": "biome check",' }), found)).toBe(
    found,
  );
});
