import {
  type AcceptanceTest,
  ChallengedCritique,
  type Cost,
  type CriticAssignment,
  type CriticMemory,
  Critique,
  challengeQuestion,
  changedSections,
  followUpQuestion,
  initialQuestion,
  type LedgerEntry,
  type PromptContext,
  sectionsOf,
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
      const tokens = budget.tokens === undefined ? {} : { capTokens: budget.tokens };
      const reply = await askModel(
        table,
        { ...table.payer, ...tokens },
        { ...call, capUsd: budget.usd, prompt: ask(await stableNonce(table, key)) },
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
      /** Null: the critic reviewed the whole spec. */
      readonly sections: readonly string[] | null;
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
    ({ critic, status }) => critic === assignment.critic && status.kind === 'rejected',
  );
  const sections = memory.lastSpec === null ? null : changedSections(memory.lastSpec, spec);
  if (memory.approved && sections?.length === 0 && own.length === 0) {
    return { kind: 'stands', cost: ZERO_COST, memory };
  }
  const answer = await askOnce(
    table,
    { ...criticCall(table, input, ''), budget: input.budget, schema: Critique },
    (nonce) => {
      const shown = { ...input.shown, nonce };
      if (sections === null) return initialQuestion(spec, shown);
      const unchanged = sectionsOf(spec)
        .filter((section) => !sections.includes(section))
        .map((section) => section.slice(0, 80).split('\n', 1)[0] ?? '');
      return followUpQuestion({ sections, unchanged, own, ledger }, shown);
    },
  );
  if (answer.kind === 'nothing') return { ...answer, kind: 'failed', memory };
  const critique = answer.value;
  const updated: CriticMemory = { ...memory, lastSpec: spec, approved: critique.approved };
  if (!approvesWithoutObjection(critique) || memory.challenged) {
    return {
      kind: 'answered',
      critique,
      sections,
      checks: [],
      test: null,
      cost: answer.cost,
      memory: updated,
    };
  }
  return challengeCritic(table, input, { critique, sections, cost: answer.cost, memory: updated });
}

const approvesWithoutObjection = ({ approved, issues, rechecked }: Critique): boolean =>
  approved && issues.every(({ severity }) => severity === 'minor') && !rechecked.some(({ stands }) => stands);

/**
 * Challenges a first approval, since early agreement is cheap: the critic must review again and name checks and a test.
 */
async function challengeCritic(
  table: DebatePanel,
  turn: CriticTurnInput,
  given: {
    readonly critique: Critique;
    readonly sections: readonly string[] | null;
    readonly cost: Cost;
    readonly memory: CriticMemory;
  },
): Promise<CriticTurnResult> {
  const { spec, memory } = turn;
  const budget = remainingBudget(turn.budget, given.cost);
  const answer = await askOnce(
    table,
    { ...criticCall(table, turn, ':pressed'), budget, schema: ChallengedCritique },
    (nonce) => challengeQuestion(spec, { ...turn.shown, nonce }),
  );
  const cost = addCosts(given.cost, answer.cost);
  if (answer.kind === 'nothing') {
    const why = `It approved, but did not answer when it was challenged: ${answer.why}`;
    return { kind: 'failed', why, unaffordable: answer.unaffordable, cost, memory };
  }
  const { checks, test, ...again } = answer.value;
  const critique = {
    ...again,
    issues: [...given.critique.issues, ...again.issues],
    rechecked: given.critique.rechecked,
  };
  const updated = { ...given.memory, approved: critique.approved, challenged: true };
  // When challenged, the critic reviews the whole spec.
  return { kind: 'answered', critique, sections: null, checks, test, cost, memory: updated };
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
