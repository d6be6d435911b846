import { assignCritics, type Debate, MAX_SPEC_CHARS } from '../../core/debate/index.ts';
import { familyOf } from '../../core/judging/index.ts';
import { Fault, type Usd } from '../../core/model/index.ts';
import {
  criticsPrompts,
  type DebateEvent,
  type DebatePanel,
  type DebatePlan,
  holdDebate,
} from '../brief/index.ts';
import { requirePersonas } from '../contestants.ts';
import type { ModelPorts, World } from '../context.ts';

/** A debate of a text that is no run's brief. */
interface TextDebateOptions {
  readonly text: string;
  readonly personas: readonly string[];
  /** `provider/model`; the first one keeps the text. Empty: those whose keys are set. */
  readonly models: readonly string[];
  readonly maxRounds: number;
  /** Approvals for a consensus; absent: of all critics. */
  readonly required?: number;
  readonly focusAreas: readonly string[];
  readonly rotate: boolean;
  readonly budgetUsd: Usd;
  /** Absent: a debate of the same text in the same way goes on where it stopped. Else a word that makes it another one. */
  readonly fresh?: string;
}

interface TextDebate {
  /** `d` and ten hex digits: the same for the same text, debated in the same way. */
  readonly id: string;
  readonly rounds: AsyncGenerator<Debate, Debate>;
}

/**
 * Debates a text. Whatever was answered is kept in the store, so that an interrupted debate goes on when it is asked for
 * again. Faults: SPEC_MISSING, SPEC_TOO_LONG, SETTINGS_INVALID for personas
 * that there are not, and those of `Gateway.route`.
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
    remember: rememberRounds(world, id),
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

/** Begins with the last round that was kept. One that ended for want of money or models is held again. */
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
  for await (const now of holdDebate(table, plan, { tell, ...(from ? { from } : {}) })) {
    if (now.end?.stop !== 'budget' && now.end?.stop !== 'failed') {
      await store.keep(id, roundKey(now.rounds.length - 1), await artifacts.put(JSON.stringify(now)));
    }
    from = now;
    yield now;
  }
  if (!from) throw new TypeError('A debate has at least one round.');
  return from;
}

const roundKey = (round: number): string => `round ${round}`;

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

function rememberRounds(
  { store, artifacts }: Pick<World, 'artifacts' | 'store'>,
  scope: string,
): DebatePanel['remember'] {
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const name = (await artifacts.put(key)).sha256;
    const known = await store.kept(scope, name);
    // Whoever chose the key chose the type with it.
    if (known) return JSON.parse(await artifacts.get(known)) as T;
    const answer = await work();
    await store.keep(scope, name, await artifacts.put(JSON.stringify(answer)));
    return answer;
  };
}
