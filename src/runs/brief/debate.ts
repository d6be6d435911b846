import {
  type Debate,
  type DebateRound,
  differenceOf,
  type Hearing,
  hasConsensus,
  type LedgerEntry,
  NO_COST,
  raise,
  type Seat,
  stopOf,
} from '../../core/debate/index.ts';
import {
  type BudgetShare,
  type CriticTurnResult,
  type DebateNews,
  type DebatePanel,
  type DebatePlan,
  NEW,
  part,
  rest,
  sumOf,
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
  { tell = () => {}, from }: { readonly tell?: (news: DebateNews) => void; readonly from?: Debate } = {},
): AsyncGenerator<Debate, Debate> {
  const { spec } = plan;
  const fresh = { original: spec, spec, rounds: [], ledger: [], acceptance: [], cost: NO_COST, memories: {} };
  let debate: Debate = from ?? fresh;
  while (!debate.end) {
    debate = await playRound(table, plan, debate, tell);
    yield debate;
  }
  return debate;
}

async function playRound(
  table: DebatePanel,
  plan: DebatePlan,
  debate: Debate,
  tell: (news: DebateNews) => void,
): Promise<Debate> {
  const roundNumber = debate.rounds.length;
  const seats = plan.seats(roundNumber, lostCritics(debate));
  // Equal parts, the synthesiser's included, so that calls side by side cannot pass the share together.
  const slice = part(rest(plan.share, debate.cost), seats.length + 1);
  const turns = await takeTurns(table, plan, { seats, debate, slice }, tell);
  const noted = note(debate, roundNumber, turns);
  const given = { round: roundNumber, debate, ledger: noted.ledger, slice };
  const made = await synthesise(table, plan, given, tell);
  const { text, changed } = differenceOf(debate.spec, made.spec);
  const { hearings } = noted;
  const { ledger, overgrown, synthesis } = made;
  const required = plan.required ?? seats.length;
  const round: DebateRound = {
    roundNumber,
    critiques: hearings,
    ...(synthesis ? { synthesis } : {}),
    hasConsensus: hasConsensus({ hearings, ledger, changed, required }),
    diffFromPrevious: text,
    changed,
    cost: turns.reduce((sum, { turned }) => sumOf(sum, turned.cost), made.cost),
  };
  const cost = sumOf(debate.cost, round.cost);
  const before = debate.rounds.at(-1);
  const broke = made.broke ?? failedTurns(turns);
  const spent = isSpent(rest(plan.share, cost));
  const end = stopOf({ round, before, ledger, maxRounds: plan.maxRounds, overgrown, spent, broke });
  return {
    ...debate,
    spec: made.spec,
    rounds: [...debate.rounds, round],
    ledger,
    acceptance: [...debate.acceptance, ...turns.flatMap(({ turned }) => testOf(turned))],
    cost,
    memories: end ? {} : memoriesAfter(turns, hearings),
    ...(end ? { end } : {}),
  };
}

/** An approval that came with a grave issue was none. */
const memoriesAfter = (turns: readonly RoundResult[], hearings: readonly Hearing[]): Debate['memories'] =>
  Object.fromEntries(
    turns.map(({ seat, turned }, at) => {
      const hearing = hearings[at];
      const approved = hearing?.kind === 'heard' ? { approved: hearing.approved } : {};
      return [seat.critic, { ...turned.memory, ...approved }];
    }),
  );

const isSpent = ({ usd, tokens }: BudgetShare): boolean => usd <= 0 || tokens === 0;

/** Why money did not suffice for anybody; null where somebody was heard. */
function failedTurns(turns: readonly RoundResult[]): string | null {
  const poor = turns.flatMap(({ turned }) => (turned.kind === 'failed' && turned.broke ? [turned.why] : []));
  return poor.length === turns.length ? (poor[0] ?? null) : null;
}

function takeTurns(
  table: DebatePanel,
  plan: DebatePlan,
  given: { readonly debate: Debate; readonly seats: readonly Seat[]; readonly slice: BudgetShare },
  tell: (news: DebateNews) => void,
): Promise<RoundResult[]> {
  const { seats, debate, slice } = given;
  const { spec, ledger } = debate;
  const round = debate.rounds.length;
  return Promise.all(
    seats.map(async (seat) => {
      tell({ kind: 'asked', round, seat });
      const memory = debate.memories[seat.critic] ?? NEW;
      const instructions = plan.instructions.critic(seat.critic);
      const turn = { round, seat, memory, spec, ledger, slice, instructions, shown: plan.shown };
      const turned = await takeTurn(table, turn);
      tell({ kind: 'heard', round, seat, turned });
      return { seat, turned };
    }),
  );
}

/** Models that gave no answer in the debate so far. */
const lostCritics = ({ rounds }: Debate): ReadonlySet<string> =>
  new Set(
    rounds.flatMap(({ critiques }) => critiques.flatMap((one) => (one.kind === 'failed' ? [one.model] : []))),
  );

interface RoundResult {
  readonly seat: Seat;
  readonly turned: CriticTurnResult;
}

const testOf = (turned: CriticTurnResult) => (turned.kind === 'heard' && turned.test ? [turned.test] : []);

/** Writes what critics said into the ledger, in the order of their seats whatever order they answered in. */
function note(
  debate: Debate,
  round: number,
  turns: readonly RoundResult[],
): { readonly ledger: readonly LedgerEntry[]; readonly hearings: readonly Hearing[] } {
  let ledger = debate.ledger;
  const hearings = turns.map(({ seat, turned }): Hearing => {
    if (turned.kind === 'stands') return { ...seat, kind: 'stands' };
    if (turned.kind === 'failed') return { ...seat, kind: 'failed', why: turned.why };
    const { critique, sections, checks } = turned;
    const scope = { spec: debate.spec, sections };
    const { raised, insists, ...next } = raise(ledger, { critic: seat.critic, round, critique }, scope);
    ledger = next.ledger;
    const grave = ledger.some(({ id, severity }) => raised.includes(id) && severity !== 'minor');
    const approved = critique.approved && !grave && insists.length === 0;
    return { ...seat, kind: 'heard', approved, raised, insists, checks };
  });
  return { ledger, hearings };
}
