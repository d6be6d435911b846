import {
  type AcceptanceTest,
  ChallengedCritique,
  type Cost,
  type CriticAssignment,
  type CriticMemory,
  Critique,
  challengeQuestion,
  followUpQuestion,
  initialQuestion,
  isApproval,
  type LedgerEntry,
  type PromptContext,
  type ReviewScope,
  specChanges,
  ZERO_COST,
} from '../../core/debate/index.ts';
import type { Usd } from '../../core/model/index.ts';
import type { Random } from '../../ports/index.ts';
import { askModel, type ModelCall, type ModelCallParts, type Payer } from '../ask-model.ts';
import { type Remember, stableNonce } from '../context.ts';

/** Events inside a round, for progress display. */
export type DebateEvent =
  | { readonly kind: 'asked'; readonly round: number; readonly assignment: CriticAssignment }
  | {
      readonly kind: 'answered';
      readonly round: number;
      readonly assignment: CriticAssignment;
      readonly turned: CriticTurnResult;
    }
  | { readonly kind: 'synthesis'; readonly round: number; readonly model: string; readonly open: number };

/** Subject, participants and limits of a debate. */
export interface DebatePlan {
  readonly spec: string;
  /** Seats of a round, one per critic, in a fixed order. `unresponsive`: models that have failed to answer before. */
  readonly assignments: (round: number, unresponsive: ReadonlySet<string>) => readonly CriticAssignment[];
  /** Models that give verdicts on issues, in order of preference; the next is used when one fails to answer. */
  readonly synthesisers: readonly string[];
  readonly instructions: { critic(persona: string): string; readonly synthesiser: string };
  readonly shown: Omit<PromptContext, 'nonce'>;
  readonly maxRounds: number;
  /** Approvals required for consensus; absent: from all critics. */
  readonly required?: number;
  /** Budget of the whole debate. */
  readonly share: BudgetShare;
  /** Checks whether a text is acceptable as a spec. */
  readonly fits: (spec: string) => boolean;
}

/** Dependencies of a debate. */
export interface DebatePanel extends ModelCallParts {
  readonly random: Pick<Random, 'nonce'>;
  readonly payer: Payer;
  /** Number of the debate, where a run has several: each asks and pays anew. */
  readonly session?: number;
  /** How often the debate has failed before: answers that were of no use are not given again, but asked for anew. */
  readonly failures?: number;
  readonly remember: Remember;
}

/** Limits of one call: dollars, and tokens for models without a price. */
export interface BudgetShare {
  readonly usd: Usd;
  readonly tokens?: number;
}

export const addCosts = (a: Cost, b: Cost): Cost => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  usd: a.usd + b.usd,
});

/** Remaining budget. */
export const remainingBudget = ({ usd, tokens }: BudgetShare, spent: Cost): BudgetShare => ({
  usd: Math.max(0, usd - spent.usd),
  ...(tokens === undefined ? {} : { tokens: Math.max(0, tokens - spent.inputTokens - spent.outputTokens) }),
});

/** One of `parts` equal shares. */
export const equalShare = ({ usd, tokens }: BudgetShare, parts: number): BudgetShare => ({
  usd: usd / parts,
  ...(tokens === undefined ? {} : { tokens: Math.floor(tokens / parts) }),
});

export type CriticAnswer<T> = { readonly cost: Cost } & (
  | { readonly kind: 'answer'; readonly value: T }
  | {
      readonly kind: 'nothing';
      readonly why: string /** For want of money. */;
      readonly unaffordable: boolean;
    }
);

/**
 * Asks one assignment one question. `ask` builds the question's text for a given nonce. Question and answer are stored
 * under the text without a nonce, so that they are found after a restart.
 */
export async function askOnce<T>(
  table: DebatePanel,
  { budget, ...call }: Omit<ModelCall<T>, 'prompt' | 'capUsd'> & { readonly budget: BudgetShare },
  ask: (nonce: string) => string,
): Promise<CriticAnswer<T>> {
  const { spender, model, instructions } = call;
  const key = JSON.stringify(['debate', spender, model, instructions, ask('')]);
  return table.remember(
    key,
    async (): Promise<CriticAnswer<T>> => {
      const again = table.failures ? ` after ${table.failures}` : '';
      const tokens = budget.tokens === undefined ? {} : { capTokens: budget.tokens };
      const reply = await askModel(
        table,
        { ...table.payer, ...tokens },
        { ...call, capUsd: budget.usd, prompt: ask(await stableNonce(table, `${key}${again}`)) },
      );
      const { usd, tokensIn, tokensOut } = reply.usage;
      const cost: Cost = { inputTokens: tokensIn, outputTokens: tokensOut, usd };
      if (reply.kind === 'answer') return { kind: 'answer', value: reply.value, cost };
      return { kind: 'nothing', why: reply.why, unaffordable: reply.cap !== null, cost };
    },
    (answer) => answer.kind === 'answer',
  );
}

