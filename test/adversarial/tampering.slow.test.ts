import { describe, expect, test } from 'vitest';
import { type Finding, findTampering, watchedFiles } from '../../src/core/evidence/index.ts';
import { patchBetween, type Tree } from '../core/git.ts';
import { HONEST } from './tampering/honest.ts';
import { TRICKS_ELSEWHERE } from './tampering/tricks-elsewhere.ts';
import { TRICKS_IN_TESTS } from './tampering/tricks-in-tests.ts';

/** What is found as in a run: with the texts of the base that are asked for. */
function found(before: Tree, after: Tree): readonly Finding[] {
  const patch = patchBetween(before, after);
  const texts = Object.fromEntries(
    watchedFiles(patch).flatMap((path) => (typeof before[path] === 'string' ? [[path, before[path]]] : [])),
  );
  return findTampering(patch, texts, { baseFiles: Object.keys(before) });
}

describe.each([
  ['tests that say less', TRICKS_IN_TESTS],
  ['what stands around the tests', TRICKS_ELSEWHERE],
])('%s', (_, tricks) => {
  test.each(tricks)('$name', ({ kind, before, after }) => {
    const findings = found(before, after);
    expect(findings.map((one) => one.kind)).toContain(kind);
    const finding = findings.find((one) => one.kind === kind);
    expect(finding?.contested).toBe(false);
    // Binary files and links have no lines to show.
    const plain = Object.values(before).every((entry) => typeof entry === 'string');
    if (plain) expect(finding?.hunk).toMatch(/^[-+]/m);
  });
});

describe('honest work', () => {
  test.each(HONEST)('$name', ({ before, after }) => {
    expect(found(before, after)).toEqual([]);
  });
});
