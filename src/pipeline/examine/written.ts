import { decide } from '../../core/decision/index.ts';
import { type Evidence, isSurvivor } from '../../core/evidence/index.ts';
import { blind, changedFiles, type Identities, leaksIn, scrub } from '../../core/judging/index.ts';
import type { Alias } from '../../core/model/index.ts';
import {
  type Admission,
  aimOf,
  joinAdmissions,
  joinTests,
  type NeutralReport,
  NO_ADMISSION,
  neutralReport,
} from '../../core/neutral/index.ts';
import { type Ranking, rank, undecided } from '../../core/ranking/index.ts';
import { admitTests, type Survivor } from './admit.ts';
import { type Contender, distinguish } from './distinguish.ts';
import { writeNeutralTests } from './neutral.ts';
import type { Bank, Examined } from './one.ts';
import type { Desk } from './writer.ts';

/** Who may be asked for tests, and with which words. */
export interface Writing {
  readonly desk: Desk;
  readonly instructions: { readonly neutral: string; readonly distinguish: string };
  /** How the settings put survivors in order: whom that leaves undecided, a writer may tell apart. */
  readonly order: Ranking;
  /** Names of contestants, which nobody who writes tests may read. */
  readonly identities: Identities;
}

export interface Added {
  readonly evidence: readonly Evidence[];
  readonly report: NeutralReport;
}

/**
 * Where what was executed so far leaves doubt: tests by a writer that sees no candidate, then tests that tell those still
 * undecided apart, all admitted by execution. Null where nothing is in doubt, or nobody is left to be tested.
 */
export async function addWrittenTests(
  bank: Bank,
  examined: readonly Examined[],
  evidence: readonly Evidence[],
  writing: Writing,
): Promise<Added | null> {
  if (!inDoubt(evidence, writing.order)) return null;
  const { bench, onBase } = bank;
  const { desk, instructions, order } = writing;
  const aim = aimOf(desk.task.title, desk.brief);
  const contenders = examined.flatMap((one) => contenderOf(one, evidence, writing.identities));
  const survivors = contenders.map(({ survivor }) => survivor);
  const written = await writeNeutralTests(bench, desk, instructions.neutral);
  const before =
    written.tests.length === 0
      ? NO_ADMISSION
      : await admitTests(bench, written.tests, { survivors, onBase, aim, name: 'n' });
  const found = await distinguish(bench, desk, {
    contenders: contenders.filter(({ diff }) => leaksIn(diff, writing.identities).length === 0),
    undecided: (neutral) => openAmong(withTests(evidence, neutral), order),
    before,
    blind: (text) => scrub(text, writing.identities),
    instructions: instructions.distinguish,
    onBase,
    aim,
  });
  const all = joinAdmissions(before, found.admission);
  const left = written.left.map(({ title, because }) => `“${title}” was not accepted: ${because}`);
  return {
    evidence: withTests(evidence, all),
    report: neutralReport(all, {
      models: written.model === undefined ? [] : [written.model],
      notes: [...(written.note === undefined ? [] : [written.note]), ...left, ...found.notes],
    }),
  };
}

/** Somebody could win, and it is not clear who. */
function inDoubt(evidence: readonly Evidence[], order: Ranking): boolean {
  const decision = decide(rank(evidence, order), evidence);
  return decision.kind === 'toss-up' || (decision.kind === 'winner' && decision.confidence !== 'clear');
}

const openAmong = (evidence: readonly Evidence[], order: Ranking): readonly Alias[] =>
  undecided(rank(evidence, order), evidence);

const withTests = (evidence: readonly Evidence[], { byAlias }: Admission): readonly Evidence[] =>
  evidence.map((one) => {
    const tests = byAlias[one.alias];
    return tests ? { ...one, neutralTests: joinTests(one.neutralTests, tests) } : one;
  });

function contenderOf(
  { candidate, gates, patch, tree, baseTests }: Examined,
  evidence: readonly Evidence[],
  identities: Identities,
): readonly Contender[] {
  if (!isSurvivor(gates) || !patch || !tree?.ready) return [];
  const { alias } = candidate;
  const survivor: Survivor = { alias, tree, green: baseTests?.exitCode === 0 };
  const [cls = alias] = evidence.find((one) => one.alias === alias)?.alike ?? [];
  return [{ survivor, cls, diff: blind(changedFiles(patch), identities).production }];
}
