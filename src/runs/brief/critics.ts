import {
  type AcceptanceTest,
  type Cost,
  Critique,
  changedSections,
  firstQuestion,
  type LedgerEntry,
  laterQuestion,
  type Memory,
  NO_COST,
  Pressed,
  pressedQuestion,
  type Seat,
  type Shown,
  sectionsOf,
} from '../../core/debate/index.ts';
import type { Usd } from '../../core/model/index.ts';
import type { Random } from '../../ports/index.ts';
import { askModel, type ModelCall, type ModelCallParts, type Payer } from '../ask-model.ts';
import { stableNonce } from '../context.ts';

/** What happens inside a round, for those who watch. */
export type DebateNews =
  | { readonly kind: 'asked'; readonly round: number; readonly seat: Seat }
  | { readonly kind: 'heard'; readonly round: number; readonly seat: Seat; readonly turned: CriticTurnResult }
  | { readonly kind: 'synthesis'; readonly round: number; readonly model: string; readonly open: number };

/** What is debated, by whom, and how far. */
export interface DebatePlan {
  readonly spec: string;
  /** The seats of a round, one for each critic, in a fixed order; `lost` are models that gave no answer before. */
  readonly seats: (round: number, lost: ReadonlySet<string>) => readonly Seat[];
  /** Who gives issues their verdicts; another one where the first gives no answer. */
  readonly synthesisers: readonly string[];
  readonly instructions: { critic(persona: string): string; readonly synthesiser: string };
  readonly shown: Omit<Shown, 'nonce'>;
  readonly maxRounds: number;
  /** Approvals for a consensus; absent: of all critics. */
  readonly required?: number;
  /** For the whole debate. */
  readonly share: BudgetShare;
  /** Says whether a text may stand as spec. */
  readonly fits: (spec: string) => boolean;
}

/** What a debate takes of the world. */
export interface DebatePanel extends ModelCallParts {
  readonly random: Pick<Random, 'nonce'>;
  readonly payer: Payer;
  /** Keeps paid answers: asked for again after a crash, they are given back, not paid again. A rejection is not kept. */
  remember<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/** What one call may use: dollars, and tokens of models without a price. */
export interface BudgetShare {
  readonly usd: Usd;
  readonly tokens?: number;
}

export const sumOf = (a: Cost, b: Cost): Cost => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  usd: a.usd + b.usd,
});

/** What is left of a slice. */
export const rest = ({ usd, tokens }: BudgetShare, spent: Cost): BudgetShare => ({
  usd: Math.max(0, usd - spent.usd),
  ...(tokens === undefined ? {} : { tokens: Math.max(0, tokens - spent.inputTokens - spent.outputTokens) }),
});

/** One of equal parts. */
export const part = ({ usd, tokens }: BudgetShare, parts: number): BudgetShare => ({
  usd: usd / parts,
  ...(tokens === undefined ? {} : { tokens: Math.floor(tokens / parts) }),
});

export type CriticAnswer<T> = { readonly cost: Cost } & (
  | { readonly kind: 'answer'; readonly value: T }
  | { readonly kind: 'nothing'; readonly why: string /** For want of money. */; readonly broke: boolean }
);

class NoAnswerError extends Error {
  readonly spoken: CriticAnswer<never>;

  constructor(spoken: CriticAnswer<never>) {
    super('nothing was said');
    this.spoken = spoken;
  }
}

/**
 * Puts one question to one seat. `ask` gives its text for a nonce; question and answer are kept by that text without one,
 * so that a restart finds them.
 */
export async function askOnce<T>(
  table: DebatePanel,
  { slice, ...call }: Omit<ModelCall<T>, 'prompt' | 'capUsd'> & { readonly slice: BudgetShare },
  ask: (nonce: string) => string,
): Promise<CriticAnswer<T>> {
  const { spender, model, instructions } = call;
  const key = JSON.stringify(['debate', spender, model, instructions, ask('')]);
  try {
    return await table.remember(key, async (): Promise<CriticAnswer<T>> => {
      const tokens = slice.tokens === undefined ? {} : { capTokens: slice.tokens };
      const said = await askModel(
        table,
        { ...table.payer, ...tokens },
        { ...call, capUsd: slice.usd, prompt: ask(await stableNonce(table, key)) },
      );
      const { usd, tokensIn, tokensOut } = said.usage;
      const cost: Cost = { inputTokens: tokensIn, outputTokens: tokensOut, usd };
      if (said.kind === 'answer') return { kind: 'answer', value: said.value, cost };
      throw new NoAnswerError({ kind: 'nothing', why: said.why, broke: said.cap !== null, cost });
    });
  } catch (thrown) {
    if (thrown instanceof NoAnswerError) return thrown.spoken;
    throw thrown;
  }
}

