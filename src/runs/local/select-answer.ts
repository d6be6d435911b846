import type { Evidence } from '../../core/evidence/index.ts';
import type { IndependentTestReport } from '../../core/independent-tests/index.ts';
import type { Judgement } from '../../core/judging/index.ts';
import type { Alias } from '../../core/model/index.ts';
import {
  CALIBRATION,
  type Decision,
  executedFaults,
  leftToPerson,
  type RankingOptions,
  type SelectAnswer,
  type SelectRequest,
} from '../../core/ranking/index.ts';
import { countedPeerTests, type DecisionRecord } from '../../core/reports/index.ts';
import type { CandidateEntry } from '../examine/index.ts';
import { decideRanking } from '../judge/index.ts';

/** A sentence about candidates with the ids of the request, which are all that its caller knows. */
const inIdsOf =
  (ids: ReadonlyMap<Alias, string>) =>
  (text: string): string =>
    text.replace(/\bP\d{3,}\b/g, (alias) => ids.get(alias) ?? alias);

/** Candidates of a request after their execution. */
export interface ExecutedPool {
  readonly evidence: readonly Evidence[];
  readonly entries: readonly CandidateEntry[];
  /** The request's ids, by alias. */
  readonly ids: ReadonlyMap<string, string>;
  /** Absent if no writer was asked. */
  readonly independentTests?: IndependentTestReport;
}

export function selectionAnswer(
  request: SelectRequest,
  { evidence, ids, independentTests }: ExecutedPool,
  how: {
    readonly order: RankingOptions;
    readonly judgement: Judgement | undefined;
    readonly askPerson: boolean;
    readonly alwaysPick: boolean;
    readonly explain?: boolean;
  },
): SelectAnswer {
  const { order, judgement, askPerson } = how;
  const { ranking, decision } = decideRanking(evidence, order, judgement, { askPerson, given: true });
  const record: DecisionRecord = { evidence, ranking, decision, judgement: judgement ?? null };
  const best = ranking[0];
  const alias = decision.kind === 'winner' ? decision.alias : how.alwaysPick ? best?.alias : undefined;
  const named = inIdsOf(ids);
  // Of the first one only other candidates would say what it lacks.
  const faultsOf = (one: Alias): string => {
    const found = evidence.find((other) => other.alias === one);
    if (!found?.survivor || one === best?.alias) return '';
    return executedFaults({ ...found, peerTests: countedPeerTests({ evidence }, found) });
  };
  return {
    id: request.id,
    pick: (alias && ids.get(alias)) ?? null,
    confidence: decision.kind === 'none' ? 0 : decision.chance,
    ranking: ranking.map((one) => ({
      id: ids.get(one.alias) ?? one.alias,
      score: one.support,
      because: named(`${one.because} ${faultsOf(one.alias)}`.trim()),
    })),
    decidedBy: decision.decidedBy,
    because: named(`${decision.because}${noPickText(decision, alias)}${untestedText(request)}`),
    ...(how.explain
      ? {
          explanation: {
            ids: Object.fromEntries(ids),
            ...record,
            ...(independentTests ? { independentTests } : {}),
          },
        }
      : {}),
  };
}

const untestedText = ({ testCommand }: SelectRequest): string =>
  testCommand
    ? ''
    : ' No test of the repository was run, because the request has `repoDir` but no `testCommand`.';

/** Why the best candidate is not picked, after the reason of its place. */
function noPickText(decision: Decision, picked: Alias | undefined): string {
  if (decision.kind !== 'toss-up' || picked !== undefined) return '';
  const { chance, alias } = decision;
  if (leftToPerson(decision)) return '';
  const needed = (CALIBRATION.likely * 100).toFixed(0);
  const rounded = (chance * 100).toFixed(0);
  const percent = rounded === needed ? (Math.floor(chance * 1_000) / 10).toFixed(1) : rounded;
  return ` No pick: the estimated chance that ${alias} is right is ${percent}%, and a pick needs ${needed}%.`;
}
