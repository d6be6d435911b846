import {
  assignCritics,
  type ChallengedCritique,
  type Critique,
  type Debate,
  type Synthesis,
} from '../../src/core/debate/index.ts';
import { Fault, type Usage } from '../../src/core/model/index.ts';
import type { Answer, ModelQuestion } from '../../src/ports/index.ts';
import { type DebatePanel, type DebatePlan, holdDebate } from '../../src/runs/brief/index.ts';
import { rememberedIn } from '../world/remember.ts';
import { openLeases } from '../world/stand-ins.ts';

/** One call of a debate, as a scripted model sees it. */
export interface Asked {
  readonly critic: string;
  readonly round: number;
  readonly what: 'critique' | 'pressed' | 'synthesis';
  readonly model: string;
  readonly prompt: string;
  readonly instructions: string;
}

/** What a model says; `null`: nothing. */
export type Say = (asked: Asked) => Partial<Critique & ChallengedCritique & Synthesis> | null;

export const SPEC = `# Import of CSV files

## Goal

Quoted fields are read as RFC 4180 says.

## Done means

- A comma inside a quoted field belongs to the field.
- Files without quotes are read as before.

## Plan

- Write a failing test.
- Replace the splitting by a parser.
`;

export const issue = (over: Partial<Critique['issues'][number]> = {}): Critique['issues'][number] => ({
  title: 'Line breaks are not said',
  quote: 'A comma inside a quoted field belongs to the field.',
  severity: 'blocking',
  scenario: 'A note with a line break inside quotes is imported: the row is refused.',
  edit: 'A line break inside a quoted field belongs to the field.',
  needsHuman: false,
  ...over,
});

export const TEST = { given: '"a,b"', expect: 'one field', catches: 'splitting at every comma' };
export const CHECKS = ['commas are settled', 'quotes are settled', 'old files are settled'];
/** Approves, also when pressed. */
export const content = ({ what }: Asked) => ({
  approved: true,
  ...(what === 'pressed' ? { checks: CHECKS, test: TEST } : {}),
});

/** Whose turn a call of the ledger is. */
export function askedAs(spender: string, said: Pick<Asked, 'model' | 'prompt' | 'instructions'>): Asked {
  const [, round = '0', critic = '', pressed] = spender.split(/[-:]/);
  const what = critic === 'synthesis' ? 'synthesis' : pressed ? 'pressed' : 'critique';
  return { critic, round: Number(round), what, ...said };
}

/** A whole answer from what a script says of it. */
export const answered = (said: ReturnType<Say>) =>
  said && { issues: [], rechecked: [], approved: false, verdicts: [], edits: [], ...said };

export interface Room {
  readonly debates: readonly Debate[];
  readonly last: Debate;
  readonly asked: readonly Asked[];
}

export interface RoomOptions extends Partial<Omit<DebatePlan, 'seats' | 'instructions'>> {
  readonly critics?: readonly string[];
  readonly models?: readonly string[];
  readonly rotate?: boolean;
  /** US dollars of one call. */
  readonly price?: number | ((model: string) => number);
  /** A debate as it was stored after a round. */
  readonly from?: Debate;
  /** Answers of earlier debates, kept across a crash. */
  readonly kept?: Map<string, unknown>;
  /** What was debated before a model's words threw is wanted, not the error. */
  readonly stored?: boolean;
}

/** Holds a debate to its end with scripted critics; each call is asked through a gateway that keeps to its caps. */
export async function debated(say: Say, options: RoomOptions = {}): Promise<Room> {
  const asked: Asked[] = [];
  const debates: Debate[] = [];
  const table = tableOf(say, asked, options);
  const { from } = options;
  try {
    for await (const debate of holdDebate(table, planFor(options), from ? { from } : {}))
      debates.push(debate);
  } catch (thrown) {
    if (!options.stored) throw thrown;
  }
  return { debates, last: debates.at(-1) as Debate, asked };
}

function planFor({ critics = ['qa', 'product', 'security'], models, rotate = false, ...given }: RoomOptions) {
  const names = models ?? ['anthropic/claude-sonnet-5', 'openai/gpt-5.5'];
  const plan: DebatePlan = {
    spec: SPEC,
    assignments: (round, lost) =>
      assignCritics(critics, names, (model) => model.split('/')[0] ?? '', {
        round,
        rotate,
        unresponsive: lost,
      }),
    synthesisers: names,
    instructions: { critic: (persona) => `You are ${persona}.`, synthesiser: 'You keep the spec.' },
    shown: { focusAreas: [] },
    maxRounds: 5,
    share: { usd: 1 },
    fits: () => true,
    ...given,
  };
  return plan;
}

function tableOf(say: Say, asked: Asked[], { price = 0.01, kept = new Map() }: RoomOptions): DebatePanel {
  const spent = new Map<string, number>();
  const priceOf = (model: string) => (typeof price === 'number' ? price : price(model));
  let nonce = 0;
  const leases = openLeases();
  return {
    payer: { runId: 'r0000000000', repository: 'local-/', runCapUsd: 5 },
    signal: new AbortController().signal,
    random: { nonce: () => `nonce${++nonce}` },
    gateway: {
      route: (model) => ({ protocol: 'anthropic', model }),
      async open(grant) {
        const { spender, capUsd, models } = grant;
        if (capUsd < priceOf(models[0] ?? ''))
          throw new Fault('BUDGET_TOO_SMALL', `The budget of ${spender} does not suffice.`);
        const usage = (): Usage => ({
          usd: spent.get(spender) ?? 0,
          tokensIn: 100,
          tokensOut: 10,
          calls: 1,
        });
        return leases.lease(grant, usage);
      },
    },
    model: {
      async ask<T>({ lease, prompt, instructions }: ModelQuestion<T>): Promise<Answer<T>> {
        const { spender, models } = leases.grantOf(lease);
        const model = models[0] ?? '';
        const one = askedAs(spender, { model, prompt, instructions });
        asked.push(one);
        spent.set(spender, (spent.get(spender) ?? 0) + priceOf(model));
        const value = answered(say(one));
        return value === null
          ? { kind: 'failed', why: 'The model gave no answer.' }
          : { kind: 'answer', value: value as T };
      },
    },
    remember: rememberedIn(kept),
  };
}
