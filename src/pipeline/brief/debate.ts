import {
  answer,
  applyEdits,
  type Cost,
  type Debate,
  type DebateRound,
  differenceOf,
  type Hearing,
  hasConsensus,
  type LedgerEntry,
  NO_COST,
  raise,
  type Seat,
  type Shown,
  Synthesis,
  stopOf,
  synthesisQuestion,
  toAnswer,
  unsettled,
} from '../../core/debate/index.ts';
import { hear, type Memory, NEW, type Turned } from './hear.ts';
import { put, type Table } from './seats.ts';

/** What is debated, by whom, and how far. */
export interface DebatePlan {
  readonly spec: string;
  /** The seats of a round, one for each critic, in a fixed order; `lost` are models that gave no answer before. */
  readonly seats: (round: number, lost: ReadonlySet<string>) => readonly Seat[];
  readonly synthesiser: string;
  readonly instructions: { critic(persona: string): string; readonly synthesiser: string };
  readonly shown: Omit<Shown, 'nonce'>;
  readonly maxRounds: number;
  /** Approvals for a consensus; absent: of all critics. */
  readonly required?: number;
  /** US dollars for the whole debate. */
  readonly capUsd: number;
  /** Says whether a text may stand as spec. */
  readonly fits: (spec: string) => boolean;
}

/** What happens inside a round, for those who watch. */
export type DebateNews =
  | { readonly kind: 'asked'; readonly round: number; readonly seat: Seat }
  | { readonly kind: 'heard'; readonly round: number; readonly seat: Seat; readonly turned: Turned }
  | { readonly kind: 'synthesis'; readonly round: number; readonly model: string; readonly open: number };

interface State {
  readonly debate: Debate;
  readonly memories: ReadonlyMap<string, Memory>;
}

/**
 * Debates a spec, round after round; yields the debate as it stands after each, the last with its end. Deterministic but
 * for what models say, and those answers are kept: begun again after a crash it goes on where it was.
 */
export async function* holdDebate(
  table: Table,
  plan: DebatePlan,
  tell: (news: DebateNews) => void = () => {},
): AsyncGenerator<Debate, Debate> {
  const { spec } = plan;
  const fresh: Debate = { original: spec, spec, rounds: [], ledger: [], acceptance: [], cost: NO_COST };
  let state: State = { debate: fresh, memories: new Map() };
  do {
    state = await playRound(table, plan, state, tell);
    yield state.debate;
  } while (!state.debate.end);
  return state.debate;
}

async function playRound(
  table: Table,
  plan: DebatePlan,
  { debate, memories }: State,
  tell: (news: DebateNews) => void,
): Promise<State> {
  const roundNumber = debate.rounds.length;
  const seats = plan.seats(roundNumber, lostIn(debate));
  // Equal parts, the synthesiser's included, so that calls side by side cannot pass the cap together.
  const capUsd = (plan.capUsd - debate.cost.usd) / (seats.length + 1);
  const turns = await hearAll(table, plan, { seats, debate, memories, capUsd }, tell);
  const noted = note(debate, roundNumber, turns);
  const given = { round: roundNumber, debate, ledger: noted.ledger, capUsd };
  const made = await synthesise(table, plan, given, tell);
  const { text, changed } = differenceOf(debate.spec, made.spec);
  const { hearings } = noted;
  const { ledger, overgrown, synthesis } = made;
  const cost = [...turns.map(({ turned }) => turned.cost), made.cost].reduce(sum, NO_COST);
  const required = plan.required ?? seats.length;
  const round: DebateRound = {
    roundNumber,
    critiques: hearings,
    ...(synthesis ? { synthesis } : {}),
    hasConsensus: hasConsensus({ hearings, ledger, changed, required }),
    diffFromPrevious: text,
    changed,
    cost,
  };
  const total = sum(debate.cost, cost);
  const broke = made.broke ?? turns.flatMap(({ turned }) => brokeOf(turned))[0] ?? null;
  const leftUsd = plan.capUsd - total.usd;
  const end = stopOf({ round, ledger, maxRounds: plan.maxRounds, overgrown, leftUsd, broke });
  return {
    debate: {
      ...debate,
      spec: made.spec,
      rounds: [...debate.rounds, round],
      ledger,
      acceptance: [...debate.acceptance, ...turns.flatMap(({ turned }) => testOf(turned))],
      cost: total,
      ...(end ? { end } : {}),
    },
    memories: new Map(turns.map(({ seat, turned }, at) => [seat.critic, remembered(turned, hearings[at])])),
  };
}

