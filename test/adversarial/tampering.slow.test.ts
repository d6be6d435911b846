import { describe, expect, test } from 'vitest';
import { filesToCompare, type TamperingFinding } from '../../src/core/evidence/index.ts';
import { patchBetween, type Tree } from '../core/git.ts';
import { tamperingIn } from '../core/syntax.ts';
import { HONEST } from './tampering/honest.ts';
import { HONEST_CHANGES } from './tampering/honest-changes.ts';
import { TRICKS_ELSEWHERE } from './tampering/tricks-elsewhere.ts';
import { TRICKS_IN_TESTS } from './tampering/tricks-in-tests.ts';

/** What is found as in a run: with the texts of the base that are asked for. */
function found(before: Tree, after: Tree): Promise<readonly TamperingFinding[]> {
  const patch = patchBetween(before, after);
  const texts = Object.fromEntries(
    filesToCompare(patch).flatMap((path) => (typeof before[path] === 'string' ? [[path, before[path]]] : [])),
  );
  return tamperingIn(patch, texts, { baseFiles: Object.keys(before) });
}

describe.each([
  ['tests that say less', TRICKS_IN_TESTS],
  ['what stands around the tests', TRICKS_ELSEWHERE],
])('%s', (_, tricks) => {
  test.each(tricks)('$name', async ({ kind, before, after }) => {
    const findings = await found(before, after);
    expect(findings.map((one) => one.kind)).toContain(kind);
    const finding = findings.find((one) => one.kind === kind);
    expect(['gate', 'question']).toContain(finding?.severity);
    // Binary files and links have no lines to show.
    const plain = Object.values(before).every((entry) => typeof entry === 'string');
    if (plain) expect(finding?.hunk).toMatch(/^[-+]/m);
  });
});

describe('honest work', () => {
  test.each(HONEST)('$name', async ({ before, after }) => {
    expect(await found(before, after)).toEqual([]);
  });
});

describe('changes of tests that a task may require are shown, and eliminate nobody', () => {
  test.each(HONEST_CHANGES)('$name', async ({ before, after, severity }) => {
    const findings = await found(before, after);
    expect(findings.map((one) => one.severity)).toContain(severity);
    expect(findings.filter((one) => one.severity === 'gate')).toEqual([]);
  });
});
