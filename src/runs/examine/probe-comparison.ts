import {
  admitExamples,
  type Behaviour,
  compareBehaviour,
  type DerivedTests,
  type IssueExamples,
  isSurvivor,
  type ProbedCandidate,
  type ProbeRun,
} from '../../core/evidence/index.ts';
import { comparePatches } from '../../core/likeness/index.ts';
import type { Alias } from '../../core/model/index.ts';
import { joinSections } from '../../core/patches/index.ts';
import type { ExaminedCandidate } from './candidate.ts';
import type { Tree } from './trees.ts';

/** Results of probes for all candidates. */
export interface ProbeResults {
  readonly behaviour: ReadonlyMap<Alias, Omit<Behaviour, 'id'>>;
  readonly examples: IssueExamples;
}

export type BuiltCandidate = ExaminedCandidate & { readonly tree: Tree };

/** Compares candidates that build by their behaviour on probes, with the base's as reference. */
export function compareCandidates(
  ready: readonly BuiltCandidate[],
  derived: DerivedTests,
  onBase: readonly ProbeRun[],
  runs: ReadonlyMap<Tree, ProbeRun | null>,
): ProbeResults {
  const runOf = ({ tree }: BuiltCandidate) => runs.get(tree) ?? null;
  const survivors = ready.filter(({ gates }) => isSurvivor(gates));
  const examples = admitExamples(
    derived,
    onBase,
    survivors.map((one) => ({ alias: one.candidate.alias, run: runOf(one) })),
  );
  const behaving = ready.map((one): ProbedCandidate => {
    const asked = examples.byAlias.get(one.candidate.alias);
    const passesTests =
      isSurvivor(one.gates) &&
      (one.baseTests?.regressions.length ?? 0) === 0 &&
      (asked === undefined || asked.passed === asked.total);
    return {
      id: one.candidate.alias,
      run: runOf(one),
      passesTests,
      hasNoEffect: hasNoSourceEffect(productionText(one)),
      ...(one.candidate.family === undefined ? {} : { family: one.candidate.family }),
    };
  });
  const texts = ready.map(productionText);
  const likeness = (a: number, b: number) => patchLikeness(texts[a] ?? '', texts[b] ?? '');
  const compared = compareBehaviour(onBase, behaving, likeness, derived.files);
  return {
    behaviour: new Map(compared.map(({ id, ...behaviour }) => [id, behaviour])),
    examples,
  };
}

const productionText = ({ patch }: BuiltCandidate): string => joinSections(patch ? patch.production : []);

/** A patch without effect on the source behaves like the base. */
function hasNoSourceEffect(text: string): boolean {
  const [own] = comparePatches([{ id: 'one', text }]);
  return own?.flaws.some((guard) => guard === 'no-effective-change' || guard === 'no-source-change') ?? true;
}

/** Similarity of two production patches, 0 to 1. */
function patchLikeness(one: string, other: string): number {
  const [own] = comparePatches([
    { id: 'one', text: one },
    { id: 'other', text: other },
  ]);
  return own ? (own.alike.length > 1 ? 1 : own.text) : 0;
}
