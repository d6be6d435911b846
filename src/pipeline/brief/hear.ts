import {
  type AcceptanceTest,
  type Cost,
  Critique,
  changedSections,
  firstQuestion,
  type LedgerEntry,
  laterQuestion,
  Pressed,
  pressedQuestion,
  type Seat,
  type Shown,
  sectionsOf,
} from '../../core/debate/index.ts';
import { put, type Table } from './seats.ts';

/** What is remembered of a critic between rounds. */
export interface Memory {
  /** The spec that it looked at last; null before its first look. */
  readonly seen: string | null;
  readonly approved: boolean;
  /** Its agreement was pressed once; that is enough. */
  readonly pressed: boolean;
}
export const NEW: Memory = { seen: null, approved: false, pressed: false };

/** A critic's turn in a round. */
export interface Turn {
  readonly round: number;
  readonly seat: Seat;
  readonly memory: Memory;
  readonly spec: string;
  readonly ledger: readonly LedgerEntry[];
  readonly capUsd: number;
  readonly instructions: string;
  readonly shown: Omit<Shown, 'nonce'>;
}

export type Turned = { readonly cost: Cost; readonly memory: Memory } & (
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

const FREE: Cost = { inputTokens: 0, outputTokens: 0, usd: 0 };

const added = (a: Cost, b: Cost): Cost => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  usd: a.usd + b.usd,
});

/** Hears one critic. Blind in the first round; later it sees what changed, and its own rejected issues. */
export async function hear(table: Table, turn: Turn): Promise<Turned> {
  const { memory, spec, ledger, seat } = turn;
  const own = ledger.filter(({ critic, fate }) => critic === seat.critic && fate.kind === 'rejected');
  const sections = memory.seen === null ? null : changedSections(memory.seen, spec);
  if (memory.approved && sections?.length === 0 && own.length === 0) {
    return { kind: 'stands', cost: FREE, memory };
  }
  const said = await put(table, { ...callOf(turn, ''), schema: Critique }, (nonce) => {
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
  return press(table, turn, { critique, sections, cost: said.cost, seen });
}

const agrees = ({ approved, issues }: Critique): boolean =>
  approved && issues.every(({ severity }) => severity === 'minor');

/** Early agreement is cheap: the critic looks again, and leaves checks and a test. */
async function press(
  table: Table,
  turn: Turn,
  given: {
    readonly critique: Critique;
    readonly sections: readonly string[] | null;
    readonly cost: Cost;
    readonly seen: Memory;
  },
): Promise<Turned> {
  const { spec, memory } = turn;
  const said = await put(table, { ...callOf(turn, '-pressed'), schema: Pressed }, (nonce) =>
    pressedQuestion(spec, { ...turn.shown, nonce }),
  );
  const cost = added(given.cost, said.cost);
  if (said.kind === 'nothing') {
    const why = `It approved, and did not answer when it was pressed: ${said.why}`;
    return { kind: 'failed', why, broke: said.broke, cost, memory };
  }
  const { checks, test, ...again } = said.value;
  const critique = { ...again, issues: [...given.critique.issues, ...again.issues] };
  const seen = { ...given.seen, approved: critique.approved, pressed: true };
  // Pressed, it looked at the whole spec.
  return { kind: 'heard', critique, sections: null, checks, test, cost, memory: seen };
}

const callOf = ({ round, seat, capUsd, instructions }: Turn, what: string) => ({
  spender: `debate-${round}-${seat.critic}${what}`,
  model: seat.model,
  // A critic may be asked twice in a round.
  capUsd: capUsd / 2,
  instructions,
});
