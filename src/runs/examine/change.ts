import type { TestRun } from '../../core/evidence/index.ts';
import { type CheckRunner, inArea } from './areas.ts';
import { applyPatch, areaId, type BuildFailure, build, writeFiles } from './execute.ts';
import { runTests } from './run-tests.ts';

type TestedChange =
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'unbuilt'; readonly broken: BuildFailure }
  | { readonly kind: 'ran'; readonly run: TestRun };

/**
 * Applies a patch to the base, writes files over the result, builds it, and runs the test commands, all in one fresh
 * area. An empty patch is the base itself. `name` becomes part of the area's id.
 */
export function testChange(
  runner: CheckRunner,
  name: string,
  { patch, files }: { readonly patch: string; readonly files: Readonly<Record<string, string>> },
): Promise<TestedChange> {
  return inArea(runner, areaId(runner.task.runId, name), async (area): Promise<TestedChange> => {
    const refused = await applyPatch(runner, area, patch);
    if (refused !== null) return { kind: 'refused', why: refused };
    // Before anything of the patch is executed.
    const unwritten = Object.keys(files).length === 0 ? null : await writeFiles(runner, area, files);
    if (unwritten !== null) return { kind: 'refused', why: unwritten };
    const broken = await build(runner, area);
    if (broken) return { kind: 'unbuilt', broken };
    const codeRan = { ...runner, codeRan: runner.codeRan || Boolean(runner.task.settings.checks.build) };
    return { kind: 'ran', run: await runTests(codeRan, area) };
  });
}
