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
import { put, rest, type Slice, sumOf, type Table } from './seats.ts';

export const NEW: Memory = { seen: null, approved: false, pressed: false };

/** A critic's turn in a round. */
export interface Turn {
  readonly round: number;
  readonly seat: Seat;
  readonly memory: Memory;
  readonly spec: string;
  readonly ledger: readonly LedgerEntry[];
  readonly slice: Slice;
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

/** Hears one critic. Blind in the first round; later it sees what changed, and its own rejected issues. */
export async function hear(table: Table, turn: Turn): Promise<Turned> {
  const { memory, spec, ledger, seat } = turn;
  const own = ledger.filter(({ critic, fate }) => critic === seat.critic && fate.kind === 'rejected');
  const sections = memory.seen === null ? null : changedSections(memory.seen, spec);
  if (memory.approved && sections?.length === 0 && own.length === 0) {
    return { kind: 'stands', cost: NO_COST, memory };
  }
  const said = await put(table, { ...callOf(turn, ''), slice: turn.slice, schema: Critique }, (nonce) => {
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

const agrees = ({ approved, issues, rechecked }: Critique): boolean =>
  approved && issues.every(({ severity }) => severity === 'minor') && !rechecked.some(({ stands }) => stands);

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
  const slice = rest(turn.slice, given.cost);
  const said = await put(table, { ...callOf(turn, ':pressed'), slice, schema: Pressed }, (nonce) =>
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

const callOf = ({ round, seat, instructions }: Turn, what: string) => ({
  spender: `debate-${round}-${seat.critic}${what}`,
  model: seat.model,
  instructions,
});
