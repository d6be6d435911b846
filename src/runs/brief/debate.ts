import {
  applyEdits,
  applyVerdicts,
  type Cost,
  type CriticAssignment,
  type CriticTurn,
  type Debate,
  type DebateRound,
  debateEnd,
  hasConsensus,
  issuesToAnswer,
  type LedgerEntry,
  recordCritique,
  reopenUnedited,
  Synthesis,
  specDiff,
  synthesisQuestion,
  ZERO_COST,
} from '../../core/debate/index.ts';
import {
  addCosts,
  askOnce,
  type BudgetShare,
  type CriticAnswer,
  type CriticTurnResult,
  type DebateEvent,
  type DebatePanel,
  type DebatePlan,
  equalShare,
  NEW_CRITIC,
  remainingBudget,
  roundSpender,
  takeTurn,
} from './critics.ts';

/**
 * Debates a spec in rounds. Yields the debate after each round; the last one has its `end` set. `from` is a stored
 * debate, which continues with its next round. Deterministic apart from model answers, which are cached: a round
 * interrupted by a crash is repeated without paying for them again.
 */
export async function* holdDebate(
  table: DebatePanel,
  plan: DebatePlan,
  { tell = () => {}, from }: { readonly tell?: (news: DebateEvent) => void; readonly from?: Debate } = {},
): AsyncGenerator<Debate, Debate> {
  const { spec } = plan;
  const fresh = {
    original: spec,
    spec,
    rounds: [],
    ledger: [],
    acceptance: [],
    cost: ZERO_COST,
    memories: {},
  };
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
  // Equal shares, including the synthesiser's, so that concurrent calls cannot exceed the total together.
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
    memories: end ? {} : memoriesOf(turns),
    ...(end ? { end } : {}),
  };
}

const memoriesOf = (turns: readonly RoundResult[]): Debate['memories'] =>
  Object.fromEntries(turns.map(({ assignment, turned }) => [assignment.critic, turned.memory]));

const isSpent = ({ usd, tokens }: BudgetShare): boolean => usd <= 0 || tokens === 0;

/** Why the budget was too small for every critic; null if at least one answered. */
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

/** Models that have failed to answer so far in this debate. */
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

/** Records critics' answers in the ledger, in the order of their assignments, not of arrival. */
function recordTurns(
  debate: Debate,
  round: number,
  turns: readonly RoundResult[],
): { readonly ledger: readonly LedgerEntry[]; readonly criticTurns: readonly CriticTurn[] } {
  let ledger = debate.ledger;
  const criticTurns = turns.map(({ assignment, turned }): CriticTurn => {
    if (turned.kind === 'stands') return { ...assignment, kind: 'stands' };
    if (turned.kind === 'failed') return { ...assignment, kind: 'failed', why: turned.why };
    const { critique, scope, checks } = turned;
    const { approved } = turned.memory;
    const { raised, upheldIssues, ...next } = recordCritique(
      ledger,
      { critic: assignment.critic, round, critique },
      scope,
    );
    ledger = next.ledger;
    return { ...assignment, kind: 'answered', approved, raised, upheldIssues, checks };
  });
  return { ledger, criticTurns };
}

/** Input of the synthesiser in one round. */
interface SynthesisTurn {
  readonly round: number;
  readonly debate: Debate;
  readonly budget: BudgetShare;
}

interface SynthesisResult {
  readonly spec: string;
  readonly ledger: readonly LedgerEntry[];
  readonly synthesis: DebateRound['synthesis'];
  readonly cost: Cost;
  readonly grewTooMuch: boolean;
  readonly unaffordable: string | null;
}

/** Asks for verdicts on open issues and applies the resulting edits. */
async function synthesise(
  table: DebatePanel,
  plan: DebatePlan,
  given: SynthesisTurn & { readonly ledger: readonly LedgerEntry[] },
  tell: (news: DebateEvent) => void,
): Promise<SynthesisResult> {
  const { debate, ledger } = given;
  const { spec, original } = debate;
  const open = issuesToAnswer(ledger);
  const as = (
    cost: Cost,
    unaffordable: string | null,
    synthesis?: DebateRound['synthesis'],
  ): SynthesisResult => ({
    spec,
    ledger,
    synthesis,
    cost,
    grewTooMuch: false,
    unaffordable,
  });
  if (open.length === 0) return as(ZERO_COST, null);
  const { model, answer, cost } = await askSynthesisers(table, plan, { ...given, open }, tell);
  if (answer.kind === 'nothing') {
    const { unaffordable, why } = answer;
    return as(cost, unaffordable ? why : null, { model, spec, refused: [], failed: why });
  }
  const answered = applyVerdicts(ledger, answer.value);
  const patched = applyEdits(spec, answer.value, answered, { original, fits: plan.fits });
  return {
    spec: patched.spec,
    ledger: reopenUnedited(ledger, answered, patched.edited),
    synthesis: { model, spec: patched.spec, refused: patched.refused },
    cost,
    grewTooMuch: patched.grewTooMuch,
    unaffordable: null,
  };
}

/** Maximum number of synthesisers asked per round. Our default. */
const MAX_SYNTHESISERS = 2;

async function askSynthesisers(
  table: DebatePanel,
  plan: DebatePlan,
  given: SynthesisTurn & { readonly open: readonly LedgerEntry[] },
  tell: (news: DebateEvent) => void,
): Promise<{ readonly model: string; readonly answer: CriticAnswer<Synthesis>; readonly cost: Cost }> {
  const { round, debate, open } = given;
  const instructions = plan.instructions.synthesiser;
  let cost = ZERO_COST;
  let last = { model: '', answer: NO_SYNTHESISER };
  for (const [turn, model] of plan.synthesisers.slice(0, MAX_SYNTHESISERS).entries()) {
    tell({ kind: 'synthesis', round, model, open: open.length });
    // Persona names cannot contain a colon.
    const spender = `${roundSpender(table, round)}:synthesis${turn > 0 ? `:${turn + 1}` : ''}`;
    const call = {
      spender,
      model,
      budget: remainingBudget(given.budget, cost),
      instructions,
      schema: Synthesis,
    };
    const answer = await askOnce(table, call, (nonce) =>
      synthesisQuestion(debate.spec, open, { ...plan.shown, nonce }),
    );
    cost = addCosts(cost, answer.cost);
    if (answer.kind === 'answer') return { model, answer, cost };
    last = { model, answer };
  }
  return { ...last, cost };
}

const NO_SYNTHESISER: CriticAnswer<Synthesis> & { kind: 'nothing' } = {
  kind: 'nothing',
  why: 'No model is there to answer.',
  unaffordable: false,
  cost: ZERO_COST,
};
