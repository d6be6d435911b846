import { type Debate, MOST_SPEC, seatsOf } from '../core/debate/index.ts';
import { familyOf } from '../core/judging/index.ts';
import { Fault, type Usd } from '../core/model/index.ts';
import { criticsPrompts, type DebateNews, holdDebate, type Table } from './brief/index.ts';
import { requirePersonas } from './field.ts';
import type { World } from './world.ts';

/** A debate of a text that is no run's brief. */
export interface DebateWish {
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

export interface TextDebate {
  /** `d` and ten hex digits: the same for the same text, debated in the same way. */
  readonly id: string;
  readonly rounds: AsyncGenerator<Debate, Debate>;
}

/**
 * Debates a text. Whatever was answered is kept in the store, so that an interrupted debate goes on when it is asked for
 * again. Faults: PROMPT_EMPTY, SPEC_TOO_LONG, SETTINGS_INVALID for an unknown persona, and those of `Gateway.route`.
 */
export async function debateText(
  world: World,
  wish: DebateWish,
  signal: AbortSignal,
  tell: (news: DebateNews) => void,
): Promise<TextDebate> {
  const { text, personas, maxRounds, required, focusAreas, rotate, budgetUsd } = wish;
  const models = wish.models.length > 0 ? wish.models : world.defaults.models;
  check(world, wish, models);
  const same = [text, personas, models, maxRounds, required, focusAreas, rotate, wish.fresh];
  const { sha256 } = await world.artifacts.put(JSON.stringify(same));
  const id = `d${sha256.slice(0, 10)}`;
  const table: Table = {
    ...world,
    payer: { runId: id, repository: 'debates', runCapUsd: budgetUsd },
    remember: rememberIn(world, id),
    signal,
  };
  const rounds = holdDebate(
    table,
    {
      spec: text,
      seats: (round, lost) => seatsOf(personas, models, familyOf, { round, rotate, lost }),
      synthesiser: models[0] ?? '',
      instructions: criticsPrompts(world),
      shown: { focusAreas },
      maxRounds,
      ...(required === undefined ? {} : { required: Math.min(required, personas.length) }),
      capUsd: budgetUsd,
      fits: (spec) => spec.trim() !== '',
    },
    tell,
  );
  return { id, rounds };
}

function check(world: World, { text, personas }: DebateWish, models: readonly string[]): void {
  if (text.trim() === '') throw new Fault('PROMPT_EMPTY', 'There is nothing to debate: the spec is empty.');
  if (text.length > MOST_SPEC) {
    throw new Fault(
      'SPEC_TOO_LONG',
      `The spec has ${text.length} characters; critics read at most ${MOST_SPEC}.`,
    );
  }
  if (models.length === 0) {
    throw new Fault('MODEL_KEY_MISSING', 'A debate needs a model, and no key of a provider is set.');
  }
  for (const model of models) world.gateway.route(model);
  requirePersonas(world, personas);
}

function rememberIn({ store, artifacts }: World, scope: string): Table['remember'] {
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