export const NEW_CRITIC: CriticMemory = { lastSpec: null, approved: false, challenged: false };

/** Input of one critic's turn. */
interface CriticTurnInput {
  readonly round: number;
  readonly assignment: CriticAssignment;
  readonly memory: CriticMemory;
  readonly spec: string;
  readonly ledger: readonly LedgerEntry[];
  readonly budget: BudgetShare;
  readonly instructions: string;
  readonly shown: Omit<PromptContext, 'nonce'>;
}

export type CriticTurnResult = { readonly cost: Cost; readonly memory: CriticMemory } & (
  | {
      readonly kind: 'answered';
      readonly critique: Critique;
      readonly scope: ReviewScope;
      readonly checks: readonly string[];
      readonly test: AcceptanceTest | null;
    }
  | { readonly kind: 'stands' }
  | { readonly kind: 'failed'; readonly why: string; readonly unaffordable: boolean }
);

/**
 * Asks one critic. In the first round critics do not see each other's issues; later they see what changed and their own
 * rejected issues.
 */
export async function takeTurn(table: DebatePanel, input: CriticTurnInput): Promise<CriticTurnResult> {
  const { memory, spec, ledger, assignment } = input;
  const own = ledger.filter(
    ({ critic, status, withdrawn }) =>
      critic === assignment.critic && status.kind === 'rejected' && withdrawn !== true,
  );
  if (memory.approved && memory.lastSpec === spec && own.length === 0) {
    return { kind: 'stands', cost: ZERO_COST, memory };
  }
  const { scope, ask } = reviewOf(input, own);
  const answer = await askOnce(
    table,
    { ...criticCall(table, input, ''), budget: input.budget, schema: Critique },
    (nonce) => ask({ ...input.shown, nonce }),
  );
  if (answer.kind === 'nothing') return { ...answer, kind: 'failed', memory };
  const { value: critique, cost } = answer;
  const updated: CriticMemory = { ...memory, lastSpec: spec, approved: isApproval(critique) };
  if (updated.approved && !memory.challenged) {
    return challengeCritic(table, input, { critique, cost, memory: updated });
  }
  return { kind: 'answered', critique, scope, checks: [], test: null, cost, memory: updated };
}

/** What a critic reviews: first the whole spec, later what has changed since. */
function reviewOf(
  { memory, spec, ledger }: CriticTurnInput,
  own: readonly LedgerEntry[],
): { readonly scope: ReviewScope; readonly ask: (shown: PromptContext) => string } {
  const before = memory.lastSpec;
  if (before === null) {
    return { scope: { spec, sections: null }, ask: (shown) => initialQuestion(spec, shown) };
  }
  const changes = specChanges(before, spec);
  const { sections, removed } = changes;
  return {
    // What is missing since a section was removed may concern any other.
    scope: { spec: [spec, ...removed].join('\n\n'), sections: removed.length > 0 ? null : sections },
    ask: (shown) => followUpQuestion({ changes, own, ledger }, shown),
  };
}

/**
 * Challenges a first approval, since early agreement is cheap: the critic must review again and name checks and a test.
 */
async function challengeCritic(
  table: DebatePanel,
  turn: CriticTurnInput,
  given: {
    readonly critique: Critique;
    readonly cost: Cost;
    readonly memory: CriticMemory;
  },
): Promise<CriticTurnResult> {
  const { spec } = turn;
  const budget = remainingBudget(turn.budget, given.cost);
  const answer = await askOnce(
    table,
    { ...criticCall(table, turn, ':pressed'), budget, schema: ChallengedCritique },
    (nonce) => challengeQuestion(spec, { ...turn.shown, nonce }),
  );
  const cost = addCosts(given.cost, answer.cost);
  if (answer.kind === 'nothing') {
    const why = `It approved, but did not answer when it was challenged: ${answer.why}`;
    // As before its approval, which must not count in the next round either.
    return { kind: 'failed', why, unaffordable: answer.unaffordable, cost, memory: turn.memory };
  }
  const { checks, test, ...again } = answer.value;
  const critique = {
    ...again,
    issues: [...given.critique.issues, ...again.issues],
    rechecked: given.critique.rechecked,
  };
  const updated = { ...given.memory, approved: isApproval(critique), challenged: true };
  // When challenged, the critic reviews the whole spec.
  const scope = { spec, sections: null };
  return { kind: 'answered', critique, scope, checks, test, cost, memory: updated };
}

/** Name of a round in the ledger. */
export const roundSpender = ({ session }: Pick<DebatePanel, 'session'>, round: number): string =>
  session === undefined ? `debate-${round}` : `debate-${session}.${round}`;

const criticCall = (
  table: Pick<DebatePanel, 'session'>,
  { round, assignment, instructions }: CriticTurnInput,
  what: string,
) => ({
  spender: `${roundSpender(table, round)}-${assignment.critic}${what}`,
  model: assignment.model,
  instructions,
});
