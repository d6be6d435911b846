import {
  type AuthorMarks,
  type AuthorTests,
  authorTests,
  type Introduces,
  introducedBy,
  isSurvivor,
  marksOn,
  type OnTree,
  type TestRun,
  withoutTests,
} from '../../core/evidence/index.ts';
import { type Alias, inParallel } from '../../core/model/index.ts';
import type { PatchFile } from '../../core/patches/index.ts';
import type { TestCommand } from '../../core/settings/index.ts';
import type { ExaminationTools, Examined } from './candidate.ts';
import { areaId } from './execute.ts';
import { runOn, type Tree } from './trees.ts';

/** What survivors' own tests say. */
export interface PeerResults {
  /** By author. */
  readonly tests: ReadonlyMap<Alias, AuthorTests>;
  readonly marks: readonly AuthorMarks[];
}

/**
 * Runs every survivor's own test files on the base, which tells what they ask for, and then on every other survivor's
 * code: nobody is judged by its own tests. Each author's files are run apart from the others': in one run with them a
 * test could make another author's fail (docs/decisions/0024).
 */
export async function runPeerTests(
  bank: ExaminationTools,
  examined: readonly Examined[],
): Promise<PeerResults> {
  const survivors = examined.flatMap((one) =>
    isSurvivor(one.gates) && one.tree?.ready && one.patch
      ? [{ ...one, tree: one.tree, patch: one.patch }]
      : [],
  );
  const authors: Author[] = [];
  const { parallelChecks } = bank.runner.world;
  await inParallel(parallelChecks, survivors, async (one) => {
    const author = await authorOf(bank, one);
    if (author) authors.push(author);
  });
  // Whoever wrote the same code is the author as well.
  const pairs = authors.flatMap((author) =>
    survivors.filter((peer) => peer.tree !== author.survivor.tree).map((peer) => ({ author, peer })),
  );
  const found: { readonly author: Author; readonly mark: AuthorMarks['on'][number] }[] = [];
  await inParallel(parallelChecks, pairs, async ({ author, peer }) => {
    found.push({ author, mark: await marksOf(bank, author, peer) });
  });
  return {
    tests: new Map(authors.map(({ survivor, tests }) => [survivor.candidate.alias, tests])),
    marks: authors.map((author) => ({
      author: author.survivor.candidate.alias,
      tests: author.tests,
      on: found.filter((one) => one.author === author).map(({ mark }) => mark),
    })),
  };
}

type Survivor = Examined & Required<Pick<Examined, 'tree' | 'patch'>>;

interface Author {
  readonly survivor: Survivor;
  readonly files: readonly PatchFile[];
  /** How its tests are run; absent: with the whole suite. */
  readonly commands?: readonly TestCommand[];
  readonly tests: AuthorTests;
  readonly introduces: Introduces;
}

/** Null for a survivor without tests of its own. */
async function authorOf(bank: ExaminationTools, survivor: Survivor): Promise<Author | null> {
  const { own: whole, patch, candidate } = survivor;
  if (!whole) return null;
  const files = patch.tests;
  const how = await howToRun(bank, survivor, files, whole);
  const commands = how.commands ? { commands: how.commands } : {};
  const base = await bank.trees.of(`${candidate.alias}-base`, []);
  const id = areaId(candidate.runId, candidate.alias, 'on-base');
  const onBase = await onTree(bank, base, { id, tests: files, ...commands });
  const tests = authorTests({ own: how.own, onBase, before: how.before }, bank.onBase.flaky);
  const introduced = introducedBy(patch);
  const { asked = '' } = bank.runner;
  // What the task speaks of by name, everybody can be asked to have.
  const introduces: Introduces = (name) => !isNamed(name, asked) && introduced(name);
  return { survivor, files, ...commands, tests, introduces };
}

interface How {
  readonly commands?: readonly TestCommand[];
  readonly own: TestRun;
  /** The same tests as they are on the base. */
  readonly before: TestRun | null;
}

/** Its test files alone, where the runner is known to run them so; else the whole suite with them. */
async function howToRun(
  bank: ExaminationTools,
  survivor: Survivor,
  files: readonly PatchFile[],
  whole: TestRun,
): Promise<How> {
  const { runner } = bank;
  const all = { own: whole, before: bank.onBase };
  const paths = files.filter((file) => file.change !== 'deleted').map((file) => file.path);
  const commands = runner.plan.focus(paths);
  if (!commands) return all;
  const names = Object.keys(whole.tests);
  const told = commands.flatMap(({ args }) => args);
  // Its ids name files, so those of a run of these files only are the same.
  const isOf = (file: string, id: string) => id.startsWith(`${file} > `);
  if (told.every((file) => names.some((id) => isOf(file, id)))) {
    const others = names.filter((id) => !told.some((file) => isOf(file, id)));
    return { ...all, own: withoutTests(whole, others), commands };
  }
  const { runId, alias } = survivor.candidate;
  const alone = { id: areaId(runId, alias, 'alone'), tests: files, commands };
  const own = await onTree(bank, survivor.tree, alone);
  if (own.kind === 'unfit' || !Object.values(own.run.tests).includes('passed')) return all;
  return { commands, own: own.run, before: await beforeOf(bank, survivor, paths) };
}

/** The same files as they are on the base; null where it has none of them. */
async function beforeOf(
  bank: ExaminationTools,
  survivor: Survivor,
  paths: readonly string[],
): Promise<TestRun | null> {
  const { runner, trees } = bank;
  const { runId, alias } = survivor.candidate;
  const known = new Set(runner.baseFiles);
  const commands = runner.plan.focus(paths.filter((path) => known.has(path)));
  if (!commands) return null;
  const base = await trees.of(`${alias}-base`, []);
  const before = await onTree(bank, base, { id: areaId(runId, alias, 'before'), commands });
  return before.kind === 'ran' ? before.run : null;
}

async function onTree(
  { runner }: ExaminationTools,
  tree: Tree,
  wish: { id: string; tests?: readonly PatchFile[]; commands?: readonly TestCommand[] },
): Promise<OnTree> {
  const result = await runOn(runner, tree, wish);
  return result.kind === 'ran' ? result : { kind: 'unfit' };
}

async function marksOf(
  bank: ExaminationTools,
  author: Author,
  peer: Survivor,
): Promise<AuthorMarks['on'][number]> {
  const { runId, alias } = peer.candidate;
  const { files, commands, tests, introduces } = author;
  const id = areaId(runId, alias, 'from', author.survivor.candidate.alias);
  const result =
    tests.proven.length + tests.guards.length === 0
      ? ({ kind: 'unfit' } as const)
      : await onTree(bank, peer.tree, { id, tests: files, ...(commands ? { commands } : {}) });
  return {
    peer: alias,
    proven: marksOn(tests.proven, result, introduces),
    guards: marksOn(tests.guards, result, introduces),
  };
}

/** Does a text name it, as a word of its own? */
function isNamed(name: string, text: string): boolean {
  for (let at = text.indexOf(name); at >= 0 && name !== ''; at = text.indexOf(name, at + 1)) {
    const around = `${text[at - 1] ?? ' '}${text[at + name.length] ?? ' '}`;
    if (!/[\w$]/.test(around)) return true;
  }
  return false;
}
