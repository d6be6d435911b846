import {
  filesUnderTest,
  isCaught,
  isSurvivor,
  type Mutant,
  type MutantCount,
  mutantsOf,
  type ParsedSource,
  testsThatCount,
} from '../../core/evidence/index.ts';
import { fileKindOf } from '../../core/likeness/index.ts';
import { type Alias, inParallel } from '../../core/model/index.ts';
import { type PatchFile, patchedText } from '../../core/patches/index.ts';
import type { TestCommand } from '../../core/settings/index.ts';
import { grammarOf, type SourceText } from '../../core/source/index.ts';
import { readTextAt } from '../context.ts';
import type { CheckRunner } from './areas.ts';
import type { ExaminationTools, ExaminedCandidate } from './candidate.ts';
import { areaId } from './execute.ts';
import { parseSources } from './syntax.ts';
import { fail, runOn, type Tree } from './trees.ts';

/** A survivor whose tests pass on the base's code. */
interface TestAuthor {
  readonly one: ExaminedCandidate;
  readonly files: readonly PatchFile[];
  readonly commands?: readonly TestCommand[];
  readonly counting: readonly string[] | null;
  readonly ms: number;
}

export interface JudgedTests {
  readonly examined: readonly ExaminedCandidate[];
  readonly mutants: ReadonlyMap<Alias, MutantCount>;
}

/** Seconds for the tests on one mutant, which may run forever: at least, and as a multiple of their usual time. */
const MIN_MUTANT_SECONDS = 10;
const MUTANT_SLOWDOWN = 5;

/**
 * Judges tests that a task asks for: they must pass on the base's code, and are compared by the share of its mutants
 * on which one of them fails. Every mutant is run for all survivors or for none.
 */
export async function judgeTests(
  tools: ExaminationTools,
  examined: readonly ExaminedCandidate[],
): Promise<JudgedTests> {
  const base = await tools.trees.of('code-under-test', []);
  const authors: TestAuthor[] = [];
  const judged: ExaminedCandidate[] = [];
  for (const one of examined) {
    const author = await authorOf(tools, base, one);
    if (author && 'counting' in author) authors.push(author);
    judged.push(author && 'gates' in author ? author : one);
  }
  const caught = new Map(authors.map(({ one }) => [one.candidate.alias, 0]));
  let total = 0;
  const all = authors.length === 0 ? [] : await mutantsFor(tools.runner, authors);
  await inParallel(tools.runner.world.parallelChecks, [...all.entries()], async ([at, mutant]) => {
    const results = await runMutant(tools, authors, { mutant, at });
    if (results === null) return;
    total += 1;
    for (const alias of results) caught.set(alias, (caught.get(alias) ?? 0) + 1);
  });
  return {
    examined: judged,
    mutants: new Map(
      total === 0 ? [] : [...caught].map(([alias, count]) => [alias, { caught: count, total }]),
    ),
  };
}

/** Runs a survivor's tests on the base's code. Null for other candidates; with a failed gate if they fail there. */
async function authorOf(
  { runner, onBase }: ExaminationTools,
  base: Tree,
  one: ExaminedCandidate,
): Promise<TestAuthor | ExaminedCandidate | null> {
  const { candidate, gates, patch } = one;
  if (!patch || !isSurvivor(gates) || !base.ready) return null;
  const { files } = patch;
  const paths = files.flatMap(({ change, path }) => (change === 'deleted' ? [] : [path]));
  const commands = runner.plan.focus(paths);
  const id = areaId(candidate.runId, candidate.alias, 'as-is');
  const alone = commands ? { commands } : {};
  const result = await runOn(runner, base, { id, tests: files, ...alone });
  const run = result.kind === 'ran' ? result.run : null;
  const failing = run
    ? Object.keys(run.tests).filter((name) => run.tests[name] === 'failed' && onBase.tests[name] !== 'failed')
    : [];
  const counting = run ? testsThatCount(onBase, run) : [];
  const isRed = counting === null && run?.exitCode !== 0 && onBase.exitCode === 0;
  if (!run || failing.length > 0 || isRed) {
    const which = failing.length > 0 ? `: ${failing.slice(0, 3).join('; ')}` : '';
    const gate = fail(
      'tests-run',
      `Its tests fail on the code of the base commit${which}. The task asks for tests, not for other code.`,
      run?.tail,
    );
    return { ...one, gates: gates.map((report) => (report.gate === 'tests-run' ? gate : report)) };
  }
  return { one, files, ...alone, counting, ms: run.ms };
}

/** Aliases whose tests fail on a mutant; null if it cannot be compared: it does not build, or time is over. */
async function runMutant(
  { runner, trees, time }: ExaminationTools,
  authors: readonly TestAuthor[],
  { mutant, at }: { readonly mutant: Mutant; readonly at: number },
): Promise<readonly Alias[] | null> {
  const expectedMs = authors.reduce((sum, { ms }) => sum + ms, 0);
  if (!(await time.allows('mutants', String(at), '', expectedMs))) return null;
  return time.measured(`mutant ${at}`, async () => {
    const tree = await trees.of(`mutant-${at}`, [mutant.patch]);
    if (!tree.ready) return null;
    const caught: Alias[] = [];
    for (const { one, files, commands, counting, ms } of authors) {
      const { runId, alias } = one.candidate;
      const id = areaId(runId, alias, 'mutant', String(at));
      const limited = withTestSeconds(runner, Math.max(MIN_MUTANT_SECONDS, (MUTANT_SLOWDOWN * ms) / 1000));
      const result = await runOn(limited, tree, { id, tests: files, ...(commands ? { commands } : {}) });
      if (result.kind !== 'ran') return null;
      if (isCaught(counting, result.run)) caught.push(alias);
    }
    return caught;
  });
}

function withTestSeconds(runner: CheckRunner, seconds: number): CheckRunner {
  const { settings } = runner.task;
  const check = Math.min(settings.timeout.check, Math.ceil(seconds));
  return {
    ...runner,
    task: { ...runner.task, settings: { ...settings, timeout: { ...settings.timeout, check } } },
  };
}

/** Mutants of the code that the task names, or that the survivors' tests import. */
async function mutantsFor(runner: CheckRunner, authors: readonly TestAuthor[]): Promise<readonly Mutant[]> {
  const { asked = '', baseFiles, source, task, world } = runner;
  const textAt = (path: string) => readTextAt(world, source, task.base.sha, path);
  const tests: SourceText[] = [];
  for (const file of authors.flatMap(({ files }) => files)) {
    const patched = patchedText(file.change === 'added' ? null : await textAt(file.path), file);
    if (patched.kind === 'text') tests.push({ path: file.path, text: patched.text });
  }
  const production = baseFiles.filter(
    (path) => /^[\w@./-]+$/.test(path) && grammarOf(path) !== null && fileKindOf(path, false) === 'source',
  );
  const sources: SourceText[] = [];
  for (const path of filesUnderTest(production, asked, tests)) {
    const text = await textAt(path);
    if (text !== null) sources.push({ path, text });
  }
  if (sources.length === 0) return [];
  const trees = await parseSources(runner, areaId(task.runId, 'mutants', 'parsed'), {
    base: [],
    patched: sources,
  });
  const parsed = sources.flatMap((one): readonly ParsedSource[] => {
    const tree = trees(one);
    return tree && !tree.isBroken ? [{ ...one, tree }] : [];
  });
  return mutantsOf(parsed, asked);
}