export const NEW: Memory = { seen: null, approved: false, pressed: false };

/** A critic's turn in a round. */
interface CriticTurn {
  readonly round: number;
  readonly seat: Seat;
  readonly memory: Memory;
  readonly spec: string;
  readonly ledger: readonly LedgerEntry[];
  readonly slice: BudgetShare;
  readonly instructions: string;
  readonly shown: Omit<Shown, 'nonce'>;
}

export type CriticTurnResult = { readonly cost: Cost; readonly memory: Memory } & (
  | {
      readonly kind: 'heard';
      readonly critique: Critique;
      /** Null: it looked at the whole spec. */
      readonly sections: readonly string[] | null;
      readonly checks: readonly string[];
      readonly test: AcceptanceTest | null;
    }
  | { readonly kind: 'stands' }
  | { readonly kind: 'failed'; readonly why: string; readonly broke: boolean }
);

/** Hears one critic. Blind in the first round; later it sees what changed, and its own rejected issues. */
export async function takeTurn(table: DebatePanel, turn: CriticTurn): Promise<CriticTurnResult> {
  const { memory, spec, ledger, seat } = turn;
  const own = ledger.filter(({ critic, fate }) => critic === seat.critic && fate.kind === 'rejected');
  const sections = memory.seen === null ? null : changedSections(memory.seen, spec);
  if (memory.approved && sections?.length === 0 && own.length === 0) {
    return { kind: 'stands', cost: NO_COST, memory };
  }
  const said = await askOnce(table, { ...callOf(turn, ''), slice: turn.slice, schema: Critique }, (nonce) => {
    const shown = { ...turn.shown, nonce };
    if (sections === null) return firstQuestion(spec, shown);
    const unchanged = sectionsOf(spec)
      .filter((section) => !sections.includes(section))
      .map((section) => section.slice(0, 80).split('\n', 1)[0] ?? '');
    return laterQuestion({ sections, unchanged, own, ledger }, shown);
  });
  if (said.kind === 'nothing') return { ...said, kind: 'failed', memory };
  const critique = said.value;
  const seen: Memory = { ...memory, seen: spec, approved: critique.approved };
  if (!agrees(critique) || memory.pressed) {
    return { kind: 'heard', critique, sections, checks: [], test: null, cost: said.cost, memory: seen };
  }
  return challengeCritic(table, turn, { critique, sections, cost: said.cost, seen });
}

const agrees = ({ approved, issues, rechecked }: Critique): boolean =>
  approved && issues.every(({ severity }) => severity === 'minor') && !rechecked.some(({ stands }) => stands);

/** Early agreement is cheap: the critic looks again, and leaves checks and a test. */
async function challengeCritic(
  table: DebatePanel,
  turn: CriticTurn,
  given: {
    readonly critique: Critique;
    readonly sections: readonly string[] | null;
    readonly cost: Cost;
    readonly seen: Memory;
  },
): Promise<CriticTurnResult> {
  const { spec, memory } = turn;
  const slice = rest(turn.slice, given.cost);
  const said = await askOnce(table, { ...callOf(turn, ':pressed'), slice, schema: Pressed }, (nonce) =>
    pressedQuestion(spec, { ...turn.shown, nonce }),
  );
  const cost = sumOf(given.cost, said.cost);
  if (said.kind === 'nothing') {
    const why = `It approved, and did not answer when it was pressed: ${said.why}`;
    return { kind: 'failed', why, broke: said.broke, cost, memory };
  }
  const { checks, test, ...again } = said.value;
  const critique = {
    ...again,
    issues: [...given.critique.issues, ...again.issues],
    rechecked: given.critique.rechecked,
  };
  const seen = { ...given.seen, approved: critique.approved, pressed: true };
  // Pressed, it looked at the whole spec.
  return { kind: 'heard', critique, sections: null, checks, test, cost, memory: seen };
}

const callOf = ({ round, seat, instructions }: CriticTurn, what: string) => ({
  spender: `debate-${round}-${seat.critic}${what}`,
  model: seat.model,
  instructions,
});
