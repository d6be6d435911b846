import {
  applyEdits,
  applyVerdicts,
  type Cost,
  type Debate,
  type DebateRound,
  issuesToAnswer,
  type LedgerEntry,
  NO_COST,
  reopenUnedited,
  Synthesis,
  synthesisQuestion,
} from '../../core/debate/index.ts';
import type { DebateEvent, DebatePlan } from './critics.ts';
import {
  addCosts,
  askOnce,
  type BudgetShare,
  type CriticAnswer,
  type DebatePanel,
  remainingBudget,
} from './critics.ts';

/** The synthesiser's part of a round. */
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

/** Asks for verdicts on what is open, and makes the edits that follow the rules. */
export async function synthesise(
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
  if (open.length === 0) return as(NO_COST, null);
  const { model, said, cost } = await askSynthesisers(table, plan, { ...given, open }, tell);
  if (said.kind === 'nothing') {
    return as(cost, said.unaffordable ? said.why : null, { model, spec, refused: [], failed: said.why });
  }
  const answered = applyVerdicts(ledger, said.value);
  const patched = applyEdits(spec, said.value, answered, { original, fits: plan.fits });
  return {
    spec: patched.spec,
    ledger: reopenUnedited(ledger, answered, patched.edited),
    synthesis: { model, spec: patched.spec, refused: patched.refused },
    cost,
    grewTooMuch: patched.grewTooMuch,
    unaffordable: null,
  };
}

/** Synthesisers that are asked in one round. Our default. */
const MAX_SYNTHESISERS = 2;

async function askSynthesisers(
  table: DebatePanel,
  plan: DebatePlan,
  given: SynthesisTurn & { readonly open: readonly LedgerEntry[] },
  tell: (news: DebateEvent) => void,
): Promise<{ readonly model: string; readonly said: CriticAnswer<Synthesis>; readonly cost: Cost }> {
  const { round, debate, open } = given;
  const instructions = plan.instructions.synthesiser;
  let cost = NO_COST;
  let last = { model: '', said: NO_SYNTHESISER };
  for (const [turn, model] of plan.synthesisers.slice(0, MAX_SYNTHESISERS).entries()) {
    tell({ kind: 'synthesis', round, model, open: open.length });
    // The colon stands in no persona's name.
    const spender = `debate-${round}:synthesis${turn > 0 ? `:${turn + 1}` : ''}`;
    const call = {
      spender,
      model,
      budget: remainingBudget(given.budget, cost),
      instructions,
      schema: Synthesis,
    };
    const said = await askOnce(table, call, (nonce) =>
      synthesisQuestion(debate.spec, open, { ...plan.shown, nonce }),
    );
    cost = addCosts(cost, said.cost);
    if (said.kind === 'answer') return { model, said, cost };
    last = { model, said };
  }
  return { ...last, cost };
}

const NO_SYNTHESISER: CriticAnswer<Synthesis> & { kind: 'nothing' } = {
  kind: 'nothing',
  why: 'No model is there to answer.',
  unaffordable: false,
  cost: NO_COST,
};
