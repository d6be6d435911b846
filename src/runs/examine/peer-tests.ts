import {
  type AuthorResults,
  type AuthorTests,
  authorTests,
  type IntroducesName,
  introducedBy,
  isSurvivor,
  joinedRewrites,
  outputOf,
  resultsOn,
  type TestRun,
  type TreeTestResult,
  unlessRewritten,
  withoutTests,
} from '../../core/evidence/index.ts';
import { type Alias, byCodeUnits, inParallel } from '../../core/model/index.ts';
import type { PatchFile } from '../../core/patches/index.ts';
import type { TestCommand } from '../../core/settings/index.ts';
import { askingLanesOf } from './areas.ts';
import type { ExaminationTools, ExaminedCandidate } from './candidate.ts';
import { areaId } from './execute.ts';
import { msOfFiles } from './time.ts';
import { runOn, type Tree, type TreeRun } from './trees.ts';

/** Results of survivors' own tests. */
export interface PeerResults {
  /** By author. */
  readonly tests: ReadonlyMap<Alias, AuthorTests>;
  readonly results: readonly AuthorResults[];
}

/**
 * Runs every survivor's own test files on the base, to find out what they require, and then on every other survivor's
 * code: no candidate is judged by its own tests. Each author's files run separately, since a test could otherwise make
 * another author's fail (docs/decisions/0024).
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
  const pairs = authors.flatMap((author) => peersOf(author).map((peer) => ({ author, peer })));
  const allows = allowsAuthor(tools, (author) => peersOf(author).length);
  const found = new Map<(typeof pairs)[number], AuthorResults['onPeers'][number]>();
  const leftOut = new Set<TestAuthor>();
  const done = tools.time.step('peer-tests', pairs.length);
  await inParallel(askingLanesOf(tools.runner), pairs, async (pair) => {
    const { author, peer } = pair;
    if (!(await allows(author))) leftOut.add(author);
    if (leftOut.has(author)) return;
    const name = `tests of ${author.survivor.candidate.alias} on ${peer.candidate.alias}`;
    found.set(pair, await tools.time.measured(name, () => resultsOnPeer(tools, author, peer)));
    done();
  });
  return {
    tests: new Map(authors.map(({ survivor, tests }) => [survivor.candidate.alias, tests])),
    results: authors
      .filter((author) => !leftOut.has(author))
      .map((author) => ({
        author: author.survivor.candidate.alias,
        tests: author.tests,
        // In the order of candidates, whichever command ended first.
        onPeers: pairs.flatMap((pair) => (pair.author === author ? (found.get(pair) ?? []) : [])),
      })),
  };
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

type BuiltSurvivor = ExaminedCandidate & Required<Pick<ExaminedCandidate, 'tree' | 'patch'>>;

const asksSomething = ({ tests }: TestAuthor): boolean => tests.proven.length + tests.guards.length > 0;

/** Expected time of an author's tests on one tree, in milliseconds. */
function suiteMs(tools: ExaminationTools, { patch }: BuiltSurvivor): number {
  const { runner, onBase } = tools;
  const paths = patch.tests.filter((file) => file.change !== 'deleted').map((file) => file.path);
  return runner.plan.focus(paths) ? msOfFiles(tools, paths.length) : onBase.ms;
}

/** Ordered by duration, then by content, so that the cut does not depend on names. */
const cheapestFirst =
  (tools: ExaminationTools) =>
  (a: BuiltSurvivor, b: BuiltSurvivor): number =>
    suiteMs(tools, a) - suiteMs(tools, b) ||
    byCodeUnits(a.candidate.patch?.sha256 ?? '', b.candidate.patch?.sha256 ?? '');

interface TestAuthor {
  readonly survivor: BuiltSurvivor;
  readonly files: readonly PatchFile[];
  /** Commands that run its tests; absent: the whole suite. */
  readonly commands?: readonly TestCommand[];
  readonly tests: AuthorTests;
  /** Test files that are written while they run on its author's code, or by the base's tests. */
  readonly writes: Pick<TestRun, 'rewrites'>;
  readonly introduces: IntroducesName;
}

/** Null for a survivor without tests of its own. */
async function testAuthorOf(tools: ExaminationTools, survivor: BuiltSurvivor): Promise<TestAuthor | null> {
  const { own: whole, patch, candidate } = survivor;
  if (!whole) return null;
  const files = patch.tests;
  const how = await runOwnTests(tools, survivor, files, whole);
  const commands = how.commands ? { commands: how.commands } : {};
  const base = await tools.trees.of(`${candidate.alias}-base`, []);
  const id = areaId(candidate.runId, candidate.alias, 'on-base');
  const onBase = await runOnTree(tools, base, { id, tests: files, ...commands });
  const tests = authorTests({ own: how.own, onBase, before: how.before }, tools.onBase.flaky);
  const introduced = introducedBy(patch);
  const { asked = '' } = tools.runner;
  // Names that the task mentions may be required of every candidate.
  const introduces: IntroducesName = (name) => !mentionsName(name, asked) && introduced(name);
  const writes = joinedRewrites([how.own, tools.onBase]);
  return { survivor, files, ...commands, tests, writes, introduces };
}

