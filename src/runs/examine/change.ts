import {
  declaredTests,
  findTampering,
  sourcesOf,
  type TamperingFinding,
  type TestRun,
} from '../../core/evidence/index.ts';
import type { Patch } from '../../core/patches/index.ts';
import { grammarOf } from '../../core/source/index.ts';
import { type CheckRunner, inArea, inRetriedArea } from './areas.ts';
import { baseTexts } from './changed-texts.ts';
import { applyPatch, areaId, type BuildFailure, build, withTopLayer, writeFiles } from './execute.ts';
import { runTests } from './run-tests.ts';
import { parseSources } from './syntax.ts';

type TestedChange =
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'unbuilt'; readonly broken: BuildFailure }
  | { readonly kind: 'ran'; readonly run: TestRun };

type NotTested = Exclude<TestedChange, { readonly kind: 'ran' }>;

interface ChangeToTest {
  readonly patch: string;
  /** Texts by path, written over the result once it is built. */
  readonly files: Readonly<Record<string, string>>;
  /** Builds once more with these files, for tests that are compiled; the files are then written again. */
  readonly rebuild?: boolean;
}

/**
 * Applies a patch to the base, builds the result, and runs the test commands. Files are written over it in a fresh area
 * above the built one, so that a build can neither read nor replace them, unless they must be built themselves. An empty
 * patch is the base itself. `name` becomes part of the areas' ids.
 */
export async function testChange(
  runner: CheckRunner,
  name: string,
  change: ChangeToTest,
): Promise<TestedChange> {
  const id = areaId(runner.task.runId, name);
  const codeRan = { ...runner, codeRan: runner.codeRan || Boolean(runner.task.settings.checks.build) };
  const hasFiles = Object.keys(change.files).length > 0;
  if (!hasFiles)
    return inArea(runner, id, async (area): Promise<TestedChange> => {
      const failed = await applyAndBuild(runner, area, change.patch);
      return failed ?? { kind: 'ran', run: await runTests(codeRan, area) };
    });
  const built = await inRetriedArea(runner, id, (area) => applyAndBuild(runner, area, change.patch));
  try {
    return built.result ?? (await testWithFiles(withTopLayer(codeRan, built.area), `${id}-over`, change));
  } finally {
    await runner.world.workspaces.remove(built.area);
  }
}

type CheckedArea = Parameters<typeof build>[1];

async function applyAndBuild(
  runner: CheckRunner,
  area: CheckedArea,
  patch: string,
): Promise<NotTested | null> {
  const refused = await applyPatch(runner, area, patch);
  if (refused !== null) return { kind: 'refused', why: refused };
  const broken = await build(runner, area);
  return broken ? { kind: 'unbuilt', broken } : null;
}

const testWithFiles = (
  runner: CheckRunner,
  id: string,
  { files, rebuild = false }: ChangeToTest,
): Promise<TestedChange> =>
  inArea(runner, id, async (area): Promise<TestedChange> => {
    const unwritten = await writeFiles(runner, area, files);
    if (unwritten !== null) return { kind: 'refused', why: unwritten };
    if (!rebuild) return { kind: 'ran', run: await runTests(runner, area) };
    const broken = await build(runner, area);
    if (broken) return { kind: 'unbuilt', broken };
    const replaced = await writeFiles(runner, area, files);
    return replaced === null
      ? { kind: 'ran', run: await runTests(runner, area) }
      : { kind: 'refused', why: replaced };
  });

/** What a patch does to tests and their settings, or in code that tests run, as runs find it in a candidate. */
export async function tamperingIn(
  runner: CheckRunner,
  name: string,
  patch: Patch,
): Promise<readonly TamperingFinding[]> {
  const texts = await baseTexts(runner, patch);
  const syntax = await parseSources(runner, areaId(runner.task.runId, name), sourcesOf(patch, texts));
  return findTampering(patch, texts, { syntax, baseFiles: runner.baseFiles });
}

/** Number of tests that each of these texts declares, by path; 0 for a language that Runoff cannot parse. */
export async function testsDeclaredIn(
  runner: CheckRunner,
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, number>>> {
  const sources = Object.entries(files).map(([path, text]) => ({ path, text }));
  const known = sources.filter(({ path }) => grammarOf(path) !== null);
  const trees = await parseSources(runner, areaId(runner.task.runId, name), { base: [], patched: known });
  return Object.fromEntries(sources.map((source) => [source.path, declaredTests(source, trees)]));
}
