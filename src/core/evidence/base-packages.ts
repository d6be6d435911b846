import type { Alias } from '../model/index.ts';
import { changedPackageFiles, type Patch } from '../patches/index.ts';
import type { BaseTests, GateReport } from './evidence.ts';

/** Gates whose commands need the packages installed by set-up. */
const EXECUTED: ReadonlySet<string> = new Set(['builds', 'tests-run']);
/** Maximum files that the sentence names. */
const MAX_NAMED_FILES = 3;

interface Examined {
  readonly gates: readonly GateReport[];
  readonly baseTests?: BaseTests;
}

/**
 * Adds a note to failed gates and tests of a candidate that changes package files. Set-up runs on the base commit
 * alone, so such a candidate is built and tested without its new packages.
 */
export function withPackagesNote<T extends Examined>(alias: Alias, { files }: Patch, found: T): T {
  const failed = found.gates.some(({ gate, passed }) => !passed && EXECUTED.has(gate));
  const broke = (found.baseTests?.regressions.length ?? 0) > 0;
  const changed = failed || broke ? changedPackageFiles(files) : [];
  if (changed.length === 0) return found;
  const rest = changed.length - MAX_NAMED_FILES;
  const names = `${changed.slice(0, MAX_NAMED_FILES).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
  const because = 'is built and tested with the packages of the base commit: others may be missing.';
  return {
    ...found,
    gates: found.gates.map((report) =>
      !report.passed && EXECUTED.has(report.gate)
        ? { ...report, because: `${report.because} It changes ${names}, but ${because}` }
        : report,
    ),
    ...(found.baseTests
      ? {
          baseTests: {
            ...found.baseTests,
            notes: [...(found.baseTests.notes ?? []), `${alias} changes ${names}, but ${because}`],
          },
        }
      : {}),
  };
}
