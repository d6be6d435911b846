import {
  admitExamples,
  type Behaviour,
  type ContestedInput,
  compareBehaviour,
  type DerivedTests,
  type IssueExamples,
  isSurvivor,
  type ProbedCandidate,
  type ProbeRun,
} from '../../core/evidence/index.ts';
import { comparePatches, type PoolPatch } from '../../core/likeness/index.ts';
import type { Alias } from '../../core/model/index.ts';
import { joinSections } from '../../core/patches/index.ts';
import type { ExaminedCandidate } from './candidate.ts';
import type { Tree } from './trees.ts';

/** Results of probes for all candidates. */
export interface ProbeResults {
  readonly behaviour: ReadonlyMap<Alias, Omit<Behaviour, 'id'>>;
  readonly examples: IssueExamples;
  readonly inputs: readonly ContestedInput[];
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
  // One that could not be probed behaves neither like others nor differently.
  const probed = ready.filter((one) => runOf(one) !== null);
  const behaving = probed.map((one): ProbedCandidate => {
    const asked = examples.byAlias.get(one.candidate.alias);
    const passesTests =
      isSurvivor(one.gates) &&
      (one.baseTests?.regressions.length ?? 0) === 0 &&
      (asked === undefined || asked.passed === asked.total);
    return {
      id: one.candidate.alias,
      run: runOf(one),
      passesTests,
      hasNoEffect: hasNoSourceEffect(productionOf(one)),
      ...(one.candidate.family === undefined ? {} : { family: one.candidate.family }),
    };
  });
  const patches = probed.map(productionOf);
  const likeness = (a: number, b: number) => patchLikeness(patches[a], patches[b]);
  const { behaviour, inputs } = compareBehaviour(onBase, behaving, likeness, derived.files);
  // Nor does one that was probed without any result, where others gave some.
  const compared = behaviour.some(({ observed }) => observed > 0)
    ? behaviour.filter(({ observed }) => observed > 0)
    : behaviour;
  const ranAs = (id: string) => behaving.find((one) => one.id === id)?.run;
  return {
    inputs,
    behaviour: new Map(compared.map(({ id, ...own }) => [id, { ...own, ...leftOutOf(onBase, ranAs(id)) }])),
    examples,
  };
}

function leftOutOf(
  onBase: readonly ProbeRun[],
  own: ProbeRun | null | undefined,
): Pick<Behaviour, 'leftOut'> {
  if (onBase.some(({ cut, late }) => cut ?? late)) return { leftOut: 'base' };
  return (own?.cut ?? own?.late) ? { leftOut: 'own' } : {};
}

type ProductionPatch = Pick<PoolPatch, 'text' | 'files'>;

const NO_PATCH: ProductionPatch = { text: '', files: [] };

const productionOf = ({ patch }: BuiltCandidate): ProductionPatch =>
  patch ? { text: joinSections(patch.production), files: patch.production } : NO_PATCH;

/** A patch without effect on the source behaves like the base. */
function hasNoSourceEffect(patch: ProductionPatch): boolean {
  const [own] = comparePatches([{ id: 'one', ...patch }]);
  return own?.flaws.some((guard) => guard === 'no-effective-change' || guard === 'no-source-change') ?? true;
}

/** Similarity of two production patches, 0 to 1. Those that change nothing are alike. */
function patchLikeness(one = NO_PATCH, other = NO_PATCH): number {
  if (hasNoSourceEffect(one) && hasNoSourceEffect(other)) return 1;
  const [own] = comparePatches([
    { id: 'one', ...one },
    { id: 'other', ...other },
  ]);
  return own ? (own.alike.length > 1 ? 1 : own.text) : 0;
}
