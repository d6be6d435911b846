import { assignCritics, type Debate, MAX_SPEC_CHARS } from '../../core/debate/index.ts';
import { familyOf } from '../../core/judging/index.ts';
import { Fault, type Usd } from '../../core/model/index.ts';
import { keepAnswers } from '../ask-model.ts';
import {
  criticsPrompts,
  type DebateEvent,
  type DebatePanel,
  type DebatePlan,
  holdDebate,
} from '../brief/index.ts';
import { requirePersonas } from '../contestants.ts';
import type { ModelPorts, World } from '../context.ts';

/** Options for debating a text that is not a run's brief. */
interface TextDebateOptions {
  readonly text: string;
  readonly personas: readonly string[];
  /** `provider/model`; the first is the synthesiser. Empty: models with configured keys. */
  readonly models: readonly string[];
  readonly maxRounds: number;
  /** Approvals required for consensus; absent: from all critics. */
  readonly required?: number;
  readonly focusAreas: readonly string[];
  readonly rotate: boolean;
  readonly budgetUsd: Usd;
  /**
   * Absent: a repeated debate of the same text with the same options resumes. Else a value that makes it a new debate.
   */
  readonly fresh?: string;
}

interface TextDebate {
  /** `d` and ten hex digits, derived from text and options. */
  readonly id: string;
  readonly rounds: AsyncGenerator<Debate, Debate>;
}

/**
 * Debates a text. Answers are stored, so that an interrupted debate resumes. Faults: SPEC_MISSING, SPEC_TOO_LONG,
 * SETTINGS_INVALID for unknown personas, and those of `Gateway.route`.
 */
export async function debateText(
  world: ModelPorts,
  options: TextDebateOptions,
  signal: AbortSignal,
  tell: (news: DebateEvent) => void,
): Promise<TextDebate> {
  const { text, personas, maxRounds, required, focusAreas, rotate, budgetUsd } = options;
  const models = options.models.length > 0 ? options.models : world.defaults.models;
  checkDebateOptions(world, options, models);
  const same = [text, personas, models, maxRounds, required, focusAreas, rotate, options.fresh];
  const { sha256 } = await world.artifacts.put(JSON.stringify(same));
  const id = `d${sha256.slice(0, 10)}`;
  const table: DebatePanel = {
    ...world,
    payer: { runId: id, repository: 'debates', runCapUsd: budgetUsd },
    remember: keepAnswers(world, id),
    signal,
  };
  const plan: DebatePlan = {
    spec: text,
    assignments: (round, unresponsive) =>
      assignCritics(personas, models, familyOf, { round, rotate, unresponsive }),
    synthesisers: models,
    instructions: criticsPrompts(world),
    shown: { focusAreas },
    maxRounds,
    ...(required === undefined ? {} : { required }),
    share: { usd: budgetUsd },
    fits: (spec) => spec.trim() !== '',
  };
  return { id, rounds: continueDebate(world, id, table, plan, tell) };
}

/**
 * Resumes after the last stored round. A debate that ended for lack of money or models is repeated. Failures are
 * counted, since the gateway would give the same useless answers to the same questions for ever.
 */
async function* continueDebate(
  { store, artifacts }: Pick<World, 'artifacts' | 'store'>,
  id: string,
  table: DebatePanel,
  plan: DebatePlan,
  tell: (news: DebateEvent) => void,
): AsyncGenerator<Debate, Debate> {
  let from: Debate | undefined;
  for (let round = 0; ; round += 1) {
    const kept = await store.kept(id, roundKey(round));
    if (!kept) break;
    from = JSON.parse(await artifacts.get(kept)) as Debate;
  }
  if (from) yield from;
  let failures = 0;
  while (await store.kept(id, failureKey(failures))) failures += 1;
  for await (const now of holdDebate({ ...table, failures }, plan, { tell, ...(from ? { from } : {}) })) {
    if (now.end?.stop === 'failed') {
      await store.keep(id, failureKey(failures), await artifacts.put(now.end.because));
    } else if (now.end?.stop !== 'budget') {
      await store.keep(id, roundKey(now.rounds.length - 1), await artifacts.put(JSON.stringify(now)));
    }
    from = now;
    yield now;
  }
  if (!from) throw new TypeError('A debate has at least one round.');
  return from;
}

const roundKey = (round: number): string => `round ${round}`;
const failureKey = (failure: number): string => `failure ${failure}`;

function checkDebateOptions(
  world: Pick<World, 'gateway' | 'prompts'>,
  { text, personas, required = 1 }: TextDebateOptions,
  models: readonly string[],
): void {
  if (text.trim() === '') throw new Fault('SPEC_MISSING', 'There is nothing to debate: the spec is empty.');
  const seats = new Set(personas).size;
  if (seats === 0 || seats < personas.length) {
    throw new Fault('SETTINGS_INVALID', 'A debate needs at least one persona, and no persona twice.');
  }
  if (required > seats) {
    throw new Fault('SETTINGS_INVALID', `${required} critics cannot approve if only ${seats} are asked.`);
  }
  if (text.length > MAX_SPEC_CHARS) {
    throw new Fault(
      'SPEC_TOO_LONG',
      `The spec has ${text.length} characters; critics read at most ${MAX_SPEC_CHARS}.`,
    );
  }
  if (models.length === 0) {
    throw new Fault('MODEL_KEY_MISSING', 'A debate needs a model, but no provider has a key. Set one.');
  }
  for (const model of models) world.gateway.route(model);
  requirePersonas(world, personas);
}
