import {
  baseTestsThatCount,
  controlOf,
  filesUnderTest,
  isCaught,
  isSurvivor,
  type Mutant,
  type MutantCount,
  mutantsOf,
  type ParsedSource,
  testsThatCount,
  withoutTextTests,
} from '../../core/evidence/index.ts';
import { fileKindOf } from '../../core/likeness/index.ts';
import { type Alias, inParallel } from '../../core/model/index.ts';
import { type PatchFile, patchedText } from '../../core/patches/index.ts';
import type { TestCommand } from '../../core/settings/index.ts';
import { grammarOf, type SourceText } from '../../core/source/index.ts';
import { readTextAt } from '../context.ts';
import { askingLanesOf, type CheckRunner } from './areas.ts';
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

/** Mutants, and the code that differs from the base in comments or spaces alone. */
interface MutantPlan {
  readonly mutants: readonly Mutant[];
  readonly control: readonly PatchFile[];
}

interface JudgedTests {
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
  const counts = await countCaught(tools, authors);
  return { examined: judged, mutants: counts ?? new Map() };
}

/** Null if no mutant was run, or if a failure would show nothing: where the base is red and leaves no report. */
async function countCaught(
  tools: ExaminationTools,
  authors: readonly TestAuthor[],
): Promise<ReadonlyMap<Alias, MutantCount> | null> {
  const ofBase = baseTestsThatCount(tools.onBase);
  if (authors.length === 0 || ofBase === undefined) return null;
  const { mutants, control } = await mutantsFor(tools.runner, authors);
  if (mutants.length === 0) return null;
  const checked = await runControl(tools, authors, control);
  if (checked === null) return null;
  const caught = new Map(authors.map(({ one }) => [one.candidate.alias, 0]));
  let total = 0;
  const done = tools.time.step('mutants', mutants.length);
  await inParallel(askingLanesOf(tools.runner), [...mutants.entries()], async ([at, mutant]) => {
    const results = await runMutant(tools, checked.authors, { mutant, at, ofBase });
    done();
    if (results === null) return;
    total += 1;
    for (const alias of results) caught.set(alias, (caught.get(alias) ?? 0) + 1);
  });
  if (total === 0) return null;
  return new Map(
    [...caught].map(([alias, count]) => {
      const discarded = checked.discarded.get(alias) ?? 0;
      return [alias, { caught: count, total, ...(discarded > 0 ? { discarded } : {}) }];
    }),
  );
}

/** The authors without tests that compare text; null if the control cannot be run, so that no mutant can be judged. */
async function runControl(
  { runner, trees, time }: ExaminationTools,
  authors: readonly TestAuthor[],
  control: readonly PatchFile[],
): Promise<{
  readonly authors: readonly TestAuthor[];
  readonly discarded: ReadonlyMap<Alias, number>;
} | null> {
  const expectedMs = authors.reduce((sum, { ms }) => sum + ms, 0);
  if (control.length === 0 || !(await time.allows('mutants', 'control', '', expectedMs))) return null;
  return time.measured('mutant control', async () => {
    const tree = await trees.of('mutant-control', control);
    try {
      if (!tree.ready) return null;
      const kept: TestAuthor[] = [];
      const discarded = new Map<Alias, number>();
      for (const author of authors) {
        const { one, files, commands } = author;
        const id = areaId(one.candidate.runId, one.candidate.alias, 'mutant', 'control');
        const result = await runOn(runner, tree, { id, tests: files, ...(commands ? { commands } : {}) });
        if (result.kind !== 'ran') return null;
        const found = withoutTextTests(author.counting, result.run);
        kept.push({ ...author, counting: found.counting });
        discarded.set(one.candidate.alias, found.discarded);
      }
      return { authors: kept, discarded };
    } finally {
      await trees.remove(tree);
    }
  });
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
    const because = `Its tests fail on the code of the base commit${which}. The task asks for tests, not for other code.`;
    const gate = {
      ...fail('tests-run', because, run?.tail),
      ...(run ? { ownTestsFail: true as const } : {}),
    };
    return { ...one, gates: gates.map((report) => (report.gate === 'tests-run' ? gate : report)) };
  }
  return { one, files, ...alone, counting, ms: run.ms };
}

/**
 * Aliases whose tests fail on a mutant. Null if it does not count: the base's tests catch it too, it does not build, or
 * time is over.
 */
async function runMutant(
  { runner, trees, time, onBase }: ExaminationTools,
  authors: readonly TestAuthor[],
  { mutant, at, ofBase }: { mutant: Mutant; at: number; ofBase: readonly string[] | null },
): Promise<readonly Alias[] | null> {
  const expectedMs = authors.reduce((sum, { ms }) => sum + ms, onBase.ms);
  if (!(await time.allows('mutants', String(at), '', expectedMs))) return null;
  return time.measured(`mutant ${at}`, async () => {
    const tree = await trees.of(`mutant-${at}`, [mutant.patch]);
    try {
      if (!tree.ready) return null;
      const id = areaId(runner.task.runId, `mutant-${at}`, 'base');
      const own = await runOn(runner, tree, { id, testSeconds: secondsFor(onBase.ms) });
      if (own.kind !== 'ran' || isCaught(ofBase, own.run)) return null;
      const caught: Alias[] = [];
      for (const author of authors) {
        const catches = await isCaughtTwice(runner, tree, author, at);
        if (catches === null) return null;
        if (catches) caught.push(author.one.candidate.alias);
      }
      return caught;
    } finally {
      await trees.remove(tree);
    }
  });
}

const secondsFor = (ms: number): number => Math.max(MIN_MUTANT_SECONDS, (MUTANT_SLOWDOWN * ms) / 1000);

/** A failure or a timeout counts only if it repeats. Null if the tests cannot be run. */
async function isCaughtTwice(
  runner: CheckRunner,
  tree: Tree,
  { one, files, commands, counting, ms }: TestAuthor,
  at: number,
): Promise<boolean | null> {
  if (counting?.length === 0) return false;
  const { runId, alias } = one.candidate;
  for (const attempt of [1, 2]) {
    const result = await runOn(runner, tree, {
      id: areaId(runId, alias, 'mutant', `${at}-${attempt}`),
      tests: files,
      attempt,
      testSeconds: secondsFor(ms),
      ...(commands ? { commands } : {}),
    });
    if (result.kind !== 'ran') return null;
    if (!isCaught(counting, result.run)) return false;
  }
  return true;
}

/** Mutants of the code that the task names, or that the survivors' tests import. */
async function mutantsFor(runner: CheckRunner, authors: readonly TestAuthor[]): Promise<MutantPlan> {
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
  if (sources.length === 0) return { mutants: [], control: [] };
  const trees = await parseSources(runner, areaId(task.runId, 'mutants', 'parsed'), {
    base: [],
    patched: sources,
  });
  const parsed = sources.flatMap((one): readonly ParsedSource[] => {
    const tree = trees(one);
    return tree && !tree.isBroken ? [{ ...one, tree }] : [];
  });
  const mutants = mutantsOf(parsed, asked);
  return { mutants, control: controlOf(parsed, mutants) };
}
