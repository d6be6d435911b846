import {
  type BaseResult,
  checkScripts,
  countsOfRun,
  notCounting,
  notStarted,
  type TestCounts,
  type Verification,
  verificationOf,
  whyUnrated,
} from '../../core/arena/index.ts';
import { findingText, type TamperingKind, type TestRun } from '../../core/evidence/index.ts';
import { asFault } from '../../core/model/index.ts';
import { type Patch, roleOf } from '../../core/patches/index.ts';
import { tamperingIn } from '../examine/index.ts';
import {
  baseRuns,
  type ReadDiff,
  readDiff,
  referenceRuns,
  runsOn,
  type TreeRuns,
  whyUnsolved,
} from './executed.ts';
import type { TaskBase } from './verify.ts';

const executedCounts = (
  { built, verify, hidden }: TreeRuns,
  onBase: TestCounts | null,
): Pick<Verification, 'built' | 'tests' | 'hiddenTests'> => ({
  built,
  tests: verify && countsOfRun(verify, onBase),
  hiddenTests: hidden === 'unbuilt' ? NOT_RUN : hidden && countsOfRun(hidden, null),
});

/** Hidden tests that cannot even be built have failed: on the base, what they test is often missing. */
const NOT_RUN: TestCounts = {
  passed: 0,
  failed: 1,
  skipped: 0,
  ok: false,
  reported: false,
  seconds: 0,
  failures: [],
};

/** What the base shows without an answer, and with the task's reference: it decides whether the task is rated. */
export async function verifyBase(
  base: TaskBase,
  name: string,
): Promise<Pick<BaseResult, 'built' | 'tests' | 'hiddenTests' | 'rated' | 'why'>> {
  const runs = await baseRuns(base, name);
  const executed = executedCounts(runs, null);
  const reference = runs.built === false ? null : await referenceRuns(base, name);
  const broken = { notStarted: commandNotStarted(runs), reference: reference && referenceFailure(reference) };
  const unrated = whyUnrated(executed, broken);
  const why = unrated === null || runs.why === null ? unrated : `${unrated} ${runs.why}`;
  return { ...executed, rated: unrated === null, why };
}

function commandNotStarted({ verify, hidden, beside }: TreeRuns): string | null {
  const decisive = hidden === 'unbuilt' ? null : hidden;
  const of = (run: TestRun | null) => run && notStarted('verify commands', run);
  return (decisive && notStarted('hidden tests', decisive)) ?? of(verify) ?? of(beside);
}

function referenceFailure({ runs, why }: NonNullable<Awaited<ReturnType<typeof referenceRuns>>>) {
  if (runs === null || why !== null) return why;
  return verificationOf(executedCounts(runs, null), { change: null, why }).why;
}

/**
 * Applies a diff to the base and decides whether it solves the task (`verificationOf`). Left out of it: changes to the
 * settings of test runners and to scripts that the commands name, and before hidden tests also changed tests.
 */
export async function verifyDiff(
  base: TaskBase,
  name: string,
  diff: string,
  onBase: Pick<BaseResult, 'tests' | 'hiddenTests'>,
): Promise<Verification> {
  const read = await readDiff(base, name, diff);
  if (typeof read === 'string') return notApplied(read);
  const reference = await referenceRuns(base, name);
  const isPart = (path: string) =>
    base.statement.includes(path) || (reference?.why === null && reference.paths.includes(path));
  const scripts = checkScripts(base.commands, base.runner.baseFiles).filter((path) => !isPart(path));
  const production = read.patch.production.filter(({ path }) => !scripts.includes(path));
  const leftOut = read.patch.production.filter(({ path }) => scripts.includes(path));
  const { tests } = read.patch;
  if (production.length + tests.length === 0)
    return notApplied('The diff changes nothing but how the task is verified.');
  const runs = await runsOn(base, name, { production, tests });
  const solving = reference !== null && reference.why === null && isSolved(reference.runs);
  const unsolved = await whyUnsolved(base, name, runs, solving ? reference.runs : null);
  const counts = withVerdict(executedCounts(runs, runs.hidden === null ? null : onBase.tests), unsolved);
  const found =
    unsolved ?? (isSolved(runs) ? await tamperedText(base, name, read.patch, { runs, isPart }) : null);
  const verification = verificationOf(counts, { change: sizeOfChange(read), why: found });
  if (verification.solved || leftOut.length === 0) return verification;
  const named = leftOut.map(({ path }) => path).join(', ');
  const why = `${verification.why} Left out of the change: ${named}, which the commands of the task run.`;
  return { ...verification, why };
}

type ExecutedCounts = ReturnType<typeof executedCounts>;

function withVerdict(counts: ExecutedCounts, why: string | null): ExecutedCounts {
  const { tests, hiddenTests } = counts;
  if (why === null) return counts;
  return hiddenTests === null
    ? { ...counts, tests: tests && notCounting(tests) }
    : { ...counts, hiddenTests: notCounting(hiddenTests) };
}

const sizeOfChange = ({ files, additions, deletions }: ReadDiff): Verification['change'] => ({
  files,
  additions,
  deletions,
});

const isSolved = (runs: TreeRuns | null): boolean =>
  runs !== null && verificationOf(executedCounts(runs, null), { change: null, why: runs.why }).solved;

/** Kinds that production code can use against tests that are not its own. */
const AGAINST_TESTS: ReadonlySet<TamperingKind> = new Set([
  'exit-trick',
  'environment-detected',
  'assertions-patched',
]);

/** What disqualifies a candidate of a run, in the part of the patch that ran; null for nothing. */
async function tamperedText(
  base: TaskBase,
  name: string,
  patch: Patch,
  { runs, isPart }: { readonly runs: TreeRuns; readonly isPart: (path: string) => boolean },
): Promise<string | null> {
  const decisive = runs.hidden ?? runs.verify;
  const isReported = decisive !== 'unbuilt' && decisive?.source === 'report';
  const found = (await tamperingIn(base.runner, `${name}-read`, patch)).find(
    ({ kind, path, severity }) =>
      roleOf(path) === 'production' &&
      ((severity === 'gate' && AGAINST_TESTS.has(kind)) ||
        // Without a report, a changed script may run nothing at all.
        (kind === 'runner-configured' && !isReported && !isPart(path))),
  );
  return found === undefined ? null : `${findingText(found)}.`;
}

const notApplied = (why: string): Verification => ({
  applied: false,
  built: null,
  tests: null,
  hiddenTests: null,
  solved: false,
  why,
  change: null,
});

/** A base that cannot be set up is a result; every other fault is one of this machine. */
export function brokenBase(
  thrown: unknown,
): Pick<BaseResult, 'built' | 'tests' | 'hiddenTests' | 'rated' | 'why'> {
  const { code, message } = asFault(thrown);
  if (code !== 'BASE_BROKEN') throw thrown;
  return { built: false, tests: null, hiddenTests: null, rated: false, why: message.slice(0, 4_000) };
}
