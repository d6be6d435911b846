import {
  type AuthorResults,
  type AuthorTests,
  hangs,
  isSurvivor,
  outputOf,
  resultsOn,
  type TestRun,
  type TreeTestResult,
  unlessRewritten,
  withNamesOf,
} from '../../core/evidence/index.ts';
import { type Alias, byCodeUnits, inParallel } from '../../core/model/index.ts';
import { askingLanesOf } from './areas.ts';
import type { ExaminationTools, ExaminedCandidate } from './candidate.ts';
import { areaId } from './execute.ts';
import { rerunSuspects } from './repeats.ts';
import {
  asksSomething,
  type BuiltSurvivor,
  confirmedTests,
  howOf,
  runOnTree,
  type TestAuthor,
  testAuthorOf,
} from './test-authors.ts';
import { msOfFiles } from './time.ts';

/** Results of survivors' own tests. */
export interface PeerResults {
  /** By author. */
  readonly tests: ReadonlyMap<Alias, AuthorTests>;
  readonly results: readonly AuthorResults[];
}

/**
 * Runs every survivor's own test files on the base, to find out what they require, and then on every other survivor's
 * code: no candidate is judged by its own tests. Each author's files run separately, since a test could otherwise make
 * another author's fail (docs/decisions/0024). What failed runs once more at the end, as far as time allows: a flaky test
 * must not decide (docs/decisions/0253).
 */
export async function runPeerTests(
  tools: ExaminationTools,
  examined: readonly ExaminedCandidate[],
  alike: (alias: Alias) => readonly Alias[],
): Promise<PeerResults> {
  const survivors = examined.flatMap((one) =>
    isSurvivor(one.gates) && one.tree?.ready && one.patch
      ? [{ ...one, tree: one.tree, patch: one.patch }]
      : [],
  );
  const authors = await findAuthors(tools, survivors);
  // Candidates with the same change count as the author too.
  const peersOf = ({ survivor: { tree, candidate } }: TestAuthor) =>
    survivors.filter((one) => one.tree !== tree && !alike(candidate.alias).includes(one.candidate.alias));
  const pairs = authors.flatMap((author): readonly Pair[] =>
    peersOf(author).map((peer) => ({ author, peer })),
  );
  const allows = allowsAuthor(tools, (author) => peersOf(author).length);
  const found = new Map<Pair, CountedRun>();
  const leftOut = new Set<TestAuthor>();
  const done = tools.time.step('peer-tests', pairs.length);
  await inParallel(askingLanesOf(tools.runner), pairs, async (pair) => {
    const { author, peer } = pair;
    if (!(await allows(author))) leftOut.add(author);
    if (leftOut.has(author)) return;
    const name = `tests of ${author.survivor.candidate.alias} on ${peer.candidate.alias}`;
    found.set(pair, await tools.time.measured(name, () => runOnPeer(tools, pair)));
    done();
  });
  const tests = await confirmedByRepeats(tools, authors, found);
  return {
    tests: new Map([...tests].map(([{ survivor }, own]) => [survivor.candidate.alias, own])),
    results: [...tests].flatMap(([author, own]) => {
      if (leftOut.has(author)) return [];
      // In the order of candidates, whichever command ended first.
      const onPeers = pairs.flatMap((pair) => {
        const counted = pair.author === author ? found.get(pair) : undefined;
        return counted ? [resultsOnPeer(pair, own, counted.result)] : [];
      });
      return [{ author: author.survivor.candidate.alias, tests: own, onPeers }];
    }),
  };
}

/** One author's tests, and another candidate on which they are run. */
interface Pair {
  readonly author: TestAuthor;
  readonly peer: BuiltSurvivor;
}

/** What counts of an author's tests on another candidate, and which attempt it was: repeats are the next ones. */
interface CountedRun {
  readonly result: TreeTestResult;
  readonly attempt: number;
}

/**
 * Runs once more what failed, last of all, so that no first run has less time for it: on the base, which says what the
 * tests of each author require, and then on others, whose results (`found`) are replaced.
 */
async function confirmedByRepeats(
  tools: ExaminationTools,
  authors: readonly TestAuthor[],
  found: Map<Pair, CountedRun>,
): Promise<ReadonlyMap<TestAuthor, AuthorTests>> {
  const { time, runner } = tools;
  const lanes = askingLanesOf(runner);
  const confirmed = new Map<TestAuthor, AuthorTests>();
  await inParallel(lanes, authors, async (author) => {
    const name = `tests of ${author.survivor.candidate.alias} on the base again`;
    confirmed.set(author, await time.measured(name, () => confirmedTests(tools, author)));
  });
  await inParallel(lanes, [...found], async ([pair, counted]) => {
    const tests = confirmed.get(pair.author) ?? pair.author.tests;
    const name = `tests of ${pair.author.survivor.candidate.alias} on ${pair.peer.candidate.alias} again`;
    const result = await time.measured(name, () => confirmedOnPeer(tools, pair, tests, counted));
    found.set(pair, { ...counted, result });
  });
  return new Map(authors.map((author) => [author, confirmed.get(author) ?? author.tests]));
}

