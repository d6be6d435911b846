import type { IndependentTests } from '../evidence/index.ts';
import { type Identities, identitiesOf, scrub } from '../judging/index.ts';
import { type Candidate, type Contestant, isOver, type RunState } from '../model/index.ts';
import type { Decision } from '../ranking/index.ts';
import { HIDDEN } from './format.ts';
import type { CandidateView, RunView, SequenceView } from './view.ts';

/** For readers who see letters only; empty if nothing is hidden. */
export const blindNote = ({ namesHidden, state }: Pick<RunView, 'namesHidden' | 'state'>): string =>
  namesHidden
    ? `Blind mode: who wrote which candidate is hidden until ${isOver(state) ? 'somebody has picked' : 'somebody has picked, or the run has ended and leaves no choice open'}.`
    : '';

/**
 * Whether the result leaves the choice to a person. A local run with an inconclusive result is over, but its branches
 * are there to choose from.
 */
export const leavesChoiceToPerson = ({
  origin,
  state,
  decision,
}: {
  readonly origin: Pick<RunView['origin'], 'kind'>;
  readonly state: RunState;
  readonly decision?: RunView['decision'] | null;
}): boolean =>
  state === 'awaiting_pick' ||
  (state === 'published' && origin.kind === 'local' && decision?.kind === 'toss-up');

/**
 * Whether readers see candidates by letter alone: in a blind run that is active, or whose result leaves the choice to a
 * person. A pick reveals the names, whatever comes of it.
 */
export const hidesNames = (run: {
  readonly blind: boolean | undefined;
  readonly state: RunState;
  /** Whether its result leaves the choice to a person, on GitHub or locally. */
  readonly leavesChoice: boolean;
  readonly isPicked: boolean;
}): boolean => run.blind === true && (!isOver(run.state) || (run.leavesChoice && !run.isPicked));

/** Names that must not appear in texts about a run's candidates. */
export interface HiddenNames {
  /** Whole names, lower case, the longest first. */
  readonly exact: readonly string[];
  readonly identities: Identities;
}

export function hiddenNames(contestants: readonly Contestant[]): HiddenNames {
  const names = contestants.flatMap(({ agent, model, argv = [] }) => [
    model,
    ...[agent, ...model.split('/'), ...argv].filter(
      (name) => name.length >= MIN_NAME && /\W|_|\d/.test(name),
    ),
  ]);
  const exact = [...new Set(names.map((name) => name.toLowerCase()))];
  return { exact: exact.toSorted((a, b) => b.length - a.length), identities: identitiesOf(contestants) };
}

/** Shorter names occur in ordinary words. */
const MIN_NAME = 4;

/** The text without names of agents and models: those of the run, and all that are commonly known. */
export function withoutNames(text: string, { exact, identities }: HiddenNames): string {
  let rest = text;
  for (const name of exact) {
    const pattern = new RegExp(RegExp.escape(name), 'gi');
    rest = rest.replace(pattern, HIDDEN_NAME);
  }
  return scrub(rest, identities, () => HIDDEN_NAME);
}
const HIDDEN_NAME = `[${HIDDEN}]`;

/**
 * A command without its options and without names. Options can name agents, models and prompts that no candidate has
 * yet, or in ordinary words.
 */
export function withoutOptions(command: string, names: HiddenNames): string {
  return withoutNames(command.replace(OPTIONS, `$1 [options ${HIDDEN}]`), names);
}
const OPTIONS = /^(\s*\/auto-dev\s+[a-z]+(?:\s+all)?)\s+[-–—][\s\S]*$/i;

/** A candidate by its letter, with what was measured. */
export function hiddenCandidate(candidate: Candidate, names: HiddenNames): CandidateView {
  const { coderVersion: _, note, ...rest } = candidate;
  return { ...rest, contestant: null, usage: null, note: withoutNames(note, names) };
}

/**
 * The view without the names that its other parts contain: models that judged, reviewed or wrote tests are often those
 * that compete, and a family tells who did not write a patch.
 */
export function withHiddenNames(view: RunView, names: HiddenNames): RunView {
  const {
    debate,
    decision,
    judgement,
    review,
    independentTests,
    sequence,
    trouble,
    learned: _,
    ...rest
  } = view;
  const shown = (text: string) => withoutNames(text, names);
  const withReason = <T extends { readonly because: string }>(one: T): T => ({
    ...one,
    because: shown(one.because),
  });
  return {
    ...rest,
    namesHidden: true,
    // A gate repeats what an agent printed last; ranking and decision repeat the gate, or what judges and critics said.
    evidence: view.evidence.map(({ family: __, gates, doubt, independentTests: tests, ...evidence }) => ({
      ...evidence,
      ...(tests ? { independentTests: withoutWriters(tests) } : {}),
      ...(doubt === undefined ? {} : { doubt: shown(doubt) }),
      gates: gates.map(withReason),
    })),
    ranking: view.ranking.map(withReason),
    ...(decision ? { decision: withReasons(decision, withReason) } : {}),
    ...(sequence ? { sequence: withoutPrices(sequence) } : {}),
    ...(trouble ? { trouble: { ...trouble, message: shown(trouble.message) } } : {}),
    ...(debate ? { debate: withoutModels(debate, (text) => text) } : {}),
    ...(judgement ? { judgement: withoutModels(judgement, shown) } : {}),
    ...(review ? { review: withoutModels(review, shown) } : {}),
    ...(independentTests
      ? { independentTests: { ...withoutModels(independentTests, shown), models: [] } }
      : {}),
  };
}

const withReasons = (
  decision: Decision,
  withReason: <T extends { readonly because: string }>(one: T) => T,
): Decision => ({
  ...withReason(decision),
  ...(decision.kind !== 'none' && decision.caps ? { caps: decision.caps.map(withReason) } : {}),
});

function withoutWriters({ failing, written, ...tests }: IndependentTests): IndependentTests {
  const { families: _, ...counts } = written ?? { passed: 0, total: 0, guards: 0 };
  return {
    ...tests,
    failing: failing.map(({ family: __, ...test }) => test),
    ...(written ? { written: counts } : {}),
  };
}

const withoutPrices = ({ end, ...sequence }: SequenceView): SequenceView => ({
  ...sequence,
  firstUsd: null,
  allUsd: null,
  ...(end ? { end: { ...end, savedUsd: null } } : {}),
});

/** Plain JSON of the same shape: `model` and `family` are hidden, `shown` is applied to the other texts. */
function withoutModels<T>(value: T, shown: (text: string) => string): T {
  const walk = (one: unknown, key: string): unknown => {
    if (typeof one === 'string') return key === 'model' || key === 'family' ? HIDDEN : shown(one);
    if (Array.isArray(one)) return one.map((item) => walk(item, key));
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([name, part]) => [name, walk(part, name)]));
  };
  return walk(value, '') as T;
}
