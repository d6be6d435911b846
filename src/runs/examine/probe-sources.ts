import { isSurvivor } from '../../core/evidence/index.ts';
import { patchedText, roleOf } from '../../core/patches/index.ts';
import type { CheckRunner } from './areas.ts';
import type { ExaminedCandidate } from './candidate.ts';

/** Maximum number of base test files from which probes are derived. Our default. */
const MAX_TESTS = 12;
/** Languages whose test files can be parsed for probes. */
const READABLE = /\.(?:[cm]?[jt]sx?|py)$/;

/** The test files from which probes are derived. */
export function probeSources(runner: CheckRunner, ready: readonly ExaminedCandidate[]) {
  const tests = probeTestFiles(runner, ready);
  const added = ready.filter(({ gates }) => isSurvivor(gates)).flatMap(addedTestFiles);
  return { tests, added, count: tests.length + added.length };
}

/**
 * Base test files from which probes are derived: those named by the command, then those closest to the changed files.
 */
function probeTestFiles(
  { baseFiles, plan }: CheckRunner,
  ready: readonly ExaminedCandidate[],
): readonly string[] {
  const all = baseFiles.filter((path) => roleOf(path) === 'test' && READABLE.test(path));
  const named = all.filter((path) => plan.commands.some(({ command }) => command.includes(path)));
  if (named.length > 0) return named.slice(0, MAX_TESTS);
  const changed = new Set(
    ready.flatMap(({ patch }) => (patch ? patch.production : []).map(({ path }) => stemOf(path))),
  );
  const far = (path: string) => (changed.has(stemOf(path)) ? 0 : 1);
  return all.toSorted((a, b) => far(a) - far(b)).slice(0, MAX_TESTS);
}

/** `src/list.ts` and `test/list.test.ts` have the same stem. */
const stemOf = (path: string): string =>
  (path.split('/').at(-1) ?? '')
    .replace(/^test[_-]/, '')
    .replace(/[._-](?:test|spec)\b/, '')
    .split('.')[0] ?? '';

/** Whole test files that a candidate adds, each under a unique name. */
function addedTestFiles({ patch, candidate }: ExaminedCandidate) {
  return (patch ? patch.tests : []).flatMap((file) => {
    const text = file.change === 'added' && READABLE.test(file.path) ? patchedText(null, file) : null;
    if (text?.kind !== 'text') return [];
    const path = file.path.replace(/[^/]+$/, (name) => `by-${candidate.alias.toLowerCase()}-${name}`);
    return [{ path, text: text.text, by: candidate.alias }];
  });
}