/** What survivors' own tests require, as far as time allows; cheapest first. */
async function findAuthors(
  tools: ExaminationTools,
  survivors: readonly BuiltSurvivor[],
): Promise<readonly TestAuthor[]> {
  const inOrder = survivors.filter(({ own }) => own).toSorted(cheapestFirst(tools));
  const found = new Map<BuiltSurvivor, TestAuthor>();
  const done = tools.time.step('own-tests', inOrder.length);
  await inParallel(askingLanesOf(tools.runner), inOrder, async (one) => {
    const { alias } = one.candidate;
    if (!(await tools.time.allows('peer-tests', alias, 'base', suiteMs(tools, one)))) return;
    const work = () => testAuthorOf(tools, one);
    const author = await tools.time.measured(`tests of ${alias} on the base`, work);
    if (author) found.set(one, author);
    done();
  });
  return inOrder.flatMap((one) => found.get(one) ?? []);
}

/** An author's tests are run on all other candidates or on none, so that no candidate gains from being skipped. */
function allowsAuthor(
  tools: ExaminationTools,
  peers: (author: TestAuthor) => number,
): (author: TestAuthor) => Promise<boolean> {
  const { time, runner } = tools;
  const asked = new Map<TestAuthor, Promise<boolean>>();
  return (author) => {
    if (!asksSomething(author)) return Promise.resolve(true);
    const rounds = Math.ceil(peers(author) / Math.max(1, runner.world.parallelChecks));
    const expectedMs = rounds * suiteMs(tools, author.survivor);
    const answer =
      asked.get(author) ?? time.allows('peer-tests', author.survivor.candidate.alias, 'others', expectedMs);
    asked.set(author, answer);
    return answer;
  };
}

/** Expected time of an author's tests on one tree, which is built with them, in milliseconds. */
function suiteMs(tools: ExaminationTools, { patch }: BuiltSurvivor): number {
  const { runner, onBase } = tools;
  const paths = patch.tests.filter((file) => file.change !== 'deleted').map((file) => file.path);
  const testsMs = runner.plan.focus(paths) ? msOfFiles(tools, paths.length) : onBase.ms;
  return (onBase.buildMs ?? 0) + testsMs;
}

/** Ordered by duration, then by content, so that the cut does not depend on names. */
const cheapestFirst =
  (tools: ExaminationTools) =>
  (a: BuiltSurvivor, b: BuiltSurvivor): number =>
    suiteMs(tools, a) - suiteMs(tools, b) ||
    byCodeUnits(a.candidate.patch?.sha256 ?? '', b.candidate.patch?.sha256 ?? '');

const areaOnPeer = ({ author, peer: { candidate } }: Pair): string =>
  areaId(candidate.runId, candidate.alias, 'from', author.survivor.candidate.alias);

async function runOnPeer(tools: ExaminationTools, pair: Pair, attempt = 1): Promise<CountedRun> {
  const { author, peer } = pair;
  if (!asksSomething(author)) return { result: { kind: 'unfit' }, attempt };
  const id = attempt > 1 ? `${areaOnPeer(pair)}-${attempt}` : areaOnPeer(pair);
  const result = await runOnTree(tools, peer.tree, { ...howOf(author), id, attempt });
  if (result.kind !== 'ran') return { result, attempt };
  if (attempt === 1 && mayBeMachine(result.run)) return runOnPeer(tools, pair, 2);
  return { result: { kind: 'ran', run: withNamesOf(author.runs.own, result.run) }, attempt };
}

/** The result after those of these tests that fail ran there once more. */
async function confirmedOnPeer(
  tools: ExaminationTools,
  pair: Pair,
  { proven, guards }: AuthorTests,
  { result, attempt }: CountedRun,
): Promise<TreeTestResult> {
  const { author, peer } = pair;
  if (result.kind !== 'ran' || unlessRewritten(result, author.writes).kind !== 'ran') return result;
  const ids = [...proven, ...guards];
  const marks = resultsOn(ids, result, author.introduces);
  const suspects = ids.filter((_, at) => marks[at] === 'f');
  const options = { ...howOf(author), id: areaOnPeer(pair), attempt };
  return { kind: 'ran', run: await rerunSuspects(tools, peer.tree, options, { run: result.run, suspects }) };
}

function resultsOnPeer(
  { author: { writes, introduces }, peer }: Pair,
  { proven, guards }: AuthorTests,
  result: TreeTestResult,
): AuthorResults['onPeers'][number] {
  return {
    peer: peer.candidate.alias,
    proven: resultsOn(proven, unlessRewritten(result, writes), introduces),
    guards: resultsOn(guards, unlessRewritten(result, writes), introduces),
    ...(result.kind === 'ran' ? { output: outputOf(result.run, [...proven, ...guards]) } : {}),
  };
}

/**
 * Stopped by a limit that a busy machine may reach as well, and not because it hangs, which takes as long again.
 * Every test of such a run would fail, so it counts only if it happens twice.
 */
const mayBeMachine = (run: TestRun): boolean => run.stopped !== null && !hangs(run);