interface OwnTestRun {
  readonly commands?: readonly TestCommand[];
  readonly own: TestRun;
  /** The same tests as on the base. */
  readonly before: TestRun | null;
}

/** Runs its test files alone if the runner supports it, else the whole suite with them. */
async function runOwnTests(
  tools: ExaminationTools,
  survivor: BuiltSurvivor,
  files: readonly PatchFile[],
  whole: TestRun,
): Promise<OwnTestRun> {
  const { runner } = tools;
  const all = { own: whole, before: tools.onBase };
  const paths = files.filter((file) => file.change !== 'deleted').map((file) => file.path);
  const commands = runner.plan.focus(paths);
  if (!commands) return all;
  const names = Object.keys(whole.tests);
  const listedFiles = commands.flatMap(({ args }) => args);
  // Ids contain file names, so ids from a run of single files match those of the whole suite.
  const isOf = (file: string, id: string) => id.startsWith(`${file} > `);
  if (listedFiles.every((file) => names.some((id) => isOf(file, id)))) {
    const others = names.filter((id) => !listedFiles.some((file) => isOf(file, id)));
    return { ...all, own: withoutTests(whole, others), commands };
  }
  const { runId, alias } = survivor.candidate;
  const alone = { id: areaId(runId, alias, 'alone'), tests: files, commands };
  const own = await runOnTree(tools, survivor.tree, alone);
  if (own.kind !== 'ran' || !Object.values(own.run.tests).includes('passed')) return all;
  return { commands, own: own.run, before: await runBaseVersions(tools, survivor, paths) };
}

/** The base versions of these files; null if it has none of them. */
async function runBaseVersions(
  tools: ExaminationTools,
  survivor: BuiltSurvivor,
  paths: readonly string[],
): Promise<TestRun | null> {
  const { runner, trees } = tools;
  const { runId, alias } = survivor.candidate;
  const known = new Set(runner.baseFiles);
  const commands = runner.plan.focus(paths.filter((path) => known.has(path)));
  if (!commands) return null;
  const base = await trees.of(`${alias}-base`, []);
  const before = await runOnTree(tools, base, { id: areaId(runId, alias, 'before'), commands });
  return before.kind === 'ran' ? before.run : null;
}

async function runOnTree(
  { runner }: ExaminationTools,
  tree: Tree,
  options: Pick<TreeRun, 'id' | 'tests' | 'commands' | 'attempt'>,
): Promise<TreeTestResult> {
  const result = await runOn(runner, tree, options);
  return result.kind === 'ran' ? result : { kind: 'unfit' };
}

async function resultsOnPeer(
  tools: ExaminationTools,
  author: TestAuthor,
  peer: BuiltSurvivor,
): Promise<AuthorResults['onPeers'][number]> {
  const { runId, alias } = peer.candidate;
  const { files, commands, tests, writes, introduces } = author;
  const id = areaId(runId, alias, 'from', author.survivor.candidate.alias);
  const options = { tests: files, ...(commands ? { commands } : {}) };
  const run = (attempt: number) =>
    runOnTree(tools, peer.tree, { ...options, id: attempt > 1 ? `${id}-${attempt}` : id, attempt });
  const first = asksSomething(author) ? await run(1) : ({ kind: 'unfit' } as const);
  const result = first.kind === 'ran' && mayBeMachine(first.run) ? await run(2) : first;
  return {
    peer: alias,
    proven: resultsOn(tests.proven, unlessRewritten(result, writes), introduces),
    guards: resultsOn(tests.guards, unlessRewritten(result, writes), introduces),
    ...(result.kind === 'ran' ? { output: outputOf(result.run, [...tests.proven, ...tests.guards]) } : {}),
  };
}

/**
 * Stopped by a limit that a busy machine may reach as well, and not by the time limit, which is a whole one lost again.
 * Every test of such a run would fail, so it counts only if it happens twice.
 */
const mayBeMachine = ({ stopped }: TestRun): boolean => stopped !== null && stopped !== 'wall';

/** Whether a text contains the name as a separate word. */
function mentionsName(name: string, text: string): boolean {
  for (let at = text.indexOf(name); at >= 0 && name !== ''; at = text.indexOf(name, at + 1)) {
    const around = `${text[at - 1] ?? ' '}${text[at + name.length] ?? ' '}`;
    if (!/[\w$]/.test(around)) return true;
  }
  return false;
}
