import {
  type CriticAssignment,
  type CriticTurn,
  type Debate,
  type DebateRound,
  debateEnd,
  hasConsensus,
  type LedgerEntry,
  NO_COST,
  recordCritique,
  specDiff,
} from '../../core/debate/index.ts';
import {
  addCosts,
  type BudgetShare,
  type CriticTurnResult,
  type DebateEvent,
  type DebatePanel,
  type DebatePlan,
  equalShare,
  NEW_CRITIC,
  remainingBudget,
  takeTurn,
} from './critics.ts';
import { synthesise } from './synthesise.ts';

/**
 * Debates a spec, round after round; yields the debate as it stands after each, the last with its end. `from` is a debate
 * that was stored after a round: it goes on with the next one. Deterministic but for what models say, and those answers are
 * kept, so that a round that a crash cut off is begun again without paying for what was answered.
 */
export async function* holdDebate(
  table: DebatePanel,
  plan: DebatePlan,
  { tell = () => {}, from }: { readonly tell?: (news: DebateEvent) => void; readonly from?: Debate } = {},
): AsyncGenerator<Debate, Debate> {
  const { spec } = plan;
  const fresh = { original: spec, spec, rounds: [], ledger: [], acceptance: [], cost: NO_COST, memories: {} };
  let debate: Debate = from ?? fresh;
  while (!debate.end) {
    debate = await runRound(table, plan, debate, tell);
    yield debate;
  }
  return debate;
}

async function runRound(
  table: DebatePanel,
  plan: DebatePlan,
  debate: Debate,
  tell: (news: DebateEvent) => void,
): Promise<Debate> {
  const roundNumber = debate.rounds.length;
  const assignments = plan.assignments(roundNumber, failedModels(debate));
  // Equal parts, the synthesiser's included, so that calls side by side cannot pass the share together.
  const budget = equalShare(remainingBudget(plan.share, debate.cost), assignments.length + 1);
  const turns = await takeTurns(table, plan, { assignments, debate, budget }, tell);
  const noted = recordTurns(debate, roundNumber, turns);
  const given = { round: roundNumber, debate, ledger: noted.ledger, budget };
  const made = await synthesise(table, plan, given, tell);
  const { text, changed } = specDiff(debate.spec, made.spec);
  const { criticTurns } = noted;
  const { ledger, grewTooMuch, synthesis } = made;
  const required = plan.required ?? assignments.length;
  const round: DebateRound = {
    roundNumber,
    critiques: criticTurns,
    ...(synthesis ? { synthesis } : {}),
    hasConsensus: hasConsensus({ turns: criticTurns, ledger, changed, required }),
    diffFromPrevious: text,
    changed,
    cost: turns.reduce((sum, { turned }) => addCosts(sum, turned.cost), made.cost),
  };
  const cost = addCosts(debate.cost, round.cost);
  const unaffordable = made.unaffordable ?? unaffordableReason(turns);
  const spent = isSpent(remainingBudget(plan.share, cost));
  const end = debateEnd({
    round,
    before: debate.rounds.at(-1),
    ledger,
    maxRounds: plan.maxRounds,
    grewTooMuch,
    spent,
    unaffordable,
  });
  return {
    ...debate,
    spec: made.spec,
    rounds: [...debate.rounds, round],
    ledger,
    acceptance: [...debate.acceptance, ...turns.flatMap(({ turned }) => acceptanceTestOf(turned))],
    cost,
    memories: end ? {} : memoriesAfterRound(turns, criticTurns),
    ...(end ? { end } : {}),
  };
}

/** An approval that came with a grave issue was none. */
const memoriesAfterRound = (
  turns: readonly RoundResult[],
  criticTurns: readonly CriticTurn[],
): Debate['memories'] =>
  Object.fromEntries(
    turns.map(({ assignment, turned }, at) => {
      const criticTurn = criticTurns[at];
      const approved = criticTurn?.kind === 'answered' ? { approved: criticTurn.approved } : {};
      return [assignment.critic, { ...turned.memory, ...approved }];
    }),
  );

const isSpent = ({ usd, tokens }: BudgetShare): boolean => usd <= 0 || tokens === 0;

/** Why money did not suffice for anybody; null where somebody was heard. */
function unaffordableReason(turns: readonly RoundResult[]): string | null {
  const poor = turns.flatMap(({ turned }) =>
    turned.kind === 'failed' && turned.unaffordable ? [turned.why] : [],
  );
  return poor.length === turns.length ? (poor[0] ?? null) : null;
}

function takeTurns(
  table: DebatePanel,
  plan: DebatePlan,
  given: {
    readonly debate: Debate;
    readonly assignments: readonly CriticAssignment[];
    readonly budget: BudgetShare;
  },
  tell: (news: DebateEvent) => void,
): Promise<RoundResult[]> {
  const { assignments, debate, budget } = given;
  const { spec, ledger } = debate;
  const round = debate.rounds.length;
  return Promise.all(
    assignments.map(async (assignment) => {
      tell({ kind: 'asked', round, assignment });
      const memory = debate.memories[assignment.critic] ?? NEW_CRITIC;
      const instructions = plan.instructions.critic(assignment.critic);
      const turn = { round, assignment, memory, spec, ledger, budget, instructions, shown: plan.shown };
      const turned = await takeTurn(table, turn);
      tell({ kind: 'answered', round, assignment, turned });
      return { assignment, turned };
    }),
  );
}

/** Models that gave no answer in the debate so far. */
const failedModels = ({ rounds }: Debate): ReadonlySet<string> =>
  new Set(
    rounds.flatMap(({ critiques }) => critiques.flatMap((one) => (one.kind === 'failed' ? [one.model] : []))),
  );

interface RoundResult {
  readonly assignment: CriticAssignment;
  readonly turned: CriticTurnResult;
}

const acceptanceTestOf = (turned: CriticTurnResult) =>
  turned.kind === 'answered' && turned.test ? [turned.test] : [];

/** Writes what critics said into the ledger, in the order of their assignments whatever order they answered in. */
function recordTurns(
  debate: Debate,
  round: number,
  turns: readonly RoundResult[],
): { readonly ledger: readonly LedgerEntry[]; readonly criticTurns: readonly CriticTurn[] } {
  let ledger = debate.ledger;
  const criticTurns = turns.map(({ assignment, turned }): CriticTurn => {
    if (turned.kind === 'stands') return { ...assignment, kind: 'stands' };
    if (turned.kind === 'failed') return { ...assignment, kind: 'failed', why: turned.why };
    const { critique, sections, checks } = turned;
    const scope = { spec: debate.spec, sections };
    const { raised, upheldIssues, ...next } = recordCritique(
      ledger,
      { critic: assignment.critic, round, critique },
      scope,
    );
    ledger = next.ledger;
    const grave = ledger.some(({ id, severity }) => raised.includes(id) && severity !== 'minor');
    const approved = critique.approved && !grave && upheldIssues.length === 0;
    return { ...assignment, kind: 'answered', approved, raised, upheldIssues, checks };
  });
  return { ledger, criticTurns };
}
