import { isTestNamed } from '../../patches/index.ts';
import type { Suspicion, TamperingKind } from './finding.ts';
import { firstChange, type InspectedFile } from './view.ts';

/**
 * Test files that are removed or replaced as a whole. Their tests have already been compared one by one;
 * `found` says how. `added`: trimmed lines that some file of the patch adds.
 */
export function wholeFileChanges(
  inspected: InspectedFile,
  found: readonly Suspicion[],
  added: ReadonlySet<string>,
): readonly Suspicion[] {
  const { file } = inspected;
  const { change, path } = file;
  if (file.role !== 'test') return [];
  const whole = (kind: TamperingKind, what: string): readonly Suspicion[] => [
    { kind, what, at: firstChange(inspected), whole: true },
  ];
  const kind = isTestNamed(path) ? 'test-deleted' : 'fixture-changed';
  const thing = isTestNamed(path) ? 'a test file' : 'a file that tests use';
  if (change === 'type-changed')
    return [
      {
        kind: 'test-deleted',
        what: `${thing} changed its type`,
        at: firstChange(inspected),
        whole: true,
        severity: 'gate',
      },
    ];
  if (change === 'modified' && file.binary) return whole('fixture-changed', 'a binary test file was changed');
  if (change === 'modified' && isExecutable(file.oldMode) && !isExecutable(file.newMode))
    return whole('fixture-changed', `${thing} is no longer executable`);
  if (change !== 'deleted' || found.length > 0) return [];
  const lines = inspected.changes.filter(({ line }) => /\w/.test(line.text));
  const gone = lines.filter(({ line }) => !added.has(line.text.trim())).length;
  // A renamed file keeps most of its lines.
  return lines.length > 0 && gone <= lines.length / 2 ? [] : whole(kind, `${thing} was removed`);
}

const isExecutable = (mode: string): boolean => mode === '100755';
