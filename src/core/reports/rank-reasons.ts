import { type Evidence, failingNames, NO_INDEPENDENT_TESTS } from '../evidence/index.ts';
import type { Alias } from '../model/index.ts';
import { failedGate, pickOf } from '../ranking/index.ts';
import { countedPeerTests } from './executed.ts';
import { type CandidateStanding, standings } from './ranking-table.ts';
import type { RunView } from './view.ts';

export interface FailingTests {
  readonly kind: 'existing' | 'independent' | 'peer';
  /** The suite that it fails, for people: `existing tests`, `tests of B`. */
  readonly of: string;
  /** The first few names; may have been chosen by candidates. */
  readonly names: readonly string[];
  readonly more: number;
}

/** An executed input with its result. */
export interface InputExample {
  readonly input: string;
  readonly got: string;
  readonly wanted: string;
  /** The source of `wanted`: what the other candidate or most others give, or what a critic expects. */
  readonly source: 'others' | 'critic';
  /** The same for people, before `wanted`. */
  readonly whose: string;
}

/** Why a candidate was not chosen, as plain text. */
export interface RankReason {
  readonly alias: Alias;
  readonly because: string;
  readonly failing: readonly FailingTests[];
  readonly inputs: readonly InputExample[];
  /** The lines that failed a gate. */
  readonly hunk?: string;
}

/** Maximum names shown for each suite that a candidate fails. */
const MAX_NAMES_SHOWN = 5;
/** Maximum inputs shown of each kind. */
const MAX_INPUTS_SHOWN = 3;

/** The reasons for each candidate that was not chosen; for all if none is ahead. */
export const reasons = (view: RunView, everyone = false): readonly RankReason[] =>
  standings(view)
    .filter(({ chosen }) => everyone || !chosen)
    .map((standing) => reasonOf(view, standing));

/** The same for readers of all of them: what equal patches have in common is shown for the first one only. */
export const reasonsOnce = (view: RunView, everyone = false): readonly RankReason[] =>
  reasons(view, everyone).map((reason, index, all) => withoutRepeated(view, reason, all.slice(0, index)));

function withoutRepeated(view: RunView, reason: RankReason, earlier: readonly RankReason[]): RankReason {
  const { alias, because, failing, inputs, hunk } = reason;
  const alike = earlier.filter((one) => allResultsOf(view, one) === allResultsOf(view, reason));
  const same = alike.find((one) => one.because === because);
  if (same && because !== '')
    return { alias, because: `The same as ${same.alias}.`, failing: [], inputs: [] };
  const [first] = alike;
  if (!first || (failing.length === 0 && inputs.length === 0 && hunk === undefined)) return reason;
  return { alias, because: `${because} Its results are those of ${first.alias}.`, failing: [], inputs: [] };
}

/** All that was found, also beyond what is shown: equal texts are equal results. */
function allResultsOf(view: RunView, { alias, inputs, hunk }: RankReason): string {
  const evidence = view.evidence.find((one) => one.alias === alias);
  const { baseTests, independentTests, behaviour } = evidence ?? {};
  return JSON.stringify([
    baseTests?.regressions,
    failingNames(independentTests ?? NO_INDEPENDENT_TESTS),
    (evidence ? countedPeerTests(view, evidence) : []).map(({ author, failing, guards }) => [
      ...[author, failing, guards?.failing],
    ]),
    behaviour?.differences,
    inputs,
    hunk,
  ]);
}

/** Of the candidate that the evidence ranks first, after a person's pick of another one, or of none. */
export const passedOverText = ({ picks = [] }: Pick<RunView, 'picks'>): string =>
  `The evidence ranks it first, but a person ${picks.at(-1)?.alias === null ? 'rejected all candidates' : 'picked another candidate'}.`;

/** The evidence against a candidate; for one that passed everything, its place. */
export function reasonOf(
  view: RunView,
  { candidate, evidence, ranked, chosen }: CandidateStanding,
): RankReason {
  const { alias } = candidate;
  const gate = evidence && failedGate(evidence);
  const because = gate?.because ?? ranked?.because ?? candidate.note;
  const passedOver = !chosen && !gate && alias === pickOf(view.decision);
  const suites = [
    failingTests('existing', 'existing tests', evidence?.baseTests?.regressions ?? []),
    failingTests(
      'independent',
      'independent tests',
      failingNames(evidence?.independentTests ?? NO_INDEPENDENT_TESTS),
    ),
    ...(evidence ? countedPeerTests(view, evidence) : []).flatMap(({ author, failing, guards }) => [
      failingTests('peer', `tests of ${author}`, failing),
      failingTests('peer', `tests of ${author} that also pass on the base`, guards?.failing ?? []),
    ]),
  ];
  return {
    alias,
    because: passedOver ? `${passedOverText(view)} ${because}` : because,
    failing: suites.filter((tests) => tests.names.length > 0),
    inputs: [...inputExamples(view, evidence), ...confirmedObjections(view, alias)],
    ...(gate?.hunk ? { hunk: gate.hunk } : {}),
  };
}

function inputExamples(view: RunView, evidence: Evidence | undefined): readonly InputExample[] {
  const others = view.evidence.filter(({ alias, behaviour }) => behaviour && alias !== evidence?.alias);
  const [only] = others;
  const whose = only && others.length === 1 ? only.alias : 'most others that pass the given tests';
  return (evidence?.behaviour?.differences ?? [])
    .slice(0, MAX_INPUTS_SHOWN)
    .map(({ input, got, others: wanted }) => ({ input, got, wanted, source: 'others', whose }));
}

/** Defects that critics reported and a test confirmed. */
const confirmedObjections = ({ review = [] }: RunView, alias: Alias): readonly InputExample[] =>
  review
    .filter((one) => one.alias === alias)
    .flatMap(({ critics }) => critics.flatMap((one) => ('objections' in one ? one.objections : [])))
    .filter(({ outcome }) => outcome === 'confirmed')
    .slice(0, MAX_INPUTS_SHOWN)
    .map(({ input, got, expected }) => ({
      input,
      got,
      wanted: expected,
      source: 'critic',
      whose: 'a critic expects',
    }));

const failingTests = (kind: FailingTests['kind'], of: string, names: readonly string[]): FailingTests => ({
  kind,
  of,
  names: names.slice(0, MAX_NAMES_SHOWN),
  more: Math.max(0, names.length - MAX_NAMES_SHOWN),
});
