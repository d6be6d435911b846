import { contest, type Evidence, isSurvivor, peerTestsOn, type TestRun } from '../../core/evidence/index.ts';
import { comparePatches, type PatchLikeness, staticScore } from '../../core/likeness/index.ts';
import type { Alias } from '../../core/model/index.ts';
import type { NeutralReport } from '../../core/neutral/index.ts';
import { joinSections, productionLines } from '../../core/patches/index.ts';
import { inParallel } from '../parallel.ts';
import { type Crossed, crossExecute } from './cross.ts';
import { type Bench, byExitCode } from './execute.ts';
import { type Bank, type Entry, type Examined, examineOne } from './one.ts';
import { type Probed, probe } from './probe.ts';
import { openTrees } from './trees.ts';
import { addWrittenTests, type Writing } from './written.ts';

export interface Gathering {
  /** Told of each candidate before it is executed. */
  readonly begins?: (entry: Entry) => Promise<void>;
  /** Models that may write tests; absent: none is asked. */
  readonly writing?: Writing;
}

export interface Gathered {
  readonly evidence: readonly Evidence[];
  /** Absent where no writer was asked. */
  readonly neutral?: NeutralReport;
}

/** All that is executed to tell candidates apart, one step after the other. */
export async function gatherEvidence(
  bench: Bench,
  entries: readonly Entry[],
  onBase: TestRun,
  { begins, writing }: Gathering = {},
): Promise<Gathered> {
  // Where the base's tests left no report, nobody is asked for one.
  const fair = onBase.source === 'report' ? bench : byExitCode(bench);
  const bank: Bank = { bench: fair, trees: openTrees(fair), onBase };
  try {
    const examined: Examined[] = [];
    await inParallel(bench.world.parallelChecks, entries, async (entry) => {
      await begins?.(entry);
      examined.push(await examineOne(bank, entry));
    });
    examined.sort((a, b) => a.candidate.ordinal - b.candidate.ordinal);
    const crossed = await crossExecute(bank, examined);
    const probed = await probe(bank, examined);
    const agreeing = agreementsOf(examined);
    const evidence = contest(examined.map((one) => evidenceOf(one, crossed, probed, agreeing)));
    const added = writing ? await addWrittenTests(bank, examined, evidence, writing) : null;
    return added ? { evidence: added.evidence, neutral: added.report } : { evidence };
  } finally {
    await bank.trees.close();
  }
}

/** How far survivors' changes agree; of the others nobody asks. */
function agreementsOf(examined: readonly Examined[]): ReadonlyMap<Alias, PatchLikeness> {
  const survivors = examined.filter(({ gates, patch }) => isSurvivor(gates) && patch);
  const found = comparePatches(
    survivors.map(({ candidate, patch }) => ({
      id: candidate.alias,
      text: joinSections(patch?.files ?? []),
      ...(candidate.family === undefined ? {} : { family: candidate.family }),
    })),
  );
  return new Map(found.map((one) => [one.id, one]));
}

/** Files, and functions, that are kept of one candidate. */
const MOST_CHANGES = 8;

const changesOf = ({ files, functions }: PatchLikeness) => [
  ...files.slice(0, MOST_CHANGES),
  ...functions.slice(0, MOST_CHANGES),
];

/** Examples that are kept. */
const MOST_UNMET = 5;

function evidenceOf(
  { candidate, gates, patch, baseTests }: Examined,
  crossed: Crossed,
  probed: Probed | null,
  agreeing: ReadonlyMap<Alias, PatchLikeness>,
): Evidence {
  const agreed = agreeing.get(candidate.alias);
  const neutral = probed?.examples.byAlias.get(candidate.alias);
  const behaviour = probed?.behaviour.get(candidate.alias);
  const tests = crossed.tests.get(candidate.alias);
  const unmet = isSurvivor(gates) ? (probed?.examples.suspect.slice(0, MOST_UNMET) ?? []) : [];
  const peerTests = peerTestsOn(candidate.alias, crossed.marks);
  return {
    alias: candidate.alias,
    gates,
    survivor: isSurvivor(gates),
    patchSha256: candidate.patch?.sha256 ?? '',
    productionLines: patch ? productionLines(patch) : 0,
    addedTests: tests ? tests.proven.length + tests.guards.length : 0,
    ...(tests ? { provenTests: tests.proven.length } : {}),
    coderMs: candidate.ms,
    ...(candidate.family === undefined ? {} : { family: candidate.family }),
    ...(baseTests ? { baseTests } : {}),
    ...(neutral ? { neutralTests: neutral } : {}),
    ...(unmet.length > 0 ? { unmet } : {}),
    ...(behaviour ? { behaviour } : {}),
    ...(agreed ? { agreement: agreed.score, alike: agreed.alike, changes: changesOf(agreed) } : {}),
    ...(patch ? { staticScore: staticScore(joinSections(patch.files)).score } : {}),
    peerTests: peerTests.toSorted((a, b) => (a.author < b.author ? -1 : 1)),
  };
}