/** Models that gave no answer in the debate so far. */
const lostIn = ({ rounds }: Debate): ReadonlySet<string> =>
  new Set(
    rounds.flatMap(({ critiques }) => critiques.flatMap((one) => (one.kind === 'failed' ? [one.model] : []))),
  );

interface Taken {
  readonly seat: Seat;
  readonly turned: Turned;
}

function hearAll(
  table: Table,
  plan: DebatePlan,
  given: Pick<State, 'debate' | 'memories'> & { readonly seats: readonly Seat[]; readonly capUsd: number },
  tell: (news: DebateNews) => void,
): Promise<Taken[]> {
  const { seats, debate, memories, capUsd } = given;
  const { spec, ledger } = debate;
  const round = debate.rounds.length;
  return Promise.all(
    seats.map(async (seat) => {
      tell({ kind: 'asked', round, seat });
      const memory = memories.get(seat.critic) ?? NEW;
      const instructions = plan.instructions.critic(seat.critic);
      const turn = { round, seat, memory, spec, ledger, capUsd, instructions, shown: plan.shown };
      const turned = await hear(table, turn);
      tell({ kind: 'heard', round, seat, turned });
      return { seat, turned };
    }),
  );
}

/** An approval that came with a grave issue was none. */
const remembered = ({ memory }: Turned, hearing: Hearing | undefined): Memory =>
  hearing?.kind === 'heard' ? { ...memory, approved: hearing.approved } : memory;

const sum = (a: Cost, b: Cost): Cost => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  usd: a.usd + b.usd,
});
const brokeOf = (turned: Turned) => (turned.kind === 'failed' && turned.broke ? [turned.why] : []);
const testOf = (turned: Turned) => (turned.kind === 'heard' && turned.test ? [turned.test] : []);

/** Writes what critics said into the ledger, in the order of their seats whatever order they answered in. */
function note(
  debate: Debate,
  round: number,
  turns: readonly Taken[],
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

interface Made {
  readonly spec: string;
  readonly ledger: readonly LedgerEntry[];
  readonly synthesis: DebateRound['synthesis'];
  readonly cost: Cost;
  readonly overgrown: boolean;
  readonly broke: string | null;
}

/** Asks for verdicts on what is open, and makes the edits that follow the rules. */
async function synthesise(
  table: Table,
  plan: DebatePlan,
  given: {
    readonly round: number;
    readonly debate: Debate;
    readonly ledger: readonly LedgerEntry[];
    readonly capUsd: number;
  },
  tell: (news: DebateNews) => void,
): Promise<Made> {
  const { round, debate, ledger, capUsd } = given;
  const { spec, original } = debate;
  const open = toAnswer(ledger);
  const as = (cost: Cost, broke: string | null, synthesis?: DebateRound['synthesis']): Made => ({
    spec,
    ledger,
    synthesis,
    cost,
    overgrown: false,
    broke,
  });
  if (open.length === 0) return as(NO_COST, null);
  const model = plan.synthesiser;
  tell({ kind: 'synthesis', round, model, open: open.length });
  const instructions = plan.instructions.synthesiser;
  const call = { spender: `debate-${round}-synthesis`, model, capUsd, instructions, schema: Synthesis };
  const said = await put(table, call, (nonce) => synthesisQuestion(spec, open, { ...plan.shown, nonce }));
  if (said.kind === 'nothing') {
    return as(said.cost, said.broke ? said.why : null, { model, spec, refused: [], failed: said.why });
  }
  const answered = answer(ledger, said.value);
  const patched = applyEdits(spec, said.value, answered, { original, fits: plan.fits });
  return {
    spec: patched.spec,
    ledger: unsettled(ledger, answered, patched.edited),
    synthesis: { model, spec: patched.spec, refused: patched.refused },
    cost: said.cost,
    overgrown: patched.overgrown,
    broke: null,
  };
}
