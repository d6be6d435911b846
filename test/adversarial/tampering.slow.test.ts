import { describe, expect, test } from 'vitest';
import {
  filesToCompare,
  type Severity,
  type TamperingFinding,
  type TamperingKind,
} from '../../src/core/evidence/index.ts';
import { patchBetween, type Tree } from '../core/git.ts';
import { tamperingIn } from '../core/syntax.ts';
import { HONEST } from './tampering/honest.ts';
import { HONEST_CHANGES } from './tampering/honest-changes.ts';
import type { Trick } from './tampering/suites.ts';
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

/** Kinds that a task may require. All others, and the exceptions below, are gates or questions as stated. */
const QUESTIONS: ReadonlySet<TamperingKind> = new Set([
  'test-deleted',
  'assertion-removed',
  'assertion-weakened',
  'expectation-changed',
  'snapshot-changed',
  'fixture-changed',
  'threshold-lowered',
]);
/** By name: tricks that are more or less certain than their kind. */
const EXCEPTIONS: ReadonlyMap<string, Severity> = new Map<string, Severity>([
  ['a test file becomes a link', 'gate'],
  ['a home-made `expect`', 'gate'],
  ['a home-made `expect` gets its matcher twice', 'gate'],
  ['vitest: declared only under a condition', 'question'],
  ['vitest: declared in a function that nobody calls', 'question'],
  ['rust: the file is not compiled', 'question'],
  ['vitest: only under a condition', 'question'],
  ['vitest: only under a condition, on one line', 'question'],
  // Execution settles conditions: a test that the code fails without them makes a gate of it.
  ['vitest: returns early in CI', 'question'],
  ['pytest: a module of Python is replaced', 'question'],
  ['pytest: returns early', 'question'],
  ['go: returns early', 'question'],
  ['vitest: a computed value is written down', 'question'],
  ['vitest: the tested module is mocked', 'question'],
  // Honest programs do the same, for a clock that tests replace, or to print in another way.
  ['asks for CI', 'question'],
  ['asks for cfg(not(test))', 'question'],
  // The examination uses the base's version of files that only configure tests.
  ['.gitattributes: left out', 'question'],
  ['vitest: a new configuration', 'question'],
  ['vitest: a workspace that wins', 'question'],
  ['jest: a setup file', 'question'],
  ['mocha: a new configuration', 'question'],
  ['node: options for the runner', 'question'],
  ['an environment for tests', 'question'],
  ['asks for the cache of modules', 'question'],
  ['pytest: a conftest that takes tests out', 'question'],
  ['pytest: a hook that makes all pass', 'question'],
  ['pytest: options in a new file', 'question'],
  ['python: a module that is always loaded', 'question'],
  ['cargo: another program runs the tests', 'question'],
  ['junit: settings of the platform', 'question'],
  ['phpunit: a configuration that wins', 'question'],
  ['rspec: options', 'question'],
]);
const severityOf = ({ kind, name }: Trick): Severity =>
  EXCEPTIONS.get(name) ?? (QUESTIONS.has(kind) ? 'question' : 'gate');

describe.each([
  ['tests that say less', TRICKS_IN_TESTS],
  ['what stands around the tests', TRICKS_ELSEWHERE],
])('%s', (_, tricks) => {
  test.each(tricks)('$name', async (trick) => {
    const { kind, before, after } = trick;
    const findings = await found(before, after);
    expect(findings.map((one) => one.kind)).toContain(kind);
    const finding = findings.find((one) => one.kind === kind);
    expect(finding?.severity).toBe(severityOf(trick));
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
